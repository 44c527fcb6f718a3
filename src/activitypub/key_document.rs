//! What a document says of keys. Servers publish them as one object, as an array, as the URL of another document, in
//! a stub of the actor, and as a document of their own that only names its owner; in `publicKey`, or as Multikeys in
//! `assertionMethod` (FEP-521a).

use serde_json::Value;

use crate::activitypub::id_of;
use crate::signature::key::{KeyError, VerifyingKey};

/// A document that has to do with keys.
#[derive(Debug, PartialEq, Eq)]
pub enum KeyDocument<'a> {
    /// An actor, whole or as a stub.
    Actor(Keys<'a>),
    /// A key alone.
    Bare(Key<'a>),
    /// What is left of an actor that was deleted (ActivityStreams 2.0 Vocabulary, Tombstone).
    Tombstone,
}

/// An actor's keys.
#[derive(Debug, PartialEq, Eq)]
pub struct Keys<'a> {
    /// The actor's id.
    pub actor: &'a str,
    /// What `publicKey` lists.
    pub public_keys: Vec<Listed<'a>>,
    /// What `assertionMethod` lists.
    pub methods: Vec<Listed<'a>>,
}

/// A key as an actor lists it.
#[derive(Debug, PartialEq, Eq)]
pub enum Listed<'a> {
    /// The key itself.
    Embedded(Key<'a>),
    /// The URL of the key's own document.
    Named(&'a str),
}

/// A public key.
#[derive(Debug, PartialEq, Eq)]
pub struct Key<'a> {
    /// Its id.
    pub id: &'a str,
    /// The id of the actor whose it is, where it says so: `owner`, or `controller` as Multikeys have it.
    pub owner: Option<&'a str>,
    /// The key itself.
    pub text: KeyText<'a>,
}

