//! What placeholders stand for.

use serde_json::Value;

/// Values by name, in the order in which they were set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values(Vec<(&'static str, Value)>);

impl Values {
    /// Sets a value; a second one of the same name takes the place of the first.
    pub fn set(&mut self, name: &'static str, value: impl Into<Value>) {
        let value = value.into();
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some(entry) => entry.1 = value,
            None => self.0.push((name, value)),
        }
    }

    /// The same values and one more.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<Value>) -> Values {
        self.set(name, value);
        self
    }

    /// The value of that name, where it was set.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, value)| value)
    }
}
