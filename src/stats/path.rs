//! One path's counters, and what an exchange adds to them when it ends.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::clock::{Sent, Timestamp};
use crate::ids::Host;
use crate::signature::Outcome;
use crate::stats::snapshot::{PathSnapshot, Verdicts};
use crate::stats::timing::Timing;
use crate::stats::{FOLDED, IdDigest};

/// What a path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A webhook receiver.
    Hook,
    /// An inbox, an actor's or shared.
    Inbox,
    /// All paths together.
    Total,
    /// A path that the software does not serve.
    Unknown,
}

impl Kind {
    /// The name in stats and journal.
    pub fn label(self) -> &'static str {
        match self {
            Kind::Hook => "hook",
            Kind::Inbox => "inbox",
            Kind::Total => "total",
            Kind::Unknown => "unknown",
        }
    }
}

/// How an exchange ended. Its number and those still in flight always add up to `requests`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// The sender went away before an answer that no fault was deciding.
    Aborted,
    /// The farm took it.
    Accepted,
    /// A fault decided status, body or connection.
    Faulted,
    /// The farm's own decision not to take it, whatever status says so.
    Refused,
}

/// How a delivery ended, and what was learnt of it.
#[derive(Clone, Debug)]
pub struct Settled {
    /// The outcome.
    pub ending: Ending,
    /// The status that was answered; `None` where nothing was.
    pub status: Option<u16>,
    /// What verification found, where it came so far.
    pub verdict: Option<Outcome>,
    /// The faults that took part, by name.
    pub faults: Vec<Arc<str>>,
    /// The delivery's id, where it has one.
    pub id: Option<IdDigest>,
    /// When the sender says it sent.
    pub sent: Option<Sent>,
    /// Whether it was taken although a fault broke the answer.
    pub processed: bool,
    /// The bytes of the body.
    pub bytes: u64,
    /// From arrival to the answer's last byte.
    pub service: Duration,
}

#[derive(Debug)]
pub(super) struct PathCell {
    pub(super) kind: Kind,
    /// Host and path, to tell one delivery id here from the same elsewhere.
    pub(super) place: String,
    /// Whether paths of many names are counted here.
    pub(super) is_folded: bool,
    counts: Mutex<Counts>,
}

impl PathCell {
    pub(super) fn new(kind: Kind, host: &Host, path: &str) -> PathCell {
        PathCell {
            kind,
            place: format!("{host} {path}"),
            is_folded: path == FOLDED,
            counts: Mutex::default(),
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The sums that tell how far the deliveries have come, without their distributions: cheap enough to ask for at every
/// change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Every delivery that arrived.
    pub requests: u64,
    /// Distinct delivery ids taken.
    pub unique: u64,
    /// In flight and not held by a fault.
    pub busy: u64,
    /// When the last delivery arrived.
    pub last_arrival: Option<Instant>,
}

#[derive(Debug, Default)]
pub(super) struct Counts {
    requests: u64,
    in_flight: u64,
    /// How many of those in flight a fault or a latency holds.
    pub(super) held: u64,
    accepted: u64,
    refused: u64,
    faulted: u64,
    aborted: u64,
    unique: u64,
    duplicates: u64,
    status: BTreeMap<u16, u64>,
    verdicts: Verdicts,
    faults: BTreeMap<Arc<str>, u64>,
    bytes: u64,
    first_success: Timing,
    service: Timing,
    last_arrival: Option<Instant>,
}

impl Counts {
    pub(super) fn arrive(&mut self, now: Instant) {
        self.requests += 1;
        self.in_flight += 1;
        self.last_arrival = Some(now);
    }

    /// `first` tells whether a taken delivery's id was new here; `None` where nothing was taken.
    pub(super) fn settle(&mut self, settled: &Settled, first: Option<bool>, arrived: Timestamp) {
        self.in_flight -= 1;
        match settled.ending {
            Ending::Aborted => self.aborted += 1,
            Ending::Accepted => self.accepted += 1,
            Ending::Faulted => self.faulted += 1,
            Ending::Refused => self.refused += 1,
        }
        match first {
            Some(true) => {
                self.unique += 1;
                if let Some(sent) = settled.sent {
                    self.first_success.record_since(sent, arrived);
                }
            }
            Some(false) => self.duplicates += 1,
            None => {}
        }
        if let Some(status) = settled.status {
            *self.status.entry(status).or_default() += 1;
            self.service.record(settled.service);
        }
        if let Some(verdict) = settled.verdict {
            self.verdicts.count(verdict);
        }
        for fault in &settled.faults {
            *self.faults.entry(Arc::clone(fault)).or_default() += 1;
        }
        self.bytes += settled.bytes;
    }

    pub(super) fn add(&mut self, other: &Counts) {
        self.requests += other.requests;
        self.in_flight += other.in_flight;
        self.held += other.held;
        self.accepted += other.accepted;
        self.refused += other.refused;
        self.faulted += other.faulted;
        self.aborted += other.aborted;
        self.unique += other.unique;
        self.duplicates += other.duplicates;
        for (status, count) in &other.status {
            *self.status.entry(*status).or_default() += count;
        }
        self.verdicts.add(&other.verdicts);
        for (fault, count) in &other.faults {
            *self.faults.entry(Arc::clone(fault)).or_default() += count;
        }
        self.bytes += other.bytes;
        self.first_success.add(&other.first_success);
        self.service.add(&other.service);
        self.last_arrival = self.last_arrival.max(other.last_arrival);
    }

    pub(super) fn add_to(&self, tally: &mut Tally) {
        tally.requests += self.requests;
        tally.unique += self.unique;
        tally.busy += self.in_flight - self.held;
        tally.last_arrival = tally.last_arrival.max(self.last_arrival);
    }

    pub(super) fn snapshot(&self, kind: Kind) -> PathSnapshot {
        PathSnapshot {
            kind,
            requests: self.requests,
            in_flight: self.in_flight,
            accepted: self.accepted,
            refused: self.refused,
            faulted: self.faulted,
            aborted: self.aborted,
            unique: self.unique,
            duplicates: self.duplicates,
            status: self.status.clone(),
            verdicts: self.verdicts,
            faults: self
                .faults
                .iter()
                .map(|(name, count)| (name.to_string(), *count))
                .collect(),
            bytes: self.bytes,
            first_success_ms: self.first_success.stamped(),
            service_ms: self.service.summary(),
            busy: self.in_flight - self.held,
            last_arrival: self.last_arrival,
        }
    }
}
