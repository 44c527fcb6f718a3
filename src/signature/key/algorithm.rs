//! Signature algorithms, by the names of the HTTP Signature Algorithms registry (RFC 9421 section 6.2.2).

use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

/// What a key computes. `rsa-v1_5-sha512` is not in the registry; draft-cavage has it as `rsa-sha512`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
pub enum Algorithm {
    /// ECDSA on the curve P-256 with SHA-256 (RFC 9421 section 3.3.4).
    #[serde(rename = "ecdsa-p256-sha256")]
    EcdsaP256Sha256,
    /// ECDSA on the curve P-384 with SHA-384 (section 3.3.5).
    #[serde(rename = "ecdsa-p384-sha384")]
    EcdsaP384Sha384,
    /// EdDSA over Curve25519 (section 3.3.6).
    #[serde(rename = "ed25519")]
    Ed25519,
    /// HMAC with SHA-256 over a shared secret (section 3.3.3).
    #[serde(rename = "hmac-sha256")]
    HmacSha256,
    /// RSASSA-PSS with SHA-512, MGF1 with SHA-512 and a salt of 64 bytes (section 3.3.1).
    #[serde(rename = "rsa-pss-sha512")]
    RsaPssSha512,
    /// RSASSA-PKCS1-v1_5 with SHA-256 (section 3.3.2).
    #[serde(rename = "rsa-v1_5-sha256")]
    RsaV15Sha256,
    /// RSASSA-PKCS1-v1_5 with SHA-512.
    #[serde(rename = "rsa-v1_5-sha512")]
    RsaV15Sha512,
}

impl Algorithm {
    /// The algorithm of that name.
    pub fn named(name: &str) -> Option<Algorithm> {
        ALL.into_iter().find(|algorithm| algorithm.name() == name)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Algorithm::EcdsaP256Sha256 => "ecdsa-p256-sha256",
            Algorithm::EcdsaP384Sha384 => "ecdsa-p384-sha384",
            Algorithm::Ed25519 => "ed25519",
            Algorithm::HmacSha256 => "hmac-sha256",
            Algorithm::RsaPssSha512 => "rsa-pss-sha512",
            Algorithm::RsaV15Sha256 => "rsa-v1_5-sha256",
            Algorithm::RsaV15Sha512 => "rsa-v1_5-sha512",
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Algorithm {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

const ALL: [Algorithm; 7] = [
    Algorithm::EcdsaP256Sha256,
    Algorithm::EcdsaP384Sha384,
    Algorithm::Ed25519,
    Algorithm::HmacSha256,
    Algorithm::RsaPssSha512,
    Algorithm::RsaV15Sha256,
    Algorithm::RsaV15Sha512,
];
