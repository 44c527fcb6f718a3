//! What keys compute, beside what OpenSSL computed.

use super::*;

use crate::signature::base64;
use crate::signature::fixture::*;
use crate::signature::key::{Algorithm, KeyError, KeyKind};

const ALGORITHMS: [Algorithm; 7] = [
    Algorithm::EcdsaP256Sha256,
    Algorithm::EcdsaP384Sha384,
    Algorithm::Ed25519,
    Algorithm::HmacSha256,
    Algorithm::RsaPssSha512,
    Algorithm::RsaV15Sha256,
    Algorithm::RsaV15Sha512,
];

#[test]
fn deterministic_signatures_are_what_openssl_makes() {
    let signed = |key: SigningKey, algorithm| base64::encode(key.sign(algorithm, BASE.as_bytes()).unwrap());
    assert_eq!(signed(rsa(), Algorithm::RsaV15Sha256), BASE_BY_RSA);
    assert_eq!(signed(rsa(), Algorithm::RsaV15Sha512), BASE_BY_RSA_SHA512);
    assert_eq!(signed(ed25519(), Algorithm::Ed25519), BASE_BY_ED25519);
    assert_eq!(signed(secret(), Algorithm::HmacSha256), BASE_BY_SECRET);
}

#[test]
fn what_openssl_signs_verifies_and_nothing_else_does() {
    for (key, algorithm, signature) in [
        (rsa(), Algorithm::RsaV15Sha256, BASE_BY_RSA),
        (rsa(), Algorithm::RsaV15Sha512, BASE_BY_RSA_SHA512),
        (rsa(), Algorithm::RsaPssSha512, BASE_BY_RSA_PSS),
        (ed25519(), Algorithm::Ed25519, BASE_BY_ED25519),
        (p256(), Algorithm::EcdsaP256Sha256, BASE_BY_P256),
        (p384(), Algorithm::EcdsaP384Sha384, BASE_BY_P384),
        (secret(), Algorithm::HmacSha256, BASE_BY_SECRET),
    ] {
        let key = key.public_key();
        let signature = base64::decode(signature).bytes.unwrap();
        for other in ALGORITHMS {
            assert_eq!(
                key.verifies(other, BASE.as_bytes(), &signature),
                other == algorithm,
                "{algorithm} as {other}"
            );
        }
        assert!(!key.verifies(algorithm, b"other", &signature), "{algorithm}");
        assert!(
            !key.verifies(algorithm, BASE.as_bytes(), &signature[1..]),
            "{algorithm}"
        );
        assert!(!key.verifies(algorithm, BASE.as_bytes(), b""), "{algorithm}");
    }
}

#[test]
fn ecdsa_has_a_second_form() {
    for (pem, algorithm, fixed, asn1) in [
        (
            P256_PRIVATE,
            Algorithm::EcdsaP256Sha256,
            BASE_BY_P256,
            BASE_BY_P256_DER,
        ),
        (
            P384_PRIVATE,
            Algorithm::EcdsaP384Sha384,
            BASE_BY_P384,
            BASE_BY_P384_DER,
        ),
    ] {
        let key = private(pem);
        let [fixed, asn1] = [fixed, asn1].map(|text| base64::decode(text).bytes.unwrap());
        let check = key.public_key();
        assert!(check.verifies_asn1(algorithm, BASE.as_bytes(), &asn1));
        assert!(!check.verifies_asn1(algorithm, BASE.as_bytes(), &fixed));
        assert!(!check.verifies(algorithm, BASE.as_bytes(), &asn1));
        let made = key.sign_asn1(algorithm, BASE.as_bytes()).unwrap();
        assert!(check.verifies_asn1(algorithm, BASE.as_bytes(), &made));
    }
    let signature = rsa().sign_asn1(Algorithm::RsaV15Sha256, BASE.as_bytes()).unwrap();
    assert_eq!(base64::encode(&signature), BASE_BY_RSA);
    assert!(
        rsa()
            .public_key()
            .verifies_asn1(Algorithm::RsaV15Sha256, BASE.as_bytes(), &signature)
    );
}

#[test]
fn a_key_signs_what_its_kind_computes_and_nothing_else() {
    let keys = [rsa(), ed25519(), secret(), p256(), p384(), rsa_pss()];
    for key in keys {
        let kind = key.kind();
        assert!(kind.computes(kind.algorithm()));
        for algorithm in ALGORITHMS {
            match key.sign(algorithm, b"message") {
                Ok(signature) => {
                    assert!(kind.computes(algorithm), "{kind} {algorithm}");
                    assert!(key.public_key().verifies(algorithm, b"message", &signature));
                }
                Err(error) => {
                    assert_eq!(error, KeyError::Unfit { kind, algorithm });
                    assert!(!kind.computes(algorithm), "{kind} {algorithm}");
                }
            }
        }
    }
}

#[test]
fn a_key_for_rsa_pss_computes_nothing_else() {
    let computed = ALGORITHMS.map(|algorithm| KeyKind::RsaPss(2_048).computes(algorithm));
    assert_eq!(
        computed,
        ALGORITHMS.map(|algorithm| algorithm == Algorithm::RsaPssSha512)
    );
    let signature = rsa_pss().sign(Algorithm::RsaPssSha512, b"message").unwrap();
    let unrestricted = public(fixture!("rfc9421/test-key-rsa-pss.public.pem"));
    assert!(unrestricted.verifies(Algorithm::RsaPssSha512, b"message", &signature));
}

#[test]
fn algorithms_are_found_by_their_names() {
    for algorithm in ALGORITHMS {
        assert_eq!(Algorithm::named(algorithm.name()), Some(algorithm));
        let quoted = format!("\"{algorithm}\"");
        assert_eq!(serde_json::to_string(&algorithm).unwrap(), quoted);
        assert_eq!(serde_json::from_str::<Algorithm>(&quoted).unwrap(), algorithm);
    }
    assert_eq!(Algorithm::named("RSA-V1_5-SHA256"), None);
}
