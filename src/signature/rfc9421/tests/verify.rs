//! The checks, one by one, and all together.

use crate::clock::Timestamp;
use crate::signature::fixture::*;
use crate::signature::key::Algorithm;
use crate::signature::rfc9421::tests::{INPUT, LINES, delivery};
use crate::signature::{Dialect, Outcome, Reason, Verdict};

/// The delivery, signed over `lines` under components `list` and what follows.
fn verdict(input: &str, lines: &str) -> Verdict {
    delivery().signed_9421(input, lines).verdict()
}

fn reasons(verdict: &Verdict) -> Vec<Reason> {
    verdict.findings.iter().map(|finding| finding.reason).collect()
}

#[test]
fn a_delivery_as_mastodon_signs_it_is_valid() {
    let found = verdict(INPUT, LINES);
    assert_eq!((found.result, found.detail), (Outcome::Valid, None));
    assert_eq!(
        (found.dialect, found.label.as_deref()),
        (Some(Dialect::Rfc9421), Some("sig1"))
    );
    assert_eq!(
        (found.algorithm, found.key_id.as_deref()),
        (Some(Algorithm::RsaV15Sha256), Some(KEY_ID))
    );
    assert_eq!(found.covered, ["@method", "@target-uri", "content-digest"]);
    assert_eq!((found.notes.len(), found.signature_base), (0, None));
}

/// `names` with the lines of a delivery to `/users/bob/inbox?x=%7E`, and what must be covered and is not.
#[test]
fn method_target_and_digest_must_be_covered() {
    let all = [
        ("@method", "POST"),
        ("@target-uri", "https://b.test:8443/users/bob/inbox?x=%7E"),
        ("@authority", "b.test:8443"),
        ("host", "b.test:8443"),
        ("@request-target", "/users/bob/inbox?x=%7E"),
        ("@path", "/users/bob/inbox"),
        ("@query", "?x=%7E"),
        (
            "content-digest",
            "sha-256=:JeE18werLvQnEoHViKDam+ZK1D8E27TBC2kIISI7pIY=:",
        ),
    ];
    let judge = |names: &str| {
        let covered: Vec<(&str, &str)> = names
            .split(' ')
            .map(|name| *all.iter().find(|(known, _)| *known == name).unwrap())
            .collect();
        let list: Vec<String> = covered.iter().map(|(name, _)| format!("\"{name}\"")).collect();
        let lines: Vec<String> = covered
            .iter()
            .map(|(name, value)| format!("\"{name}\": {value}"))
            .collect();
        verdict(
            &format!("({});created=1700000000;keyid=\"k\"", list.join(" ")),
            &lines.join("\n"),
        )
    };
    for enough in [
        "@method @target-uri content-digest",
        "@method @authority @path @query content-digest",
        "@method host @path @query content-digest",
        "@authority @method @request-target content-digest",
        "host content-digest @method @request-target",
    ] {
        assert_eq!(reasons(&judge(enough)), [], "{enough}");
    }
    for (little, missing) in [
        ("@target-uri content-digest", "`@method` must be covered"),
        ("@method content-digest", "`@target-uri` (or"),
        ("@method @path @query content-digest", "`@target-uri` (or"),
        ("@method @authority @path content-digest", "`@target-uri` (or"),
        ("@method @authority @query content-digest", "`@target-uri` (or"),
        ("@method @authority content-digest", "`@target-uri` (or"),
        ("content-digest", "`@method` and `@target-uri` (or"),
    ] {
        let found = judge(little);
        assert_eq!(reasons(&found), [Reason::HeaderNotSigned], "{little}");
        let detail = found.detail.unwrap();
        assert!(detail.starts_with(missing), "{detail}");
    }
    let found = judge("@method @target-uri");
    assert_eq!(reasons(&found), [Reason::DigestNotSigned]);
}

#[test]
fn a_get_without_a_body_needs_no_digest_and_without_a_query_no_query() {
    let input = r#"("@method" "@authority" "@path");created=1700000000;keyid="k""#;
    let lines = |path: &str| format!("\"@method\": GET\n\"@authority\": b.test:8443\n\"@path\": {path}");
    for target in ["/users/bob", "/users/bob?"] {
        let found = Sent::get(target)
            .signed_9421(input, &lines("/users/bob"))
            .verdict();
        assert_eq!(reasons(&found), [], "{target}");
    }
    let found = Sent::get("/users/bob?page=1")
        .signed_9421(input, &lines("/users/bob"))
        .verdict();
    assert_eq!(reasons(&found), [Reason::HeaderNotSigned]);
}

