//! The metrics, in the Prometheus text format, beside the counters.

use peerfarm::Farm;
use peerfarm::units::Span;
use serde_json::json;

use crate::support::{Api, raw};

#[tokio::test]
async fn the_metrics_agree_with_the_stats() {
    let farm = Farm::builder()
        .seed(2)
        .plain_http()
        .shared_keys()
        .hooks(Span::ZERO, Span::ZERO, 0.3)
        .start()
        .await
        .unwrap();
    let api = Api::of(&farm);
    for n in 0..40 {
        api.hook(&format!("/hook/{}\"\\", n % 3), format!(r#"{{"id":{}}}"#, n / 2))
            .await;
    }
    let plain = farm.addresses().listen_http.unwrap();
    for path in ["/users/alice", "/nobody", "/.well-known/nodeinfo"] {
        raw::get(
            plain,
            &format!("http://mastodon1.test{path}"),
            Some("application/activity+json"),
        )
        .await;
    }
    raw::get(plain, "http://foreign.test/", None).await;
    let text = api.call("GET", "/metrics", b"").await;
    assert_eq!(
        text.header("content-type"),
        ["text/plain; version=0.0.4; charset=utf-8"]
    );
    let samples = samples(&text.text());
    let stats = api.stats().await;

    let value = |name: &str, labels: &[(&str, &str)]| -> u64 {
        let wanted = |sample: &&Sample| {
            let has =
                |(key, value): &(&str, &str)| sample.labels.contains(&(key.to_string(), value.to_string()));
            sample.name == name && labels.iter().all(has)
        };
        samples.iter().filter(wanted).map(|sample| sample.value).sum()
    };
    let mut compared = 0;
    for (host, counts) in stats["hosts"].as_object().unwrap() {
        for (path, counts) in counts["paths"].as_object().unwrap() {
            let place = [
                ("host", host.as_str()),
                ("path", path.as_str()),
                ("kind", counts["kind"].as_str().unwrap()),
            ];
            for key in [
                "requests",
                "accepted",
                "refused",
                "faulted",
                "aborted",
                "unique",
                "duplicates",
                "bytes",
            ] {
                assert_eq!(
                    value(&format!("peerfarm_{key}_total"), &place),
                    counts[key],
                    "{path} {key}"
                );
                compared += 1;
            }
            assert_eq!(value("peerfarm_in_flight", &place), counts["in_flight"]);
            for (family, label) in [("status", "code"), ("verdicts", "result"), ("faults", "fault")] {
                for (key, count) in counts[family].as_object().unwrap() {
                    let labels = [place.as_slice(), &[(label, key.as_str())]].concat();
                    assert_eq!(
                        value(&format!("peerfarm_{family}_total"), &labels),
                        *count,
                        "{path} {key}"
                    );
                    compared += 1;
                }
            }
        }
        for (kind, fetches) in counts["fetches"].as_object().unwrap() {
            let labels = [("host", host.as_str()), ("kind", kind.as_str())];
            assert_eq!(
                value("peerfarm_fetches_total", &labels),
                fetches["requests"],
                "{kind}"
            );
            compared += 1;
        }
    }
    assert!(compared > 30, "{compared}");
    assert_eq!(value("peerfarm_requests_total", &[]), stats["totals"]["requests"]);
    assert_eq!(value("peerfarm_bad_requests_total", &[("code", "421")]), 1);
    assert_eq!(stats["connections"]["bad_requests"], json!({"421": 1}));
    assert_eq!(value("peerfarm_generation", &[]), 1);
    for (bound, count) in stats["bounds"].as_object().unwrap() {
        assert_eq!(value("peerfarm_bounds_total", &[("bound", bound)]), *count);
    }
}

/// One line of the Prometheus text format 0.0.4.
#[derive(Debug)]
struct Sample {
    name: String,
    labels: Vec<(String, String)>,
    value: u64,
}

/// Reads the text format; fails where a line is none, or its family has no type.
fn samples(text: &str) -> Vec<Sample> {
    assert!(text.ends_with('\n'));
    let (mut samples, mut families) = (Vec::new(), Vec::new());
    for line in text.lines() {
        if let Some(head) = line.strip_prefix("# TYPE ") {
            let (name, kind) = head.split_once(' ').unwrap();
            assert!(["counter", "gauge"].contains(&kind), "{line}");
            assert!(!families.contains(&name), "{name} twice");
            families.push(name);
        } else if !line.starts_with("# HELP ") {
            let sample = sample(line);
            assert_eq!(families.last(), Some(&sample.name.as_str()), "{line}");
            samples.push(sample);
        }
    }
    samples
}

fn sample(line: &str) -> Sample {
    let (place, value) = line.rsplit_once(' ').unwrap();
    let (name, mut rest) = match place.split_once('{') {
        Some((name, rest)) => (name, rest.strip_suffix('}').unwrap()),
        None => (place, ""),
    };
    let mut labels = Vec::new();
    while !rest.is_empty() {
        let (key, quoted) = rest.split_once("=\"").unwrap();
        let (mut value, mut letters) = (String::new(), quoted.char_indices());
        let end = loop {
            match letters.next().unwrap() {
                (_, '\\') => value.push(match letters.next().unwrap().1 {
                    'n' => '\n',
                    letter => letter,
                }),
                (end, '"') => break end,
                (_, letter) => value.push(letter),
            }
        };
        labels.push((key.to_owned(), value));
        rest = quoted[end + 1..].trim_start_matches(',');
    }
    Sample {
        name: name.to_owned(),
        labels,
        value: value.parse().unwrap(),
    }
}
