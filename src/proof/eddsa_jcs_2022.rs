//! `eddsa-jcs-2022`: a Data Integrity proof over canonical JSON (W3C Data Integrity EdDSA Cryptosuites 1.0 section 3.3),
//! as FEP-8b32 puts it into ActivityPub.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::clock::Timestamp;
use crate::proof::{CONTEXT, Hashed, PROOF, ProofError, ProofVerdict, SIGNATURE, dates, each, without};
use crate::signature::key::{Algorithm, SigningKey, VerifyingKey};
use crate::signature::{Finding, Reason, Terms};

/// Puts a proof into `document`, in place of a `proof` or `signature` that is there. The proof carries the document's
/// `@context`, and no `expires`.
///
/// # Errors
/// Where the key is not Ed25519, or the cryptographic library fails.
pub fn sign(
    document: &mut Map<String, Value>,
    verification_method: &str,
    created: Timestamp,
    key: &SigningKey,
) -> Result<(), ProofError> {
    let bare = without(document, &[PROOF, SIGNATURE]);
    let context = bare.get(CONTEXT).map(|context| (CONTEXT, context.clone()));
    let mut proof: Map<String, Value> = context
        .into_iter()
        .chain([
            ("type", TYPE.into()),
            ("cryptosuite", CRYPTOSUITE.into()),
            (METHOD, verification_method.into()),
            (PURPOSE, ASSERTION.into()),
            (dates::CREATED, created.seconds_rfc3339().into()),
        ])
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    let hashed = Hashed::new(canonical(&proof)?, canonical(&bare)?);
    let signature = key.sign(Algorithm::Ed25519, &hashed.bytes())?;
    let value = format!("z{}", bs58::encode(signature).into_string());
    proof.insert(VALUE.to_owned(), value.into());
    *document = bare;
    document.insert(PROOF.to_owned(), proof.into());
    Ok(())
}

/// Judges `proof` of `document` (section 3.3.2).
pub(super) fn judge(
    document: &Map<String, Value>,
    proof: &Map<String, Value>,
    key: Result<&VerifyingKey, Finding>,
    terms: Terms,
    mut verdict: ProofVerdict,
) -> ProofVerdict {
    purpose(proof, &mut verdict);
    let signature = value(proof, &mut verdict);
    dates::check(proof, terms, &mut verdict);
    let bare = covered(document, proof, &mut verdict);
    let options = without(proof, &[VALUE]);
    let hashed = canonical(&options).and_then(|options| Ok(Hashed::new(options, canonical(&bare)?)));
    match (key, &hashed) {
        (Err(failure), _) => verdict.add(failure),
        (_, Err(error)) => verdict.add(error.finding()),
        (Ok(key), Ok(hashed)) => check(key, hashed, signature.as_deref(), &mut verdict),
    }
    if !verdict.findings.is_empty() {
        verdict.hashed = hashed.ok().map(Hashed::shown);
    }
    verdict
}

/// FEP-8b32, "Proof generation": the purpose of a proof is always the same.
fn purpose(proof: &Map<String, Value>, verdict: &mut ProofVerdict) {
    let purpose = proof.get(PURPOSE).unwrap_or(&Value::Null);
    if purpose != ASSERTION {
        let detail = format!("`{PURPOSE}` is `{purpose}`; an object is signed for `{ASSERTION}`");
        verdict.add(Finding::new(Reason::ProofPurposeMismatch, detail));
    }
}

/// The signature that `proofValue` holds (section 3.3.2 step 4).
fn value(proof: &Map<String, Value>, verdict: &mut ProofVerdict) -> Option<Vec<u8>> {
    let Some(text) = proof.get(VALUE).and_then(Value::as_str) else {
        let detail = format!("`{VALUE}` is missing, or no string");
        verdict.add(Finding::new(Reason::Malformed, detail));
        return None;
    };
    // The decoder's work grows with the square of the length.
    let base58 = text.strip_prefix('z').filter(|_| text.len() <= MAX_VALUE);
    let bytes = base58.and_then(|base58| bs58::decode(base58).into_vec().ok());
    let signature = bytes.filter(|bytes| bytes.len() == SIGNATURE_LEN);
    if signature.is_none() {
        let detail = format!(
            "`{VALUE}` is `{text}`; it must be `z` and base58btc of a signature's {SIGNATURE_LEN} bytes"
        );
        verdict.add(Finding::new(Reason::BadMultibase, detail));
    }
    signature
}

/// What of `document` the proof covers: all but the proofs, under the proof's contexts where it has any (section 3.3.2
/// step 5). FEP-8b32, "Backward compatibility": a `signature` was made later, and is left out.
fn covered(
    document: &Map<String, Value>,
    proof: &Map<String, Value>,
    verdict: &mut ProofVerdict,
) -> Map<String, Value> {
    let mut bare = without(document, &[PROOF, SIGNATURE]);
    if document.contains_key(SIGNATURE) {
        verdict.notes.push("signature_removed");
    }
    let Some(stated) = proof.get(CONTEXT) else {
        return bare;
    };
    let own = bare.get(CONTEXT).unwrap_or(&Value::Null);
    if !each(own).starts_with(each(stated)) {
        let detail =
            format!("the proof's contexts are `{stated}`, with which the document's must begin: `{own}`");
        verdict.add(Finding::new(Reason::ContextMismatch, detail));
    } else if own != stated {
        verdict.notes.push("context_replaced");
        bare.insert(CONTEXT.to_owned(), stated.clone());
    }
    bare
}

fn check(key: &VerifyingKey, hashed: &Hashed, signature: Option<&[u8]>, verdict: &mut ProofVerdict) {
    let kind = key.kind();
    if !kind.computes(Algorithm::Ed25519) {
        let detail = format!("`{CRYPTOSUITE}` takes an Ed25519 key; this one is {kind}");
        verdict.add(Finding::new(Reason::UnsupportedAlgorithm, detail));
    } else if let Some(signature) = signature
        && !key.verifies(Algorithm::Ed25519, &hashed.bytes(), signature)
    {
        let detail = "the signature is not this key's over the digests of proof and document";
        verdict.add(Finding::new(Reason::SignatureMismatch, detail));
    }
}

/// Canonical JSON (RFC 8785).
fn canonical(value: &impl Serialize) -> Result<String, ProofError> {
    serde_json_canonicalizer::to_string(value).map_err(|error| ProofError::Canonical(error.to_string()))
}

/// The type of every Data Integrity proof.
pub(super) const TYPE: &str = "DataIntegrityProof";
/// What tells this kind from the others.
pub(super) const CRYPTOSUITE: &str = "eddsa-jcs-2022";
const METHOD: &str = "verificationMethod";
const PURPOSE: &str = "proofPurpose";
const ASSERTION: &str = "assertionMethod";
const VALUE: &str = "proofValue";

/// The length of an Ed25519 signature, in bytes.
const SIGNATURE_LEN: usize = 64;
/// The longest value that is decoded, in bytes; that of a signature has 89.
const MAX_VALUE: usize = 128;
