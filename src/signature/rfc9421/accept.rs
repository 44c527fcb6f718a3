//! The `Accept-Signature` field (RFC 9421 section 5.1): which signatures someone asks for.

use std::fmt;
use std::str::FromStr;

/// A request for signatures: a dictionary of labels, each with the components to cover and the parameters to have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcceptSignature(String);

/// Text that is no `Accept-Signature`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AcceptSignatureError {
    /// Not a dictionary (RFC 9651 section 3.2).
    #[error(
        "`{text}` is no dictionary of structured fields: {fault}; `sig1=(\"@method\");created` would be one"
    )]
    Syntax {
        /// The text.
        text: String,
        /// What is wrong.
        fault: String,
    },
}

impl FromStr for AcceptSignature {
    type Err = AcceptSignatureError;

    fn from_str(text: &str) -> Result<AcceptSignature, AcceptSignatureError> {
        Ok(AcceptSignature(text.to_owned()))
    }
}

impl fmt::Display for AcceptSignature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
