//! Keys made by OpenSSL, in the forms other servers publish, and those of RFC 9421.

mod compute;
mod multibase;
mod read;
mod rfc9421;

use crate::signature::key::{SigningKey, VerifyingKey};

/// A file of `tests/fixtures/signature`.
macro_rules! fixture {
    ($name:literal) => {
        include_str!(concat!("../../../../tests/fixtures/signature/", $name))
    };
}
use fixture;

const RSA_SPKI: &str = fixture!("rsa2048.public.pem");
const RSA_PRIVATE: &str = fixture!("rsa2048.pem");
const ED25519_SPKI: &str = fixture!("ed25519.public.pem");
const ED25519_PRIVATE: &str = fixture!("ed25519.pem");
const P256_SPKI: &str = fixture!("ecdsa-p256.public.pem");
const P256_PRIVATE: &str = fixture!("ecdsa-p256.pem");
const P384_SPKI: &str = fixture!("ecdsa-p384.public.pem");
const P384_PRIVATE: &str = fixture!("ecdsa-p384.pem");
const PSS_SPKI: &str = fixture!("rsa-pss.public.pem");
const PSS_PRIVATE: &str = fixture!("rfc9421/test-key-rsa-pss.pem");

fn private(pem: &str) -> SigningKey {
    SigningKey::from_pem(pem).unwrap()
}

fn public(pem: &str) -> VerifyingKey {
    VerifyingKey::from_pem(pem).unwrap()
}
