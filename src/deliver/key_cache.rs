//! The keys that were fetched, and those that could not be. One fetch at a time a key, however many ask; a bad
//! signature makes it be fetched again, but not again and again.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::timeout;

use crate::deliver::{KeyFailure, Remote, RemoteKey};

/// What a look-up ends with.
pub(super) type Found = Result<Arc<RemoteKey>, KeyFailure>;

/// Keys by their ids, the oldest out.
#[derive(Debug)]
pub(super) struct KeyCache {
    inner: Mutex<Inner>,
    room: Arc<Semaphore>,
}

/// What became of the key fetches.
#[derive(Clone, Debug, Default, Serialize)]
pub struct KeyFetches {
    /// How they ended: `found`, or the reason or class of the failure.
    pub outcomes: BTreeMap<&'static str, u64>,
    /// How many of them fetched a key anew after a signature had failed.
    pub again: u64,
    /// How many keys the cache dropped because it was full.
    pub evicted: u64,
}

/// What is asked of the cache.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wanted<'a> {
    /// The key as it is known, fetched where it is not.
    Any,
    /// A newer one than this, whose signature did not hold.
    Newer(&'a RemoteKey),
}

/// Whether a fetch waits for its place among those that go on at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Queue {
    /// It does.
    Wait,
    /// It does not, since a fetch that has a place waits for this one.
    Skip,
}

#[derive(Debug, Default)]
struct Inner {
    slots: HashMap<String, Slot>,
    /// The ids in `slots`, oldest first.
    order: VecDeque<String>,
    fetches: KeyFetches,
}

#[derive(Debug, Default)]
struct Slot {
    known: Option<(Found, Instant)>,
    running: Option<watch::Receiver<Option<Found>>>,
    fetched_again: Option<Instant>,
}

impl Default for KeyCache {
    fn default() -> KeyCache {
        KeyCache {
            inner: Mutex::default(),
            room: Arc::new(Semaphore::new(FETCHES_AT_ONCE)),
        }
    }
}

impl KeyCache {
    /// The key of that id as the cache has it, or as `fetch` brings it. Who stops waiting does not stop the fetch: its
    /// result is for everybody who asks.
    pub(super) async fn find<F>(
        self: &Arc<Self>,
        id: &str,
        wanted: Wanted<'_>,
        now: Instant,
        queue: impl FnOnce() -> Queue,
        fetch: impl FnOnce() -> F,
    ) -> Found
    where
        F: Future<Output = Result<RemoteKey, KeyFailure>> + Send + 'static,
    {
        let running = match self.lock().look(id, wanted, now) {
            Look::Known(found) => return found,
            Look::Running(running) => Some(running),
            Look::Unknown => None,
        };
        let running = match running {
            Some(running) => running,
            None => {
                // The bound is waited for before anything is started, so what queues are requests, which have bounds.
                let place = self.place(queue()).await?;
                match self.begin(id, wanted, now, place, fetch) {
                    Ok(found) => return found,
                    Err(running) => running,
                }
            }
        };
        wait(running).await
    }

    /// A place among the fetches, where one is needed. Who waits for it too long is told so.
    async fn place(&self, queue: Queue) -> Result<Option<OwnedSemaphorePermit>, KeyFailure> {
        if queue == Queue::Skip {
            return Ok(None);
        }
        match timeout(PLACE_WAIT, Arc::clone(&self.room).acquire_owned()).await {
            Ok(Ok(place)) => Ok(Some(place)),
            Ok(Err(_)) => Err(KeyFailure::interrupted()),
            Err(_) => Err(KeyFailure::crowded(FETCHES_AT_ONCE)),
        }
    }

    /// An actor of whom the cache knows a key.
    pub(super) fn owner(&self, actor: &str) -> Option<Remote> {
        let inner = self.lock();
        let known = inner
            .slots
            .values()
            .filter_map(|slot| slot.known.as_ref()?.0.as_ref().ok());
        known
            .map(|key| &key.owner)
            .find(|owner| owner.id == actor)
            .cloned()
    }

    /// What became of the fetches.
    pub(super) fn fetches(&self) -> KeyFetches {
        self.lock().fetches.clone()
    }

    /// Zeroes the counters and gives what that closed. Keys stay; failures are forgotten, and every key may be fetched
    /// again at once.
    pub(super) fn reset_fetches(&self) -> KeyFetches {
        let mut inner = self.lock();
        for slot in inner.slots.values_mut() {
            slot.known.take_if(|(found, _)| found.is_err());
            slot.fetched_again = None;
        }
        std::mem::take(&mut inner.fetches)
    }

