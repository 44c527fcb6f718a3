//! Notes of an outbox and their Creates, each at its own id.

use crate::answer::Answer;
use crate::farm::notes::Place;
use crate::farm::{Note, Peer, World};

/// A note.
pub fn note(world: &World, peer: &Peer, place: Place) -> Answer {
    let note = Note::in_outbox(world, peer, place);
    Answer::json(&peer.software.documents.content_type, &note.document(peer))
}

/// The Create of a note.
pub fn create(world: &World, peer: &Peer, place: Place) -> Answer {
    let note = Note::in_outbox(world, peer, place);
    Answer::json(&peer.software.documents.content_type, &note.create(peer))
}
