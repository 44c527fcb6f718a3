//! The journal and its live feed: what arrived, whole, within its bound.

use peerfarm::Farm;
use serde_json::{Value, json};
use tokio::net::TcpSocket;
use tokio::task::JoinSet;

use crate::support::{self, Api, Events, Http2, Request, Sut, raw};

#[tokio::test]
async fn a_signed_delivery_stands_in_the_journal_with_its_verdict() {
    let sut = Sut::start(&["me"]).await;
    let farm = support::farm(&sut).start().await.unwrap();
    let (api, plain) = (Api::of(&farm), farm.addresses().listen_http.unwrap());
    let inbox = format!("{}/inbox", farm.peer("mastodon1.test").unwrap().origin);
    let activity = sut.activity("me", "1", "Like", json!("https://mastodon1.test/x"));
    assert_eq!(sut.deliver(plain, "me", &inbox, &activity).await.status, 202);
    // The same headers over another body: the digest does not fit.
    let (authority, target) = raw::parts(&inbox);
    let headers = sut.signed("me", authority, target, activity.to_string().as_bytes());
    let altered = sut
        .activity("me", "2", "Like", json!("https://mastodon1.test/x"))
        .to_string();
    assert_eq!(
        raw::send(plain, "POST", target, &headers, altered.as_bytes())
            .await
            .status,
        401
    );
    raw::get(
        plain,
        &inbox.replace("/inbox", "/users/alice"),
        Some("application/activity+json"),
    )
    .await;

    let entries = async |filter: &str| {
        let entries = api.get(&format!("/journal?{filter}")).await["entries"].take();
        entries.as_array().unwrap().clone()
    };
    let [valid, invalid] = [entries("verdict=valid").await, entries("verdict=invalid").await];
    assert_eq!((valid.len(), invalid.len()), (1, 1));
    assert_eq!(entries("verdict=unsigned&kind=inbox").await, [] as [Value; 0]);
    assert_eq!(entries("kind=actor").await[0]["outcome"], Value::Null);
    assert_eq!(
        entries("kind=inbox&host=mastodon1.test&path=/inbox").await.len(),
        2
    );
    assert_eq!(entries("kind=inbox&limit=1").await, invalid);
    assert_eq!(entries("outcome=refused").await, invalid);
    assert_eq!(entries("outcome=accepted").await, valid);

    let entry = &valid[0];
    let keys: Vec<&String> = entry.as_object().unwrap().keys().collect();
    for key in [
        "id",
        "at",
        "host",
        "path",
        "method",
        "kind",
        "status",
        "outcome",
        "delivery_id",
        "activity",
        "origin",
        "bytes",
        "service_ms",
        "faults",
        "verdict",
    ] {
        assert!(keys.contains(&&key.to_owned()), "{key} of {keys:?}");
    }
    assert_eq!(
        (&entry["status"], &entry["outcome"]),
        (&json!(202), &json!("accepted"))
    );
    assert_eq!(
        (&entry["activity"], &entry["origin"]),
        (&json!("Like"), &json!("sut.test"))
    );
    assert_eq!(entry["delivery_id"], activity["id"]);
    assert_eq!(entry["verdict"]["key_id"], sut.key_id("me"));
    assert_eq!(
        entry["verdict"]["covered"],
        json!(["(request-target)", "host", "date", "digest"])
    );
    // peers/mastodon.toml
    assert_eq!(entry["verdict"]["window"], json!({"past": "65m", "future": "1h"}));
    assert_eq!(
        (&invalid[0]["outcome"], &invalid[0]["verdict"]["result"]),
        (&json!("refused"), &json!("invalid"))
    );
    assert_eq!(invalid[0]["verdict"]["reason"], "digest_mismatch");

    let whole = api
        .get(&format!("/journal/{}", entry["id"].as_str().unwrap()))
        .await;
    assert_eq!(whole["body"].as_str(), Some(activity.to_string().as_str()));
    let signature = whole["headers"].as_array().unwrap().iter();
    assert_eq!(signature.filter(|header| header[0] == "signature").count(), 1);
}

