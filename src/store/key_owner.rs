//! Whose keys: an actor's, an instance actor's, or those of all of a peer, and the file they lie in.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::ids::Host;

/// Whom a pair of keys belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KeyOwner {
    host: Host,
    role: Role,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Role {
    Actor(Arc<str>),
    Instance,
    Peer,
}

impl KeyOwner {
    /// An actor of a peer, by its user name.
    pub fn actor(host: Host, name: impl Into<Arc<str>>) -> KeyOwner {
        KeyOwner {
            host,
            role: Role::Actor(name.into()),
        }
    }

    /// The actor that stands for a whole peer.
    pub fn instance(host: Host) -> KeyOwner {
        KeyOwner {
            host,
            role: Role::Instance,
        }
    }

    /// All of the owner's peer, where its actors share their keys.
    pub(super) fn peer(&self) -> KeyOwner {
        KeyOwner {
            host: self.host.clone(),
            role: Role::Peer,
        }
    }

    /// The file under the state directory: `keys/<host>/<name>.pem`. No name leads elsewhere or meets another: what is
    /// special to a path is escaped, `.pem` follows `.` and `..` too, and no actor's file begins with `@`.
    pub(super) fn file(&self) -> PathBuf {
        let name = match &self.role {
            Role::Actor(name) => utf8_percent_encode(name, ESCAPED).to_string(),
            Role::Instance => "@instance".to_owned(),
            Role::Peer => "@peer".to_owned(),
        };
        Path::new(KEYS).join(self.host.as_str()).join(name + ".pem")
    }
}

impl fmt::Display for KeyOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.role {
            Role::Actor(name) => write!(f, "{name}@{}", self.host),
            Role::Instance => write!(f, "the instance actor of {}", self.host),
            Role::Peer => write!(f, "all of {}", self.host),
        }
    }
}

const KEYS: &str = "keys";

/// All but what every user name of the field is made of.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'_')
    .remove(b'-')
    .remove(b'.')
    .remove(b'+');

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_owner_has_a_file_of_its_own_in_its_hosts_folder() {
        let host: Host = "a.test".parse().unwrap();
        let actor = |name: &str| KeyOwner::actor(host.clone(), name).file();
        for (file, expected) in [
            (actor("alice"), "keys/a.test/alice.pem"),
            (actor("a.b-c_d+e"), "keys/a.test/a.b-c_d+e.pem"),
            (actor("."), "keys/a.test/..pem"),
            (actor(".."), "keys/a.test/...pem"),
            (actor("../../x"), "keys/a.test/..%2F..%2Fx.pem"),
            (actor("@instance"), "keys/a.test/%40instance.pem"),
            (actor("%40instance"), "keys/a.test/%2540instance.pem"),
            (actor("a\0"), "keys/a.test/a%00.pem"),
            (
                KeyOwner::instance(host.clone()).file(),
                "keys/a.test/@instance.pem",
            ),
            (
                KeyOwner::instance(host.clone()).peer().file(),
                "keys/a.test/@peer.pem",
            ),
        ] {
            assert_eq!(file, Path::new(expected));
        }
    }

    proptest::proptest! {
        #[test]
        fn no_name_leaves_the_folder(name in ".{0,80}") {
            let host: Host = "a.test".parse().unwrap();
            let file = KeyOwner::actor(host, name).file();
            let parts: Vec<_> = file.components().collect();
            assert!(matches!(parts[..], [_, _, std::path::Component::Normal(_)]));
            assert_eq!(file.parent(), Some(Path::new("keys/a.test")));
        }
    }
}
