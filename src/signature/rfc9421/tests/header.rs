//! What parses, and what is said where it does not.

use crate::signature::fixture::*;
use crate::signature::rfc9421::tests::{CONTENT_DIGEST, INPUT, LINES, delivery};
use crate::signature::{self, Dialect, Outcome, Parsed, Reason, SIGNATURES_MAX, SignatureHeader, Verdict};

fn parsed(input: &str, signature: &str) -> Parsed {
    let sent = delivery()
        .with("signature-input", input)
        .with("signature", signature);
    signature::parse(&sent.request())
}

/// The verdict on fields that do not parse.
fn refused(input: &str, signature: &str) -> Verdict {
    match parsed(input, signature) {
        Parsed::Invalid(verdict) => {
            assert_eq!(
                (verdict.result, verdict.dialect),
                (Outcome::Invalid, Some(Dialect::Rfc9421))
            );
            verdict
        }
        other => panic!("{input} and {signature} gave {other:?}"),
    }
}

fn detail(input: &str, signature: &str) -> String {
    let verdict = refused(input, signature);
    assert_eq!(verdict.reason, Some(Reason::Malformed));
    verdict.detail.unwrap()
}

#[test]
fn a_signature_is_read_with_its_label() {
    let Parsed::Signed(found) = parsed(
        "s-1.x*=(\"@method\" \"x\";sf);created=1;keyid=\"k\";alg=\"ed25519\"",
        "s-1.x*=:AQID:",
    ) else {
        panic!("not signed");
    };
    let [SignatureHeader::Rfc9421(header)] = found.as_slice() else {
        panic!("{found:?}");
    };
    assert_eq!((header.label(), header.key_id()), ("s-1.x*", "k"));
    assert_eq!(
        header
            .components()
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>(),
        ["@method", "x;sf"]
    );
    assert_eq!(
        (header.created(), header.signature.as_slice()),
        (Some(1), [1, 2, 3].as_slice())
    );
}

#[test]
fn signature_input_makes_it_rfc_9421_whatever_the_rest_looks_like() {
    // A draft-cavage signature that would be valid, were it read as one.
    let cavage = Sent::post("/users/bob/inbox?x=%7E").signed(
        r#"algorithm="rsa-sha256",headers="(request-target) host date digest""#,
        BASE,
    );
    assert_eq!(cavage.verdict().result, Outcome::Valid);
    let verdict = cavage.with("signature-input", &format!("sig1={INPUT}")).verdict();
    assert_eq!(
        (verdict.result, verdict.dialect, verdict.reason),
        (Outcome::Invalid, Some(Dialect::Rfc9421), Some(Reason::Malformed))
    );
    // What is known is told.
    assert_eq!(verdict.key_id.as_deref(), Some(KEY_ID));
    assert_eq!(verdict.covered, ["@method", "@target-uri", "content-digest"]);
    assert_eq!(verdict.label.as_deref(), Some("sig1"));

    let alone = delivery().with("signature-input", &format!("sig1={INPUT}"));
    let verdict = alone.with("authorization", "Signature keyId=\"x\"").verdict();
    assert_eq!(
        verdict.detail.as_deref(),
        Some("there is `Signature-Input`, but no `Signature`")
    );
}

#[test]
fn labels_stand_in_both_fields() {
    let good = format!("sig1={INPUT}");
    assert_eq!(
        detail(&good, "sig2=:AA==:"),
        "`sig1` is in `Signature-Input`, but not in `Signature`"
    );
    assert_eq!(
        detail(&good, "sig1=:AA==:, sig2=:AA==:"),
        "`sig2` is in `Signature`, but not in `Signature-Input`"
    );
    assert!(detail(&format!("{good}, {good}"), "sig1=:AA==:").contains("a label twice"));
    assert!(detail(&good, "sig1=:AA==:, sig1=:AQ==:").contains("`Signature` has a label twice"));
    assert!(detail("", "sig1=:AA==:").contains("empty"));
}

