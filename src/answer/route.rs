//! What a request to a peer is after, by the templates that print the URLs.

use http::Method;

use crate::farm::notes::{self, Place};
use crate::farm::{Peer, Who, World};
use crate::software::{Captures, Template};

/// What a request is after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route {
    /// An actor, at its id.
    Actor(Who),
    /// An actor's collection, whole or one page.
    Collection(Who, CollectionKind),
    /// The Create of a note.
    Create(Place),
    /// The document of a key that claims to be somebody else's, by its name.
    ForgedKey(String),
    /// `/.well-known/host-meta`.
    HostMeta,
    /// `/.well-known/host-meta.json`.
    HostMetaJson,
    /// A delivery to an actor's inbox.
    Inbox(Who),
    /// The document of an actor's key alone.
    KeyDocument(Who),
    /// A NodeInfo document, by its place in the profile.
    NodeInfo(usize),
    /// `/.well-known/nodeinfo`.
    NodeInfoLinks,
    /// A path that leads to a NodeInfo document.
    NodeInfoRedirect(usize),
    /// A note.
    Note(Place),
    /// A browser asks whether a script may fetch that kind of document.
    Preflight(&'static str),
    /// An actor's page.
    Profile(Who),
    /// A delivery to the server's inbox.
    SharedInbox,
    /// Nothing the software has.
    Unknown,
    /// Something of an actor's that the peer does not have.
    UnknownActor,
    /// A delivery to an inbox of an actor that the peer does not have.
    UnknownInbox,
    /// A note or an activity that the peer does not have.
    UnknownObject,
    /// `/.well-known/webfinger`.
    WebFinger,
    /// Something that is there, for other methods.
    WrongMethod {
        /// The kind of what is there.
        kind: &'static str,
        /// The methods it takes, as `Allow` lists them.
        allow: &'static str,
    },
}

/// The collections of an actor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CollectionKind {
    /// Pinned notes; always empty.
    Featured,
    /// Who follows the actor.
    Followers,
    /// Whom the actor follows.
    Following,
    /// The Creates of its notes.
    Outbox,
}

impl Route {
    /// Finds what a request line is after. The path may be percent-encoded: it is matched decoded, while whoever
    /// verifies a signature uses the bytes that came.
    pub fn of(world: &World, peer: &Peer, method: &Method, path: &str, query: Option<&str>) -> Route {
        let decoded = decode(path);
        let with_query = query.map(|query| format!("{decoded}?{query}"));
        let asked = Asked {
            path: &decoded,
            with_query: with_query.as_deref(),
        };
        let forged = world.forged_keys.name_at(peer, &decoded);
        let found = forged
            .map(Route::ForgedKey)
            .or_else(|| well_known(peer, asked))
            .or_else(|| of_server(peer, asked))
            .unwrap_or_else(|| of_actor(world, peer, asked));
        found.under(method)
    }

    /// The actor whose id or page this URL of the peer is.
    pub fn who_at(world: &World, peer: &Peer, url: &str) -> Option<Who> {
        let target = url.strip_prefix(peer.origin.as_str())?;
        let (path, query) = match target.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (target, None),
        };
        match Route::of(world, peer, &Method::GET, path, query) {
            Route::Actor(who) | Route::Profile(who) => Some(who),
            _ => None,
        }
    }

    /// Whether it is a delivery to an inbox, be it of somebody the peer does not have.
    pub fn is_inbox(&self) -> bool {
        matches!(self, Route::Inbox(_) | Route::SharedInbox | Route::UnknownInbox)
    }

    /// The label in stats and journal, one of [`KINDS`]: `inbox` for deliveries, the others for fetches.
    pub fn kind(&self) -> &'static str {
        match self {
            Route::Actor(_) | Route::ForgedKey(_) | Route::KeyDocument(_) | Route::UnknownActor => "actor",
            Route::Collection(..) => "collection",
            Route::Create(_) | Route::Note(_) | Route::UnknownObject => "object",
            Route::HostMeta | Route::HostMetaJson => "host_meta",
            Route::Inbox(_) | Route::SharedInbox | Route::UnknownInbox => "inbox",
            Route::NodeInfo(_) | Route::NodeInfoLinks | Route::NodeInfoRedirect(_) => "nodeinfo",
            Route::Preflight(kind) | Route::WrongMethod { kind, .. } => kind,
            Route::Profile(_) => "page",
            Route::Unknown => "unknown",
            Route::WebFinger => "webfinger",
        }
    }

    /// Whose keys the answer shows.
    pub fn needs_key(&self) -> Option<Who> {
        match self {
            Route::Actor(who) | Route::KeyDocument(who) | Route::Profile(who) => Some(*who),
            _ => None,
        }
    }

    /// Whether it is about finding out what there is: WebFinger, host-meta, NodeInfo.
    pub fn is_discovery(&self) -> bool {
        matches!(self.kind(), "host_meta" | "nodeinfo" | "webfinger")
    }

    /// What is left of it under that method.
    fn under(self, method: &Method) -> Route {
        let kind = self.kind();
        let reads = method == Method::GET || method == Method::HEAD;
        match self {
            Route::Inbox(_) | Route::SharedInbox if method != Method::POST => {
                // By ActivityPub an inbox is a collection to whoever reads it.
                Route::WrongMethod {
                    kind: "collection",
                    allow: "POST",
                }
            }
            Route::UnknownInbox if method != Method::POST => Route::UnknownActor,
            Route::Inbox(_) | Route::SharedInbox | Route::UnknownInbox => self,
            Route::Unknown | Route::UnknownActor | Route::UnknownObject => self,
            _ if reads => self,
            _ if !self.is_discovery() => Route::WrongMethod {
                kind,
                allow: "GET, HEAD",
            },
            _ if method == Method::OPTIONS => Route::Preflight(kind),
            _ => Route::WrongMethod {
                kind,
                allow: "GET, HEAD, OPTIONS",
            },
        }
    }
}

