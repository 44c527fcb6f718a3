//! `stats`, `reset`, `wait`: the counters.

use http::StatusCode;

use crate::command::{Reset, Stats, Wait};
use crate::runner::api::Api;
use crate::runner::{Failure, Outcome};

pub(super) async fn stats(words: &Stats) -> Result<Outcome, Failure> {
    let query = [
        ("host", words.host.as_ref().map(ToString::to_string)),
        ("path", words.path.clone()),
    ];
    Api::new(&words.reach.farm)
        .get("/stats", &query)
        .await
        .map(Outcome::Stats)
}

pub(super) async fn reset(words: &Reset) -> Result<Outcome, Failure> {
    Api::new(&words.reach.farm)
        .post("/reset", None)
        .await
        .map(Outcome::Stats)
}

pub(super) async fn wait(words: &Wait) -> Result<Outcome, Failure> {
    let query = [
        ("host", words.host.as_ref().map(ToString::to_string)),
        ("path", words.path.clone()),
        ("kind", words.kind.clone()),
        ("unique", words.unique.map(|count| count.to_string())),
        ("requests", words.requests.map(|count| count.to_string())),
        ("quiet", words.quiet.map(|span| span.to_string())),
        ("timeout", Some(words.timeout.to_string())),
    ];
    let api = Api::new(&words.reach.farm).patient(words.timeout.duration());
    match api.get("/wait", &query).await {
        Ok(answer) => Ok(Outcome::Waited { answer, held: true }),
        Err(Failure::Refused {
            status: StatusCode::REQUEST_TIMEOUT,
            problem,
        }) => Ok(Outcome::Waited {
            answer: problem,
            held: false,
        }),
        Err(failure) => Err(failure),
    }
}
