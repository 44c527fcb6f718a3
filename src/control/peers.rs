//! `GET /peers`, `GET /peers/{host}`.

use std::sync::Arc;

use http::{Response, StatusCode};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::control::body::json;
use crate::control::query::{Parameters, bad};
use crate::control::{Body, Problem};
use crate::farm::{Peer, Who, World};
use crate::ids::Host;

/// The peers in the roster's order, `limit` of them, those after the host `after`. An answer ends earlier where it
/// would hold more than [`ACTORS_MAX`] actors, and `next` says after whom to go on. `actors=none` leaves the actors out,
/// for whoever only wants to know the peers.
pub(super) fn peers(world: &World, query: Option<&str>) -> Result<Response<Body>, Problem> {
    let parameters = Parameters::read(query, &["limit", "after", "actors"])?;
    let limit = parameters.limit(LIMIT, LIMIT_MAX)?;
    let with_actors = match parameters.text("actors") {
        None | Some("all") => true,
        Some("none") => false,
        Some(other) => {
            return Err(bad(
                format!("`actors`: `{other}` is neither `all` nor `none`"),
                "actors",
            ));
        }
    };
    let from = match parameters.value::<Host>("after")? {
        Some(after) => match world.peers().iter().position(|peer| peer.host == after) {
            Some(place) => place + 1,
            None => return Err(bad(format!("`after`: there is no peer `{after}`"), "after")),
        },
        None => 0,
    };
    let rest = world.peers().get(from..).unwrap_or_default();
    let mut listed: Vec<Listed> = Vec::new();
    let mut room = ACTORS_MAX;
    for peer in rest.iter().take(limit) {
        let actors = if with_actors {
            peer.actors.min(ACTORS_MAX)
        } else {
            0
        };
        if actors > room {
            break;
        }
        room -= actors;
        listed.push(Listed::of(world, peer, 0..actors));
    }
    let next = match listed.last() {
        Some(last) if listed.len() < rest.len() => Some(last.host.to_string()),
        _ => None,
    };
    Ok(json(&Answer { peers: listed, next }))
}

/// One peer, with the facts of its software: `limit` of its actors, those after the one named `after`.
pub(super) fn peer(world: &World, host: &str, query: Option<&str>) -> Result<Response<Body>, Problem> {
    let parameters = Parameters::read(query, &["limit", "after"])?;
    let limit = parameters.limit(ACTORS_MAX as usize, ACTORS_MAX as usize)?;
    let peer = named(world, host)?;
    let from = match parameters.text("after") {
        Some(after) => match peer.who(after) {
            Some(Who::Actor(number)) => number + 1,
            _ => return Err(bad(format!("`after`: {}", no_actor(peer, after)), "after")),
        },
        None => 0,
    };
    let to = peer.actors.min(from.saturating_add(limit as u32));
    let next = (to < peer.actors && to > 0).then(|| peer.name(Who::Actor(to - 1)));
    let facts = &peer.software.facts;
    let told = Told {
        listed: Listed::of(world, peer, from..to),
        facts: facts
            .iter()
            .map(|(name, text)| (name.clone(), text.as_str().into()))
            .collect(),
    };
    Ok(json(&Answer {
        peers: vec![told],
        next,
    }))
}

/// The peer that a path names, by its host, with its port or without.
pub(super) fn named<'w>(world: &'w World, host: &str) -> Result<&'w Arc<Peer>, Problem> {
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) => (name, Some(port)),
        None => (host, None),
    };
    let peer = name.parse::<Host>().ok().and_then(|host| world.peer(&host));
    let of_port =
        |peer: &&Arc<Peer>| port.is_none_or(|port| peer.port.is_some() && port.parse().ok() == peer.port);
    peer.filter(of_port).ok_or_else(|| {
        let detail = format!("there is no peer `{host}`: `/peers` lists them");
        Problem::new(StatusCode::NOT_FOUND, detail)
    })
}

/// What to say of a name that no actor of the peer has.
pub(super) fn no_actor(peer: &Peer, name: &str) -> String {
    format!(
        "`{}` has no actor `{name}`: `/peers/{}` lists them",
        peer.host, peer.host
    )
}

#[derive(Serialize)]
struct Answer<P> {
    peers: Vec<P>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

#[derive(Serialize)]
struct Told<'a> {
    #[serde(flatten)]
    listed: Listed<'a>,
    /// What the profile tells of the software besides, by the names in [`crate::software::FACTS`].
    facts: Map<String, Value>,
}

#[derive(Serialize)]
struct Listed<'a> {
    host: &'a Host,
    software: &'a str,
    version: &'a str,
    url: &'a str,
    shared_inbox: Option<String>,
    actor_count: u32,
    actors: Vec<Actor>,
}

#[derive(Serialize)]
struct Actor {
    name: String,
    handle: String,
    id: String,
    inbox: String,
    followers: usize,
    following: usize,
}

impl<'a> Listed<'a> {
    fn of(world: &World, peer: &'a Peer, actors: std::ops::Range<u32>) -> Listed<'a> {
        let shared = peer.software.urls.shared_inbox.as_ref();
        Listed {
            host: &peer.host,
            software: &peer.software.name,
            version: &peer.software.version,
            url: &peer.origin,
            shared_inbox: shared.map(|inbox| inbox.render(&peer.server_values())),
            actor_count: peer.actors,
            actors: actors
                .map(|number| Actor::of(world, peer, Who::Actor(number)))
                .collect(),
        }
    }
}

impl Actor {
    fn of(world: &World, peer: &Peer, who: Who) -> Actor {
        let (followers, following) = world.relations.counts(&peer.host, who);
        let values = peer.values(who);
        let text = |name| {
            values
                .get(name)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        Actor {
            name: text("name"),
            handle: text("handle"),
            id: text("actor"),
            inbox: text("inbox"),
            followers,
            following,
        }
    }
}

/// How many peers are listed where none is said.
const LIMIT: usize = 100;

/// The most that may be asked for: as many as a farm has peers.
const LIMIT_MAX: usize = 10_000;

/// The most actors in one answer: a few megabytes.
const ACTORS_MAX: u32 = 10_000;
