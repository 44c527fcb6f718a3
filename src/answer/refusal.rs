//! Answers that a profile writes as text: refusals, and what an inbox says.

use http::StatusCode;
use http::header::CONTENT_TYPE;

use crate::activitypub::{MediaType, escape};
use crate::answer::Answer;
use crate::farm::Peer;
use crate::software::Reply;

/// What such a text may mention.
#[derive(Clone, Copy, Debug, Default)]
pub struct Told<'a> {
    /// The name of the reason, as in a verdict.
    pub reason: &'a str,
    /// The reason in words.
    pub detail: &'a str,
    /// The resource that WebFinger was asked for.
    pub resource: &'a str,
    /// The path asked for.
    pub path: &'a str,
    /// The key id of the signature in question.
    pub key_id: &'a str,
    /// The id of the activity in question.
    pub activity: &'a str,
}

/// The answer that this reply writes. What it mentions is escaped inside markup, since much of it is what the other
/// side sent; inside JSON the document sees to that.
pub fn answer(reply: &Reply, peer: &Peer, told: &Told<'_>) -> Answer {
    let content_type = reply.content_type.as_deref();
    let is_markup = content_type
        .and_then(MediaType::parse)
        .is_some_and(|media| media.subtype.ends_with("html") || media.subtype.ends_with("xml"));
    let mut values = peer.server_values();
    for (name, text) in [
        ("reason", told.reason),
        ("detail", told.detail),
        ("resource", told.resource),
        ("path", told.path),
        ("key_id", told.key_id),
        ("activity", told.activity),
    ] {
        values.set(name, if is_markup { escape(text) } else { text.to_owned() });
    }
    let status = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let answer = Answer {
        body: reply.body.render(&values).into(),
        ..Answer::empty(status)
    };
    match content_type {
        Some(content_type) => answer.with(CONTENT_TYPE, content_type),
        None => answer,
    }
}
