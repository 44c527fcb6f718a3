//! The words for what senders are known to sign instead.

use crate::signature::fixture::*;
use crate::signature::key::{Algorithm, SigningKey};
use crate::signature::{Reason, Verdict, base64};

const LIST: &str = r#"headers="(request-target) host date digest""#;
const TARGET: &str = "/users/bob/inbox?x=%7E";

/// The detail of a verdict on nothing but a mismatch.
fn detail(verdict: Verdict) -> String {
    let reasons: Vec<Reason> = verdict.findings.iter().map(|finding| finding.reason).collect();
    assert_eq!(reasons, [Reason::SignatureMismatch]);
    verdict.detail.unwrap()
}

/// What is said of a POST to `target` that was signed over `base`.
fn said(target: &str, base: &str) -> String {
    detail(Sent::post(target).signed(LIST, base).verdict())
}

#[test]
fn a_target_written_otherwise_is_named() {
    let target = "/caf%C3%A9";
    let right = BASE.replace(TARGET, target);
    assert!(said(target, &right.replace("post /", "POST /")).contains("`(request-target): POST /caf%C3%A9`"));
    let whole = right.replace("post /", "post https://b.test:8443/");
    assert!(said(target, &whole).contains("`(request-target): post https://b.test:8443/caf%C3%A9`"));
    assert!(said(target, &right.replace("%C3%A9", "é")).contains("`(request-target): post /café`"));
    assert!(said(target, &right.replace("post /", "get /")).contains("`(request-target): get /caf%C3%A9`"));
    // The signature of what was redirected.
    assert!(said(target, &right.replace("%A9", "%A9/")).contains("`(request-target): post /caf%C3%A9/`"));
    let slashed = BASE.replace(TARGET, "/inbox/?a=b");
    assert!(said("/inbox?a=b", &slashed).contains("`(request-target): post /inbox/?a=b`"));
    assert!(said("/inbox/?a=b", &slashed.replace("/?", "?")).contains("`(request-target): post /inbox?a=b`"));
}

#[test]
fn a_base_of_another_shape_is_named() {
    assert!(said(TARGET, &format!("{BASE}\n")).contains("an LF at the end"));
    assert!(said(TARGET, &BASE.replace('\n', "\r\n")).contains("CRLF between the lines"));
    assert!(said(TARGET, &BASE.replace(": ", ":")).contains("without the space"));
    let capitals = BASE
        .replace("host", "Host")
        .replace("date", "Date")
        .replace("digest", "Digest");
    assert!(said(TARGET, &capitals).contains("in capitals"));
    let mut sorted: Vec<&str> = BASE.lines().collect();
    sorted.sort_unstable();
    assert!(said(TARGET, &sorted.join("\n")).contains("sorted by name"));

    let listed = r#"headers="(request-target) HOST date digest""#;
    let sent = Sent::post(TARGET).signed(listed, &BASE.replace("host", "HOST"));
    assert!(detail(sent.verdict()).contains("as `headers` spells them"));
}

