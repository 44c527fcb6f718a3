//! Journal entries in a list.

use serde::Deserialize;
use serde_json::Value;

use crate::cli::show::proof::ProofVerdict;
use crate::cli::show::table;
use crate::cli::show::verdict::Verdict;

#[derive(Deserialize)]
struct Entries {
    entries: Vec<Entry>,
}

/// What a line and the whole have in common.
#[derive(Deserialize)]
pub(super) struct Entry {
    pub(super) id: Value,
    pub(super) at: String,
    pub(super) host: String,
    pub(super) path: String,
    pub(super) method: String,
    pub(super) kind: String,
    pub(super) status: Option<u16>,
    pub(super) outcome: Option<String>,
    pub(super) delivery_id: Option<String>,
    pub(super) activity: Option<String>,
    pub(super) origin: Option<String>,
    pub(super) bytes: u64,
    pub(super) service_ms: f64,
    #[serde(default)]
    pub(super) faults: Vec<String>,
    #[serde(default)]
    pub(super) notes: Vec<String>,
    pub(super) verdict: Option<Verdict>,
    #[serde(default)]
    pub(super) proofs: Vec<ProofVerdict>,
}

impl Entry {
    /// The id as text, quoted in JSON or not.
    pub(super) fn id(&self) -> String {
        self.id
            .as_str()
            .map_or_else(|| self.id.to_string(), str::to_owned)
    }
}

/// A table of entries, newest first.
pub(super) fn entries(answer: &Value) -> Result<String, serde_json::Error> {
    let Entries { entries } = Entries::deserialize(answer)?;
    if entries.is_empty() {
        return Ok("nothing has arrived that fits\n".to_owned());
    }
    let rows = entries.into_iter().map(|entry| {
        let id = entry.id();
        let status = entry
            .status
            .map_or_else(|| "-".to_owned(), |status| status.to_string());
        let verdict = entry
            .verdict
            .as_ref()
            .map_or_else(|| "-".to_owned(), Verdict::short);
        let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        let (outcome, activity, origin) = (
            or_dash(entry.outcome),
            or_dash(entry.activity),
            or_dash(entry.origin),
        );
        [
            id,
            entry.at,
            entry.host,
            entry.method,
            entry.path,
            status,
            outcome,
            verdict,
            activity,
            origin,
        ]
    });
    let columns = [
        "id", "at", "host", "method", "path", "status", "outcome", "verdict", "activity", "origin",
    ];
    Ok(table(columns, &["id"], rows))
}
