//! Proofs that an object carries inside itself: JSON in, a [`ProofVerdict`] out. Pure: no clock, no network, neither a
//! key nor a JSON-LD context is fetched here.
//!
//! [`find`] finds the proofs of a document and names their keys; the caller fetches each key; then [`Proof::verify`]
//! judges. One module a kind:
//!
//! - `eddsa_jcs_2022`: Data Integrity (FEP-8b32), made by [`sign_eddsa_jcs_2022`];
//! - `rsa_signature_2017`: Linked Data Signatures as Mastodon has them, made by [`sign_rsa_signature_2017`].
//!
//! A document that is to have both gets the Data Integrity proof first: the other signs it too, while the first never
//! counts a `signature` (FEP-8b32, "Backward compatibility").

mod blank_nodes;
mod contexts;
mod dates;
mod eddsa_jcs_2022;
mod error;
mod hashed;
mod json_ld;
mod kind;
mod nquads;
mod rsa_signature_2017;
mod verdict;

pub use eddsa_jcs_2022::sign as sign_eddsa_jcs_2022;
pub use error::ProofError;
pub use hashed::Hashed;
pub use kind::Kind;
pub use rsa_signature_2017::sign as sign_rsa_signature_2017;
pub use verdict::ProofVerdict;

use serde_json::{Map, Value};

use crate::signature::key::VerifyingKey;
use crate::signature::{Finding, Reason, Terms};

/// The proofs of a document, of known kinds and others, in order: what is in its `proof`, one or an array, then in its
/// `signature`. The first [`PROOFS_MAX`] of them; objects inside the document are not looked at.
pub fn find(document: &Value) -> Vec<Proof<'_>> {
    let Some(document) = document.as_object() else {
        return Vec::new();
    };
    [PROOF, SIGNATURE]
        .into_iter()
        .filter_map(|member| Some((member, document.get(member)?)))
        .flat_map(|(member, value)| each(value).iter().map(move |value| (member, value)))
        .take(PROOFS_MAX)
        .map(|(member, value)| Proof::new(document, member, value))
        .collect()
}

/// A proof that was found and awaits its key.
#[derive(Clone, Copy, Debug)]
pub struct Proof<'a> {
    document: &'a Map<String, Value>,
    member: &'static str,
    /// The proof, where it is an object.
    members: Option<&'a Map<String, Value>>,
    kind: Option<Kind>,
}

impl<'a> Proof<'a> {
    fn new(document: &'a Map<String, Value>, member: &'static str, value: &'a Value) -> Proof<'a> {
        let members = value.as_object();
        let text = |name| members.and_then(|members| members.get(name)?.as_str());
        let kind = match (member, text("type"), text("cryptosuite")) {
            (PROOF, Some(eddsa_jcs_2022::TYPE), Some(eddsa_jcs_2022::CRYPTOSUITE)) => {
                Some(Kind::EddsaJcs2022)
            }
            (SIGNATURE, Some(rsa_signature_2017::TYPE), _) => Some(Kind::RsaSignature2017),
            _ => None,
        };
        Proof {
            document,
            member,
            members,
            kind,
        }
    }

    /// Its kind, where it is one the farm reads.
    pub fn kind(&self) -> Option<Kind> {
        self.kind
    }

    /// What it calls itself: a Data Integrity proof by its cryptosuite, others by their type.
    pub fn name(&self) -> Option<&'a str> {
        let suite = self.text("cryptosuite").filter(|_| self.member == PROOF);
        suite.or_else(|| self.text("type"))
    }

    /// The key id as the proof gives it: `verificationMethod`, or `creator` of a Linked Data signature.
    pub fn key_id(&self) -> Option<&'a str> {
        match self.member {
            SIGNATURE => self.text("creator"),
            _ => self.text("verificationMethod"),
        }
    }

    /// The verdict on a proof that no key could make valid: of a kind the farm does not read, or without a key id.
    /// `None` of all others, whose key is worth a fetch.
    pub fn unverifiable(&self) -> Option<ProofVerdict> {
        let (reason, detail) = match (self.members, self.kind, self.key_id()) {
            (None, _, _) => (Reason::Malformed, format!("`{}` is no object", self.member)),
            (_, None, _) => (
                Reason::UnsupportedProof,
                format!(
                    "`{}` holds a `{}`; `{}` in `proof` and `{}` in `signature` are read",
                    self.member,
                    self.name().unwrap_or("proof without a type"),
                    Kind::EddsaJcs2022.name(),
                    Kind::RsaSignature2017.name(),
                ),
            ),
            (_, _, None) => (
                Reason::Malformed,
                "the proof names no key: `verificationMethod`, or `creator` of a signature, must be a string"
                    .to_owned(),
            ),
            _ => return None,
        };
        let verdict = ProofVerdict::of(self);
        Some(verdict.failed(reason, detail))
    }

    /// Judges the proof. All checks run, in this order; the verdict's reason is the first that fails, the rest are in
    /// [`ProofVerdict::findings`]:
    ///
    /// 1. structure: what must be there is, the value decodes;
    /// 2. dates: `created` is not ahead of now by more than the window's future, `expires` has not passed; a proof is
    ///    never too old, since objects are forwarded long after they were made;
    /// 3. canonical form: there is one, of what the proof covers;
    /// 4. key: it fits the kind, and the signature verifies.
    pub fn verify(&self, key: &VerifyingKey, terms: Terms) -> ProofVerdict {
        self.judge(Ok(key), terms)
    }

    /// The same checks where there is no key to verify with: `reason` takes the place of the last
    /// ([`Reason::KeyFetchFailed`], [`Reason::KeyGone`], [`Reason::KeyUnreadable`]).
    pub fn verify_without_key(
        &self,
        reason: Reason,
        detail: impl Into<String>,
        terms: Terms,
    ) -> ProofVerdict {
        self.judge(Err(Finding::new(reason, detail)), terms)
    }

    fn judge(&self, key: Result<&VerifyingKey, Finding>, terms: Terms) -> ProofVerdict {
        if let Some(verdict) = self.unverifiable() {
            return verdict;
        }
        let verdict = ProofVerdict::of(self);
        match (self.kind, self.members) {
            (Some(Kind::EddsaJcs2022), Some(proof)) => {
                eddsa_jcs_2022::judge(self.document, proof, key, terms, verdict)
            }
            (Some(Kind::RsaSignature2017), Some(proof)) => {
                rsa_signature_2017::judge(self.document, proof, key, terms, verdict)
            }
            // Dealt with above.
            (None, _) | (_, None) => verdict,
        }
    }

    fn text(&self, name: &str) -> Option<&'a str> {
        self.members?.get(name)?.as_str()
    }
}

/// The proofs in a member: none, one or several.
fn each(value: &Value) -> &[Value] {
    match value {
        Value::Null => &[],
        Value::Array(several) => several,
        one => std::slice::from_ref(one),
    }
}

/// The document without its proofs of these members.
fn without(document: &Map<String, Value>, members: &[&str]) -> Map<String, Value> {
    document
        .iter()
        .filter(|(name, _)| !members.contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// Where a Data Integrity proof stands.
const PROOF: &str = "proof";
/// Where a Linked Data signature stands.
const SIGNATURE: &str = "signature";
/// The one context of the document and the proofs.
const CONTEXT: &str = "@context";

/// How many proofs of a document are read.
pub const PROOFS_MAX: usize = 4;

#[cfg(test)]
mod tests;
