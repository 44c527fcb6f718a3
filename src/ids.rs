//! The names of things: hosts, actors, handles. Whatever arrives as text becomes one of these at the door.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize};

/// A host name in lower case, without a port: `mastodon1.test`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Host(Arc<str>);

impl Host {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Host {
    /// Reads a host behind which a port may stand, as in a peer's URLs. The port says nothing: hosts tell peers apart.
    ///
    /// # Errors
    /// What stands before the port is no host.
    pub fn before_port(text: &str) -> Result<Host, NameError> {
        match text.rsplit_once(':') {
            Some((host, port)) if port.parse::<u16>().is_ok() => host.parse(),
            _ => text.parse(),
        }
    }
}

impl FromStr for Host {
    type Err = NameError;

    /// Reads a DNS name (RFC 1035 section 2.3.1, underscores let pass): labels of letters, digits and hyphens,
    /// 63 bytes each, 253 in all. Capitals are folded; one trailing dot is dropped.
    fn from_str(text: &str) -> Result<Host, NameError> {
        let name = text.strip_suffix('.').unwrap_or(text);
        let label_holds = |label: &str| {
            !label.is_empty()
                && label.len() <= 63
                && !label.starts_with('-')
                && !label.ends_with('-')
                && label
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
        };
        if name.len() > 253 || !name.split('.').all(label_holds) {
            return Err(NameError::Host(text.to_owned()));
        }
        Ok(Host(name.to_ascii_lowercase().into()))
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Host {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Host, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

/// The user part of a handle, in lower case: `alice`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct ActorName(Arc<str>);

impl ActorName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ActorName {
    type Err = NameError;

    /// Reads a user name: letters, digits, `_`, `-`, `.`, `+`, at most 64. Capitals are folded, since every
    /// software here compares names without regard to case.
    fn from_str(text: &str) -> Result<ActorName, NameError> {
        let holds = !text.is_empty()
            && text.len() <= 64
            && text
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'+'));
        if !holds {
            return Err(NameError::Actor(text.to_owned()));
        }
        Ok(ActorName(text.to_ascii_lowercase().into()))
    }
}

impl fmt::Display for ActorName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A handle: `alice@mastodon1.test`, with a port where it is not the default: `alice@mastodon1.test:7443`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Acct {
    /// The user part.
    pub name: ActorName,
    /// The host part.
    pub host: Host,
    /// The port, where one was given (no part of RFC 7565, but a farm on a high port needs it).
    pub port: Option<u16>,
}

impl FromStr for Acct {
    type Err = NameError;

    /// Reads `name@host[:port]`, with `@` or `acct:` in front or not.
    fn from_str(text: &str) -> Result<Acct, NameError> {
        let error = || NameError::Acct(text.to_owned());
        let bare = match text.get(..5) {
            Some(scheme) if scheme.eq_ignore_ascii_case("acct:") => &text[5..],
            _ => text,
        };
        let bare = bare.strip_prefix('@').unwrap_or(bare);
        let (name, authority) = bare.split_once('@').ok_or_else(error)?;
        let (host, port) = match authority.split_once(':') {
            Some((host, port)) => (host, Some(port.parse().map_err(|_| error())?)),
            None => (authority, None),
        };
        Ok(Acct {
            name: name.parse().map_err(|_| error())?,
            host: host.parse().map_err(|_| error())?,
            port,
        })
    }
}

impl fmt::Display for Acct {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.name, self.host)?;
        match self.port {
            Some(port) => write!(f, ":{port}"),
            None => Ok(()),
        }
    }
}

/// By what a repeated delivery is known: an activity's `id`, a hook's id header or body `id`, or a digest of the body.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct DeliveryId(Box<str>);

impl DeliveryId {
    /// The id with that text.
    pub fn new(text: impl Into<Box<str>>) -> DeliveryId {
        DeliveryId(text.into())
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What was given is no name of its kind.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Not a handle.
    #[error("`{0}` is no handle: write `name@host`, for instance `alice@mastodon1.test`")]
    Acct(String),
    /// Not a user name.
    #[error("`{0}` is no user name: letters, digits, `_`, `-`, `.`, `+`, at most 64")]
    Actor(String),
    /// Not a host name.
    #[error("`{0}` is no host name: labels of letters, digits and hyphens, for instance `mastodon1.test`")]
    Host(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_read_with_and_without_port_and_prefix() {
        for text in [
            "alice@a.test",
            "@alice@A.test",
            "acct:Alice@a.test",
            "ACCT:alice@a.test.",
        ] {
            let acct: Acct = text.parse().unwrap();
            assert_eq!(acct.to_string(), "alice@a.test", "{text}");
        }
        let acct: Acct = "alice@a.test:8443".parse().unwrap();
        assert_eq!(
            (acct.port, acct.to_string().as_str()),
            (Some(8443), "alice@a.test:8443")
        );
    }

    #[test]
    fn what_is_no_handle_is_refused() {
        for text in [
            "alice",
            "@",
            "alice@",
            "@a.test",
            "alice@a..test",
            "alice@a.test:x",
            "a b@a.test",
            "acct:",
        ] {
            assert!(text.parse::<Acct>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_port_may_stand_behind_a_host() {
        for text in ["a.test", "A.test:7443", "a.test.:1"] {
            assert_eq!(Host::before_port(text).unwrap().to_string(), "a.test", "{text}");
        }
        for text in [
            "a.test:",
            "a.test:x",
            "a.test:65536",
            ":7443",
            "a.test:1:2",
            "[::1]:1",
        ] {
            assert!(Host::before_port(text).is_err(), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_the_parsers_panic(text in ".{0,40}") {
            let _ = (text.parse::<Acct>(), text.parse::<Host>(), text.parse::<ActorName>());
        }
    }
}
