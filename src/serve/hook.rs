//! A delivery to a hook: read, counted, answered `{"ok":true}` unless a rule says otherwise.

use std::sync::Arc;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode};
use hyper::body::Incoming;

use crate::answer::Answer;
use crate::fault::Facts;
use crate::net::line::Line;
use crate::serve::record::Record;
use crate::serve::via::Departed;
use crate::serve::wire::{self, Unread};
use crate::serve::{Body, Site};
use crate::stats::{Ending, Kind};
use crate::webhook;

/// The largest body a hook reads.
pub const HOOK_BODY_MAX: usize = 1024 * 1024;

/// Carries one delivery to `/hook/<path>`, whether it came by name or through the control listener. Both count at the
/// same host and path.
///
/// # Errors
/// [`Departed`] where there is nobody left to answer; the exchange is counted all the same.
pub async fn hook(
    site: &Arc<Site>,
    request: Request<Incoming>,
    line: &Line,
) -> Result<Response<Body>, Departed> {
    let mut record = Record::delivery(site, &site.hooks_host, Kind::Hook, &request);
    let (head, body) = request.into_parts();
    let body = match wire::read(&head.headers, body, HOOK_BODY_MAX, site.patience).await {
        Ok(body) => body,
        Err(Unread::Broken) => return Err(Departed),
        Err(unread) => {
            record.ends(Ending::Refused);
            let answer = wire::unread(unread, head.version, HOOK_BODY_MAX);
            return Ok(wire::send(answer, &head.method, record));
        }
    };
    record.body(&body);
    let id = webhook::delivery_id(&body);
    record.about.sent = webhook::sent(&head.headers, &body);
    let path = head.uri.path();
    let attempt = match site.hook_rules.draws() {
        true => site.world.attempts.next(site.hooks_host.as_str(), path, &id),
        false => 1,
    };
    let facts = Facts {
        host: site.hooks_host.as_str(),
        path,
        id: id.as_str(),
        attempt,
    };
    let plan = site.hook_rules.draw(site.world.seed, &facts);
    record.about.id = Some(id);
    record.planned(&plan);
    record.ends(Ending::Accepted);
    wire::hold(&plan, &record, line).await?;
    let answer = match plan.status {
        Some(status) => answer(status, br#"{"ok":false}"#),
        None => answer(200, br#"{"ok":true}"#),
    };
    Ok(wire::send(answer, &head.method, record))
}

fn answer(status: u16, body: &'static [u8]) -> Answer {
    Answer {
        status: StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
        headers: HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json"))]),
        body: Bytes::from_static(body),
    }
}
