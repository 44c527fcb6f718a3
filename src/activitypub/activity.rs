//! One activity as it arrived, read leniently: servers write a string, an object or an array of one in the same
//! place, invent types and leave ids out, and none of that is a reason to refuse.

use serde_json::Value;

/// An activity. Whatever it holds that is not understood stays in [`Activity::value`].
#[derive(Clone, Debug)]
pub struct Activity {
    value: Value,
    kind: String,
    actor: String,
}

impl Activity {
    /// Reads a body.
    ///
    /// # Errors
    /// Where it is no JSON object (nesting deeper than 128 counts as no JSON), has no type, or names no actor or more
    /// than one. An unknown type and a missing id are no errors (ActivityPub section 7).
    pub fn read(bytes: &[u8]) -> Result<Activity, ActivityError> {
        let value: Value =
            serde_json::from_slice(bytes).map_err(|error| ActivityError::Json(error.to_string()))?;
        Activity::from_value(value)
    }

    /// Reads a JSON value, by the rules of [`Activity::read`].
    ///
    /// # Errors
    /// As [`Activity::read`].
    pub fn from_value(value: Value) -> Result<Activity, ActivityError> {
        if !value.is_object() {
            return Err(ActivityError::NoObject(json_kind(&value)));
        }
        let kind = kind_of(&value).ok_or(ActivityError::TypeMissing)?.to_owned();
        let actor = match &value["actor"] {
            Value::Null => return Err(ActivityError::ActorMissing),
            Value::Array(list) if list.len() > 1 => return Err(ActivityError::ManyActors(list.len())),
            actor => id_of(alone(actor)).ok_or(ActivityError::ActorMissing)?.to_owned(),
        };
        Ok(Activity { value, kind, actor })
    }

    /// Its type: `Follow`. Of several, the first that ActivityStreams knows as an activity, else the first.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// Its id, byte for byte.
    pub fn id(&self) -> Option<&str> {
        id_of(&self.value)
    }

    /// The id of its actor.
    pub fn actor(&self) -> &str {
        &self.actor
    }

    /// Its object: an id, an object, an array of several, or null where there is none.
    pub fn object(&self) -> &Value {
        alone(&self.value["object"])
    }

    /// The object's id, whether it stands there alone or inside the object.
    pub fn object_id(&self) -> Option<&str> {
        id_of(self.object())
    }

    /// The type of an embedded object: `Follow` inside an Accept.
    pub fn object_kind(&self) -> Option<&str> {
        kind_of(self.object())
    }

    /// The id of an embedded activity's actor.
    pub fn object_actor(&self) -> Option<&str> {
        id_of(alone(&self.object()["actor"]))
    }

    /// The id of an embedded activity's object.
    pub fn object_object(&self) -> Option<&str> {
        id_of(alone(&self.object()["object"]))
    }

    /// When it was published, as it stands there; for a Create without it, when its object was.
    pub fn published(&self) -> Option<&str> {
        let own = self.value["published"].as_str();
        own.or_else(|| (self.kind == "Create").then(|| self.object()["published"].as_str())?)
    }

    /// The text of its object.
    pub fn content(&self) -> Option<&str> {
        self.object()["content"].as_str()
    }

    /// Everything, as it came.
    pub fn value(&self) -> &Value {
        &self.value
    }
}

/// Why a body is no activity.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ActivityError {
    /// `actor` is missing, or holds no id.
    #[error("the activity names no actor: `actor` must be an id, or an object with one")]
    ActorMissing,
    /// The body does not parse.
    #[error("the body is no JSON: {0}")]
    Json(String),
    /// `actor` names more than one.
    #[error("the activity names {0} actors: one actor must have signed and done it")]
    ManyActors(usize),
    /// The body is JSON, but no object.
    #[error("the body is {0}: an activity is a JSON object")]
    NoObject(&'static str),
    /// `type` is missing, or no string.
    #[error("the activity has no `type`")]
    TypeMissing,
}

