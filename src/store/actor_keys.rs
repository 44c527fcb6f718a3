//! One owner's keys, ready for use, and the file they are kept in: PKCS#8 PEM blocks, at most one of each kind.

use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::pki_types::pem::PemObject;

use crate::signature::key::{KeyError, KeyKind, SigningKey};
use crate::software::RsaBits;

/// What an actor signs with, and what its document says of it.
#[derive(Debug)]
pub struct ActorKeys {
    /// The RSA key, which every actor signs with.
    pub rsa: SigningKey,
    /// The Ed25519 key.
    pub ed25519: SigningKey,
    /// The RSA key's public half for `publicKeyPem`.
    pub public_key_pem: String,
    /// The Ed25519 key's public half for `publicKeyMultibase`.
    pub ed25519_multibase: String,
}

/// The keys in one file. A size nobody asks for any more stays, so that a roster that changes back finds its keys.
#[derive(Debug, Default)]
pub(super) struct KeyFile {
    keys: Vec<SigningKey>,
}

impl KeyFile {
    /// Reads what [`KeyFile::pem`] wrote; the error says what is wrong with it.
    pub(super) fn from_pem(text: &str) -> Result<KeyFile, &'static str> {
        let mut keys: Vec<SigningKey> = Vec::new();
        for der in PrivatePkcs8KeyDer::pem_slice_iter(text.as_bytes()) {
            let der = der.map_err(|_| "it is no PEM")?;
            let key =
                SigningKey::from_pkcs8(der.secret_pkcs8_der()).map_err(|_| "a key in it cannot be read")?;
            if keys.iter().any(|other| other.kind() == key.kind()) {
                return Err("there are two keys of one kind");
            }
            keys.push(key);
        }
        if keys.is_empty() {
            return Err("there is no PKCS#8 private key");
        }
        Ok(KeyFile { keys })
    }

    /// Makes the keys that are missing; says whether there were any.
    pub(super) fn complete(&mut self, bits: RsaBits) -> Result<bool, KeyError> {
        let before = self.keys.len();
        if !self.has(KeyKind::Rsa(modulus(bits))) {
            self.keys.push(SigningKey::generate_rsa(modulus(bits))?);
        }
        if !self.has(KeyKind::Ed25519) {
            self.keys.push(SigningKey::generate_ed25519()?);
        }
        Ok(self.keys.len() > before)
    }

    fn has(&self, kind: KeyKind) -> bool {
        self.keys.iter().any(|key| key.kind() == kind)
    }

    /// The text of the file.
    pub(super) fn pem(&self) -> Result<String, KeyError> {
        self.keys.iter().map(SigningKey::pkcs8_pem).collect()
    }

    /// The keys for use, of a file that is complete for this size.
    pub(super) fn keys(mut self, bits: RsaBits) -> Result<ActorKeys, KeyError> {
        let rsa = self.take(KeyKind::Rsa(modulus(bits)))?;
        let ed25519 = self.take(KeyKind::Ed25519)?;
        Ok(ActorKeys {
            public_key_pem: rsa.public_pem()?,
            ed25519_multibase: ed25519.multibase().unwrap_or_default(),
            rsa,
            ed25519,
        })
    }

    fn take(&mut self, kind: KeyKind) -> Result<SigningKey, KeyError> {
        let at = self
            .keys
            .iter()
            .position(|key| key.kind() == kind)
            .ok_or(KeyError::Rejected)?;
        Ok(self.keys.swap_remove(at))
    }
}

fn modulus(bits: RsaBits) -> usize {
    match bits {
        RsaBits::Rsa2048 => 2_048,
        RsaBits::Rsa4096 => 4_096,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn no_file_makes_the_reader_panic(text in ".{0,200}", cut in 0usize..2_000) {
            let _ = KeyFile::from_pem(&text);
            let pem = SigningKey::generate_ed25519().unwrap().pkcs8_pem().unwrap();
            let _ = KeyFile::from_pem(&(pem[..cut % pem.len()].to_owned() + &text + &pem));
        }
    }
}
