//! Any bytes as `Signature` header: parsing and judging must end without a panic, and never with "valid".
#![no_main]

use std::time::Duration;

use http::{HeaderMap, HeaderValue};
use libfuzzer_sys::fuzz_target;
use peerfarm::clock::Timestamp;
use peerfarm::signature::{Outcome, Parsed, Reason, Request, Window, parse};

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
            headers: &headers,
            authority: Some("b.test"),
            body: data,
        };
        let Parsed::Signed(header) = parse(&request) else {
            continue;
        };
        let hour = Duration::from_secs(3_600);
        let (window, now) = (
            Window {
                past: hour,
                future: hour,
            },
            Timestamp::from_unix(1_700_000_000),
        );
        let verdict = header.verify_without_key(&request, Reason::KeyGone, "", window, now);
        assert_eq!(verdict.result, Outcome::Invalid);
    }
});
