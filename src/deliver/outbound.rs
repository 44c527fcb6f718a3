//! The way out: what every fetch and every delivery of the farm shares.

use std::fmt;
use std::sync::Arc;

use tokio::task::spawn_blocking;

use crate::deliver::fresh::Fresh;
use crate::deliver::key_cache::KeyCache;
use crate::deliver::taken::Taken;
use crate::deliver::{KeyFetches, Signer, SignerError};
use crate::farm::{Peer, Who, World};
use crate::net::client::Client;
use crate::store::ActorKeys;

/// Sends and fetches for the farm's actors. Cheap to clone; all clones share one key cache, and remember the same.
#[derive(Clone)]
pub struct Outbound {
    pub(super) world: Arc<World>,
    pub(super) client: Client,
    pub(super) keys: Arc<KeyCache>,
    pub(super) fresh: Arc<Fresh>,
    pub(super) taken: Arc<Taken>,
}

impl Outbound {
    /// For this world, behind the client's gate.
    pub fn new(world: Arc<World>, client: Client) -> Outbound {
        Outbound {
            fresh: Arc::new(Fresh::new(&world)),
            keys: Arc::default(),
            taken: Arc::default(),
            world,
            client,
        }
    }

    /// An actor of a peer as a sender.
    ///
    /// # Errors
    /// When the keys cannot be made, read or written.
    pub async fn signer(&self, peer: &Peer, who: Who) -> Result<Signer, SignerError> {
        let keys = self.keys(peer, who).await?;
        Ok(Signer::new(peer, who, keys, Arc::clone(&self.fresh)))
    }

    /// An actor's keys. Where they are yet to be made, that happens away from the threads that serve, and whoever wants
    /// others does not wait.
    ///
    /// # Errors
    /// As [`Outbound::signer`].
    pub async fn keys(&self, peer: &Peer, who: Who) -> Result<Arc<ActorKeys>, SignerError> {
        let owner = peer.key_owner(who);
        if let Some(keys) = self.world.keyring.ready(&owner) {
            return Ok(keys);
        }
        let (world, bits) = (Arc::clone(&self.world), peer.software.keys.rsa_bits);
        let made = spawn_blocking(move || world.keyring.obtain(&owner, bits)).await;
        Ok(made.map_err(|_| SignerError::Interrupted)??)
    }

    /// What became of the key fetches so far.
    pub fn key_fetches(&self) -> KeyFetches {
        self.keys.fetches()
    }

    /// Zeroes what [`Outbound::key_fetches`] counts and gives what that closed, in one step. The keys stay; failures to get
    /// one are forgotten, and every key may be fetched again at once.
    pub fn reset_key_fetches(&self) -> KeyFetches {
        self.keys.reset_fetches()
    }
}

impl fmt::Debug for Outbound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outbound")
            .field("key_fetches", &self.key_fetches())
            .finish_non_exhaustive()
    }
}
