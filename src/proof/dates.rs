//! The dates of a proof: `created` and `expires`, RFC 3339 in either kind.

use serde_json::{Map, Value};

use crate::clock::Timestamp;
use crate::proof::ProofVerdict;
use crate::signature::{Finding, Reason, Terms};

/// Whether the dates that are there can be read, and now lies between them but for the window's future.
pub(super) fn check(proof: &Map<String, Value>, terms: Terms, verdict: &mut ProofVerdict) {
    let Terms { window, now, .. } = terms;
    let dates = [CREATED, EXPIRES].map(|name| read(proof, name, verdict));
    if let [Some(created), _] = dates
        && created > now.plus(window.future)
    {
        let detail = format!(
            "created {created}, which is more than {} s ahead of now, {now}",
            window.future.as_secs()
        );
        verdict.add(Finding::new(Reason::CreatedInFuture, detail));
    }
    if let [_, Some(expires)] = dates
        && expires < now.minus(window.future)
    {
        let detail = format!("expired {expires}; now it is {now}");
        verdict.add(Finding::new(Reason::Expired, detail));
    }
}

fn read(proof: &Map<String, Value>, name: &str, verdict: &mut ProofVerdict) -> Option<Timestamp> {
    let value = proof.get(name)?;
    let date = value.as_str().and_then(Timestamp::parse_rfc3339);
    if date.is_none() {
        let detail =
            format!("`{name}` is `{value}`, which is no date as RFC 3339 has it: `2023-02-24T23:36:38Z`");
        verdict.add(Finding::new(Reason::DateUnreadable, detail));
    }
    date
}

/// When the proof was made.
pub(super) const CREATED: &str = "created";
/// When it ceases to hold.
pub(super) const EXPIRES: &str = "expires";