    /// Starts the fetch, unless somebody else did in the meantime.
    fn begin<F>(
        self: &Arc<Self>,
        id: &str,
        wanted: Wanted<'_>,
        now: Instant,
        place: Option<OwnedSemaphorePermit>,
        fetch: impl FnOnce() -> F,
    ) -> Result<Found, watch::Receiver<Option<Found>>>
    where
        F: Future<Output = Result<RemoteKey, KeyFailure>> + Send + 'static,
    {
        let mut inner = self.lock();
        match inner.look(id, wanted, now) {
            Look::Known(found) => return Ok(found),
            Look::Running(running) => return Err(running),
            Look::Unknown => {}
        }
        let (done, running) = watch::channel(None);
        inner.started(id, wanted, now, running.clone());
        drop(inner);
        let (cache, id, fetch) = (Arc::clone(self), id.to_owned(), fetch());
        tokio::spawn(async move {
            let found = fetch.await.map(Arc::new);
            let found = cache.lock().finished(&id, found, Instant::now());
            done.send_replace(Some(found));
            drop(place);
        });
        Err(running)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // A panic elsewhere leaves whole slots behind, never half of one.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

enum Look {
    Known(Found),
    Running(watch::Receiver<Option<Found>>),
    Unknown,
}

impl Inner {
    fn look(&self, id: &str, wanted: Wanted<'_>, now: Instant) -> Look {
        let Some(slot) = self.slots.get(id) else {
            return Look::Unknown;
        };
        // A fetch that panicked has left without a word.
        if let Some(running) = slot
            .running
            .as_ref()
            .filter(|running| running.has_changed().is_ok())
        {
            return Look::Running(running.clone());
        }
        let since = |moment: Instant| now.saturating_duration_since(moment);
        match (&slot.known, wanted) {
            (Some((Ok(key), _)), Wanted::Newer(stale)) if key.is_same(stale) => match slot.fetched_again {
                Some(last) if since(last) < AGAIN_AFTER => Look::Known(Ok(Arc::clone(key))),
                _ => Look::Unknown,
            },
            (Some((Ok(key), _)), _) => Look::Known(Ok(Arc::clone(key))),
            (Some((Err(failure), at)), _) if since(*at) < failure.remembered() => {
                Look::Known(Err(failure.recalled(since(*at))))
            }
            _ => Look::Unknown,
        }
    }

    fn started(
        &mut self,
        id: &str,
        wanted: Wanted<'_>,
        now: Instant,
        running: watch::Receiver<Option<Found>>,
    ) {
        let slot = self.slot(id);
        slot.running = Some(running);
        if matches!(wanted, Wanted::Newer(_)) {
            slot.fetched_again = Some(now);
            self.fetches.again += 1;
        }
    }

    /// Keeps what a fetch brought. A key that is known stays where it could not be fetched again, unless it is gone.
    fn finished(&mut self, id: &str, found: Found, now: Instant) -> Found {
        let label = match &found {
            Ok(_) => "found",
            Err(failure) => failure.label(),
        };
        *self.fetches.outcomes.entry(label).or_default() += 1;
        let slot = self.slot(id);
        slot.running = None;
        let kept = match (&slot.known, found) {
            (Some((Ok(known), _)), Err(failure)) if !failure.is_gone() => Ok(Arc::clone(known)),
            (_, found) => found,
        };
        slot.known = Some((kept.clone(), now));
        kept
    }

    /// The slot of that id; a new one may cost the oldest its place.
    fn slot(&mut self, id: &str) -> &mut Slot {
        if !self.slots.contains_key(id) {
            if self.slots.len() >= KEYS_MAX
                && let Some(oldest) = self.order.pop_front()
            {
                self.slots.remove(&oldest);
                self.fetches.evicted += 1;
            }
            self.order.push_back(id.to_owned());
        }
        self.slots.entry(id.to_owned()).or_default()
    }
}

async fn wait(mut running: watch::Receiver<Option<Found>>) -> Found {
    match running.wait_for(Option::is_some).await.as_deref() {
        Ok(Some(found)) => found.clone(),
        _ => Err(KeyFailure::interrupted()),
    }
}

/// How many keys are kept, and failures to get one.
const KEYS_MAX: usize = 4_096;

/// How many keys may be fetched at once.
const FETCHES_AT_ONCE: usize = 256;

/// How long a fetch waits for a place.
const PLACE_WAIT: Duration = Duration::from_secs(5);

/// How long a key that was fetched again is taken as it is, whatever it is said to have signed.
const AGAIN_AFTER: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signature::Reason;
    use crate::signature::key::SigningKey;

    const ID: &str = "https://a.test/u1#k";

    fn key() -> RemoteKey {
        RemoteKey {
            id: ID.to_owned(),
            owner: Remote {
                id: "https://a.test/u1".to_owned(),
                name: None,
                inbox: None,
                shared_inbox: None,
            },
            public: SigningKey::generate_ed25519().unwrap().public_key().clone(),
            fetched: Instant::now(),
        }
    }

    fn failure(reason: Reason) -> KeyFailure {
        KeyFailure {
            reason,
            detail: "no".to_owned(),
            class: None,
        }
    }

    async fn ask(
        cache: &Arc<KeyCache>,
        wanted: Wanted<'_>,
        now: Instant,
        found: Result<RemoteKey, KeyFailure>,
    ) -> Found {
        cache
            .find(ID, wanted, now, || Queue::Wait, || async { found })
            .await
    }

    fn fetched(cache: &KeyCache) -> u64 {
        cache.fetches().outcomes.values().sum()
    }

    #[tokio::test]
    async fn a_key_is_fetched_again_once_a_minute_at_the_most() {
        let (cache, start) = (Arc::<KeyCache>::default(), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        let first = ask(&cache, Wanted::Any, at(0), Ok(key())).await.unwrap();
        let mut known = ask(&cache, Wanted::Newer(&first), at(1), Ok(key()))
            .await
            .unwrap();
        assert!(!known.is_same(&first));
        for (second, is_fetched) in [
            (2, false),
            (60, false),
            (61, true),
            (62, false),
            (120, false),
            (121, true),
        ] {
            let newer = ask(&cache, Wanted::Newer(&known), at(second), Ok(key()))
                .await
                .unwrap();
            assert_eq!(!newer.is_same(&known), is_fetched, "{second}");
            known = newer;
        }
        assert_eq!((fetched(&cache), cache.fetches().again), (4, 3));
    }

    #[tokio::test]
    async fn failures_are_remembered_for_as_long_as_they_may_last() {
        for (reason, seconds) in [
            (Reason::KeyFetchFailed, 5),
            (Reason::KeyGone, 60),
            (Reason::KeyOwnerMismatch, 60),
        ] {
            let (cache, start) = (Arc::<KeyCache>::default(), Instant::now());
            assert!(
                ask(&cache, Wanted::Any, start, Err(failure(reason)))
                    .await
                    .is_err()
            );
            let before = start + Duration::from_secs(seconds) - Duration::from_millis(500);
            assert!(
                ask(&cache, Wanted::Any, before, Ok(key())).await.is_err(),
                "{reason:?}"
            );
            let after = Instant::now() + Duration::from_secs(seconds);
            assert!(
                ask(&cache, Wanted::Any, after, Ok(key())).await.is_ok(),
                "{reason:?}"
            );
        }
    }

    #[tokio::test]
    async fn old_news_says_how_old_it_is_and_a_reset_forgets_it() {
        let cache = Arc::<KeyCache>::default();
        let before = Instant::now();
        assert!(
            ask(&cache, Wanted::Any, before, Err(failure(Reason::KeyGone)))
                .await
                .is_err()
        );
        let later = Instant::now() + Duration::from_secs(20);
        let told = ask(&cache, Wanted::Any, later, Ok(key()))
            .await
            .unwrap_err()
            .detail;
        assert!(told.starts_with("no; asked 20 s ago, and again in 4"), "{told}");
        cache.reset_fetches();
        let first = ask(&cache, Wanted::Any, later, Ok(key())).await.unwrap();
        let newer = ask(&cache, Wanted::Newer(&first), later, Ok(key()))
            .await
            .unwrap();
        assert!(!newer.is_same(&first));
        let same = ask(&cache, Wanted::Newer(&newer), later, Ok(key()))
            .await
            .unwrap();
        assert!(same.is_same(&newer), "once a minute");
        cache.reset_fetches();
        let newest = ask(&cache, Wanted::Newer(&newer), later, Ok(key()))
            .await
            .unwrap();
        assert!(!newest.is_same(&newer));
    }

    #[tokio::test]
    async fn what_a_fetch_waits_for_needs_no_place() {
        let (cache, now) = (Arc::<KeyCache>::default(), Instant::now());
        for number in 0..FETCHES_AT_ONCE {
            let cache = Arc::clone(&cache);
            let id = number.to_string();
            tokio::spawn(async move {
                cache
                    .find(&id, Wanted::Any, now, || Queue::Wait, std::future::pending)
                    .await
            });
        }
        while cache.room.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        let nested = cache
            .find("nested", Wanted::Any, now, || Queue::Skip, || async { Ok(key()) })
            .await;
        assert!(nested.is_ok());
    }

    #[tokio::test]
    async fn the_oldest_key_makes_room_for_a_new_one() {
        let (cache, now) = (Arc::<KeyCache>::default(), Instant::now());
        for number in 0..=KEYS_MAX {
            let gone = || async { Err(failure(Reason::KeyGone)) };
            assert!(
                cache
                    .find(&number.to_string(), Wanted::Any, now, || Queue::Wait, gone)
                    .await
                    .is_err()
            );
        }
        let inner = cache.lock();
        assert_eq!(
            (inner.slots.len(), inner.order.len(), inner.fetches.evicted),
            (KEYS_MAX, KEYS_MAX, 1)
        );
        assert!(!inner.slots.contains_key("0") && inner.slots.contains_key("1"));
    }

    #[tokio::test]
    async fn a_fetch_that_panics_leaves_the_key_to_the_next() {
        let (cache, now) = (Arc::<KeyCache>::default(), Instant::now());
        let broken = cache
            .find(
                ID,
                Wanted::Any,
                now,
                || Queue::Wait,
                || async { panic!("as a test wants it") },
            )
            .await;
        assert_eq!(broken.unwrap_err(), KeyFailure::interrupted());
        assert!(ask(&cache, Wanted::Any, now, Ok(key())).await.is_ok());
    }
}
