//! Peers, and one peer with its actors.

use serde::Deserialize;
use serde_json::Value;

use crate::cli::output::foreign;
use crate::cli::show::table;

#[derive(Deserialize)]
struct Peers {
    peers: Vec<Peer>,
}

#[derive(Deserialize)]
struct Peer {
    host: String,
    software: String,
    version: String,
    url: String,
    #[serde(default)]
    shared_inbox: Option<String>,
    actor_count: u64,
    #[serde(default)]
    actors: Vec<Actor>,
}

#[derive(Deserialize)]
struct Actor {
    name: String,
    handle: String,
    id: String,
    inbox: String,
    followers: u64,
    following: u64,
}

/// A table of peers.
pub(super) fn peers(answer: &Value) -> Result<String, serde_json::Error> {
    let Peers { peers } = Peers::deserialize(answer)?;
    let rows = peers.into_iter().map(|peer| {
        let actors = peer.actor_count.to_string();
        [peer.host, peer.software, peer.version, actors, peer.url]
    });
    Ok(table(
        ["host", "software", "version", "actors", "url"],
        &["actors"],
        rows,
    ))
}

/// One peer, and a table of its actors.
pub(super) fn peer(answer: &Value) -> Result<String, serde_json::Error> {
    let Peers { peers } = Peers::deserialize(answer)?;
    let mut text = String::new();
    for peer in peers {
        text.push_str(&foreign(&format!(
            "{}  {} {}  {}\n",
            peer.host, peer.software, peer.version, peer.url
        )));
        if let Some(inbox) = peer.shared_inbox {
            text.push_str(&foreign(&format!("shared inbox  {inbox}\n")));
        }
        let rows = peer.actors.into_iter().map(|actor| {
            let (followers, following) = (actor.followers.to_string(), actor.following.to_string());
            [
                actor.name,
                actor.handle,
                followers,
                following,
                actor.id,
                actor.inbox,
            ]
        });
        let columns = ["name", "handle", "followers", "following", "id", "inbox"];
        text.push('\n');
        text.push_str(&table(columns, &["followers", "following"], rows));
    }
    Ok(text)
}
