//! Somebody else's actor, as far as the farm needs to know it.

use serde_json::Value;
use url::Url;

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

/// The id, of a string or of an object with one.
pub(super) fn id_of(value: &Value) -> Option<&str> {
    let id = match value {
        Value::String(id) => id,
        Value::Object(object) => object.get("id").or_else(|| object.get("@id"))?.as_str()?,
        _ => return None,
    };
    (!id.is_empty()).then_some(id)
}
