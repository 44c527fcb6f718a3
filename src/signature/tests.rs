//! Finding the signature, and what verdicts say of it.

use super::*;
use crate::clock::Timestamp;
use crate::signature::fixture::*;

const LIST: &str = r#"algorithm="rsa-sha256",headers="(request-target) host date digest""#;

fn good() -> Sent {
    Sent::post("/users/bob/inbox?x=%7E").signed(LIST, BASE)
}

/// The value of the `Signature` header that `good` has.
fn credentials() -> String {
    let sent = good();
    sent.headers["signature"].to_str().unwrap().to_owned()
}

#[test]
fn a_request_without_a_signature_is_unsigned() {
    let sent = Sent::post("/inbox").with("authorization", "Bearer xyz");
    assert!(matches!(parse(&sent.request()), Parsed::Unsigned));
    assert_eq!(sent.verdict(), Verdict::unsigned());
}

#[test]
fn a_valid_verdict_carries_no_failure() {
    let verdict = good().verdict();
    assert_eq!((verdict.result, verdict.reason), (Outcome::Valid, None));
    assert_eq!(verdict.key_id.as_deref(), Some(KEY_ID));
    assert_eq!(verdict.covered, ["(request-target)", "host", "date", "digest"]);
    assert_eq!(
        (verdict.dialect, verdict.signature_base),
        (Some(Dialect::Cavage), None)
    );
    assert!(verdict.notes.is_empty());
}

#[test]
fn the_scheme_word_inside_signature_is_let_pass_and_noted() {
    for prefix in ["Signature ", "signature  ", "SIGNATURE\t"] {
        let sent =
            Sent::post("/users/bob/inbox?x=%7E").with("signature", &format!("{prefix}{}", credentials()));
        let verdict = sent.verdict();
        assert_eq!(
            (verdict.result, verdict.notes),
            (Outcome::Valid, vec!["scheme_prefix"]),
            "{prefix}"
        );
    }
}

