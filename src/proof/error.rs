//! Why no proof could be made, or nothing found to check it against.

use crate::signature::key::KeyError;
use crate::signature::{Finding, Reason};

/// A document or a key that no proof can be made of.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProofError {
    /// A document without a canonical form.
    #[error("the document has no canonical form: {0}")]
    Canonical(String),
    /// A context that is not bundled.
    #[error("the context `{0}` is not among those the farm has, and none is fetched")]
    Context(String),
    /// The key is of another kind than the proof takes, or the cryptographic library failed.
    #[error("the proof cannot be signed")]
    Key(#[from] KeyError),
}

impl ProofError {
    /// What it is to a verdict.
    pub(super) fn finding(&self) -> Finding {
        let reason = match self {
            ProofError::Canonical(_) => Reason::CanonicalizationFailed,
            ProofError::Context(_) => Reason::ContextUnknown,
            ProofError::Key(_) => Reason::UnsupportedAlgorithm,
        };
        Finding::new(reason, self.to_string())
    }
}
