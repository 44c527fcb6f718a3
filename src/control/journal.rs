//! `GET /journal`, `GET /journal/{id}`.

use std::sync::Arc;

use http::{Response, StatusCode};
use serde::Serialize;

use crate::answer::KINDS;
use crate::clock::Timestamp;
use crate::control::body::json;
use crate::control::query::{Parameters, number};
use crate::control::stats::known;
use crate::control::{Body, Problem};
use crate::farm::World;
use crate::journal::{Entry, Journal, Query, Since};
use crate::signature::Outcome;
use crate::stats::Ending;

/// What arrived, newest first, those entries that the parameters name.
pub(super) fn entries(world: &World, query: Option<&str>) -> Result<Response<Body>, Problem> {
    let parameters = Parameters::read(
        query,
        &["host", "path", "kind", "verdict", "outcome", "since", "limit"],
    )?;
    let since = "an entry's id, or a moment such as `2026-01-01T00:00:00.000Z`";
    let query = Query {
        host: parameters.host()?,
        path: parameters.text("path").map(str::to_owned),
        kind: parameters.read_as("kind", kind, &format!("one of `{}`", KINDS.join("`, `")))?,
        verdict: parameters.read_as("verdict", verdict, "one of `valid`, `invalid`, `unsigned`")?,
        outcome: parameters.read_as(
            "outcome",
            outcome,
            "one of `accepted`, `refused`, `faulted`, `aborted`",
        )?,
        since: parameters.read_as("since", after, since)?,
        limit: parameters.limit(LIMIT, LIMIT_MAX)?,
    };
    known(world, query.host.as_ref())?;
    Ok(json(&Entries {
        entries: world.journal.entries(&query),
    }))
}

/// One entry, with its headers and its body.
pub(super) fn entry(journal: &Journal, id: &str, query: Option<&str>) -> Result<Response<Body>, Problem> {
    Parameters::read(query, &[])?;
    let found = number(id).and_then(|id| journal.entry(id));
    let entry = found.ok_or_else(|| {
        let detail = format!("there is no entry `{id}` in the journal: it was forgotten, or never was");
        Problem::new(StatusCode::NOT_FOUND, detail).with("evicted", journal.evicted())
    })?;
    Ok(json(&entry.whole()))
}

#[derive(Serialize)]
struct Entries {
    entries: Vec<Arc<Entry>>,
}

fn kind(text: &str) -> Option<String> {
    KINDS.contains(&text).then(|| text.to_owned())
}

fn verdict(text: &str) -> Option<Outcome> {
    match text {
        "invalid" => Some(Outcome::Invalid),
        "unsigned" => Some(Outcome::Unsigned),
        "valid" => Some(Outcome::Valid),
        _ => None,
    }
}

fn outcome(text: &str) -> Option<Ending> {
    match text {
        "aborted" => Some(Ending::Aborted),
        "accepted" => Some(Ending::Accepted),
        "faulted" => Some(Ending::Faulted),
        "refused" => Some(Ending::Refused),
        _ => None,
    }
}

fn after(text: &str) -> Option<Since> {
    match number(text) {
        Some(id) => Some(Since::Id(id)),
        None => Timestamp::parse_rfc3339(text).map(Since::Moment),
    }
}

/// How many entries are answered where none is said.
const LIMIT: usize = 100;

/// The most entries in one answer; `since` and the filters lead to others.
const LIMIT_MAX: usize = 1_000;
