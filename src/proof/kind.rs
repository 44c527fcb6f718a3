//! The kinds of proofs.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A way to prove an object's integrity; serde has the names that profiles use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Kind {
    /// Data Integrity over JCS with Ed25519 (W3C Data Integrity EdDSA Cryptosuites 1.0 section 3.3, FEP-8b32).
    #[serde(rename = "eddsa_jcs_2022")]
    EddsaJcs2022,
    /// Linked Data Signatures over RDF with RSA, as Mastodon made them known.
    #[serde(rename = "rsa_signature_2017")]
    RsaSignature2017,
}

impl Kind {
    /// The name that proofs carry.
    pub fn name(self) -> &'static str {
        match self {
            Kind::EddsaJcs2022 => "eddsa-jcs-2022",
            Kind::RsaSignature2017 => "RsaSignature2017",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
