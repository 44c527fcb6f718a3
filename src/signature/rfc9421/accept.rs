//! The `Accept-Signature` field (RFC 9421 section 5.1): which signatures someone asks for.

use std::fmt;
use std::str::FromStr;

use sfv::{BareItem, Dictionary, FieldType, Item, ListEntry, Parser};

use crate::signature::rfc9421::{Component, ComponentError};

/// A request for signatures: a dictionary of labels, each with the components to cover and the parameters to have.
/// It is kept as structured fields write it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcceptSignature(String);

/// Text that asks for no signature.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AcceptSignatureError {
    /// A component that does not exist.
    #[error("`{label}`: {fault}")]
    Component {
        /// The label.
        label: String,
        /// What is wrong.
        fault: ComponentError,
    },
    /// No label at all.
    #[error("it asks for nothing; `sig1=(\"@method\");created` would ask for one signature")]
    Empty,
    /// A member that is no list of components.
    #[error("`{0}` should be a list of components in brackets: `{0}=(\"@method\");created`")]
    NoList(String),
    /// A parameter with a value of another type.
    #[error("`{label}` has `{parameter}`, which should be {expected}")]
    Parameter {
        /// The label.
        label: String,
        /// The parameter.
        parameter: String,
        /// What it should be.
        expected: &'static str,
    },
    /// A component that is listed twice.
    #[error("`{label}` lists `{component}` twice")]
    Repeated {
        /// The label.
        label: String,
        /// The component.
        component: String,
    },
    /// Not a dictionary (RFC 9651 section 3.2).
    #[error("it is no dictionary of structured fields: {0}; `sig1=(\"@method\");created` would be one")]
    Syntax(String),
}

impl FromStr for AcceptSignature {
    type Err = AcceptSignatureError;

    fn from_str(text: &str) -> Result<AcceptSignature, AcceptSignatureError> {
        let dictionary: Dictionary = Parser::new(text)
            .parse()
            .map_err(|fault: sfv::Error| AcceptSignatureError::Syntax(fault.to_string()))?;
        for (label, entry) in &dictionary {
            check(label.as_str(), entry)?;
        }
        let written = dictionary.serialize().ok_or(AcceptSignatureError::Empty)?;
        Ok(AcceptSignature(written))
    }
}

impl fmt::Display for AcceptSignature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Checks one signature asked for. `created` and `expires` have no value: the signer sets them. Parameters that the
/// standard does not know pass.
fn check(label: &str, entry: &ListEntry) -> Result<(), AcceptSignatureError> {
    let label = label.to_owned();
    let ListEntry::InnerList(list) = entry else {
        return Err(AcceptSignatureError::NoList(label));
    };
    let mut components: Vec<Component> = Vec::new();
    for item in &list.items {
        let component = match Component::new(Item::clone(item)) {
            Ok(component) => component,
            Err(fault) => return Err(AcceptSignatureError::Component { label, fault }),
        };
        if components.contains(&component) {
            let component = component.to_string();
            return Err(AcceptSignatureError::Repeated { label, component });
        }
        components.push(component);
    }
    for (parameter, value) in &list.params {
        let (fits, expected) = match parameter.as_str() {
            "created" | "expires" => (*value == BareItem::Boolean(true), "there without a value"),
            "nonce" | "alg" | "keyid" | "tag" => (value.as_string().is_some(), "a string in quotes"),
            _ => continue,
        };
        if !fits {
            let parameter = parameter.as_str().to_owned();
            return Err(AcceptSignatureError::Parameter {
                label,
                parameter,
                expected,
            });
        }
    }
    Ok(())
}
