//! The delivery ids that were taken, 16 bytes each, bounded for the whole farm.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use aws_lc_rs::digest::{Context, SHA256};

use crate::ids::DeliveryId;

/// How many ids are remembered at least before the oldest are forgotten, all paths together; at the most it is twice
/// as many, 64 MiB of ids. `bounds.ids_evicted` tells how many were forgotten: a duplicate of one counts as `unique`.
pub const IDS_MAX: usize = 1 << 21;

/// So that deliveries to different paths do not wait for one another.
const SHARDS: usize = 16;

/// A delivery's id at one host and path: the first half of a SHA-256 over both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IdDigest(pub(super) u128);

impl IdDigest {
    /// The digest at `place`, which is host and path.
    pub fn of(place: &str, id: &DeliveryId) -> IdDigest {
        let mut context = Context::new(&SHA256);
        context.update(place.as_bytes());
        context.update(b"\n");
        context.update(id.as_str().as_bytes());
        let mut half = [0; 16];
        half.copy_from_slice(&context.finish().as_ref()[..16]);
        IdDigest(u128::from_be_bytes(half))
    }
}

/// Two generations a shard: when the young one is full it becomes the old one, and the old one is forgotten. So at
/// least [`IDS_MAX`] of the newest are known, without a list of their order.
#[derive(Debug, Default)]
pub(super) struct Seen {
    shards: [Mutex<Shard>; SHARDS],
    evicted: AtomicU64,
}

type Ids = HashSet<u128, BuildHasherDefault<FirstHalf>>;

#[derive(Debug, Default)]
struct Shard {
    young: Ids,
    old: Ids,
}

impl Seen {
    /// Remembers an id; true where it was new.
    pub(super) fn insert(&self, id: u128) -> bool {
        let mut shard = self.shard(id);
        if shard.young.contains(&id) || (!shard.old.is_empty() && shard.old.contains(&id)) {
            return false;
        }
        if shard.young.len() >= IDS_MAX / SHARDS {
            let young = std::mem::take(&mut shard.young);
            let forgotten = std::mem::replace(&mut shard.old, young);
            self.evicted.fetch_add(forgotten.len() as u64, Ordering::Relaxed);
        }
        shard.young.insert(id)
    }

    pub(super) fn contains(&self, id: u128) -> bool {
        let shard = self.shard(id);
        shard.young.contains(&id) || shard.old.contains(&id)
    }

    pub(super) fn evicted(&self) -> u64 {
        self.evicted.load(Ordering::Relaxed)
    }

    fn shard(&self, id: u128) -> MutexGuard<'_, Shard> {
        let shard = &self.shards[(id % SHARDS as u128) as usize];
        shard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The ids are digests already: their upper half is hash enough.
#[derive(Debug, Default)]
struct FirstHalf(u64);

impl Hasher for FirstHalf {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 << 8) | u64::from(*byte);
        }
    }

    fn write_u128(&mut self, id: u128) {
        self.0 = (id >> 64) as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_new_once_and_at_each_place() {
        let (seen, id) = (Seen::default(), DeliveryId::new("https://sut.test/1"));
        assert!(seen.insert(IdDigest::of("a.test /inbox", &id).0));
        assert!(!seen.insert(IdDigest::of("a.test /inbox", &id).0));
        assert!(seen.insert(IdDigest::of("b.test /inbox", &id).0));
    }

    #[test]
    fn the_oldest_are_forgotten_and_counted() {
        let seen = Seen::default();
        let half = IDS_MAX / SHARDS;
        // All in one shard: multiples of SHARDS.
        let id = |n: usize| (n * SHARDS) as u128 | ((n as u128) << 64);
        for n in 0..2 * half {
            assert!(seen.insert(id(n)));
        }
        assert_eq!(seen.evicted(), 0);
        assert!(!seen.insert(id(0)));
        seen.insert(id(2 * half));
        assert_eq!(seen.evicted(), half as u64);
        assert!(seen.insert(id(0)), "the oldest is new again");
        assert!(!seen.insert(id(2 * half)));
    }
}
