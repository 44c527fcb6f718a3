//! Somebody else's actor, as far as the farm needs to know it.

use serde_json::Value;
use url::Url;

use crate::activitypub::id_of;

/// An actor of another server, or of another peer of the farm, which is the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remote {
    /// The actor's id.
    pub id: String,
    /// The name it prefers (`preferredUsername`).
    pub name: Option<String>,
    /// Its inbox (ActivityPub section 4.1). A key's owner may do without.
    pub inbox: Option<Url>,
    /// The inbox of its whole server (`endpoints.sharedInbox`), where it has one.
    pub shared_inbox: Option<Url>,
}

impl Remote {
    /// Reads an actor's document; `None` where it has no id.
    pub fn read(document: &Value) -> Option<Remote> {
        let url = |value: &Value| id_of(value).and_then(|text| Url::parse(text).ok());
        Some(Remote {
            id: id_of(document)?.to_owned(),
            name: document["preferredUsername"].as_str().map(str::to_owned),
            inbox: url(&document["inbox"]),
            shared_inbox: url(&document["endpoints"]["sharedInbox"]),
        })
    }

    /// Where to send what is not for this actor alone: the shared inbox where there is one, else the inbox.
    pub fn any_inbox(&self) -> Option<&Url> {
        self.shared_inbox.as_ref().or(self.inbox.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_document_of_any_shape_is_read_or_passed_over() {
        for nothing in [
            json!(null),
            json!([]),
            json!(7),
            json!(""),
            json!({}),
            json!({"id": 7}),
            json!({"id": ""}),
        ] {
            assert_eq!(Remote::read(&nothing), None, "{nothing}");
        }
        let odd =
            json!({"@id": "https://a.test/u1", "inbox": ["x"], "endpoints": "x", "preferredUsername": {}});
        let expected = Remote {
            id: "https://a.test/u1".to_owned(),
            name: None,
            inbox: None,
            shared_inbox: None,
        };
        assert_eq!(Remote::read(&odd), Some(expected));
    }
}
