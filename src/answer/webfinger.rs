//! WebFinger (RFC 7033): who an account or a URL is.

use http::Method;
use percent_encoding::percent_decode_str;
use serde_json::Value;
use url::Url;

use crate::answer::refusal::{self, Told};
use crate::answer::{Answer, Ask, Route};
use crate::farm::{Peer, Who, World};
use crate::ids::Host;
use crate::software::Reply;

/// The answer to `/.well-known/webfinger`.
pub fn answer(world: &World, peer: &Peer, ask: &Ask<'_>) -> Answer {
    let webfinger = &peer.software.webfinger;
    let pairs = query_pairs(ask.query.unwrap_or("")).unwrap_or_default();
    let resources = values_of(&pairs, "resource");
    let resource = resources.first().copied().unwrap_or_default();
    let refuse = |reply| {
        refusal::answer(
            reply,
            peer,
            &Told {
                resource,
                path: ask.path,
                ..Told::default()
            },
        )
    };
    // RFC 7033 section 4.2: absent, malformed or repeated is a bad request.
    if resources.len() != 1 {
        return refuse(&webfinger.bad_resource);
    }
    let who = match find(world, peer, resource) {
        Ok(who) => who,
        Err(reply) => return refuse(reply),
    };
    let document = match who {
        Who::Actor(_) => Some(&webfinger.document),
        Who::Instance => webfinger.instance.as_ref(),
    };
    let Some(document) = document else {
        return refuse(&webfinger.unknown_user);
    };
    let mut jrd = document.render(&peer.values(who).with("resource", resource));
    let rels = values_of(&pairs, "rel");
    if !rels.is_empty() {
        keep_links(&mut jrd, &rels);
    }
    Answer::json(&webfinger.content_type, &jrd)
}

/// The members of a query, percent-decoded. A `+` is a plus (RFC 3986 section 3.4 knows no other meaning). `None`
/// where a member decodes to no UTF-8.
pub(super) fn query_pairs(query: &str) -> Option<Vec<(String, String)>> {
    let members = query.split('&').filter(|member| !member.is_empty());
    let decode = |text: &str| {
        percent_decode_str(text)
            .decode_utf8()
            .ok()
            .map(|text| text.into_owned())
    };
    members
        .map(|member| {
            let (name, value) = member.split_once('=').unwrap_or((member, ""));
            Some((decode(name)?, decode(value)?))
        })
        .collect()
}

fn values_of<'a>(pairs: &'a [(String, String)], wanted: &str) -> Vec<&'a str> {
    let named = pairs.iter().filter(|(name, _)| name == wanted);
    named.map(|(_, value)| value.as_str()).collect()
}

/// Whom a resource names, or the refusal that fits.
fn find<'a>(world: &World, peer: &'a Peer, resource: &str) -> Result<Who, &'a Reply> {
    let webfinger = &peer.software.webfinger;
    let (scheme, rest) = split_scheme(resource).ok_or(&webfinger.bad_resource)?;
    match scheme.as_str() {
        "acct" => by_account(peer, rest),
        "http" | "https" if webfinger.by_url => by_url(world, peer, resource),
        _ => Err(&webfinger.foreign_host),
    }
}

/// `acct:name@host` (RFC 7565), where the host may have the port that shows in the peer's handles.
fn by_account<'a>(peer: &'a Peer, account: &str) -> Result<Who, &'a Reply> {
    let webfinger = &peer.software.webfinger;
    let (name, authority) = account.rsplit_once('@').ok_or(&webfinger.bad_resource)?;
    if name.is_empty() || name.contains('@') || authority.is_empty() {
        return Err(&webfinger.bad_resource);
    }
    let (host, port) = match authority.split_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (authority, None),
    };
    let own_host = host.parse::<Host>().is_ok_and(|host| host == peer.host);
    let own_port = port.is_none_or(|port| peer.port.is_some_and(|own| port == own.to_string()));
    if !own_host || !own_port {
        return Err(&webfinger.foreign_host);
    }
    let instance = || {
        name.eq_ignore_ascii_case(&peer.name(Who::Instance))
            .then_some(Who::Instance)
    };
    peer.who(name).or_else(instance).ok_or(&webfinger.unknown_user)
}

/// The URL of an actor or of its page.
fn by_url<'a>(world: &World, peer: &'a Peer, resource: &str) -> Result<Who, &'a Reply> {
    let webfinger = &peer.software.webfinger;
    let url = Url::parse(resource).map_err(|_| &webfinger.bad_resource)?;
    let own_host = url.host_str().and_then(|host| host.parse::<Host>().ok()) == Some(peer.host.clone());
    if !own_host || url.port().is_some_and(|port| Some(port) != peer.port) {
        return Err(&webfinger.foreign_host);
    }
    match Route::of(world, peer, &Method::GET, url.path(), url.query()) {
        Route::Actor(who) | Route::Profile(who) => Ok(who),
        _ => Err(&webfinger.unknown_user),
    }
}

/// Scheme, in lower case, and the rest (RFC 3986 section 3.1); `None` where it is no URI.
fn split_scheme(resource: &str) -> Option<(String, &str)> {
    let (scheme, rest) = resource.split_once(':')?;
    let holds = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
        && !rest.is_empty();
    holds.then(|| (scheme.to_ascii_lowercase(), rest))
}

/// Keeps the links whose relation was asked for (RFC 7033 section 4.3); nothing else changes.
fn keep_links(jrd: &mut Value, rels: &[&str]) {
    if let Some(Value::Array(links)) = jrd.get_mut("links") {
        links.retain(|link| link["rel"].as_str().is_some_and(|rel| rels.contains(&rel)));
    }
}
