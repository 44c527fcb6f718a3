//! HAR 1.2, as browsers, proxies and HTTP clients export it: `log.entries[].request`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::HeaderMap;
use serde_json::Value;

use crate::clock::Timestamp;
use crate::saved::{Note, Saved, SavedError, Told, add, body, excerpt, split};

/// Reads one of the requests of a HAR.
pub(super) fn read(har: &Value, entry: Option<usize>) -> Result<Saved, SavedError> {
    let entries = har["log"]["entries"].as_array().map_or(&[][..], Vec::as_slice);
    let count = entries.len();
    if count == 0 {
        return Err(SavedError::NoEntries);
    }
    if let Some(asked) = entry {
        let entry = asked.checked_sub(1).and_then(|index| entries.get(index));
        return one(entry.ok_or(SavedError::Entry { asked, count })?);
    }
    let signed: Vec<usize> = (0..count)
        .filter(|index| is_signed(&entries[*index]["request"]))
        .collect();
    match signed.as_slice() {
        [signed] => one(&entries[*signed]),
        [] if count == 1 => one(&entries[0]),
        [] => Err(choose(
            entries,
            &(0..count).collect::<Vec<_>>(),
            "requests, and none is signed",
        )),
        several => Err(choose(entries, several, "signed requests")),
    }
}

fn one(entry: &Value) -> Result<Saved, SavedError> {
    let started = entry["startedDateTime"]
        .as_str()
        .and_then(Timestamp::parse_rfc3339);
    let at = started.map(|at| Told {
        at,
        what: "when it was sent, by the HAR's `startedDateTime`",
    });
    Ok(Saved {
        at,
        ..request(&entry["request"])?
    })
}

fn request(request: &Value) -> Result<Saved, SavedError> {
    let method = request["method"].as_str().ok_or(SavedError::Missing("method"))?;
    let url = request["url"].as_str().ok_or(SavedError::Missing("url"))?;
    let (scheme, authority, target) = split(url).ok_or(SavedError::Missing("url"))?;
    let mut saved = Saved {
        method: method.to_owned(),
        target,
        scheme: Some(scheme.to_ascii_lowercase()),
        authority: None,
        headers: HeaderMap::new(),
        body: Vec::new(),
        at: None,
        window: None,
        hs2019: None,
        notes: Vec::new(),
    };
    for (name, value) in fields(request) {
        match name.strip_prefix(':') {
            Some("authority") => saved.authority = Some(value.to_owned()),
            Some("path") => saved.target = value.to_owned(),
            Some(_) => {}
            // Some tools join the lines of a repeated header with line ends.
            None => {
                for line in value.split('\n') {
                    add(&mut saved.headers, name, line.as_bytes())?;
                }
            }
        }
    }
    if saved.authority.is_none() && !saved.headers.contains_key("host") {
        saved.authority = Some(authority.to_owned());
    }
    let body = content(&request["postData"], &mut saved.notes)?;
    if !saved.lacks_body() {
        body::look_for(&saved.headers, &body, &mut saved.notes);
    }
    let body = body::settle(&saved.headers, body, &mut saved.notes);
    Ok(Saved { body, ..saved })
}

fn content(data: &Value, notes: &mut Vec<Note>) -> Result<Vec<u8>, SavedError> {
    let text = data["text"].as_str().unwrap_or_default();
    let is_base64 = data["encoding"] == "base64" || data["_base64"] == true;
    if is_base64 {
        return STANDARD
            .decode(text)
            .map_err(|error| SavedError::Base64(error.to_string()));
    }
    if text.is_empty() {
        if data["params"].as_array().is_some_and(|list| !list.is_empty()) {
            let detail = "the HAR has the body's parameters, not its bytes; hint: `--body FILE` gives them";
            notes.push(Note::new(body::MISSING, detail));
        }
    } else {
        let detail = "a HAR keeps the body as text, which its tool may have re-encoded; hint: where only the digest \
                      does not match, `--body FILE` gives the bytes";
        notes.push(Note::new("body_from_text", detail));
    }
    Ok(text.as_bytes().to_vec())
}

/// The header lines of a request, pseudo-headers included.
fn fields(request: &Value) -> impl Iterator<Item = (&str, &str)> {
    let list = request["headers"].as_array().map_or(&[][..], Vec::as_slice);
    list.iter()
        .filter_map(|field| Some((field["name"].as_str()?, field["value"].as_str()?)))
}

fn is_signed(request: &Value) -> bool {
    fields(request).any(|(name, value)| match name.to_ascii_lowercase().as_str() {
        "signature" | "signature-input" => true,
        "authorization" => value
            .get(..10)
            .is_some_and(|scheme| scheme.eq_ignore_ascii_case("signature ")),
        _ => false,
    })
}

fn choose(entries: &[Value], places: &[usize], what: &'static str) -> SavedError {
    let line = |place: &usize| {
        let request = &entries[*place]["request"];
        let text = |name: &str| excerpt(request[name].as_str().unwrap_or("?").as_bytes());
        format!("{} `{} {}`", place + 1, text("method"), text("url"))
    };
    let mut listed: Vec<String> = places.iter().take(LISTED_MAX).map(line).collect();
    if places.len() > LISTED_MAX {
        listed.push("...".to_owned());
    }
    SavedError::Choose {
        count: places.len(),
        what,
        listed: listed.join(", "),
    }
}

/// How many requests a message lists.
const LISTED_MAX: usize = 20;
