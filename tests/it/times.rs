//! Times: from the moment a delivery says it was sent to its first success, and how times add up.

use peerfarm::Farm;
use peerfarm::clock::Timestamp;
use peerfarm::units::Span;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::support::{self, Api, Http2, Request, Sut};

#[tokio::test]
async fn first_success_is_the_time_since_the_delivery_says_it_was_sent() {
    let farm = Farm::builder().start().await.unwrap();
    let api = Api::of(&farm);
    let now = Timestamp::now().unix_millis();
    let (five, hour) = ((now - 5_000).to_string(), (now - 3_600_000).to_string());
    let stamped = |stamp: String, body: &'static str| async move {
        let headers = [("x-sent-at", stamp.as_str())];
        let answer = api.call_with("POST", "/hook/a", &headers, body.as_bytes()).await;
        assert_eq!(answer.status, 200);
    };
    stamped(five, r#"{"id":1}"#).await;
    // A repeat is no first success.
    stamped(hour.clone(), r#"{"id":1}"#).await;
    // The header goes before the text.
    stamped(hour, r#"{"id":2,"text":"load 1700000000000 k"}"#).await;
    stamped((now + 3_600_000).to_string(), r#"{"id":3}"#).await;
    stamped("yesterday".to_owned(), r#"{"id":4}"#).await;
    api.hook("/hook/a", r#"{"id":5}"#).await;
    api.hook(
        "/hook/a",
        format!(
            r#"{{"id":6,"text":"a load {} of load {} k-6"}}"#,
            12,
            now - 60_000
        ),
    )
    .await;

    let first = &api.hook_stats("/hook/a").await["first_success_ms"];
    assert_eq!(
        (&first["count"], &first["negative"], &first["whole_seconds"]),
        (&json!(3), &json!(1), &json!(0))
    );
    let within = |key: &str, from: f64| {
        let value = first[key].as_f64().unwrap();
        // Three significant digits, and the deadline of an exchange.
        assert!((from * 0.999..from + 30_000.0).contains(&value), "{key}: {first}");
    };
    within("min", 5_000.0);
    within("p50", 60_000.0);
    within("max", 3_600_000.0);
}

#[tokio::test]
async fn first_success_is_that_of_the_first_accepted_attempt() {
    let farm = Farm::builder()
        .seed(1)
        .hooks(Span::ZERO, Span::ZERO, 0.5)
        .start()
        .await
        .unwrap();
    let api = Api::of(&farm);
    let sent = (Timestamp::now().unix_millis() - 5_000).to_string();
    let (mut failed, mut taken) = (0, 0);
    for id in 0..20 {
        let body = format!(r#"{{"id":{id}}}"#);
        let attempt = async || {
            let headers = [("x-sent-at", sent.as_str())];
            api.call_with("POST", "/hook/a", &headers, body.as_bytes())
                .await
                .status
        };
        // Half fail: thirty in a row would be one in a thousand million.
        for _ in 0..30 {
            match attempt().await {
                500 => failed += 1,
                _ => {
                    taken += 1;
                    break;
                }
            }
        }
    }
    assert!(failed > 0 && taken == 20, "{failed} failed, {taken} were taken");
    let hook = api.hook_stats("/hook/a").await;
    assert_eq!(hook["first_success_ms"]["count"], taken);
    assert_eq!(
        (&hook["faulted"], &hook["unique"]),
        (&json!(failed), &json!(taken))
    );
    assert_eq!(hook["status"], json!({"200": taken, "500": failed}));
}

#[tokio::test]
async fn published_counts_unless_it_has_whole_seconds() {
    let sut = Sut::start(&["mallory"]).await;
    let farm = support::farm(&sut).start().await.unwrap();
    let (api, plain) = (Api::of(&farm), farm.addresses().listen_http.unwrap());
    let inbox = format!("{}/inbox", farm.peer("mastodon1.test").unwrap().origin);
    let now = Timestamp::now().unix_millis();
    let exact = Timestamp::from_unix_millis(now - now % 1_000 - 9_877).to_string();
    assert!(exact.ends_with(".123Z"), "{exact}");
    let whole = format!("{}Z", exact.strip_suffix(".123Z").unwrap());
    for (id, published) in [("1", Some(&exact)), ("2", Some(&whole)), ("3", None)] {
        let mut activity = sut.activity("mallory", id, "Like", json!("https://mastodon1.test/x"));
        if let Some(published) = published {
            activity["published"] = published.as_str().into();
        }
        let answer = sut.deliver(plain, "mallory", &inbox, &activity).await;
        assert_eq!(answer.status, 202, "{}", answer.text());
    }
    let stats = api.stats().await;
    let first = &stats["hosts"]["mastodon1.test"]["paths"]["/inbox"]["first_success_ms"];
    assert_eq!(
        (&first["count"], &first["whole_seconds"]),
        (&json!(1), &json!(1)),
        "{first}"
    );
    let max = first["max"].as_f64().unwrap();
    assert!((9_800.0..40_000.0).contains(&max), "{first}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn percentiles_of_the_totals_come_from_one_histogram() {
    let farm = Farm::builder().start().await.unwrap();
    let api = Api::of(&farm);
    // 1,000 of 1,000 s and 10 of 200,000 s: the 99th percentile is the former's. Averaging the parts' would say 100,500.
    let now = Timestamp::now().unix_millis();
    let connection = Http2::connect(api.0).await;
    let mut sending = JoinSet::new();
    for (path, count, ago) in [("/hook/a", 1_000, 1_000_000), ("/hook/b", 10, 200_000_000)] {
        for n in 0..count {
            let mut connection = connection.clone();
            let mut post = Request::post(&api.url(path), format!(r#"{{"id":{n}}}"#));
            post = post.with("x-sent-at", &(now - ago).to_string());
            sending.spawn(async move { connection.send(&post).await.status });
        }
    }
    sending.join_all().await;
    let stats = api.stats().await;
    let near = |counts: &Value, key: &str, wanted: f64| {
        let value = counts["first_success_ms"][key].as_f64().unwrap();
        // The exchanges' own time adds to it.
        assert!((wanted * 0.999..wanted * 1.03).contains(&value), "{key}: {value}");
    };
    let (totals, paths) = (&stats["totals"], &stats["hosts"]["hooks.test"]["paths"]);
    assert_eq!(totals["first_success_ms"]["count"], 1_010);
    for key in ["min", "p50", "p95", "p99"] {
        near(totals, key, 1_000_000.0);
    }
    near(totals, "max", 200_000_000.0);
    near(&paths["/hook/b"], "p95", 200_000_000.0);
    // (1,000 * 1,000 s + 10 * 200,000 s) / 1,010
    near(totals, "mean", 2_970_297.0);
}
