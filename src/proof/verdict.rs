//! The verdict on a proof, in the words that verdicts on requests share.

use serde::Serialize;

use crate::proof::{Hashed, Proof};
use crate::signature::{Finding, Outcome, Reason, cut};

/// What verification found, by the specification, the same for every peer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProofVerdict {
    /// Valid or invalid.
    pub result: Outcome,
    /// What the proof calls itself: `eddsa-jcs-2022`, `RsaSignature2017`, or a kind the farm does not read.
    pub kind: Option<String>,
    /// Why not, where it is invalid: the first of the findings.
    pub reason: Option<Reason>,
    /// The reason in words for a person, with the values that did not fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The key id as the proof gave it.
    pub key_id: Option<String>,
    /// What was noticed besides: `context_replaced` (the proof's contexts are fewer than the document's, and took their
    /// place), `signature_removed` (the document's `signature` was left out before the proof was checked).
    pub notes: Vec<&'static str>,
    /// On failure, what the farm hashed, to lay beside one's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hashed: Option<Hashed>,
    /// All that does not hold, in the order of the checks; in the JSON where it says more than `reason` does.
    #[serde(skip_serializing_if = "fewer_than_two")]
    pub findings: Vec<Finding>,
}

impl ProofVerdict {
    /// The same verdict with one more finding, which only the caller could make: [`Reason::SignerMismatch`],
    /// [`Reason::KeyOwnerMismatch`]. It comes last, so it is the reason only where all else holds.
    pub fn failed(mut self, reason: Reason, detail: impl Into<String>) -> ProofVerdict {
        self.add(Finding::new(reason, detail));
        self
    }

    /// A verdict that has nothing against the proof yet.
    pub(super) fn of(proof: &Proof) -> ProofVerdict {
        let short = |text: &str| cut(text.to_owned(), MAX_NAME);
        ProofVerdict {
            result: Outcome::Valid,
            kind: proof.name().map(short),
            reason: None,
            detail: None,
            key_id: proof.key_id().map(short),
            notes: Vec::new(),
            hashed: None,
            findings: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, finding: Finding) {
        if self.findings.is_empty() {
            self.reason = Some(finding.reason);
            self.detail = Some(finding.detail.clone());
        }
        self.result = Outcome::Invalid;
        self.findings.push(finding);
    }
}

fn fewer_than_two(findings: &[Finding]) -> bool {
    findings.len() < 2
}

/// How many bytes of a kind or a key id are kept.
const MAX_NAME: usize = 2_048;
