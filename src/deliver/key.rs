//! Whose a key is: from a key id to a public key and the actor who lists it as its own.
//!
//! A key counts only where both sides say so, the key its owner and the owner the key; otherwise anybody could serve
//! a document that names a stranger as its owner (ActivityPub section B.1).

use std::sync::Arc;
use std::time::{Duration, Instant};

use url::Url;

use crate::activitypub::{Key, KeyDocument, Listed};
use crate::deliver::key_cache::{Queue, Wanted};
use crate::deliver::{Document, FetchError, Outbound, Remote, Signer};
use crate::farm::{Peer, Who};
use crate::ids::Host;
use crate::signature::Reason;
use crate::signature::key::VerifyingKey;

/// Somebody else's public key.
#[derive(Debug)]
pub struct RemoteKey {
    /// The key id under which it was asked for.
    pub id: String,
    /// The actor whose it is.
    pub owner: Remote,
    /// The key.
    pub public: VerifyingKey,
    /// When it was fetched.
    pub fetched: Instant,
}

impl RemoteKey {
    /// Whether both came from one fetch: the cache hands out one value a fetch.
    pub(super) fn is_same(&self, other: &RemoteKey) -> bool {
        std::ptr::eq(self, other)
    }
}

/// Why a key could not be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct KeyFailure {
    /// The reason, as a verdict has it: `key_fetch_failed`, `key_gone`, `key_owner_mismatch`, `key_unreadable`.
    pub reason: Reason,
    /// The reason in words, down to its cause.
    pub detail: String,
    /// The class of the fetch that failed: `refused`, `timeout`, `status`, ...
    pub class: Option<&'static str>,
}

impl Outbound {
    /// The key of that id, from the cache, or fetched as the peer's instance actor.
    ///
    /// # Errors
    /// See [`KeyFailure`].
    pub async fn key(&self, peer: &Arc<Peer>, key_id: &str) -> Result<Arc<RemoteKey>, KeyFailure> {
        self.find_key(peer, key_id, Wanted::Any).await
    }

    /// A newer key than `stale`, whose signature did not hold: it is fetched again, at most once a minute. `None` where
    /// there is no other.
    pub async fn newer_key(
        &self,
        peer: &Arc<Peer>,
        key_id: &str,
        stale: &RemoteKey,
    ) -> Option<Arc<RemoteKey>> {
        let found = self.find_key(peer, key_id, Wanted::Newer(stale)).await;
        found.ok().filter(|key| !key.is_same(stale))
    }

    async fn find_key(
        &self,
        peer: &Arc<Peer>,
        key_id: &str,
        wanted: Wanted<'_>,
    ) -> Result<Arc<RemoteKey>, KeyFailure> {
        if key_id.len() > KEY_ID_MAX {
            let detail = format!("the key id is longer than {KEY_ID_MAX} bytes");
            return Err(KeyFailure::new(Reason::KeyFetchFailed, detail));
        }
        let fetch = || {
            let (outbound, peer, key_id) = (self.clone(), Arc::clone(peer), key_id.to_owned());
            async move { outbound.fetch_key(&peer, &key_id).await }
        };
        // Whoever fetches from a peer that guards its documents is asked for the instance actor's key in turn.
        let queue = || match self.is_instance_key(key_id) {
            true => Queue::Skip,
            false => Queue::Wait,
        };
        self.keys.find(key_id, wanted, Instant::now(), queue, fetch).await
    }

    /// Whether a key id is that of a peer's instance actor.
    fn is_instance_key(&self, key_id: &str) -> bool {
        let url = Url::parse(key_id).ok();
        let host = url.and_then(|url| url.host_str()?.parse::<Host>().ok());
        let peer = host.and_then(|host| self.world.peer(&host));
        peer.is_some_and(|peer| {
            let own = peer.software.signing.key_id.render(&peer.values(Who::Instance));
            own == key_id
        })
    }

