//! Signing: the `Signature` header of an outgoing request.

use http::HeaderValue;
use serde::Deserialize;

use crate::signature::cavage::base::{Base, Times};
use crate::signature::key::{KeyError, SigningKey};
use crate::signature::{Request, base64};

/// How to sign: what a software profile decides.
#[derive(Clone, Copy, Debug)]
pub struct Signing<'a, H> {
    /// The components in the order on the wire, `(request-target)` among them, spelt as the `headers` parameter shall
    /// have them; in the signature base they are in lower case.
    pub headers: &'a [H],
    /// The `algorithm` parameter: `rsa-sha256`, `hs2019`. It is a label: the key decides.
    pub algorithm: &'a str,
    /// The `keyId` parameter.
    pub key_id: &'a str,
    /// The order of the parameters.
    pub order: ParameterOrder,
    /// Whether `(request-target)` has the query. Without it the signature holds only for who tolerates that.
    pub query: bool,
}

/// The orders of the parameters in the field. None but a sloppy parser can tell them apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ParameterOrder {
    /// `keyId,algorithm,headers,signature`: most.
    #[default]
    AlgorithmFirst,
    /// `keyId,headers,algorithm,signature`: Iceshrimp.NET, Pixelfed, Mbin.
    HeadersFirst,
}

/// A request that cannot be signed as asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignError {
    /// A component to be signed is not in the request.
    #[error("`{0}` is to be signed and is not in the request")]
    HeaderMissing(String),
    /// The key does not sign.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// A header cannot carry the parameters.
    #[error("key id `{0}` or the algorithm's name has control characters, which no header can carry")]
    Unprintable(String),
}

/// The value of the `Signature` header for `request`, whose headers and target must be those that go on the wire.
///
/// # Errors
/// Where a component is missing, the key id is no header text, or the key fails.
pub fn sign<H: AsRef<str>>(
    signing: &Signing<'_, H>,
    request: &Request,
    key: &SigningKey,
) -> Result<HeaderValue, SignError> {
    let listed: Vec<&str> = signing.headers.iter().map(AsRef::as_ref).collect();
    let covered: Vec<String> = listed.iter().map(|name| name.to_ascii_lowercase()).collect();
    let whole = Base::build(covered.iter().map(String::as_str), request, Times::default());
    if let Some(name) = whole.missing.first() {
        return Err(SignError::HeaderMissing((*name).to_owned()));
    }
    let base = if signing.query {
        whole
    } else {
        whole.without_query().unwrap_or(whole)
    };
    let signature = base64::encode(key.sign(key.kind().algorithm(), &base.bytes())?);

    let (key_id, algorithm) = (quoted(signing.key_id), quoted(signing.algorithm));
    let headers = quoted(&listed.join(" "));
    let text = match signing.order {
        ParameterOrder::AlgorithmFirst => {
            format!("keyId={key_id},algorithm={algorithm},headers={headers},signature=\"{signature}\"")
        }
        ParameterOrder::HeadersFirst => {
            format!("keyId={key_id},headers={headers},algorithm={algorithm},signature=\"{signature}\"")
        }
    };
    HeaderValue::try_from(text).map_err(|_| SignError::Unprintable(signing.key_id.to_owned()))
}

/// A quoted string (RFC 9110 section 5.6.4).
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
