//! Reading and writing keys.

use super::*;

use crate::signature::fixture::{BASE, BASE_BY_ED25519, BASE_BY_RSA, ed25519, rsa};
use crate::signature::key::{KeyError, KeyKind};
use crate::signature::{base64, key::Algorithm};

const RSA_PKCS1: &str = fixture!("rsa2048.public.pkcs1.pem");
const RSA_512: &str = fixture!("rsa512.public.pem");
const RSA_1024: &str = fixture!("draft-cavage-12.public.pem");

fn verifies(pem: &str, signature: &str) -> bool {
    let signature = base64::decode(signature).bytes.unwrap();
    let key = public(pem);
    let algorithm = key.kind().algorithm();
    key.verifies(algorithm, BASE.as_bytes(), &signature) && !key.verifies(algorithm, b"other", &signature)
}

#[test]
fn public_keys_are_read_in_every_published_form() {
    let body: String = RSA_SPKI.lines().filter(|line| !line.starts_with('-')).collect();
    for pem in [
        RSA_SPKI.to_owned(),
        RSA_PKCS1.to_owned(),
        RSA_SPKI.replace('\n', "\r\n"),
        RSA_PKCS1.replace('\n', "\r\n"),
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
fn private_keys_are_read_as_pkcs8_and_in_the_older_forms() {
    assert_eq!(private(RSA_PRIVATE).public_pem().unwrap(), RSA_SPKI);
    assert_eq!(private(ED25519_PRIVATE).public_pem().unwrap(), ED25519_SPKI);
    assert_eq!(private(P256_PRIVATE).public_pem().unwrap(), P256_SPKI);
    assert_eq!(private(P384_PRIVATE).public_pem().unwrap(), P384_SPKI);
    // As `openssl ecparam -genkey` writes it, with the curve's name in a block of its own before the key.
    let sec1 = fixture!("ecdsa-p256.sec1.pem");
    assert!(sec1.starts_with("-----BEGIN EC PARAMETERS-----"));
    assert_eq!(private(sec1).public_pem().unwrap(), P256_SPKI);
    assert_eq!(
        SigningKey::from_pem("-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----")
            .unwrap_err(),
        KeyError::NoPem
    );
}

#[test]
fn a_key_knows_its_kind() {
    let kind = |pem: &str| public(pem).kind();
    assert_eq!(
        (kind(RSA_SPKI), kind(RSA_PKCS1)),
        (KeyKind::Rsa(2_048), KeyKind::Rsa(2_048))
    );
    assert_eq!(kind(RSA_1024), KeyKind::Rsa(1_024));
    assert_eq!(
        (kind(ED25519_SPKI), kind(P256_SPKI), kind(P384_SPKI)),
        (KeyKind::Ed25519, KeyKind::P256, KeyKind::P384)
    );
    assert_eq!(
        (kind(PSS_SPKI), private(PSS_PRIVATE).kind()),
        (KeyKind::RsaPss(2_048), KeyKind::RsaPss(2_048))
    );
    assert_eq!(
        kind(fixture!("rsa-pss-sha512.public.pem")),
        KeyKind::RsaPss(2_048)
    );
    let shown =
        [rsa(), ed25519(), private(P256_PRIVATE), private(PSS_PRIVATE)].map(|key| key.kind().to_string());
    assert_eq!(shown, ["RSA-2048", "Ed25519", "P-256", "RSA-PSS-2048"]);
}

#[test]
fn what_is_no_usable_key_says_why() {
    let error = |pem: &str| VerifyingKey::from_pem(pem).unwrap_err();
    assert_eq!(error(RSA_512), KeyError::Size(512));
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
    assert_eq!(error(&"x".repeat(20_000)), KeyError::TooLong(20_000));
    // The object identifiers are those of secp521r1 and SHA-256.
    assert_eq!(
        error(fixture!("ecdsa-p521.public.pem")).to_string(),
        "the key's algorithm is `ECDSA on the curve 1.3.132.0.35`; \
         RSA, ECDSA on P-256 or P-384, and Ed25519 would do"
    );
    assert_eq!(
        error(fixture!("rsa-pss-sha256.public.pem")),
        KeyError::Pss("2.16.840.1.101.3.4.2.1".to_owned())
    );
    assert!(matches!(
        SigningKey::from_pem(RSA_SPKI).unwrap_err(),
        KeyError::Label { found, .. } if found == "PUBLIC KEY"
    ));
}

#[test]
fn a_private_key_that_was_published_is_named_and_not_repeated() {
    for pem in [RSA_PRIVATE, P256_PRIVATE, fixture!("rfc9421/test-key-rsa.pem")] {
        let error = VerifyingKey::from_pem(pem).unwrap_err();
        let message = error.to_string();
        assert!(message.contains("holds a private key"), "{message}");
        for line in pem.lines().filter(|line| !line.starts_with('-')) {
            assert!(!format!("{message}{error:?}").contains(line));
        }
    }
}

#[test]
fn pem_is_written_as_openssl_writes_it() {
    for (key, spki) in [
        (RSA_PRIVATE, RSA_SPKI),
        (ED25519_PRIVATE, ED25519_SPKI),
        (P256_PRIVATE, P256_SPKI),
        (P384_PRIVATE, P384_SPKI),
        // RSASSA-PSS alone, in both halves.
        (PSS_PRIVATE, PSS_SPKI),
    ] {
        assert_eq!(private(key).public_pem().unwrap(), spki);
        assert_eq!(private(key).pkcs8_pem().unwrap(), key);
    }
    let secret = SigningKey::from_secret(b"secret");
    assert_eq!(secret.public_pem(), Err(KeyError::Secret));
    assert_eq!(secret.pkcs8_pem(), Err(KeyError::Secret));
}

#[test]
fn made_keys_survive_their_pem() {
    for made in [
        SigningKey::generate_rsa(2_048).unwrap(),
        SigningKey::generate_ed25519().unwrap(),
        SigningKey::generate_p256().unwrap(),
    ] {
        let read = private(&made.pkcs8_pem().unwrap());
        assert_eq!(read.public_pem().unwrap(), made.public_pem().unwrap());
        let algorithm = read.kind().algorithm();
        let signature = read.sign(algorithm, b"message").unwrap();
        assert!(made.public_key().verifies(algorithm, b"message", &signature));
    }
    assert_eq!(
        SigningKey::generate_rsa(1_000).unwrap_err(),
        KeyError::Size(1_000)
    );
}

#[test]
fn debug_shows_nothing_of_a_key() {
    assert_eq!(format!("{:?}", rsa()), "SigningKey(RSA-2048)");
    assert_eq!(format!("{:?}", rsa().public_key()), "VerifyingKey(RSA-2048)");
    let secret = SigningKey::from_secret(b"hunter2");
    assert_eq!(
        format!("{secret:?} {:?}", secret.public_key()),
        "SigningKey(secret) VerifyingKey(secret)"
    );
}

proptest::proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in "(-----BEGIN ((RSA|EC) )?(PUBLIC|PRIVATE) KEY-----)?[ -~\n]{0,120}(-----END.{0,30})?") {
        let _ = VerifyingKey::from_pem(&text);
        let _ = SigningKey::from_pem(&text);
    }

    #[test]
    fn no_der_makes_the_reader_panic(der in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200)) {
        let _ = VerifyingKey::from_der(&der);
        let _ = SigningKey::from_pkcs8(&der);
    }

    #[test]
    fn no_spoilt_der_makes_the_reader_panic(
        which in 0usize..5,
        at: proptest::sample::Index,
        byte: u8,
        end: proptest::sample::Index,
    ) {
        let pem = [RSA_SPKI, ED25519_SPKI, P256_SPKI, PSS_SPKI, P256_PRIVATE][which];
        let body: String = pem.lines().filter(|line| !line.starts_with('-')).collect();
        let mut der = base64::decode(&body).bytes.unwrap();
        let index = at.index(der.len());
        der[index] = byte;
        let _ = VerifyingKey::from_der(&der).map(|key| key.verifies(Algorithm::RsaV15Sha256, b"m", b"s"));
        let _ = SigningKey::from_pkcs8(&der);
        der.truncate(end.index(der.len()));
        let _ = VerifyingKey::from_der(&der);
        let _ = SigningKey::from_pkcs8(&der);
    }
}

#[test]
fn a_point_of_small_order_is_no_key() {
    // The neutral point, one of order 4, one of order 8, and the first again with the sign bit and beyond the field.
    for point in [
        "0100000000000000000000000000000000000000000000000000000000000000",
        "0000000000000000000000000000000000000000000000000000000000000000",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "0100000000000000000000000000000000000000000000000000000000000080",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    ] {
        let spki = format!("302a300506032b6570032100{point}");
        let der: Vec<u8> = (0..spki.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&spki[at..at + 2], 16).unwrap())
            .collect();
        assert_eq!(
            VerifyingKey::from_der(&der).unwrap_err(),
            KeyError::SmallOrder,
            "{point}"
        );
    }
}