#[tokio::test]
async fn bodies_are_kept_byte_for_byte() {
    let farm = Farm::builder().start().await.unwrap();
    let api = Api::of(&farm);
    // Whoever reads and writes it anew makes `1` of `1.0` and small letters of `\u001B`.
    let text = r#"{"id":"evt_1","n":1.0,"t":"café 😀 \u001B"}"#;
    assert_eq!(text.len(), 46);
    // printf '\xff\xfe\x00' | base64
    let cases: [(&[u8], &str, &str); 4] = [
        (text.as_bytes(), "body", text),
        (b"{}\r\n\n", "body", "{}\r\n\n"),
        (b"", "body", ""),
        (b"\xff\xfe\x00", "body_base64", "//4A"),
    ];
    for (number, (sent, key, expected)) in cases.iter().enumerate() {
        api.hook("/hook/a", sent).await;
        let whole = api.get(&format!("/journal/{}", number + 1)).await;
        assert_eq!(whole[*key].as_str(), Some(*expected), "{whole}");
        assert_eq!(whole["bytes"], sent.len());
        assert_eq!(whole.get("body").is_some(), *key == "body");
    }
}

#[tokio::test]
async fn the_journal_forgets_the_oldest_and_says_so() {
    let (farm, _state) = support::farm_with(|settings| settings.journal_bytes = 100 << 10).await;
    let api = Api::of(&farm);
    for n in 0..30 {
        let body = format!(r#"{{"id":{n},"text":"{}"}}"#, "x".repeat(10_000));
        api.hook("/hook/a", body).await;
    }
    let entries = api.get("/journal").await;
    let ids = entries["entries"].as_array().unwrap().iter();
    let ids: Vec<&str> = ids.map(|entry| entry["delivery_id"].as_str().unwrap()).collect();
    assert!((5..=10).contains(&ids.len()), "{ids:?} in 100 KiB");
    let newest: Vec<String> = (0..30).rev().take(ids.len()).map(|n| n.to_string()).collect();
    assert_eq!(ids, newest);
    let stats = api.stats().await;
    assert_eq!(stats["totals"]["requests"], 30, "counters stay exact");
    assert_eq!(stats["bounds"]["journal_evicted"], 30 - ids.len());
    let gone = api.call("GET", "/journal/1", b"").await;
    assert_eq!(gone.status, 404);
    assert_eq!(gone.json()["evicted"], 30 - ids.len());

    assert_eq!(api.reset().await["bounds"]["journal_evicted"], 30 - ids.len());
    assert_eq!(api.stats().await["bounds"]["journal_evicted"], 0);
}

#[tokio::test]
async fn an_entry_larger_than_the_journal_is_forgotten_at_once() {
    let (farm, _state) = support::farm_with(|settings| settings.journal_bytes = 16 << 10).await;
    let api = Api::of(&farm);
    api.hook("/hook/a", vec![b'x'; 100_000]).await;
    assert_eq!(api.get("/journal").await, json!({"entries": []}));
    assert_eq!(api.stats().await["bounds"]["journal_evicted"], 1);
}

#[tokio::test]
async fn an_event_is_the_journals_entry() {
    let farm = Farm::builder().start().await.unwrap();
    let api = Api::of(&farm);
    let mut events = api.events().await;
    api.hook("/hook/a", "line\none\r\n\r\nline two").await;
    let event = events.event().await.unwrap();
    let entry = api.get("/journal").await["entries"][0].clone();
    assert_eq!((event.name.as_str(), event.id.as_str()), ("delivery", "1"));
    assert_eq!(event.data, entry);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_of_events_is_told_what_it_missed() {
    let farm = Farm::builder().start().await.unwrap();
    let api = Api::of(&farm);
    // What is not read has little room on the way.
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4_096).unwrap();
    let mut events = Events::over(socket.connect(api.0).await.unwrap()).await;
    let connection = Http2::connect(api.0).await;
    let mut sending = JoinSet::new();
    for sender in 0..20 {
        let mut connection = connection.clone();
        sending.spawn(async move {
            for n in 0..200 {
                let body = format!(r#"{{"id":"{sender} {n} {}"}}"#, "x".repeat(4_000));
                connection.send(&Request::post(&api.url("/hook/a"), body)).await;
            }
        });
    }
    sending.join_all().await;
    let (mut told, mut missed) = (0, 0);
    while told + missed < 4_000 {
        let event = events.event().await.unwrap();
        match event.name.as_str() {
            "delivery" => told += 1,
            "lagged" => missed += event.data["missed"].as_u64().unwrap(),
            name => panic!("{name}"),
        }
    }
    assert_eq!(told + missed, 4_000);
    assert!(missed > 0, "16 MB fit nowhere on the way");
    // It goes on from there.
    api.hook("/hook/last", "{}").await;
    assert_eq!(events.next().await["path"], "/hook/last");
}
