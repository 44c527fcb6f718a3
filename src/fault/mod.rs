//! What goes wrong on purpose. Here it is decided, from the seed and what the exchange is; `serve::wire` carries it out.
//! A draw depends on (seed, rule, host, path, id, attempt) and on nothing else, never on the order of arrival.

mod hook;
pub mod misbehave;

pub use hook::HookRules;
pub use misbehave::Misbehaviour;

use std::sync::Arc;
use std::time::Duration;

/// What an exchange is, as far as rules look at it.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// The host it arrived at.
    pub host: &'a str,
    /// The path.
    pub path: &'a str,
    /// The delivery's id.
    pub id: &'a str,
    /// The how-manyth attempt of that id at that host and path, from 1.
    pub attempt: u32,
}

/// What is to happen to one exchange; the default is nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// How long the answer is held.
    pub delay: Duration,
    /// Whether the answer never comes.
    pub hang: bool,
    /// The status that takes the place of the answer's.
    pub status: Option<u16>,
    /// The rules that took part, by name.
    pub rules: Vec<Arc<str>>,
}

impl Plan {
    /// Whether a fault decides status, body or connection; a delay alone does not.
    pub fn decides(&self) -> bool {
        self.hang || self.status.is_some()
    }
}
