//! Documents of keys that claim to be somebody else's. None is served until an actor is told to sign with one.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use crate::farm::Peer;
use crate::ids::Host;

/// How many are kept; the oldest makes room for the next, and is then unknown at its id.
pub const FORGED_MAX: usize = 1_000;

/// A public key with an owner who knows nothing of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForgedKey {
    /// The actor it names as its owner.
    pub owner: String,
    /// The public key.
    pub public_key_pem: String,
}

/// The forged keys, by peer and the last part of their path.
#[derive(Debug, Default)]
pub struct ForgedKeys {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    keys: HashMap<(Host, String), Arc<ForgedKey>>,
    order: VecDeque<(Host, String)>,
}

impl ForgedKeys {
    /// Serves a key at that peer from now on, and gives the URL, which is its id. `name` is new each time.
    pub fn keep(&self, peer: &Peer, name: &str, key: ForgedKey) -> String {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let place = (peer.host.clone(), name.to_owned());
        if kept.keys.insert(place.clone(), Arc::new(key)).is_none() {
            kept.order.push_back(place);
        }
        if kept.order.len() > FORGED_MAX
            && let Some(oldest) = kept.order.pop_front()
        {
            kept.keys.remove(&oldest);
        }
        url(peer, name)
    }

    /// The name of the key at a path of the peer, where there is one.
    pub fn name_at(&self, peer: &Peer, path: &str) -> Option<String> {
        let name = path.strip_prefix(FOLDER)?;
        self.key(peer, name).map(|_| name.to_owned())
    }

    /// The key of that name.
    pub fn key(&self, peer: &Peer, name: &str) -> Option<Arc<ForgedKey>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.keys.get(&(peer.host.clone(), name.to_owned())).cloned()
    }
}

/// The URL of the key of that name.
pub fn url(peer: &Peer, name: &str) -> String {
    format!("{}{FOLDER}{name}", peer.origin)
}

/// Where they lie; no software here has anything else there.
const FOLDER: &str = "/keys/";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::software::load;

    #[test]
    fn the_oldest_makes_room_for_one_too_many() {
        let mastodon = Arc::clone(load(None).unwrap().get("mastodon").unwrap());
        let peer = Peer::new("a.test".parse().unwrap(), mastodon, 1, "https", None);
        let forged = ForgedKeys::default();
        let key = |number: usize| ForgedKey {
            owner: format!("https://b.test/u{number}"),
            public_key_pem: String::new(),
        };
        for number in 0..=FORGED_MAX {
            let url = forged.keep(&peer, &number.to_string(), key(number));
            assert_eq!(url, format!("https://a.test/keys/{number}"));
        }
        assert_eq!(forged.key(&peer, "0"), None);
        for number in [1, FORGED_MAX] {
            let name = forged.name_at(&peer, &format!("/keys/{number}")).unwrap();
            assert_eq!(*forged.key(&peer, &name).unwrap(), key(number));
        }
        assert_eq!(forged.name_at(&peer, "/keys/0"), None);
    }
}