#[test]
fn no_more_signatures_are_read_than_fit() {
    let many = |count: usize| {
        let labels: Vec<String> = (0..count).map(|index| format!("s{index}")).collect();
        let inputs: Vec<String> = labels.iter().map(|label| format!("{label}={INPUT}")).collect();
        let signatures: Vec<String> = labels.iter().map(|label| format!("{label}=:AA==:")).collect();
        (inputs.join(","), signatures.join(","))
    };
    let (inputs, signatures) = many(SIGNATURES_MAX);
    assert!(matches!(parsed(&inputs, &signatures), Parsed::Signed(found) if found.len() == SIGNATURES_MAX));
    let (inputs, signatures) = many(SIGNATURES_MAX + 1);
    assert_eq!(
        detail(&inputs, &signatures),
        "`Signature-Input` has 5 signatures; at most 4 are read"
    );
}

#[test]
fn parameters_are_of_their_type() {
    let with = |parameters: &str| format!("sig1=(\"@method\");keyid=\"k\"{parameters}");
    for (parameters, expected) in [
        (";created=\"1\"", "`created` is `\"1\"`; it should be a Unix time"),
        (";created=1.5", "`created` is `1.5`"),
        (";expires", "`expires` is `?1`"),
        (
            ";alg=ed25519",
            "`alg` is `ed25519`; it should be a string in quotes",
        ),
        (";nonce=1", "`nonce` is `1`"),
        (";tag=:AA==:", "`tag` is `:AA==:`"),
    ] {
        let detail = detail(&with(parameters), "sig1=:AA==:");
        assert!(detail.contains(expected), "{detail}");
    }
    assert!(detail("sig1=(\"a\");keyid=k", "sig1=:AA==:").contains("`keyid` is `k`"));
    for input in ["sig1=(\"a\");created=1", "sig1=(\"a\");keyid=\"\""] {
        let verdict = refused(input, "sig1=:AA==:");
        assert_eq!(verdict.reason, Some(Reason::ParameterMissing));
        assert!(verdict.detail.unwrap().contains("no `keyid`"));
        assert_eq!(verdict.covered, ["a"]);
    }
    let many: String = (0..40).map(|index| format!(";p{index}")).collect();
    assert!(detail(&with(&many), "sig1=:AA==:").contains("41 parameters"));
}

#[test]
fn components_are_known_and_each_is_covered_once() {
    let with = |list: &str| format!("sig1=({list});created=1;keyid=\"k\"");
    for (list, expected) in [
        ("\"@method\" \"@method\"", "`@method` is covered twice"),
        ("\"x\";req;key=\"a\" \"x\";key=\"a\";req", "is covered twice"),
        ("\"@bogus\"", "no derived component"),
        ("\"@signature-params\"", "no derived component"),
        ("\"Date\"", "lower case"),
        ("date", "it should be a string"),
        ("\"x\";y", "no parameter `y`"),
    ] {
        let detail = detail(&with(list), "sig1=:AA==:");
        assert!(
            detail.starts_with("`sig1`: ") && detail.contains(expected),
            "{detail}"
        );
    }
    let verdict = refused(&with("\"date\" \"@bogus\""), "sig1=:AA==:");
    assert_eq!(verdict.key_id.as_deref(), Some("k"));
    assert_eq!(verdict.covered, ["date", "\"@bogus\""]);
    let many: Vec<String> = (0..65).map(|index| format!("\"x{index}\"")).collect();
    assert!(detail(&with(&many.join(" ")), "sig1=:AA==:").contains("65 components"));
    assert!(detail("sig1=\"@method\";keyid=\"k\"", "sig1=:AA==:").contains("list of components in brackets"));
    assert!(detail("sig1", "sig1=:AA==:").contains("list of components in brackets"));
}

