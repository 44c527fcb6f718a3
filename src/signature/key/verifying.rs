//! Public keys, as other servers publish them, and shared secrets.

use std::fmt;

use aws_lc_rs::encoding::AsDer;
use aws_lc_rs::hmac;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_ASN1, ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_ASN1, ECDSA_P384_SHA384_FIXED,
    ED25519, EcdsaVerificationAlgorithm, ParsedPublicKey, RSA_PKCS1_1024_8192_SHA256_FOR_LEGACY_USE_ONLY,
    RSA_PKCS1_1024_8192_SHA512_FOR_LEGACY_USE_ONLY, RSA_PSS_2048_8192_SHA512, VerificationAlgorithm,
};
use pkcs1::RsaPublicKey;
use pkcs1::der::asn1::UintRef;

use crate::signature::key::der::Family;
use crate::signature::key::{Algorithm, KeyError, KeyKind, MAX_RSA_BITS, MIN_RSA_BITS, der, multibase, pem};

/// A key that verifies. Its `Debug` shows the kind and nothing of the key, which may be a secret.
#[derive(Clone)]
pub struct VerifyingKey {
    kind: KeyKind,
    checks: Checks,
}

/// The key, parsed once for each algorithm: parsing costs as much as a verification.
#[derive(Clone)]
enum Checks {
    Ecdsa {
        fixed: ParsedPublicKey,
        asn1: ParsedPublicKey,
    },
    Ed25519(ParsedPublicKey),
    Rsa(Box<Rsa>),
    Secret(Box<hmac::Key>),
}

#[derive(Clone)]
struct Rsa {
    v15_sha256: ParsedPublicKey,
    v15_sha512: ParsedPublicKey,
    pss_sha512: ParsedPublicKey,
}

impl VerifyingKey {
    /// Reads `publicKeyPem`: SPKI (`BEGIN PUBLIC KEY`, RFC 5280) or PKCS#1 (`BEGIN RSA PUBLIC KEY`, RFC 8017), with
    /// line endings of any sort.
    ///
    /// # Errors
    /// Where it is no PEM, the PEM of something else or of a private key, or no RSA, ECDSA or Ed25519 key of a size
    /// the farm takes.
    pub fn from_pem(text: &str) -> Result<VerifyingKey, KeyError> {
        let (found, der) = pem::read(text)?;
        match found.as_str() {
            "PUBLIC KEY" | "RSA PUBLIC KEY" => VerifyingKey::from_der(&der),
            private if private.ends_with("PRIVATE KEY") => Err(KeyError::Private(found)),
            _ => Err(KeyError::Label {
                found,
                expected: "PUBLIC KEY` or `RSA PUBLIC KEY",
            }),
        }
    }

    /// Reads the DER of an SPKI or of a PKCS#1 public key. An SPKI for RSASSA-PSS (RFC 4055 section 1.2) gives a key
    /// that computes nothing else.
    ///
    /// # Errors
    /// As [`VerifyingKey::from_pem`].
    pub fn from_der(der: &[u8]) -> Result<VerifyingKey, KeyError> {
        match der::public(der) {
            Some((family, key)) => VerifyingKey::of(family?, key),
            None => VerifyingKey::of(Family::Rsa, der),
        }
    }

    /// Reads `publicKeyMultibase` of a Multikey (FEP-521a): Ed25519, P-256 or P-384 in base58btc.
    ///
    /// # Errors
    /// Where it is in another base, for another algorithm, of another length, or no point of the curve.
    pub fn from_multibase(text: &str) -> Result<VerifyingKey, KeyError> {
        let (family, key) = multibase::read(text)?;
        VerifyingKey::of(family, &key)
    }

    /// A secret that both sides know.
    pub fn from_secret(secret: &[u8]) -> VerifyingKey {
        VerifyingKey {
            kind: KeyKind::Secret,
            checks: Checks::Secret(Box::new(hmac::Key::new(hmac::HMAC_SHA256, secret))),
        }
    }

