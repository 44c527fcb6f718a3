//! A farm without sockets: requests go in as values, and answers come out.

mod collections;
mod discovery;
mod documents;
mod negotiation;
mod refusals;
mod routes;

use std::sync::{Arc, LazyLock};

use http::{HeaderMap, HeaderName, Method, Request};
use serde_json::Value;

use crate::answer::refusal::Told;
use crate::answer::{Answer, Ask, CollectionKind, Route, is_guarded, refusal, to, webfinger};
use crate::farm::notes::Place;
use crate::farm::{Note, Peer, Who, World};
use crate::journal::Journal;
use crate::seed::Seed;
use crate::software::{Profiles, load};
use crate::store::{ActorKeys, KeyOwner, KeyScope, Keyring, Store};

/// One peer of each of these software, `<software>1.test`; eleven actors, so that one has a made-up name.
struct Farm {
    world: World,
    _state: tempfile::TempDir,
}

const ACTORS: u32 = 11;
const SEED: Seed = Seed(7);

static PROFILES: LazyLock<Profiles> = LazyLock::new(|| load(None).unwrap());

/// One pair for everybody: whose keys a document shows is the caller's affair.
static KEYS: LazyLock<Arc<ActorKeys>> = LazyLock::new(|| {
    let state = tempfile::tempdir().unwrap();
    let keyring = keyring(&state);
    let owner = KeyOwner::instance("keys.test".parse().unwrap());
    keyring.obtain(&owner, crate::software::RsaBits::Rsa2048).unwrap()
});

fn keyring(state: &tempfile::TempDir) -> Keyring {
    Keyring::new(Arc::new(Store::open(state.path()).unwrap()), KeyScope::Actor)
}

impl Farm {
    fn of(softwares: &[&str]) -> Farm {
        Farm::at(softwares, None, 45)
    }

    fn at(softwares: &[&str], port: Option<u16>, notes: u32) -> Farm {
        Farm::with(&PROFILES, softwares, port, notes)
    }

    fn with(profiles: &Profiles, softwares: &[&str], port: Option<u16>, notes: u32) -> Farm {
        let peer = |name: &&str| {
            let found = profiles.get(name);
            let software = found.unwrap_or_else(|| panic!("no profile `{name}`"));
            Peer::new(
                format!("{name}1.test").parse().unwrap(),
                Arc::clone(software),
                ACTORS,
                "https",
                port,
            )
        };
        let peers = softwares.iter().map(peer).collect();
        let state = tempfile::tempdir().unwrap();
        let world = World::new(SEED, notes, peers, Journal::new(1_000), keyring(&state));
        Farm { world, _state: state }
    }

    /// One Mastodon whose profile was changed: each text gives way to the other.
    fn of_changed_mastodon(changes: &[(&str, &str)]) -> Farm {
        let mut text = include_str!("../../../peers/mastodon.toml").to_owned();
        for (from, to) in changes {
            assert!(text.contains(from), "`{from}` is not in the profile");
            text = text.replace(from, to);
        }
        let profiles = tempfile::tempdir().unwrap();
        std::fs::write(profiles.path().join("mastodon.toml"), text).unwrap();
        Farm::with(&load(Some(profiles.path())).unwrap(), &["mastodon"], None, 45)
    }

    /// A farm with every profile there is.
    fn whole(port: Option<u16>) -> Farm {
        let names: Vec<&str> = PROFILES.iter().map(|software| software.name.as_str()).collect();
        Farm::at(&names, port, 45)
    }

    fn peer(&self, software: &str) -> &Peer {
        self.world
            .peer(&format!("{software}1.test").parse().unwrap())
            .unwrap()
    }

    fn peers(&self) -> impl Iterator<Item = &Peer> {
        self.world.peers().iter().map(|peer| &**peer)
    }

    fn route(&self, peer: &Peer, method: &str, target: &str) -> Route {
        let target = target.strip_prefix(peer.origin.as_str()).unwrap_or(target);
        let (path, query) = split(target);
        Route::of(&self.world, peer, &method.parse().unwrap(), path, query)
    }

    fn ask(&self, peer: &Peer, method: &str, target: &str, headers: &[(&str, &str)]) -> Answer {
        let target = target.strip_prefix(peer.origin.as_str()).unwrap_or(target);
        let route = self.route(peer, method, target);
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(HeaderName::try_from(*name).unwrap(), value.parse().unwrap());
        }
        let (path, query) = split(target);
        let ask = Ask {
            method: &method.parse().unwrap(),
            path,
            query,
            headers: &map,
        };
        to(
            &self.world,
            peer,
            &route,
            &ask,
            route.needs_key().map(|_| &**KEYS),
        )
    }

    /// A GET of a path or URL as a program sends it.
    fn get(&self, peer: &Peer, target: &str) -> Answer {
        self.ask(peer, "GET", target, &[("accept", "application/activity+json")])
    }

    /// The JSON document there.
    fn document(&self, peer: &Peer, target: &str) -> Value {
        let answer = self.get(peer, target);
        assert_eq!(answer.status, 200, "{target} of {}", peer.software.name);
        answer.document()
    }
}

fn split(target: &str) -> (&str, Option<&str>) {
    match target.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (target, None),
    }
}

impl Answer {
    fn document(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }
}