/// The member of an array of one; anything else is itself.
fn alone(value: &Value) -> &Value {
    match value {
        Value::Array(list) if list.len() == 1 => &list[0],
        other => other,
    }
}

/// The id, of a string or of an object with one. JSON-LD writes it `@id` as well.
pub fn id_of(value: &Value) -> Option<&str> {
    let id = match value {
        Value::String(id) => id,
        Value::Object(object) => object.get("id").or_else(|| object.get("@id"))?.as_str()?,
        _ => return None,
    };
    (!id.is_empty()).then_some(id)
}

/// The type, without the namespace of ActivityStreams.
fn kind_of(value: &Value) -> Option<&str> {
    let kind = value.get("type").or_else(|| value.get("@type"))?;
    let names: Vec<&str> = match kind {
        Value::String(name) => vec![bare(name)],
        Value::Array(list) => list.iter().filter_map(Value::as_str).map(bare).collect(),
        _ => return None,
    };
    let known = names.iter().find(|name| KNOWN.contains(name));
    known.or(names.first()).copied().filter(|name| !name.is_empty())
}

fn bare(name: &str) -> &str {
    let prefix = ["as:", "https://www.w3.org/ns/activitystreams#"];
    prefix
        .iter()
        .find_map(|prefix| name.strip_prefix(prefix))
        .unwrap_or(name)
}

