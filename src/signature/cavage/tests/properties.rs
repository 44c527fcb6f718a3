//! What must hold of any text and any request.

use std::sync::LazyLock;

use http::{HeaderMap, HeaderValue};
use proptest::prelude::*;

use crate::signature::cavage::{Header, ParameterOrder, Signing, computed, sign};
use crate::signature::fixture::*;
use crate::signature::key::SigningKey;
use crate::signature::{self, Hs2019, Outcome, Parsed, Reason, Request, Terms, Verdict, digest};

const COVERED: [&str; 7] = [
    "(request-target)",
    "host",
    "date",
    "digest",
    "x-note",
    "(created)",
    "(expires)",
];

/// A way to sign: whose key, under which label, and what that stands for.
#[derive(Clone, Copy, Debug)]
struct Manner {
    key: &'static LazyLock<SigningKey>,
    label: &'static str,
    hs2019: Hs2019,
}

impl Manner {
    /// How many of [`COVERED`] its label allows.
    fn covered(self) -> usize {
        if ["rsa", "ecdsa", "hmac"]
            .iter()
            .any(|old| self.label.starts_with(old))
        {
            5
        } else {
            7
        }
    }

    fn signed(self, method: &str, target: &str, note: &str, body: &[u8]) -> Sent {
        let sent = Sent {
            method: method.to_owned(),
            body: body.to_vec(),
            ..Sent::post(target).without("digest")
        };
        let sent = sent
            .with("digest", &digest::sha256_header(body))
            .with("x-note", note);
        let key: &SigningKey = self.key;
        let signing = Signing {
            headers: &COVERED[..self.covered()],
            algorithm: self.label,
            computes: computed(Some(self.label), key.kind(), self.hs2019).unwrap(),
            created: Some(1_700_000_000),
            expires: Some(1_700_000_300),
            key_id: KEY_ID,
            order: ParameterOrder::AlgorithmFirst,
            query: true,
        };
        let value = sign(&signing, &sent.request(), key).unwrap();
        sent.with("signature", value.to_str().unwrap())
    }

    fn verdict(self, sent: &Sent) -> Verdict {
        let Parsed::Signed(header) = signature::parse(&sent.request()) else {
            panic!("not signed");
        };
        let terms = Terms {
            hs2019: self.hs2019,
            ..terms(HOUR, NOW)
        };
        header[0].verify(&sent.request(), self.key.public_key(), terms)
    }
}

// Reading a key takes longer than signing with it.
static ED25519: LazyLock<SigningKey> = LazyLock::new(ed25519);
static P256: LazyLock<SigningKey> = LazyLock::new(p256);
static P384: LazyLock<SigningKey> = LazyLock::new(p384);
static RSA: LazyLock<SigningKey> = LazyLock::new(rsa);
static RSA_PSS: LazyLock<SigningKey> = LazyLock::new(rsa_pss);
static SECRET: LazyLock<SigningKey> = LazyLock::new(secret);

