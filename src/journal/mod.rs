//! What arrived, whole: a ring bounded in bytes. The oldest entries make room for new ones, and `bounds` says so.

mod entry;
mod raw;

pub use entry::{Entry, Whole};
pub use raw::Raw;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio::sync::broadcast;

use crate::clock::Timestamp;
use crate::ids::Host;
use crate::signature::Outcome;
use crate::stats::Ending;

/// How many entries a slow reader of the live feed may lag behind before it loses the oldest.
const FEED_LAG: usize = 1_024;

/// The ring.
#[derive(Debug)]
pub struct Journal {
    ring: Mutex<Ring>,
    next: AtomicU64,
    limit: usize,
    /// Weak, so that a slow reader keeps nothing alive that the ring has forgotten.
    feed: broadcast::Sender<Weak<Entry>>,
}

#[derive(Debug, Default)]
struct Ring {
    entries: VecDeque<Kept>,
    bytes: usize,
    evicted: u64,
}

/// An entry with its weight, so that forgetting it does not have to look at it again.
#[derive(Debug)]
struct Kept {
    weight: usize,
    entry: Arc<Entry>,
}

/// What is asked of the journal; an empty query takes all.
#[derive(Clone, Debug, Default)]
pub struct Query {
    /// A host.
    pub host: Option<Host>,
    /// A path.
    pub path: Option<String>,
    /// A kind.
    pub kind: Option<String>,
    /// A verdict.
    pub verdict: Option<Outcome>,
    /// How it ended.
    pub outcome: Option<Ending>,
    /// Entries after this one.
    pub since: Option<Since>,
    /// How many at the most.
    pub limit: usize,
}

/// After what entries are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    /// After the entry with that id.
    Id(u64),
    /// What arrived after that moment.
    Moment(Timestamp),
}

impl Journal {
    /// A ring of so many bytes.
    pub fn new(limit: usize) -> Journal {
        Journal {
            ring: Mutex::default(),
            next: AtomicU64::new(1),
            limit,
            feed: broadcast::Sender::new(FEED_LAG),
        }
    }

    /// The id of the next entry.
    pub fn next_id(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Adds an entry, forgets the oldest beyond the bound, and tells whoever listens.
    pub fn add(&self, entry: Entry) {
        let (weight, entry) = (entry.weight(), Arc::new(entry));
        let mut ring = self.lock();
        ring.bytes += weight;
        ring.entries.push_back(Kept {
            weight,
            entry: Arc::clone(&entry),
        });
        // As a rule one goes for one that comes; it is freed once the lock is.
        let first = ring.forget_beyond(self.limit);
        while ring.forget_beyond(self.limit).is_some() {}
        drop(ring);
        drop(first);
        // Nobody listening is no failure.
        let _ = self.feed.send(Arc::downgrade(&entry));
    }

    /// The entries asked for, newest first.
    pub fn entries(&self, query: &Query) -> Vec<Arc<Entry>> {
        let ring = self.lock();
        let takes = |entry: &&Arc<Entry>| query.takes(entry);
        ring.entries
            .iter()
            .rev()
            .map(|kept| &kept.entry)
            .filter(takes)
            .take(query.limit)
            .cloned()
            .collect()
    }

    /// One entry.
    pub fn entry(&self, id: u64) -> Option<Arc<Entry>> {
        self.lock()
            .entries
            .iter()
            .rev()
            .map(|kept| &kept.entry)
            .find(|entry| entry.id == id)
            .cloned()
    }

    /// How many entries were forgotten since the last reset.
    pub fn evicted(&self) -> u64 {
        self.lock().evicted
    }

    /// Forgets everything and tells how many entries were evicted before; ids go on.
    pub fn clear(&self) -> u64 {
        std::mem::take(&mut *self.lock()).evicted
    }

    /// Entries as they come, from now on; those the ring has meanwhile forgotten cannot be upgraded.
    pub fn feed(&self) -> broadcast::Receiver<Weak<Entry>> {
        self.feed.subscribe()
    }

    /// A panic while the lock was held left whole entries behind.
    fn lock(&self) -> MutexGuard<'_, Ring> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ring {
    /// Takes the oldest entry out where the ring is over its bound.
    fn forget_beyond(&mut self, limit: usize) -> Option<Kept> {
        let oldest = match self.bytes > limit {
            true => self.entries.pop_front()?,
            false => return None,
        };
        self.bytes -= oldest.weight;
        self.evicted += 1;
        Some(oldest)
    }
}

impl Query {
    fn takes(&self, entry: &Entry) -> bool {
        self.host.as_ref().is_none_or(|host| *host == entry.host)
            && self.path.as_ref().is_none_or(|path| path == entry.raw.path())
            && self.kind.as_ref().is_none_or(|kind| kind == entry.kind)
            && self.verdict.is_none_or(|wanted| entry.verdict() == Some(wanted))
            && self.outcome.is_none_or(|wanted| entry.outcome == Some(wanted))
            && self.since.is_none_or(|since| match since {
                Since::Id(id) => entry.id > id,
                Since::Moment(moment) => entry.at > moment,
            })
    }
}