/// Path, and path with query, to match against templates: a few software put the actor into the query.
#[derive(Clone, Copy)]
struct Asked<'a> {
    path: &'a str,
    with_query: Option<&'a str>,
}

impl Asked<'_> {
    /// Whether this URL of the peer was asked for.
    fn is(self, peer: &Peer, url: &str) -> bool {
        let target = url.strip_prefix(peer.origin.as_str());
        target.is_some_and(|target| target == self.path || Some(target) == self.with_query)
    }

    fn captures(self, template: &Template) -> Option<Captures> {
        let in_query = || template.path_captures(self.with_query?);
        template.path_captures(self.path).or_else(in_query)
    }
}

fn well_known(peer: &Peer, asked: Asked<'_>) -> Option<Route> {
    let host_meta = peer.software.host_meta.as_ref();
    match asked.path {
        "/.well-known/webfinger" => Some(Route::WebFinger),
        "/.well-known/nodeinfo" => Some(Route::NodeInfoLinks),
        "/.well-known/host-meta" if host_meta.is_some() => Some(Route::HostMeta),
        "/.well-known/host-meta.json" if host_meta.is_some_and(|own| own.json) => Some(Route::HostMetaJson),
        _ => None,
    }
}

/// What a server has once: its NodeInfo, its shared inbox, its own actor.
fn of_server(peer: &Peer, asked: Asked<'_>) -> Option<Route> {
    let (urls, nodeinfo) = (&peer.software.urls, &peer.software.nodeinfo);
    let values = peer.values(Who::Instance);
    let is = |template: &Template| asked.is(peer, &template.render(&values));
    if let Some(index) = nodeinfo.documents.iter().position(|document| is(&document.url)) {
        return Some(Route::NodeInfo(index));
    }
    if let Some((_, index)) = nodeinfo.redirects.iter().find(|(path, _)| path == asked.path) {
        return Some(Route::NodeInfoRedirect(*index));
    }
    if urls.shared_inbox.as_ref().is_some_and(is) {
        return Some(Route::SharedInbox);
    }
    let own = [
        (&urls.instance, Route::Actor(Who::Instance)),
        (&urls.instance_inbox, Route::Inbox(Who::Instance)),
        (
            &urls.instance_outbox,
            Route::Collection(Who::Instance, CollectionKind::Outbox),
        ),
        // Where the key id has no fragment, the key is a document of its own.
        (&urls.instance_key, Route::KeyDocument(Who::Instance)),
    ];
    own.into_iter()
        .find_map(|(template, route)| is(template).then_some(route))
}

/// What actors have. The templates are tried in an order in which those that end in a fixed word come first, so that
/// no actor's name or note's id swallows one; a shape that fits without naming anybody is remembered for the refusal.
fn of_actor(world: &World, peer: &Peer, asked: Asked<'_>) -> Route {
    let urls = &peer.software.urls;
    let mut missed = None;
    for (shape, template) in [
        (Shape::Inbox, Some(&urls.inbox)),
        (Shape::Collection(CollectionKind::Outbox), Some(&urls.outbox)),
        (
            Shape::Collection(CollectionKind::Followers),
            urls.followers.as_ref(),
        ),
        (
            Shape::Collection(CollectionKind::Following),
            urls.following.as_ref(),
        ),
        (
            Shape::Collection(CollectionKind::Featured),
            urls.featured.as_ref(),
        ),
        (Shape::KeyDocument, urls.key_document.as_ref()),
        (Shape::Create, Some(&urls.create)),
        (Shape::Note, Some(&urls.note)),
        (Shape::Actor, Some(&urls.actor)),
        (Shape::Profile, Some(&urls.profile)),
        (Shape::Activity, Some(&urls.follow)),
        (Shape::Activity, Some(&urls.accept)),
        (Shape::Activity, Some(&urls.undo)),
        (Shape::Activity, Some(&urls.activity)),
    ] {
        let Some(captures) = template.and_then(|template| asked.captures(template)) else {
            continue;
        };
        match shape.resolve(world, peer, &captures) {
            Ok(route) => return route,
            Err(unknown) => missed = missed.or(Some(unknown)),
        }
    }
    missed.unwrap_or(Route::Unknown)
}

