//! Private keys: what the farm's actors sign with.

use std::fmt;

use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der};
use aws_lc_rs::hmac;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_ASN1_SIGNING, ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_ASN1_SIGNING,
    ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, EcdsaSigningAlgorithm, Ed25519KeyPair, KeyPair,
    RSA_PKCS1_SHA256, RSA_PKCS1_SHA512, RSA_PSS_SHA512, RsaEncoding, RsaKeyPair,
};

use crate::signature::key::der::Family;
use crate::signature::key::{Algorithm, KeyError, KeyKind, VerifyingKey, der, pem};

/// A key that signs. Its `Debug` shows the kind and nothing of the key.
pub struct SigningKey {
    pair: Pair,
    public: VerifyingKey,
}

enum Pair {
    /// The same key twice, once for each form of a signature.
    Ecdsa {
        fixed: EcdsaKeyPair,
        asn1: EcdsaKeyPair,
    },
    Ed25519(Ed25519KeyPair),
    Rsa(RsaKeyPair),
    Secret(Box<hmac::Key>),
}

impl SigningKey {
    /// Makes an RSA key of 2048, 3072, 4096 or 8192 bits. Takes a core for 0.1 s, 1 s from 4096 bits on.
    ///
    /// # Errors
    /// On another size, or where the cryptographic library fails.
    pub fn generate_rsa(bits: usize) -> Result<SigningKey, KeyError> {
        let size = match bits {
            2_048 => KeySize::Rsa2048,
            3_072 => KeySize::Rsa3072,
            4_096 => KeySize::Rsa4096,
            8_192 => KeySize::Rsa8192,
            _ => return Err(KeyError::Size(bits)),
        };
        let pair = RsaKeyPair::generate(size).map_err(|_| KeyError::Operation("generate"))?;
        SigningKey::rsa(pair, Family::Rsa)
    }

    /// Makes an Ed25519 key.
    ///
    /// # Errors
    /// Where the cryptographic library fails.
    pub fn generate_ed25519() -> Result<SigningKey, KeyError> {
        let pair = Ed25519KeyPair::generate().map_err(|_| KeyError::Operation("generate"))?;
        SigningKey::ed25519(pair)
    }

