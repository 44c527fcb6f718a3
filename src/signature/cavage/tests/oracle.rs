//! `http-sig`, an implementation of the draft that shares nothing with ours but the key: what one signs, the other takes.

use std::sync::Arc;

use http_sig::mock_request::MockRequest;
use http_sig::{
    Header, HttpSignatureSign, HttpSignatureVerify, SigningConfig, SigningExt, SimpleKeyProvider,
    VerifyingConfig, VerifyingExt,
};

use crate::signature::cavage::{ParameterOrder, Signing, sign};
use crate::signature::fixture::*;
use crate::signature::key::Algorithm;
use crate::signature::{Outcome, base64};

/// The RSA key, in the shape `http-sig` takes keys.
#[derive(Debug)]
struct Key;

impl HttpSignatureSign for Key {
    fn http_sign(&self, bytes: &[u8]) -> String {
        base64::encode(rsa().sign(Algorithm::RsaV15Sha256, bytes).unwrap())
    }
}

impl HttpSignatureVerify for Key {
    fn http_verify(&self, bytes: &[u8], signature: &str) -> bool {
        let signature = base64::decode(signature);
        signature.fault.is_none()
            && rsa()
                .public_key()
                .verifies(Algorithm::RsaV15Sha256, bytes, &signature.bytes.unwrap())
    }
}

fn verifying() -> VerifyingConfig {
    let keys = SimpleKeyProvider::new([(KEY_ID, Arc::new(Key) as Arc<dyn HttpSignatureVerify>)]);
    // Its clock is the system's; the window is tested elsewhere.
    VerifyingConfig::new(keys).with_validate_date(false)
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

fn sent() -> Sent {
    let sent = Sent::post("//users/%40bob/../inbox?x=%7E&y=");
    sent.with("content-type", "application/activity+json")
        .with("x-empty", "")
}

#[test]
fn http_sig_takes_what_we_sign() {
    for order in [ParameterOrder::AlgorithmFirst, ParameterOrder::HeadersFirst] {
        let signing = Signing {
            headers: &HEADERS,
            algorithm: "hs2019",
            key_id: KEY_ID,
            order,
            query: true,
        };
        let value = sign(&signing, &sent().request(), &rsa()).unwrap();
        let value = format!("Signature {}", value.to_str().unwrap());
        assert_eq!(
            taken(&sent().with("authorization", &value)).as_deref(),
            Some(KEY_ID)
        );

        let spoilt = sent().without("content-type").with("content-type", "text/plain");
        assert_eq!(taken(&spoilt.with("authorization", &value)), None);
    }
}

/// The key id of the signature that `http-sig` found valid.
fn taken(sent: &Sent) -> Option<String> {
    let (_, details) = theirs(sent).verify(&verifying()).ok()?;
    Some(details.key_id().to_owned())
}

#[test]
fn we_take_what_http_sig_signs() {
    let headers: Vec<Header> = HEADERS.iter().map(|name| name.parse().unwrap()).collect();
    let config = SigningConfig::new(KEY_ID, Key).with_headers(&headers);
    let signed = theirs(&sent()).signed(&config).unwrap();
    let authorization = signed
        .headers()
        .into_iter()
        .find(|(name, _)| name.as_str() == "authorization")
        .map(|(_, value)| value.to_str().unwrap().to_owned())
        .unwrap();
    let verdict = sent().with("authorization", &authorization).verdict();
    assert_eq!((verdict.result, verdict.detail), (Outcome::Valid, None));
    assert_eq!(verdict.covered, HEADERS);

    let spoilt = sent().without("x-empty").with("x-empty", "no");
    assert_eq!(
        spoilt.with("authorization", &authorization).verdict().result,
        Outcome::Invalid
    );
}
