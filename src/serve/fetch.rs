//! A fetch from a peer: a document, a collection, a page; or a path it does not serve.

use std::sync::Arc;

use http::header::CONTENT_TYPE;
use http::{Request, Response, StatusCode};
use hyper::body::Incoming;

use crate::answer::{self, Answer, Ask, Route};
use crate::deliver::SignerError;
use crate::farm::{Peer, Who};
use crate::net::failure::chain;
use crate::serve::host::Asked;
use crate::serve::record::Record;
use crate::serve::via::{Departed, Via};
use crate::serve::{Body, Site, delivery, wire};
use crate::signature;

/// Carries one fetch.
///
/// # Errors
/// [`Departed`] where the sender reset the connection while its signature was verified.
pub async fn fetch(
    site: &Arc<Site>,
    via: &Via,
    peer: &Arc<Peer>,
    asked: &Asked,
    route: Route,
    request: Request<Incoming>,
) -> Result<Response<Body>, Departed> {
    let mut record = Record::fetch(site, &peer.host, route.kind(), &request);
    let method = request.method().clone();
    let guarded = answer::is_guarded(peer, &route, request.headers());
    let mut refusal = None;
    if guarded || (signature::is_signed(request.headers()) && !leads_to_keys(&route)) {
        let covered = delivery::covered(&request, peer, asked, &[]);
        let verdict = delivery::verify(site, via, peer, &covered).await?.verdict;
        if guarded {
            refusal = answer::inbox::fetch_refusal(peer, &verdict);
        }
        record.about.origin = delivery::origin(None, &verdict);
        record.about.verdict = Some(Box::new(verdict));
    }
    let answer = match (refusal, route.needs_key()) {
        (Some(refusal), _) => refusal,
        (None, Some(who)) => match site.outbound.keys(peer, who).await {
            Ok(keys) => answer::to(&site.world, peer, &route, &Ask::of(&request), Some(&keys)),
            Err(error) => without_keys(peer, &error),
        },
        (None, None) => answer::to(&site.world, peer, &route, &Ask::of(&request), None),
    };
    let version = request.version();
    let answer = match wire::drain(request, site.patience).await {
        true => answer,
        false => wire::closing(answer, version),
    };
    Ok(wire::send(answer, &method, record))
}

/// The state directory broke: the farm's own failure, not the software's, so it is told plainly.
fn without_keys(peer: &Peer, error: &SignerError) -> Answer {
    let error: &dyn std::error::Error = error;
    tracing::error!(peer = %peer.host, error, "no keys for an actor");
    Answer {
        body: format!("{}\n", chain(error)).into(),
        ..Answer::empty(StatusCode::INTERNAL_SERVER_ERROR)
    }
    .with(CONTENT_TYPE, "text/plain; charset=utf-8")
}

/// What a sender fetches to verify a signature of ours is not verified in turn: its key would have to be fetched for
/// that, with a signature of ours, and each side would wait for the other.
fn leads_to_keys(route: &Route) -> bool {
    let is_key = matches!(
        route,
        Route::Actor(Who::Instance) | Route::ForgedKey(_) | Route::KeyDocument(_)
    );
    route.is_discovery() || is_key
}
