//! The counters: exact at every moment, also under load.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use http::HeaderMap;
use peerfarm::Farm;
use peerfarm::stats::PATHS_MAX;
use peerfarm::units::Span;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::support::{self, Api, Http2, Request, Sut, assert_sums, raw, tls};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_thousand_answers_read_over_http1_are_a_thousand_counted() {
    let farm = Farm::builder().start().await.unwrap();
    let api = Api::of(&farm);
    let mut looker = TcpStream::connect(api.0).await.unwrap();
    let mut senders = Vec::new();
    for _ in 0..250 {
        senders.push(TcpStream::connect(api.0).await.unwrap());
    }
    for _ in 0..ROUNDS {
        let mut sending = JoinSet::new();
        for mut sender in senders {
            sending.spawn(async move {
                for _ in 0..4 {
                    let reply = Request::post(&api.url("/hook/a"), SAME)
                        .send_over(&mut sender)
                        .await;
                    assert_eq!(reply.status, 200);
                }
                sender
            });
        }
        senders = sending.join_all().await;
        let stats = Request::get(&api.url("/stats")).send_over(&mut looker).await;
        assert_a_thousand(&stats.json(), "hooks.test", "/hook/a");
        Request::post(&api.url("/reset"), "").send_over(&mut looker).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_thousand_answers_read_over_http2_are_a_thousand_counted() {
    let farm = Farm::builder().start().await.unwrap();
    let api = Api::of(&farm);
    let mut looker = TcpStream::connect(api.0).await.unwrap();
    let mut connections = Vec::new();
    for _ in 0..4 {
        connections.push(Http2::connect(api.0).await);
    }
    for _ in 0..ROUNDS {
        let mut sending = JoinSet::new();
        for n in 0..1_000 {
            let mut sender = connections[n % connections.len()].clone();
            let post = Request::post(&api.url("/hook/a"), SAME);
            sending.spawn(async move { assert_eq!(sender.send(&post).await.status, 200) });
        }
        sending.join_all().await;
        let stats = Request::get(&api.url("/stats")).send_over(&mut looker).await;
        assert_a_thousand(&stats.json(), "hooks.test", "/hook/a");
        Request::post(&api.url("/reset"), "").send_over(&mut looker).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_thousand_signed_deliveries_over_tls_are_a_thousand_counted() {
    let sut = Sut::start(&["mallory"]).await;
    let farm = support::farm(&sut).start().await.unwrap();
    let (api, to) = (Api::of(&farm), farm.federation().unwrap());
    let mut looker = TcpStream::connect(api.0).await.unwrap();
    let stream = tls::connect(to, "mastodon1.test", tls::trusting(&farm, &["h2"])).await;
    let connection = Http2::over(stream.unwrap()).await;
    let inbox = format!("https://mastodon1.test:{}/inbox", to.port());
    let body = sut.activity("mallory", "1", "Like", json!("https://mastodon1.test/x"));
    for _ in 0..2 {
        let post = Request::post(&inbox, body.to_string()).signed(&sut, "mallory");
        let mut sending = JoinSet::new();
        for _ in 0..1_000 {
            let (mut sender, post) = (connection.clone(), post.clone());
            sending.spawn(async move { assert_eq!(sender.send(&post).await.status, 202) });
        }
        sending.join_all().await;
        let stats = Request::get(&api.url("/stats"))
            .send_over(&mut looker)
            .await
            .json();
        assert_a_thousand(&stats, "mastodon1.test", "/inbox");
        Request::post(&api.url("/reset"), "").send_over(&mut looker).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_sums_hold_at_every_moment_under_load() {
    let farm = Farm::builder()
        .plain_http()
        .shared_keys()
        .seed(7)
        .hooks(Span::millis(2), Span::millis(10), 0.3)
        .start()
        .await
        .unwrap();
    let api = Api::of(&farm);
    let (accepted_or_faulted, hanging) = (8 * 50, raw::begin(api.0, "/hook/hang-on").await);
    let mut load = JoinSet::new();
    for sender in 0..8 {
        load.spawn(async move {
            let mut client = TcpStream::connect(api.0).await.unwrap();
            for n in 0..50 {
                let body = format!(r#"{{"id":"{sender} {}"}}"#, n % 40);
                let url = api.url(&format!("/hook/{}", sender % 3));
                Request::post(&url, body).send_over(&mut client).await;
            }
        });
    }
    load.spawn(async move {
        for _ in 0..20 {
            drop(raw::begin(api.0, "/hook/left").await);
            let answer = too_large(api.0, "/hook/large").await;
            assert_eq!(answer.status, 413);
        }
    });
    let plain = farm.addresses().listen_http.unwrap();
    load.spawn(async move {
        for _ in 0..20 {
            let headers = HeaderMap::from_iter([(http::header::HOST, "mastodon1.test".parse().unwrap())]);
            let activity = br#"{"id":"https://sut.test/1","type":"Like","actor":"https://sut.test/u","object":"https://sut.test/x"}"#;
            let answer = raw::send(plain, "POST", "/inbox", &headers, activity).await;
            assert_eq!(answer.status, 401);
        }
    });

    let done = Arc::new(AtomicBool::new(false));
    let looking = tokio::spawn(look(api, Arc::clone(&done)));
    load.join_all().await;
    // What was left may still be on its way in: `wait` tells when it has come and gone.
    let all = accepted_or_faulted + 1 + 20 + 20 + 20;
    api.get(&format!("/wait?requests={all}&quiet=200ms")).await;
    done.store(true, Ordering::Relaxed);
    let different = looking.await.unwrap();
    assert!(
        different >= 5,
        "only {different} pictures differed: no load was seen"
    );

    let totals = &api.stats().await["totals"];
    assert_eq!(totals["requests"], all);
    assert_eq!(totals["refused"], 20 + 20, "{totals}");
    assert_eq!(totals["in_flight"], 1, "{totals}");
    let faulted = totals["faulted"].as_u64().unwrap();
    assert!((50..200).contains(&faulted), "3 of 10 were to fail: {faulted}");
    drop(hanging);
}

#[tokio::test]
async fn an_id_is_unique_once_at_each_path() {
    let farm = Farm::builder().start().await.unwrap();
    let api = Api::of(&farm);
    for (path, body) in [
        ("/hook/a", r#"{"id":"evt_1"}"#),
        ("/hook/a", r#"{"id":"evt_1","again":true}"#),
        ("/hook/a", r#"{"id":"evt_2"}"#),
        ("/hook/b", r#"{"id":"evt_1"}"#),
    ] {
        assert_eq!(api.hook(path, body).await.status, 200);
    }
    let stats = api.stats().await;
    let counts =
        |counts: &Value| ["requests", "unique", "duplicates", "bytes"].map(|key| counts[key].as_u64());
    let paths = &stats["hosts"]["hooks.test"]["paths"];
    assert_eq!(counts(&paths["/hook/a"]), [3, 2, 1, 14 + 27 + 14].map(Some));
    assert_eq!(counts(&paths["/hook/b"]), [1, 1, 0, 14].map(Some));
    assert_eq!(counts(&stats["totals"]), [4, 3, 1, 14 + 27 + 14 + 14].map(Some));
    assert_eq!(stats["hosts"]["hooks.test"]["paths"]["/hook/a"]["kind"], "hook");

    let filtered = api.get("/stats?host=hooks.test&path=/hook/b").await;
    assert_eq!(filtered["totals"]["requests"], 1);
    assert_eq!(filtered["hosts"].as_object().unwrap().len(), 1);
    let elsewhere = api.get("/stats?host=mastodon1.test").await;
    assert_eq!(elsewhere["totals"]["requests"], 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn paths_beyond_the_bound_are_counted_together() {
    let farm = Farm::builder().plain_http().start().await.unwrap();
    let api = Api::of(&farm);
    let connection = Http2::connect(api.0).await;
    let mut sending = JoinSet::new();
    for sender in 0..50 {
        let mut connection = connection.clone();
        sending.spawn(async move {
            for n in (sender..PATHS_MAX).step_by(50) {
                let url = api.url(&format!("/hook/{n}"));
                connection.send(&Request::post(&url, SAME)).await;
            }
        });
    }
    sending.join_all().await;
    for path in ["/hook/x", "/hook/y", "/hook/y", "/hook/7"] {
        api.hook(path, SAME).await;
    }
    let stats = api.stats().await;
    assert_eq!(stats["bounds"]["paths_folded"], 3);
    assert_eq!(stats["totals"]["requests"], PATHS_MAX + 4);
    let paths = &stats["hosts"]["hooks.test"]["paths"];
    assert_eq!(paths.as_object().unwrap().len(), PATHS_MAX + 1);
    let folded = &paths["*"];
    let counts = ["requests", "accepted", "unique", "duplicates"].map(|key| folded[key].as_u64().unwrap());
    assert_eq!(counts, [3, 3, 2, 1], "an id is still known by its own path");
    assert_eq!(paths["/hook/7"]["requests"], 2);
    let mut plain = TcpStream::connect(support::plain(&farm)).await.unwrap();
    let inbox = Request::post("https://mastodon1.test/inbox", SAME);
    inbox.send_over(&mut plain).await;
    let stats = api.get("/stats?host=mastodon1.test&path=/inbox").await;
    assert_eq!(
        stats["totals"]["requests"], 1,
        "made-up paths do not hide an inbox"
    );
}

#[tokio::test]
async fn nothing_counted_is_null() {
    let farm = Farm::builder().start().await.unwrap();
    let totals = &Api::of(&farm).stats().await["totals"];
    let nothing =
        json!({"count": 0, "min": null, "mean": null, "p50": null, "p95": null, "p99": null, "max": null});
    assert_eq!(totals["service_ms"], nothing);
    for (key, value) in nothing.as_object().unwrap() {
        assert_eq!(totals["first_success_ms"][key], *value);
    }
}

/// Looks at the counters until it is told that the load is over, and fails where a sum does not hold. How many
/// different pictures there were.
async fn look(api: Api, done: Arc<AtomicBool>) -> usize {
    let (mut client, mut seen, mut different) = (TcpStream::connect(api.0).await.unwrap(), 0, 0);
    while !done.load(Ordering::Relaxed) {
        let stats = Request::get(&api.url("/stats"))
            .send_over(&mut client)
            .await
            .json();
        let hosts = stats["hosts"].as_object().unwrap().values();
        let paths = hosts.flat_map(|host| host["paths"].as_object().unwrap());
        let mut requests = 0;
        for (path, counts) in paths {
            assert_sums(path, counts);
            requests += counts["requests"].as_u64().unwrap();
        }
        assert_sums("totals", &stats["totals"]);
        assert_eq!(stats["totals"]["requests"], requests);
        assert!(requests >= seen, "{requests} after {seen}");
        different += usize::from(requests > seen);
        seen = requests;
    }
    different
}

#[track_caller]
fn assert_a_thousand(stats: &Value, host: &str, path: &str) {
    for counts in [&stats["totals"], &stats["hosts"][host]["paths"][path]] {
        assert_sums(path, counts);
        let count = ["requests", "in_flight", "accepted", "unique", "duplicates"];
        assert_eq!(
            count.map(|key| counts[key].as_u64()),
            [1_000, 0, 1_000, 1, 999].map(Some),
            "{counts}"
        );
        assert_eq!(counts["service_ms"]["count"], 1_000);
    }
}

/// A POST of 2 MB whose sender waits for leave to send them.
async fn too_large(to: SocketAddr, path: &str) -> raw::Answer {
    let mut stream = TcpStream::connect(to).await.unwrap();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: {to}\r\nexpect: 100-continue\r\ncontent-length: 2000000\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    raw::answer(&mut stream).await
}

/// How often a thousand deliveries are sent, and counted at once.
const ROUNDS: usize = 20;

const SAME: &str = r#"{"id":"evt_1"}"#;
