//! What labels stand for, with every kind of key. Signatures are OpenSSL's.

use crate::signature::cavage::computed;
use crate::signature::fixture::*;
use crate::signature::key::{Algorithm, KeyKind, SigningKey};
use crate::signature::{Hs2019, Outcome, Reason, SignatureHeader, Terms, Verdict};

const LIST: &str = r#"headers="(request-target) host date digest""#;

/// The verdict on [`BASE`] signed so; `label` is empty where there is none.
fn verdict(label: &str, signature: &str, key: &SigningKey, hs2019: Hs2019) -> Verdict {
    let label = match label {
        "" => String::new(),
        label => format!(r#"algorithm="{label}","#),
    };
    let text = format!(r#"keyId="{KEY_ID}",{label}{LIST},signature="{signature}""#);
    let sent = Sent::post("/users/bob/inbox?x=%7E").with("signature", &text);
    let terms = Terms {
        hs2019,
        ..terms(HOUR, NOW)
    };
    let header: SignatureHeader = sent.header();
    header.verify(&sent.request(), key.public_key(), terms)
}

#[test]
fn a_label_must_agree_with_the_key() {
    use Algorithm::*;
    let kinds = [
        KeyKind::Rsa(2_048),
        KeyKind::P256,
        KeyKind::P384,
        KeyKind::Ed25519,
        KeyKind::Secret,
        KeyKind::RsaPss(2_048),
    ];
    let by_key = [
        Some(RsaV15Sha256),
        Some(EcdsaP256Sha256),
        Some(EcdsaP384Sha384),
        Some(Ed25519),
        Some(HmacSha256),
        Some(RsaPssSha512),
    ];
    let table = [
        (None, by_key),
        (Some("hs2019"), by_key),
        (
            Some("rsa-sha256"),
            [Some(RsaV15Sha256), None, None, None, None, None],
        ),
        (
            Some("rsa-sha512"),
            [Some(RsaV15Sha512), None, None, None, None, None],
        ),
        (
            Some("ecdsa-sha256"),
            [None, Some(EcdsaP256Sha256), None, None, None, None],
        ),
        (Some("ed25519"), [None, None, None, Some(Ed25519), None, None]),
        (
            Some("ed25519-sha512"),
            [None, None, None, Some(Ed25519), None, None],
        ),
        (
            Some("hmac-sha256"),
            [None, None, None, None, Some(HmacSha256), None],
        ),
        (Some("rsa-sha1"), [None; 6]),
        (Some("RSA-SHA256"), [None; 6]),
        (Some(""), [None; 6]),
    ];
    for (label, expected) in table {
        assert_eq!(
            kinds.map(|kind| computed(label, kind, Hs2019::Sha256)),
            expected,
            "{label:?}"
        );
    }
}

#[test]
fn hs2019_and_no_label_mean_what_the_profile_says_for_rsa_keys_alone() {
    for label in [None, Some("hs2019")] {
        let computed = |kind| computed(label, kind, Hs2019::Sha512);
        assert_eq!(computed(KeyKind::Rsa(4_096)), Some(Algorithm::RsaV15Sha512));
        assert_eq!(computed(KeyKind::RsaPss(2_048)), Some(Algorithm::RsaPssSha512));
        assert_eq!(computed(KeyKind::Ed25519), Some(Algorithm::Ed25519));
    }
    assert_eq!(
        computed(Some("rsa-sha256"), KeyKind::Rsa(4_096), Hs2019::Sha512),
        Some(Algorithm::RsaV15Sha256)
    );
}

#[test]
fn every_kind_of_key_verifies_and_the_verdict_tells_what_was_computed() {
    use Algorithm::*;
    use Hs2019::*;
    for (label, signature, key, hs2019, algorithm) in [
        ("", BASE_BY_RSA, rsa(), Sha256, RsaV15Sha256),
        ("hs2019", BASE_BY_RSA, rsa(), Sha256, RsaV15Sha256),
        ("rsa-sha256", BASE_BY_RSA, rsa(), Sha512, RsaV15Sha256),
        ("rsa-sha512", BASE_BY_RSA_SHA512, rsa(), Sha256, RsaV15Sha512),
        ("hs2019", BASE_BY_RSA_SHA512, rsa(), Sha512, RsaV15Sha512),
        ("", BASE_BY_ED25519, ed25519(), Sha256, Ed25519),
        ("hs2019", BASE_BY_ED25519, ed25519(), Sha512, Ed25519),
        ("ed25519", BASE_BY_ED25519, ed25519(), Sha256, Ed25519),
        ("hs2019", BASE_BY_P384, p384(), Sha256, EcdsaP384Sha384),
        ("ecdsa-sha256", BASE_BY_P256, p256(), Sha256, EcdsaP256Sha256),
        ("hmac-sha256", BASE_BY_SECRET, secret(), Sha256, HmacSha256),
        ("hs2019", BASE_BY_SECRET, secret(), Sha256, HmacSha256),
    ] {
        let verdict = verdict(label, signature, &key, hs2019);
        assert_eq!(
            (verdict.result, verdict.detail, verdict.algorithm),
            (Outcome::Valid, None, Some(algorithm)),
            "{label} {algorithm}"
        );
        assert!(verdict.notes.is_empty());
    }
}

#[test]
fn an_ecdsa_signature_may_be_der_which_is_noted() {
    for (signature, key) in [(BASE_BY_P256_DER, p256()), (BASE_BY_P384_DER, p384())] {
        let verdict = verdict("hs2019", signature, &key, Hs2019::Sha256);
        assert_eq!(
            (verdict.result, verdict.notes),
            (Outcome::Valid, vec!["ecdsa_der"])
        );
    }
}

#[test]
fn a_label_for_another_kind_of_key_is_unsupported() {
    for (label, signature, key, words) in [
        ("ecdsa-sha256", BASE_BY_RSA, rsa(), "the key is RSA-2048"),
        ("rsa-sha256", BASE_BY_ED25519, ed25519(), "the key is Ed25519"),
        ("rsa-sha512", BASE_BY_P256, p256(), "the key is P-256"),
        ("ecdsa-sha256", BASE_BY_P384, p384(), "the key is P-384"),
        ("hmac-sha256", BASE_BY_RSA, rsa(), "the key is RSA-2048"),
    ] {
        let verdict = verdict(label, signature, &key, Hs2019::Sha256);
        // The key's own algorithm verifies, so nothing else is wrong.
        assert_eq!(verdict.findings.len(), 1, "{label}");
        assert_eq!(verdict.reason, Some(Reason::UnsupportedAlgorithm));
        let detail = verdict.detail.unwrap();
        assert!(
            detail.contains(&format!("`{label}`")) && detail.contains(words),
            "{detail}"
        );
    }
}

#[test]
fn a_label_in_capitals_is_unsupported_and_its_algorithm_is_checked_all_the_same() {
    let judged = verdict("RSA-SHA512", BASE_BY_RSA_SHA512, &rsa(), Hs2019::Sha256);
    assert_eq!(judged.reason, Some(Reason::UnsupportedAlgorithm));
    assert_eq!(judged.untolerated(&[Reason::UnsupportedAlgorithm]), None);
    let forged = verdict("RSA-SHA512", BASE_BY_RSA, &rsa(), Hs2019::Sha256);
    let left = forged.untolerated(&[Reason::UnsupportedAlgorithm]);
    assert_eq!(left.unwrap().reason, Reason::SignatureMismatch);
}
