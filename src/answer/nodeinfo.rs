//! NodeInfo: the discovery document and those it links to.

use http::StatusCode;
use http::header::LOCATION;
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::farm::{Peer, World};

/// `/.well-known/nodeinfo`: the documents in the profile's order, and what else the software lists there.
pub fn links(peer: &Peer) -> Answer {
    let (nodeinfo, values) = (&peer.software.nodeinfo, peer.server_values());
    let documents = nodeinfo.documents.iter().map(|document| {
        let rel = format!("http://nodeinfo.diaspora.software/ns/schema/{}", document.version);
        json!({"rel": rel, "href": document.url.render(&values)})
    });
    let others = nodeinfo
        .extra_links
        .iter()
        .map(|(rel, href)| json!({"rel": rel, "href": href.render(&values)}));
    let links: Vec<Value> = documents.chain(others).collect();
    Answer::json("application/json", &json!({"links": links}))
}

/// A document. Every actor is a user, and every note of every outbox a post.
pub fn document(world: &World, peer: &Peer, index: usize) -> Option<Answer> {
    let document = peer.software.nodeinfo.documents.get(index)?;
    let posts = u64::from(peer.actors) * u64::from(world.notes);
    let values = peer
        .server_values()
        .with("users", peer.actors)
        .with("posts", posts);
    Some(Answer::json(
        &document.content_type,
        &document.document.render(&values),
    ))
}

/// A redirect to a document.
pub fn redirect(peer: &Peer, index: usize) -> Option<Answer> {
    let document = peer.software.nodeinfo.documents.get(index)?;
    let target = document.url.render(&peer.server_values());
    Some(Answer::empty(StatusCode::MOVED_PERMANENTLY).with(LOCATION, &target))
}
