//! Private keys: what the farm's actors sign with.

use std::fmt;

use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{
    Ed25519KeyPair, KeyPair, RSA_PKCS1_SHA256, RSA_PKCS1_SHA512, RSA_PSS_SHA512, RsaEncoding, RsaKeyPair,
};

use crate::signature::key::{Algorithm, KeyError, KeyKind, VerifyingKey, pem};

/// A key pair that signs. Its `Debug` shows the kind and nothing of the key.
pub struct SigningKey {
    pair: Pair,
    public: VerifyingKey,
}

enum Pair {
    Ed25519(Ed25519KeyPair),
    Rsa(RsaKeyPair),
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
        SigningKey::new(Pair::Rsa(pair))
    }

    /// Makes an Ed25519 key.
    ///
    /// # Errors
    /// Where the cryptographic library fails.
    pub fn generate_ed25519() -> Result<SigningKey, KeyError> {
        let pair = Ed25519KeyPair::generate().map_err(|_| KeyError::Operation("generate"))?;
        SigningKey::new(Pair::Ed25519(pair))
    }

    /// Reads a PKCS#8 PEM (`BEGIN PRIVATE KEY`, RFC 5958), or the older `BEGIN RSA PRIVATE KEY` (RFC 8017).
    ///
    /// # Errors
    /// Where it is no PEM, the PEM of something else, or no Ed25519 key and no RSA key of 2048 to 8192 bits.
    pub fn from_pem(text: &str) -> Result<SigningKey, KeyError> {
        let (found, der) = pem::read(text)?;
        match found.as_str() {
            "PRIVATE KEY" => SigningKey::from_pkcs8(&der),
            "RSA PRIVATE KEY" => {
                let pair = RsaKeyPair::from_der(&der).map_err(|_| KeyError::Rejected)?;
                SigningKey::new(Pair::Rsa(pair))
            }
            _ => Err(KeyError::Label {
                found,
                expected: "PRIVATE KEY` or `RSA PRIVATE KEY",
            }),
        }
    }

    /// Reads the DER of a PKCS#8 private key.
    ///
    /// # Errors
    /// As [`SigningKey::from_pem`].
    pub fn from_pkcs8(der: &[u8]) -> Result<SigningKey, KeyError> {
        let pair = match RsaKeyPair::from_pkcs8(der) {
            Ok(pair) => Pair::Rsa(pair),
            Err(_) => Pair::Ed25519(Ed25519KeyPair::from_pkcs8(der).map_err(|_| KeyError::Rejected)?),
        };
        SigningKey::new(pair)
    }

    fn new(pair: Pair) -> Result<SigningKey, KeyError> {
        let public = match &pair {
            Pair::Ed25519(pair) => VerifyingKey::from_der(pair.public_key().as_ref()),
            Pair::Rsa(pair) => VerifyingKey::from_der(pair.public_key().as_ref()),
        }?;
        Ok(SigningKey { pair, public })
    }

    /// What kind of key it is.
    pub fn kind(&self) -> KeyKind {
        self.public.kind()
    }

    /// The public half.
    pub fn public_key(&self) -> &VerifyingKey {
        &self.public
    }

    /// The public half as `publicKeyPem` carries it: SPKI, lines of 64 columns, LF.
    ///
    /// # Errors
    /// Where the cryptographic library fails.
    pub fn public_pem(&self) -> Result<String, KeyError> {
        self.public.pem()
    }

    /// The key itself as a PKCS#8 PEM, for the state folder alone.
    ///
    /// # Errors
    /// Where the cryptographic library fails.
    pub fn pkcs8_pem(&self) -> Result<String, KeyError> {
        let der: Pkcs8V1Der = match &self.pair {
            Pair::Ed25519(pair) => pair.as_der(),
            Pair::Rsa(pair) => pair.as_der(),
        }
        .map_err(|_| KeyError::Operation("encode"))?;
        Ok(pem::write("PRIVATE KEY", der.as_ref()))
    }

    /// The public half as `publicKeyMultibase` carries it, for an Ed25519 key: `z`, then base58btc over the multicodec
    /// prefix `ed01` and the 32 bytes (W3C Controlled Identifiers 1.0 sections 2.2.2 and 2.4).
    pub fn multibase(&self) -> Option<String> {
        match &self.pair {
            Pair::Ed25519(pair) => {
                let bytes = [&[0xed, 0x01], pair.public_key().as_ref()].concat();
                Some(format!("z{}", base58(&bytes)))
            }
            Pair::Rsa(_) => None,
        }
    }

    /// The signature of `message`.
    ///
    /// # Errors
    /// Where the key is of another kind than the algorithm, or the cryptographic library fails.
    pub fn sign(&self, algorithm: Algorithm, message: &[u8]) -> Result<Vec<u8>, KeyError> {
        let kind = self.kind();
        match (&self.pair, algorithm) {
            (Pair::Ed25519(pair), Algorithm::Ed25519) => {
                let signature = pair.try_sign(message).map_err(|_| KeyError::Operation("sign"))?;
                Ok(signature.as_ref().to_vec())
            }
            (Pair::Rsa(pair), Algorithm::RsaPssSha512) => sign_rsa(pair, &RSA_PSS_SHA512, message),
            (Pair::Rsa(pair), Algorithm::RsaV15Sha256) => sign_rsa(pair, &RSA_PKCS1_SHA256, message),
            (Pair::Rsa(pair), Algorithm::RsaV15Sha512) => sign_rsa(pair, &RSA_PKCS1_SHA512, message),
            _ => Err(KeyError::Unfit { kind, algorithm }),
        }
    }
}

fn sign_rsa(
    pair: &RsaKeyPair,
    encoding: &'static dyn RsaEncoding,
    message: &[u8],
) -> Result<Vec<u8>, KeyError> {
    let mut signature = vec![0; pair.public_modulus_len()];
    pair.sign(encoding, &SystemRandom::new(), message, &mut signature)
        .map_err(|_| KeyError::Operation("sign"))?;
    Ok(signature)
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey({})", self.kind())
    }
}

/// base58btc: the bytes as one number in base 58, each leading zero byte as a `1`.
fn base58(bytes: &[u8]) -> String {
    // Digits of the number so far, least significant first.
    let mut digits: Vec<u8> = Vec::new();
    for &byte in bytes {
        let mut carry = u32::from(byte);
        for digit in &mut digits {
            carry += u32::from(*digit) << 8;
            *digit = (carry % 58) as u8;
            carry /= 58;
        }
        while carry > 0 {
            digits.push((carry % 58) as u8);
            carry /= 58;
        }
    }
    let zeros = bytes.iter().take_while(|byte| **byte == 0).map(|_| '1');
    let number = digits
        .iter()
        .rev()
        .map(|digit| char::from(BASE58[usize::from(*digit)]));
    zeros.chain(number).collect()
}

const BASE58: &[u8; 58] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
