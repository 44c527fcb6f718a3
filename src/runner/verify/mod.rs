//! `verify`: the verdict on a request saved in a file, by the keys in others.

mod judge;
mod key;

pub use key::KeyFileError;

use serde_json::{Value, json};

use crate::command::Verify;
use crate::runner::verify::judge::{Judged, judge, judge_proofs};
use crate::runner::verify::key::Keys;
use crate::runner::{Failure, Outcome, file};
use crate::saved::{self, FILE_MAX, Saved};
use crate::signature;

pub(super) fn verify(words: &Verify) -> Result<Outcome, Failure> {
    let saved = request(words)?;
    let keys = Keys::read(words.key.as_deref(), words.shared_secret.as_deref())?;
    let request = saved.request("https");
    let Judged {
        verdicts,
        counts,
        at,
        notes,
    } = judge(words, &saved, &request, &keys);
    let verdict = &verdicts[counts];
    let notes: Vec<Value> = saved
        .notes
        .iter()
        .chain(&notes)
        .map(|note| json!({"name": note.name, "detail": note.detail}))
        .collect();
    let host = request.headers.get("host").and_then(|host| host.to_str().ok());
    let mut answer = json!({
        "method": request.method,
        "target": request.target,
        "scheme": request.scheme,
        "authority": request.authority.or(host),
        "bytes": request.body.len(),
        "judged_at": at,
        "notes": notes,
        "verdict": verdict,
    });
    if verdicts.len() > 1 {
        answer["verdicts"] = json!(verdicts);
    }
    let proofs = judge_proofs(words, &saved, &keys, at);
    if !proofs.is_empty() {
        answer["proofs"] = json!(proofs);
    }
    Ok(Outcome::Judged {
        valid: verdict.result == signature::Outcome::Valid,
        answer,
    })
}

/// The request in the file, with what the words say of it.
fn request(words: &Verify) -> Result<Saved, Failure> {
    let bytes = file::read(&words.file, FILE_MAX)?;
    let mut saved = saved::read(&bytes, words.entry).map_err(|error| Failure::Saved {
        file: words.file.clone(),
        error,
    })?;
    if let Some(body) = &words.body {
        saved = saved.with_body(file::read(body, FILE_MAX)?);
    }
    saved.scheme = words.scheme.clone().or(saved.scheme);
    saved.authority = words.authority.clone().or(saved.authority);
    Ok(saved)
}
