//! What a peer's software does on the wire, as a checked value. `peers/*.toml` holds one profile each; [`load()`]
//! reads them in two stages (as typed, then as meant) and reports every problem at once.
//!
//! Nothing here opens a socket; the one thing read is the directory that [`load()`] is given.

mod body;
mod check;
mod document;
mod facts;
mod id_style;
mod inbox;
mod load;
mod notes;
mod problem;
mod proofs;
mod raw;
mod roster;
mod signing;
mod template;
mod values;
mod verifying;

pub use body::Body;
pub use document::Document;
pub use facts::FACTS;
pub use load::{Profiles, load};
pub use problem::{Problem, Problems};
pub use proofs::{Making, Proofs, ProofsOn};
pub use roster::{Entry, PEERS_MAX, Roster, RosterError};
pub use signing::{CavageSigning, Rfc9421Signing, SecondKnock, Signing};
pub use template::{Captures, Template, TemplateError};
pub use values::Values;
pub use verifying::{Accepted, Verifying};

use std::time::Duration;

/// One software profile, checked: every template parses and names only values that exist where it is used.
#[derive(Debug)]
pub struct Software {
    /// The name by which a roster asks for it: `mastodon`.
    pub name: String,
    /// The version it claims to be.
    pub version: String,
    /// The user name of the instance actor: `mastodon.internal`. Values: `origin`, `host`, `authority`.
    pub instance_name: Template,
    /// How opaque ids look.
    pub ids: Ids,
    /// Where things are.
    pub urls: Urls,
    /// The actors' keys.
    pub keys: Keys,
    /// The ActivityPub documents it serves and sends.
    pub documents: Documents,
    /// `/.well-known/webfinger`.
    pub webfinger: WebFinger,
    /// `/.well-known/host-meta`, where it has one.
    pub host_meta: Option<HostMeta>,
    /// NodeInfo discovery and documents.
    pub nodeinfo: NodeInfo,
    /// How it signs.
    pub signing: Signing,
    /// What it asks of a signature and what it lets pass.
    pub verifying: Verifying,
    /// Which proofs it puts inside what it sends, and which it verifies.
    pub proofs: Proofs,
    /// How its inbox answers.
    pub inbox: Inbox,
    /// How it answers what it does not serve.
    pub refusals: Refusals,
    /// How it sends and fetches.
    pub client: Client,
    /// What is known of it besides and no code acts on, by the names in [`FACTS`], in the order of that list: retry
    /// schedules, circuit breakers, private address guards, quirks.
    pub facts: Vec<(String, String)>,
}

/// How the opaque parts of URLs look.
#[derive(Clone, Copy, Debug)]
pub struct Ids {
    /// `{id}`, an actor's.
    pub actor: IdStyle,
    /// `{note}`, a note's.
    pub note: IdStyle,
}

/// The writings of an opaque id. Each carries a number below 2^44, and leads back to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IdStyle {
    /// Lower-case letters and digits, as Misskey's: `9q2m5x0k4r`.
    Base36,
    /// Digits, as Mastodon's and Lemmy's.
    Decimal,
    /// A UUID, as Pleroma's and Mbin's.
    Uuid,
}

