//! `http-sig`, an implementation of the draft that shares nothing with ours but RSA's mathematics, which it leaves to
//! OpenSSL: what one signs, the other takes. Its HMAC is its own.

use std::sync::Arc;

use http_sig::mock_request::MockRequest;
use http_sig::{
    Header, HmacSha256, HttpSignatureSign, HttpSignatureVerify, SigningConfig, SigningExt, SimpleKeyProvider,
    VerifyingConfig, VerifyingExt,
};

use crate::signature::cavage::{ParameterOrder, Signing, sign};
use crate::signature::fixture::*;
use crate::signature::key::{Algorithm, SigningKey};
use crate::signature::{Hs2019, Outcome, Terms, Verdict, base64};

/// One of our keys, in the shape `http-sig` takes keys.
#[derive(Debug)]
struct Key(SigningKey, Algorithm);

impl HttpSignatureSign for Key {
    fn http_sign(&self, bytes: &[u8]) -> String {
        base64::encode(self.0.sign_asn1(self.1, bytes).unwrap())
    }
}

impl HttpSignatureVerify for Key {
    fn http_verify(&self, bytes: &[u8], signature: &str) -> bool {
        let signature = base64::decode(signature);
        signature.fault.is_none()
            && self
                .0
                .public_key()
                .verifies_asn1(self.1, bytes, &signature.bytes.unwrap())
    }
}

/// A key, what it computes, and how `hs2019` is to be read for that.
type Way = (fn() -> SigningKey, Algorithm, Hs2019);

/// `http-sig` writes `hs2019` over each of them.
const WAYS: [Way; 7] = [
    (rsa, Algorithm::RsaV15Sha256, Hs2019::Sha256),
    (rsa, Algorithm::RsaV15Sha512, Hs2019::Sha512),
    (rsa_pss, Algorithm::RsaPssSha512, Hs2019::Sha256),
    (ed25519, Algorithm::Ed25519, Hs2019::Sha256),
    (p256, Algorithm::EcdsaP256Sha256, Hs2019::Sha256),
    (p384, Algorithm::EcdsaP384Sha384, Hs2019::Sha256),
    (secret, Algorithm::HmacSha256, Hs2019::Sha256),
];

/// The key in the hands of `http-sig`.
fn their_key((key, algorithm, _): Way) -> Arc<dyn HttpSignatureVerify> {
    match algorithm {
        Algorithm::HmacSha256 => Arc::new(HmacSha256::new(&shared())),
        _ => Arc::new(Key(key(), algorithm)),
    }
}

/// The secret behind [`secret`].
fn shared() -> Vec<u8> {
    let text = include_str!("../../../../tests/fixtures/signature/rfc9421/test-shared-secret.base64");
    base64::decode(text.trim_end()).bytes.unwrap()
}

/// The same request, as `http-sig` has it.
fn theirs(sent: &Sent) -> MockRequest {
    let mut text = format!("{} {} HTTP/1.1\r\n", sent.method, sent.target);
    for (name, value) in &sent.headers {
        text += &format!("{name}: {}\r\n", value.to_str().unwrap());
    }
    let bytes = [text.as_bytes(), b"\r\n", &sent.body].concat();
    MockRequest::from_reader(&mut bytes.as_slice()).unwrap()
}

const HEADERS: [&str; 6] = [
    "(request-target)",
    "host",
    "date",
    "digest",
    "content-type",
    "x-empty",
];

fn post() -> Sent {
    let sent = Sent::post("//users/%40bob/../inbox?x=%7E&y=");
    sent.with("content-type", "application/activity+json")
        .with("x-empty", "")
}

fn get() -> Sent {
    Sent::get("/users/bob?page=2")
        .with("content-type", "application/activity+json")
        .with("x-empty", "")
}

/// The key id of the signature that `http-sig` found valid.
fn taken(sent: &Sent, way: Way) -> Option<String> {
    let keys = SimpleKeyProvider::new([(KEY_ID, their_key(way))]);
    // Its clock is the system's; the window is tested elsewhere.
    let verifying = VerifyingConfig::new(keys)
        .with_validate_date(false)
        .with_require_digest(sent.method == "POST");
    let (_, details) = theirs(sent).verify(&verifying).ok()?;
    Some(details.key_id().to_owned())
}

fn judged(sent: &Sent, (key, _, hs2019): Way) -> Verdict {
    let terms = Terms {
        hs2019,
        ..terms(HOUR, NOW)
    };
    sent.header().verify(&sent.request(), key().public_key(), terms)
}

#[test]
fn http_sig_takes_what_we_sign() {
    let timed: Vec<&str> = HEADERS.into_iter().chain(["(created)", "(expires)"]).collect();
    let without_digest = ["(request-target)", "host", "date", "x-empty"];
    for way @ (key, computes, _) in WAYS {
        for (sent, headers) in [
            (post as fn() -> Sent, HEADERS.as_slice()),
            (post, timed.as_slice()),
            (get, &without_digest),
        ] {
            for order in [ParameterOrder::AlgorithmFirst, ParameterOrder::HeadersFirst] {
                let signing = Signing {
                    headers,
                    algorithm: "hs2019",
                    computes,
                    created: Some(1_700_000_000),
                    expires: Some(1_700_000_300),
                    key_id: KEY_ID,
                    order,
                    query: true,
                };
                let value = sign(&signing, &sent().request(), &key()).unwrap();
                let value = format!("Signature {}", value.to_str().unwrap());
                let signed = sent().with("authorization", &value);
                assert_eq!(
                    taken(&signed, way).as_deref(),
                    Some(KEY_ID),
                    "{computes} {headers:?}"
                );

                let spoilt = sent().without("x-empty").with("x-empty", "no");
                assert_eq!(taken(&spoilt.with("authorization", &value), way), None);
            }
        }
    }
}

#[test]
fn we_take_what_http_sig_signs() {
    for way @ (key, algorithm, _) in WAYS {
        for sent in [post as fn() -> Sent, get] {
            let names = HEADERS
                .iter()
                .filter(|name| sent().method == "POST" || **name != "digest");
            let headers: Vec<Header> = names.clone().map(|name| name.parse().unwrap()).collect();
            let config = match algorithm {
                Algorithm::HmacSha256 => SigningConfig::new(KEY_ID, HmacSha256::new(&shared())),
                _ => SigningConfig::new(KEY_ID, Key(key(), algorithm)),
            };
            let config = config.with_headers(&headers).with_compute_digest(false);
            let signed = theirs(&sent()).signed(&config).unwrap();
            let authorization = signed
                .headers()
                .into_iter()
                .find(|(name, _)| name.as_str() == "authorization")
                .map(|(_, value)| value.to_str().unwrap().to_owned())
                .unwrap();
            let verdict = judged(&sent().with("authorization", &authorization), way);
            assert_eq!(
                (verdict.result, verdict.detail),
                (Outcome::Valid, None),
                "{algorithm}"
            );
            assert_eq!(verdict.covered, names.copied().collect::<Vec<&str>>());
            assert_eq!(verdict.algorithm, Some(algorithm));

            let spoilt = sent().without("x-empty").with("x-empty", "no");
            let verdict = judged(&spoilt.with("authorization", &authorization), way);
            assert_eq!(verdict.result, Outcome::Invalid);
        }
    }
}
