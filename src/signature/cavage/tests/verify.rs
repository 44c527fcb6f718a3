//! Verdicts on signatures whose base is spelt out in the test, so that no line of ours builds it.

use std::time::Duration;

use crate::clock::Timestamp;
use crate::signature::fixture::*;
use crate::signature::{Outcome, Reason, Verdict, Window};

const ALL: &str = r#"headers="(request-target) host date digest""#;

fn valid(sent: &Sent) {
    let verdict = sent.verdict();
    assert_eq!((verdict.result, verdict.detail), (Outcome::Valid, None));
}

fn reasons(verdict: &Verdict) -> Vec<Reason> {
    verdict.findings.iter().map(|finding| finding.reason).collect()
}

/// The base of a POST to `target`.
fn base(target: &str) -> String {
    BASE.replace("/users/bob/inbox?x=%7E", target)
}

#[test]
fn the_target_is_taken_as_it_came() {
    for target in [
        "/users/u1/followers_sync?authority=https%3A%2F%2Fr.test%2F&x=b%2Fc",
        "/inbox?",
        "/users/%40u1/inbox",
        "//users//u1/inbox",
        "/a/../b",
        "/caf%c3%a9",
        "/a|b{c}",
    ] {
        valid(&Sent::post(target).signed(ALL, &base(target)));
    }
    let verdict = Sent::post("/caf%c3%a9")
        .signed(ALL, &base("/caf%C3%A9"))
        .verdict();
    assert_eq!(verdict.reason, Some(Reason::SignatureMismatch));
}

#[test]
fn a_query_left_out_is_told_apart_from_a_bad_signature() {
    let verdict = Sent::post("/inbox?x=1").signed(ALL, &base("/inbox")).verdict();
    assert_eq!(reasons(&verdict), [Reason::QueryOmitted]);
    assert_eq!(verdict.notes, ["query_omitted"]);
    assert_eq!(
        verdict.detail.as_deref(),
        Some("signed is `post /inbox`; asked for was `post /inbox?x=1`")
    );
    assert_eq!(verdict.signature_base, Some(base("/inbox?x=1")));

    let verdict = Sent::post("/inbox?").signed(ALL, &base("/inbox")).verdict();
    assert_eq!(reasons(&verdict), [Reason::QueryOmitted]);
    let verdict = Sent::post("/inbox?x=1").signed(ALL, &base("/other")).verdict();
    assert_eq!(reasons(&verdict), [Reason::SignatureMismatch]);
    assert!(verdict.notes.is_empty());
}

