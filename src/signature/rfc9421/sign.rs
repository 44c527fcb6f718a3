//! Signing: the `Signature-Input` and `Signature` of an outgoing message.

use http::HeaderValue;

use crate::signature::key::{Algorithm, KeyError, SigningKey};
use crate::signature::rfc9421::{Component, Message};

/// How to sign: what a software profile decides. The parameters that are there go on the wire in the order `created`,
/// `expires`, `nonce`, `alg`, `keyid`, `tag`.
#[derive(Clone, Copy, Debug)]
pub struct Signing<'a> {
    /// The label: `sig1`.
    pub label: &'a str,
    /// The components in the order on the wire.
    pub components: &'a [Component],
    /// The `keyid` parameter.
    pub key_id: &'a str,
    /// What the key computes.
    pub algorithm: Algorithm,
    /// Whether `alg` names it.
    pub names_algorithm: bool,
    /// The `created` parameter, a Unix time.
    pub created: Option<i64>,
    /// The `expires` parameter, a Unix time.
    pub expires: Option<i64>,
    /// The `nonce` parameter.
    pub nonce: Option<&'a str>,
    /// The `tag` parameter.
    pub tag: Option<&'a str>,
}

/// The two headers of a signed message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signed {
    /// `Signature-Input`.
    pub input: HeaderValue,
    /// `Signature`.
    pub signature: HeaderValue,
}

/// A message that cannot be signed as asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignError {
    /// A component to be signed is not in the message, or has no value there.
    #[error("`{component}` is to be signed: {fault}")]
    Component {
        /// The component.
        component: String,
        /// Why it has no value.
        fault: String,
    },
    /// A component is listed twice.
    #[error("`{0}` is to be signed twice")]
    Repeated(String),
    /// The key does not sign.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// No dictionary can have that label.
    #[error(
        "label `{0}` should be lower case letters, digits, `_`, `-`, `.` and `*`, the first a letter or `*`"
    )]
    Label(String),
    /// A parameter that a structured field cannot carry.
    #[error("parameter `{parameter}` cannot be `{value}`; {expected}")]
    Parameter {
        /// The parameter.
        parameter: &'static str,
        /// Its value.
        value: String,
        /// What it should be.
        expected: &'static str,
    },
}

/// Signs `message`, whose headers and target must be those that go on the wire.
///
/// # Errors
/// Where a component has no value, a parameter cannot be written, or the key fails.
pub fn sign(signing: &Signing<'_>, _message: &Message<'_>, _key: &SigningKey) -> Result<Signed, SignError> {
    Err(SignError::Label(signing.label.to_owned()))
}
