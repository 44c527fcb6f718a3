//! Notes and their Creates as documents: those of an outbox, made from the seed, and those made for a delivery.

use std::sync::Arc;

use serde_json::Value;

use crate::activitypub::{PUBLIC, paragraph};
use crate::farm::notes::{self, Place};
use crate::farm::{Peer, Who, World};
use crate::software::Values;

/// A note before it becomes a document.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    /// Whose it is.
    pub who: Who,
    /// The id part of its URL, `{note}` in templates.
    pub id: String,
    /// Its text, as HTML.
    pub content: String,
    /// Its text without markup.
    pub text: String,
    /// When it was published, in RFC 3339.
    pub published: String,
    /// To whom: ids of actors and collections.
    pub to: Vec<String>,
    /// To whom besides.
    pub cc: Vec<String>,
    /// Mentions and hashtags, as they stand in the document.
    pub tag: Vec<Value>,
}

impl Note {
    /// A note of an outbox: to everybody, and to the author's followers where the software publishes that collection.
    pub fn in_outbox(world: &World, peer: &Peer, place: Place) -> Note {
        let (host, who) = (peer.host.as_str(), Who::Actor(place.actor));
        let followers = peer
            .values(who)
            .get("followers")
            .and_then(Value::as_str)
            .map(str::to_owned);
        let text = notes::text(world.seed, host, place);
        Note {
            who,
            id: notes::id(peer.software.ids.note, world.seed, host, place),
            content: paragraph(&text),
            text,
            published: notes::published(place).seconds_rfc3339(),
            to: vec![PUBLIC.to_owned()],
            cc: followers.into_iter().collect(),
            tag: Vec::new(),
        }
    }

    /// The note at that place: of the outbox, or sent since.
    pub fn at(world: &World, peer: &Peer, place: Place) -> Option<Arc<Note>> {
        match place.note < world.notes {
            true => Some(Arc::new(Note::in_outbox(world, peer, place))),
            false => world.sent.note(&peer.host, place),
        }
    }

    /// The id of the note.
    pub fn url(&self, peer: &Peer) -> String {
        peer.software.urls.note.render(&self.naming_values(peer))
    }

    /// The note alone.
    pub fn document(&self, peer: &Peer) -> Value {
        peer.software.documents.note.render(&self.values(peer))
    }

    /// The Create around it.
    pub fn create(&self, peer: &Peer) -> Value {
        let note = self.document(peer);
        peer.software
            .documents
            .create
            .render(&self.values(peer).with("object", note))
    }

    /// What a template may say of the note: its actor's values, `note`, `object` (its URL), `create` (the URL of its
    /// Create), `content`, `text`, `published`, `to`, `cc`, `tag`.
    fn values(&self, peer: &Peer) -> Values {
        let mut values = self.naming_values(peer);
        values.set("object", peer.software.urls.note.render(&values));
        values.set("create", peer.software.urls.create.render(&values));
        values.set("content", self.content.as_str());
        values.set("text", self.text.as_str());
        values.set("published", self.published.as_str());
        values.set("to", self.to.as_slice());
        values.set("cc", self.cc.as_slice());
        values.set("tag", self.tag.as_slice());
        values
    }

    fn naming_values(&self, peer: &Peer) -> Values {
        peer.values(self.who).with("note", self.id.as_str())
    }
}