fn json_kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// The activity types of ActivityStreams 2.0 Vocabulary section 3.1.
const KNOWN: [&str; 28] = [
    "Accept",
    "Add",
    "Announce",
    "Arrive",
    "Block",
    "Create",
    "Delete",
    "Dislike",
    "Flag",
    "Follow",
    "Ignore",
    "Invite",
    "Join",
    "Leave",
    "Like",
    "Listen",
    "Move",
    "Offer",
    "Question",
    "Read",
    "Reject",
    "Remove",
    "TentativeAccept",
    "TentativeReject",
    "Travel",
    "Undo",
    "Update",
    "View",
];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const U1: &str = "https://a.test/users/u1";
    const U2: &str = "https://b.test/users/u2";

    fn read(value: Value) -> Activity {
        Activity::read(value.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn every_spelling_reads_as_the_plain_one() {
        let spellings = [
            json!({"type": "Follow", "actor": U1, "object": U2}),
            json!({"type": ["Follow", "x:Foo"], "actor": U1, "object": U2}),
            json!({"type": ["x:Foo", "Follow"], "actor": U1, "object": U2}),
            json!({"type": "as:Follow", "actor": U1, "object": U2}),
            json!({"@type": "https://www.w3.org/ns/activitystreams#Follow", "actor": {"@id": U1}, "object": U2}),
            json!({"type": "Follow", "actor": [U1], "object": [U2]}),
            json!({"type": "Follow", "actor": {"id": U1, "type": "Person"}, "object": {"id": U2, "type": "Person"}}),
            json!({"type": "Follow", "actor": [{"id": U1}], "object": [{"id": U2}], "to": "as:Public", "@context": "x"}),
        ];
        for spelling in spellings {
            let activity = read(spelling.clone());
            let found = (activity.kind(), activity.actor(), activity.object_id());
            assert_eq!(found, ("Follow", U1, Some(U2)), "{spelling}");
        }
    }

    #[test]
    fn unknown_types_and_missing_ids_pass() {
        for kind in ["EmojiReact", "https://x.test/ns#Foo", "Add", "Ping"] {
            let activity = read(json!({"type": kind, "actor": U1, "target": {"odd": [1, {"x": null}]}}));
            assert_eq!(
                (activity.kind(), activity.id(), activity.object_id()),
                (kind, None, None)
            );
            assert!(activity.object().is_null());
        }
    }

    #[test]
    fn an_embedded_activity_is_seen_through() {
        let follow =
            json!({"id": "https://s.test/f/1?x=%7E", "type": "Follow", "actor": [U1], "object": {"id": U2}});
        let activity =
            read(json!({"id": "https://b.test/a/1", "type": "Accept", "actor": U2, "object": follow}));
        assert_eq!(activity.object_id(), Some("https://s.test/f/1?x=%7E"));
        assert_eq!(activity.object_kind(), Some("Follow"));
        assert_eq!(
            (activity.object_actor(), activity.object_object()),
            (Some(U1), Some(U2))
        );
        assert_eq!(activity.object(), &activity.value()["object"]);
    }

    #[test]
    fn several_objects_have_no_one_id() {
        let activity = read(json!({"type": "Flag", "actor": U1, "object": [U1, U2]}));
        assert_eq!((activity.object_id(), activity.object_kind()), (None, None));
        assert_eq!(activity.object(), &json!([U1, U2]));
    }

    #[test]
    fn what_is_no_activity_says_why() {
        let error = |text: &str| Activity::read(text.as_bytes()).unwrap_err();
        let two = format!(r#"{{"type":"Follow","actor":["{U1}","{U2}"]}}"#);
        assert_eq!(error(&two), ActivityError::ManyActors(2));
        assert_eq!(error(r#"{"type":"Follow"}"#), ActivityError::ActorMissing);
        assert_eq!(
            error(r#"{"type":"Follow","actor":[]}"#),
            ActivityError::ActorMissing
        );
        assert_eq!(
            error(r#"{"type":"Follow","actor":{"name":"u1"}}"#),
            ActivityError::ActorMissing
        );
        assert_eq!(error(r#"{"actor":"x"}"#), ActivityError::TypeMissing);
        assert_eq!(error(r#"{"type":7,"actor":"x"}"#), ActivityError::TypeMissing);
        assert_eq!(error("[]"), ActivityError::NoObject("an array"));
        for text in ["", "{", "nonsense", "{\"type\":\"Follow\",\"actor\":\"\u{0}\"}"] {
            assert!(matches!(error(text), ActivityError::Json(_)), "{text}");
        }
    }

    #[test]
    fn a_depth_bomb_is_refused() {
        let bomb = [
            r#"{"type":"Create","actor":"x","object":"#,
            &r#"{"a":"#.repeat(100_000),
        ]
        .concat();
        assert!(matches!(
            Activity::read(bomb.as_bytes()),
            Err(ActivityError::Json(_))
        ));
        let bomb = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(matches!(
            Activity::read(bomb.as_bytes()),
            Err(ActivityError::Json(_))
        ));
    }

    #[test]
    fn only_a_create_borrows_the_date_of_its_object() {
        let date = "2023-11-14T22:13:20.250Z";
        let note = json!({"type": "Note", "content": "hello", "published": date});
        let create = read(json!({"type": "Create", "actor": U1, "object": note}));
        assert_eq!(
            (create.published(), create.content()),
            (Some(date), Some("hello"))
        );
        let update = read(json!({"type": "Update", "actor": U1, "object": note}));
        assert_eq!(update.published(), None);
    }

    fn any_json() -> impl proptest::strategy::Strategy<Value = Value> {
        use proptest::prelude::*;
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            ".{0,8}".prop_map(Value::from),
        ];
        let key = prop::sample::select(vec![
            "type",
            "id",
            "actor",
            "object",
            "published",
            "content",
            "@type",
            "@id",
        ]);
        leaf.prop_recursive(4, 40, 5, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                prop::collection::vec((key.clone(), inner), 0..6)
                    .prop_map(|pairs| pairs.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()),
            ]
        })
    }

    fn touch(activity: &Activity) {
        let _ = (
            activity.id(),
            activity.kind(),
            activity.actor(),
            activity.published(),
            activity.content(),
        );
        let _ = (
            activity.object_id(),
            activity.object_kind(),
            activity.object_actor(),
            activity.object_object(),
        );
    }

    proptest::proptest! {
        #[test]
        fn no_json_makes_the_reader_panic(value in any_json()) {
            if let Ok(activity) = Activity::read(value.to_string().as_bytes()) {
                touch(&activity);
            }
        }

        #[test]
        fn no_bytes_make_the_reader_panic(bytes: Vec<u8>) {
            let _ = Activity::read(&bytes);
        }
    }
}
