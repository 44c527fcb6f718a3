//! Notes and their Creates, each at its own id; `None` where a sent note was forgotten meanwhile.

use crate::answer::Answer;
use crate::farm::notes::Place;
use crate::farm::{Note, Peer, World};

/// A note.
pub fn note(world: &World, peer: &Peer, place: Place) -> Option<Answer> {
    let note = Note::at(world, peer, place)?;
    Some(Answer::json(
        &peer.software.documents.content_type,
        &note.document(peer),
    ))
}

/// The Create of a note.
pub fn create(world: &World, peer: &Peer, place: Place) -> Option<Answer> {
    let note = Note::at(world, peer, place)?;
    Some(Answer::json(
        &peer.software.documents.content_type,
        &note.create(peer),
    ))
}
