//! Derived components (RFC 9421 section 2.2): what a message is besides its fields and its body.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use url::form_urlencoded;

use crate::signature::rfc9421::{Component, Message};
use crate::signature::{Reason, Request};

/// The value of a derived component.
///
/// # Errors
/// Where it belongs to the other kind of message, or the message does not have it.
pub(super) fn value(component: &Component, message: &Message) -> Result<String, (Reason, String)> {
    let misplaced = |kind: &str| (Reason::Malformed, format!("only a {kind} has that"));
    let request = match message {
        Message::Response(response) if component.name() == "@status" => {
            return Ok(format!("{:03}", response.status));
        }
        Message::Response(_) => return Err(misplaced("request")),
        Message::Request(request) => *request,
    };
    let target = Target::of(request);
    match component.name() {
        "@method" => Ok(request.method.to_owned()),
        "@target-uri" => Ok(target_uri(request, &authority(request)?)),
        "@authority" => authority(request),
        "@scheme" => Ok(request.scheme.to_ascii_lowercase()),
        "@request-target" => Ok(request.target.to_owned()),
        "@path" if target.path.is_empty() => Ok("/".to_owned()),
        "@path" => Ok(target.path.to_owned()),
        "@query" => Ok(format!("?{}", target.query.unwrap_or_default())),
        "@query-param" => {
            let name = component.text("name").unwrap_or_default();
            query_parameter(target.query.unwrap_or_default(), name)
        }
        _ => Err(misplaced("response")),
    }
}

/// The authority as it was asked for.
pub(super) fn authority_sent(request: &Request) -> Option<String> {
    match request.authority {
        Some(authority) => Some(authority.to_owned()),
        None => {
            let host = request.headers.get("host")?;
            Some(String::from_utf8_lossy(host.as_bytes()).into_owned())
        }
    }
}

/// The authority in lower case, without the scheme's default port (section 2.2.3, RFC 9110 section 4.2.3).
fn authority(request: &Request) -> Result<String, (Reason, String)> {
    let sent =
        authority_sent(request).ok_or_else(|| (Reason::HeaderMissing, "there is no `Host`".to_owned()))?;
    let lower = sent.trim().to_ascii_lowercase();
    let default = match request.scheme.to_ascii_lowercase().as_str() {
        "https" => ":443",
        "http" => ":80",
        _ => ":",
    };
    let bare = lower.strip_suffix(default).or(lower.strip_suffix(':'));
    Ok(bare.unwrap_or(&lower).to_owned())
}

/// The target URI with that authority (RFC 9110 section 7.1).
pub(super) fn target_uri(request: &Request, authority: &str) -> String {
    let Request { target, .. } = request;
    let scheme = request.scheme.to_ascii_lowercase();
    match Target::of(request) {
        Target { absolute: true, .. } => (*target).to_owned(),
        // `OPTIONS *` is about the server as a whole.
        _ if *target == "*" => format!("{scheme}://{authority}"),
        _ if request.method == "CONNECT" => (*target).to_owned(),
        _ => format!("{scheme}://{authority}{target}"),
    }
}

/// A request target in its parts.
pub(super) struct Target<'a> {
    /// Whether it is a whole URI, as a proxy is sent.
    absolute: bool,
    /// The path, up to the first `?`.
    pub(super) path: &'a str,
    /// What follows the first `?`.
    pub(super) query: Option<&'a str>,
}

impl<'a> Target<'a> {
    pub(super) fn of(request: &Request<'a>) -> Target<'a> {
        let target = request.target;
        let after_scheme = target.split_once("://").filter(|(scheme, _)| {
            !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric())
        });
        let local = match after_scheme {
            Some((_, rest)) => &rest[rest.find(['/', '?']).unwrap_or(rest.len())..],
            None => target,
        };
        let (path, query) = match local.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (local, None),
        };
        Target {
            absolute: after_scheme.is_some(),
            path,
            query,
        }
    }
}

/// The value of one parameter of a query that is a form, encoded anew, by its name as it would be encoded (section
/// 2.2.8).
fn query_parameter(query: &str, name: &str) -> Result<String, (Reason, String)> {
    let encoded = |text: &str| utf8_percent_encode(text, FORM).to_string();
    let mut values = form_urlencoded::parse(query.as_bytes())
        .filter(|(found, _)| encoded(found) == name)
        .map(|(_, value)| encoded(&value));
    let Some(value) = values.next() else {
        return Err((Reason::HeaderMissing, "the query does not have it".to_owned()));
    };
    if values.next().is_some() {
        let why = "the query has it more than once, which only `@query` can cover (section 2.2.8)";
        return Err((Reason::Malformed, why.to_owned()));
    }
    Ok(value)
}

/// The application/x-www-form-urlencoded percent-encode set (WHATWG URL section 1.3).
const FORM: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'*')
    .remove(b'-')
    .remove(b'.')
    .remove(b'_');