fn manner() -> impl Strategy<Value = Manner> {
    let all: [(&LazyLock<SigningKey>, &str, Hs2019); 12] = [
        (&RSA, "rsa-sha256", Hs2019::Sha256),
        (&RSA, "rsa-sha512", Hs2019::Sha256),
        (&RSA, "hs2019", Hs2019::Sha256),
        (&RSA, "hs2019", Hs2019::Sha512),
        (&RSA_PSS, "hs2019", Hs2019::Sha256),
        (&ED25519, "hs2019", Hs2019::Sha256),
        (&ED25519, "ed25519", Hs2019::Sha256),
        (&P256, "ecdsa-sha256", Hs2019::Sha256),
        (&P256, "hs2019", Hs2019::Sha256),
        (&P384, "hs2019", Hs2019::Sha256),
        (&SECRET, "hmac-sha256", Hs2019::Sha256),
        (&SECRET, "hs2019", Hs2019::Sha512),
    ];
    prop::sample::select(
        all.map(|(key, label, hs2019)| Manner { key, label, hs2019 })
            .to_vec(),
    )
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

/// A signature that parses and holds for nothing.
fn unfounded() -> impl Strategy<Value = String> {
    let label = "(rsa-sha256|rsa-sha512|hs2019|ecdsa-sha256|ed25519|hmac-sha256|[ -!#-\\[\\]-~]{0,8})";
    let list = "([(]request-target[)]|[(]created[)]|[(]expires[)]|host|Date|digest|[a-z-]{1,8}| ){0,8}";
    let times = "(,created=-?[0-9]{1,20})?(,expires=[0-9]{1,20}([.][0-9]{1,3})?)?";
    (label, list, times, "[A-Za-z0-9+/]{0,90}={0,2}").prop_map(|(label, list, times, signature)| {
        format!(r#"keyId="k",algorithm="{label}",headers="host{list}"{times},signature="{signature}""#)
    })
}

proptest! {
    #[test]
    fn no_header_makes_parsing_or_verifying_panic(
        signature in prop_oneof![
            near_miss().prop_map(String::into_bytes),
            unfounded().prop_map(String::into_bytes),
            prop::collection::vec(any::<u8>(), 0..80),
        ],
        in_authorization: bool,
        target in "\\PC{0,20}",
        body in "\\PC{0,20}",
        manner in manner(),
    ) {
        let _ = Header::parse(&signature, None);
        let Ok(value) = HeaderValue::from_bytes(&signature) else { return Ok(()) };
        let mut headers = HeaderMap::new();
        headers.append(if in_authorization { "authorization" } else { "signature" }, value);
        let request = Request {
            method: "POST",
            target: &target,
            scheme: "https",
            headers: &headers,
            authority: Some("b.test"),
            body: body.as_bytes(),
        };
        if let Parsed::Signed(header) = signature::parse(&request) {
            let verdict = header[0].verify(&request, manner.key.public_key(), terms(HOUR, NOW));
            prop_assert_eq!(verdict.result, Outcome::Invalid);
        }
    }

    #[test]
    fn what_is_written_is_read_back(key_id in "[ -~]{1,40}", created: i64, expires in 0..i64::MAX) {
        let key = ed25519();
        let signing = Signing {
            headers: &["date"],
            algorithm: "hs2019",
            computes: key.kind().algorithm(),
            created: Some(created),
            expires: Some(expires),
            key_id: &key_id,
            order: ParameterOrder::HeadersFirst,
            query: true,
        };
        let value = sign(&signing, &Sent::get("/").request(), &key).unwrap();
        let header = Header::parse(value.as_bytes(), None).unwrap();
        prop_assert_eq!(header.key_id(), key_id);
        prop_assert_eq!((header.created(), header.expires()), (Some(created), Some(expires)));
    }

    #[test]
    fn what_is_signed_verifies(
        manner in manner(),
        method in "GET|HEAD|POST|PUT",
        target in "/[!-~]{0,40}(\\?[!-~]{0,20})?",
        note in "[!-~]([ -~]{0,20}[!-~])?",
        body in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let verdict = manner.verdict(&manner.signed(&method, &target, &note, &body));
        prop_assert_eq!((verdict.result, verdict.detail), (Outcome::Valid, None));
        prop_assert_eq!(verdict.covered, &COVERED[..manner.covered()]);
    }

    #[test]
    fn one_covered_byte_changed_is_noticed(
        manner in manner(),
        method in "GET|POST",
        target in "/[a-z]{1,20}",
        note in "[!-~]{1,20}",
        body in prop::collection::vec(any::<u8>(), 1..100),
        place in 0usize..8,
        at: prop::sample::Index,
        bit in 0u32..4,
    ) {
        let mut sent = manner.signed(&method, &target, &note, &body);
        prop_assert_eq!(manner.verdict(&sent).result, Outcome::Valid);
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
            3 => {
                let moved = [("created=1700000000", "created=1700000001"), ("expires=1700000300", "expires=1700000301")];
                let (old, new) = moved[at.index(2)];
                let text = sent.headers["signature"].to_str().unwrap().replace(old, new);
                sent = sent.without("signature").with("signature", &text);
                prop_assume!(manner.covered() == COVERED.len());
            }
            _ => {
                let name = ["host", "date", "x-note", "digest"][place - 4];
                let Ok(value) = HeaderValue::from_bytes(&flip(sent.headers[name].as_bytes())) else { return Ok(()) };
                // Space around a value is no part of it.
                prop_assume!(value.as_bytes().trim_ascii().len() == value.len());
                sent.headers.insert(name, value);
            }
        }
        prop_assert_eq!(manner.verdict(&sent).result, Outcome::Invalid);
    }

    #[test]
    fn one_byte_of_the_signature_changed_is_noticed(manner in manner(), at: prop::sample::Index, bit in 0u32..8) {
        let sent = manner.signed("POST", "/inbox", "note", b"{}");
        let text = sent.headers["signature"].to_str().unwrap().to_owned();
        let (before, signature) = text.rsplit_once("signature=\"").unwrap();
        let mut bytes = signature::base64::decode(signature.trim_end_matches('"')).bytes.unwrap();
        let index = at.index(bytes.len());
        bytes[index] ^= 1 << bit;
        let text = format!("{before}signature=\"{}\"", signature::base64::encode(bytes));
        let verdict = manner.verdict(&sent.without("signature").with("signature", &text));
        prop_assert_eq!(verdict.reason, Some(Reason::SignatureMismatch));
    }

    #[test]
    fn one_component_left_out_is_noticed(manner in manner(), which: prop::sample::Index) {
        let sent = manner.signed("POST", "/inbox", "note", b"{}");
        let listed = &COVERED[..manner.covered()];
        let left: Vec<&str> = listed.iter().copied().filter(|name| *name != listed[which.index(listed.len())]).collect();
        let text = sent.headers["signature"].to_str().unwrap().replace(&listed.join(" "), &left.join(" "));
        let verdict = manner.verdict(&sent.without("signature").with("signature", &text));
        prop_assert_eq!(verdict.findings.last().unwrap().reason, Reason::SignatureMismatch);
    }
}
