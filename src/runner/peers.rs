//! `peers`: the whole list, page by page.

use serde_json::{Value, json};

use crate::command::Peers;
use crate::runner::api::Api;
use crate::runner::{Failure, Outcome};

pub(super) async fn list(words: &Peers) -> Result<Outcome, Failure> {
    let api = Api::new(&words.reach.farm);
    if let Some(host) = &words.host {
        return api.get(&format!("/peers/{host}"), &[]).await.map(Outcome::Peer);
    }
    // A table only counts the actors; listing a million of them takes a while.
    let actors = (!words.reach.json).then(|| "none".to_owned());
    let wanted = words.limit.unwrap_or(usize::MAX);
    let mut peers: Vec<Value> = Vec::new();
    let mut after = None;
    while peers.len() < wanted {
        let limit = Some((wanted - peers.len()).min(PAGE).to_string());
        let mut answer = api
            .get(
                "/peers",
                &[("limit", limit), ("after", after), ("actors", actors.clone())],
            )
            .await?;
        let page = answer.get_mut("peers").map(Value::take);
        let Some(Value::Array(mut page)) = page.filter(|page| *page != json!([])) else {
            break;
        };
        peers.append(&mut page);
        after = answer.get("next").and_then(Value::as_str).map(str::to_owned);
        if after.is_none() {
            break;
        }
    }
    peers.truncate(wanted);
    Ok(Outcome::Peers(json!({ "peers": peers })))
}

/// How many peers are asked for at once.
const PAGE: usize = 1_000;
