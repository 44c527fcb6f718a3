//! Signatures as a whole farm judges them: what is covered, whose key it is, how old it may be.

use peerfarm::clock::Timestamp;
use peerfarm::command::serve::Settings;
use peerfarm::{Farm, Running};
use serde_json::{Value, json};
use tokio::net::TcpStream;

use crate::support::raw::{self, Answer};
use crate::support::{
    By, Http2, Request, Sut, call, counted, farm, last_entry, persona, plain, settings, softwares, tls,
};

/// What each of them says to a signature that does not hold.
const REFUSED: [u16; 3] = [401, 401, 400];

#[tokio::test]
async fn the_query_is_covered_in_the_bytes_that_came() {
    let sut = Sut::start(&["u1"]).await;
    let farm = farm(&sut).start().await.unwrap();
    let key_id = sut.key_id("u1");
    for (index, alice) in softwares(&farm, "alice").into_iter().enumerate() {
        for query in [
            "?authority=https%3A%2F%2Fr.test%2F&x=b%2Fc",
            "?b=%7e&a=1&b=2",
            "?",
        ] {
            let url = format!("{}{query}", alice.inbox);
            let whole = create(&sut, &url, query).signed(&sut, "u1");
            let (answer, verdict) = judged(&farm, &whole).await;
            assert_eq!(answer.status, alice.taken, "{query}: {answer:?}");
            assert_eq!(
                (&verdict["result"], &verdict["notes"]),
                (&json!("valid"), &json!([]))
            );

            // What Misskey, Friendica and older Mastodon sign; Mastodon alone still takes it.
            let short = create(&sut, &url, query).signed_by(By {
                query: false,
                ..By::of(&key_id, sut.key("u1"))
            });
            let (answer, verdict) = judged(&farm, &short).await;
            let status = if index == 0 { alice.taken } else { REFUSED[index] };
            assert_eq!(answer.status, status, "{query}: {answer:?}");
            let said = json!([verdict["result"], verdict["reason"], verdict["notes"]]);
            assert_eq!(
                said,
                json!(["invalid", "query_omitted", ["query_omitted"]]),
                "{query}"
            );
        }
        let counts = counted(&farm, &alice.inbox);
        let accepted = if index == 0 { 6 } else { 3 };
        assert_eq!((counts.accepted, counts.verdicts.valid), (accepted, 3));
    }
}

#[tokio::test]
async fn a_signed_fetch_is_judged_with_its_query() {
    let sut = Sut::start(&["u1"]).await;
    let farm = farm(&sut).start().await.unwrap();
    let key_id = sut.key_id("u1");
    let url = format!(
        "{}?authority=https%3A%2F%2Fr.test%2F&x=b%2Fc",
        persona(&farm, "alice@mastodon1.test").id
    );
    let by = By {
        covered: &["(request-target)", "host", "date"],
        ..By::of(&key_id, sut.key("u1"))
    };
    for (query, expected) in [
        (true, json!(["valid", null, []])),
        (false, json!(["invalid", "query_omitted", ["query_omitted"]])),
    ] {
        let (answer, verdict) = judged(&farm, &Request::get(&url).signed_by(By { query, ..by })).await;
        assert_eq!(answer.status, 200);
        assert_eq!(
            json!([verdict["result"], verdict["reason"], verdict["notes"]]),
            expected
        );
    }
}

