//! What a peer answers: each answer a value, each kind of answer a file. [`Route::of`] says what a request is after,
//! [`to`] answers what can be fetched.

mod acceptance;
mod actor;
mod collection;
mod forged_key;
mod host_meta;
pub mod inbox;
mod nodeinfo;
mod object;
mod page;
pub mod refusal;
mod route;
mod webfinger;

pub use route::{CollectionKind, KINDS, Route};

use bytes::Bytes;
use http::header::{ACCESS_CONTROL_ALLOW_ORIGIN, ALLOW, CONTENT_TYPE, VARY};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode};
use serde_json::Value;

use crate::activitypub::{Form, negotiate};
use crate::farm::{Peer, Who, World};
use crate::store::ActorKeys;

use refusal::Told;

/// A whole answer: status, headers, body. `serve::wire` sends it.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// The headers; `content-length` and `date` are the wire's.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

impl Answer {
    /// A status and nothing else.
    pub fn empty(status: StatusCode) -> Answer {
        Answer {
            status,
            headers: HeaderMap::new(),
            body: Bytes::new(),
        }
    }

    /// 200 with a body of that media type.
    pub fn ok(content_type: &str, body: impl Into<Bytes>) -> Answer {
        Answer {
            body: body.into(),
            ..Answer::empty(StatusCode::OK)
        }
        .with(CONTENT_TYPE, content_type)
    }

    /// 200 with a JSON document of that media type.
    pub fn json(content_type: &str, document: &Value) -> Answer {
        Answer::ok(content_type, document.to_string())
    }

    /// The same with a header more; a value that can be none (control characters) is left out.
    #[must_use]
    pub fn with(mut self, name: HeaderName, value: &str) -> Answer {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.append(name, value);
        }
        self
    }
}

/// What was asked, as it came.
#[derive(Clone, Copy, Debug)]
pub struct Ask<'a> {
    /// The method.
    pub method: &'a Method,
    /// The path, not decoded.
    pub path: &'a str,
    /// The query without its `?`, not decoded.
    pub query: Option<&'a str>,
    /// The headers.
    pub headers: &'a HeaderMap,
}

impl<'a> Ask<'a> {
    /// What a request asks.
    pub fn of<B>(request: &'a Request<B>) -> Ask<'a> {
        Ask {
            method: request.method(),
            path: request.uri().path(),
            query: request.uri().query(),
            headers: request.headers(),
        }
    }
}

/// The answer to everything but a delivery to an inbox. `keys` are those of [`Route::needs_key`]. A HEAD is answered
/// like a GET; leaving the body out is the wire's.
pub fn to(world: &World, peer: &Peer, route: &Route, ask: &Ask<'_>, keys: Option<&ActorKeys>) -> Answer {
    let refusals = &peer.software.refusals;
    let refuse = |reply| {
        refusal::answer(
            reply,
            peer,
            &Told {
                path: ask.path,
                ..Told::default()
            },
        )
    };
    let found = match route {
        Route::Actor(who) | Route::Profile(who) => match (form(route, ask), keys) {
            (Form::Document, Some(keys)) => Some(actor::document(peer, *who, keys)),
            (Form::Document, None) => Some(Answer::empty(StatusCode::INTERNAL_SERVER_ERROR)),
            (Form::Page, _) => Some(page::actor(world, peer, *who)),
        },
        Route::Collection(who, kind) => {
            let found = collection::answer(world, peer, *who, *kind, ask.query);
            Some(found.unwrap_or_else(|| refuse(&refusals.unknown_object)))
        }
        Route::Create(place) => object::create(world, peer, *place),
        Route::ForgedKey(name) => forged_key::document(world, peer, name),
        Route::HostMeta => Some(host_meta::answer(peer, ask.headers)),
        Route::HostMetaJson => Some(host_meta::json(peer)),
        Route::KeyDocument(who) => keys.and_then(|keys| actor::key_document(peer, *who, keys)),
        Route::NodeInfo(index) => nodeinfo::document(world, peer, *index),
        Route::NodeInfoLinks => Some(nodeinfo::links(peer)),
        Route::NodeInfoRedirect(index) => nodeinfo::redirect(peer, *index),
        Route::Note(place) => match form(route, ask) {
            Form::Document => object::note(world, peer, *place),
            Form::Page => page::note(world, peer, *place),
        },
        Route::Preflight(_) => Some(preflight()),
        Route::UnknownActor => Some(refuse(&refusals.unknown_actor)),
        Route::UnknownInbox => Some(refuse(&peer.software.inbox.unknown_recipient)),
        Route::UnknownObject => Some(refuse(&refusals.unknown_object)),
        Route::WebFinger => Some(webfinger::answer(world, peer, ask)),
        Route::WrongMethod { allow, .. } => {
            let answer = refuse(&refusals.wrong_method);
            match answer.status {
                StatusCode::METHOD_NOT_ALLOWED => Some(answer.with(ALLOW, allow)),
                _ => Some(answer),
            }
        }
        Route::Inbox(_) | Route::SharedInbox | Route::Unknown => None,
    };
    let answer = found.unwrap_or_else(|| refuse(&refusals.unknown_path));
    finish(answer, peer, route)
}

/// Whether this peer wants a signature for it: ActivityPub documents where authorized fetch is on, but not those
/// by which a key is found, since whoever checks a signature of ours would then need one of ours to check it.
pub fn is_guarded(peer: &Peer, route: &Route, headers: &HeaderMap) -> bool {
    let is_document = match route {
        Route::Actor(Who::Instance) | Route::Collection(Who::Instance, _) => false,
        Route::Actor(_) | Route::Note(_) | Route::Profile(_) => route.form(headers) == Some(Form::Document),
        Route::Collection(..) | Route::Create(_) => true,
        _ => false,
    };
    peer.authorized_fetch && is_document
}

fn form(route: &Route, ask: &Ask<'_>) -> Form {
    route.form(ask.headers).unwrap_or(Form::Document)
}

impl Route {
    /// The form asked for, where it has both. `*/*` asks for the document at an id, for the page at a profile.
    fn form(&self, headers: &HeaderMap) -> Option<Form> {
        match self {
            Route::Actor(_) | Route::Note(_) => Some(negotiate(headers, Form::Document)),
            Route::Profile(_) => Some(negotiate(headers, Form::Page)),
            _ => None,
        }
    }
}

/// Puts the headers on that answers of a kind share, refusals included: what caches must keep apart, and that
/// discovery is open to scripts of any origin (RFC 7033 section 5).
fn finish(mut answer: Answer, peer: &Peer, route: &Route) -> Answer {
    if route.is_discovery() {
        answer = answer.with(ACCESS_CONTROL_ALLOW_ORIGIN, "*");
    }
    match route {
        Route::Actor(_) | Route::Collection(..) | Route::Create(_) | Route::Note(_) | Route::Profile(_) => {
            answer.with(
                VARY,
                if peer.authorized_fetch {
                    "Accept, Signature"
                } else {
                    "Accept"
                },
            )
        }
        Route::HostMeta => answer.with(VARY, "Accept"),
        _ => answer,
    }
}

/// To a browser that asks beforehand whether a script may ask.
fn preflight() -> Answer {
    use http::header::{ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS};
    Answer::empty(StatusCode::NO_CONTENT)
        .with(ACCESS_CONTROL_ALLOW_METHODS, "GET, HEAD, OPTIONS")
        .with(ACCESS_CONTROL_ALLOW_HEADERS, "*")
}

#[cfg(test)]
mod tests;