    /// Makes an ECDSA key on the curve P-256.
    ///
    /// # Errors
    /// Where the cryptographic library fails.
    pub fn generate_p256() -> Result<SigningKey, KeyError> {
        let pair = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING);
        let der = pair
            .and_then(|pair| pair.to_pkcs8v1())
            .map_err(|_| KeyError::Operation("generate"))?;
        SigningKey::from_pkcs8(der.as_ref())
    }

    /// A secret that both sides know.
    pub fn from_secret(secret: &[u8]) -> SigningKey {
        SigningKey {
            pair: Pair::Secret(Box::new(hmac::Key::new(hmac::HMAC_SHA256, secret))),
            public: VerifyingKey::from_secret(secret),
        }
    }

    /// Reads a PKCS#8 PEM (`BEGIN PRIVATE KEY`, RFC 5958), or the older `BEGIN RSA PRIVATE KEY` (RFC 8017) and
    /// `BEGIN EC PRIVATE KEY` (RFC 5915).
    ///
    /// # Errors
    /// Where it is no PEM, the PEM of something else, or no Ed25519 key, no ECDSA key on P-256 or P-384 and no RSA key
    /// of 2048 to 8192 bits.
    pub fn from_pem(text: &str) -> Result<SigningKey, KeyError> {
        let (found, der) = pem::read(text)?;
        match found.as_str() {
            "PRIVATE KEY" => SigningKey::from_pkcs8(&der),
            "EC PRIVATE KEY" => {
                SigningKey::ecdsa(Family::P256, &der).or_else(|_| SigningKey::ecdsa(Family::P384, &der))
            }
            "RSA PRIVATE KEY" => SigningKey::from_pkcs1(&der, Family::Rsa),
            _ => Err(KeyError::Label {
                found,
                expected: "PRIVATE KEY`, `EC PRIVATE KEY` or `RSA PRIVATE KEY",
            }),
        }
    }

    /// Reads the DER of a PKCS#8 private key. One for RSASSA-PSS (RFC 4055 section 1.2) gives a key that computes
    /// nothing else.
    ///
    /// # Errors
    /// As [`SigningKey::from_pem`].
    pub fn from_pkcs8(der: &[u8]) -> Result<SigningKey, KeyError> {
        let (family, key) = der::private(der).ok_or(KeyError::Rejected)?;
        match family? {
            Family::Ed25519 => {
                let pair = Ed25519KeyPair::from_pkcs8(der).map_err(|_| KeyError::Rejected)?;
                SigningKey::ed25519(pair)
            }
            family @ (Family::P256 | Family::P384) => SigningKey::ecdsa(family, der),
            family @ (Family::Rsa | Family::RsaPss) => SigningKey::from_pkcs1(key, family),
        }
    }

    fn from_pkcs1(der: &[u8], family: Family) -> Result<SigningKey, KeyError> {
        let pair = RsaKeyPair::from_der(der).map_err(|_| KeyError::Rejected)?;
        SigningKey::rsa(pair, family)
    }

    fn rsa(pair: RsaKeyPair, family: Family) -> Result<SigningKey, KeyError> {
        Ok(SigningKey {
            public: VerifyingKey::of(family, pair.public_key().as_ref())?,
            pair: Pair::Rsa(pair),
        })
    }

    fn ed25519(pair: Ed25519KeyPair) -> Result<SigningKey, KeyError> {
        Ok(SigningKey {
            public: VerifyingKey::of(Family::Ed25519, pair.public_key().as_ref())?,
            pair: Pair::Ed25519(pair),
        })
    }

    /// Reads PKCS#8 or RFC 5915.
    fn ecdsa(family: Family, der: &[u8]) -> Result<SigningKey, KeyError> {
        let (fixed, asn1) = match family {
            Family::P384 => (&ECDSA_P384_SHA384_FIXED_SIGNING, &ECDSA_P384_SHA384_ASN1_SIGNING),
            _ => (&ECDSA_P256_SHA256_FIXED_SIGNING, &ECDSA_P256_SHA256_ASN1_SIGNING),
        };
        let read = |form: &'static EcdsaSigningAlgorithm| {
            EcdsaKeyPair::from_private_key_der(form, der).map_err(|_| KeyError::Rejected)
        };
        let (fixed, asn1) = (read(fixed)?, read(asn1)?);
        Ok(SigningKey {
            public: VerifyingKey::of(family, fixed.public_key().as_ref())?,
            pair: Pair::Ecdsa { fixed, asn1 },
        })
    }

    /// What kind of key it is.
    pub fn kind(&self) -> KeyKind {
        self.public.kind()
    }

    /// The public half; of a secret, the secret, since who verifies needs it.
    pub fn public_key(&self) -> &VerifyingKey {
        &self.public
    }

    /// The public half as `publicKeyPem` carries it: SPKI, lines of 64 columns, LF.
    ///
    /// # Errors
    /// Where it is a secret, or the cryptographic library fails.
    pub fn public_pem(&self) -> Result<String, KeyError> {
        self.public.pem()
    }

    /// The key itself as a PKCS#8 PEM, for the state folder alone.
    ///
    /// # Errors
    /// Where it is a secret, or the cryptographic library fails.
    pub fn pkcs8_pem(&self) -> Result<String, KeyError> {
        let failed = |_| KeyError::Operation("encode");
        match &self.pair {
            Pair::Ecdsa { fixed, .. } => {
                let der = fixed.to_pkcs8v1().map_err(failed)?;
                Ok(pem::write("PRIVATE KEY", der.as_ref()))
            }
            Pair::Ed25519(pair) => {
                let der: Pkcs8V1Der = pair.as_der().map_err(failed)?;
                Ok(pem::write("PRIVATE KEY", der.as_ref()))
            }
            Pair::Rsa(pair) => {
                let der: Pkcs8V1Der = pair.as_der().map_err(failed)?;
                match self.kind() {
                    KeyKind::RsaPss(_) => Ok(pem::write("PRIVATE KEY", &der::pss_private(der.as_ref())?)),
                    _ => Ok(pem::write("PRIVATE KEY", der.as_ref())),
                }
            }
            Pair::Secret(_) => Err(KeyError::Secret),
        }
    }

    /// The public half as `publicKeyMultibase` carries it, for an Ed25519 key: [`VerifyingKey::multibase`].
    pub fn multibase(&self) -> Option<String> {
        self.public.multibase()
    }

    /// The signature of `message`. An ECDSA signature is r and s side by side, each of the curve's length (RFC 9421
    /// sections 3.3.4 and 3.3.5).
    ///
    /// # Errors
    /// Where the key is of another kind than the algorithm, or the cryptographic library fails.
    pub fn sign(&self, algorithm: Algorithm, message: &[u8]) -> Result<Vec<u8>, KeyError> {
        self.check(algorithm)?;
        match &self.pair {
            Pair::Ecdsa { fixed, .. } => sign_ecdsa(fixed, message),
            Pair::Ed25519(pair) => {
                let signature = pair.try_sign(message).map_err(|_| KeyError::Operation("sign"))?;
                Ok(signature.as_ref().to_vec())
            }
            Pair::Rsa(pair) => {
                let encoding: &'static dyn RsaEncoding = match algorithm {
                    Algorithm::RsaPssSha512 => &RSA_PSS_SHA512,
                    Algorithm::RsaV15Sha512 => &RSA_PKCS1_SHA512,
                    _ => &RSA_PKCS1_SHA256,
                };
                let mut signature = vec![0; pair.public_modulus_len()];
                pair.sign(encoding, &SystemRandom::new(), message, &mut signature)
                    .map_err(|_| KeyError::Operation("sign"))?;
                Ok(signature)
            }
            Pair::Secret(key) => Ok(hmac::sign(key, message).as_ref().to_vec()),
        }
    }

    /// The signature of `message`, an ECDSA signature in its other form: the DER of a sequence of r and s (RFC 3279
    /// section 2.2.3). The other algorithms have one form, and this gives that.
    ///
    /// # Errors
    /// As [`SigningKey::sign`].
    pub fn sign_asn1(&self, algorithm: Algorithm, message: &[u8]) -> Result<Vec<u8>, KeyError> {
        match &self.pair {
            Pair::Ecdsa { asn1, .. } => {
                self.check(algorithm)?;
                sign_ecdsa(asn1, message)
            }
            _ => self.sign(algorithm, message),
        }
    }

    fn check(&self, algorithm: Algorithm) -> Result<(), KeyError> {
        let kind = self.kind();
        match kind.computes(algorithm) {
            true => Ok(()),
            false => Err(KeyError::Unfit { kind, algorithm }),
        }
    }
}

fn sign_ecdsa(pair: &EcdsaKeyPair, message: &[u8]) -> Result<Vec<u8>, KeyError> {
    let signature = pair.sign(&SystemRandom::new(), message);
    let signature = signature.map_err(|_| KeyError::Operation("sign"))?;
    Ok(signature.as_ref().to_vec())
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey({})", self.kind())
    }
}