/// Absolute URL templates. A request's path is matched against the same templates, so each exists once.
///
/// What a request can ask for begins with `{origin}` and holds `name`, `number` (the actor's place, from 1) or `id`
/// (the actor's opaque id), and for notes and Creates `note` (the note's id part): [`Template::path_captures`] reads
/// them back. The instance's URLs hold no such part: render them and compare, before the actors' are tried. The other
/// ids may also name `host`, `authority` (host and port, where the port shows), `handle`, `actor` (the actor's URL) and
/// the other URLs by their names here, `uuid`, `serial` (a number), `follow` (the id of the Follow in question) and
/// `type` (the activity's type in lower case).
#[derive(Debug)]
pub struct Urls {
    /// An actor's id.
    pub actor: Template,
    /// An actor's page for people, also found by WebFinger.
    pub profile: Template,
    /// An actor's inbox.
    pub inbox: Template,
    /// The inbox of the whole server, where it has one.
    pub shared_inbox: Option<Template>,
    /// An actor's outbox.
    pub outbox: Template,
    /// Who follows the actor, where it is published.
    pub followers: Option<Template>,
    /// Whom the actor follows, where it is published.
    pub following: Option<Template>,
    /// The actor's pinned notes, where it has them.
    pub featured: Option<Template>,
    /// One page of a collection: `{collection}?page={page}`. Values: `collection`, `page`.
    pub page: Template,
    /// A note's id.
    pub note: Template,
    /// The id of a note's Create.
    pub create: Template,
    /// The id of a Follow the actor sends.
    pub follow: Template,
    /// The id of an Accept the actor sends. Values besides: `follow`.
    pub accept: Template,
    /// The id of the Undo of a Follow.
    pub undo: Template,
    /// The id of any other activity the actor sends. Values besides: `type`.
    pub activity: Template,
    /// The key's id in an actor's document.
    pub key: Template,
    /// The id of an actor's Ed25519 key, where it has one; the instance actor's too.
    pub ed25519_key: Option<Template>,
    /// The instance actor's id.
    pub instance: Template,
    /// The instance actor's inbox.
    pub instance_inbox: Template,
    /// The instance actor's outbox.
    pub instance_outbox: Template,
    /// The instance actor's key id.
    pub instance_key: Template,
    /// A document of its own for an actor's key (Misskey's `/publickey`, GoToSocial's `/main-key`).
    pub key_document: Option<Template>,
}

/// The keys an actor has.
#[derive(Debug)]
pub struct Keys {
    /// The RSA modulus, in bits.
    pub rsa_bits: RsaBits,
}

/// The RSA key sizes in the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RsaBits {
    /// 2048 bits: most.
    Rsa2048,
    /// 4096 bits: Friendica, Mbin, Hubzilla, Fedify.
    Rsa4096,
}

/// JSON documents with placeholders. A string that is one placeholder alone (`"{total}"`) becomes the value itself,
/// be it number, object or array; a placeholder inside a longer string becomes text.
///
/// In all of them: `origin`, `host`, `authority`, `version`, `name`, `number`, `id`, `handle`, and the URLs `actor`,
/// `profile`, `inbox`, `outbox`, `key`, `ed25519_key`, `shared_inbox`, `followers`, `following`, `featured`,
/// `key_document`. An activity's own id has the name of its template in [`Urls`]. What replaces a placeholder loses its
/// `@context`.
#[derive(Debug)]
pub struct Documents {
    /// The media type its ActivityPub documents carry.
    pub content_type: String,
    /// An actor. Values besides: `public_key_pem`, `ed25519_multibase`, `summary`, `display_name`, `published`.
    pub actor: Document,
    /// The instance actor. Values as for an actor; `actor`, `inbox`, `outbox`, `key`, `name` are its own.
    pub instance: Document,
    /// A note, inside a Create and alone. Values besides: `object` (its id), `note`, `create`, `content`, `text` (the
    /// content without markup), `published`, `to`, `cc`, `tag` (arrays).
    pub note: Document,
    /// A Create. Values besides: `create` (its id), `object` (the note, whole), `published`, `to`, `cc` (arrays).
    pub create: Document,
    /// A Follow. Values besides: `follow` (its id), `target`.
    pub follow: Document,
    /// An Accept. Values besides: `accept` (its id), `follow` (the Follow as it came, whole), `follow_id`, `follower`.
    pub accept: Document,
    /// An Undo. Values besides: `undo` (its id), `follow` (the Follow as it was sent, whole), `follow_id`, `target`.
    pub undo: Document,
    /// A collection. Values besides: `collection` (its URL), `total`, `first`, `last`.
    pub collection: Document,
    /// One page. Values besides: `page_url`, `collection`, `total`, `items`; `next` and `prev` where there is one.
    pub page: Document,
    /// The separate key document, where [`Urls::key_document`] names one. Values besides: `public_key_pem`.
    pub key: Option<Document>,
}

/// How WebFinger answers.
#[derive(Debug)]
pub struct WebFinger {
    /// Whether an actor is also found by its id and its profile page, or by `acct:` alone.
    pub by_url: bool,
    /// The document for an actor. Values: those all of [`Documents`] have, `resource` (as asked, for software that
    /// echoes it).
    pub document: Document,
    /// The document for the instance actor, where it is found at all.
    pub instance: Option<Document>,
    /// The media type: `application/jrd+json`.
    pub content_type: String,
    /// No `resource`, or one that is no URI.
    pub bad_resource: Reply,
    /// A resource on another host, or a scheme it does not know.
    pub foreign_host: Reply,
    /// No such user.
    pub unknown_user: Reply,
}

