//! Resets: a clean line between what counts before and what counts after.

use peerfarm::Farm;
use peerfarm::units::Span;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::support::{self, Api, Request, Sut, assert_sums, raw};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_in_flight_at_a_reset_counts_on_neither_side() {
    let farm = Farm::builder()
        .hooks(Span::seconds(3), Span::ZERO, 0.0)
        .start()
        .await
        .unwrap();
    let api = Api::of(&farm);
    let mut posts = JoinSet::new();
    for n in 0..50 {
        posts.spawn(async move { api.hook("/hook/a", format!(r#"{{"id":{n}}}"#)).await });
    }
    api.get("/wait?requests=50&timeout=20s").await;
    let (one, other) = tokio::join!(api.reset(), api.reset());
    let mut closed = [one, other];
    closed.sort_by_key(|stats| stats["generation"].as_u64());
    assert_eq!(
        (&closed[0]["generation"], &closed[1]["generation"]),
        (&json!(1), &json!(2))
    );
    for (stats, in_flight) in [(&closed[0], 50), (&closed[1], 0)] {
        let totals = &stats["totals"];
        assert_sums("totals", totals);
        assert_eq!(totals["in_flight"], in_flight);
        assert_eq!(totals["requests"], in_flight, "{totals}");
    }
    for answer in posts.join_all().await {
        assert_eq!(answer.status, 200, "a reset disturbs nobody");
    }

    let stats = api.stats().await;
    assert_eq!(stats["generation"], 3);
    assert_eq!(stats["totals"]["requests"], 0, "{stats}");
    assert_eq!(stats["totals"]["in_flight"], 0, "{stats}");
    assert_eq!(api.get("/journal").await, json!({"entries": []}));

    // The latency is still there.
    let mut events = api.events().await;
    let held = raw::begin(api.0, "/hook/a").await;
    api.get("/wait?requests=1").await;
    drop(held);
    let entry = events.next().await;
    assert_eq!(
        (&entry["faults"], &entry["outcome"]),
        (&json!(["hook-latency"]), &json!("aborted"))
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn resets_under_load_lose_and_double_nothing() {
    let farm = Farm::builder().start().await.unwrap();
    let api = Api::of(&farm);
    for _ in 0..5 {
        let before = api.reset().await["generation"].as_u64().unwrap();
        let mut load = JoinSet::new();
        for sender in 0..8 {
            load.spawn(async move {
                let mut client = TcpStream::connect(api.0).await.unwrap();
                for n in 0..50 {
                    let body = format!(r#"{{"id":"{sender} {n}"}}"#);
                    Request::post(&api.url("/hook/a"), body)
                        .send_over(&mut client)
                        .await;
                }
            });
        }
        let mut resets = JoinSet::new();
        for _ in 0..2 {
            resets.spawn(async move {
                let (mut client, mut closed) = (TcpStream::connect(api.0).await.unwrap(), Vec::new());
                for _ in 0..10 {
                    let reply = Request::post(&api.url("/reset"), "").send_over(&mut client).await;
                    closed.push(reply.json());
                }
                closed
            });
        }
        load.join_all().await;
        let mut epochs: Vec<Value> = resets.join_all().await.into_iter().flatten().collect();
        let last = api.stats().await;
        epochs.sort_by_key(|stats| stats["generation"].as_u64());
        let generations: Vec<u64> = epochs.iter().map(|e| e["generation"].as_u64().unwrap()).collect();
        assert_eq!(generations, (before + 1..=before + 20).collect::<Vec<u64>>());

        let count = |stats: &Value, key: &str| stats["totals"][key].as_u64().unwrap();
        let counted: u64 = epochs
            .iter()
            .chain([&last])
            .map(|stats| count(stats, "accepted"))
            .sum();
        let between: u64 = epochs.iter().map(|stats| count(stats, "in_flight")).sum();
        assert_eq!(counted + between, 400);
        assert_eq!(count(&last, "in_flight"), 0);
        // Journal and counters were zeroed in one step: what one has the other has.
        let entries = api.get("/journal?limit=1000").await;
        let entries = entries["entries"].as_array().unwrap().len();
        assert_eq!(entries as u64, count(&last, "accepted"));
    }
}

#[tokio::test]
async fn a_reset_keeps_followers_and_seed() {
    let sut = Sut::start(&["mallory"]).await;
    let farm = support::farm(&sut).seed(11).start().await.unwrap();
    let (api, plain) = (Api::of(&farm), farm.addresses().listen_http.unwrap());
    let peer = farm.peer("mastodon1.test").unwrap();
    let alice = format!("{}/users/alice", peer.origin);
    let follow = sut.activity("mallory", "f1", "Follow", json!(alice));
    let answer = sut
        .deliver(plain, "mallory", &format!("{alice}/inbox"), &follow)
        .await;
    assert_eq!(answer.status, 202, "{}", answer.text());
    sut.received(1).await;

    let closed = api.reset().await;
    assert_eq!(closed["totals"]["accepted"], 1);
    let stats = api.stats().await;
    assert_eq!((&stats["seed"], &stats["generation"]), (&json!(11), &json!(2)));
    assert!(stats["since"].as_str() > closed["since"].as_str(), "{stats}");
    let peer = api.get("/peers/mastodon1.test").await;
    assert_eq!(peer["peers"][0]["actors"][0]["followers"], 1);
}

#[tokio::test]
async fn an_id_is_new_again_after_a_reset() {
    let farm = Farm::builder().start().await.unwrap();
    let api = Api::of(&farm);
    for _ in 0..2 {
        for _ in 0..2 {
            api.hook("/hook/a", r#"{"id":"evt_1"}"#).await;
        }
        let totals = &api.reset().await["totals"];
        assert_eq!((&totals["unique"], &totals["duplicates"]), (&json!(1), &json!(1)));
    }
    let ids = api.hook("/hook/a", "{}").await;
    assert_eq!(ids.status, 200);
    // Ids of entries go on, so that a reader who knows one reads on from there.
    assert_eq!(api.get("/journal?since=4").await["entries"][0]["id"], "5");
}
