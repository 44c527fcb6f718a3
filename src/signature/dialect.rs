//! The dialects of HTTP signatures.

use serde::{Deserialize, Serialize};

/// A way to sign a request; the names are labels in verdicts, profiles and commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dialect {
    /// draft-cavage-http-signatures-12.
    Cavage,
    /// HTTP Message Signatures.
    Rfc9421,
}

impl Dialect {
    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Dialect::Cavage => "cavage",
            Dialect::Rfc9421 => "rfc9421",
        }
    }
}