/// A public key as a document carries it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyText<'a> {
    /// `publicKeyMultibase` (W3C Controlled Identifiers 1.0 section 2.2.2).
    Multibase(&'a str),
    /// `publicKeyPem`.
    Pem(&'a str),
}

impl<'a> KeyDocument<'a> {
    /// Reads a document; `None` where it has nothing to do with keys.
    pub fn read(document: &'a Value) -> Option<KeyDocument<'a>> {
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
        let (public_keys, methods) = (&document["publicKey"], &document["assertionMethod"]);
        if public_keys.is_null() && methods.is_null() {
            return None;
        }
        Some(KeyDocument::Actor(Keys {
            actor: id_of(document)?,
            public_keys: Listed::all(public_keys),
            methods: Listed::all(methods),
        }))
    }
}

impl<'a> Keys<'a> {
    /// Which of the keys a key id means: the one of that very id, never the first of several. Where the key id is the
    /// actor's own id, as PeerTube writes it, it means the only key of `publicKey`, or where there is none of
    /// `assertionMethod`.
    pub fn choose(&self, key_id: &str) -> Option<&Listed<'a>> {
        let mut all = self.public_keys.iter().chain(&self.methods);
        let alone = match self.public_keys.as_slice() {
            [] => &self.methods,
            _ => &self.public_keys,
        };
        match all.find(|key| key.id() == key_id) {
            Some(key) => Some(key),
            None if key_id == self.actor && alone.len() == 1 => alone.first(),
            None => None,
        }
    }
}

impl<'a> Listed<'a> {
    fn all(value: &'a Value) -> Vec<Listed<'a>> {
        match value {
            Value::Array(list) => list.iter().take(LISTED_MAX).filter_map(Listed::read).collect(),
            one => Listed::read(one).into_iter().collect(),
        }
    }

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
    pub fn id(&self) -> &'a str {
        match self {
            Listed::Embedded(key) => key.id,
            Listed::Named(url) => url,
        }
    }
}

impl<'a> Key<'a> {
    fn read(value: &'a Value) -> Option<Key<'a>> {
        let pem = value["publicKeyPem"].as_str().map(KeyText::Pem);
        let multibase = || value["publicKeyMultibase"].as_str().map(KeyText::Multibase);
        Some(Key {
            id: id_of(value)?,
            owner: id_of(&value["owner"]).or_else(|| id_of(&value["controller"])),
            text: pem.or_else(multibase)?,
        })
    }
}

impl KeyText<'_> {
    /// Reads the key.
    ///
    /// # Errors
    /// As [`VerifyingKey::from_pem`] and [`VerifyingKey::from_multibase`].
    pub fn read(self) -> Result<VerifyingKey, KeyError> {
        match self {
            KeyText::Multibase(text) => VerifyingKey::from_multibase(text),
            KeyText::Pem(text) => VerifyingKey::from_pem(text),
        }
    }
}

/// How many keys of one list of an actor are looked at.
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
            text: KeyText::Pem("PEM"),
        };
        let one = json!({"id": ACTOR, "publicKey": key});
        let keys = Keys {
            actor: ACTOR,
            public_keys: vec![Listed::Embedded(expected)],
            methods: vec![],
        };
        assert_eq!(KeyDocument::read(&one), Some(KeyDocument::Actor(keys)));

        let several = json!({"id": ACTOR, "publicKey": [key, "https://a.test/keys/7", {"id": "https://a.test/keys/8"}, 7]});
        let Some(KeyDocument::Actor(keys)) = KeyDocument::read(&several) else {
            panic!()
        };
        let ids: Vec<_> = keys.public_keys.iter().map(Listed::id).collect();
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
    fn a_multikey_is_read_wherever_it_stands() {
        // FEP-521a, section "Example", with names of our own.
        let multikey = json!({"id": "https://a.test/u1#ed25519-key", "type": "Multikey", "controller": ACTOR,
                              "publicKeyMultibase": "z6MkrJVnaZkeFzdQyMZu1cgjg7k1pZZ6pvBQ7XJPt4swbTQ2"});
        let expected = || Key {
            id: "https://a.test/u1#ed25519-key",
            owner: Some(ACTOR),
            text: KeyText::Multibase("z6MkrJVnaZkeFzdQyMZu1cgjg7k1pZZ6pvBQ7XJPt4swbTQ2"),
        };
        for listed in [multikey.clone(), json!([multikey]), json!([7, multikey])] {
            let document = json!({"id": ACTOR, "assertionMethod": listed});
            let Some(KeyDocument::Actor(keys)) = KeyDocument::read(&document) else {
                panic!()
            };
            assert_eq!(keys.methods, [Listed::Embedded(expected())]);
            assert!(keys.public_keys.is_empty());
        }
        assert_eq!(KeyDocument::read(&multikey), Some(KeyDocument::Bare(expected())));
        let named = json!({"id": ACTOR, "assertionMethod": "https://a.test/keys/9"});
        let Some(KeyDocument::Actor(keys)) = KeyDocument::read(&named) else {
            panic!()
        };
        assert_eq!(keys.methods, [Listed::Named("https://a.test/keys/9")]);
    }

    #[test]
    fn a_key_is_chosen_by_its_id_and_never_for_being_first() {
        let named = |names: &[&'static str]| names.iter().copied().map(Listed::Named).collect::<Vec<_>>();
        let choose = |public_keys: &[&'static str], methods: &[&'static str], key_id: &str| {
            let keys = Keys {
                actor: ACTOR,
                public_keys: named(public_keys),
                methods: named(methods),
            };
            keys.choose(key_id).map(Listed::id)
        };
        let (one, two) = ("https://a.test/k1", "https://a.test/k2");
        assert_eq!(choose(&[one, two], &[], two), Some(two));
        assert_eq!(choose(&[one], &[two], two), Some(two));
        assert_eq!(choose(&[one, two], &[], "https://a.test/k3"), None);
        assert_eq!(choose(&[one, two], &[], ACTOR), None);
        assert_eq!(choose(&[one], &[two], ACTOR), Some(one));
        assert_eq!(choose(&[], &[two], ACTOR), Some(two));
        assert_eq!(choose(&[], &[one, two], ACTOR), None);
        assert_eq!(choose(&[one], &[], "https://a.test/u1#k"), None);
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
            "assertionMethod",
            "publicKeyMultibase",
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
            if let Some(KeyDocument::Actor(keys)) = KeyDocument::read(&document) {
                let _ = keys.choose(keys.actor);
            }
        }
    }
}