    async fn fetch_key(&self, peer: &Peer, key_id: &str) -> Result<RemoteKey, KeyFailure> {
        let url = Url::parse(key_id).map_err(|error| {
            KeyFailure::new(
                Reason::KeyFetchFailed,
                format!("key id `{key_id}` is no URL: {error}"),
            )
        })?;
        let signer = self.signer(peer, Who::Instance).await.map_err(FetchError::from)?;
        let first = self.fetch(&signer, &url).await?;
        let owner_id = owner_named(&first, key_id)?;
        let is_here = is_at(&owner_id, &first.url) || is_at(&owner_id, &url) && same_origin(&first.url, &url);
        let owner = match is_here {
            true => first.clone(),
            false => self.fetch_named(&signer, &owner_id).await?,
        };
        let public = self
            .public_key(&signer, key_id, &owner_id, &owner, &first)
            .await?;
        let owner = Remote::read(&owner.value).ok_or_else(|| mismatch(key_id, &owner_id, "has no id"))?;
        Ok(RemoteKey {
            id: key_id.to_owned(),
            owner,
            public,
            fetched: Instant::now(),
        })
    }

    /// The key, where its owner lists it: in the owner's document, or in the key's own, which `first` may be.
    async fn public_key(
        &self,
        signer: &Signer,
        key_id: &str,
        owner_id: &str,
        owner: &Document,
        first: &Document,
    ) -> Result<VerifyingKey, KeyFailure> {
        let keys = match KeyDocument::read(&owner.value) {
            Some(KeyDocument::Actor(keys)) if keys.actor == owner_id => keys,
            Some(KeyDocument::Tombstone) => return Err(gone(owner_id)),
            _ => return Err(mismatch(key_id, owner_id, "is no actor of that id with a key")),
        };
        let listed = keys
            .choose(key_id)
            .ok_or_else(|| mismatch(key_id, owner_id, "does not list that key"))?;
        let name = match listed {
            Listed::Embedded(key) if key.owner.is_none_or(|named| named == owner_id) => {
                return readable(key_id, key);
            }
            Listed::Embedded(_) => return Err(mismatch(key_id, owner_id, "lists the key as another's")),
            Listed::Named(name) => *name,
        };
        let document = match is_at(name, &first.url) {
            true => first.clone(),
            false => self.fetch_named(signer, name).await?,
        };
        match KeyDocument::read(&document.value) {
            Some(KeyDocument::Bare(key)) if key.id == name && key.owner == Some(owner_id) => {
                readable(key_id, &key)
            }
            _ => Err(mismatch(
                key_id,
                owner_id,
                "names a key document that does not name it as the owner",
            )),
        }
    }

    async fn fetch_named(&self, signer: &Signer, id: &str) -> Result<Document, KeyFailure> {
        let url = Url::parse(id)
            .map_err(|error| KeyFailure::new(Reason::KeyFetchFailed, format!("`{id}` is no URL: {error}")))?;
        let document = self.fetch(signer, &url).await?;
        // A host that redirects wherever it is told must not speak for what is found there.
        match same_origin(&document.url, &url) {
            true => Ok(document),
            false => Err(KeyFailure::new(
                Reason::KeyOwnerMismatch,
                format!("`{id}` redirects to another host, `{}`", document.url),
            )),
        }
    }
}

impl KeyFailure {
    fn new(reason: Reason, detail: String) -> KeyFailure {
        KeyFailure {
            reason,
            detail,
            class: None,
        }
    }

    /// The farm ends.
    pub(super) fn interrupted() -> KeyFailure {
        KeyFailure::new(
            Reason::KeyFetchFailed,
            "the fetch of the key was cut short".to_owned(),
        )
    }

    /// Too many others are fetched.
    pub(super) fn crowded(others: usize) -> KeyFailure {
        KeyFailure::new(
            Reason::KeyFetchFailed,
            format!("{others} other keys are being fetched, and none of them came to its end in time"),
        )
    }

    pub(super) fn is_gone(&self) -> bool {
        self.reason == Reason::KeyGone
    }

