//! An entry of the farm's journal, as `GET /journal/{id}` and `journal show ID --json` have it, or the `request` that
//! `send --misbehave --json` tells of, which is alike.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::HeaderMap;
use serde::Deserialize;
use serde_json::Value;

use crate::clock::Timestamp;
use crate::saved::{Note, Saved, SavedError, Told, add, body};
use crate::signature::{Hs2019, Window};

/// Reads the request of an entry. Its body is what arrived; of one that was too large to be read there is none.
pub(super) fn read(entry: &Value) -> Result<Saved, SavedError> {
    let text = |name: &'static str| entry[name].as_str().ok_or(SavedError::Missing(name));
    let mut headers = HeaderMap::new();
    let mut notes = Vec::new();
    for field in entry["headers"].as_array().into_iter().flatten() {
        let (Some(name), Some(value)) = (field[0].as_str(), field[1].as_str()) else {
            return Err(SavedError::Missing("headers as a list of names and values"));
        };
        if value.contains('\u{fffd}') {
            let detail =
                format!("`{name}` has bytes that are no UTF-8, which the journal's JSON does not keep");
            notes.push(Note::new("header_replaced", detail));
        }
        add(&mut headers, name, value.as_bytes())?;
    }
    let content = match entry["body_base64"].as_str() {
        Some(body) => STANDARD
            .decode(body)
            .map_err(|error| SavedError::Base64(error.to_string()))?,
        None => entry["body"].as_str().unwrap_or_default().as_bytes().to_vec(),
    };
    let bytes = entry["bytes"]
        .as_u64()
        .and_then(|bytes| usize::try_from(bytes).ok());
    let sent = bytes.max(body::length(&headers)).unwrap_or_default();
    body::compare(content.len(), sent, &mut notes);
    // Judged is only what was read.
    if sent == 0 && !entry["verdict"].is_object() {
        body::look_for(&headers, &content, &mut notes);
    }
    let at = entry["at"].as_str().and_then(Timestamp::parse_rfc3339);
    Ok(Saved {
        method: text("method")?.to_owned(),
        target: text("target")?.to_owned(),
        scheme: entry["scheme"].as_str().map(str::to_owned),
        authority: entry["authority"].as_str().map(str::to_owned),
        headers,
        body: content,
        at: at.map(|at| Told {
            at,
            what: match entry["id"].is_string() {
                true => "when it arrived",
                false => "when it was sent",
            },
        }),
        window: Window::deserialize(&entry["verdict"]["window"]).ok(),
        hs2019: (entry["verdict"]["algorithm"] == "rsa-v1_5-sha512").then_some(Hs2019::Sha512),
        notes,
    })
}