/// How host-meta answers.
#[derive(Debug)]
pub struct HostMeta {
    /// Whether the JSON twin exists (`host-meta.json`, or `Accept: application/json`).
    pub json: bool,
}

/// NodeInfo: the discovery links in the order given, and the documents.
#[derive(Debug)]
pub struct NodeInfo {
    /// The documents, in the order in which discovery lists them.
    pub documents: Vec<NodeInfoDocument>,
    /// Links of discovery that name no NodeInfo document: `(rel, href)`.
    pub extra_links: Vec<(String, Template)>,
    /// Paths that redirect to a document: `(path, index into documents)`.
    pub redirects: Vec<(String, usize)>,
}

/// One NodeInfo document.
#[derive(Debug)]
pub struct NodeInfoDocument {
    /// `2.0`, `2.1`.
    pub version: String,
    /// Where it is.
    pub url: Template,
    /// The document. Values: `origin`, `host`, `users`, `posts`, `version`.
    pub document: Document,
    /// The media type.
    pub content_type: String,
}

/// How an inbox answers.
#[derive(Debug)]
pub struct Inbox {
    /// The largest body it reads, in bytes; above it `too_large`.
    pub body_limit: usize,
    /// Taken.
    pub accepted: Reply,
    /// No signature. `None`: taken all the same.
    pub unsigned: Option<Reply>,
    /// A signature that does not hold; `{reason}` and `{detail}` may stand in the body.
    pub bad_signature: Reply,
    /// Replies of their own for single reasons, before `bad_signature` is tried.
    pub by_reason: Vec<(crate::signature::Reason, Reply)>,
    /// Not JSON, or no activity.
    pub malformed: Reply,
    /// A body over the limit.
    pub too_large: Reply,
    /// The media types it takes, without parameters, `application/*` for all of a kind; see [`Inbox::takes`].
    pub takes: Vec<String>,
    /// A media type it does not take; `None` where any will do, and then `takes` is empty.
    pub wrong_type: Option<Reply>,
    /// An inbox of an actor it does not have.
    pub unknown_recipient: Reply,
    /// A `Delete` of an actor whose key is gone.
    pub delete_of_unknown: Reply,
    /// A delivery id it has already taken; `None` where it answers as the first time.
    pub duplicate: Option<Reply>,
    /// Signed by somebody else than the activity's actor.
    pub signer_mismatch: Reply,
}

/// How it answers what it does not serve.
#[derive(Debug)]
pub struct Refusals {
    /// An actor it does not have.
    pub unknown_actor: Reply,
    /// A note or activity it does not have.
    pub unknown_object: Reply,
    /// Any other path.
    pub unknown_path: Reply,
    /// A method the path does not take.
    pub wrong_method: Reply,
    /// An unsigned or badly signed GET where authorized fetch is on.
    pub unsigned_fetch: Reply,
}

/// An answer as the software gives it.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The status: 200 to 599.
    pub status: u16,
    /// The media type of the body, where there is one.
    pub content_type: Option<String>,
    /// The body. Values: `reason`, `detail`, `origin`, `host`, `resource`, `path`, `key_id`, `activity` (the
    /// delivery's id).
    pub body: Body,
}

/// How it sends and fetches.
#[derive(Debug)]
pub struct Client {
    /// Its `User-Agent`. Values: `origin`, `host`, `version`.
    pub user_agent: Template,
    /// The `Accept` of a fetch, one header a member.
    pub accept: Vec<String>,
    /// The `Content-Type` of a delivery.
    pub content_type: String,
    /// How long a delivery may take in all.
    pub timeout: Duration,
    /// How long a fetch may take in all.
    pub fetch_timeout: Duration,
    /// The largest document it reads, in bytes.
    pub body_limit: usize,
    /// How many redirects a fetch follows.
    pub redirects: usize,
    /// Whether `Host` carries a port that is not the scheme's default; in RFC 9421, which signs it, it always does.
    pub host_with_port: bool,
}

#[cfg(test)]
mod tests;
