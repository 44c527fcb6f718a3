//! The path of a request, top to bottom.

use std::sync::Arc;

use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, Method, Request, Response};
use hyper::body::Incoming;

use crate::answer::{Answer, Route};
use crate::serve::host::{self, Misdirected};
use crate::serve::via::{Departed, Via};
use crate::serve::{Body, Site, delivery, fetch, hook, wire};

/// The most bytes of a head that HTTP/2 may carry; over HTTP/1.1 the reader of heads holds the same bound.
pub const HEAD_MAX: usize = 64 * 1024;

/// The most header fields of a head. Over HTTP/1.1 it is hyper's own bound, which is left unsaid there: saying it, even as
/// it is, makes hyper parse into memory it allocates for each request.
pub const FIELDS_MAX: usize = 100;

/// Carries one request that came to a federation listener.
///
/// # Errors
/// [`Departed`] where the exchange ends without an answer; it is counted all the same.
pub async fn exchange(
    site: Arc<Site>,
    via: Via,
    request: Request<Incoming>,
) -> Result<Response<Body>, Departed> {
    // 1. Whom it is for.
    if is_oversized(request.headers()) {
        let why = format!("more than {FIELDS_MAX} header fields or {HEAD_MAX} bytes of them");
        let status = http::StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
        return Ok(refuse(&site, Misdirected { status, why }, request).await);
    }
    let asked = match host::asked(&request, via.sni.as_ref()) {
        Ok(asked) => asked,
        Err(misdirected) => return Ok(refuse(&site, misdirected, request).await),
    };
    let path = request.uri().path();
    if asked.host == site.hooks_host {
        if path.starts_with("/hook/") {
            return hook(&site, request, &via.line).await;
        }
        return Ok(refuse(&site, host::no_hook(&asked.authority), request).await);
    }
    let Some(peer) = site.world.peer(&asked.host).cloned() else {
        return Ok(refuse(&site, host::misdirected(&asked.authority), request).await);
    };
    // Boxed, so that a hook's exchange, which hyper moves, does not carry the room that a delivery needs.
    // 2. What it is for. Verifying, planning, answering and counting differ for deliveries and fetches.
    match Route::of(&site.world, &peer, request.method(), path, request.uri().query()) {
        route if route.is_inbox() || request.method() == Method::POST => {
            Box::pin(delivery::deliver(&site, &via, &peer, &asked, route, request)).await
        }
        route => Box::pin(fetch::fetch(&site, &via, &peer, &asked, route, request)).await,
    }
}

/// Refuses what is for no peer. It counts in `connections.bad_requests`.
async fn refuse(site: &Site, refusal: Misdirected, request: Request<Incoming>) -> Response<Body> {
    let Misdirected { status, why } = refusal;
    let version = request.version();
    let clean = wire::drain(request, site.patience).await;
    site.world
        .stats
        .connections(|connections| connections.bad_request(status.as_u16()));
    let answer = Answer {
        status,
        headers: HeaderMap::from_iter([(
            CONTENT_TYPE,
            HeaderValue::from_static("text/plain; charset=utf-8"),
        )]),
        body: format!("{why}\n").into(),
    };
    wire::plain(match clean {
        true => answer,
        false => wire::closing(answer, version),
    })
}

fn is_oversized(headers: &HeaderMap) -> bool {
    let bytes = |(name, value): (&http::HeaderName, &HeaderValue)| name.as_str().len() + value.len() + 4;
    headers.len() > FIELDS_MAX || headers.iter().map(bytes).sum::<usize>() > HEAD_MAX
}
