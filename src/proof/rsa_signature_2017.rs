//! `RsaSignature2017`: Linked Data Signatures over RDF, as Mastodon made them known. The draft they came from never got
//! so far, so what Mastodon does is the rule (`ActivityPub::LinkedDataSignature`).
//!
//! A member that no context defines is no RDF, so such a signature does not cover it.

use serde_json::{Map, Value};

use crate::clock::Timestamp;
use crate::proof::{CONTEXT, Hashed, ProofError, ProofVerdict, SIGNATURE, dates, nquads, without};
use crate::signature::key::{Algorithm, SigningKey, VerifyingKey};
use crate::signature::{Finding, Reason, Terms, base64};

/// Puts a signature into `document`, in place of one that is there. The document's contexts stay as they are:
/// `https://w3id.org/security/v1` among them gives `signature` a meaning, and no verifier asks for it.
///
/// # Errors
/// Where the key is not RSA, the document has a context that is not bundled or is no JSON-LD, or the cryptographic
/// library fails.
pub fn sign(
    document: &mut Map<String, Value>,
    creator: &str,
    created: Timestamp,
    expires: Option<Timestamp>,
    key: &SigningKey,
) -> Result<(), ProofError> {
    let bare = without(document, &[SIGNATURE]);
    let expires = expires.map(|expires| (dates::EXPIRES, expires.seconds_rfc3339()));
    let mut signature: Map<String, Value> = [
        ("type", TYPE.to_owned()),
        (CREATOR, creator.to_owned()),
        (dates::CREATED, created.seconds_rfc3339()),
    ]
    .into_iter()
    .chain(expires)
    .map(|(name, value)| (name.to_owned(), value.into()))
    .collect();
    let hashed = hashed(&signature, &bare)?;
    let value = key.sign(Algorithm::RsaV15Sha256, hashed.text().as_bytes())?;
    signature.insert(VALUE.to_owned(), base64::encode(value).into());
    *document = bare;
    document.insert(SIGNATURE.to_owned(), signature.into());
    Ok(())
}

/// Judges `signature` of `document`.
pub(super) fn judge(
    document: &Map<String, Value>,
    signature: &Map<String, Value>,
    key: Result<&VerifyingKey, Finding>,
    terms: Terms,
    mut verdict: ProofVerdict,
) -> ProofVerdict {
    let bytes = value(signature, &mut verdict);
    if !signature.contains_key(dates::CREATED) {
        let detail = format!("`{}` is missing", dates::CREATED);
        verdict.add(Finding::new(Reason::Malformed, detail));
    }
    dates::check(signature, terms, &mut verdict);
    let hashed = hashed(signature, &without(document, &[SIGNATURE]));
    match (key, &hashed) {
        (Err(failure), _) => verdict.add(failure),
        (_, Err(error)) => verdict.add(error.finding()),
        (Ok(key), Ok(hashed)) => check(key, hashed, bytes.as_deref(), &mut verdict),
    }
    if !verdict.findings.is_empty() {
        verdict.hashed = hashed.ok().map(Hashed::shown);
    }
    verdict
}

fn value(signature: &Map<String, Value>, verdict: &mut ProofVerdict) -> Option<Vec<u8>> {
    let Some(text) = signature.get(VALUE).and_then(Value::as_str) else {
        let detail = format!("`{VALUE}` is missing, or no string");
        verdict.add(Finding::new(Reason::Malformed, detail));
        return None;
    };
    let decoded = base64::decode(text);
    if let Some(fault) = decoded.fault {
        let detail = format!("`{VALUE}` is `{text}`, which is no base64: {fault}");
        verdict.add(Finding::new(Reason::BadBase64, detail));
    }
    decoded.bytes
}

/// What is signed: the signature without type, id and value, under a context of its own, and the document without it.
fn hashed(signature: &Map<String, Value>, bare: &Map<String, Value>) -> Result<Hashed, ProofError> {
    let mut options = without(signature, &["type", "id", VALUE]);
    options.insert(CONTEXT.to_owned(), IDENTITY.into());
    Ok(Hashed::new(
        nquads::canonical(&options)?,
        nquads::canonical(bare)?,
    ))
}

fn check(key: &VerifyingKey, hashed: &Hashed, signature: Option<&[u8]>, verdict: &mut ProofVerdict) {
    let kind = key.kind();
    if !kind.computes(Algorithm::RsaV15Sha256) {
        let detail = format!("`{TYPE}` takes an RSA key; this one is {kind}");
        verdict.add(Finding::new(Reason::UnsupportedAlgorithm, detail));
    } else if let Some(signature) = signature
        && !key.verifies(Algorithm::RsaV15Sha256, hashed.text().as_bytes(), signature)
    {
        let detail = "the signature is not this key's over the digests of options and document";
        verdict.add(Finding::new(Reason::SignatureMismatch, detail));
    }
}

/// What tells this kind from others.
pub(super) const TYPE: &str = "RsaSignature2017";
const CREATOR: &str = "creator";
const VALUE: &str = "signatureValue";
/// The context of the options.
const IDENTITY: &str = "https://w3id.org/identity/v1";