#[test]
fn a_base_that_was_hashed_before_is_named() {
    // openssl dgst -sha256 -binary BASE | openssl dgst -sha256 -sign rsa2048.pem | base64 -w0
    let text = format!(r#"keyId="{KEY_ID}",{LIST},signature="{TWICE_HASHED}""#);
    let sent = Sent::post(TARGET).with("signature", &text);
    assert!(detail(sent.verdict()).contains("over the SHA-256 of the base"));
}

#[test]
fn another_algorithm_of_the_key_is_named() {
    let by = |label: &str, signature: &str| {
        let text = format!(r#"keyId="{KEY_ID}",{label}{LIST},signature="{signature}""#);
        detail(Sent::post(TARGET).with("signature", &text).verdict())
    };
    assert!(by(r#"algorithm="hs2019","#, BASE_BY_RSA_SHA512).contains("it does as `rsa-v1_5-sha512`"));
    assert!(by(r#"algorithm="hs2019","#, BASE_BY_RSA_PSS).contains("it does as `rsa-pss-sha512`"));
    assert!(by(r#"algorithm="rsa-sha512","#, BASE_BY_RSA).contains("it does as `rsa-v1_5-sha256`"));
    assert!(by("", BASE_BY_RSA_PSS).contains("where `rsa-v1_5-sha256` was expected"));
}

#[test]
fn what_a_proxy_rewrote_is_named() {
    assert!(said(TARGET, &BASE.replace(":8443", "")).contains("`host: b.test`"));
    let sent = Sent::post(TARGET)
        .without("host")
        .with("host", "backend:3000")
        .with("x-forwarded-host", "b.test:8443")
        .signed(LIST, BASE);
    assert!(detail(sent.verdict()).contains("`host: b.test:8443`"));

    let list = r#"headers="(request-target) host date digest content-length content-type""#;
    let base = |length: &str, media_type: &str| {
        format!("{BASE}\ncontent-length: {length}\ncontent-type: {media_type}")
    };
    let sent = || {
        Sent::post(TARGET)
            .with("content-length", "99")
            .with("content-type", "application/activity+json; charset=utf-8")
    };
    // The body has 17 bytes.
    let charset = "application/activity+json; charset=utf-8";
    let length = sent().signed(list, &base("17", charset)).verdict();
    assert!(detail(length).contains("`content-length: 17`"));
    let media_type = sent()
        .signed(list, &base("99", "application/activity+json"))
        .verdict();
    assert!(detail(media_type).contains("`content-type: application/activity+json`"));
}

#[test]
fn a_digest_spelt_otherwise_is_named() {
    let lower = DIGEST.replace("SHA", "sha");
    let sent = Sent::post(TARGET).without("digest").with("digest", &lower);
    assert!(detail(sent.signed(LIST, BASE).verdict()).contains(&format!("`digest: {DIGEST}`")));
}

#[test]
fn other_keys_have_their_slips_named_too() {
    for key in [ed25519(), p256(), secret()] {
        let algorithm = key.kind().algorithm();
        let base = format!("{BASE}\n");
        let signature = base64::encode(key.sign(algorithm, base.as_bytes()).unwrap());
        let text = format!(r#"keyId="{KEY_ID}",{LIST},signature="{signature}""#);
        let verdict = Sent::post(TARGET)
            .with("signature", &text)
            .verdict_by(key.public_key(), HOUR, NOW);
        assert!(detail(verdict).contains("an LF at the end"), "{algorithm}");
    }
}

#[test]
fn what_no_slip_explains_tells_another_base_from_another_key() {
    let unknown = said(TARGET, &BASE.replace("date: Tue", "date: Wed"));
    // The digests are OpenSSL's.
    let bases = "this key made it, over another base: the SHA-256 signed is \
        45ca147941897725d212a5a72518deca1c7798b76027a0214a57dc0a0877666d, the one of the farm's base \
        16d65c60b102bf40829cda5987b32cc40884d78795141bd20e05ce85a8ccd43c";
    assert!(unknown.ends_with(bases), "{unknown}");
    let other = SigningKey::generate_rsa(2048).unwrap();
    let foreign = detail(
        Sent::post(TARGET)
            .signed(LIST, BASE)
            .verdict_by(other.public_key(), HOUR, NOW),
    );
    assert!(
        foreign.ends_with("; another key made it, or no RSA PKCS#1 v1.5"),
        "{foreign}"
    );
    // Longer bases are not searched.
    let target = format!("/{}", "a".repeat(70_000));
    let long = said(&target, &format!("{}\n", BASE.replace(TARGET, &target)));
    assert!(long.contains("; this key made it, over another base"), "{long}");
}

#[test]
fn a_slip_never_makes_a_signature_valid() {
    let verdict = Sent::post(TARGET).signed(LIST, &format!("{BASE}\n")).verdict();
    assert_eq!(verdict.algorithm, Some(Algorithm::RsaV15Sha256));
    assert_eq!(
        verdict.untolerated(&[]).unwrap().reason,
        Reason::SignatureMismatch
    );
    assert_eq!(verdict.signature_base.as_deref(), Some(BASE));
}

const TWICE_HASHED: &str = "v9ZIokdLLwFHmZmHulTTfXeN6uGuxI3vQu1WGWjH5ehAvOHnOhf4WAi+/b0ZIFsexOXFDqLV862r+CbouUt6lA1hhNDsIgVnyhmxdh9dhl4A\
    vtKV+YGeOvcmw2qgzArtoDIICp4GGkWSWA3FB/hqdkV50POTn04OHpEMj1on+51vB6jX4EDW7NoaitBuhruhB5xd74hCqBesHGiO4vyq9Lko\
    52OiaeK3G9AEOA7JWDaJjkTqlfvUYcAUG7AgMrATDYppIgvTwmL6XRbc9TVLWNBOZo7wf5B3yr9NHajzZuJZxTnVrRmU0357OiKmSerGdGCq\
    azR1ymiMgnVBisNYnA==";
