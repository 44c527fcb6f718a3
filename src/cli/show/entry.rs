//! One journal entry, whole.

use serde::Deserialize;
use serde_json::Value;

use crate::cli::output::foreign;
use crate::cli::show::journal::Entry;

#[derive(Deserialize)]
struct Whole {
    #[serde(flatten)]
    entry: Entry,
    target: String,
    version: String,
    headers: Vec<(String, String)>,
    #[serde(default)]
    body: Option<String>,
    #[serde(default)]
    body_base64: Option<String>,
}

/// What happened, the request as it came, and what verification found.
pub(super) fn entry(answer: &Value) -> Result<String, serde_json::Error> {
    let Whole {
        entry,
        target,
        version,
        headers,
        body,
        body_base64,
    } = Whole::deserialize(answer)?;
    let mut text = facts(&entry);
    text.push_str(&format!("\n{} {target} {version}\n", entry.method));
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\n"));
    }
    if let Some(body) = body.filter(|body| !body.is_empty()) {
        text.push_str(&format!("\n{}\n", body.trim_end_matches('\n')));
    }
    if let Some(body) = body_base64 {
        text.push_str(&format!("\n(no text; base64) {body}\n"));
    }
    if let Some(found) = &entry.verdict {
        text.push('\n');
        text.push_str(&found.text());
    }
    for proof in &entry.proofs {
        text.push('\n');
        text.push_str(&proof.text());
    }
    Ok(foreign(&text))
}

fn facts(entry: &Entry) -> String {
    let status = entry
        .status
        .map_or_else(|| "no answer".to_owned(), |status| status.to_string());
    let mut text = format!("entry         {}\narrived       {}\n", entry.id(), entry.at);
    text.push_str(&format!(
        "at            {}{} ({})\n",
        entry.host, entry.path, entry.kind
    ));
    text.push_str(&format!("answer        {status}, {:.1} ms", entry.service_ms));
    if let Some(outcome) = &entry.outcome {
        text.push_str(&format!(", {outcome}"));
    }
    text.push_str(&format!("\nbody          {} bytes\n", entry.bytes));
    for (name, value) in [
        ("origin", &entry.origin),
        ("activity", &entry.activity),
        ("delivery id", &entry.delivery_id),
    ] {
        if let Some(value) = value {
            text.push_str(&format!("{name:<14}{value}\n"));
        }
    }
    for (name, values) in [("faults", &entry.faults), ("notes", &entry.notes)] {
        if !values.is_empty() {
            text.push_str(&format!("{name:<14}{}\n", values.join("; ")));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_entry_shows_the_request_and_the_verdict() {
        let answer = json!({
            "id": "17", "at": "2026-01-01T00:00:00.000Z", "host": "lemmy1.test", "path": "/inbox", "method": "POST",
            "kind": "inbox", "status": 400, "outcome": "refused", "delivery_id": "https://sut.test/1",
            "activity": "Create", "origin": "sut.test", "bytes": 2, "service_ms": 1.25, "faults": [],
            "verdict": {"result": "invalid", "reason": "digest_mismatch", "detail": "it is another", "dialect": "cavage",
                        "key_id": "https://sut.test/me#key", "covered": ["(request-target)", "digest"], "notes": [],
                        "signature_base": "(request-target): post /inbox\ndigest: SHA-256=x"},
            "target": "/inbox?a=b", "version": "HTTP/1.1",
            "headers": [["host", "lemmy1.test"], ["digest", "SHA-256=x"]], "body": "{}",
        });
        let text = entry(&answer).unwrap();
        for expected in [
            "answer        400, 1.2 ms, refused\n",
            "delivery id   https://sut.test/1\n",
            "\nPOST /inbox?a=b HTTP/1.1\nhost: lemmy1.test\ndigest: SHA-256=x\n\n{}\n",
            "\n\nverdict       invalid: digest_mismatch\nmeaning       the body was changed",
            "\nwhy           it is another\n",
            "covered       (request-target) digest\n",
            "  (request-target): post /inbox␊\n  digest: SHA-256=x\n",
        ] {
            assert!(text.contains(expected), "{expected}\n--\n{text}");
        }
    }
}
