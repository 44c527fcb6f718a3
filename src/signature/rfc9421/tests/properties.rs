//! What must hold of any text and any request.

use http::{HeaderMap, HeaderValue};
use proptest::prelude::*;

use crate::signature::fixture::*;
use crate::signature::key::SigningKey;
use crate::signature::rfc9421::tests::components;
use crate::signature::rfc9421::{AcceptSignature, Component, Message, Signing, sign};
use crate::signature::{self, Outcome, Parsed, Reason, Request, content_digest};

const ALL: [&str; 8] = [
    "@method",
    "@target-uri",
    "@authority",
    "@query",
    "content-digest",
    "date",
    "x-note",
    "x-note;bs",
];

/// One key of each kind; RSA is the slowest, at a millisecond a signature.
fn key(kind: usize) -> SigningKey {
    match kind {
        0 => ed25519(),
        1 => p256(),
        2 => secret(),
        3 => rsa(),
        4 => p384(),
        _ => rsa_pss(),
    }
}

fn signed(key: &SigningKey, method: &str, target: &str, note: &str, body: &[u8]) -> Sent {
    let sent = Sent {
        method: method.to_owned(),
        body: body.to_vec(),
        ..Sent::post(target).without("digest")
    };
    let sent = sent
        .with("content-digest", &content_digest::sha256_header(body))
        .with("x-note", note);
    let signing = Signing {
        label: "sig1",
        components: &components(&ALL),
        key_id: KEY_ID,
        algorithm: key.kind().algorithm(),
        names_algorithm: true,
        created: Some(1_700_000_000),
        expires: Some(1_700_000_300),
        nonce: Some(note),
        tag: None,
    };
    let fields = sign(&signing, &Message::Request(&sent.request()), key).unwrap();
    sent.with("signature-input", fields.input.to_str().unwrap())
        .with("signature", fields.signature.to_str().unwrap())
}

fn outcome(sent: &Sent, key: &SigningKey) -> Outcome {
    sent.verdict_by(key.public_key(), HOUR, NOW).result
}

/// Text near the grammar: members of dictionaries, some of them spoilt.
fn near_miss() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        "[ \t,;=\"\\\\()%:]{1,3}",
        "(sig1|sig2)=",
        "\\(\"(@method|@target-uri|@query-param|@status|content-digest|x-note|Date)\"(;(sf|bs|req|tr|key=\"a\"|name=\"x\")){0,2}\\)",
        "\\(\"@method\" \"x-note\";sf\\)",
        ";(created|expires|keyid|alg|nonce|tag|x)=?",
        "\"[ -~]{0,12}\"",
        "-?[0-9.]{1,17}",
        ":[A-Za-z0-9+/=]{0,12}:",
        "\\PC{0,4}",
    ];
    prop::collection::vec(part, 0..14).prop_map(|parts| parts.concat())
}

fn request<'a>(headers: &'a HeaderMap, target: &'a str) -> Request<'a> {
    Request {
        method: "POST",
        target,
        scheme: "https",
        headers,
        authority: None,
        body: b"",
    }
}

