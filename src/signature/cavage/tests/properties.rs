//! What must hold of any text and any request.

use http::{HeaderMap, HeaderValue};
use proptest::prelude::*;

use crate::signature::cavage::{Header, ParameterOrder, Signing, sign};
use crate::signature::fixture::*;
use crate::signature::{self, Outcome, Parsed, Request, digest};

const ALL: [&str; 5] = ["(request-target)", "host", "date", "digest", "x-note"];

/// Ed25519, since it signs in microseconds.
fn signed(target: &str, note: &str, body: &[u8]) -> Sent {
    let sent = Sent {
        body: body.to_vec(),
        ..Sent::post(target).without("digest")
    };
    let sent = sent
        .with("digest", &digest::sha256_header(body))
        .with("x-note", note);
    let signing = Signing {
        headers: &ALL,
        algorithm: "hs2019",
        key_id: KEY_ID,
        order: ParameterOrder::AlgorithmFirst,
        query: true,
    };
    let value = sign(&signing, &sent.request(), &ed25519()).unwrap();
    sent.with("signature", value.to_str().unwrap())
}

fn outcome(sent: &Sent) -> Outcome {
    sent.verdict_by(ed25519().public_key(), HOUR, NOW).result
}

/// Text near the grammar: parameters, some of them spoilt.
fn near_miss() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        "[ \t,=\"\\\\]{1,3}",
        "(keyId|algorithm|headers|created|expires|signature|Signature )",
        "=\"[ -~]{0,12}\"",
        "=[0-9.]{0,22}",
        "\\PC{0,6}",
    ];
    prop::collection::vec(part, 0..12).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn no_header_makes_parsing_or_verifying_panic(
        signature in prop_oneof![near_miss().prop_map(String::into_bytes), prop::collection::vec(any::<u8>(), 0..80)],
        in_authorization: bool,
        target in "\\PC{0,20}",
    ) {
        let _ = Header::parse(&signature, None);
        let Ok(value) = HeaderValue::from_bytes(&signature) else { return Ok(()) };
        let mut headers = HeaderMap::new();
        headers.append(if in_authorization { "authorization" } else { "signature" }, value);
        let request = Request { method: "POST", target: &target, scheme: "https", headers: &headers, authority: None, body: b"" };
        if let Parsed::Signed(header) = signature::parse(&request) {
            let verdict = header[0].verify(&request, ed25519().public_key(), terms(HOUR, NOW));
            prop_assert_eq!(verdict.result, Outcome::Invalid);
        }
    }

    #[test]
    fn what_is_written_is_read_back(key_id in "[ -~]{1,40}") {
        let signing = Signing {
            headers: &["date"],
            algorithm: "hs2019",
            key_id: &key_id,
            order: ParameterOrder::HeadersFirst,
            query: true,
        };
        let value = sign(&signing, &Sent::get("/").request(), &ed25519()).unwrap();
        let header = Header::parse(value.as_bytes(), None).unwrap();
        prop_assert_eq!(header.key_id(), key_id);
    }

    #[test]
    fn what_is_signed_verifies(
        target in "/[!-~]{0,40}(\\?[!-~]{0,20})?",
        note in "[!-~]([ -~]{0,20}[!-~])?",
        body in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        prop_assert_eq!(outcome(&signed(&target, &note, &body)), Outcome::Valid);
    }

    #[test]
    fn one_covered_byte_changed_is_noticed(
        target in "/[a-z]{1,20}",
        note in "[!-~]{1,20}",
        body in prop::collection::vec(any::<u8>(), 1..100),
        place in 0usize..5,
        at: prop::sample::Index,
        bit in 0u32..4,
    ) {
        let mut sent = signed(&target, &note, &body);
        prop_assert_eq!(outcome(&sent), Outcome::Valid);
        // A changed bit among the low four leaves a printable character printable, but for DEL.
        let flip = |bytes: &[u8]| {
            let mut bytes = bytes.to_vec();
            let index = at.index(bytes.len());
            bytes[index] ^= 1 << bit;
            bytes
        };
        match place {
            0 => sent.body = flip(&sent.body),
            1 => sent.target = String::from_utf8(flip(sent.target.as_bytes())).unwrap(),
            _ => {
                let name = ["host", "date", "x-note"][place - 2];
                let Ok(value) = HeaderValue::from_bytes(&flip(sent.headers[name].as_bytes())) else { return Ok(()) };
                // Space around a value is no part of it.
                prop_assume!(value.as_bytes().trim_ascii().len() == value.len());
                sent.headers.insert(name, value);
            }
        }
        prop_assert_eq!(outcome(&sent), Outcome::Invalid);
    }
}
