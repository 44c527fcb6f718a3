//! Keys made by OpenSSL, in the forms other servers publish.

use super::*;

use crate::signature::base64;
use crate::signature::fixture::{BASE, BASE_BY_ED25519, BASE_BY_RSA, ed25519, rsa};

const RSA_SPKI: &str = include_str!("../../../tests/fixtures/signature/rsa2048.public.pem");
const RSA_PKCS1: &str = include_str!("../../../tests/fixtures/signature/rsa2048.public.pkcs1.pem");
const RSA_PRIVATE: &str = include_str!("../../../tests/fixtures/signature/rsa2048.pem");
const RSA_512: &str = include_str!("../../../tests/fixtures/signature/rsa512.public.pem");
const RSA_1024: &str = include_str!("../../../tests/fixtures/signature/draft-cavage-12.public.pem");
const ED25519_SPKI: &str = include_str!("../../../tests/fixtures/signature/ed25519.public.pem");
const ED25519_PRIVATE: &str = include_str!("../../../tests/fixtures/signature/ed25519.pem");
const ECDSA_SPKI: &str = include_str!("../../../tests/fixtures/signature/ecdsa-p256.public.pem");

fn verifies(pem: &str, signature: &str) -> bool {
    let signature = base64::decode(signature).bytes.unwrap();
    let key = VerifyingKey::from_pem(pem).unwrap();
    let algorithm = key.kind().algorithm();
    key.verifies(algorithm, BASE.as_bytes(), &signature) && !key.verifies(algorithm, b"other", &signature)
}

#[test]
fn keys_are_read_in_every_published_form() {
    let body: String = RSA_SPKI.lines().filter(|line| !line.starts_with('-')).collect();
    for pem in [
        RSA_SPKI.to_owned(),
        RSA_PKCS1.to_owned(),
        RSA_SPKI.replace('\n', "\r\n"),
        RSA_SPKI.trim_end().to_owned(),
        RSA_SPKI.replace('\n', "\\n"),
        RSA_SPKI.replace('\n', "\\r\\n"),
        format!("  \n{RSA_SPKI}\n\n"),
        format!("-----BEGIN PUBLIC KEY-----\n{body}\n-----END PUBLIC KEY-----"),
    ] {
        assert!(verifies(&pem, BASE_BY_RSA), "{pem}");
    }
    assert!(verifies(ED25519_SPKI, BASE_BY_ED25519));
}

#[test]
fn a_key_knows_its_kind() {
    let kind = |pem: &str| VerifyingKey::from_pem(pem).unwrap().kind();
    assert_eq!(
        (kind(RSA_SPKI), kind(RSA_PKCS1)),
        (KeyKind::Rsa(2_048), KeyKind::Rsa(2_048))
    );
    assert_eq!(
        (kind(RSA_1024), kind(ED25519_SPKI)),
        (KeyKind::Rsa(1_024), KeyKind::Ed25519)
    );
    assert_eq!(
        (rsa().kind().to_string(), ed25519().kind().to_string()),
        ("RSA-2048".into(), "Ed25519".into())
    );
}

#[test]
fn what_is_no_usable_key_says_why() {
    let error = |pem: &str| VerifyingKey::from_pem(pem).unwrap_err();
    assert_eq!(error(RSA_512), KeyError::Size(512));
    assert_eq!(error(ECDSA_SPKI), KeyError::Rejected);
    assert_eq!(error(""), KeyError::NoPem);
    assert_eq!(error("-----BEGIN PUBLIC KEY-----\nMIIB"), KeyError::NoPem);
    assert_eq!(
        error("-----BEGIN PUBLIC KEY-----\n$$$$\n-----END PUBLIC KEY-----"),
        KeyError::Base64
    );
    assert_eq!(
        error("-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----"),
        KeyError::Rejected
    );
    assert!(matches!(error(RSA_PRIVATE), KeyError::Label { found, .. } if found == "PRIVATE KEY"));
    assert_eq!(error(&"x".repeat(20_000)), KeyError::TooLong(20_000));
}

#[test]
fn signatures_are_what_openssl_makes() {
    // PKCS#1 v1.5 and Ed25519 are both deterministic.
    assert_eq!(
        base64::encode(rsa().sign(Algorithm::RsaV15Sha256, BASE.as_bytes()).unwrap()),
        BASE_BY_RSA
    );
    assert_eq!(
        base64::encode(ed25519().sign(Algorithm::Ed25519, BASE.as_bytes()).unwrap()),
        BASE_BY_ED25519
    );
}

#[test]
fn pem_is_written_as_openssl_writes_it() {
    assert_eq!(rsa().public_pem().unwrap(), RSA_SPKI);
    assert_eq!(rsa().pkcs8_pem().unwrap(), RSA_PRIVATE);
    assert_eq!(ed25519().public_pem().unwrap(), ED25519_SPKI);
    assert_eq!(ed25519().pkcs8_pem().unwrap(), ED25519_PRIVATE);
}

#[test]
fn multibase_is_for_ed25519() {
    // Computed with Node's BigInt from the same key.
    assert_eq!(
        ed25519().multibase().as_deref(),
        Some("z6MkvNj7LXbSWxHPQn8cGzhabgzzJqTSni62ANDDkMAtqYML")
    );
    assert_eq!(rsa().multibase(), None);
}

#[test]
fn made_keys_survive_their_pem() {
    for made in [
        SigningKey::generate_rsa(2_048).unwrap(),
        SigningKey::generate_ed25519().unwrap(),
    ] {
        let read = SigningKey::from_pem(&made.pkcs8_pem().unwrap()).unwrap();
        assert_eq!(read.public_pem().unwrap(), made.public_pem().unwrap());
        let signature = read.sign(read.kind().algorithm(), b"message").unwrap();
        assert!(
            made.public_key()
                .verifies(read.kind().algorithm(), b"message", &signature)
        );
    }
    assert_eq!(
        SigningKey::generate_rsa(1_000).unwrap_err(),
        KeyError::Size(1_000)
    );
}

#[test]
fn debug_shows_nothing_of_a_private_key() {
    assert_eq!(format!("{:?}", rsa()), "SigningKey(RSA-2048)");
    assert_eq!(format!("{:?}", ed25519()), "SigningKey(Ed25519)");
}

proptest::proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in "(-----BEGIN (RSA )?(PUBLIC|PRIVATE) KEY-----)?[ -~\n]{0,120}(-----END.{0,30})?") {
        let _ = VerifyingKey::from_pem(&text);
        let _ = SigningKey::from_pem(&text);
    }

    #[test]
    fn no_der_makes_the_reader_panic(der in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200)) {
        let _ = VerifyingKey::from_der(&der);
        let _ = SigningKey::from_pkcs8(&der);
    }
}
