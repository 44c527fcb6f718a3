//! The control API: calls and answers over HTTP, beside the peers and never on their listener.
//!
//! [`answer`] takes one request: the [`Guard`] judges who asks, [`route`] which call it is, and each call has a file.
//! Refusals are [`Problem`]s. Nothing here is counted: what `/stats` tells is the peers' and the hooks' alone.

mod body;
mod commands;
mod events;
mod guard;
mod journal;
mod metrics;
mod page;
mod peers;
mod problem;
mod query;
mod route;
mod stats;
mod wait;

pub use body::Body;
pub use guard::{Guard, Scope};
pub use problem::Problem;
pub use wait::{Conditions, Missing, WaitFailed};

use std::sync::Arc;

use http::{Request, Response};
use hyper::body::Incoming;

use crate::net::line::Line;
use crate::net::listen::{self, Listener};
use crate::serve::{self, Departed, Site};

use query::Parameters;
use route::Call;

/// Accepts until the site is told to stop. Each connection goes on by itself, in the site's tasks, and none is counted.
pub async fn run(site: Arc<Site>, listener: Listener, guard: Guard) {
    let guard = Arc::new(guard);
    loop {
        let incoming = tokio::select! {
            biased;
            () = site.stop.cancelled() => return,
            incoming = listener.next() => incoming,
        };
        let listen::Incoming::Connection(stream, place) = incoming else {
            continue;
        };
        let (here, guard) = (Arc::clone(&site), Arc::clone(&guard));
        let each = move |request, line: Line| {
            let (site, guard) = (Arc::clone(&here), Arc::clone(&guard));
            async move { answer(&site, &guard, &line, request).await }
        };
        // Tokens of its own, since every poll of a connection asks them, and would contend for shared ones.
        let (stop, kill) = (site.stop.child_token(), site.kill.child_token());
        let patience = site.patience;
        let connection = async move {
            // A connection that broke is its sender's affair.
            let _ = serve::speak(stream, patience, &stop, each).await;
            drop(place);
        };
        site.tasks.spawn(kill.run_until_cancelled_owned(connection));
    }
}

/// Answers one request of the control listener, or of the one for hooks, as `guard` has it.
///
/// # Errors
/// [`Departed`] where a hook's exchange ends without an answer.
pub async fn answer(
    site: &Arc<Site>,
    guard: &Guard,
    line: &Line,
    request: Request<Incoming>,
) -> Result<Response<Body>, Departed> {
    if let Err(problem) = guard.admit(&request) {
        return Ok(problem.into());
    }
    if route::is_hook(request.uri().path()) {
        let response = serve::hook(site, request, line).await?;
        return Ok(response.map(Body::Hook));
    }
    // Boxed, so that a hook's exchange, which hyper moves, does not carry the room that a command needs.
    let called = Box::pin(call(site, guard.scope(), line, request)).await;
    Ok(called.unwrap_or_else(Response::from))
}

async fn call(
    site: &Arc<Site>,
    scope: Scope,
    line: &Line,
    request: Request<Incoming>,
) -> Result<Response<Body>, Problem> {
    let found = route::find(scope, request.method(), request.uri().path())?;
    let name = |place: usize| found.captured.get(place).map_or("", String::as_str);
    let world = &site.world;
    let query = request.uri().query();
    match found.call {
        Call::Command(verb) => commands::command(site, verb, (name(0), name(1)), request).await,
        Call::Entry => journal::entry(&world.journal, name(0), query),
        Call::Events => events::events(&world.journal, &site.stop, line, query),
        Call::Health => health(query),
        Call::HookStats => stats::hooks(world, query),
        Call::Journal => journal::entries(world, query),
        Call::Metrics => metrics::metrics(site, query),
        Call::Page => page::page(world, query),
        Call::Peer => peers::peer(world, name(0), query),
        Call::Peers => peers::peers(world, query),
        Call::Reset => stats::reset(site, query),
        Call::Stats => stats::stats(site, query),
        Call::Wait => wait::wait(site, line, query).await,
    }
}

/// That anything answers says that everything listens: the listeners answer only once all are bound.
fn health(query: Option<&str>) -> Result<Response<Body>, Problem> {
    Parameters::read(query, &[])?;
    Ok(body::json(&serde_json::json!({ "status": "ok" })))
}
