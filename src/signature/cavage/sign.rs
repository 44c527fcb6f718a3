//! Signing: the `Signature` header of an outgoing request.

use http::HeaderValue;
use serde::Deserialize;

use crate::signature::cavage::algorithm::forbids_times;
use crate::signature::cavage::base::{Base, CREATED, EXPIRES, Times};
use crate::signature::key::{Algorithm, KeyError, SigningKey};
use crate::signature::{Request, base64};

/// How to sign: what a software profile decides.
#[derive(Clone, Copy, Debug)]
pub struct Signing<'a, H> {
    /// The components in the order on the wire, `(request-target)` among them, spelt as the `headers` parameter shall
    /// have them; in the signature base they are in lower case.
    pub headers: &'a [H],
    /// The `algorithm` parameter: `rsa-sha256`, `hs2019`. It is a label; [`computed`](crate::signature::cavage::computed) tells
    /// what it stands for.
    pub algorithm: &'a str,
    /// What the key computes. An ECDSA signature is written as DER: the draft leaves its form open, and that is the
    /// one of OpenSSL, of Node and of Go.
    pub computes: Algorithm,
    /// The `created` parameter, in Unix seconds; where `(created)` is covered it must be there.
    pub created: Option<i64>,
    /// The `expires` parameter, in Unix seconds; where `(expires)` is covered it must be there.
    pub expires: Option<i64>,
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
    /// `(created)` or `(expires)` under an algorithm that forbids it (section 2.3 items 2 and 3).
    #[error("`{component}` is to be signed, which algorithm `{algorithm}` forbids; `hs2019` allows it")]
    ParameterForbidden {
        /// The component.
        component: String,
        /// The algorithm's name.
        algorithm: String,
    },
    /// A header cannot carry the parameters.
    #[error("key id `{0}` or the algorithm's name has control characters, which no header can carry")]
    Unprintable(String),
}

/// The value of the `Signature` header for `request`, whose headers and target must be those that go on the wire.
///
/// # Errors
/// Where a component is missing or forbidden, the key id is no header text, or the key fails.
pub fn sign<H: AsRef<str>>(
    signing: &Signing<'_, H>,
    request: &Request,
    key: &SigningKey,
) -> Result<HeaderValue, SignError> {
    let listed: Vec<&str> = signing.headers.iter().map(AsRef::as_ref).collect();
    let covered: Vec<String> = listed.iter().map(|name| name.to_ascii_lowercase()).collect();
    let time = covered
        .iter()
        .find(|name| [CREATED, EXPIRES].contains(&name.as_str()));
    if let Some(component) = time.filter(|_| forbids_times(signing.algorithm)) {
        return Err(SignError::ParameterForbidden {
            component: component.clone(),
            algorithm: signing.algorithm.to_owned(),
        });
    }
    let created = signing.created.map(|time| time.to_string());
    let expires = signing.expires.map(|time| time.to_string());
    let times = Times {
        created: created.as_deref(),
        expires: expires.as_deref(),
    };
    let whole = Base::build(covered.iter().map(String::as_str), request, times);
    if let Some(name) = whole.missing.first() {
        return Err(SignError::HeaderMissing((*name).to_owned()));
    }
    let base = if signing.query {
        whole
    } else {
        whole.without_query().unwrap_or(whole)
    };
    let signature = base64::encode(key.sign_asn1(signing.computes, &base.bytes())?);

    let key_id = format!("keyId={}", quoted(signing.key_id));
    let headers = format!("headers={}", quoted(&listed.join(" ")));
    let mut algorithm = format!("algorithm={}", quoted(signing.algorithm));
    for (name, time) in [("created", created), ("expires", expires)] {
        // Integers, which the draft does not quote (section 4.1).
        algorithm.extend(time.map(|time| format!(",{name}={time}")));
    }
    let (second, third) = match signing.order {
        ParameterOrder::AlgorithmFirst => (algorithm, headers),
        ParameterOrder::HeadersFirst => (headers, algorithm),
    };
    let text = format!("{key_id},{second},{third},signature=\"{signature}\"");
    HeaderValue::try_from(text).map_err(|_| SignError::Unprintable(signing.key_id.to_owned()))
}

/// A quoted string (RFC 9110 section 5.6.4).
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
