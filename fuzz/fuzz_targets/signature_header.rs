//! Any bytes as `Signature` header: parsing and judging must end without a panic, and never with "valid".
#![no_main]

use std::time::Duration;

use http::{HeaderMap, HeaderValue};
use libfuzzer_sys::fuzz_target;
use peerfarm::clock::Timestamp;
use peerfarm::signature::{Hs2019, Outcome, Parsed, Reason, Request, Terms, Window, parse};

fuzz_target!(|data: &[u8]| {
    let Ok(value) = HeaderValue::from_bytes(data) else {
        return;
    };
    for name in ["signature", "authorization"] {
        let mut headers = HeaderMap::new();
        headers.insert(name, value.clone());
        let request = Request {
            method: "POST",
            target: "/inbox?x",
            scheme: "https",
            headers: &headers,
            authority: Some("b.test"),
            body: data,
        };
        let Parsed::Signed(signatures) = parse(&request) else {
            continue;
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
        let verdict = signatures[0].verify_without_key(&request, Reason::KeyGone, "", terms);
        assert_eq!(verdict.result, Outcome::Invalid);
    }
});
