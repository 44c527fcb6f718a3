//! `GET /stats`, `GET /stats/hooks`, `POST /reset`.

use std::collections::BTreeMap;

use http::Response;
use serde::Serialize;

use crate::control::body::json;
use crate::control::query::{Parameters, bad};
use crate::control::{Body, Problem};
use crate::deliver::KeyFetches;
use crate::farm::World;
use crate::ids::Host;
use crate::serve::Site;
use crate::stats::{Filter, Kind, PathSnapshot, Snapshot, Summary};

/// The counters, those that `host`, `path` and `kind` name.
pub(super) fn stats(site: &Site, query: Option<&str>) -> Result<Response<Body>, Problem> {
    let parameters = Parameters::read(query, &["host", "path", "kind"])?;
    let filter = filter(&parameters)?;
    known(&site.world, filter.host.as_ref())?;
    let counters = site.world.snapshot(&filter);
    Ok(counted(counters, site.outbound.key_fetches()))
}

/// One line a hook, by its path.
pub(super) fn hooks(world: &World, query: Option<&str>) -> Result<Response<Body>, Problem> {
    Parameters::read(query, &[])?;
    let filter = Filter {
        kind: Some(Kind::Hook),
        ..Filter::default()
    };
    let snapshot = world.snapshot(&filter);
    let hosts = snapshot.hosts.into_values();
    let hooks: BTreeMap<String, Hook> = hosts
        .flat_map(|host| host.paths)
        .map(|(path, counts)| (path, Hook::of(counts)))
        .collect();
    Ok(json(&hooks))
}

/// Zeroes the counters and the journal, and answers what they were.
pub(super) fn reset(site: &Site, query: Option<&str>) -> Result<Response<Body>, Problem> {
    Parameters::read(query, &[])?;
    let closed = site.world.reset();
    Ok(counted(closed, site.outbound.reset_key_fetches()))
}

/// Counters as every call answers them.
pub(super) fn counted(counters: Snapshot, key_fetches: KeyFetches) -> Response<Body> {
    json(&Counted {
        counters,
        key_fetches,
    })
}

/// The filter that the parameters `host`, `path` and `kind` make.
pub(super) fn filter(parameters: &Parameters) -> Result<Filter, Problem> {
    Ok(Filter {
        host: parameters.host()?,
        path: parameters.text("path").map(str::to_owned),
        kind: parameters.kind()?,
    })
}

/// Refuses a host that the farm does not have: nothing would ever be counted there, and a typo is likelier.
pub(super) fn known(world: &World, host: Option<&Host>) -> Result<(), Problem> {
    match host.filter(|host| !world.stats.counts(host)) {
        Some(host) => Err(bad(
            format!("`host`: the farm has no `{host}`; `/peers` lists its hosts"),
            "host",
        )),
        None => Ok(()),
    }
}

/// What arrived, and what the farm fetched to judge it. The latter is the farm's own doing and stands beside the epoch:
/// a fetch under way during a reset counts after it.
#[derive(Debug, Serialize)]
struct Counted {
    #[serde(flatten)]
    counters: Snapshot,
    key_fetches: KeyFetches,
}

/// A hook as mock providers count: what was not taken failed, whoever decided it.
#[derive(Debug, Serialize)]
struct Hook {
    requests: u64,
    failures: u64,
    unique: u64,
    duplicates: u64,
    first_success_ms: Summary,
}

impl Hook {
    fn of(counts: PathSnapshot) -> Hook {
        Hook {
            requests: counts.requests,
            failures: counts.faulted + counts.refused,
            unique: counts.unique,
            duplicates: counts.duplicates,
            first_success_ms: counts.first_success_ms.summary,
        }
    }
}