proptest! {
    #[test]
    fn no_field_makes_parsing_or_verifying_panic(
        input in prop_oneof![near_miss(), near_miss().prop_map(|text| format!("sig1=(\"x-note\";sf \"@query-param\";name=\"x\" \"x-note\";key=\"a\");keyid=\"k\"{text}"))],
        signature in prop_oneof![Just("sig1=:AAAA:".to_owned()), near_miss()],
        note in near_miss(),
        digest in near_miss(),
        target in "\\PC{0,20}",
    ) {
        let mut headers = HeaderMap::new();
        for (name, text) in [("signature-input", &input), ("signature", &signature), ("x-note", &note), ("content-digest", &digest)] {
            let Ok(value) = HeaderValue::from_bytes(text.as_bytes()) else { return Ok(()) };
            headers.append(name, value);
        }
        let request = request(&headers, &target);
        match signature::parse(&request) {
            Parsed::Signed(found) => for signature in found {
                let verdict = signature.verify(&request, ed25519().public_key(), terms(HOUR, NOW));
                prop_assert_eq!(verdict.result, Outcome::Invalid);
            },
            Parsed::Invalid(verdict) => prop_assert_eq!(verdict.result, Outcome::Invalid),
            Parsed::Unsigned => prop_assert!(false, "`Signature-Input` is there"),
        }
    }

    #[test]
    fn no_bytes_make_parsing_panic(input in prop::collection::vec(any::<u8>(), 0..80), signature in prop::collection::vec(any::<u8>(), 0..40)) {
        let (Ok(input), Ok(signature)) = (HeaderValue::from_bytes(&input), HeaderValue::from_bytes(&signature)) else { return Ok(()) };
        let mut headers = HeaderMap::new();
        headers.append("signature-input", input);
        headers.append("signature", signature);
        prop_assert!(!matches!(signature::parse(&request(&headers, "/")), Parsed::Unsigned));
    }

    #[test]
    fn what_is_read_is_written_and_read_again(text in near_miss()) {
        if let Ok(component) = text.parse::<Component>() {
            prop_assert_eq!(component.to_string().parse::<Component>(), Ok(component));
        }
        if let Ok(accept) = text.parse::<AcceptSignature>() {
            prop_assert_eq!(accept.to_string().parse::<AcceptSignature>(), Ok(accept));
        }
    }

    #[test]
    fn what_is_signed_verifies(
        kind in 0usize..6,
        method in "GET|HEAD|POST|PUT",
        target in "/[!-~]{0,40}(\\?[!-~]{0,20})?",
        note in "[!-~]([ -~]{0,20}[!-~])?",
        body in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let key = key(kind);
        let sent = signed(&key, &method, &target, &note, &body);
        let verdict = sent.verdict_by(key.public_key(), HOUR, NOW);
        prop_assert_eq!((verdict.result, verdict.detail), (Outcome::Valid, None));
    }

    #[test]
    fn one_covered_byte_changed_is_noticed(
        kind in 0usize..6,
        method in "GET|POST",
        target in "/[a-z]{1,20}",
        note in "[!-~]{1,20}",
        body in prop::collection::vec(any::<u8>(), 1..100),
        place in 0usize..7,
        at: prop::sample::Index,
        bit in 0u32..4,
    ) {
        let key = key(kind);
        let mut sent = signed(&key, &method, &target, &note, &body);
        prop_assert_eq!(outcome(&sent, &key), Outcome::Valid);
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
            2 => sent.method = String::from_utf8(flip(sent.method.as_bytes())).unwrap(),
            _ => {
                let name = ["host", "date", "x-note", "content-digest"][place - 3];
                let Ok(value) = HeaderValue::from_bytes(&flip(sent.headers[name].as_bytes())) else { return Ok(()) };
                // Space around a value is no part of it.
                prop_assume!(value.as_bytes().trim_ascii().len() == value.len());
                sent.headers.insert(name, value);
            }
        }
        prop_assert_eq!(outcome(&sent, &key), Outcome::Invalid);
    }

    #[test]
    fn one_parameter_changed_is_noticed(note in "[a-z]{1,20}", at: prop::sample::Index) {
        let key = ed25519();
        let mut sent = signed(&key, "POST", "/inbox", &note, b"{}");
        let input = sent.headers["signature-input"].to_str().unwrap().to_owned();
        let start = input.find(";created").unwrap();
        let index = start + at.index(input.len() - start);
        let digit = |byte: u8| if byte == b'1' { b'2' } else { b'1' };
        let mut bytes = input.into_bytes();
        bytes[index] = digit(bytes[index]);
        sent.headers.insert("signature-input", HeaderValue::from_bytes(&bytes).unwrap());
        let verdict = sent.verdict_by(key.public_key(), HOUR, NOW);
        prop_assert_eq!(verdict.result, Outcome::Invalid);
        prop_assert_ne!(verdict.reason, Some(Reason::DigestMismatch));
    }
}
