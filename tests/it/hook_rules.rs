//! What hooks do wrong on purpose: latency, jitter, errors, hangs, and who leaves meanwhile.

use peerfarm::Farm;
use peerfarm::units::Span;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::support::{Api, Http2, Peerfarm, Request, raw};

#[tokio::test]
async fn a_failure_says_so() {
    let farm = Farm::builder()
        .hooks(Span::ZERO, Span::ZERO, 1.0)
        .start()
        .await
        .unwrap();
    let answer = Api::of(&farm).hook("/hook/a", "{}").await;
    assert_eq!((answer.status, answer.text().as_str()), (500, r#"{"ok":false}"#));
}

#[tokio::test]
async fn the_same_seed_and_ids_fail_the_same_in_whatever_order() {
    let ids: Vec<u32> = (0..60).collect();
    let reversed: Vec<u32> = ids.iter().rev().copied().collect();
    let one = outcomes(5, &ids).await;
    let mut again = outcomes(5, &reversed).await;
    again.reverse();
    assert_eq!(one, again);
    assert_ne!(one, outcomes(6, &ids).await);
}

#[tokio::test]
async fn a_retry_is_drawn_anew() {
    let farm = Farm::builder()
        .seed(5)
        .hooks(Span::ZERO, Span::ZERO, 0.5)
        .start()
        .await
        .unwrap();
    let api = Api::of(&farm);
    let attempt = async |id: u32| api.hook("/hook/a", format!(r#"{{"id":{id}}}"#)).await.status;
    let (mut recovered, mut failed) = (0, 0);
    for id in 0..40 {
        if attempt(id).await == 500 {
            failed += 1;
            recovered += u32::from(attempt(id).await == 200);
        }
    }
    // Half of some twenty; all or none of them would be one in a hundred thousand.
    assert!(0 < recovered && recovered < failed, "{recovered} of {failed}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn latency_and_jitter_hold_the_answer() {
    let farm = Farm::builder()
        .seed(1)
        .hooks(Span::millis(100), Span::millis(300), 0.0)
        .start()
        .await
        .unwrap();
    let api = Api::of(&farm);
    let mut posts = JoinSet::new();
    for n in 0..40 {
        posts.spawn(async move { api.hook("/hook/a", format!(r#"{{"id":{n}}}"#)).await.status });
    }
    assert_eq!(posts.join_all().await, vec![200; 40]);
    let hook = api.hook_stats("/hook/a").await;
    let time = |key: &str| hook["service_ms"][key].as_f64().unwrap();
    assert!(time("min") >= 100.0, "{hook}");
    // Evenly drawn from 0 to 300 ms, forty draws spread further than a third of that.
    assert!(time("max") - time("min") > 100.0, "{hook}");
    assert_eq!(hook["faults"], json!({"hook-latency": 40}));
    assert_eq!(
        (&hook["accepted"], &hook["faulted"]),
        (&json!(40), &json!(0)),
        "a latency decides nothing"
    );
}

#[tokio::test]
async fn the_variables_of_mock_providers_are_read() {
    let words = "--listen 127.0.0.1:0 --control 127.0.0.1:0";
    let farm = Peerfarm::with(words)
        .env("MOCK_LATENCY_MS", "60")
        .env("MOCK_JITTER_MS", "1")
        .env("MOCK_ERROR_RATE", "1")
        .serve();
    assert_eq!(farm.api().hook("/hook/a", "{}").await.status, 500);
    let hook = farm.api().hook_stats("/hook/a").await;
    assert!(hook["service_ms"]["min"].as_f64().unwrap() >= 60.0, "{hook}");
    assert_eq!(hook["faults"], json!({"hook-error": 1, "hook-latency": 1}));

    // The flag goes before the environment, and peerfarm's own variable before the other.
    let farm = Peerfarm::with(&format!("{words} --hook-error-rate 0"))
        .env("MOCK_ERROR_RATE", "1")
        .env("MOCK_LATENCY_MS", "60000")
        .env("PEERFARM_HOOK_LATENCY_MS", "0")
        .serve();
    assert_eq!(farm.api().hook("/hook/a", "{}").await.status, 200);
    assert_eq!(farm.api().hook_stats("/hook/a").await["faults"], json!({}));

    let said = Peerfarm::with(words).env("MOCK_ERROR_RATE", "2").run();
    said.ends(
        2,
        "error: `MOCK_ERROR_RATE`: `2` does not fit: write a fraction from 0 to 1",
    );
}

#[tokio::test]
async fn a_hang_lasts_until_its_sender_leaves() {
    let farm = Farm::builder().start().await.unwrap();
    let api = Api::of(&farm);
    let mut events = api.events().await;
    let hanging = raw::begin(api.0, "/hook/hang-1").await;
    api.get("/wait?requests=1").await;
    // It is in flight, and `quiet` does not wait for it.
    api.get("/wait?quiet=50ms").await;
    let hook = api.hook_stats("/hook/hang-1").await;
    assert_eq!((&hook["in_flight"], &hook["faulted"]), (&json!(1), &json!(0)));

    drop(hanging);
    let entry = events.next().await;
    assert_eq!(entry["path"], "/hook/hang-1");
    assert_eq!(
        (&entry["outcome"], &entry["status"]),
        (&json!("faulted"), &Value::Null)
    );
    assert_eq!(entry["faults"], json!(["hook-hang"]));
    let hook = api.hook_stats("/hook/hang-1").await;
    let counts = ["requests", "in_flight", "faulted", "unique"].map(|key| hook[key].as_u64().unwrap());
    assert_eq!(counts, [1, 0, 1, 0]);
    assert_eq!(
        (&hook["status"], &hook["faults"]),
        (&json!({}), &json!({"hook-hang": 1}))
    );
    assert_eq!(api.get("/stats/hooks").await["/hook/hang-1"]["failures"], 1);
}

#[tokio::test]
async fn a_hang_over_http2_ends_with_its_stream() {
    let farm = Farm::builder().start().await.unwrap();
    let api = Api::of(&farm);
    let mut events = api.events().await;
    let mut connection = Http2::connect(api.0).await;
    let mut other = connection.clone();
    let url = api.url("/hook/hang-2");
    let hanging = tokio::spawn(async move { connection.send(&Request::post(&url, "{}")).await });
    api.get("/wait?requests=1").await;
    hanging.abort();
    let entry = events.next().await;
    assert_eq!(
        (&entry["outcome"], &entry["path"]),
        (&json!("faulted"), &json!("/hook/hang-2"))
    );
    // The connection is still good.
    let reply = other.send(&Request::post(&api.url("/hook/a"), "{}")).await;
    assert_eq!(reply.status, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn held_answers_hold_up_no_others() {
    let farm = Farm::builder()
        .hooks(Span::seconds(60), Span::ZERO, 0.0)
        .plain_http()
        .start()
        .await
        .unwrap();
    let api = Api::of(&farm);
    let connection = Http2::connect(api.0).await;
    let mut held = JoinSet::new();
    for _ in 0..500 {
        let mut connection = connection.clone();
        let post = Request::post(&api.url("/hook/a"), "{}");
        held.spawn(async move { connection.send(&post).await });
    }
    let wait = api.get("/wait?requests=500").await;
    assert_eq!(wait["totals"]["in_flight"], 500);
    let peer = farm.peer("mastodon1.test").unwrap();
    let to = farm.addresses().listen_http.unwrap();
    let answer = raw::get(to, &format!("{}/.well-known/nodeinfo", peer.origin), None).await;
    assert_eq!(answer.status, 200);
}

/// Which of these ids fail in a farm of that seed, by their place.
async fn outcomes(seed: u64, ids: &[u32]) -> Vec<u16> {
    let farm = Farm::builder()
        .seed(seed)
        .hooks(Span::ZERO, Span::ZERO, 0.5)
        .start()
        .await
        .unwrap();
    let api = Api::of(&farm);
    let mut outcomes = Vec::new();
    for id in ids {
        outcomes.push(api.hook("/hook/a", format!(r#"{{"id":{id}}}"#)).await.status);
    }
    outcomes
}
