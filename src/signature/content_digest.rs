//! The `Content-Digest` field (RFC 9530): what ties a body to the signature of its fields.

use aws_lc_rs::digest;
use http::HeaderMap;

use crate::signature::base64;
use crate::signature::{Finding, Reason};

/// The value of a `Content-Digest` header for `body`: `sha-256=:`, 44 characters of base64, `:`.
pub fn sha256_header(body: &[u8]) -> String {
    format!(
        "sha-256=:{}:",
        base64::encode(digest::digest(&digest::SHA256, body))
    )
}

/// Checks the `Content-Digest` headers against the body.
pub fn check(headers: &HeaderMap, _body: &[u8]) -> Vec<Finding> {
    let detail = "no `Content-Digest` is read yet";
    let _ = headers;
    vec![Finding::new(Reason::UnsupportedDigest, detail)]
}
