//! `journal`: what arrived, in a list or one entry whole.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use crate::command::{Entries, Journal};
use crate::runner::api::Api;
use crate::runner::{Failure, Outcome};

pub(super) async fn read(words: &Journal) -> Result<Outcome, Failure> {
    if let Some(Entries::Show(show)) = &words.command {
        let id = utf8_percent_encode(&show.id, NON_ALPHANUMERIC);
        let entry = Api::new(&show.reach.farm)
            .get(&format!("/journal/{id}"), &[])
            .await?;
        return Ok(Outcome::Entry(entry));
    }
    let query = [
        ("host", words.host.as_ref().map(ToString::to_string)),
        ("path", words.path.clone()),
        ("kind", words.kind.clone()),
        ("verdict", words.verdict.clone()),
        ("since", words.since.clone()),
        ("limit", Some(words.limit.to_string())),
    ];
    Api::new(&words.reach.farm)
        .get("/journal", &query)
        .await
        .map(Outcome::Entries)
}
