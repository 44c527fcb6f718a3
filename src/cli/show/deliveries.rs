//! What the server under test said to an activity.

use serde::Deserialize;
use serde_json::Value;

use crate::cli::output::foreign;
use crate::fault::Misbehaviour;

#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    deliveries: Vec<Delivery>,
    #[serde(default)]
    notes: Vec<String>,
    #[serde(default)]
    activity: Value,
    #[serde(default)]
    misbehaviour: Option<Misbehaviour>,
    #[serde(default)]
    finding: Option<bool>,
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

/// The activity, then a line for each delivery; the body where it was refused. Last, where it was wrong on purpose,
/// what that showed.
pub(super) fn deliveries(answer: &Value) -> Result<String, serde_json::Error> {
    let Answer {
        deliveries,
        notes,
        activity,
        misbehaviour,
        finding,
    } = Answer::deserialize(answer)?;
    let shown = misbehaviour.map(|misbehaviour| showed(misbehaviour, finding, &deliveries));
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
    for note in notes {
        text.push_str(&format!("note: {note}\n"));
    }
    text.extend(shown);
    Ok(foreign(&text))
}

/// What a delivery that was wrong on purpose showed.
fn showed(misbehaviour: Misbehaviour, finding: Option<bool>, deliveries: &[Delivery]) -> String {
    let last = deliveries.last();
    let inbox = last.map_or("nobody", |last| last.inbox.as_str());
    let status = last.and_then(|last| last.status);
    let status = status.map(|status| format!(" ({status})")).unwrap_or_default();
    let wrong = format!("a delivery {}", misbehaviour.summary());
    match finding {
        Some(true) => format!("finding: {inbox} took{status} {wrong}\n"),
        Some(false) => format!("as expected: {inbox} refused{status} {wrong}\n"),
        None if last.is_some_and(|last| last.error.is_none()) => {
            format!("undecided: {inbox} refused{status} the first of what was to be {wrong}\n")
        }
        None => format!("undecided: {inbox} did not answer {wrong}\n"),
    }
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

    #[test]
    fn what_a_misbehaviour_showed_is_said_last() {
        let said = |misbehaviour: &str, finding: Value, delivery: Value| {
            let answer = json!({"deliveries": [delivery], "misbehaviour": misbehaviour, "finding": finding});
            let text = deliveries(&answer).unwrap();
            text.lines().last().unwrap().to_owned()
        };
        let answered =
            |status: u16| json!({"inbox": "https://sut.test/inbox", "status": status, "time_ms": 1.0});
        let silent =
            json!({"inbox": "https://sut.test/inbox", "status": null, "time_ms": 1.0, "error": "refused"});
        assert_eq!(
            said("bad-digest", json!(true), answered(202)),
            "finding: https://sut.test/inbox took (202) a delivery whose digest is of another body"
        );
        assert_eq!(
            said("unsigned", json!(false), answered(401)),
            "as expected: https://sut.test/inbox refused (401) a delivery without a signature"
        );
        assert_eq!(
            said("stale", json!(null), silent),
            "undecided: https://sut.test/inbox did not answer a delivery signed two days ago"
        );
        assert_eq!(
            said("replay", json!(null), answered(401)),
            "undecided: https://sut.test/inbox refused (401) the first of what was to be a delivery that had come \
             before, byte for byte"
        );
    }
}
