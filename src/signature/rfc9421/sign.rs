//! Signing: the `Signature-Input` and `Signature` of an outgoing message.

use http::HeaderValue;
use sfv::{ItemSerializer, KeyRef, StringRef};

use crate::signature::base64;
use crate::signature::key::{Algorithm, KeyError, SigningKey};
use crate::signature::rfc9421::base::Base;
use crate::signature::rfc9421::{Component, Message};

/// How to sign: what a software profile decides. The parameters that are there go on the wire in the order `created`,
/// `keyid`, `alg`, `expires`, `nonce`, `tag`: that of the RFC's examples, of Mastodon and of WordPress.
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
    #[error("`{component}` is to be signed, but {fault}")]
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
pub fn sign(signing: &Signing<'_>, message: &Message<'_>, key: &SigningKey) -> Result<Signed, SignError> {
    let label = KeyRef::from_str(signing.label).map_err(|_| SignError::Label(signing.label.to_owned()))?;
    let components = signing.components;
    for (place, component) in components.iter().enumerate() {
        if components[..place].contains(component) {
            return Err(SignError::Repeated(component.to_string()));
        }
    }
    let base = Base::build(components, message);
    if let Some(fault) = base.faults.first() {
        return Err(SignError::Component {
            component: fault.component.clone(),
            fault: fault.why.clone(),
        });
    }
    let parameters = parameters(signing)?;
    let signature = key.sign(signing.algorithm, &base.bytes(&parameters))?;
    let label = label.as_str();
    let header = |text: String| HeaderValue::try_from(text).expect("structured fields are printable ASCII");
    Ok(Signed {
        input: header(format!("{label}={parameters}")),
        signature: header(format!("{label}=:{}:", base64::encode(signature))),
    })
}

/// The components and parameters as they go into `Signature-Input` and the last line of the base (section 2.3).
fn parameters(signing: &Signing<'_>) -> Result<String, SignError> {
    let components: Vec<String> = signing.components.iter().map(Component::identifier).collect();
    let mut text = format!("({})", components.join(" "));
    if let Some(created) = signing.created {
        text += &format!(";created={}", integer("created", created)?);
    }
    text += &format!(";keyid={}", string("keyid", signing.key_id)?);
    if signing.names_algorithm {
        text += &format!(";alg={}", string("alg", signing.algorithm.name())?);
    }
    if let Some(expires) = signing.expires {
        text += &format!(";expires={}", integer("expires", expires)?);
    }
    if let Some(nonce) = signing.nonce {
        text += &format!(";nonce={}", string("nonce", nonce)?);
    }
    if let Some(tag) = signing.tag {
        text += &format!(";tag={}", string("tag", tag)?);
    }
    Ok(text)
}

fn integer(parameter: &'static str, value: i64) -> Result<String, SignError> {
    let written = sfv::Integer::try_from(value).map(|value| value.to_string());
    written.map_err(|_| SignError::Parameter {
        parameter,
        value: value.to_string(),
        expected: "it should have at most 15 digits",
    })
}

fn string(parameter: &'static str, value: &str) -> Result<String, SignError> {
    match StringRef::from_str(value) {
        Ok(value) => Ok(ItemSerializer::new().bare_item(value).finish()),
        Err(_) => Err(SignError::Parameter {
            parameter,
            value: value.to_owned(),
            expected: "it should be printable ASCII",
        }),
    }
}