#[derive(Clone, Copy)]
enum Shape {
    Activity,
    Actor,
    Collection(CollectionKind),
    Create,
    Inbox,
    KeyDocument,
    Note,
    Profile,
}

impl Shape {
    /// What a URL of this shape leads to, or how it fails to lead anywhere.
    fn resolve(self, world: &World, peer: &Peer, captures: &Captures) -> Result<Route, Route> {
        let actor = || who(peer, captures).ok_or(Route::UnknownActor);
        let place = || place(world, peer, captures).ok_or(Route::UnknownObject);
        Ok(match self {
            // What was sent is not kept.
            Shape::Activity if is_fresh(captures) => return Err(Route::UnknownObject),
            Shape::Activity => return Err(Route::Unknown),
            Shape::Actor => Route::Actor(actor()?),
            Shape::Collection(kind) => Route::Collection(actor()?, kind),
            Shape::Create => Route::Create(place()?),
            Shape::Inbox => Route::Inbox(actor().map_err(|_| Route::UnknownInbox)?),
            Shape::KeyDocument => Route::KeyDocument(actor()?),
            Shape::Note => Route::Note(place()?),
            Shape::Profile => Route::Profile(actor()?),
        })
    }
}

/// The actor that the captures name, by name, number or id; where they name one twice, both must agree.
fn who(peer: &Peer, captures: &Captures) -> Option<Who> {
    let by_number = |number: &str| {
        let place = number.parse::<u32>().ok()?.checked_sub(1)?;
        (place < peer.actors && !number.starts_with(['0', '+'])).then_some(Who::Actor(place))
    };
    let named = [
        captures.get("name").map(|name| peer.who(name)),
        captures.get("number").map(by_number),
        captures.get("id").map(|id| peer.who_by_id(id)),
    ];
    let mut named = named.into_iter().flatten();
    let first = named.next()??;
    let agreed = named.all(|other| other == Some(first));
    (agreed && is_own(peer, captures)).then_some(first)
}

/// The note that the captures name, where it exists and is its author's.
fn place(world: &World, peer: &Peer, captures: &Captures) -> Option<Place> {
    let id = captures.get("note")?;
    let place = notes::place_of_id(peer.software.ids.note, world.seed, peer.host.as_str(), id)?;
    let names_actor = ["name", "number", "id"]
        .iter()
        .any(|name| captures.get(name).is_some());
    let is_authors = !names_actor || who(peer, captures) == Some(Who::Actor(place.actor));
    let is_there = match place.note < world.notes {
        true => place.actor < peer.actors,
        false => world.sent.note(&peer.host, place).is_some(),
    };
    (is_there && is_authors && is_own(peer, captures)).then_some(place)
}

/// Whether what is new with each activity looks it; some software put a UUID alone into the path, where anything fits.
fn is_fresh(captures: &Captures) -> bool {
    let is_uuid =
        |text: &str| text.len() == 36 && text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    captures.get("uuid").is_none_or(is_uuid) && captures.get("serial").is_none_or(is_number)
}

/// Whether host names in the captures are the peer's.
fn is_own(peer: &Peer, captures: &Captures) -> bool {
    let fits = |name: &str, own: &str| {
        captures
            .get(name)
            .is_none_or(|found| found.eq_ignore_ascii_case(own))
    };
    fits("host", peer.host.as_str()) && fits("authority", peer.authority())
}

/// Decodes what is percent-encoded, but for the characters that would then separate: `%2F`, `%3F`, `%23` and `%25`
/// stay. What is no UTF-8 becomes what no template contains.
fn decode(path: &str) -> String {
    let mut decoded = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let [first, tail @ ..] = rest {
        let escape = match rest {
            [b'%', high, low, ..] => hex(*high).zip(hex(*low)).map(|(high, low)| high << 4 | low),
            _ => None,
        };
        match escape {
            Some(byte) if !b"/?#%".contains(&byte) => {
                decoded.push(byte);
                rest = &rest[3..];
            }
            _ => {
                decoded.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

fn hex(digit: u8) -> Option<u8> {
    let value = char::from(digit).to_digit(16)?;
    u8::try_from(value).ok()
}

/// Every label in stats and journal: those of [`Route::kind`], and `hook`.
pub const KINDS: [&str; 10] = [
    "actor",
    "collection",
    "hook",
    "host_meta",
    "inbox",
    "nodeinfo",
    "object",
    "page",
    "unknown",
    "webfinger",
];
