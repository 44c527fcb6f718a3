//! HTTP signatures: bytes in, a [`Verdict`] out. Pure: no clock, no network, no key is fetched here.
//!
//! [`parse`] finds the signature of a request and names its key; the caller fetches that key; then
//! [`SignatureHeader::verify`] judges. One module a dialect: [`cavage`] and [`rfc9421`]. A request that speaks RFC 9421
//! is never read as the other.

pub(crate) mod base64;
pub mod cavage;
pub mod content_digest;
mod corrupt;
mod dialect;
mod dictionary;
pub mod digest;
mod field;
pub mod key;
mod mismatch;
pub mod rfc9421;
mod terms;
mod verdict;
mod window;

pub use corrupt::corrupt;
pub use dialect::Dialect;
pub use terms::{Hs2019, Terms, Window};
pub(crate) use verdict::cut;
pub use verdict::{Finding, NOTES, Outcome, Reason, Verdict, decisive, note_meaning};

use http::HeaderMap;
use http::header::AUTHORIZATION;

use crate::signature::rfc9421::Message;

/// What of a request a signature can cover, as it came over the wire or is about to go.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The method: `POST`.
    pub method: &'a str,
    /// Path and query, the very bytes of the request line or `:path`: `/users/a/inbox?x=%7E`.
    pub target: &'a str,
    /// The scheme its sender used, which a proxy may hide from who receives: `https`.
    pub scheme: &'a str,
    /// The headers.
    pub headers: &'a HeaderMap,
    /// The host asked for, with the port where one was sent: the `Host` header or `:authority`. It stands for `host` in
    /// the signature; without it the `Host` header does.
    pub authority: Option<&'a str>,
    /// The body, as long as `Content-Length` says, before any content coding is undone.
    pub body: &'a [u8],
}

/// What [`parse`] found.
#[derive(Clone, Debug)]
pub enum Parsed {
    /// A signature that no key could make valid: it does not parse, or names no key.
    Invalid(Verdict),
    /// Signatures, at least one and at most [`SIGNATURES_MAX`]; their keys are yet to be fetched.
    Signed(Vec<SignatureHeader>),
    /// No signature.
    Unsigned,
}

/// Looks for the signatures of a request. With a `Signature-Input` they are RFC 9421's, one for each label. Without one
/// there is one signature, draft-cavage's: the `Signature` header, else `Authorization: Signature` (draft-cavage-12
/// sections 3.1 and 4.1). Where both are there `Signature` is read and the other ignored, so a bad one never passes
/// because the other was good.
pub fn parse(request: &Request) -> Parsed {
    let headers = request.headers;
    if headers.contains_key("signature-input") {
        return match rfc9421::parse(headers) {
            Ok(found) => Parsed::Signed(found.into_iter().map(SignatureHeader::Rfc9421).collect()),
            Err(verdict) => Parsed::Invalid(*verdict),
        };
    }
    let signatures: Vec<&[u8]> = headers
        .get_all("signature")
        .iter()
        .map(|value| value.as_bytes())
        .collect();
    let found = match signatures.as_slice() {
        [] => match authorizations(headers).as_slice() {
            [] => return Parsed::Unsigned,
            [credentials] => cavage::Header::parse(credentials, Some("authorization_header")),
            several => Err(repeated("Authorization: Signature", several.len())),
        },
        [value] => match without_scheme(value) {
            Some(credentials) => cavage::Header::parse(credentials, Some("scheme_prefix")),
            None => cavage::Header::parse(value, None),
        },
        several => Err(repeated("Signature", several.len())),
    };
    match found {
        Ok(header) => Parsed::Signed(vec![SignatureHeader::Cavage(header)]),
        Err(verdict) => Parsed::Invalid(*verdict),
    }
}

/// Whether a request with these headers has a signature that [`parse`] would read, or trip over.
pub fn is_signed(headers: &HeaderMap) -> bool {
    let has = |name| headers.contains_key(name);
    has("signature-input") || has("signature") || !authorizations(headers).is_empty()
}

/// A signature that was parsed and awaits its key.
#[derive(Clone, Debug)]
pub enum SignatureHeader {
    /// draft-cavage-http-signatures-12.
    Cavage(cavage::Header),
    /// HTTP Message Signatures, RFC 9421.
    Rfc9421(rfc9421::Header),
}

impl SignatureHeader {
    /// The key id as the signature gives it.
    pub fn key_id(&self) -> &str {
        match self {
            SignatureHeader::Cavage(header) => header.key_id(),
            SignatureHeader::Rfc9421(header) => header.key_id(),
        }
    }

    /// When the signature says it was made (`created`), in Unix seconds.
    pub fn created(&self) -> Option<i64> {
        match self {
            SignatureHeader::Cavage(header) => header.created(),
            SignatureHeader::Rfc9421(header) => header.created(),
        }
    }

    /// Judges the signature of `request`, which must be the one it was parsed from. All checks run, in this order;
    /// the verdict's reason is the first that fails, the rest are in [`Verdict::findings`]:
    ///
    /// 1. structure: the algorithm's name, what must be covered is, what is covered is there, base64;
    /// 2. digest: there, covered, matching;
    /// 3. window: dates, `expires`;
    /// 4. key: it fits the algorithm and the signature verifies.
    pub fn verify(&self, request: &Request, key: &key::VerifyingKey, terms: Terms) -> Verdict {
        match self {
            SignatureHeader::Cavage(header) => header.verify(request, Ok(key), terms),
            SignatureHeader::Rfc9421(header) => header.verify(&Message::Request(request), Ok(key), terms),
        }
    }

    /// The same checks where there is no key to verify with: `reason` takes the place of the last
    /// ([`Reason::KeyFetchFailed`], [`Reason::KeyGone`], [`Reason::KeyUnreadable`]).
    pub fn verify_without_key(
        &self,
        request: &Request,
        reason: Reason,
        detail: impl Into<String>,
        terms: Terms,
    ) -> Verdict {
        let failure = Finding::new(reason, detail);
        match self {
            SignatureHeader::Cavage(header) => header.verify(request, Err(failure), terms),
            SignatureHeader::Rfc9421(header) => {
                header.verify(&Message::Request(request), Err(failure), terms)
            }
        }
    }
}

/// The credentials of each `Authorization` whose scheme is `Signature`; other schemes are none of our business.
fn authorizations(headers: &HeaderMap) -> Vec<&[u8]> {
    headers
        .get_all(AUTHORIZATION)
        .iter()
        .filter_map(|value| without_scheme(value.as_bytes()))
        .collect()
}

/// What follows the scheme word `Signature`, in any case and with at least one space (RFC 9110 section 11.4);
/// `None` where there is no such word, or where it is the parameter of that name.
fn without_scheme(value: &[u8]) -> Option<&[u8]> {
    let value = value.trim_ascii();
    let (scheme, rest) = value.split_at_checked("signature".len())?;
    let credentials = rest.trim_ascii_start();
    let spaced = credentials.len() < rest.len();
    (scheme.eq_ignore_ascii_case(b"signature") && spaced && !credentials.starts_with(b"="))
        .then_some(credentials)
}

fn repeated(header: &str, times: usize) -> Box<Verdict> {
    let detail = format!("`{header}` is there {times} times; one signature per request");
    Box::new(cavage::malformed(detail))
}

/// How many signatures of one request are read.
pub const SIGNATURES_MAX: usize = 4;

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod tests;
