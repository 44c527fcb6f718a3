//! Actors' keys: RSA, which every peer has, and Ed25519.

mod algorithm;
mod pem;
mod signing;
mod verifying;

pub use algorithm::Algorithm;
pub use signing::SigningKey;
pub use verifying::VerifyingKey;

use std::fmt;

/// What kind of key it is; that decides which algorithms it can compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyKind {
    /// Ed25519 (RFC 8032).
    Ed25519,
    /// RSA, with a modulus of so many bits.
    Rsa(usize),
}

impl KeyKind {
    /// The algorithm that a signature means where it does not say: RSA stands for PKCS#1 v1.5 with SHA-256.
    pub fn algorithm(self) -> Algorithm {
        match self {
            KeyKind::Ed25519 => Algorithm::Ed25519,
            KeyKind::Rsa(_) => Algorithm::RsaV15Sha256,
        }
    }

    /// Whether such a key computes that.
    pub fn computes(self, algorithm: Algorithm) -> bool {
        match self {
            KeyKind::Ed25519 => algorithm == Algorithm::Ed25519,
            KeyKind::Rsa(_) => matches!(
                algorithm,
                Algorithm::RsaPssSha512 | Algorithm::RsaV15Sha256 | Algorithm::RsaV15Sha512
            ),
        }
    }
}

impl fmt::Display for KeyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeyKind::Ed25519 => f.write_str("Ed25519"),
            KeyKind::Rsa(bits) => write!(f, "RSA-{bits}"),
        }
    }
}

/// Text or bytes that hold no key, or a key that cannot be used or made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The base64 between the PEM lines does not decode.
    #[error("the key's PEM has no base64 between its BEGIN and END lines")]
    Base64,
    /// A PEM of something else.
    #[error("the PEM holds a `{found}` where a `{expected}` was expected")]
    Label {
        /// The label found.
        found: String,
        /// The labels that would do.
        expected: &'static str,
    },
    /// No PEM.
    #[error("the key is no PEM: it has no `-----BEGIN ...-----` and `-----END ...-----` lines")]
    NoPem,
    /// The cryptographic library would not make or use the key.
    #[error("the {0} operation failed in the cryptographic library")]
    Operation(&'static str),
    /// DER of something else, or broken.
    #[error("the key is no RSA or Ed25519 key that can be used, or its DER is broken")]
    Rejected,
    /// An algorithm of another kind of key.
    #[error("a key of kind {kind} computes no `{algorithm}`")]
    Unfit {
        /// The kind of the key.
        kind: KeyKind,
        /// The algorithm asked for.
        algorithm: Algorithm,
    },
    /// A modulus outside of what the farm takes.
    #[error(
        "an RSA key of {0} bits cannot be used: {MIN_RSA_BITS} to {MAX_RSA_BITS} verify, 2048, 3072, 4096 and 8192 can be made"
    )]
    Size(usize),
    /// Text too long for a key.
    #[error("{0} bytes of text are no key: the longest is {MAX_PEM} bytes")]
    TooLong(usize),
}

/// The smallest RSA modulus that verifies, in bits.
pub const MIN_RSA_BITS: usize = 1_024;
/// The largest RSA modulus that verifies, in bits.
pub const MAX_RSA_BITS: usize = 8_192;
/// The longest PEM that is read, in bytes; an RSA-8192 private key has about 6,400.
pub const MAX_PEM: usize = 16_384;

#[cfg(test)]
mod tests;
