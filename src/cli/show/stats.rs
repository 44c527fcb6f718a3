//! The counters.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::cli::output::foreign;
use crate::cli::show::table;

#[derive(Deserialize)]
struct Stats {
    since: String,
    generation: u64,
    seed: u64,
    totals: Path,
    hosts: Map<String, Value>,
    connections: Value,
    bounds: Value,
}

#[derive(Deserialize)]
struct Host {
    paths: Map<String, Value>,
    #[serde(default)]
    fetches: Map<String, Value>,
}

#[derive(Deserialize)]
struct Path {
    kind: String,
    requests: u64,
    in_flight: u64,
    accepted: u64,
    refused: u64,
    faulted: u64,
    aborted: u64,
    unique: u64,
    duplicates: u64,
    verdicts: Verdicts,
    first_success_ms: Times,
    service_ms: Times,
}

#[derive(Deserialize)]
struct Verdicts {
    valid: u64,
    invalid: u64,
    unsigned: u64,
}

#[derive(Deserialize)]
struct Times {
    p50: Option<f64>,
    p95: Option<f64>,
    p99: Option<f64>,
}

/// Tables of deliveries by path and of fetches by kind, then what happened below HTTP and which bounds bit.
pub(super) fn stats(answer: &Value) -> Result<String, serde_json::Error> {
    let stats = Stats::deserialize(answer)?;
    let (mut rows, mut fetches) = (Vec::new(), Vec::new());
    for (name, host) in &stats.hosts {
        let host = Host::deserialize(host)?;
        for (path, counted) in &host.paths {
            rows.push(row(name, path, &Path::deserialize(counted)?));
        }
        let counted = host
            .fetches
            .iter()
            .filter(|(_, fetch)| fetch["requests"].as_u64() > Some(0));
        fetches.extend(counted.map(|(kind, fetch)| {
            [
                name.clone(),
                kind.clone(),
                fetch["requests"].to_string(),
                pairs(&fetch["status"]),
            ]
        }));
    }
    let mut text = format!(
        "since {}, generation {}, seed {}\n\n",
        stats.since, stats.generation, stats.seed
    );
    if rows.is_empty() {
        text.push_str("no delivery has arrived\n");
    } else {
        rows.push(row("total", "", &stats.totals));
        text.push_str(&table(COLUMNS, &NUMBERS, rows));
        text.push_str("\nsigned: valid/invalid/unsigned; times in ms: p50/p95/p99\n");
    }
    if !fetches.is_empty() {
        text.push('\n');
        text.push_str(&table(
            ["host", "fetched", "requests", "status"],
            &["requests"],
            fetches,
        ));
    }
    for (name, counted) in [("connections", &stats.connections), ("bounds", &stats.bounds)] {
        let counted = pairs(counted);
        if !counted.is_empty() {
            text.push_str(&format!("\n{name}: {}\n", foreign(&counted)));
        }
    }
    Ok(text)
}

/// What a wait that ran out was missing.
pub(super) fn missing(problem: &Value) -> String {
    let text = problem["detail"].as_str().or(problem["title"].as_str());
    foreign(text.unwrap_or("the wait ran out"))
}

fn row(host: &str, path: &str, counted: &Path) -> [String; COLUMNS.len()] {
    let Verdicts {
        valid,
        invalid,
        unsigned,
    } = counted.verdicts;
    [
        host.to_owned(),
        path.to_owned(),
        counted.kind.clone(),
        counted.requests.to_string(),
        counted.in_flight.to_string(),
        counted.accepted.to_string(),
        counted.refused.to_string(),
        counted.faulted.to_string(),
        counted.aborted.to_string(),
        counted.unique.to_string(),
        counted.duplicates.to_string(),
        format!("{valid}/{invalid}/{unsigned}"),
        times(&counted.service_ms),
        times(&counted.first_success_ms),
    ]
}

fn times(times: &Times) -> String {
    match (times.p50, times.p95, times.p99) {
        (Some(p50), Some(p95), Some(p99)) => format!("{p50:.1}/{p95:.1}/{p99:.1}"),
        _ => "-".to_owned(),
    }
}

/// The counters of an object that are not zero: `accepted 3, tls_failed unknown_ca 1`.
fn pairs(counted: &Value) -> String {
    let mut pairs = Vec::new();
    for (name, value) in counted.as_object().into_iter().flatten() {
        match value {
            Value::Object(inner) => {
                pairs.extend(inner.iter().map(|(why, count)| format!("{name} {why} {count}")));
            }
            Value::Number(number) if number.as_u64() != Some(0) => pairs.push(format!("{name} {number}")),
            _ => {}
        }
    }
    pairs.join(", ")
}

const COLUMNS: [&str; 14] = [
    "host",
    "path",
    "kind",
    "requests",
    "in flight",
    "accepted",
    "refused",
    "faulted",
    "aborted",
    "unique",
    "duplicates",
    "signed",
    "service",
    "first success",
];
const NUMBERS: [&str; 8] = [
    "requests",
    "in flight",
    "accepted",
    "refused",
    "faulted",
    "aborted",
    "unique",
    "duplicates",
];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn path(requests: u64) -> Value {
        json!({
            "kind": "inbox", "requests": requests, "in_flight": 0, "accepted": requests, "refused": 0, "faulted": 0,
            "aborted": 0, "unique": requests, "duplicates": 0, "status": {"202": requests},
            "verdicts": {"valid": requests, "invalid": 0, "unsigned": 0}, "faults": {}, "bytes": 10,
            "first_success_ms": {"count": 0, "p50": null, "p95": null, "p99": null},
            "service_ms": {"count": requests, "p50": 1.25, "p95": 2.5, "p99": 10.0},
        })
    }

    #[test]
    fn what_is_zero_stays_out() {
        let answer = json!({
            "since": "2026-01-01T00:00:00.000Z", "generation": 2, "seed": 7, "totals": path(3),
            "hosts": {
                "lemmy1.test": {"software": "lemmy", "paths": {}, "fetches": {}},
                "mastodon1.test": {
                    "software": "mastodon", "paths": {"/inbox": path(3)},
                    "fetches": {"actor": {"requests": 2, "status": {"200": 2}}, "object": {"requests": 0, "status": {}}},
                },
            },
            "connections": {"accepted": 4, "open": 0, "refused": 0, "tls_failed": {"unknown_ca": 1}, "bad_requests": {}},
            "bounds": {"ids_evicted": 0},
        });
        let text = stats(&answer).unwrap();
        let lines: Vec<Vec<&str>> = text
            .lines()
            .map(|line| line.split_whitespace().collect())
            .collect();
        let has = |expected: &str| lines.contains(&expected.split_whitespace().collect());
        assert!(
            has("mastodon1.test /inbox inbox 3 0 3 0 0 0 3 0 3/0/0 1.2/2.5/10.0 -"),
            "{text}"
        );
        assert!(has("total inbox 3 0 3 0 0 0 3 0 3/0/0 1.2/2.5/10.0 -"), "{text}");
        assert!(has("mastodon1.test actor 2 200 2"), "{text}");
        assert!(has("connections: accepted 4, tls_failed unknown_ca 1"), "{text}");
        assert!(
            !text.contains("bounds") && !text.contains("object") && !text.contains("lemmy"),
            "{text}"
        );
    }
}
