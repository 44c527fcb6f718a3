//! The counters: what arrived at each path of each host and how it ended, exact at every moment.
//!
//! One line keeps the numbers honest: every change holds the epoch's read lock, a snapshot and a reset hold the
//! write lock. So a snapshot never sees half an exchange, and a reset leaves none half before and half after.

mod connections;
mod path;
mod seen;
mod snapshot;
mod timing;

pub use connections::Connections;
pub use path::{Ending, Kind, Settled, Tally};
pub use seen::{IDS_MAX, IdDigest};
pub use snapshot::{Bounds, Fetches, Filter, HostSnapshot, PathSnapshot, Snapshot};
pub use timing::Summary;

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Instant;

use tokio::sync::watch;

use crate::clock::Timestamp;
use crate::ids::{DeliveryId, Host};
use crate::seed::Seed;

use path::PathCell;
use seen::Seen;

/// How many paths the farm counts apart, all hosts together: so many inboxes, and so many others, since whoever asks
/// for paths that are made up must not hide the inboxes. Further ones are counted together under `*` of their host,
/// and `bounds.paths_folded` tells how many requests that were.
pub const PATHS_MAX: usize = 10_000;

/// Where paths beyond [`PATHS_MAX`] are counted. No path is named so: a path begins with a slash.
const FOLDED: &str = "*";

/// The counters of a farm.
#[derive(Debug)]
pub struct Stats {
    seed: Seed,
    software: BTreeMap<Host, String>,
    epoch: RwLock<Epoch>,
    /// Told of every arrival, hold and ending; sending never waits.
    changes: watch::Sender<()>,
}

/// Everything since the last reset.
#[derive(Debug)]
struct Epoch {
    generation: u64,
    since: Timestamp,
    hosts: HashMap<Host, HostCell>,
    paths: AtomicUsize,
    inboxes: AtomicUsize,
    paths_folded: AtomicU64,
    seen: Seen,
    connections: Connections,
}

#[derive(Debug, Default)]
struct HostCell {
    paths: RwLock<HashMap<Box<str>, Arc<PathCell>>>,
    fetches: Mutex<BTreeMap<&'static str, Fetches>>,
}

/// One delivery that has arrived and not yet ended.
#[derive(Debug)]
#[must_use = "an arrival that is never settled stays in flight"]
pub struct Arrival {
    cell: Arc<PathCell>,
    /// Host and path as it came, where it is counted under another.
    folded_from: Option<String>,
    generation: u64,
    at: Timestamp,
}

impl Arrival {
    /// When it arrived.
    pub fn at(&self) -> Timestamp {
        self.at
    }

    /// An id at the host and path at which it arrived.
    pub fn digest(&self, id: &DeliveryId) -> IdDigest {
        IdDigest::of(self.folded_from.as_deref().unwrap_or(&self.cell.place), id)
    }
}

impl Stats {
    /// Counters for these hosts and the software each wears. No other host is ever counted.
    pub fn new(seed: Seed, software: BTreeMap<Host, String>) -> Stats {
        let epoch = Epoch::new(1, &software, 0);
        Stats {
            seed,
            software,
            epoch: RwLock::new(epoch),
            changes: watch::Sender::new(()),
        }
    }

    /// Whether what comes to this host is counted.
    pub fn counts(&self, host: &Host) -> bool {
        self.software.contains_key(host)
    }

    /// A delivery arrived: it counts in `requests` and `in_flight` from now on. `None` for a host that is not counted.
    pub fn arrive(
        &self,
        host: &Host,
        path: &str,
        kind: Kind,
        at: Timestamp,
        now: Instant,
    ) -> Option<Arrival> {
        let epoch = self.read();
        let cell = epoch.cell(host, path, kind)?;
        cell.lock().arrive(now);
        let arrival = Arrival {
            folded_from: cell.is_folded.then(|| format!("{host} {path}")),
            cell,
            generation: epoch.generation,
            at,
        };
        drop(epoch);
        self.tell();
        Some(arrival)
    }

    /// From here on a fault or a latency holds the answer, and `quiet` does not wait for it.
    pub fn hold(&self, arrival: &Arrival) {
        arrival.cell.lock().held += 1;
        self.tell();
    }

    /// The hold is over.
    pub fn release(&self, arrival: &Arrival) {
        arrival.cell.lock().held -= 1;
        self.tell();
    }

    /// A delivery ended. `record` runs in the same step, unless a reset came between: then nothing counts.
    pub fn settle(&self, arrival: Arrival, settled: &Settled, record: impl FnOnce()) {
        let epoch = self.read();
        if epoch.generation == arrival.generation {
            let taken = matches!(settled.ending, Ending::Accepted) || settled.processed;
            let first = match settled.id {
                Some(IdDigest(id)) if taken => Some(epoch.seen.insert(id)),
                _ => None,
            };
            arrival.cell.lock().settle(settled, first, arrival.at);
            record();
        }
        drop(epoch);
        self.tell();
    }

    /// Whether a delivery id was already taken at that host and path.
    pub fn knows(&self, arrival: &Arrival, id: &DeliveryId) -> bool {
        self.read().seen.contains(arrival.digest(id).0)
    }