#[test]
fn a_parameter_at_the_start_is_not_the_scheme_word() {
    for text in [
        format!(r#"signature = "{BASE_BY_RSA}",keyId="k",{LIST}"#),
        format!(r#"signatures="2",{}"#, credentials()),
    ] {
        let sent = Sent::post("/users/bob/inbox?x=%7E").with("signature", &text);
        let verdict = sent.verdict();
        assert_eq!(
            (verdict.result, verdict.notes),
            (Outcome::Valid, vec![]),
            "{text}"
        );
    }
}

#[test]
fn authorization_is_read_where_there_is_no_signature_header() {
    let sent = Sent::post("/users/bob/inbox?x=%7E")
        .with("authorization", "Bearer xyz")
        .with("authorization", &format!("Signature {}", credentials()));
    let verdict = sent.verdict();
    assert_eq!(
        (verdict.result, verdict.notes),
        (Outcome::Valid, vec!["authorization_header"])
    );
}

#[test]
fn a_bad_signature_header_is_not_saved_by_a_good_authorization() {
    let bad = credentials().replace("signature=\"Ce0K", "signature=\"Ce1K");
    let (good, bad) = (credentials(), bad);
    let both = |signature: &str, authorization: &str| {
        Sent::post("/users/bob/inbox?x=%7E")
            .with("signature", signature)
            .with("authorization", &format!("Signature {authorization}"))
            .verdict()
            .result
    };
    assert_eq!(both(&bad, &good), Outcome::Invalid);
    assert_eq!(both(&good, &bad), Outcome::Valid);
}

#[test]
fn two_signatures_are_refused() {
    for header in ["signature", "authorization"] {
        let value = format!("Signature {}", credentials());
        let sent = Sent::post("/users/bob/inbox?x=%7E")
            .with(header, &value)
            .with(header, &value);
        let verdict = sent.verdict();
        assert_eq!(
            (verdict.result, verdict.reason),
            (Outcome::Invalid, Some(Reason::Malformed)),
            "{header}"
        );
        assert!(verdict.detail.unwrap().contains("2 times"));
    }
}

#[test]
fn rfc_9421_is_recognised_and_never_read_as_cavage() {
    let input = r#"sig1=("@method" "@target-uri");created=1700000000;keyid="https://a.test/u#k""#;
    // The second carries a signature that would be valid, were it read as cavage.
    for (signature, reason) in [
        ("sig1=:AAAA:", Reason::DigestNotSigned),
        (&credentials(), Reason::Malformed),
    ] {
        let sent = Sent::post("/users/bob/inbox?x=%7E")
            .with("content-digest", &content_digest::sha256_header(BODY.as_bytes()))
            .with("signature-input", input)
            .with("signature", signature);
        let verdict = sent.verdict();
        assert_eq!(
            (verdict.result, verdict.dialect),
            (Outcome::Invalid, Some(Dialect::Rfc9421))
        );
        assert_eq!(verdict.reason, Some(reason));
    }
    let verdict = Sent::post("/inbox").with("signature", "sig1=:AAAA:").verdict();
    assert_eq!(
        (verdict.result, verdict.reason),
        (Outcome::Invalid, Some(Reason::Malformed))
    );
}

#[test]
fn every_failure_is_found_and_the_first_is_the_reason() {
    // The digest is not covered, the date is two hours old, the query is not signed.
    let sent = Sent::post("/users/bob/inbox?x=%7E").signed(
        r#"algorithm="rsa-sha256",headers="(request-target) host date""#,
        "(request-target): post /users/bob/inbox\nhost: b.test:8443\ndate: Tue, 14 Nov 2023 22:13:20 GMT",
    );
    let verdict = sent.verdict_by(rsa().public_key(), HOUR, Timestamp::from_unix(1_700_007_200));
    let reasons: Vec<Reason> = verdict.findings.iter().map(|finding| finding.reason).collect();
    let all = [Reason::DigestNotSigned, Reason::DateTooOld, Reason::QueryOmitted];
    assert_eq!(reasons, all);
    assert_eq!(verdict.reason, Some(Reason::DigestNotSigned));
    assert_eq!(verdict.detail, Some(verdict.findings[0].detail.clone()));
}

#[test]
fn a_peer_tolerates_a_verdict_only_if_it_tolerates_all_of_it() {
    let sent = Sent::post("/users/bob/inbox?x=%7E").signed(LIST, &BASE.replace("?x=%7E", ""));
    let verdict = sent.verdict_by(rsa().public_key(), HOUR, Timestamp::from_unix(1_700_007_200));
    let left = |tolerated: &[Reason]| verdict.untolerated(tolerated).map(|finding| finding.reason);
    assert_eq!(left(&[]), Some(Reason::DateTooOld));
    assert_eq!(left(&[Reason::DateTooOld]), Some(Reason::QueryOmitted));
    assert_eq!(left(&[Reason::QueryOmitted, Reason::DateTooOld]), None);
}

#[test]
fn a_tolerated_failure_never_hides_a_forged_signature() {
    let sent = Sent::post("/users/bob/inbox?x=%7E").with(
        "signature",
        &format!(r#"keyId="{KEY_ID}",algorithm="rsa-sha512",headers="(request-target)",signature="%%%""#),
    );
    let verdict = sent.verdict();
    let lenient = [
        Reason::UnsupportedAlgorithm,
        Reason::HeaderNotSigned,
        Reason::BadBase64,
        Reason::DigestNotSigned,
    ];
    let left = verdict.untolerated(&lenient).unwrap();
    assert_eq!(left.reason, Reason::SignatureMismatch);
}

#[test]
fn without_a_key_the_other_checks_still_run() {
    let fetched = |sent: &Sent| {
        let request = sent.request();
        sent.header().verify_without_key(
            &request,
            Reason::KeyGone,
            "410 from a.test",
            fixture::terms(HOUR, NOW),
        )
    };
    let verdict = fetched(&good());
    assert_eq!(
        (verdict.result, verdict.reason),
        (Outcome::Invalid, Some(Reason::KeyGone))
    );
    assert_eq!(verdict.detail.as_deref(), Some("410 from a.test"));
    assert_eq!(verdict.key_id.as_deref(), Some(KEY_ID));
    assert_eq!(verdict.covered.len(), 4);
    assert_eq!(verdict.signature_base.as_deref(), Some(BASE));

    let verdict = fetched(&good().without("digest"));
    assert_eq!(verdict.reason, Some(Reason::HeaderMissing));
    assert_eq!(verdict.findings.last().unwrap().reason, Reason::KeyGone);
}

#[test]
fn the_caller_can_add_what_only_it_knows() {
    let verdict = good()
        .verdict()
        .failed(Reason::SignerMismatch, "signed by `a`, sent by `b`");
    assert_eq!(
        (verdict.result, verdict.reason),
        (Outcome::Invalid, Some(Reason::SignerMismatch))
    );
    let verdict = verdict.failed(Reason::KeyOwnerMismatch, "later");
    assert_eq!(verdict.reason, Some(Reason::SignerMismatch));
}

#[test]
fn a_verdict_serialises_under_the_names_of_the_interface() {
    let verdict = Sent::post("/users/bob/inbox?x=%7E")
        .signed(LIST, &BASE.replace("?x=%7E", ""))
        .verdict();
    let json = serde_json::to_value(&verdict).unwrap();
    let keys: Vec<&str> = json.as_object().unwrap().keys().map(String::as_str).collect();
    let known = [
        "result",
        "reason",
        "detail",
        "dialect",
        "algorithm",
        "key_id",
        "covered",
        "window",
        "notes",
        "signature_base",
    ];
    assert_eq!(keys, known);
    assert_eq!(json["window"], serde_json::json!({"past": "1h", "future": "1h"}));
    let undated = serde_json::to_value(Verdict::unsigned()).unwrap();
    assert_eq!(undated.get("window"), None);
    assert_eq!(
        (json["result"].as_str(), json["reason"].as_str()),
        (Some("invalid"), Some("query_omitted"))
    );
}

#[test]
fn what_a_stranger_sent_is_quoted_only_so_far() {
    let long = "é".repeat(40_000);
    let finding = Finding::new(Reason::Malformed, long);
    assert!(finding.detail.len() < MAX_QUOTE, "{}", finding.detail.len());
    assert!(finding.detail.ends_with("bytes more)"));
}

const MAX_QUOTE: usize = 2_100;
