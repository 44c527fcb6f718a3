//! The counters at one moment, as `/stats` gives them. The field names are the contract's.

use std::collections::BTreeMap;
use std::time::Instant;

use serde::Serialize;

use crate::clock::Timestamp;
use crate::ids::Host;
use crate::seed::Seed;
use crate::signature::Outcome;

use crate::stats::connections::ConnectionsSnapshot;
use crate::stats::path::{Kind, Tally};
use crate::stats::timing::{StampedSummary, Summary};

/// Which hosts and paths are asked for; an empty filter takes all.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// A host.
    pub host: Option<Host>,
    /// A path, as counted.
    pub path: Option<String>,
    /// A kind of path.
    pub kind: Option<Kind>,
}

impl Filter {
    pub(super) fn takes_host(&self, host: &Host) -> bool {
        self.host.as_ref().is_none_or(|wanted| wanted == host)
    }

    pub(super) fn takes_path(&self, path: &str, kind: Kind) -> bool {
        self.path.as_ref().is_none_or(|wanted| wanted == path)
            && self.kind.is_none_or(|wanted| wanted == kind)
    }
}

/// All counters at one moment.
#[derive(Clone, Debug, Serialize)]
pub struct Snapshot {
    /// Since when they count.
    pub since: Timestamp,
    /// How many resets there were, and one.
    pub generation: u64,
    /// The seed of the run.
    pub seed: Seed,
    /// The sums over the paths below.
    pub totals: PathSnapshot,
    /// Every host of the farm, with the paths that saw something.
    pub hosts: BTreeMap<Host, HostSnapshot>,
    /// What happened below HTTP.
    pub connections: ConnectionsSnapshot,
    /// Which bounds bit, and how often.
    pub bounds: Bounds,
}

/// One host's counters.
#[derive(Clone, Debug, Serialize)]
pub struct HostSnapshot {
    /// The software it wears.
    pub software: String,
    /// Its paths that saw a delivery.
    pub paths: BTreeMap<String, PathSnapshot>,
    /// What was fetched from it, by kind.
    pub fetches: BTreeMap<&'static str, Fetches>,
}

/// One path's counters.
#[derive(Clone, Debug, Serialize)]
pub struct PathSnapshot {
    /// What the path is.
    pub kind: Kind,
    /// Every delivery that arrived: always the sum of the five below.
    pub requests: u64,
    /// Not yet answered.
    pub in_flight: u64,
    /// Taken.
    pub accepted: u64,
    /// Not taken, by the farm's own decision.
    pub refused: u64,
    /// Decided by a fault.
    pub faulted: u64,
    /// Left by the sender.
    pub aborted: u64,
    /// Distinct delivery ids taken.
    pub unique: u64,
    /// Later deliveries of an id already taken.
    pub duplicates: u64,
    /// Answers by status.
    pub status: BTreeMap<u16, u64>,
    /// What verification found.
    pub verdicts: Verdicts,
    /// Which faults took part.
    pub faults: BTreeMap<String, u64>,
    /// Bytes of bodies.
    pub bytes: u64,
    /// From the send time a delivery carries to the arrival of its first accepted attempt.
    pub first_success_ms: StampedSummary,
    /// From arrival to the answer's last byte.
    pub service_ms: Summary,
    /// In flight and not held by a fault.
    #[serde(skip)]
    pub busy: u64,
    /// When the last delivery arrived.
    #[serde(skip)]
    pub last_arrival: Option<Instant>,
}

impl PathSnapshot {
    /// The sums of this snapshot, as [`crate::stats::Stats::tally`] gives them at once.
    pub fn tally(&self) -> Tally {
        Tally {
            requests: self.requests,
            unique: self.unique,
            busy: self.busy,
            last_arrival: self.last_arrival,
        }
    }
}

/// What verification found, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Verdicts {
    /// Signatures that hold.
    pub valid: u64,
    /// Signatures that do not.
    pub invalid: u64,
    /// Deliveries without one.
    pub unsigned: u64,
}

impl Verdicts {
    pub(super) fn count(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Invalid => self.invalid += 1,
            Outcome::Unsigned => self.unsigned += 1,
            Outcome::Valid => self.valid += 1,
        }
    }

    pub(super) fn add(&mut self, other: &Verdicts) {
        self.valid += other.valid;
        self.invalid += other.invalid;
        self.unsigned += other.unsigned;
    }
}

/// Fetches of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Fetches {
    /// How many.
    pub requests: u64,
    /// Answers by status; a sender that left before has none.
    pub status: BTreeMap<u16, u64>,
}

impl Fetches {
    pub(super) fn count(&mut self, status: Option<u16>) {
        self.requests += 1;
        if let Some(status) = status {
            *self.status.entry(status).or_default() += 1;
        }
    }
}

/// How often each bound bit since the last reset.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Bounds {
    /// Deliveries whose attempts were forgotten; a rule takes their next attempt for the first.
    pub attempts_evicted: u64,
    /// Delivery ids forgotten; a duplicate of one counts as unique.
    pub ids_evicted: u64,
    /// Journal entries forgotten.
    pub journal_evicted: u64,
    /// Requests counted under `*`, their host having too many paths.
    pub paths_folded: u64,
    /// Followers and follows that found no room.
    pub relations_refused: u64,
    /// Notes that were sent and cannot be fetched any more.
    pub sent_evicted: u64,
}