    /// How long it stands before the key is fetched again: what a server said clearly for a minute, what may pass by
    /// itself for some seconds.
    pub(super) fn remembered(&self) -> Duration {
        match self.reason {
            Reason::KeyFetchFailed => FAILED_FOR,
            _ => REFUSED_FOR,
        }
    }

    /// The same failure, told to somebody who asks later: how old the news is, and when the key is asked for again.
    pub(super) fn recalled(&self, age: Duration) -> KeyFailure {
        let again = self.remembered().saturating_sub(age).as_secs() + 1;
        let detail = format!(
            "{}; asked {} s ago, and again in {again} s at the earliest, or after a reset",
            self.detail,
            age.as_secs()
        );
        KeyFailure {
            detail,
            ..self.clone()
        }
    }

    /// The label it is counted under.
    pub(super) fn label(&self) -> &'static str {
        match self.reason {
            Reason::KeyGone => "gone",
            Reason::KeyOwnerMismatch => "owner_mismatch",
            Reason::KeyUnreadable => "unreadable",
            _ => self.class.unwrap_or("failed"),
        }
    }
}

impl From<FetchError> for KeyFailure {
    fn from(error: FetchError) -> KeyFailure {
        KeyFailure {
            reason: if error.is_gone() {
                Reason::KeyGone
            } else {
                Reason::KeyFetchFailed
            },
            detail: error.chain(),
            class: Some(error.label()),
        }
    }
}

/// Whose key the first document says it is.
fn owner_named(first: &Document, key_id: &str) -> Result<String, KeyFailure> {
    match KeyDocument::read(&first.value) {
        Some(KeyDocument::Actor(keys)) => Ok(keys.actor.to_owned()),
        Some(KeyDocument::Bare(key)) if key.id == key_id => match key.owner {
            Some(owner) => Ok(owner.to_owned()),
            None => Err(KeyFailure::new(
                Reason::KeyOwnerMismatch,
                format!("key `{key_id}` names no owner"),
            )),
        },
        Some(KeyDocument::Bare(key)) => Err(KeyFailure::new(
            Reason::KeyOwnerMismatch,
            format!("`{}` holds key `{}`, not `{key_id}`", first.url, key.id),
        )),
        Some(KeyDocument::Tombstone) => Err(gone(key_id)),
        None => Err(KeyFailure::new(
            Reason::KeyUnreadable,
            format!(
                "`{}` has no `publicKey`, no `assertionMethod`, and is no key",
                first.url
            ),
        )),
    }
}

fn readable(key_id: &str, key: &Key) -> Result<VerifyingKey, KeyFailure> {
    key.text
        .read()
        .map_err(|error| KeyFailure::new(Reason::KeyUnreadable, format!("key `{key_id}`: {error}")))
}

fn gone(id: &str) -> KeyFailure {
    KeyFailure::new(Reason::KeyGone, format!("`{id}` is a Tombstone"))
}

fn mismatch(key_id: &str, owner_id: &str, says: &str) -> KeyFailure {
    KeyFailure::new(
        Reason::KeyOwnerMismatch,
        format!("key `{key_id}`: its owner `{owner_id}` {says}"),
    )
}

/// Whether two URLs are of one server.
fn same_origin(one: &Url, other: &Url) -> bool {
    one.origin() == other.origin()
}

/// Whether an id is that of the document at `url`, its fragment aside.
fn is_at(id: &str, url: &Url) -> bool {
    let (mut own, mut url) = match Url::parse(id) {
        Ok(own) => (own, url.clone()),
        Err(_) => return false,
    };
    own.set_fragment(None);
    url.set_fragment(None);
    own == url
}

/// How long a key id may be, in bytes.
const KEY_ID_MAX: usize = 2_048;

/// How long a failed fetch is remembered.
const FAILED_FOR: Duration = Duration::from_secs(5);

/// How long a key that is gone, unreadable or somebody else's is remembered.
const REFUSED_FOR: Duration = Duration::from_secs(60);
