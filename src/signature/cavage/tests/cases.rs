//! Failures reported from the field, each reduced to a small request and the right verdict.

use crate::signature::fixture::*;
use crate::signature::{Outcome, Reason, Verdict};

const LIST: &str = r#"headers="(request-target) host date digest""#;
const TARGET: &str = "/users/bob/inbox?x=%7E";

/// The verdict on the delivery under this `Signature` header, whose signature is [`BASE_BY_RSA`].
fn verdict(parameters: &str) -> Verdict {
    let text = parameters.replace("SIGNATURE", BASE_BY_RSA);
    Sent::post(TARGET).with("signature", &text).verdict()
}

fn reasons(verdict: &Verdict) -> Vec<Reason> {
    verdict.findings.iter().map(|finding| finding.reason).collect()
}

#[test]
fn parameters_written_loosely_verify() {
    let many_spaces = "  (request-target)   host date\tdigest ";
    for parameters in [
        format!(r#"keyId="a" , algorithm="rsa-sha256",  {LIST}  ,signature="SIGNATURE""#),
        format!(r#"keyId="a",headers="{many_spaces}",signature="SIGNATURE""#),
        format!(r#"keyId="https://a.test/u?x=1,2#k",{LIST},signature="SIGNATURE""#),
        format!(r#"keyId="a\"b",{LIST},signature="SIGNATURE""#),
        r#"keyId="a",headers="(request-target) Host Date Digest",signature="SIGNATURE""#.to_owned(),
        format!(r#"signature="SIGNATURE",{LIST},KEYID=a"#),
    ] {
        let verdict = verdict(&parameters);
        assert_eq!(
            (verdict.result, verdict.detail),
            (Outcome::Valid, None),
            "{parameters}"
        );
        assert_eq!(verdict.covered, ["(request-target)", "host", "date", "digest"]);
    }
    let ids = [
        (r#"keyId="https://a.test/u?x=1,2#k""#, "https://a.test/u?x=1,2#k"),
        (r#"keyId="a\"b""#, "a\"b"),
    ];
    for (parameter, key_id) in ids {
        let verdict = verdict(&format!(r#"{parameter},{LIST},signature="SIGNATURE""#));
        assert_eq!(verdict.key_id.as_deref(), Some(key_id));
    }
}

#[test]
fn an_unbalanced_quote_is_malformed() {
    for parameters in [
        r#"keyId="a"#,
        r#"keyId="a,signature="SIGNATURE""#,
        r#"keyId="a\"#,
        "keyId=\"",
        "\"",
    ] {
        let verdict = verdict(parameters);
        assert_eq!(
            (verdict.result, verdict.reason),
            (Outcome::Invalid, Some(Reason::Malformed)),
            "{parameters}"
        );
    }
}

#[test]
fn an_rsa_signature_verifies_under_hs2019_and_without_a_label() {
    for label in ["", r#"algorithm="hs2019","#, r#"algorithm="rsa-sha256","#] {
        let verdict = verdict(&format!(r#"keyId="a",{label}{LIST},signature="SIGNATURE""#));
        assert_eq!(
            (verdict.result, verdict.detail),
            (Outcome::Valid, None),
            "{label}"
        );
    }
    let verdict = verdict(&format!(
        r#"keyId="a",algorithm="ecdsa-sha256",{LIST},signature="SIGNATURE""#
    ));
    assert_eq!(reasons(&verdict), [Reason::UnsupportedAlgorithm]);
}

#[test]
fn without_a_list_created_is_covered_or_date_under_the_older_labels() {
    let sent = || Sent::get("/users/bob");
    for (label, base, covered) in [
        ("", "(created): 1700000000", "(created)"),
        (r#"algorithm="hs2019","#, "(created): 1700000000", "(created)"),
        (
            r#"algorithm="rsa-sha256","#,
            "date: Tue, 14 Nov 2023 22:13:20 GMT",
            "date",
        ),
        (
            r#"algorithm="rsa-sha512","#,
            "date: Tue, 14 Nov 2023 22:13:20 GMT",
            "date",
        ),
    ] {
        let verdict = sent()
            .signed(&format!("{label}created=1700000000"), base)
            .verdict();
        assert_eq!(verdict.covered, [covered], "{label}");
        // So little says nothing of the request; the signature itself holds, but for the one by SHA-256.
        let mut expected = vec![Reason::HeaderNotSigned];
        if label.contains("sha512") {
            expected.push(Reason::SignatureMismatch);
        }
        assert_eq!(reasons(&verdict), expected, "{label}");
    }
    // Under a newer name that the draft does not have, too.
    let verdict = sent()
        .with("signature", r#"keyId="a",algorithm="ed25519",signature="""#)
        .verdict();
    assert_eq!(verdict.covered, ["(created)"]);
}

#[test]
fn each_breach_of_the_rules_of_created_and_expires_has_its_own_reason() {
    let list = r#"headers="(request-target) host (created) digest""#;
    let base = |created: &str| {
        format!("(request-target): post /inbox\nhost: b.test:8443\n(created): {created}\ndigest: {DIGEST}")
    };
    let judge = |parameters: &str, created: &str| {
        let sent = Sent::post("/inbox").without("date");
        reasons(
            &sent
                .signed(&format!("{parameters},{list}"), &base(created))
                .verdict(),
        )
    };
    let now = "1700000000";
    assert_eq!(judge(r#"algorithm="hs2019",created=1700000000"#, now), []);
    for label in ["rsa-sha256", "rsa-sha512", "hmac-sha256", "ecdsa-sha256"] {
        let reasons = judge(&format!(r#"algorithm="{label}",created=1700000000"#), now);
        assert_eq!(reasons[0], Reason::ParameterForbidden, "{label}");
    }
    assert_eq!(judge(r#"algorithm="hs2019""#, now)[0], Reason::ParameterMissing);
    assert_eq!(
        judge(r#"algorithm="hs2019",created=1700000000,expires=1699990000"#, now),
        [Reason::Expired]
    );
    assert_eq!(
        judge(r#"algorithm="hs2019",created=1700007200"#, "1700007200"),
        [Reason::CreatedInFuture]
    );
}

#[test]
fn expires_is_held_to_the_same_rules_as_created() {
    let list = r#"headers="(request-target) host date digest (expires)""#;
    let judge = |parameters: &str, expires: &str| {
        let base = format!("{BASE}\n(expires): {expires}");
        let verdict = Sent::post(TARGET)
            .signed(&format!("{parameters}{list}"), &base)
            .verdict();
        reasons(&verdict)
    };
    assert_eq!(judge("expires=1700000300,", "1700000300"), []);
    // Quoted, as some write it, it is the same.
    assert_eq!(judge(r#"expires="1700000300","#, "1700000300"), []);
    assert_eq!(
        judge(r#"algorithm="rsa-sha256",expires=1700000300,"#, "1700000300"),
        [Reason::ParameterForbidden]
    );
    assert_eq!(judge("", "1700000300")[0], Reason::ParameterMissing);
    // Decimals are let pass only where nothing is signed over them.
    assert_eq!(
        judge("expires=1700000300.5,", "1700000300.5"),
        [Reason::Malformed]
    );
    let uncovered = Sent::post(TARGET).signed(&format!("expires=1700000300.5,{LIST}"), BASE);
    assert_eq!(uncovered.verdict().result, Outcome::Valid);
}

#[test]
fn the_sha_256_member_of_a_digest_is_found_wherever_it_stands() {
    let sha512 =
        "SHA-512=2Zff58xsFuebfSQtprwv7ZmmVBQR8ep5Pjta8geJjAeRVjpp/hbJaMWfWo9jglZ5krZKPk4c3ig1De/c5z0+4w==";
    let base = |line: &str| BASE.replace(DIGEST, line);
    let one_line = format!("{sha512}, {DIGEST}");
    let sent = Sent::post(TARGET).without("digest").with("digest", &one_line);
    assert_eq!(
        sent.signed(LIST, &base(&one_line)).verdict().result,
        Outcome::Valid
    );

    let two_lines = Sent::post(TARGET)
        .without("digest")
        .with("digest", sha512)
        .with("digest", DIGEST);
    assert_eq!(
        two_lines.signed(LIST, &base(&one_line)).verdict().result,
        Outcome::Valid
    );

    let md5 = "MD5=HI75tuBTJ9sQtfCO6ZuyiA==";
    let sent = Sent::post(TARGET).without("digest").with("digest", md5);
    let verdict = sent.signed(LIST, &base(md5)).verdict();
    assert_eq!(reasons(&verdict), [Reason::UnsupportedDigest]);
    assert!(verdict.detail.unwrap().contains("offers `MD5`"));
}

#[test]
fn the_name_of_a_digest_is_signed_in_the_case_it_came_in() {
    for name in ["sha-256", "Sha-256"] {
        let line = DIGEST.replace("SHA-256", name);
        let sent = Sent::post(TARGET).without("digest").with("digest", &line);
        let verdict = sent.signed(LIST, &BASE.replace(DIGEST, &line)).verdict();
        assert_eq!((verdict.result, verdict.detail), (Outcome::Valid, None), "{name}");
    }
}
