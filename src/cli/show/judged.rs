//! What `verify` finds of a saved request, for a person.

use serde::Deserialize;
use serde_json::Value;

use crate::cli::output::foreign;
use crate::cli::show::proof::ProofVerdict;
use crate::cli::show::verdict::{Verdict, line};

/// The verdict on a saved request.
#[derive(Deserialize)]
struct Judged {
    method: String,
    target: String,
    scheme: String,
    authority: Option<String>,
    bytes: u64,
    notes: Vec<Note>,
    verdict: Verdict,
    #[serde(default)]
    verdicts: Vec<Verdict>,
    #[serde(default)]
    proofs: Vec<ProofVerdict>,
}

#[derive(Deserialize)]
struct Note {
    name: String,
    detail: String,
}

/// What was judged, what is to know of its file, and the verdict on each of its signatures and of its body's proofs.
pub(super) fn judged(answer: &Value) -> Result<String, serde_json::Error> {
    let judged = Judged::deserialize(answer)?;
    let at = judged.authority.unwrap_or_else(|| "no host".to_owned());
    let request = format!(
        "{} {} at {at} ({}), body of {} bytes",
        judged.method, judged.target, judged.scheme, judged.bytes
    );
    let mut text = line("request", &request);
    for Note { name, detail } in &judged.notes {
        text.push_str(&line("note", &format!("{name}: {detail}")));
    }
    if judged.verdicts.is_empty() {
        text.push_str(&judged.verdict.text());
    } else {
        let counts = format!(
            "{}; the first valid signature counts, else the first",
            judged.verdict.short()
        );
        text.push_str(&line("result", &counts));
    }
    let verdicts = judged.verdicts.iter().map(Verdict::text);
    for verdict in verdicts.chain(judged.proofs.iter().map(ProofVerdict::text)) {
        text.push('\n');
        text.push_str(&verdict);
    }
    Ok(foreign(&text))
}
