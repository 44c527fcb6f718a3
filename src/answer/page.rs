//! Pages for people, who come to see whether an actor is there: one screen each, without scripts.

use crate::activitypub::escape;
use crate::answer::Answer;
use crate::farm::notes::Place;
use crate::farm::{Note, Peer, Who, World};

/// How many notes an actor's page shows.
const NOTES_SHOWN: u32 = 5;

/// An actor: who it is, on what, and its newest notes.
pub fn actor(world: &World, peer: &Peer, who: Who) -> Answer {
    let notes = match who {
        Who::Actor(actor) => {
            let newest = (0..world.notes).rev().take(NOTES_SHOWN as usize);
            newest
                .map(|note| entry(peer, &Note::in_outbox(world, peer, Place { actor, note })))
                .collect()
        }
        Who::Instance => String::new(),
    };
    page(peer, who, &notes)
}

/// A note, under its author's name.
pub fn note(world: &World, peer: &Peer, place: Place) -> Option<Answer> {
    let note = Note::at(world, peer, place)?;
    Some(page(peer, note.who, &entry(peer, &note)))
}

fn page(peer: &Peer, who: Who, notes: &str) -> Answer {
    let url = peer.actor_url(who);
    let [name, handle, url, software, version] = [
        peer.name(who),
        peer.handle(who),
        url,
        peer.software.name.clone(),
        peer.software.version.clone(),
    ]
    .map(|text| escape(&text));
    let html = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{name} (@{handle})</title>\n\
         <link rel=\"alternate\" type=\"application/activity+json\" href=\"{url}\">\n</head>\n<body>\n\
         <h1>{name}</h1>\n<p>@{handle}, on an imitation of {software} {version} by peerfarm</p>\n{notes}</body>\n</html>\n"
    );
    Answer::ok("text/html; charset=utf-8", html)
}

/// The content is HTML of the farm's own making.
fn entry(peer: &Peer, note: &Note) -> String {
    let [url, published] = [note.url(peer), note.published.clone()].map(|text| escape(&text));
    format!(
        "<article>{}<a href=\"{url}\"><time>{published}</time></a></article>\n",
        note.content
    )
}
