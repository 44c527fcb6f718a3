//! The keys of RFC 9421 appendix B.1, and signatures that appendix B.2 made with them.

use super::*;

use crate::signature::base64;
use crate::signature::key::{Algorithm, KeyKind};

const RSA: [&str; 2] = [
    fixture!("rfc9421/test-key-rsa.pem"),
    fixture!("rfc9421/test-key-rsa.public.pem"),
];
const PSS: [&str; 2] = [PSS_PRIVATE, fixture!("rfc9421/test-key-rsa-pss.public.pem")];
const P256: [&str; 2] = [
    fixture!("rfc9421/test-key-ecc-p256.pem"),
    fixture!("rfc9421/test-key-ecc-p256.public.pem"),
];
const ED25519: [&str; 2] = [
    fixture!("rfc9421/test-key-ed25519.pem"),
    fixture!("rfc9421/test-key-ed25519.public.pem"),
];

const CONTENT: &str = "\"content-type\": application/json\n";

fn secret() -> Vec<u8> {
    let text = fixture!("rfc9421/test-shared-secret.base64");
    base64::decode(text.trim_end()).bytes.unwrap()
}

#[test]
fn all_five_keys_are_read_and_fit_each_other() {
    let kinds = [RSA, PSS, P256, ED25519].map(|[key, _]| private(key).kind());
    let expected = [
        KeyKind::Rsa(2_048),
        KeyKind::RsaPss(2_048),
        KeyKind::P256,
        KeyKind::Ed25519,
    ];
    assert_eq!(kinds, expected);
    // The RFC's public RSA-PSS key is restricted to nothing.
    assert_eq!(public(PSS[1]).kind(), KeyKind::Rsa(2_048));
    for [key, spki] in [RSA, PSS, P256, ED25519] {
        let key = private(key);
        let algorithm = key.kind().algorithm();
        let signature = key.sign(algorithm, b"message").unwrap();
        assert!(
            public(spki).verifies(algorithm, b"message", &signature),
            "{algorithm}"
        );
    }
    assert_eq!(SigningKey::from_secret(&secret()).kind(), KeyKind::Secret);
}

#[test]
fn b21_verifies_by_rsa_pss() {
    let base = r#""@signature-params": ();created=1618884473;keyid="test-key-rsa-pss";nonce="b3k2pp5k7z-50gnwp.yemd""#;
    let signature = base64::decode(
        "d2pmTvmbncD3xQm8E9ZV2828BjQWGgiwAaw5bAkgibUopemLJcWDy/lkbbHAve4cRAtx31Iq786U7it++wgGxbtRxf8Udx7zFZsckzXaJMkA\
         7ChG52eSkFxykJeNqsrWH5S+oxNFlD4dzVuwe8DhTSja8xxbR/Z2cOGdCbzR72rgFWhzx2VjBqJzsPLMIQKhO4DGezXehhWwE56YCE+O6c0m\
         KZsfxVrogUvA4HELjVKWmAvtl6UnCh8jYzuVG5WSb/QEVPnP5TmcAnLH1g+s++v6d4s8m0gCw1fV5/SITLq9mhho8K3+7EPYTU8IU1bLhdxO\
         5Nyt8C8ssinQ98Xw9Q==",
    );
    let signature = signature.bytes.unwrap();
    for key in [PSS[1], PSS_SPKI].map(public) {
        assert!(key.verifies(Algorithm::RsaPssSha512, base.as_bytes(), &signature));
        assert!(!key.verifies(Algorithm::RsaPssSha512, b"other", &signature));
    }
}

#[test]
fn b24_verifies_by_ecdsa() {
    let digest = "mEWXIS7MaLRuGgxOBdODa3xqM1XdEvxoYhvlCFJ41QJgJc4GTsPp29l5oGX69wWdXymyU0rjJuahq4l5aGgfLQ==";
    let base = format!(
        "\"@status\": 200\n{CONTENT}\"content-digest\": sha-512=:{digest}:\n\"content-length\": 23\n\
         \"@signature-params\": (\"@status\" \"content-type\" \"content-digest\" \"content-length\");\
         created=1618884473;keyid=\"test-key-ecc-p256\""
    );
    let signature = base64::decode(
        "wNmSUAhwb5LxtOtOpNa6W5xj067m5hFrj0XQ4fvpaCLx0NKocgPquLgyahnzDnDAUy5eCdlYUEkLIj+32oiasw==",
    );
    let signature = signature.bytes.unwrap();
    let key = public(P256[1]);
    assert!(key.verifies(Algorithm::EcdsaP256Sha256, base.as_bytes(), &signature));
    assert!(!key.verifies_asn1(Algorithm::EcdsaP256Sha256, base.as_bytes(), &signature));
}

#[test]
fn b25_is_what_hmac_gives() {
    let base = format!(
        "\"date\": Tue, 20 Apr 2021 02:07:55 GMT\n\"@authority\": example.com\n{CONTENT}\
         \"@signature-params\": (\"date\" \"@authority\" \"content-type\");created=1618884473;keyid=\"test-shared-secret\""
    );
    let tag = SigningKey::from_secret(&secret()).sign(Algorithm::HmacSha256, base.as_bytes());
    assert_eq!(
        base64::encode(tag.unwrap()),
        "pxcQw6G3AjtMBQjwo8XzkZf/bws5LelbaMk5rGIGtE8="
    );
}

#[test]
fn b26_is_what_ed25519_gives() {
    let base = format!(
        "\"date\": Tue, 20 Apr 2021 02:07:55 GMT\n\"@method\": POST\n\"@path\": /foo\n\"@authority\": example.com\n\
         {CONTENT}\"content-length\": 18\n\
         \"@signature-params\": (\"date\" \"@method\" \"@path\" \"@authority\" \"content-type\" \"content-length\");\
         created=1618884473;keyid=\"test-key-ed25519\""
    );
    let signature = private(ED25519[0]).sign(Algorithm::Ed25519, base.as_bytes());
    assert_eq!(
        base64::encode(signature.unwrap()),
        "wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw=="
    );
}
