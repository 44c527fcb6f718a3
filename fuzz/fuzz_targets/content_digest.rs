//! Any bytes as `Content-Digest` header: the check must end without a panic, and never hold.
#![no_main]

use http::{HeaderMap, HeaderValue};
use libfuzzer_sys::fuzz_target;
use peerfarm::signature::content_digest;

fuzz_target!(|data: &[u8]| {
    let Ok(value) = HeaderValue::from_bytes(data) else {
        return;
    };
    let mut headers = HeaderMap::new();
    headers.insert("content-digest", value);
    // A body that names its own digest is not to be found.
    assert!(!content_digest::check(&headers, data).is_empty());
});
