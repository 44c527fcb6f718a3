//! What is new with each activity: a number and a UUID for its id. Both come from the seed, so that a run repeats its
//! own ids and no other run's.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::clock::Timestamp;
use crate::farm::{Peer, Who, World};
use crate::ids::Host;
use crate::seed::Seed;
use crate::software::Values;

/// Counts each peer's activities.
#[derive(Debug)]
pub(super) struct Fresh {
    seed: Seed,
    counts: HashMap<Host, AtomicU64>,
    nonces: AtomicU64,
}

impl Fresh {
    /// For the peers of this world.
    pub(super) fn new(world: &World) -> Fresh {
        let counts = world
            .peers()
            .iter()
            .map(|peer| (peer.host.clone(), AtomicU64::new(0)));
        Fresh {
            seed: world.seed,
            counts: counts.collect(),
            nonces: AtomicU64::new(0),
        }
    }

    /// A nonce for a signature, never the same twice: the moment keeps those of another run with the seed apart.
    pub(super) fn nonce(&self, now: Timestamp) -> String {
        let count = self.nonces.fetch_add(1, Ordering::Relaxed);
        self.seed
            .uuid(&["nonce", &now.unix().to_string(), &count.to_string()])
    }

    /// The how-manyth activity of its peer this is, from 0.
    pub(super) fn count(&self, peer: &Peer) -> u64 {
        self.counts
            .get(&peer.host)
            .map_or(0, |count| count.fetch_add(1, Ordering::Relaxed))
    }

    /// What a template may say of an actor's next activity: the actor's values, `serial`, `uuid`.
    pub(super) fn values(&self, peer: &Peer, who: Who) -> Values {
        let (host, count) = (peer.host.as_str(), self.count(peer));
        // Within what every JSON reader keeps exact, and as long as the numbers of a server that has run for years.
        let serial = (self.seed.number(&[host, "serial"]) >> 16) + count;
        let mut values = peer.values(who);
        values.set("serial", serial);
        values.set("uuid", self.seed.uuid(&[host, "activity", &count.to_string()]));
        values
    }
}