#[test]
fn what_is_covered_must_be_there() {
    let input = r#"("@method" "@target-uri" "content-digest" "x-gone" "x-dict";key="a");created=1700000000;keyid="k""#;
    let found = verdict(input, LINES);
    // The standard has no base at all then; the farm shows what it has.
    assert_eq!(reasons(&found), [Reason::HeaderMissing, Reason::HeaderMissing]);
    assert_eq!(
        found.detail.as_deref(),
        Some("`x-gone` is covered, but it is not there")
    );
    assert_eq!(
        found.signature_base.unwrap(),
        format!("{LINES}\n\"@signature-params\": {input}")
    );

    let found = delivery()
        .without("content-digest")
        .signed_9421(INPUT, LINES)
        .verdict();
    assert_eq!(
        reasons(&found),
        [
            Reason::HeaderMissing,
            Reason::DigestMissing,
            Reason::SignatureMismatch
        ]
    );
}

#[test]
fn created_must_be_there_and_in_the_window() {
    let input =
        |parameters: &str| format!(r#"("@method" "@target-uri" "content-digest");keyid="k"{parameters}"#);
    let found = verdict(&input(""), LINES);
    assert_eq!(reasons(&found), [Reason::ParameterMissing]);
    assert!(found.detail.unwrap().contains("`created`"));
    // An hour each way.
    for (created, expected) in [
        (1_700_003_600_i64, None),
        (1_700_003_601, Some(Reason::CreatedInFuture)),
        (1_699_996_400, None),
        (1_699_996_399, Some(Reason::DateTooOld)),
        (-999_999_999_999_999, Some(Reason::DateTooOld)),
        (999_999_999_999_999, Some(Reason::CreatedInFuture)),
    ] {
        let found = verdict(&input(&format!(";created={created}")), LINES);
        assert_eq!(found.reason, expected, "{created}");
    }
    // The clocks may differ by an hour.
    for (expires, expected) in [
        (1_699_996_400_i64, None),
        (1_699_996_399, Some(Reason::Expired)),
        (1_700_000_300, None),
    ] {
        let found = verdict(&input(&format!(";created=1700000000;expires={expires}")), LINES);
        assert_eq!(found.reason, expected, "{expires}");
    }
}

#[test]
fn the_algorithm_is_the_keys_own_unless_it_is_named() {
    let input = |alg: &str| format!("{INPUT};alg=\"{alg}\"");
    let found = verdict(&input("rsa-v1_5-sha256"), LINES);
    assert_eq!(reasons(&found), []);

    let pss = input("rsa-pss-sha512");
    let base = format!("{LINES}\n\"@signature-params\": {pss}");
    let signature = rsa().sign(Algorithm::RsaPssSha512, base.as_bytes()).unwrap();
    let signed = delivery().with("signature-input", &format!("sig1={pss}")).with(
        "signature",
        &format!("sig1=:{}:", crate::signature::base64::encode(signature)),
    );
    let found = signed.verdict();
    assert_eq!(
        (found.result, found.algorithm),
        (Outcome::Valid, Some(Algorithm::RsaPssSha512))
    );

    // The key decides nonetheless, so that a peer that lets names pass still sees a forgery.
    for (alg, expected) in [
        ("ed25519", "`alg` is `ed25519`, but the key is RSA-2048"),
        ("hmac-sha256", "`alg` is `hmac-sha256`, but the key is RSA-2048"),
        ("rsa-sha256", "`alg` is `rsa-sha256`; one of"),
        ("rsa-v1_5-sha512", "`alg` is `rsa-v1_5-sha512`; one of"),
        ("", "`alg` is ``; one of"),
    ] {
        let found = verdict(&input(alg), LINES);
        assert_eq!(found.reason, Some(Reason::UnsupportedAlgorithm), "{alg}");
        let detail = found.detail.unwrap();
        assert!(detail.starts_with(expected), "{detail}");
    }
    assert_eq!(
        reasons(&verdict(&input("ed25519"), LINES)),
        [Reason::UnsupportedAlgorithm]
    );
    let found = verdict(&input("ed25519"), &LINES.replace("POST", "GET"));
    assert_eq!(
        reasons(&found),
        [Reason::UnsupportedAlgorithm, Reason::SignatureMismatch]
    );
}

#[test]
fn content_digest_ties_the_body() {
    let with = |digest: &str| {
        let sent = delivery()
            .without("content-digest")
            .with("content-digest", digest);
        let lines = LINES.replace("sha-256=:JeE18werLvQnEoHViKDam+ZK1D8E27TBC2kIISI7pIY=:", digest);
        reasons(&sent.signed_9421(INPUT, &lines).verdict())
    };
    // `openssl dgst -sha512 -binary BODY | base64 -w0`
    let sha512 =
        "sha-512=:2Zff58xsFuebfSQtprwv7ZmmVBQR8ep5Pjta8geJjAeRVjpp/hbJaMWfWo9jglZ5krZKPk4c3ig1De/c5z0+4w==:";
    assert_eq!(with(sha512), []);
    assert_eq!(
        with(&format!(
            "{sha512}, sha-256=:JeE18werLvQnEoHViKDam+ZK1D8E27TBC2kIISI7pIY=:"
        )),
        []
    );
    assert_eq!(with("sha-256=:JeE18werLvQnEoHViKDam+ZK1D8E27TBC2kIISI7pIY=:"), []);
    assert_eq!(
        with("md5=:AAAA:, sha-256=:JeE18werLvQnEoHViKDam+ZK1D8E27TBC2kIISI7pIY=:"),
        []
    );
    assert_eq!(
        with("sha-256=:JeE18werLvQnEoHViKDam+ZK1D8E27TBC2kIISI7pIY=:, sha-512=:AAAA:"),
        [Reason::DigestMismatch]
    );
    assert_eq!(
        with("sha-256=JeE18werLvQnEoHViKDam+ZK1D8E27TBC2kIISI7pIY="),
        [Reason::Malformed]
    );
    assert_eq!(with("md5=:AAAA:"), [Reason::UnsupportedDigest]);

    let altered = Sent {
        body: b"{}".to_vec(),
        ..delivery()
    };
    let found = altered.signed_9421(INPUT, LINES).verdict();
    assert_eq!(reasons(&found), [Reason::DigestMismatch]);
}

#[test]
fn the_older_digest_is_not_looked_at() {
    let both = delivery().with("digest", "SHA-256=AAAA");
    assert_eq!(reasons(&both.signed_9421(INPUT, LINES).verdict()), []);

    let input = r#"("@method" "@target-uri" "digest");created=1700000000;keyid="k""#;
    let lines = LINES
        .replace("content-digest", "digest")
        .replace("sha-256=:", "SHA-256=")
        .replace("=:", "=");
    let only = delivery().without("content-digest").with("digest", DIGEST);
    let found = only.signed_9421(input, &lines).verdict();
    assert_eq!(reasons(&found), [Reason::DigestMissing]);
    assert!(found.detail.unwrap().contains("`Digest` is there"));
}

#[test]
fn all_that_does_not_hold_is_found_in_the_order_of_the_checks() {
    let input = r#"("@method" "x-gone");expires=1;alg="x";keyid="k""#;
    let sent = delivery().without("content-digest");
    let found = sent.signed_9421(input, "\"@method\": GET").verdict();
    assert_eq!(
        reasons(&found),
        [
            Reason::UnsupportedAlgorithm,
            Reason::ParameterMissing,
            Reason::HeaderNotSigned,
            Reason::HeaderMissing,
            Reason::DigestMissing,
            Reason::Expired,
            Reason::SignatureMismatch
        ]
    );
    assert_eq!(found.reason, Some(Reason::UnsupportedAlgorithm));
}

#[test]
fn without_a_key_the_other_checks_still_run() {
    let sent = delivery().signed_9421(INPUT, LINES);
    let found = sent.header().verify_without_key(
        &sent.request(),
        Reason::KeyGone,
        "410 from a.test",
        terms(HOUR, Timestamp::from_unix(1_800_000_000)),
    );
    assert_eq!(reasons(&found), [Reason::DateTooOld, Reason::KeyGone]);
    assert_eq!(
        found.signature_base.unwrap(),
        format!("{LINES}\n\"@signature-params\": {INPUT}")
    );
}

#[test]
fn a_member_of_the_digest_is_not_the_digest() {
    let found = delivery()
        .with("content-digest", "x=:AA==:")
        .signed_9421(
            &INPUT.replace("\"content-digest\"", "\"content-digest\";key=\"x\""),
            &format!(
                "{}\"content-digest\";key=\"x\": :AA==:",
                &LINES[..LINES.find("\"content-digest\"").unwrap()]
            ),
        )
        .verdict();
    assert_eq!(reasons(&found), [Reason::DigestNotSigned], "{found:?}");
}

#[test]
fn a_short_list_cannot_have_a_long_query_parsed_over_and_over() {
    let names: Vec<String> = (0..60)
        .map(|n| format!("\"@query-param\";name=\"b{n}\""))
        .collect();
    let input = format!(
        r#"({} "@method");created=1700000000;keyid="{KEY_ID}""#,
        names.join(" ")
    );
    let mut sent = delivery();
    sent.target = format!("/inbox?{}", "a&".repeat(15_000));
    let found = sent.signed_9421(&input, "").verdict();
    let told = found
        .findings
        .iter()
        .filter(|finding| finding.detail.contains("more than 65536 bytes"));
    // The first two fit.
    assert_eq!(told.count(), 59, "{:?}", found.findings.len());
}
