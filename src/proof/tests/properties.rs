//! Random documents.

use super::*;

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::json;

/// Any JSON.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            members(inner).prop_map(Value::from),
        ]
    })
}

fn members(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Map<String, Value>> {
    btree_map(text(), value, 0..5).prop_map(|members| members.into_iter().collect())
}

/// Any text, and words that mean something to JSON-LD and to proofs.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![select(WORDS).prop_map(str::to_owned), any::<String>()]
}

/// A document of which RDF keeps every member.
fn post() -> impl Strategy<Value = Map<String, Value>> {
    let name = select(&[
        "content",
        "name",
        "summary",
        "https://x.test/p",
        "https://x.test/q",
    ] as &[&str]);
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[^\u{fffe}\u{ffff}]{0,20}".prop_map(Value::from),
    ];
    (btree_map(name, leaf, 1..5), 0_u32..100).prop_map(|(members, id)| {
        let mut document =
            object(json!({"@context": AS, "id": format!("https://a.test/{id}"), "type": "Note"}));
        document.extend(members.into_iter().map(|(name, value)| (name.to_owned(), value)));
        document
    })
}

/// The same members in another order, all the way down.
fn reversed(value: &Value) -> Value {
    match value {
        Value::Object(members) => members
            .iter()
            .rev()
            .map(|(name, value)| (name.clone(), reversed(value)))
            .collect::<Map<_, _>>()
            .into(),
        Value::Array(values) => values.iter().map(reversed).collect(),
        other => other.clone(),
    }
}

proptest! {
    #[test]
    fn what_is_signed_verifies_in_any_order(document in members(value())) {
        let signed = signed(Kind::EddsaJcs2022, document);
        prop_assert_eq!(verdict(&signed, &ed25519()).result, Outcome::Valid);
        prop_assert_eq!(verdict(&reversed(&signed), &ed25519()).result, Outcome::Valid);
        // Nor does it matter how it is written.
        let read: Value = serde_json::from_str(&serde_json::to_string_pretty(&signed).unwrap()).unwrap();
        prop_assert_eq!(verdict(&read, &ed25519()).result, Outcome::Valid);
    }

    #[test]
    fn any_change_of_a_member_shows(document in members(value()), which in any::<Index>(), other in value()) {
        let mut signed = signed(Kind::EddsaJcs2022, document);
        let members = signed.as_object_mut().unwrap();
        let names: Vec<String> = members.keys().filter(|name| *name != "proof" && *name != "@context").cloned().collect();
        prop_assume!(!names.is_empty());
        let name = which.get(&names);
        prop_assume!(!alike(&members[name], &other));
        members.insert(name.clone(), other);
        prop_assert_eq!(verdict(&signed, &ed25519()).reason, Some(Reason::SignatureMismatch));
    }

    #[test]
    fn no_json_makes_it_panic(document in members(value()), proof in members(value()), context in value()) {
        let mut document = document;
        document.insert("@context".to_owned(), json!([AS, context]));
        for (member, kind) in [("proof", "DataIntegrityProof"), ("signature", "RsaSignature2017")] {
            let mut proof = proof.clone();
            let fixed = json!({"type": kind, "cryptosuite": "eddsa-jcs-2022", "creator": "x", "verificationMethod": "x"});
            proof.extend(object(fixed));
            document.insert(member.to_owned(), proof.into());
        }
        let document = Value::Object(document);
        let proofs = find(&document);
        prop_assert_eq!(proofs.len(), 2);
        for proof in proofs {
            let verdict = proof.verify_without_key(Reason::KeyGone, "", terms(NOW));
            prop_assert_eq!(verdict.result, Outcome::Invalid);
        }
    }
}

proptest! {
    // Each signs twice, once with RSA.
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_post_verifies_and_any_change_of_it_shows(
        document in post(),
        which in any::<Index>(),
        other in "[a-z]{21}",
    ) {
        for kind in KINDS {
            let mut signed = signed(kind, document.clone());
            prop_assert_eq!(verdict(&reversed(&signed), &key_of(kind)).result, Outcome::Valid);
            let names: Vec<&String> = document.keys().filter(|name| *name != "@context").collect();
            signed[which.get(&names).as_str()] = format!("https://a.test/{other}").into();
            prop_assert_eq!(verdict(&signed, &key_of(kind)).reason, Some(Reason::SignatureMismatch));
        }
    }
}

/// Whether two values are one to JCS, to which all numbers are doubles.
fn alike(one: &Value, other: &Value) -> bool {
    let text = |value: &Value| serde_json_canonicalizer::to_string(value).unwrap();
    text(one) == text(other)
}

const WORDS: &[&str] = &[
    "@context",
    "@graph",
    "@id",
    "@included",
    "@json",
    "@language",
    "@list",
    "@nest",
    "@reverse",
    "@set",
    "@type",
    "@value",
    "@vocab",
    "@base",
    "@version",
    "@container",
    "@index",
    "@none",
    "@import",
    "@propagate",
    "@protected",
    "_:b0",
    "id",
    "type",
    "object",
    "tag",
    "content",
    "contentMap",
    "items",
    "orderedItems",
    "name",
    AS,
    "https://w3id.org/security/data-integrity/v1",
    "https://x.test/",
    "x:y",
    "",
    "en",
    "created",
    "expires",
    "1.1",
];
