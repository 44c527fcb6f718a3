//! What the server under test said to an activity.

use serde::Deserialize;
use serde_json::Value;

use crate::cli::output::foreign;

#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    deliveries: Vec<Delivery>,
    #[serde(default)]
    activity: Value,
}

#[derive(Deserialize)]
struct Delivery {
    inbox: String,
    status: Option<u16>,
    time_ms: f64,
    #[serde(default)]
    error: Option<String>,
    #[serde(default)]
    body: Option<String>,
    #[serde(default)]
    dialect: Option<String>,
    #[serde(default)]
    knocks: Vec<Knock>,
}

#[derive(Deserialize)]
struct Knock {
    dialect: String,
    status: u16,
}

/// The activity, then a line for each delivery; the body where it was refused.
pub(super) fn deliveries(answer: &Value) -> Result<String, serde_json::Error> {
    let Answer { deliveries, activity } = Answer::deserialize(answer)?;
    let mut text = String::new();
    if let (Some(kind), Some(id)) = (activity["type"].as_str(), activity["id"].as_str()) {
        text.push_str(&format!("{kind} {id}\n"));
    }
    if deliveries.is_empty() {
        text.push_str("nobody to deliver to\n");
    }
    for delivery in deliveries {
        let Delivery {
            inbox,
            status,
            time_ms,
            error,
            body,
            dialect,
            knocks,
        } = delivery;
        let took = format!("{time_ms:.1} ms");
        let ended = match (status, error) {
            (Some(status), Some(error)) => format!("{status}, broken off after {took}: {error}"),
            (Some(status), None) => format!("{status} in {took}"),
            (None, Some(error)) => format!("no answer after {took}: {error}"),
            (None, None) => format!("no answer after {took}"),
        };
        text.push_str(&format!("{inbox}: "));
        for Knock { dialect, status } in &knocks {
            text.push_str(&format!("{dialect} {status}, "));
        }
        // Which dialect it was is worth a word where it was the second.
        if let (false, Some(dialect)) = (knocks.is_empty(), dialect) {
            text.push_str(&format!("{dialect} "));
        }
        text.push_str(&format!("{ended}\n"));
        let refused = status.is_some_and(|status| !(200..300).contains(&status));
        if let Some(body) = body.filter(|body| refused && !body.is_empty()) {
            text.push_str(body.trim_end());
            text.push('\n');
        }
    }
    Ok(foreign(&text))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_refusal_shows_the_body() {
        let answer = json!({
            "activity": {"type": "Follow", "id": "https://mastodon1.test/1"},
            "deliveries": [
                {"inbox": "https://sut.test/inbox", "status": 202, "time_ms": 3.08, "error": null, "body": "fine"},
                {"inbox": "https://sut.test/i", "status": 202, "time_ms": 1.0, "dialect": "rfc9421",
                 "knocks": [{"dialect": "cavage", "status": 401}]},
                {"inbox": "https://sut.test/in", "status": 401, "time_ms": 1.0, "error": null, "body": "no\u{1b}[m key"},
                {"inbox": "https://sut.test/i", "status": null, "time_ms": 0.5, "error": "connection refused"},
            ],
        });
        let expected = "Follow https://mastodon1.test/1\n\
                        https://sut.test/inbox: 202 in 3.1 ms\n\
                        https://sut.test/i: cavage 401, rfc9421 202 in 1.0 ms\n\
                        https://sut.test/in: 401 in 1.0 ms\n\
                        no\\u{1b}[m key\n\
                        https://sut.test/i: no answer after 0.5 ms: connection refused\n";
        assert_eq!(deliveries(&answer).unwrap(), expected);
    }
}
