//! What can be wrong with a key.

use crate::signature::key::{Algorithm, KeyKind};

/// Text or bytes that hold no key, or a key that cannot be used or made. No message has anything of a private key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// A key for an algorithm the farm does not compute.
    #[error("the key's algorithm is `{0}`; RSA, ECDSA on P-256 or P-384, and Ed25519 would do")]
    Algorithm(String),
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
    /// Text that is no key in multibase.
    #[error("the key is no `publicKeyMultibase`: {0}")]
    Multibase(&'static str),
    /// No PEM.
    #[error("the key is no PEM: it has no `-----BEGIN ...-----` and `-----END ...-----` lines")]
    NoPem,
    /// The cryptographic library would not make or use the key.
    #[error("the {0} operation failed in the cryptographic library")]
    Operation(&'static str),
    /// A private key where a public one belongs.
    #[error("the PEM holds a private key, a `{0}`, which nobody should see; a `PUBLIC KEY` was expected")]
    Private(String),
    /// A key whose RSASSA-PSS parameters allow no algorithm of the registry.
    #[error("the RSA key is restricted to RSASSA-PSS with `{0}`; `rsa-pss-sha512` needs SHA-512")]
    Pss(String),
    /// DER of something else, or broken.
    #[error("the key is no RSA, ECDSA or Ed25519 key that can be used, or its DER is broken")]
    Rejected,
    /// A secret, asked for its public half.
    #[error("a shared secret has no form that could be published or kept as PEM")]
    Secret,
    /// A point of small order.
    #[error("the Ed25519 key is a point of small order, under which anybody can sign")]
    SmallOrder,
    /// A modulus outside of what the farm takes.
    #[error(
        "an RSA key of {0} bits cannot be used: {MIN_RSA_BITS} to {MAX_RSA_BITS} verify, 2048, 3072, 4096 and 8192 can be made"
    )]
    Size(usize),
    /// Text too long for a key.
    #[error("{0} bytes of text are no key: a PEM has at most {MAX_PEM}, a multibase key {MAX_MULTIBASE}")]
    TooLong(usize),
    /// An algorithm of another kind of key.
    #[error("a key of kind {kind} computes no `{algorithm}`")]
    Unfit {
        /// The kind of the key.
        kind: KeyKind,
        /// The algorithm asked for.
        algorithm: Algorithm,
    },
}

/// The smallest RSA modulus that verifies, in bits.
pub const MIN_RSA_BITS: usize = 1_024;
/// The largest RSA modulus that verifies, in bits.
pub const MAX_RSA_BITS: usize = 8_192;
/// The longest PEM that is read, in bytes; an RSA-8192 private key has about 6,400.
pub const MAX_PEM: usize = 16_384;
/// The longest `publicKeyMultibase` that is read, in bytes; a P-384 key has about 70.
pub const MAX_MULTIBASE: usize = 256;