/// The path is decoded to find the inbox, and only for that.
#[tokio::test]
async fn an_escaped_path_is_verified_as_it_came() {
    let sut = Sut::start(&["u1"]).await;
    let farm = farm(&sut).start().await.unwrap();
    let alice = persona(&farm, "alice@mastodon1.test");
    let escaped = alice.inbox.replace("/alice/", "/%61lice/");
    let sign = |request: Request, dialect: &str| match dialect {
        "cavage" => request.signed(&sut, "u1"),
        _ => request.signed_rfc9421(&sut, "u1", "sig1", &["@method", "@target-uri", "content-digest"]),
    };
    for dialect in ["cavage", "rfc9421"] {
        let signed = sign(create(&sut, &escaped, dialect), dialect);
        let (answer, verdict) = judged(&farm, &signed).await;
        assert_eq!(
            (answer.status, &verdict["result"]),
            (202, &json!("valid")),
            "{dialect}"
        );

        let decoded = sign(create(&sut, &alice.inbox, dialect), dialect);
        let sent = Request {
            target: signed.target,
            ..decoded
        };
        let (answer, verdict) = judged(&farm, &sent).await;
        assert_eq!(
            (answer.status, &verdict["reason"]),
            (401, &json!("signature_mismatch")),
            "{dialect}"
        );
    }
}

