//! Whom an activity is addressed to.

use serde_json::Value;

use crate::activitypub::{PUBLIC, id_of};

/// Whether `to` or `cc` has the public collection, in any of the spellings that JSON-LD makes of it (ActivityPub
/// section 5.6).
pub fn is_public(activity: &Value) -> bool {
    let everybody = |value: &Value| id_of(value).is_some_and(|id| SPELLINGS.contains(&id));
    ["to", "cc"].into_iter().any(|member| match &activity[member] {
        Value::Array(several) => several.iter().any(everybody),
        one => everybody(one),
    })
}

const SPELLINGS: [&str; 3] = [PUBLIC, "as:Public", "Public"];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_public_is_found_however_it_is_written() {
        for public in SPELLINGS {
            for to in [
                json!(public),
                json!(["https://a.test/u1", public]),
                json!([{"id": public}]),
            ] {
                assert!(is_public(&json!({"to": to})), "{to}");
                assert!(is_public(&json!({"to": [], "cc": to})), "{to}");
                assert!(!is_public(&json!({"object": {"to": to}})), "{to}");
            }
        }
        for none in [
            json!({}),
            json!(null),
            json!({"to": 1, "cc": [null, "https://a.test/Public"]}),
        ] {
            assert!(!is_public(&none), "{none}");
        }
    }
}
