//! `journal`: what arrived, in a list or one entry whole.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use crate::command::{Entries, Journal, Show};
use crate::runner::api::Api;
use crate::runner::{Failure, Outcome};

pub(super) async fn read(words: &Journal) -> Result<Outcome, Failure> {
    if let Some(Entries::Show(show)) = &words.command {
        return self::show(show).await.map(Outcome::Entry);
    }
    let query = [
        ("host", words.host.as_ref().map(ToString::to_string)),
        ("path", words.path.clone()),
        ("kind", words.kind.clone()),
        ("verdict", words.verdict.clone()),
        ("outcome", words.outcome.clone()),
        ("since", words.since.clone()),
        ("limit", Some(words.limit.to_string())),
    ];
    Api::new(&words.reach.farm)
        .get("/journal", &query)
        .await
        .map(Outcome::Entries)
}

async fn show(words: &Show) -> Result<Value, Failure> {
    let api = Api::new(&words.reach.farm);
    let id = match &words.id {
        Some(id) => id.clone(),
        None => {
            let query = [
                ("outcome", Some("refused".to_owned())),
                ("limit", Some("1".to_owned())),
            ];
            let refused = api.get("/journal", &query).await?;
            let id = refused["entries"][0]["id"].as_str();
            id.map(str::to_owned).ok_or(Failure::NothingRefused)?
        }
    };
    let id = utf8_percent_encode(&id, NON_ALPHANUMERIC);
    api.get(&format!("/journal/{id}"), &[]).await
}
