//! Component identifiers (RFC 9421 sections 2, 2.1 and 2.2): what a signature covers, by name and parameters.

use std::fmt;
use std::str::FromStr;

use sfv::{BareItem, Item, ItemSerializer, Parameters, Parser, StringRef};

/// A component identifier: the name of a field or a derived component, with its parameters. Two are equal whatever the
/// order of their parameters (section 2), and keep the order they came in.
#[derive(Clone, Debug, PartialEq)]
pub struct Component {
    name: sfv::String,
    parameters: Parameters,
}

/// Text or an item that identifies no component.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ComponentError {
    /// Parameters that exclude one another.
    #[error("`{0}` has `bs` beside `sf` or `key`; a field is either taken as bytes or as a structure")]
    Contradiction(String),
    /// A parameter that such a component does not take, or that nobody knows.
    #[error("`{component}` takes no parameter `{parameter}`; {known}")]
    Parameter {
        /// The component.
        component: String,
        /// The parameter.
        parameter: String,
        /// What it takes.
        known: &'static str,
    },
    /// A parameter whose value is of another type.
    #[error("parameter `{parameter}` of `{component}` should be {expected}")]
    Value {
        /// The component.
        component: String,
        /// The parameter.
        parameter: String,
        /// What it should be.
        expected: &'static str,
    },
    /// `@query-param` that does not say which.
    #[error("`@query-param` names no parameter of the query; `\"@query-param\";name=\"page\"` would")]
    Nameless,
    /// A derived component that does not exist.
    #[error("`{0}` is no derived component; there are {DERIVED}")]
    Unknown(String),
    /// A name that no field can have.
    #[error("`{0}` is no name of a field in lower case")]
    NoField(String),
    /// Not an item whose value is a string.
    #[error("`{text}` is no component identifier: {fault}")]
    Syntax {
        /// The text.
        text: String,
        /// What is wrong.
        fault: String,
    },
}

impl Component {
    /// Reads a member of a list of components.
    pub(super) fn new(item: Item) -> Result<Component, ComponentError> {
        let BareItem::String(name) = item.bare_item else {
            let text = ItemSerializer::new().bare_item(&item.bare_item).finish();
            let fault = "it should be a string".to_owned();
            return Err(ComponentError::Syntax { text, fault });
        };
        let component = Component {
            name,
            parameters: item.params,
        };
        component.check()?;
        Ok(component)
    }

    fn check(&self) -> Result<(), ComponentError> {
        let name = self.name();
        let derived = name.starts_with('@');
        if derived && !DERIVED.split('`').any(|known| known == name) {
            return Err(ComponentError::Unknown(name.to_owned()));
        }
        if !derived && !is_field_name(name) {
            return Err(ComponentError::NoField(name.to_owned()));
        }
        let known = match name {
            QUERY_PARAM => "it takes `name` and `req`",
            _ if derived => "a derived component takes `req`",
            _ => "a field takes `sf`, `key`, `bs`, `tr` and `req`",
        };
        for (parameter, value) in &self.parameters {
            let fitting = match parameter.as_str() {
                "req" => Some(FLAG),
                "name" if name == QUERY_PARAM => Some(STRING),
                "key" if !derived => Some(STRING),
                "sf" | "bs" | "tr" if !derived => Some(FLAG),
                _ => None,
            };
            let (component, parameter) = (self.to_string(), parameter.as_str().to_owned());
            let Some(expected) = fitting else {
                return Err(ComponentError::Parameter {
                    component,
                    parameter,
                    known,
                });
            };
            let fits = match value {
                BareItem::Boolean(true) => expected == FLAG,
                BareItem::String(_) => expected == STRING,
                _ => false,
            };
            if !fits {
                return Err(ComponentError::Value {
                    component,
                    parameter,
                    expected,
                });
            }
        }
        if name == QUERY_PARAM && self.text("name").is_none() {
            return Err(ComponentError::Nameless);
        }
        // Section 2.5: `bs` takes the field as bytes, `sf` and `key` as a structure.
        if self.has("bs") && (self.has("sf") || self.has("key")) {
            return Err(ComponentError::Contradiction(self.to_string()));
        }
        Ok(())
    }

    /// Its name, without parameters: `@method`, `content-digest`.
    pub fn name(&self) -> &str {
        self.name.as_str()
    }

    /// Whether it has that parameter.
    pub(super) fn has(&self, parameter: &str) -> bool {
        self.parameters.keys().any(|key| key.as_str() == parameter)
    }

    /// The value of a parameter that is a string.
    pub(super) fn text(&self, parameter: &str) -> Option<&str> {
        let found = self.parameters.iter().find(|(key, _)| key.as_str() == parameter);
        found?.1.as_string().map(StringRef::as_str)
    }

    /// It as an item of structured fields, as it stands in a signature base: `"@query-param";name="x"`.
    pub(super) fn identifier(&self) -> String {
        if self.parameters.is_empty() {
            // No name has what a string would have to escape.
            return format!("\"{}\"", self.name());
        }
        ItemSerializer::new()
            .bare_item(&self.name)
            .parameters(&self.parameters)
            .finish()
    }
}

/// Whether a field can have that name: a token (RFC 9110 section 5.6.2), in lower case.
fn is_field_name(name: &str) -> bool {
    let fits =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(fits)
}

const QUERY_PARAM: &str = "@query-param";
/// The types of parameters' values.
const FLAG: &str = "there without a value";
const STRING: &str = "a string in quotes";

const DERIVED: &str = "`@method`, `@target-uri`, `@authority`, `@scheme`, `@request-target`, `@path`, `@query`, \
    `@query-param` and `@status`";

impl FromStr for Component {
    type Err = ComponentError;

    /// Reads `@method`, `content-digest`, `x-note;sf` or `@query-param;name="x"`, with or without quotes around the name.
    fn from_str(text: &str) -> Result<Component, ComponentError> {
        let quoted = if text.starts_with('"') {
            text.to_owned()
        } else {
            let (name, parameters) = text.split_at(text.find(';').unwrap_or(text.len()));
            format!("\"{name}\"{parameters}")
        };
        let item = Parser::new(&quoted)
            .parse()
            .map_err(|fault| ComponentError::Syntax {
                text: text.to_owned(),
                fault: fault.to_string(),
            })?;
        Component::new(item)
    }
}

impl fmt::Display for Component {
    /// Writes it as it stands in a signature base, but for the quotes around its name: `@query-param;name="x"`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.parameters.is_empty() {
            return f.write_str(self.name());
        }
        let identifier = self.identifier();
        let parameters = identifier.get(self.name().len() + 2..).unwrap_or_default();
        write!(f, "{}{parameters}", self.name())
    }
}