    /// A fetch was answered, or (no status) its sender left before. `record` runs in the same step.
    pub fn fetched(&self, host: &Host, kind: &'static str, status: Option<u16>, record: impl FnOnce()) {
        let epoch = self.read();
        if let Some(cell) = epoch.hosts.get(host) {
            let mut fetches = cell.fetches.lock().unwrap_or_else(PoisonError::into_inner);
            fetches.entry(kind).or_default().count(status);
            drop(fetches);
            record();
        }
        drop(epoch);
        self.tell();
    }

    /// Changes the counters below HTTP.
    pub fn connections<T>(&self, change: impl FnOnce(&Connections) -> T) -> T {
        change(&self.read().connections)
    }

    /// Everything that `filter` lets through, in one consistent picture; `also` adds, in the same step, the bounds
    /// that others keep.
    pub fn snapshot(&self, filter: &Filter, also: impl FnOnce(&mut Bounds)) -> Snapshot {
        let epoch = self.write();
        let mut picture = self.picture(&epoch, filter);
        also(&mut picture.bounds);
        picture
    }

    /// The sums over what `filter` takes, without the distributions.
    pub fn tally(&self, filter: &Filter) -> Tally {
        let epoch = self.read();
        let mut tally = Tally::default();
        for (_, host) in epoch.hosts.iter().filter(|(host, _)| filter.takes_host(host)) {
            for (path, cell) in host.paths.read().unwrap_or_else(PoisonError::into_inner).iter() {
                if filter.takes_path(path, cell.kind) {
                    cell.lock().add_to(&mut tally);
                }
            }
        }
        tally
    }

    /// Starts a new generation and gives the one it closed, in one step; `also` runs in that step, with the bounds of
    /// the closed one. What is in flight belongs to neither.
    pub fn reset(&self, also: impl FnOnce(&mut Bounds)) -> Snapshot {
        let mut epoch = self.write();
        let mut closed = self.picture(&epoch, &Filter::default());
        *epoch = Epoch::new(epoch.generation + 1, &self.software, epoch.connections.open());
        also(&mut closed.bounds);
        drop(epoch);
        self.tell();
        closed
    }

    /// Wakes on every arrival, hold and ending from now on.
    pub fn changes(&self) -> watch::Receiver<()> {
        self.changes.subscribe()
    }

    fn picture(&self, epoch: &Epoch, filter: &Filter) -> Snapshot {
        let mut totals = path::Counts::default();
        let mut hosts = BTreeMap::new();
        for (host, software) in &self.software {
            let Some(cell) = epoch.hosts.get(host).filter(|_| filter.takes_host(host)) else {
                continue;
            };
            let mut paths = BTreeMap::new();
            for (path, cell) in cell.paths.read().unwrap_or_else(PoisonError::into_inner).iter() {
                if filter.takes_path(path, cell.kind) {
                    let counts = cell.lock();
                    totals.add(&counts);
                    paths.insert(path.to_string(), counts.snapshot(cell.kind));
                }
            }
            let fetches = cell
                .fetches
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone();
            hosts.insert(
                host.clone(),
                HostSnapshot {
                    software: software.clone(),
                    paths,
                    fetches,
                },
            );
        }
        Snapshot {
            since: epoch.since,
            generation: epoch.generation,
            seed: self.seed,
            totals: totals.snapshot(Kind::Total),
            hosts,
            connections: epoch.connections.snapshot(),
            bounds: Bounds {
                ids_evicted: epoch.seen.evicted(),
                paths_folded: epoch.paths_folded.load(Ordering::Relaxed),
                ..Bounds::default()
            },
        }
    }

    /// Wakes whoever waits. Whoever comes later sees the change anyway: it subscribes before it looks.
    fn tell(&self) {
        if self.changes.receiver_count() > 0 {
            self.changes.send_replace(());
        }
    }

    /// A panic while the lock was held left whole numbers behind, so the numbers stay usable.
    fn read(&self) -> RwLockReadGuard<'_, Epoch> {
        self.epoch.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Epoch> {
        self.epoch.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Epoch {
    fn new(generation: u64, software: &BTreeMap<Host, String>, open: u64) -> Epoch {
        Epoch {
            generation,
            since: Timestamp::now(),
            hosts: software
                .keys()
                .map(|host| (host.clone(), HostCell::default()))
                .collect(),
            paths: AtomicUsize::new(0),
            inboxes: AtomicUsize::new(0),
            paths_folded: AtomicU64::new(0),
            seen: Seen::default(),
            connections: Connections::with_open(open),
        }
    }

    fn cell(&self, name: &Host, path: &str, kind: Kind) -> Option<Arc<PathCell>> {
        let host = self.hosts.get(name)?;
        let known = host.paths.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(cell) = known.get(path) {
            return Some(Arc::clone(cell));
        }
        drop(known);
        let mut paths = host.paths.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(cell) = paths.get(path) {
            return Some(Arc::clone(cell));
        }
        let known = match kind {
            Kind::Inbox => &self.inboxes,
            _ => &self.paths,
        };
        let counted_at = if known.fetch_add(1, Ordering::Relaxed) < PATHS_MAX {
            path
        } else {
            self.paths_folded.fetch_add(1, Ordering::Relaxed);
            FOLDED
        };
        let cell = paths
            .entry(counted_at.into())
            .or_insert_with(|| Arc::new(PathCell::new(kind, name, counted_at)));
        Some(Arc::clone(cell))
    }
}
