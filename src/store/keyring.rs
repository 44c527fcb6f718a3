//! The actors' keys: made when first needed, kept on disk, and held in memory for those who signed last.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread;

use crate::signature::key::KeyError;
use crate::software::RsaBits;
use crate::store::Store;
use crate::store::actor_keys::{ActorKeys, KeyFile};
use crate::store::disk::Mode;
use crate::store::error::StoreError;
use crate::store::key_owner::KeyOwner;
use crate::store::once::OnceTry;

/// Everybody's keys. It holds the state directory's lock as long as it lives.
#[derive(Debug)]
pub struct Keyring {
    store: Arc<Store>,
    scope: KeyScope,
    limit: usize,
    held: RwLock<Held>,
    made: AtomicU64,
    read: AtomicU64,
    dropped: AtomicU64,
}

/// Whose a key pair is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyScope {
    /// Each actor has its own.
    Actor,
    /// All actors of a peer have the same.
    Peer,
}

/// How many keys there are; keys come in pairs of RSA and Ed25519, each pair counts once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyCounts {
    /// In memory now.
    pub held: usize,
    /// Made since the start.
    pub made: u64,
    /// Read from disk since the start.
    pub read: u64,
    /// Dropped from memory because the bound was reached; they are read again when needed.
    pub dropped: u64,
}

#[derive(Debug, Default)]
struct Held {
    cells: HashMap<KeyOwner, Cell>,
    /// The owners in `cells`, oldest first.
    order: VecDeque<KeyOwner>,
}

/// Where one owner's keys are or will be.
type Cell = Arc<OnceTry<Arc<ActorKeys>>>;

impl Keyring {
    /// A keyring over a state directory. Nothing is read or made yet.
    pub fn new(store: Arc<Store>, scope: KeyScope) -> Keyring {
        Keyring::bounded(store, scope, MAX_HELD)
    }

    fn bounded(store: Arc<Store>, scope: KeyScope, limit: usize) -> Keyring {
        Keyring {
            store,
            scope,
            limit,
            held: RwLock::default(),
            made: AtomicU64::new(0),
            read: AtomicU64::new(0),
            dropped: AtomicU64::new(0),
        }
    }

    /// An owner's keys, where they are in memory; never waits for disk or for keys being made.
    pub fn ready(&self, owner: &KeyOwner) -> Option<Arc<ActorKeys>> {
        let held = self.held.read().unwrap_or_else(PoisonError::into_inner);
        held.cells.get(&*self.holder(owner))?.ready()
    }

    /// An owner's keys, from memory, from disk, or made now: 0.1 s of a core for RSA-2048, ten times that for RSA-4096.
    /// Whoever asks for the same keys meanwhile waits for them; nobody else waits. It blocks: in async code call it
    /// where blocking is allowed. All askers for one owner name the same `bits`; the first holds while in memory.
    ///
    /// # Errors
    /// When the file cannot be read or written; the next who asks tries anew.
    pub fn obtain(&self, owner: &KeyOwner, bits: RsaBits) -> Result<Arc<ActorKeys>, StoreError> {
        let owner = self.holder(owner);
        self.cell(&owner).obtain(|| self.read_or_make(&owner, bits))
    }

    /// Obtains the keys of all these owners on so many threads, and returns when they are there.
    ///
    /// # Errors
    /// The first failure; what was made until then is kept.
    pub fn make_ahead(&self, owners: &[(KeyOwner, RsaBits)], threads: usize) -> Result<(), StoreError> {
        let next = AtomicUsize::new(0);
        let work = || {
            while let Some((owner, bits)) = owners.get(next.fetch_add(1, Ordering::Relaxed)) {
                if let Err(error) = self.obtain(owner, *bits) {
                    // The others stop after the key they are at.
                    next.store(owners.len(), Ordering::Relaxed);
                    return Err(error);
                }
            }
            Ok(())
        };
        thread::scope(|scope| {
            let workers: Vec<_> = (0..threads.clamp(1, owners.len().max(1)))
                .map(|_| scope.spawn(work))
                .collect();
            workers.into_iter().try_for_each(|worker| match worker.join() {
                Ok(outcome) => outcome,
                Err(panic) => std::panic::resume_unwind(panic),
            })
        })
    }

    /// The counters.
    pub fn counts(&self) -> KeyCounts {
        KeyCounts {
            held: self
                .held
                .read()
                .unwrap_or_else(PoisonError::into_inner)
                .cells
                .len(),
            made: self.made.load(Ordering::Relaxed),
            read: self.read.load(Ordering::Relaxed),
            dropped: self.dropped.load(Ordering::Relaxed),
        }
    }

    /// Under whose name an owner's keys are kept.
    fn holder<'a>(&self, owner: &'a KeyOwner) -> Cow<'a, KeyOwner> {
        match self.scope {
            KeyScope::Actor => Cow::Borrowed(owner),
            KeyScope::Peer => Cow::Owned(owner.peer()),
        }
    }

    fn cell(&self, owner: &KeyOwner) -> Cell {
        let held = self.held.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(cell) = held.cells.get(owner) {
            return Arc::clone(cell);
        }
        drop(held);
        let mut held = self.held.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(cell) = held.cells.get(owner) {
            return Arc::clone(cell);
        }
        let cell = Cell::default();
        held.cells.insert(owner.clone(), Arc::clone(&cell));
        held.order.push_back(owner.clone());
        let dropped = held.shrink_to(self.limit);
        self.dropped.fetch_add(dropped, Ordering::Relaxed);
        cell
    }

    fn read_or_make(&self, owner: &KeyOwner, bits: RsaBits) -> Result<Arc<ActorKeys>, StoreError> {
        let failed = |source: KeyError| StoreError::Key {
            owner: owner.to_string(),
            source,
        };
        let path = owner.file();
        let mut file = match self.store.disk.text(&path)? {
            Some(text) => KeyFile::from_pem(&text).map_err(|problem| StoreError::Corrupt {
                path: self.store.dir().join(&path),
                wanted: "an actor's keys",
                problem,
            })?,
            None => KeyFile::default(),
        };
        if file.complete(bits).map_err(failed)? {
            let disk = &self.store.disk;
            path.parent().map_or(Ok(()), |folder| disk.make_folder(folder))?;
            disk.put(&path, file.pem().map_err(failed)?.as_bytes(), Mode::Private)?;
            self.made.fetch_add(1, Ordering::Relaxed);
        } else {
            self.read.fetch_add(1, Ordering::Relaxed);
        }
        Ok(Arc::new(file.keys(bits).map_err(failed)?))
    }
}

impl Held {
    /// Drops the oldest until so many are left, but none that somebody waits for: they would be made twice. Says how
    /// many were dropped.
    fn shrink_to(&mut self, limit: usize) -> u64 {
        let mut dropped = 0;
        for _ in 0..self.order.len() {
            if self.cells.len() <= limit {
                break;
            }
            let Some(owner) = self.order.pop_front() else {
                break;
            };
            match self.cells.get(&owner) {
                // Whoever makes or waits holds the cell too.
                Some(cell) if Arc::strong_count(cell) > 1 => self.order.push_back(owner),
                _ => {
                    self.cells.remove(&owner);
                    dropped += 1;
                }
            }
        }
        dropped
    }
}

/// How many pairs of keys stay in memory, about 10 KB each. Those being made may exceed it by the threads that make.
const MAX_HELD: usize = 4_096;

#[cfg(test)]
mod tests;
