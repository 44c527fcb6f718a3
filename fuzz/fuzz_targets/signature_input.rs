//! Any bytes as `Signature-Input` and, after the first line feed, as `Signature`: parsing and judging must end without
//! a panic, never with "valid", and never by the other dialect.
#![no_main]

use std::time::Duration;

use http::{HeaderMap, HeaderValue};
use libfuzzer_sys::fuzz_target;
use peerfarm::clock::Timestamp;
use peerfarm::signature::rfc9421::{AcceptSignature, Component};
use peerfarm::signature::{Dialect, Hs2019, Outcome, Parsed, Reason, Request, Terms, Window, parse};

fuzz_target!(|data: &[u8]| {
    let mut parts = data.splitn(2, |byte| *byte == b'\n');
    let mut next = || HeaderValue::from_bytes(parts.next().unwrap_or(b"sig1=:AAAA:"));
    let (Ok(input), Ok(signature)) = (next(), next()) else {
        return;
    };
    if let Ok(text) = input.to_str() {
        let _ = text.parse::<AcceptSignature>();
        let _ = text.parse::<Component>();
    }
    let mut headers = HeaderMap::new();
    headers.insert("signature-input", input);
    headers.insert("signature", signature);
    let request = Request {
        method: "POST",
        target: "/inbox?x",
        scheme: "https",
        headers: &headers,
        authority: Some("b.test"),
        body: data,
    };
    let hour = Duration::from_secs(3_600);
    let terms = Terms {
        window: Window {
            past: hour,
            future: hour,
        },
        hs2019: Hs2019::Sha256,
        now: Timestamp::from_unix(1_700_000_000),
    };
    let verdicts = match parse(&request) {
        Parsed::Signed(signatures) => signatures
            .iter()
            .map(|signature| signature.verify_without_key(&request, Reason::KeyGone, "", terms))
            .collect(),
        Parsed::Invalid(verdict) => vec![verdict],
        Parsed::Unsigned => panic!("`Signature-Input` is there"),
    };
    for verdict in verdicts {
        assert_eq!(
            (verdict.result, verdict.dialect),
            (Outcome::Invalid, Some(Dialect::Rfc9421))
        );
    }
});
