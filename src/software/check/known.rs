//! Which values a template may name, by where it stands.

/// Several lists as one.
pub(super) fn all<'a>(lists: &[&[&'a str]]) -> Vec<&'a str> {
    lists.concat()
}

/// What is known of a server.
pub(super) const SERVER: &[&str] = &["origin", "host", "authority", "version"];
/// What a server's own path may hold.
pub(super) const SERVER_PATH: &[&str] = &["origin", "host"];
/// What leads from a path to an actor.
pub(super) const ACTOR_PATH: &[&str] = &["origin", "name", "number", "id"];
/// What leads from a path to a note.
pub(super) const NOTE_PATH: &[&str] = &["origin", "name", "number", "id", "note"];
/// What is new with each activity.
pub(super) const FRESH: &[&str] = &["uuid", "serial"];
/// What is known of an actor.
pub(super) const ACTOR: &[&str] = &[
    "origin",
    "host",
    "authority",
    "version",
    "name",
    "number",
    "id",
    "handle",
    "actor",
    "profile",
    "inbox",
    "outbox",
    "key",
    "ed25519_key",
    "shared_inbox",
    "followers",
    "following",
    "featured",
    "key_document",
];
/// What only an actor's document says.
pub(super) const PERSON: &[&str] = &[
    "public_key_pem",
    "ed25519_multibase",
    "summary",
    "display_name",
    "published",
];
/// What a reply may say.
pub(super) const REPLY: &[&str] = &[
    "reason", "detail", "origin", "host", "resource", "path", "key_id", "activity",
];