#[tokio::test]
async fn what_does_not_parse_is_refused_and_the_connection_goes_on() {
    let sut = Sut::start(&["u1"]).await;
    let farm = farm(&sut).start().await.unwrap();
    let alice = persona(&farm, "alice@mastodon1.test");
    let mut stream = TcpStream::connect(plain(&farm)).await.unwrap();
    for (count, (input, signature)) in [
        (None, r#"keyId="a"#),
        (None, r#"keyId="a,signature="AA==""#),
        (None, r#"keyId="a\"#),
        (None, "\""),
        (None, ",,,"),
        (Some("sig1=("), "sig1=:AA==:"),
        (
            Some(r#"sig1=("@method" "@nothing");created=1;keyid="a""#),
            "sig1=:AA==:",
        ),
        (Some(r#"sig1=("@method");created=1;keyid="a"#), "sig1=:AA==:"),
        (Some(r#"sig1=("@method");created=1;keyid="a""#), "sig1=AA"),
        (Some(""), ""),
    ]
    .into_iter()
    .enumerate()
    {
        let torn = create(&sut, &alice.inbox, "torn").with("signature", signature);
        let torn = match input {
            Some(input) => torn.with("signature-input", input),
            None => torn,
        };
        let answer = torn.send_over(&mut stream).await;
        assert_eq!(
            (answer.status, answer.header("x-peerfarm-reason")),
            (401, vec!["malformed".to_owned()]),
            "{input:?} {signature}: {answer:?}"
        );
        let whole = create(&sut, &alice.inbox, &count.to_string()).signed(&sut, "u1");
        assert_eq!(whole.send_over(&mut stream).await.status, 202);
    }
    let counts = counted(&farm, &alice.inbox);
    assert_eq!((counts.accepted, counts.refused), (10, 10));
}

#[tokio::test]
async fn the_host_is_covered_with_its_port_whatever_a_proxy_says() {
    let sut = Sut::start(&["u1"]).await;
    let farm = farm(&sut).start().await.unwrap();
    let key_id = sut.key_id("u1");
    let alice = persona(&farm, "alice@mastodon1.test");
    let whole = create(&sut, &alice.inbox, "1");
    let authority = whole.authority.clone();
    assert!(authority.starts_with("mastodon1.test:"));
    let proxied = whole
        .clone()
        .signed(&sut, "u1")
        .with("x-forwarded-host", "misskey1.test")
        .with("forwarded", "host=evil.test");
    let (answer, verdict) = judged(&farm, &proxied).await;
    assert_eq!((answer.status, &verdict["result"]), (202, &json!("valid")));
    assert_eq!(last_entry(&farm).await["host"], "mastodon1.test");

    let portless = whole.signed_by(By {
        host: Some("mastodon1.test"),
        ..By::of(&key_id, sut.key("u1"))
    });
    let (answer, verdict) = judged(&farm, &portless).await;
    assert_eq!(answer.status, 401);
    assert_eq!(verdict["reason"], "signature_mismatch");
    let base = verdict["signature_base"].as_str().unwrap();
    assert!(
        base.lines().any(|line| line == format!("host: {authority}")),
        "{base}"
    );
    // The slip is known, and told.
    assert!(
        answer.text().contains("it does with `host: mastodon1.test`"),
        "{answer:?}"
    );
}

#[tokio::test]
async fn over_http_2_the_authority_is_the_host() {
    let sut = Sut::start(&["u1"]).await;
    let farm = farm(&sut).start().await.unwrap();
    for (count, alice) in softwares(&farm, "alice").into_iter().enumerate() {
        let host = alice.handle.rsplit('@').next().unwrap();
        let secure = tls::connect(farm.addresses().listen[0], host, tls::trusting(&farm, &["h2"])).await;
        let secure = secure.unwrap();
        assert_eq!(secure.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
        let known = TcpStream::connect(plain(&farm)).await.unwrap();
        for (way, mut http2) in [
            ("alpn", Http2::over(secure).await),
            ("known", Http2::over(known).await),
        ] {
            let url = format!("{}?x=%2F", alice.inbox);
            let signed = create(&sut, &url, way).signed(&sut, "u1");
            let answer = http2.send(&signed).await;
            assert_eq!(answer.status, alice.taken, "{way}: {answer:?}");
            let entry = last_entry(&farm).await;
            assert_eq!(
                (&entry["outcome"], &entry["verdict"]["result"]),
                (&json!("accepted"), &json!("valid"))
            );
            let id = entry["id"].as_str().unwrap();
            let whole = call(&farm, &format!("/journal/{id}")).await;
            assert!(whole.to_string().contains("HTTP/2"), "{whole}");

            let (answer, _) = http2.send_as_is(&signed).await;
            assert_eq!(
                answer.status,
                if alice.taken == 200 { 400 } else { alice.taken },
                "`Host` agrees: {answer:?}"
            );
            let (answer, _) = http2
                .send_as_is(&signed.clone().with("host", "lemmy2.test"))
                .await;
            assert_eq!(answer.status, 400, "{answer:?}");
            assert!(answer.text().contains("disagree"), "{answer:?}");
        }
        assert_eq!(counted(&farm, &alice.inbox).requests, 4);
        assert_eq!(
            farm.stats().connections.bad_requests,
            [(400, 2 * (count as u64 + 1))].into()
        );
    }
}

#[tokio::test]
async fn a_rotated_key_is_fetched_once_more_and_garbage_not_again() {
    let sut = Sut::start(&["u1", "next"]).await;
    let farm = farm(&sut).start().await.unwrap();
    let alice = persona(&farm, "alice@mastodon1.test");
    let key_id = sut.key_id("u1");
    let (old, new) = (By::of(&key_id, sut.key("u1")), By::of(&key_id, sut.key("next")));
    let deliver = async |number: u32, by: By<'_>| {
        let request = create(&sut, &alice.inbox, &number.to_string()).signed_by(by);
        request.send(plain(&farm)).await.status
    };
    assert_eq!(deliver(1, old).await, 202);
    assert_eq!(sut.fetches_of("/users/u1"), 1);

    let mut document = sut.actor_document("u1");
    document["publicKey"]["publicKeyPem"] = sut.actor_document("next")["publicKey"]["publicKeyPem"].take();
    sut.serve_at("/users/u1", 200, document);
    assert_eq!(deliver(2, new).await, 202);
    assert_eq!(sut.fetches_of("/users/u1"), 2);
    assert_eq!(deliver(3, old).await, 401);
    for number in 4..14 {
        assert_eq!(deliver(number, old).await, 401);
    }
    assert_eq!(deliver(14, new).await, 202);
    assert_eq!(sut.fetches_of("/users/u1"), 2);
    let fetches = call(&farm, "/stats").await["key_fetches"].take();
    assert_eq!(
        (&fetches["outcomes"], &fetches["again"]),
        (&json!({"found": 2}), &json!(1))
    );
}

#[tokio::test]
async fn ten_bad_signatures_at_once_cost_one_fetch_more() {
    let sut = Sut::start(&["u1", "other"]).await;
    let farm = farm(&sut).start().await.unwrap();
    let alice = persona(&farm, "alice@mastodon1.test");
    let key_id = sut.key_id("u1");
    let good = create(&sut, &alice.inbox, "good").signed(&sut, "u1");
    assert_eq!(good.send(plain(&farm)).await.status, 202);
    let bad: Vec<_> = (0..10)
        .map(|number| {
            let request = create(&sut, &alice.inbox, &number.to_string());
            let (request, to) = (request.signed_by(By::of(&key_id, sut.key("other"))), plain(&farm));
            tokio::spawn(async move { request.send(to).await.status })
        })
        .collect();
    for bad in bad {
        assert_eq!(bad.await.unwrap(), 401);
    }
    assert_eq!(sut.fetches_of("/users/u1"), 2);
    assert_eq!(counted(&farm, &alice.inbox).verdicts.invalid, 10);
}

#[tokio::test]
async fn how_old_a_date_may_be_is_the_softwares() {
    let sut = Sut::start(&["u1"]).await;
    let farm = farm(&sut).start().await.unwrap();
    let minutes = |minutes: i64| minutes * 60;
    // In seconds from now. Where the bound is near, time that passes under way only makes the answer surer.
    let windows = [
        [minutes(-64), minutes(59), minutes(-66), minutes(61)],
        [-270, 299, -301, 330],
        [minutes(-59), minutes(59), minutes(-61), minutes(61)],
    ];
    for ((index, alice), window) in softwares(&farm, "alice").into_iter().enumerate().zip(windows) {
        let reasons = [None, None, Some("date_too_old"), Some("date_in_future")];
        for (offset, reason) in window.into_iter().zip(reasons) {
            let date = Timestamp::from_unix(Timestamp::now().unix() + offset);
            let request = create(&sut, &alice.inbox, &offset.to_string()).with("date", &date.http_date());
            let (answer, verdict) = judged(&farm, &request.signed(&sut, "u1")).await;
            let status = if reason.is_none() {
                alice.taken
            } else {
                REFUSED[index]
            };
            assert_eq!(answer.status, status, "{offset} s at {}", alice.handle);
            assert_eq!(verdict["reason"], json!(reason), "{offset} s at {}", alice.handle);
        }
        let counts = counted(&farm, &alice.inbox);
        assert_eq!((counts.accepted, counts.refused), (2, 2));
    }
}

#[tokio::test]
async fn a_date_has_three_forms_and_no_other() {
    let sut = Sut::start(&["u1"]).await;
    let farm = farm(&sut).start().await.unwrap();
    let now = time::OffsetDateTime::from_unix_timestamp(Timestamp::now().unix()).unwrap();
    let (weekday, month) = (now.weekday().to_string(), now.month().to_string());
    let (day, month) = (now.day(), &month[..3]);
    let time = format!("{:02}:{:02}:{:02}", now.hour(), now.minute(), now.second());
    // RFC 9110 section 5.6.7.
    let readable = [
        format!("{}, {day:02} {month} {} {time} GMT", &weekday[..3], now.year()),
        format!("{weekday}, {day:02}-{month}-{:02} {time} GMT", now.year() % 100),
        format!("{} {month} {day:2} {time} {}", &weekday[..3], now.year()),
    ];
    let unreadable = [
        format!("{}, {day:02} {month} {} {time} +0000", &weekday[..3], now.year()),
        format!("{}, {day:02} {month} {} {time} UTC", &weekday[..3], now.year()),
        "Sun, 6 Nov 1994 08:49:37 GMT".to_owned(),
        "2026-01-01T00:00:00Z".to_owned(),
        "yesterday".to_owned(),
        String::new(),
    ];
    for (index, alice) in softwares(&farm, "alice").into_iter().enumerate() {
        for date in &readable {
            let request = create(&sut, &alice.inbox, date).with("date", date);
            let (answer, _) = judged(&farm, &request.signed(&sut, "u1")).await;
            assert_eq!(answer.status, alice.taken, "{date}: {answer:?}");
        }
        for date in &unreadable {
            let request = create(&sut, &alice.inbox, date).with("date", date);
            let (answer, verdict) = judged(&farm, &request.signed(&sut, "u1")).await;
            assert_eq!(answer.status, REFUSED[index], "{date}: {answer:?}");
            assert_eq!(verdict["reason"], "date_unreadable", "{date}");
        }
    }
}

#[tokio::test]
async fn a_body_must_be_covered_and_be_the_one_that_was() {
    let sut = Sut::start(&["u1"]).await;
    let farm = farm(&sut).start().await.unwrap();
    let bare = ["(request-target)", "host", "date"];
    for (index, alice) in softwares(&farm, "alice").into_iter().enumerate() {
        let whole = |id| create(&sut, &alice.inbox, id);
        let altered = whole("altered").body;
        for (reason, request) in [
            (
                "digest_not_signed",
                whole("1").signed_over(&sut, "u1", &bare).tampered(&altered),
            ),
            ("digest_not_signed", whole("2").signed_over(&sut, "u1", &bare)),
            (
                "digest_missing",
                whole("3").without("digest").signed_over(&sut, "u1", &bare),
            ),
            (
                "digest_mismatch",
                whole("4").signed(&sut, "u1").tampered(&altered),
            ),
        ] {
            let (answer, verdict) = judged(&farm, &request).await;
            assert_eq!(answer.status, REFUSED[index], "{reason}: {answer:?}");
            assert_eq!(answer.header("x-peerfarm-reason"), [reason]);
            assert_eq!(verdict["reason"], reason);
        }
        let counts = counted(&farm, &alice.inbox);
        assert_eq!(
            (counts.accepted, counts.refused, counts.verdicts.invalid),
            (0, 4, 4)
        );
    }
}

#[tokio::test]
async fn a_guarded_document_wants_a_signature() {
    let sut = Sut::start(&["u1"]).await;
    let (state, profiles) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let profile = include_str!("../../peers/mastodon.toml");
    let guarded = profile.replace("authorized_fetch = false", "authorized_fetch = true");
    assert_ne!(guarded, profile);
    std::fs::write(profiles.path().join("mastodon.toml"), guarded).unwrap();
    let settings = Settings {
        peers_dir: Some(profiles.path().to_owned()),
        ..settings(&sut, state.path())
    };
    let farm = Farm::builder().settings(settings).start().await.unwrap();
    let alice = persona(&farm, "alice@mastodon1.test");
    let get = || Request::get(&alice.id).with("accept", "application/activity+json");
    let unsigned = get().send(plain(&farm)).await;
    assert_eq!(
        (unsigned.status, unsigned.text().as_str()),
        (401, r#"{"error":"Request not signed"}"#)
    );
    let signed = get().signed_over(&sut, "u1", &["(request-target)", "host", "date"]);
    assert_eq!(signed.send(plain(&farm)).await.json()["id"], alice.id);
    let hostless = get().signed_over(&sut, "u1", &["(request-target)", "date"]);
    assert_eq!(hostless.send(plain(&farm)).await.status, 401);
    // Whoever asks for leave to send a body gets the refusal, and knows that the connection ends.
    let mut asking = TcpStream::connect(plain(&farm)).await.unwrap();
    let request = get().with("expect", "100-continue").with("content-length", "5");
    let answer = request.send_over(&mut asking).await;
    assert_eq!(
        (answer.status, answer.header("connection")),
        (401, vec!["close".to_owned()])
    );
    assert!(raw::ended(&mut asking).await.is_empty());
}

/// A Create of u1's, unsigned.
fn create(sut: &Sut, url: &str, id: &str) -> Request {
    let create = sut.activity("u1", id, "Create", json!("https://sut.test/n/1"));
    Request::post(url, create.to_string())
}

/// Sends a request; the answer, and the verdict in the journal.
async fn judged(farm: &Running, request: &Request) -> (Answer, Value) {
    let answer = request.send(plain(farm)).await;
    (answer, last_entry(farm).await["verdict"].take())
}
