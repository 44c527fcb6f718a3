//! Public keys, as other servers publish them.

use aws_lc_rs::encoding::AsDer;
use aws_lc_rs::rsa;
use aws_lc_rs::signature::{
    ED25519, ParsedPublicKey, RSA_PKCS1_1024_8192_SHA256_FOR_LEGACY_USE_ONLY,
    RSA_PKCS1_1024_8192_SHA512_FOR_LEGACY_USE_ONLY, RSA_PSS_2048_8192_SHA512, VerificationAlgorithm,
};
use pkcs1::RsaPublicKey;
use pkcs1::der::asn1::UintRef;

use crate::signature::key::{Algorithm, KeyError, KeyKind, MAX_RSA_BITS, MIN_RSA_BITS, pem};

/// A public key that verifies.
#[derive(Clone, Debug)]
pub struct VerifyingKey {
    kind: KeyKind,
    parsed: ParsedPublicKey,
}

impl VerifyingKey {
    /// Reads `publicKeyPem`: SPKI (`BEGIN PUBLIC KEY`, RFC 5280) or PKCS#1 (`BEGIN RSA PUBLIC KEY`, RFC 8017), with
    /// line endings of any sort.
    ///
    /// # Errors
    /// Where it is no PEM, the PEM of something else, or no RSA or Ed25519 key of a size the farm takes.
    pub fn from_pem(text: &str) -> Result<VerifyingKey, KeyError> {
        let (found, der) = pem::read(text)?;
        match found.as_str() {
            "PUBLIC KEY" | "RSA PUBLIC KEY" => VerifyingKey::from_der(&der),
            _ => Err(KeyError::Label {
                found,
                expected: "PUBLIC KEY` or `RSA PUBLIC KEY",
            }),
        }
    }

    /// Reads the DER of an SPKI or of a PKCS#1 public key.
    ///
    /// # Errors
    /// As [`VerifyingKey::from_pem`].
    pub fn from_der(der: &[u8]) -> Result<VerifyingKey, KeyError> {
        let Ok(key) = rsa::PublicKey::from_der(der) else {
            let parsed = ParsedPublicKey::new(&ED25519, der).map_err(|_| KeyError::Rejected)?;
            return Ok(VerifyingKey {
                kind: KeyKind::Ed25519,
                parsed,
            });
        };
        let bits = modulus_bits(key.as_ref())?;
        if !(MIN_RSA_BITS..=MAX_RSA_BITS).contains(&bits) {
            return Err(KeyError::Size(bits));
        }
        // Keys of 1024 bits still stand in old actor documents.
        let parsed = ParsedPublicKey::new(&RSA_PKCS1_1024_8192_SHA256_FOR_LEGACY_USE_ONLY, key.as_ref())
            .map_err(|_| KeyError::Rejected)?;
        Ok(VerifyingKey {
            kind: KeyKind::Rsa(bits),
            parsed,
        })
    }

    /// What kind of key it is.
    pub fn kind(&self) -> KeyKind {
        self.kind
    }

    /// The key as an SPKI PEM: lines of 64 columns, LF.
    ///
    /// # Errors
    /// Where the cryptographic library fails.
    pub fn pem(&self) -> Result<String, KeyError> {
        let der = self.parsed.as_der().map_err(|_| KeyError::Operation("encode"))?;
        Ok(pem::write("PUBLIC KEY", der.as_ref()))
    }

    /// Whether `signature` is this key's over `message`; never where the key computes no such algorithm.
    pub fn verifies(&self, algorithm: Algorithm, message: &[u8], signature: &[u8]) -> bool {
        if !self.kind.computes(algorithm) {
            return false;
        }
        let other: &dyn VerificationAlgorithm = match algorithm {
            Algorithm::Ed25519 | Algorithm::RsaV15Sha256 => {
                return self.parsed.verify_sig(message, signature).is_ok();
            }
            Algorithm::RsaPssSha512 => &RSA_PSS_2048_8192_SHA512,
            Algorithm::RsaV15Sha512 => &RSA_PKCS1_1024_8192_SHA512_FOR_LEGACY_USE_ONLY,
        };
        other.verify_sig(self.parsed.as_ref(), message, signature).is_ok()
    }
}

/// The length of the modulus in a PKCS#1 public key.
fn modulus_bits(der: &[u8]) -> Result<usize, KeyError> {
    let key = RsaPublicKey::<UintRef>::try_from(der).map_err(|_| KeyError::Rejected)?;
    let modulus = key.modulus.as_bytes();
    let unused = modulus.first().map_or(0, |byte| byte.leading_zeros() as usize);
    Ok(modulus.len() * 8 - unused)
}
