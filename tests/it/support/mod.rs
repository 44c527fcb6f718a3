//! What tests share.

mod api;
mod binary;
mod control;
mod events;
mod http2;
pub mod oracle;
pub mod raw;
mod request;
mod serving;
pub mod sut;
pub mod tls;

pub use api::{Api, assert_sums};
pub use binary::{Peerfarm, Said};
pub use control::Control;
pub use events::Events;
pub use http2::Http2;
pub use request::{By, Request};
pub use serving::Serving;
pub use sut::{DEADLINE, Meets, Received, Sut};

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;

use ::peerfarm::command::serve::{KeyMode, Settings};
use ::peerfarm::ids::Host;
use ::peerfarm::stats::PathSnapshot;
use ::peerfarm::{Builder, Farm, Running};
use serde_json::Value;
use tempfile::TempDir;

/// A farm of the usual twenty peers, reachable without TLS too, that knows where the server under test is.
pub fn farm(sut: &Sut) -> Builder {
    Farm::builder()
        .shared_keys()
        .plain_http()
        .allow_http()
        .resolve(&sut.resolve())
        .unwrap()
}

/// The settings of such a farm, for what the builder has no word for.
pub fn settings(sut: &Sut, state: &Path) -> Settings {
    Settings {
        listen: vec![FREE],
        listen_http: Some(FREE),
        control: FREE,
        keys: KeyMode::Shared,
        state: state.to_owned(),
        allow_http: true,
        resolve: vec![sut.resolve().parse().unwrap()],
        ..Settings::default()
    }
}

/// A farm with settings that its builder has no words for, and its state directory. It may use plain HTTP.
pub async fn farm_with(change: impl FnOnce(&mut Settings)) -> (Running, TempDir) {
    let state = tempfile::tempdir().unwrap();
    let mut settings = Settings {
        listen: vec![FREE],
        control: FREE,
        keys: KeyMode::Shared,
        state: state.path().to_owned(),
        allow_http: true,
        ..Settings::default()
    };
    change(&mut settings);
    (Farm::builder().settings(settings).start().await.unwrap(), state)
}

/// A farm whose Mastodons wear a changed profile: each text gives way to the other.
pub async fn changed(sut: &Sut, changes: &[(&str, &str)]) -> (Running, [TempDir; 2]) {
    let mut profile = include_str!("../../../peers/mastodon.toml").to_owned();
    for (from, to) in changes {
        assert!(profile.contains(from), "`{from}` is not in the profile");
        profile = profile.replace(from, to);
    }
    let (state, profiles) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::write(profiles.path().join("mastodon.toml"), profile).unwrap();
    let settings = Settings {
        peers_dir: Some(profiles.path().to_owned()),
        ..settings(sut, state.path())
    };
    let farm = Farm::builder().settings(settings).start().await.unwrap();
    (farm, [state, profiles])
}

/// An actor of the farm, as a sender finds it.
#[derive(Clone, Debug)]
pub struct Persona {
    pub handle: String,
    pub id: String,
    pub inbox: String,
    pub shared_inbox: String,
    /// With what status its software answers what it takes.
    pub taken: u16,
}

/// An actor of a running farm.
pub fn persona(farm: &Running, handle: &str) -> Persona {
    let (name, host) = handle.split_once('@').unwrap();
    let peer = farm.peer(host).unwrap();
    let values = peer.values(peer.who(name).unwrap());
    let text = |name| values.get(name).and_then(Value::as_str).unwrap().to_owned();
    Persona {
        handle: handle.to_owned(),
        id: text("actor"),
        inbox: text("inbox"),
        shared_inbox: text("shared_inbox"),
        // As each software does, not as its profile says.
        taken: if host.starts_with("lemmy") { 200 } else { 202 },
    }
}

/// The actors of that name at a peer of each software: Mastodon, Misskey, Lemmy.
pub fn softwares(farm: &Running, name: &str) -> [Persona; 3] {
    ["mastodon1.test", "misskey1.test", "lemmy1.test"].map(|host| persona(farm, &format!("{name}@{host}")))
}

/// A document with another value in one place.
pub fn with(mut document: Value, name: &str, value: Value) -> Value {
    document[name] = value;
    document
}

/// Where a farm answers without TLS.
pub fn plain(farm: &Running) -> SocketAddr {
    farm.addresses().listen_http.unwrap()
}

/// What was counted at an inbox or a hook, by its URL.
#[track_caller]
pub fn counted(farm: &Running, url: &str) -> PathSnapshot {
    let (authority, path) = raw::parts(url);
    let host: Host = authority.split(':').next().unwrap().parse().unwrap();
    let mut stats = farm.stats();
    let host = stats.hosts.get_mut(&host).unwrap();
    let counts = host
        .paths
        .remove(path)
        .unwrap_or_else(|| panic!("nothing came to {path}"));
    adds_up(&counts);
    counts
}

/// Fails the test unless every delivery that arrived is accounted for.
#[track_caller]
pub fn adds_up(counts: &PathSnapshot) {
    let ended = counts.accepted + counts.refused + counts.faulted + counts.aborted;
    assert_eq!(counts.requests, ended + counts.in_flight, "{counts:?}");
}

/// What a call of the control API answers.
pub async fn call(farm: &Running, path: &str) -> Value {
    let url = format!("{}{path}", farm.url());
    raw::get(farm.addresses().control, &url, None).await.json()
}

/// The newest entry of the journal.
pub async fn last_entry(farm: &Running) -> Value {
    call(farm, "/journal?limit=1").await["entries"][0].take()
}

/// Some free port of this machine.
pub const FREE: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
