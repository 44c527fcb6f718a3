//! `POST /peers/{host}/actors/{name}/send`, `/follow`, `/unfollow`: what an actor is told to do.

use std::sync::Arc;

use http::{Request, Response, StatusCode};
use hyper::body::Incoming;
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::{Map, Value};

use crate::command::Target;
use crate::control::body::json;
use crate::control::peers::{named, no_actor};
use crate::control::query::Parameters;
use crate::control::{Body, Problem};
use crate::deliver::{Content, FetchError, FindError, How, Sent, VerbError};
use crate::farm::{Peer, Who};
use crate::fault::Misbehaviour;
use crate::net::failure::{Class, chain};
use crate::serve::{Site, Unread, read};
use crate::signature::Dialect;

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Follow,
    Send,
    Unfollow,
}

/// Has an actor do as the body says, and answers what each inbox said. What was begun goes on when its sender leaves.
pub(super) async fn command(
    site: &Arc<Site>,
    verb: Verb,
    (host, name): (&str, &str),
    request: Request<Incoming>,
) -> Result<Response<Body>, Problem> {
    Parameters::read(request.uri().query(), &[])?;
    let peer = named(&site.world, host)?;
    let who = peer
        .who(name)
        .ok_or_else(|| Problem::new(StatusCode::NOT_FOUND, no_actor(peer, name)))?;
    let body = bytes(site, request).await?;
    let (order, how) = match verb {
        Verb::Follow => Order::targeted(parse(&body)?, Order::Follow)?,
        Verb::Send => Order::sending(parse(&body)?)?,
        Verb::Unfollow => Order::targeted(parse(&body)?, Order::Unfollow)?,
    };
    let (site, peer) = (Arc::clone(site), Arc::clone(peer));
    let tasks = site.tasks.clone();
    let done = tasks.spawn(async move { order.carry_out(&site, &peer, who, how).await });
    match done.await {
        Ok(sent) => answer(sent),
        Err(_) => Err(Problem::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "the farm is ending",
        )),
    }
}

/// The body of a follow or an unfollow.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Targeted {
    target: String,
    dialect: Option<Dialect>,
}

/// The body of a send.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sending {
    to: String,
    note: Option<String>,
    activity: Option<Map<String, Value>>,
    dialect: Option<Dialect>,
    misbehave: Option<Misbehaviour>,
}

/// A body that was understood.
#[derive(Debug)]
enum Order {
    Activity(Target, Map<String, Value>),
    Follow(Target),
    Misbehave(Target, Content, Misbehaviour),
    Note(Target, String),
    Unfollow(Target),
}

impl Order {
    fn sending(body: Sending) -> Result<(Order, How), Problem> {
        let to = target("to", &body.to)?;
        let dialect = body.dialect;
        let content = match (body.note, body.activity) {
            (Some(note), None) => Content::Note(note),
            (None, Some(activity)) => Content::Activity(activity),
            _ => return Err(unfit("give either `note`, a text, or `activity`, an object")),
        };
        let order = match (content, body.misbehave) {
            (content, Some(misbehaviour)) => Order::Misbehave(to, content, misbehaviour),
            (Content::Activity(activity), None) => Order::Activity(to, activity),
            (Content::Note(note), None) => Order::Note(to, note),
        };
        Ok((order, How { dialect }))
    }

    fn targeted(body: Targeted, order: fn(Target) -> Order) -> Result<(Order, How), Problem> {
        let dialect = body.dialect;
        Ok((order(target("target", &body.target)?), How { dialect }))
    }

    async fn carry_out(self, site: &Site, peer: &Peer, who: Who, how: How) -> Result<Sent, VerbError> {
        let outbound = &site.outbound;
        match self {
            Order::Activity(to, activity) => outbound.activity(peer, who, &to, activity, how).await,
            Order::Follow(target) => outbound.follow(peer, who, &target, how).await,
            Order::Misbehave(to, content, misbehaviour) => {
                outbound
                    .misbehave(peer, who, &to, content, misbehaviour, how)
                    .await
            }
            Order::Note(to, text) => outbound.note(peer, who, &to, &text, how).await,
            Order::Unfollow(target) => outbound.unfollow(peer, who, &target, how).await,
        }
    }
}

async fn bytes(site: &Site, request: Request<Incoming>) -> Result<bytes::Bytes, Problem> {
    let (head, body) = request.into_parts();
    read(&head.headers, body, BODY_MAX, site.patience)
        .await
        .map_err(|unread| match unread {
            Unread::Broken => Problem::new(StatusCode::BAD_REQUEST, "the body broke off"),
            Unread::Malformed => Problem::new(StatusCode::BAD_REQUEST, "the body is not chunked as it says"),
            Unread::Late(_) => Problem::new(StatusCode::REQUEST_TIMEOUT, "the body took too long to arrive"),
            Unread::TooLarge { .. } => {
                let detail = format!("the body has more than {BODY_MAX} bytes");
                Problem::new(StatusCode::PAYLOAD_TOO_LARGE, detail)
            }
        })
}

fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, Problem> {
    serde_json::from_slice::<IgnoredAny>(body)
        .map_err(|error| Problem::new(StatusCode::BAD_REQUEST, format!("the body is no JSON: {error}")))?;
    // serde would take an array for the fields in their order.
    if !body.trim_ascii_start().starts_with(b"{") {
        return Err(unfit("the body: a JSON object belongs here"));
    }
    serde_json::from_slice(body).map_err(|error| unfit(format!("the body: {error}")))
}

fn target(name: &'static str, text: &str) -> Result<Target, Problem> {
    text.parse().map_err(|error| unfit(format!("`{name}`: {error}")))
}

/// JSON, but not what the call takes.
fn unfit(detail: impl Into<String>) -> Problem {
    Problem::new(StatusCode::UNPROCESSABLE_ENTITY, detail)
}

/// A delivery that failed is an answer like any other, but for one that never left the farm.
fn answer(sent: Result<Sent, VerbError>) -> Result<Response<Body>, Problem> {
    let sent = sent.map_err(|error| failed(&error))?;
    match sent
        .deliveries
        .iter()
        .find(|delivery| delivery.error == Some(Class::Gate))
    {
        Some(delivery) => Err(gate(delivery.detail.as_deref().unwrap_or_default())),
        None => Ok(json(&sent)),
    }
}

fn failed(error: &VerbError) -> Problem {
    let text = chain(error);
    let class = match error {
        VerbError::Find(FindError::Fetch(FetchError::Exchange(failure)))
            if failure.class() == Class::Gate =>
        {
            return gate(&text);
        }
        VerbError::Find(FindError::Fetch(error)) => error.label(),
        VerbError::Find(FindError::NoActor(_)) | VerbError::NoInbox(_) | VerbError::Url(_) => "actor",
        VerbError::Find(FindError::NoHost(_) | FindError::NoLink { .. } | FindError::Type { .. }) => {
            "webfinger"
        }
        VerbError::NoObject(_) | VerbError::TooFewPeers { .. } => return unfit(text),
        VerbError::NotFollowing { .. } => return Problem::new(StatusCode::CONFLICT, text),
        VerbError::Signer(_) | VerbError::TooManyRelations => {
            return Problem::new(StatusCode::INTERNAL_SERVER_ERROR, text);
        }
    };
    Problem::new(StatusCode::BAD_GATEWAY, text).with("class", class)
}

/// The gate's refusal says what flag would let it pass; no call does.
fn gate(text: &str) -> Problem {
    Problem::new(StatusCode::FORBIDDEN, text).with("class", Class::Gate.label())
}

/// The largest body of a command, in bytes.
const BODY_MAX: usize = 1024 * 1024;