    /// A key of a family: PKCS#1 for RSA, a point for ECDSA, the 32 bytes of Ed25519.
    pub(super) fn of(family: Family, key: &[u8]) -> Result<VerifyingKey, KeyError> {
        let (kind, checks) = match family {
            Family::Ed25519 if of_small_order(key) => return Err(KeyError::SmallOrder),
            Family::Ed25519 => (KeyKind::Ed25519, Checks::Ed25519(parsed(&ED25519, key)?)),
            Family::P256 => (
                KeyKind::P256,
                Checks::ecdsa(&ECDSA_P256_SHA256_FIXED, &ECDSA_P256_SHA256_ASN1, key)?,
            ),
            Family::P384 => (
                KeyKind::P384,
                Checks::ecdsa(&ECDSA_P384_SHA384_FIXED, &ECDSA_P384_SHA384_ASN1, key)?,
            ),
            Family::Rsa => (KeyKind::Rsa(modulus_bits(key)?), Checks::rsa(key)?),
            Family::RsaPss => (KeyKind::RsaPss(modulus_bits(key)?), Checks::rsa(key)?),
        };
        Ok(VerifyingKey { kind, checks })
    }

    /// What kind of key it is.
    pub fn kind(&self) -> KeyKind {
        self.kind
    }

    /// The key as an SPKI PEM: lines of 64 columns, LF.
    ///
    /// # Errors
    /// Where it is a secret, or the cryptographic library fails.
    pub fn pem(&self) -> Result<String, KeyError> {
        let parsed = match &self.checks {
            Checks::Ecdsa { fixed, .. } => fixed,
            Checks::Ed25519(key) => key,
            Checks::Rsa(rsa) if matches!(self.kind, KeyKind::RsaPss(_)) => {
                // It was parsed from its PKCS#1.
                let der = der::pss_public(rsa.pss_sha512.as_ref())?;
                return Ok(pem::write("PUBLIC KEY", &der));
            }
            Checks::Rsa(rsa) => &rsa.v15_sha256,
            Checks::Secret(_) => return Err(KeyError::Secret),
        };
        let der = parsed.as_der().map_err(|_| KeyError::Operation("encode"))?;
        Ok(pem::write("PUBLIC KEY", der.as_ref()))
    }

    /// The key as `publicKeyMultibase` carries it, where it is an Ed25519 key: `z`, then base58btc over the multicodec
    /// prefix `ed01` and the 32 bytes (W3C Controlled Identifiers 1.0 sections 2.2.2 and 2.4).
    pub fn multibase(&self) -> Option<String> {
        match &self.checks {
            Checks::Ed25519(key) => Some(multibase::write_ed25519(key.as_ref())),
            _ => None,
        }
    }

    /// The PKCS#1 of an RSA key.
    pub(super) fn pkcs1(&self) -> Option<&[u8]> {
        match &self.checks {
            Checks::Rsa(rsa) => Some(rsa.pss_sha512.as_ref()),
            _ => None,
        }
    }

    /// Whether `signature` is this key's over `message`; never where the key computes no such algorithm. An ECDSA
    /// signature is r and s side by side, each of the curve's length (RFC 9421 sections 3.3.4 and 3.3.5).
    pub fn verifies(&self, algorithm: Algorithm, message: &[u8], signature: &[u8]) -> bool {
        if !self.kind.computes(algorithm) {
            return false;
        }
        let parsed = match (&self.checks, algorithm) {
            (Checks::Secret(key), _) => return hmac::verify(key, message, signature).is_ok(),
            (Checks::Ecdsa { fixed, .. }, _) => fixed,
            (Checks::Ed25519(key), _) => key,
            (Checks::Rsa(rsa), Algorithm::RsaPssSha512) => &rsa.pss_sha512,
            (Checks::Rsa(rsa), Algorithm::RsaV15Sha512) => &rsa.v15_sha512,
            (Checks::Rsa(rsa), _) => &rsa.v15_sha256,
        };
        parsed.verify_sig(message, signature).is_ok()
    }

