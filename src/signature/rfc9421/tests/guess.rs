//! The slips of senders, each named in the verdict, none let pass.

use crate::signature::fixture::*;
use crate::signature::key::Algorithm;
use crate::signature::rfc9421::tests::{INPUT, LINES, delivery};
use crate::signature::{Reason, Verdict, base64};

fn explained(verdict: &Verdict, by: &str) {
    assert_eq!(verdict.reason, Some(Reason::SignatureMismatch), "{by}");
    assert_eq!(verdict.findings.len(), 1, "{by}");
    let detail = verdict.detail.as_deref().unwrap();
    assert!(detail.contains(by), "{by} is not in {detail}");
}

#[test]
fn a_base_with_other_values_is_recognised() {
    for (right, signed) in [
        (
            "https://b.test:8443/users/bob/inbox?x=%7E",
            "https://b.test:8443/users/bob/inbox",
        ),
        (
            "https://b.test:8443/users/bob/inbox?x=%7E",
            "http://b.test:8443/users/bob/inbox?x=%7E",
        ),
        (
            "https://b.test:8443/users/bob/inbox?x=%7E",
            "https://b.test/users/bob/inbox?x=%7E",
        ),
        ("POST", "post"),
    ] {
        let lines = LINES.replace(right, signed);
        let verdict = delivery().signed_9421(INPUT, &lines).verdict();
        explained(&verdict, &format!(": {signed}` in its place"));
        // What the farm built is there to lay beside it.
        assert!(verdict.signature_base.unwrap().contains(right));
    }
}

#[test]
fn parts_of_the_target_are_recognised() {
    let input = r#"("@method" "@scheme" "@authority" "@path" "@query" "content-digest");created=1700000000;keyid="k""#;
    let right = [
        ("@method", "POST"),
        ("@scheme", "https"),
        ("@authority", "b.test:8443"),
        ("@path", "/users/bob/inbox"),
        ("@query", "?x=%7E"),
        (
            "content-digest",
            "sha-256=:JeE18werLvQnEoHViKDam+ZK1D8E27TBC2kIISI7pIY=:",
        ),
    ];
    for (name, signed) in [
        ("@scheme", "http"),
        ("@authority", "b.test"),
        ("@authority", "B.test:8443"),
        ("@path", "/users/bob/inbox?x=%7E"),
        ("@query", "x=%7E"),
        ("@query", "?"),
    ] {
        let lines = right.map(|(known, value)| {
            let value = if known == name { signed } else { value };
            format!("\"{known}\": {value}")
        });
        let sent = delivery().without("host").with("host", "B.test:8443");
        let verdict = sent.signed_9421(input, &lines.join("\n")).verdict();
        explained(&verdict, &format!("`\"{name}\": {signed}` in its place"));
    }
    let default = Sent {
        authority: Some("b.test".to_owned()),
        ..delivery()
    };
    let lines = LINES.replace(":8443", ":443");
    let verdict = default.signed_9421(INPUT, &lines).verdict();
    explained(&verdict, "https://b.test:443/users");
}

#[test]
fn a_last_line_in_another_order_is_recognised() {
    let input = r#"("@method" "@target-uri" "content-digest");keyid="k";alg="rsa-v1_5-sha256";created=1700000000;x=1"#;
    for signed in [
        r#"("@method" "@target-uri" "content-digest");created=1700000000;keyid="k";alg="rsa-v1_5-sha256";x=1"#,
        r#"("@method" "@target-uri" "content-digest");created=1700000000;alg="rsa-v1_5-sha256";keyid="k""#,
        r#"("@method" "@target-uri" "content-digest");keyid="k";created=1700000000;x=1"#,
        r#"sig1=("@method" "@target-uri" "content-digest");keyid="k";alg="rsa-v1_5-sha256";created=1700000000;x=1"#,
    ] {
        let base = format!("{LINES}\n\"@signature-params\": {signed}");
        let verdict = delivery().with_signature(input, &base).verdict();
        explained(&verdict, &format!("{signed}` as its last line"));
    }
}

#[test]
fn a_base_of_another_form_is_recognised() {
    let base = format!("{LINES}\n\"@signature-params\": {INPUT}");
    let verdict = delivery().with_signature(INPUT, &format!("{base}\n")).verdict();
    explained(&verdict, "an LF at the end");

    let unquoted = format!(
        "{}\n@signature-params: {INPUT}",
        LINES
            .replace("\"@", "@")
            .replace("\":", ":")
            .replace("\"content", "content")
    );
    let verdict = delivery().with_signature(INPUT, &unquoted).verdict();
    explained(&verdict, "no quotes around the names");

    let signature = rsa().sign(Algorithm::RsaPssSha512, base.as_bytes()).unwrap();
    let verdict = delivery()
        .with("signature-input", &format!("sig1={INPUT}"))
        .with("signature", &format!("sig1=:{}:", base64::encode(signature)))
        .verdict();
    explained(&verdict, "it does under `rsa-pss-sha512`");

    let signature = p256()
        .sign_asn1(Algorithm::EcdsaP256Sha256, base.as_bytes())
        .unwrap();
    let verdict = delivery()
        .with("signature-input", &format!("sig1={INPUT}"))
        .with("signature", &format!("sig1=:{}:", base64::encode(signature)))
        .verdict_by(p256().public_key(), HOUR, NOW);
    explained(&verdict, "it does as DER");
}

#[test]
fn what_nothing_explains_stays_unexplained() {
    let verdict = delivery()
        .signed_9421(INPUT, &LINES.replace("bob", "eve"))
        .verdict();
    explained(&verdict, "over the base the farm built");
    assert!(!verdict.detail.unwrap().contains("it does"));
}
