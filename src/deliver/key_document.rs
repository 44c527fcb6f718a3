//! What a document says of keys. Servers publish them as one object, as an array, as the URL of another document, in
//! a stub of the actor, and as a document of their own that only names its owner.

use serde_json::Value;

use crate::deliver::remote::id_of;

/// A document that has to do with keys.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum KeyDocument<'a> {
    /// An actor, whole or as a stub: its id and the keys it lists.
    Actor {
        /// The actor's id.
        id: &'a str,
        /// Its keys.
        keys: Vec<Listed<'a>>,
    },
    /// A key alone.
    Bare(Key<'a>),
    /// What is left of an actor that was deleted (ActivityStreams 2.0 Vocabulary, Tombstone).
    Tombstone,
}

/// A key as an actor lists it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Listed<'a> {
    /// The key itself.
    Embedded(Key<'a>),
    /// The URL of the key's own document.
    Named(&'a str),
}

/// A public key.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Key<'a> {
    /// Its id.
    pub(super) id: &'a str,
    /// The id of the actor whose it is, where it says so.
    pub(super) owner: Option<&'a str>,
    /// Its text.
    pub(super) pem: &'a str,
}

impl<'a> KeyDocument<'a> {
    /// Reads a document; `None` where it has nothing to do with keys.
    pub(super) fn read(document: &'a Value) -> Option<KeyDocument<'a>> {
        let is_tombstone = match &document["type"] {
            Value::Array(types) => types.iter().any(|name| name == "Tombstone"),
            name => name == "Tombstone",
        };
        if is_tombstone {
            return Some(KeyDocument::Tombstone);
        }
        if let Some(key) = Key::read(document) {
            return Some(KeyDocument::Bare(key));
        }
        let keys = match &document["publicKey"] {
            Value::Null => return None,
            Value::Array(list) => list.iter().take(LISTED_MAX).filter_map(Listed::read).collect(),
            one => Listed::read(one).into_iter().collect(),
        };
        Some(KeyDocument::Actor {
            id: id_of(document)?,
            keys,
        })
    }
}

impl<'a> Listed<'a> {
    fn read(value: &'a Value) -> Option<Listed<'a>> {
        match value.as_str() {
            Some(url) => Some(Listed::Named(url)),
            None => match Key::read(value) {
                Some(key) => Some(Listed::Embedded(key)),
                None => id_of(value).map(Listed::Named),
            },
        }
    }

    /// The key's id, which for one that is only named is its URL.
    pub(super) fn id(&self) -> &'a str {
        match self {
            Listed::Embedded(key) => key.id,
            Listed::Named(url) => url,
        }
    }
}

impl<'a> Key<'a> {
    fn read(value: &'a Value) -> Option<Key<'a>> {
        Some(Key {
            id: id_of(value)?,
            owner: id_of(&value["owner"]).or_else(|| id_of(&value["controller"])),
            pem: value["publicKeyPem"].as_str()?,
        })
    }
}

/// Which of an actor's keys a key id means: the one of that very id, never the first of several. Where the key id is
/// the actor's own id, as PeerTube writes it, it means the actor's only key.
pub(super) fn choose<'a>(actor: &str, keys: &'a [Listed<'a>], key_id: &str) -> Option<&'a Listed<'a>> {
    match keys.iter().find(|key| key.id() == key_id) {
        Some(key) => Some(key),
        None if key_id == actor && keys.len() == 1 => keys.first(),
        None => None,
    }
}

/// How many keys of one actor are looked at.
const LISTED_MAX: usize = 32;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const ACTOR: &str = "https://a.test/u1";

    #[test]
    fn each_form_in_the_field_reads() {
        let key = json!({"id": "https://a.test/u1#main-key", "owner": ACTOR, "publicKeyPem": "PEM"});
        let expected = Key {
            id: "https://a.test/u1#main-key",
            owner: Some(ACTOR),
            pem: "PEM",
        };
        let one = json!({"id": ACTOR, "publicKey": key});
        let Some(KeyDocument::Actor { id: ACTOR, keys }) = KeyDocument::read(&one) else {
            panic!()
        };
        assert_eq!(keys, [Listed::Embedded(expected)]);

        let several = json!({"id": ACTOR, "publicKey": [key, "https://a.test/keys/7", {"id": "https://a.test/keys/8"}, 7]});
        let Some(KeyDocument::Actor { keys, .. }) = KeyDocument::read(&several) else {
            panic!()
        };
        let ids: Vec<_> = keys.iter().map(Listed::id).collect();
        assert_eq!(
            ids,
            [
                "https://a.test/u1#main-key",
                "https://a.test/keys/7",
                "https://a.test/keys/8"
            ]
        );

        assert!(matches!(
            KeyDocument::read(&key),
            Some(KeyDocument::Bare(Key {
                owner: Some(ACTOR),
                ..
            }))
        ));
        let gone = json!({"id": ACTOR, "type": ["Tombstone"], "publicKey": key});
        assert_eq!(KeyDocument::read(&gone), Some(KeyDocument::Tombstone));
        for nothing in [
            json!({"id": ACTOR}),
            json!({"publicKey": key}),
            json!({"id": ACTOR, "publicKey": null}),
        ] {
            assert_eq!(KeyDocument::read(&nothing), None, "{nothing}");
        }
    }

    #[test]
    fn a_key_is_chosen_by_its_id_and_never_for_being_first() {
        let keys = ["https://a.test/k1", "https://a.test/k2"].map(Listed::Named);
        assert_eq!(choose(ACTOR, &keys, "https://a.test/k2"), Some(&keys[1]));
        assert_eq!(choose(ACTOR, &keys, "https://a.test/k3"), None);
        assert_eq!(choose(ACTOR, &keys, ACTOR), None);
        assert_eq!(choose(ACTOR, &keys[..1], ACTOR), Some(&keys[0]));
        assert_eq!(choose(ACTOR, &keys[..1], "https://a.test/u1#k"), None);
    }

    fn any_json() -> impl proptest::strategy::Strategy<Value = Value> {
        use proptest::prelude::*;
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<i64>().prop_map(Value::from),
            ".{0,8}".prop_map(Value::from)
        ];
        let keys = vec![
            "id",
            "type",
            "owner",
            "publicKey",
            "publicKeyPem",
            "inbox",
            "endpoints",
            "sharedInbox",
        ];
        let key = prop::sample::select(keys);
        leaf.prop_recursive(4, 40, 5, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                prop::collection::vec((key.clone(), inner), 0..6).prop_map(|pairs| pairs
                    .into_iter()
                    .map(|(key, value)| (key.to_owned(), value))
                    .collect()),
            ]
        })
    }

    proptest::proptest! {
        #[test]
        fn no_json_makes_the_reader_panic(document in any_json()) {
            if let Some(KeyDocument::Actor { id, keys }) = KeyDocument::read(&document) {
                let _ = choose(id, &keys, id);
            }
            let _ = crate::deliver::Remote::read(&document);
        }
    }
}