#[test]
fn the_algorithm_comes_from_the_key() {
    for label in ["", r#"algorithm="hs2019","#, r#"algorithm="rsa-sha256","#] {
        valid(&Sent::post("/inbox").signed(&format!("{label}{ALL}"), &base("/inbox")));
    }
    for label in [
        "ecdsa-sha256",
        "ed25519",
        "hmac-sha256",
        "rsa-sha1",
        "RSA-SHA256",
        "",
    ] {
        let parameters = format!(r#"algorithm="{label}",{ALL}"#);
        let verdict = Sent::post("/inbox")
            .signed(&parameters, &base("/inbox"))
            .verdict();
        assert_eq!(reasons(&verdict), [Reason::UnsupportedAlgorithm], "{label}");
    }
}

#[test]
fn ed25519_verifies_under_hs2019_and_not_under_an_rsa_name() {
    let judge = |label: &str| {
        let text = format!(r#"keyId="k",{label}{ALL},signature="{BASE_BY_ED25519}""#);
        let sent = Sent::post("/users/bob/inbox?x=%7E").with("signature", &text);
        reasons(&sent.verdict_by(ed25519().public_key(), HOUR, NOW))
    };
    assert_eq!(judge(r#"algorithm="hs2019","#), []);
    assert_eq!(judge(""), []);
    assert_eq!(
        judge(r#"algorithm="rsa-sha256","#),
        [Reason::UnsupportedAlgorithm]
    );
}

#[test]
fn created_stands_for_the_date_under_hs2019() {
    let target_and_created = "(request-target): post /inbox\nhost: b.test:8443\n(created): 1700000000\n";
    let signed = format!("{target_and_created}digest: {DIGEST}");
    let list = r#"headers="(request-target) host (created) digest""#;
    for label in ["", r#"algorithm="hs2019","#] {
        valid(
            &Sent::post("/inbox")
                .without("date")
                .signed(&format!("{label}created=1700000000,{list}"), &signed),
        );
    }
    let judge = |parameters: &str, base: &str| {
        let sent = Sent::post("/inbox").without("date");
        reasons(&sent.signed(&format!("{parameters},{list}"), base).verdict())
    };
    assert_eq!(
        judge(r#"algorithm="rsa-sha256",created=1700000000"#, &signed),
        [Reason::ParameterForbidden]
    );
    let without = signed.replace("(created): 1700000000\n", "");
    assert_eq!(
        judge(r#"algorithm="hs2019""#, &without),
        [Reason::ParameterMissing]
    );
    assert_eq!(
        judge("expires=1699990000,created=1700000000", &signed),
        [Reason::Expired]
    );
    let ahead = signed.replace("1700000000", "1700007200");
    assert_eq!(judge("created=1700007200", &ahead), [Reason::CreatedInFuture]);
    let old = signed.replace("1700000000", "1699990000");
    assert_eq!(judge("created=1699990000", &old), [Reason::DateTooOld]);
}

#[test]
fn times_that_are_not_covered_count_where_they_end_a_signature() {
    let judge = |times: &str| {
        let sent = Sent::post("/inbox").signed(&format!("{times},{ALL}"), &base("/inbox"));
        sent.verdict().reason
    };
    assert_eq!(judge("created=1500000000"), None);
    assert_eq!(judge("created=1700007200"), Some(Reason::CreatedInFuture));
    assert_eq!(judge("expires=1699990000"), Some(Reason::Expired));
}

#[test]
fn hs2019_without_a_list_covers_created_alone() {
    let sent = Sent::get("/users/bob").signed(
        r#"algorithm="hs2019",created=1700000000"#,
        "(created): 1700000000",
    );
    let verdict = sent.verdict();
    assert_eq!(verdict.covered, ["(created)"]);
    assert_eq!(reasons(&verdict), [Reason::HeaderNotSigned]);
    assert_eq!(
        verdict.detail.as_deref(),
        Some("`(request-target)`, `host` must be covered; `(created)` is")
    );
}

#[test]
fn expires_may_be_covered_and_has_the_margin_of_the_clocks() {
    let base =
        "(request-target): get /users/bob\nhost: b.test:8443\n(created): 1700000000\n(expires): 1700000300";
    let list = r#"headers="(request-target) host (created) (expires)""#;
    let sent = Sent::get("/users/bob").signed(&format!("created=1700000000,expires=1700000300,{list}"), base);
    let window = Window {
        past: Duration::from_secs(7_200),
        future: Duration::from_secs(60),
    };
    let judge = |now: i64| {
        let verdict = sent.verdict_by(rsa().public_key(), window, Timestamp::from_unix(now));
        verdict.reason
    };
    assert_eq!(judge(1_700_000_360), None);
    assert_eq!(judge(1_700_000_361), Some(Reason::Expired));
}

#[test]
fn repeated_and_empty_headers_have_their_lines() {
    let base = format!("{}\nx-note: a, b\nx-empty: ", base("/inbox"));
    let list = r#"headers="(request-target) host date digest x-note x-empty""#;
    let sent = || {
        Sent::post("/inbox")
            .with("x-note", "a")
            .with("x-note", "  b  ")
            .with("x-empty", "")
    };
    valid(&sent().signed(list, &base));

    let verdict = sent()
        .signed(&list.replace("x-empty", "x-missing"), &base)
        .verdict();
    assert_eq!(
        reasons(&verdict),
        [Reason::HeaderMissing, Reason::SignatureMismatch]
    );
    assert_eq!(
        verdict.detail.as_deref(),
        Some("`x-missing` is covered and is not in the request")
    );
    // For a peer that skips what is missing, the rest must still hold.
    let short = base.replace("\nx-empty: ", "");
    let verdict = sent()
        .signed(&list.replace("x-empty", "x-missing (nothing)"), &short)
        .verdict();
    assert_eq!(reasons(&verdict), [Reason::HeaderMissing]);
}

#[test]
fn header_values_need_be_no_text() {
    let sent = Sent::post("/inbox").with("x-note", "é");
    let list = r#"headers="(request-target) host date digest x-note""#;
    valid(&sent.signed(list, &format!("{}\nx-note: é", base("/inbox"))));
}

#[test]
fn the_host_is_the_one_asked_for_with_its_port() {
    valid(
        &Sent::post("/inbox")
            .with("x-forwarded-host", "evil.test")
            .signed(ALL, &base("/inbox")),
    );

    let verdict = Sent::post("/inbox")
        .signed(ALL, &base("/inbox").replace(":8443", ""))
        .verdict();
    assert_eq!(reasons(&verdict), [Reason::SignatureMismatch]);
    assert_eq!(verdict.signature_base, Some(base("/inbox")));
    assert!(
        verdict
            .detail
            .unwrap()
            .ends_with("it does with `host: b.test` in its place")
    );
}

#[test]
fn over_http_2_the_authority_stands_for_the_host() {
    let sent = Sent {
        authority: Some("b.test:8443".to_owned()),
        ..Sent::post("/inbox").without("host")
    };
    valid(&sent.signed(ALL, &base("/inbox")));
    let verdict = Sent::post("/inbox")
        .without("host")
        .signed(ALL, &base("/inbox"))
        .verdict();
    assert_eq!(verdict.reason, Some(Reason::HeaderMissing));
}

#[test]
fn the_body_must_be_covered() {
    let short = r#"headers="(request-target) host date""#;
    let (over_short, _) = BASE.split_once("\ndigest").unwrap();
    let post = || Sent::post("/users/bob/inbox?x=%7E");
    let altered = |sent: Sent| Sent {
        body: b"{}".to_vec(),
        ..sent
    };

    let verdict = altered(post().signed(short, over_short)).verdict();
    assert_eq!(
        reasons(&verdict),
        [Reason::DigestNotSigned, Reason::DigestMismatch]
    );
    let verdict = post().without("digest").signed(short, over_short).verdict();
    assert_eq!(reasons(&verdict), [Reason::DigestMissing]);
    let verdict = altered(post().signed(ALL, BASE)).verdict();
    assert_eq!(reasons(&verdict), [Reason::DigestMismatch]);
    // A POST of nothing, and a body under another method, need one as well.
    let empty = Sent {
        body: Vec::new(),
        ..post().without("digest")
    };
    assert_eq!(
        empty.signed(short, over_short).verdict().reason,
        Some(Reason::DigestMissing)
    );
    let put = Sent {
        method: "PUT".to_owned(),
        ..post().without("digest")
    };
    let verdict = put.signed(short, &over_short.replace("post", "put")).verdict();
    assert_eq!(verdict.reason, Some(Reason::DigestMissing));
}

#[test]
fn a_digest_is_signed_as_it_came() {
    let (lower, two) = (DIGEST.replace("SHA", "sha"), "MD5=HI75tuBTJ9sQtfCO6ZuyiA==");
    let sent = Sent::post("/inbox")
        .without("digest")
        .with("digest", &lower)
        .with("digest", two);
    valid(&sent.signed(ALL, &base("/inbox").replace(DIGEST, &format!("{lower}, {two}"))));
}

#[test]
fn a_get_needs_no_digest_and_a_covered_one_must_match() {
    let base = format!("(request-target): get /users/bob\nhost: b.test:8443\ndate: {DATE}");
    let list = r#"headers="(request-target) host date""#;
    valid(&Sent::get("/users/bob").signed(list, &base));
    valid(&Sent::get("/users/bob").with("digest", DIGEST).signed(list, &base));

    let empty = "SHA-256=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";
    valid(
        &Sent::get("/users/bob")
            .with("digest", empty)
            .signed(ALL, &format!("{base}\ndigest: {empty}")),
    );
    let sent = Sent::get("/users/bob").with("digest", DIGEST);
    let verdict = sent.signed(ALL, &format!("{base}\ndigest: {DIGEST}")).verdict();
    assert_eq!(reasons(&verdict), [Reason::DigestMismatch]);
}

#[test]
fn the_window_is_the_callers_and_its_ends_belong_to_it() {
    // Mastodon: an hour for the clocks, five minutes of life.
    let mastodon = Window {
        past: Duration::from_secs(65 * 60),
        future: Duration::from_secs(60 * 60),
    };
    let misskey = Window {
        past: Duration::from_secs(300),
        future: Duration::from_secs(300),
    };
    let sent = Sent::post("/inbox").signed(ALL, &base("/inbox"));
    let judge = |window: Window, seconds_later: i64| {
        let now = Timestamp::from_unix(1_700_000_000 + seconds_later);
        sent.verdict_by(rsa().public_key(), window, now).reason
    };
    assert_eq!(judge(mastodon, 64 * 60), None);
    assert_eq!(judge(mastodon, 66 * 60), Some(Reason::DateTooOld));
    assert_eq!(judge(mastodon, -59 * 60), None);
    assert_eq!(judge(mastodon, -61 * 60), Some(Reason::DateInFuture));
    assert_eq!(
        (judge(misskey, 300), judge(misskey, 301)),
        (None, Some(Reason::DateTooOld))
    );
    assert_eq!(
        (judge(misskey, -300), judge(misskey, -301)),
        (None, Some(Reason::DateInFuture))
    );
    let late = sent.verdict_by(rsa().public_key(), misskey, Timestamp::from_unix(1_700_000_301));
    let detail = format!("`Date`, `{DATE}`, is 301s old; up to 5m is let pass");
    assert_eq!(late.detail, Some(detail));
    let boundless = Window {
        past: Duration::MAX,
        future: Duration::MAX,
    };
    assert_eq!(
        (judge(boundless, 1_000_000_000), judge(boundless, -1_700_000_000)),
        (None, None)
    );
}

#[test]
fn a_date_has_one_of_the_three_forms_of_http() {
    let judge = |date: &str| {
        let sent = Sent::post("/inbox").without("date").with("date", date);
        sent.signed(ALL, &base("/inbox").replace(DATE, date)).verdict()
    };
    for date in [
        DATE,
        "Tuesday, 14-Nov-23 22:13:20 GMT",
        "Tue Nov 14 22:13:20 2023",
    ] {
        assert_eq!(judge(date).reason, None, "{date}");
    }
    for date in [
        "Tue, 14 Nov 2023 22:13:20 +0000",
        "Tue, 14 Nov 2023 22:13:20 UTC",
        "Sun, 6 Nov 1994 08:49:37 GMT",
        "yesterday",
        "",
    ] {
        let verdict = judge(date);
        assert_eq!(reasons(&verdict), [Reason::DateUnreadable], "{date}");
        assert!(verdict.detail.unwrap().contains(DATE));
    }
    let twice = Sent::post("/inbox").with("date", DATE);
    let verdict = twice
        .signed(ALL, &base("/inbox").replace(DATE, &format!("{DATE}, {DATE}")))
        .verdict();
    assert_eq!(reasons(&verdict), [Reason::DateUnreadable]);
}

#[test]
fn sloppy_base64_is_told_apart_from_a_bad_signature() {
    let text = |signature: &str| format!(r#"keyId="k",{ALL},signature="{signature}""#);
    let judge = |signature: &str| {
        let sent = Sent::post("/users/bob/inbox?x=%7E").with("signature", &text(signature));
        reasons(&sent.verdict())
    };
    assert_eq!(judge(BASE_BY_RSA), []);
    assert_eq!(judge(BASE_BY_RSA.trim_end_matches('=')), [Reason::BadBase64]);
    assert_eq!(judge(&BASE_BY_RSA.replace("D0Xg", " D0Xg")), [Reason::BadBase64]);
    assert_eq!(judge("****"), [Reason::BadBase64, Reason::SignatureMismatch]);
    assert_eq!(judge(""), [Reason::SignatureMismatch]);
}

#[test]
fn another_key_does_not_verify() {
    let sent = Sent::post("/inbox").signed(ALL, &base("/inbox"));
    let verdict = sent.verdict_by(ed25519().public_key(), HOUR, NOW);
    assert_eq!(reasons(&verdict), [Reason::SignatureMismatch]);
    assert_eq!(verdict.signature_base, Some(base("/inbox")));
    let detail = format!(
        "the Ed25519 key `{KEY_ID}` does not verify the signature over the base the farm built; it has 256 bytes, where such a key gives 64"
    );
    assert_eq!(verdict.detail, Some(detail));
}

#[test]
fn a_long_base_is_kept_only_so_far() {
    let sent = Sent::post(&format!("/{}", "a".repeat(60_000))).signed(ALL, "other");
    assert!(sent.verdict().signature_base.unwrap().len() < 17_000);
}
