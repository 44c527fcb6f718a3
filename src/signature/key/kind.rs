//! The kinds of keys.

use std::fmt;

use crate::signature::key::Algorithm;

/// What kind of key it is; that decides which algorithms it can compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyKind {
    /// Ed25519 (RFC 8032).
    Ed25519,
    /// ECDSA on the curve P-256.
    P256,
    /// ECDSA on the curve P-384.
    P384,
    /// RSA, with a modulus of so many bits.
    Rsa(usize),
    /// The same, restricted by its algorithm identifier to RSASSA-PSS (RFC 4055 section 1.2).
    RsaPss(usize),
    /// A secret that both sides know.
    Secret,
}

impl KeyKind {
    /// The algorithm that a signature means where it does not say: RSA stands for PKCS#1 v1.5 with SHA-256.
    pub fn algorithm(self) -> Algorithm {
        match self {
            KeyKind::Ed25519 => Algorithm::Ed25519,
            KeyKind::P256 => Algorithm::EcdsaP256Sha256,
            KeyKind::P384 => Algorithm::EcdsaP384Sha384,
            KeyKind::Rsa(_) => Algorithm::RsaV15Sha256,
            KeyKind::RsaPss(_) => Algorithm::RsaPssSha512,
            KeyKind::Secret => Algorithm::HmacSha256,
        }
    }

    /// Whether such a key computes that.
    pub fn computes(self, algorithm: Algorithm) -> bool {
        match self {
            KeyKind::Rsa(_) => matches!(
                algorithm,
                Algorithm::RsaPssSha512 | Algorithm::RsaV15Sha256 | Algorithm::RsaV15Sha512
            ),
            other => other.algorithm() == algorithm,
        }
    }
}

impl fmt::Display for KeyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeyKind::Ed25519 => f.write_str("Ed25519"),
            KeyKind::P256 => f.write_str("P-256"),
            KeyKind::P384 => f.write_str("P-384"),
            KeyKind::Rsa(bits) => write!(f, "RSA-{bits}"),
            KeyKind::RsaPss(bits) => write!(f, "RSA-PSS-{bits}"),
            KeyKind::Secret => f.write_str("secret"),
        }
    }
}
