//! `follow`, `unfollow`, `send`: an actor of the farm does something, and the server under test answers.

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::command::{Follow, Reach, Send};
use crate::ids::Acct;
use crate::runner::api::Api;
use crate::runner::{Failure, Fate, Outcome, file};

pub(super) async fn follow(words: &Follow) -> Result<Outcome, Failure> {
    act(&words.actor, "follow", &targeted(words), &words.reach).await
}

pub(super) async fn unfollow(words: &Follow) -> Result<Outcome, Failure> {
    act(&words.actor, "unfollow", &targeted(words), &words.reach).await
}

pub(super) async fn send(words: &Send) -> Result<Outcome, Failure> {
    let mut body = Map::new();
    body.insert("to".to_owned(), words.to.to_string().into());
    if let Some(note) = &words.note {
        body.insert("note".to_owned(), note.as_str().into());
    }
    if let Some(file) = &words.activity {
        body.insert("activity".to_owned(), activity(file)?);
    }
    if let Some(dialect) = words.dialect {
        body.insert("dialect".to_owned(), dialect.name().into());
    }
    if let Some(misbehaviour) = words.misbehave {
        body.insert("misbehave".to_owned(), misbehaviour.label().into());
    }
    act(&words.actor, "send", &body.into(), &words.reach).await
}

/// What a follow and an unfollow ask for.
fn targeted(words: &Follow) -> Value {
    let mut body = json!({ "target": words.target.to_string() });
    if let Some(dialect) = words.dialect {
        body["dialect"] = dialect.name().into();
    }
    body
}

async fn act(actor: &Acct, deed: &str, body: &Value, reach: &Reach) -> Result<Outcome, Failure> {
    let path = format!("/peers/{}/actors/{}/{deed}", actor.host, actor.name);
    let answer = Api::new(&reach.farm).post(&path, Some(body)).await?;
    let fate = fate(&answer);
    Ok(Outcome::Delivered { answer, fate })
}

/// How the deliveries of an answer ended. One without an answer weighs more than one that was refused: it may be
/// tried again.
fn fate(answer: &Value) -> Fate {
    match answer.get("finding").and_then(Value::as_bool) {
        Some(true) => return Fate::LetIn,
        Some(false) => return Fate::KeptOut,
        None => {}
    }
    let deliveries = answer.get("deliveries").and_then(Value::as_array);
    let each = deliveries.into_iter().flatten().map(|delivery| {
        match delivery.get("status").and_then(Value::as_u64) {
            _ if delivery.get("error").is_some_and(|error| !error.is_null()) => Fate::Unreached,
            Some(200..=299) => Fate::Taken,
            Some(_) => Fate::Refused,
            None => Fate::Unreached,
        }
    });
    each.reduce(|one, other| match (one, other) {
        (Fate::Unreached, _) | (_, Fate::Unreached) => Fate::Unreached,
        (Fate::Refused, _) | (_, Fate::Refused) => Fate::Refused,
        _ => Fate::Taken,
    })
    .unwrap_or(Fate::Nobody)
}

/// The activity in a file, or on stdin for `-`.
fn activity(path: &Path) -> Result<Value, Failure> {
    let text = file::read(path, MAX_ACTIVITY)?;
    let wrong = |problem| Failure::Activity {
        file: path.to_owned(),
        problem,
    };
    if text.len() > MAX_ACTIVITY {
        return Err(wrong(format!("more than {MAX_ACTIVITY} bytes")));
    }
    match serde_json::from_slice(&text) {
        Ok(activity @ Value::Object(_)) => Ok(activity),
        Ok(_) => Err(wrong("JSON, but no object".to_owned())),
        Err(error) => Err(wrong(error.to_string())),
    }
}

/// The largest activity that is read, in bytes.
const MAX_ACTIVITY: usize = 16 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_delivery_decides() {
        let taken = json!({ "status": 202, "error": null });
        let refused = json!({ "status": 401, "error": null });
        let unreached = json!({ "status": null, "error": "connection refused" });
        let cut = json!({ "status": 200, "error": "the body broke off" });
        for (deliveries, expected) in [
            (vec![], Fate::Nobody),
            (vec![&taken, &taken], Fate::Taken),
            (vec![&taken, &refused], Fate::Refused),
            (vec![&unreached, &refused, &taken], Fate::Unreached),
            (vec![&cut], Fate::Unreached),
        ] {
            assert_eq!(fate(&json!({ "deliveries": deliveries })), expected);
        }
        assert_eq!(fate(&json!([])), Fate::Nobody);
    }

    #[test]
    fn what_a_misbehaviour_showed_decides_before_its_deliveries() {
        let (taken, refused) = (json!({ "status": 202 }), json!({ "status": 401 }));
        for (finding, delivery, expected) in [
            (json!(true), &taken, Fate::LetIn),
            (json!(false), &refused, Fate::KeptOut),
            (json!(null), &refused, Fate::Refused),
        ] {
            let answer = json!({ "finding": finding, "deliveries": [delivery] });
            assert_eq!(fate(&answer), expected);
        }
    }
}