    /// The same with an ECDSA signature in its other form: the DER of a sequence of r and s (RFC 3279 section 2.2.3).
    /// The other algorithms have one form, and this reads that.
    pub fn verifies_asn1(&self, algorithm: Algorithm, message: &[u8], signature: &[u8]) -> bool {
        match &self.checks {
            Checks::Ecdsa { asn1, .. } => {
                self.kind.computes(algorithm) && asn1.verify_sig(message, signature).is_ok()
            }
            _ => self.verifies(algorithm, message, signature),
        }
    }
}

impl fmt::Debug for VerifyingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "VerifyingKey({})", self.kind)
    }
}

impl Checks {
    fn ecdsa(
        fixed: &'static EcdsaVerificationAlgorithm,
        asn1: &'static EcdsaVerificationAlgorithm,
        key: &[u8],
    ) -> Result<Checks, KeyError> {
        Ok(Checks::Ecdsa {
            fixed: parsed(fixed, key)?,
            asn1: parsed(asn1, key)?,
        })
    }

    fn rsa(key: &[u8]) -> Result<Checks, KeyError> {
        // Keys of 1024 bits still stand in old actor documents.
        Ok(Checks::Rsa(Box::new(Rsa {
            v15_sha256: parsed(&RSA_PKCS1_1024_8192_SHA256_FOR_LEGACY_USE_ONLY, key)?,
            v15_sha512: parsed(&RSA_PKCS1_1024_8192_SHA512_FOR_LEGACY_USE_ONLY, key)?,
            pss_sha512: parsed(&RSA_PSS_2048_8192_SHA512, key)?,
        })))
    }
}

fn parsed(algorithm: &'static dyn VerificationAlgorithm, key: &[u8]) -> Result<ParsedPublicKey, KeyError> {
    ParsedPublicKey::new(algorithm, key).map_err(|_| KeyError::Rejected)
}

/// Whether an Ed25519 key is a point of small order, under which one signature holds for many messages or for all. The
/// sign is the highest bit, and does not matter; the last three are other writings of the same points.
fn of_small_order(key: &[u8]) -> bool {
    let Some((last, rest)) = key.split_last() else {
        return false;
    };
    SMALL_ORDER.iter().any(|point| {
        let (end, start) = (point[31], &point[..31]);
        start == rest && end == last & 0x7f
    })
}

/// The encodings of Curve25519's points of order 1, 2, 4 and 8, without their sign.
const SMALL_ORDER: [[u8; 32]; 7] = [
    bytes("0100000000000000000000000000000000000000000000000000000000000000"),
    bytes("ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"),
    bytes("0000000000000000000000000000000000000000000000000000000000000000"),
    bytes("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"),
    bytes("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"),
    bytes("edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"),
    bytes("eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"),
];

/// Bytes out of their hexadecimal.
const fn bytes(text: &str) -> [u8; 32] {
    const fn digit(byte: u8) -> u8 {
        match byte {
            b'0'..=b'9' => byte - b'0',
            _ => byte - b'a' + 10,
        }
    }
    let (text, mut bytes, mut at) = (text.as_bytes(), [0; 32], 0);
    while at < 32 {
        bytes[at] = digit(text[2 * at]) << 4 | digit(text[2 * at + 1]);
        at += 1;
    }
    bytes
}

/// The length of the modulus in a PKCS#1 public key, where the farm takes keys of that length.
fn modulus_bits(der: &[u8]) -> Result<usize, KeyError> {
    let key = RsaPublicKey::<UintRef>::try_from(der).map_err(|_| KeyError::Rejected)?;
    let modulus = key.modulus.as_bytes();
    let unused = modulus.first().map_or(0, |byte| byte.leading_zeros() as usize);
    let bits = modulus.len() * 8 - unused;
    match (MIN_RSA_BITS..=MAX_RSA_BITS).contains(&bits) {
        true => Ok(bits),
        false => Err(KeyError::Size(bits)),
    }
}
