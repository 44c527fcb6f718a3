//! draft-cavage-http-signatures-12, appendix C. The draft's vectors ask less than the fediverse does, so a verdict may
//! have findings; what counts is that none is a signature mismatch.

use crate::clock::Timestamp;
use crate::signature::fixture::{HOUR, Sent};
use crate::signature::key::VerifyingKey;
use crate::signature::{Outcome, Reason, Verdict};

const KEY: &str = include_str!("../../../../tests/fixtures/signature/draft-cavage-12.public.pem");
const DATE: &str = "Sun, 05 Jan 2014 21:31:40 GMT";
/// That date: `date -u -d '2014-01-05 21:31:40' +%s`.
const THEN: Timestamp = Timestamp::from_unix(1_388_957_500);

const C1: &str = r#"keyId="Test",algorithm="rsa-sha256",
    signature="SjWJWbWN7i0wzBvtPl8rbASWz5xQW6mcJmn+ibttBqtifLN7Sazz6m79cNfwwb8DMJ5cou1s7uEGKKCs+FLEEaDV5lp7q25WqS+lavg7T8hc0GppauB6hbgEKTwblDHYGEtbGmtdHgVCk9SuS13F0hZ8FD0k/5OxEPXe5WozsbM=""#;
const C2: &str = r#"keyId="Test",algorithm="rsa-sha256",headers="(request-target) host date",
    signature="qdx+H7PHHDZgy4y/Ahn9Tny9V3GP6YgBPyUXMmoxWtLbHpUnXS2mg2+SbrQDMCJypxBLSPQR2aAjn7ndmw2iicw3HMbe8VfEdKFYRqzic+efkb3nndiv/x1xSHDJWeSWkx3ButlYSuBskLu6kd9Fswtemr3lgdDEmn04swr2Os0=""#;
const C3_SIGNATURE: &str = "vSdrb+dS3EceC9bcwHSo4MlyKS59iFIrhgYkz8+oVLEEzmYZZvRs8rgOp+63LEM3v+MFHB32NfpB2bEKBIvB1q52LaEUHFv120V01IL+TAD48XaERZFukWgHoBTLMhYS2Gb51gWxpeIq8knRmPnYePbF5MOkR0Zkly4zKH7s1dE=";

fn request() -> Sent {
    let sent = Sent::post("/foo?param=value&pet=dog");
    let sent = sent.without("host").without("date").without("digest");
    Sent {
        body: br#"{"hello": "world"}"#.to_vec(),
        ..sent
    }
    .with("host", "example.com")
    .with("date", DATE)
    .with("content-type", "application/json")
    .with("digest", "SHA-256=X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=")
    .with("content-length", "18")
}

fn verdict(header: &str, value: &str) -> Verdict {
    let value = value.replace('\n', "");
    let key = VerifyingKey::from_pem(KEY).unwrap();
    request().with(header, &value).verdict_by(&key, HOUR, THEN)
}

#[test]
fn c1_the_default_test_verifies_over_the_date_alone() {
    for verdict in [
        verdict("signature", C1),
        verdict("authorization", &format!("Signature {C1}")),
    ] {
        assert_eq!(verdict.covered, ["date"]);
        assert_eq!(
            verdict.untolerated(&[Reason::HeaderNotSigned, Reason::DigestNotSigned]),
            None
        );
    }
}

#[test]
fn c2_the_basic_test_verifies() {
    let verdict = verdict("signature", C2);
    assert_eq!(verdict.reason, Some(Reason::DigestNotSigned));
    assert_eq!(verdict.untolerated(&[Reason::DigestNotSigned]), None);
}

#[test]
fn c3_the_all_headers_test_is_valid() {
    // The signature in the draft is over these headers.
    let list = "(request-target) host date content-type digest content-length";
    let value = format!(r#"keyId="Test",algorithm="rsa-sha256",headers="{list}",signature="{C3_SIGNATURE}""#);
    assert_eq!(verdict("signature", &value).result, Outcome::Valid);
}

#[test]
fn c3_as_printed_breaks_the_rules_of_its_own_section_2_3() {
    // Edition 12 added `(created) (expires)` to the header's list without signing anew, beside an algorithm that
    // forbids both.
    let list = "(request-target) (created) (expires) host date content-type digest content-length";
    let times = "created=1402170695, expires=1402170699";
    let value =
        format!(r#"keyId="Test",algorithm="rsa-sha256",{times},headers="{list}",signature="{C3_SIGNATURE}""#);
    let verdict = verdict("signature", &value);
    assert_eq!(verdict.reason, Some(Reason::ParameterForbidden));
    assert_eq!(verdict.findings.last().unwrap().reason, Reason::SignatureMismatch);
}
