//! Values come from `openssl dgst`.

use super::*;

use proptest::prelude::*;

const BODY: &[u8] = br#"{"type":"Create"}"#;
const SHA_256: &str = "JeE18werLvQnEoHViKDam+ZK1D8E27TBC2kIISI7pIY=";
const SHA_512: &str =
    "2Zff58xsFuebfSQtprwv7ZmmVBQR8ep5Pjta8geJjAeRVjpp/hbJaMWfWo9jglZ5krZKPk4c3ig1De/c5z0+4w==";
const NEWLINE: &str = "foq2ZV7ArR9qXziKnuBqA2VBaAjUdgGv3NsaMblFYwg=";
const HEXADECIMAL: &str = "25e135f307ab2ef4271281d588a0da9be64ad43f04dbb4c10b690821223ba486";
const HEXADECIMAL_IN_BASE64: &str =
    "MjVlMTM1ZjMwN2FiMmVmNDI3MTI4MWQ1ODhhMGRhOWJlNjRhZDQzZjA0ZGJiNGMxMGI2OTA4MjEyMjNiYTQ4Ng==";
/// The digests of a note as other languages write it anew: computed in Node and in Python, the last from what PHP's
/// manual says.
const REWRITTEN: [(&str, &str); 4] = [
    (
        "JSON.stringify of Node",
        "oSfqoNEijIybrg2W244nvhdemrzFh51iKl4LD/pZV1s=",
    ),
    (
        "JSON.stringify of Node, indented",
        "MKAi0JtRMLoCD9tdmWhBsUhIUk1KWYM5leiFhsTjb8E=",
    ),
    (
        "json.dumps of Python",
        "bPK1qs5mg8RdSYp9b0u1WYHiQPHt+zE+3a2qUtQMJKg=",
    ),
    (
        "json_encode of PHP",
        "qPBqaOJsG6KlFn/eBPiwQWJjnG1Z4EYjFEGRwSnGUQ0=",
    ),
];
const MD5: &str = "HI75tuBTJ9sQtfCO6ZuyiA==";

fn headers(lines: &[&str]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for line in lines {
        headers.append("digest", line.parse().unwrap());
    }
    headers
}

fn reasons(lines: &[&str]) -> Vec<Reason> {
    let findings = check(&headers(lines), BODY);
    findings.iter().map(|finding| finding.reason).collect()
}

#[test]
fn the_header_is_what_openssl_computes() {
    assert_eq!(sha256_header(BODY), format!("SHA-256={SHA_256}"));
    assert_eq!(
        sha256_header(b""),
        "SHA-256=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
    );
}

#[test]
fn the_algorithm_is_read_in_any_case() {
    for name in ["SHA-256", "sha-256", "Sha-256"] {
        assert_eq!(reasons(&[&format!("{name}={SHA_256}")]), []);
    }
    assert_eq!(reasons(&[&format!("sha-512={SHA_512}")]), []);
}

#[test]
fn several_digests_are_read_on_one_line_and_on_more() {
    let (first, second) = (format!("SHA-512={SHA_512}"), format!("SHA-256={SHA_256}"));
    let md5 = format!("MD5={MD5}");
    assert_eq!(reasons(&[&format!("{first}, {second}")]), []);
    assert_eq!(reasons(&[&first, &second]), []);
    assert_eq!(reasons(&[&format!(" {md5} ,,{second} ")]), []);
}

#[test]
fn every_computed_digest_must_match() {
    let wrong = format!("SHA-512={SHA_512}").replace("2Zff", "3Zff");
    assert_eq!(
        reasons(&[&wrong, &format!("SHA-256={SHA_256}")]),
        [Reason::DigestMismatch]
    );
}

#[test]
fn a_mismatch_names_both_digests() {
    let findings = check(&headers(&[&format!("SHA-256={SHA_256}")]), b"other");
    assert_eq!(findings.len(), 1);
    // printf other | openssl dgst -sha256 -binary | base64
    assert!(
        findings[0]
            .detail
            .contains("2SmKENGwc1g33EvYXaxkGw887yekfl1TpU8vP1svz/o="),
        "{}",
        findings[0].detail
    );
    assert!(findings[0].detail.contains(SHA_256));
}

#[test]
fn md5_alone_is_refused_by_name() {
    let findings = check(&headers(&[&format!("MD5={MD5}")]), BODY);
    assert_eq!(findings[0].reason, Reason::UnsupportedDigest);
    assert!(findings[0].detail.contains("`MD5`"), "{}", findings[0].detail);
    assert_eq!(reasons(&[""]), [Reason::UnsupportedDigest]);
}

#[test]
fn no_digest_is_not_the_same_as_a_wrong_one() {
    assert_eq!(reasons(&[]), [Reason::DigestMissing]);
}

#[test]
fn sloppy_base64_is_a_finding_of_its_own() {
    let unpadded = SHA_256.trim_end_matches('=');
    assert_eq!(reasons(&[&format!("SHA-256={unpadded}")]), [Reason::BadBase64]);
    assert_eq!(
        reasons(&["SHA-256=!!!!"]),
        [Reason::BadBase64, Reason::DigestMismatch]
    );
    assert_eq!(reasons(&["SHA-256"]), [Reason::DigestMismatch]);
}

#[test]
fn the_number_of_digests_is_bounded() {
    let many = vec![format!("SHA-256={SHA_256}"); 9].join(",");
    assert_eq!(reasons(&[&many]), [Reason::UnsupportedDigest]);
    let few = vec![format!("SHA-256={SHA_256}"); 8].join(",");
    assert_eq!(reasons(&[&few]), []);
}

proptest! {
    #[test]
    fn no_text_panics_or_passes_by_chance(line in "[ -~]{0,80}|[a-zA-Z0-9=, -]{0,40}") {
        let found = check(&headers(&[&line]), BODY);
        prop_assert!(!found.is_empty() || line.contains(&SHA_256[..40]));
    }
}

#[test]
fn known_slips_are_named() {
    let detail = |body: &str, value: &str| {
        let findings = check(&headers(&[&format!("SHA-256={value}")]), body.as_bytes());
        assert_eq!(findings.last().unwrap().reason, Reason::DigestMismatch);
        findings.last().unwrap().detail.clone()
    };
    let body = std::str::from_utf8(BODY).unwrap();
    // Each digest by `printf '...' | openssl dgst -sha256 -binary | base64`.
    assert!(detail(body, "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=").contains("no body at all"));
    assert!(detail(body, NEWLINE).contains("line end"));
    assert!(detail(&format!("{body}\n"), SHA_256).contains("line end"));
    assert!(detail(body, HEXADECIMAL).contains("hexadecimal"));
    assert!(detail(body, HEXADECIMAL_IN_BASE64).contains("hexadecimal"));
    assert!(detail(body, SHA_512).contains("the other of"));
    let note = r#"{ "id":"https://a.test/n/1", "name": "é", "to":[1,2] }"#;
    for (language, digest) in REWRITTEN {
        assert!(detail(note, digest).contains("the same JSON"), "{language}");
    }
    assert!(!detail(note, SHA_256).contains("it is"));
    let long = format!("{}\n", "x".repeat(70_000));
    assert!(!detail(&long, "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=").contains("it is"));
}
