//! The examples of RFC 9530, and what is wrong with others.

use http::{HeaderMap, HeaderValue};
use proptest::prelude::*;

use super::*;

fn headers(lines: &[&str]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for line in lines {
        headers.append("content-digest", line.parse().unwrap());
    }
    headers
}

fn reasons(lines: &[&str], body: &[u8]) -> Vec<Reason> {
    let findings = check(&headers(lines), body);
    findings.iter().map(|finding| finding.reason).collect()
}

/// The representation of the examples, a line feed at its end.
const WORLD: &[u8] = b"{\"hello\": \"world\"}\n";
const SHA256: &str = "sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:";
const SHA512: &str =
    "sha-512=:YMAam51Jz/jOATT6/zvHrLVgOYTGFy1d6GJiOHTohq4yP+pgk4vf2aCsyRZOtw8MjkM7iw7yZ/WkppmM44T3qg==:";

#[test]
fn the_digests_of_the_standard_are_computed_and_hold() {
    for (body, header) in [
        // Appendix B.1, B.2 (no content) and B.3 (part of it).
        (WORLD, SHA256),
        (b"", "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:"),
        (
            b"\"world\"}\n",
            "sha-256=:jjcgBDWNAtbYUXI37CVG3gRuGOAjaaDRGpIUFsdyepQ=:",
        ),
        // B.7 and B.9.
        (
            b"{\"title\": \"New Title\"}\n",
            "sha-256=:mEkdbO7Srd9LIOegftO0aBX+VPTVz7/CSHes2Z27gc4=:",
        ),
    ] {
        assert_eq!(sha256_header(body), header);
        assert_eq!(reasons(&[header], body), []);
    }
    assert_eq!(reasons(&[SHA512], WORLD), []);
}

/// The example that section 5 and appendix D.1 share: RFC 9421's test-request has the same content, with no line feed.
#[test]
fn one_line_feed_more_is_another_digest() {
    let body = b"{\"hello\": \"world\"}";
    let header = "sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:";
    assert_eq!(sha256_header(body), header);
    assert_eq!(reasons(&[header], WORLD), [Reason::DigestMismatch]);
}

#[test]
fn every_algorithm_that_is_known_must_match() {
    assert_eq!(reasons(&[&format!("{SHA512}, {SHA256}")], WORLD), []);
    assert_eq!(reasons(&[SHA256, SHA512], WORLD), []);
    assert_eq!(reasons(&[&format!("md5=:AAAA:,{SHA256};q=1")], WORLD), []);
    assert_eq!(
        reasons(&[&format!("{SHA256}, sha-512=:AAAA:")], WORLD),
        [Reason::DigestMismatch]
    );
    assert_eq!(reasons(&[SHA256, SHA512], b"no"), [Reason::DigestMismatch; 2]);
    // The one that `sfv` would keep is right.
    let twice = format!("sha-256=:AAAA:, {SHA256}");
    assert_eq!(reasons(&[&twice], WORLD), [Reason::DigestMismatch]);
}

#[test]
fn the_digest_is_over_the_bytes_on_the_wire() {
    // `{"hello": "world"}` and a line feed in Brotli, as erratum 8890 to RFC 9530 gives it; the digest is appendix B.4's.
    let encoded: [u8; 23] = [
        0x0b, 0x09, 0x80, 0x7b, 0x22, 0x68, 0x65, 0x6c, 0x6c, 0x6f, 0x22, 0x3a, 0x20, 0x22, 0x77, 0x6f, 0x72,
        0x6c, 0x64, 0x22, 0x7d, 0x0a, 0x03,
    ];
    let header = "sha-256=:d435Qo+nKZ+gLcUHn7GQtQ72hiBVAgqoLsZnZPiTGPk=:";
    let mut headers = headers(&[header]);
    headers.append("content-encoding", HeaderValue::from_static("br"));
    assert_eq!(check(&headers, &encoded), []);
    assert_eq!(check(&headers, WORLD).len(), 1);
}

#[test]
fn base64_without_its_colons_does_not_parse() {
    let bare = SHA256.replace(':', "");
    let findings = check(&headers(&[&bare]), WORLD);
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].reason, Reason::Malformed);
    assert!(
        findings[0].detail.contains("between colons"),
        "{}",
        findings[0].detail
    );
    // It is compared all the same.
    assert_eq!(
        reasons(&[&bare], b"no"),
        [Reason::Malformed, Reason::DigestMismatch]
    );
}

#[test]
fn what_is_no_dictionary_of_byte_sequences_is_named() {
    for (line, expected) in [
        (
            SHA256.replace("g=:", "*=:"),
            vec![Reason::BadBase64, Reason::DigestMismatch],
        ),
        (SHA256.replace("sha", "SHA"), vec![Reason::Malformed]),
        (format!("{SHA256},"), vec![Reason::Malformed]),
        (format!("{SHA256} {SHA512}"), vec![Reason::Malformed]),
        (
            "sha-256".to_owned(),
            vec![Reason::Malformed, Reason::DigestMismatch],
        ),
        (
            "sha-256=:RK/0".to_owned(),
            vec![Reason::Malformed, Reason::DigestMismatch],
        ),
        ("md5=:AAAA:".to_owned(), vec![Reason::UnsupportedDigest]),
        (String::new(), vec![Reason::UnsupportedDigest]),
    ] {
        assert_eq!(reasons(&[&line], WORLD), expected, "{line}");
    }
    // Appendix B.5 prints one `=` too many, which is no base64.
    let printed = SHA256.replace("=:", "==:").replace("256==:", "256=:");
    assert_eq!(reasons(&[&printed], WORLD)[0], Reason::BadBase64);
    let many = [SHA256; 9].join(",");
    assert_eq!(reasons(&[&many], WORLD), [Reason::UnsupportedDigest]);
}

#[test]
fn other_fields_are_no_content_digest() {
    let mut headers = HeaderMap::new();
    assert!(check(&headers, WORLD)[0].detail.contains(SHA256));
    headers.append("repr-digest", SHA256.parse().unwrap());
    let findings = check(&headers, WORLD);
    assert_eq!(findings[0].reason, Reason::DigestMissing);
    assert!(findings[0].detail.contains("`Repr-Digest` is there"));
}

proptest! {
    #[test]
    fn no_field_makes_the_check_panic(
        field in prop_oneof!["[ -~]{0,60}", "(sha-(256|512)(=:?[A-Za-z0-9+/=]{0,44}:?)?[,;]? ?){0,4}", "\\PC{0,30}"],
        body in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        let Ok(value) = HeaderValue::from_bytes(field.as_bytes()) else { return Ok(()) };
        let mut headers = HeaderMap::new();
        headers.append("content-digest", value);
        prop_assert!(!check(&headers, &body).is_empty());
    }

    #[test]
    fn what_is_written_holds_for_that_body_alone(body in prop::collection::vec(any::<u8>(), 1..100), at: prop::sample::Index) {
        let mut headers = HeaderMap::new();
        headers.append("content-digest", sha256_header(&body).parse().unwrap());
        prop_assert_eq!(check(&headers, &body), []);
        let mut other = body.clone();
        other[at.index(body.len())] ^= 1;
        prop_assert_eq!(check(&headers, &other).len(), 1);
    }
}
