//! The document of an actor, and that of its key where the key has one of its own.

use serde_json::Value;

use crate::answer::Answer;
use crate::farm::{Peer, Who};
use crate::software::Values;
use crate::store::ActorKeys;

/// The actor, at its id (ActivityPub section 4).
pub fn document(peer: &Peer, who: Who, keys: &ActorKeys) -> Answer {
    let documents = &peer.software.documents;
    let document = match who {
        Who::Actor(_) => &documents.actor,
        Who::Instance => &documents.instance,
    };
    Answer::json(
        &documents.content_type,
        &document.render(&values(peer, who, keys)),
    )
}

/// The key alone; `None` where the software has no such document.
pub fn key_document(peer: &Peer, who: Who, keys: &ActorKeys) -> Option<Answer> {
    let documents = &peer.software.documents;
    let document = documents.key.as_ref()?;
    Some(Answer::json(
        &documents.content_type,
        &document.render(&values(peer, who, keys)),
    ))
}

fn values(peer: &Peer, who: Who, keys: &ActorKeys) -> Values {
    let name = peer.name(who);
    let summary = match who {
        Who::Actor(_) => format!(
            "{name} lives at {}, a server made of nothing but tests.",
            peer.host
        ),
        Who::Instance => format!("{} itself.", peer.host),
    };
    let mut values = peer.values(who);
    values.set("display_name", capitalised(&name));
    values.set("summary", summary);
    values.set("published", JOINED);
    values.set("public_key_pem", keys.public_key_pem.as_str());
    values.set("ed25519_multibase", Value::from(keys.ed25519_multibase.as_str()));
    values
}

fn capitalised(name: &str) -> String {
    let mut characters = name.chars();
    let first = characters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(characters).collect()
}

/// Everybody joined the day before the first note; midnight, as several software round it.
const JOINED: &str = "2019-12-31T00:00:00Z";
