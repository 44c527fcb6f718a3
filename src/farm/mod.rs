//! The live farm: its peers, who they are and whom they know. Actors exist only as names until someone asks, so a
//! farm of a thousand peers with a thousand actors each costs a thousand entries.

mod attempts;
mod documents;
pub mod forged_keys;
pub mod notes;
mod peer;
mod relations;
mod sent;

pub use attempts::Attempts;
pub use documents::Note;
pub use forged_keys::{ForgedKey, ForgedKeys};
pub use peer::{Peer, Who};
pub use relations::{AddFollower, Follow, Relations};
pub use sent::SentNotes;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::ids::Host;
use crate::journal::Journal;
use crate::seed::Seed;
use crate::stats::{Filter, Snapshot, Stats};
use crate::store::Keyring;

/// The host of the default webhook provider.
pub const HOOKS_HOST: &str = "hooks.test";

/// What the hooks host says it wears, where a peer has its software.
const HOOKS_SOFTWARE: &str = "webhook";

/// Everything that lives while the farm runs. Shared by reference; each part locks for itself.
#[derive(Debug)]
pub struct World {
    /// The seed of this run.
    pub seed: Seed,
    /// Notes in each outbox.
    pub notes: u32,
    /// The counters.
    pub stats: Stats,
    /// What arrived, newest last.
    pub journal: Journal,
    /// The actors' keys.
    pub keyring: Keyring,
    /// Who follows whom.
    pub relations: Relations,
    /// Attempts of deliveries, for rules that treat a retry apart.
    pub attempts: Attempts,
    /// Keys that claim to be somebody else's, once an actor was told to sign with one.
    pub forged_keys: ForgedKeys,
    /// Notes that were sent and stand in no outbox.
    pub sent: SentNotes,
    peers: Vec<Arc<Peer>>,
    by_host: HashMap<Host, usize>,
}

impl World {
    /// A world of these peers and the hooks host; hosts are distinct (the roster's check holds that).
    ///
    /// # Panics
    /// Never: [`HOOKS_HOST`] is a host name.
    pub fn new(seed: Seed, notes: u32, peers: Vec<Peer>, journal: Journal, keyring: Keyring) -> World {
        let peers: Vec<Arc<Peer>> = peers.into_iter().map(Arc::new).collect();
        let by_host = peers
            .iter()
            .enumerate()
            .map(|(index, peer)| (peer.host.clone(), index))
            .collect();
        let hooks: Host = HOOKS_HOST.parse().expect("the hooks host is a host name");
        let mut software: BTreeMap<Host, String> = peers
            .iter()
            .map(|peer| (peer.host.clone(), peer.software.name.clone()))
            .collect();
        software.insert(hooks, HOOKS_SOFTWARE.to_owned());
        World {
            seed,
            notes,
            stats: Stats::new(seed, software),
            journal,
            keyring,
            relations: Relations::default(),
            attempts: Attempts::default(),
            forged_keys: ForgedKeys::default(),
            sent: SentNotes::default(),
            peers,
            by_host,
        }
    }

    /// The peers in the roster's order.
    pub fn peers(&self) -> &[Arc<Peer>] {
        &self.peers
    }

    /// The peer of that name.
    pub fn peer(&self, host: &Host) -> Option<&Arc<Peer>> {
        self.by_host.get(host).map(|index| &self.peers[*index])
    }

    /// The counters at this moment, with every bound that bit since the last reset.
    pub fn snapshot(&self, filter: &Filter) -> Snapshot {
        self.stats.snapshot(filter, |bounds| {
            bounds.attempts_evicted = self.attempts.evicted();
            bounds.journal_evicted = self.journal.evicted();
            bounds.relations_refused = self.relations.refused();
            bounds.sent_evicted = self.sent.evicted();
        })
    }

    /// Zeroes counters and journal in one step and gives what that closed; relations stay.
    pub fn reset(&self) -> Snapshot {
        self.stats.reset(|bounds| {
            bounds.attempts_evicted = self.attempts.clear();
            bounds.journal_evicted = self.journal.clear();
            bounds.relations_refused = self.relations.forget_refused();
            bounds.sent_evicted = self.sent.forget_evicted();
        })
    }
}