#[test]
fn what_is_no_structured_field_is_malformed() {
    let good = format!("sig1={INPUT}");
    for (input, signature, expected) in [
        (
            "sig1=(\"@method\"",
            "sig1=:AA==:",
            "`Signature-Input` is no dictionary",
        ),
        (
            "Sig1=(\"@method\")",
            "Sig1=:AA==:",
            "`Signature-Input` is no dictionary",
        ),
        (good.as_str(), "sig1=AA==", "`Signature` is no dictionary"),
        (good.as_str(), "sig1=:AA==", "`Signature` is no dictionary"),
        (good.as_str(), "sig1=\"AA==\"", "base64 between colons"),
        (good.as_str(), "sig1", "base64 between colons"),
        (good.as_str(), "sig1=(:AA==:)", "base64 between colons"),
    ] {
        let detail = detail(input, signature);
        assert!(detail.contains(expected), "{detail}");
    }
    let verdict = refused(&good, "sig1=:A*A=:");
    // The second keeps it from whoever lets bad base64 pass: nothing was verified.
    let reasons: Vec<Reason> = verdict.findings.iter().map(|finding| finding.reason).collect();
    assert_eq!(reasons, [Reason::BadBase64, Reason::Malformed]);
    assert!(verdict.detail.unwrap().contains("`A*A=`"));
    assert_eq!(verdict.key_id.as_deref(), Some(KEY_ID));
}

#[test]
fn the_last_line_repeats_the_parameters_as_received() {
    for parameters in [
        r#"keyid="k";created=1700000000;alg="rsa-v1_5-sha256";x-unknown=1"#,
        r#"created=1700000000;alg="rsa-v1_5-sha256";x-unknown=1;keyid="k""#,
        r#"x-unknown=1;alg="rsa-v1_5-sha256";keyid="k";created=1700000000"#,
        r#"created=1700000000;keyid="k";x-flag;x-token=a/b;x-time=@1;x-bytes=:AA==:;x-tiny=0.5"#,
    ] {
        let input = format!(r#"("@method" "@target-uri" "content-digest");{parameters}"#);
        let verdict = delivery().signed_9421(&input, LINES).verdict();
        assert_eq!(
            (verdict.result, verdict.detail),
            (Outcome::Valid, None),
            "{input}"
        );
        assert!(verdict.notes.is_empty());
    }
    // One that was not signed.
    let added = format!("{INPUT};x-unknown=1");
    let base = format!("{LINES}\n\"@signature-params\": {INPUT}");
    let verdict = delivery().with_signature(&added, &base).verdict();
    assert_eq!(verdict.reason, Some(Reason::SignatureMismatch));
}

#[test]
fn a_field_in_need_of_tidying_verifies_over_its_strict_form_and_over_its_bytes() {
    let strict = r#"("@method" "@target-uri" "content-digest");created=1700000000;keyid="k";x"#;
    for sent in [
        r#"( "@method"  "@target-uri" "content-digest" );created=1700000000;keyid="k";x"#,
        r#"("@method" "@target-uri" "content-digest"); created=1700000000; keyid="k"; x"#,
        r#"("@method" "@target-uri" "content-digest");created=1700000000;keyid="k";x=?1"#,
        r#"("@method" "@target-uri" "content-digest");created=5;created=1700000000;keyid="k";x"#,
    ] {
        for (line, note) in [(strict, "input_reserialized"), (sent, "input_as_sent")] {
            let base = format!("{LINES}\n\"@signature-params\": {line}");
            let verdict = delivery().with_signature(sent, &base).verdict();
            assert_eq!((verdict.result, verdict.detail), (Outcome::Valid, None), "{sent}");
            assert_eq!(verdict.notes, [note]);
        }
    }
}

#[test]
fn a_signature_may_be_spread_over_lines() {
    let signed = delivery().signed_9421(INPUT, LINES);
    let signature = signed.headers["signature"].to_str().unwrap().to_owned();
    let sent = delivery()
        .with("signature-input", &format!("\t sig1={INPUT}  "))
        .with("signature-input", "sig2=(\"content-digest\");keyid=\"x\"")
        .with("signature", "sig2=:AA==:")
        .with("signature", &signature);
    let verdict = sent.verdict();
    assert_eq!((verdict.result, verdict.detail), (Outcome::Valid, None));
    assert_eq!(verdict.notes, ["several_signatures"]);
    assert!(sent.headers["content-digest"] == CONTENT_DIGEST);
}
