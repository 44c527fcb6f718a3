//! Documents that would take too much, or mean nothing.

use super::*;

use serde_json::json;

fn refusal(document: Value) -> ProofError {
    sign_rsa_signature_2017(&mut object(document), RSA_KEY_ID, NOW, None, &rsa()).unwrap_err()
}

fn detail(document: Value) -> String {
    match refusal(document) {
        ProofError::Canonical(detail) => detail,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_bundled_context_is_one() {
    for url in [
        "https://purl.archive.org/socialweb/webfinger",
        "https://w3id.org/identity/v1",
        "https://w3id.org/security/data-integrity/v1",
        "https://w3id.org/security/data-integrity/v2",
        "https://w3id.org/security/multikey/v1",
        "https://w3id.org/security/v1",
        "https://www.w3.org/ns/activitystreams",
        "http://www.w3.org/ns/activitystreams",
        "https://www.w3.org/ns/cid/v1",
        "https://www.w3.org/ns/did/v1",
    ] {
        let mut document =
            object(json!({"@context": url, "id": "https://a.test/1", "type": "https://x.test/T"}));
        sign_rsa_signature_2017(&mut document, RSA_KEY_ID, NOW, None, &rsa()).unwrap();
        assert_eq!(verdict(&document.into(), &rsa()).result, Outcome::Valid, "{url}");
    }
}

#[test]
fn no_context_is_fetched() {
    let unknown = "https://a.test/context.jsonld";
    for context in [
        json!(unknown),
        json!([AS, {"x": "https://x.test/"}, unknown]),
        json!([AS, {"@import": unknown}]),
    ] {
        let error = refusal(json!({"@context": context, "id": "https://a.test/1"}));
        assert_eq!(error, ProofError::Context(unknown.to_owned()), "{context}");
        assert!(error.to_string().contains(unknown));
    }
    let nested = json!({"@context": AS, "object": [{"@context": unknown}]});
    assert_eq!(refusal(nested), ProofError::Context(unknown.to_owned()));

    let mut document = signed(
        Kind::RsaSignature2017,
        object(json!({"@context": AS, "id": "https://a.test/1", "type": "Note"})),
    );
    document["@context"] = json!([AS, unknown]);
    let verdict = verdict(&document, &rsa());
    assert_eq!(
        (verdict.reason, verdict.hashed),
        (Some(Reason::ContextUnknown), None)
    );
}

#[test]
fn what_is_no_json_ld_has_no_canonical_form() {
    for document in [
        json!({"@context": 1}),
        json!({"@context": [AS, {"@version": 2}]}),
        json!({"@context": AS, "id": 1}),
        json!({"@context": AS, "type": {"x": 1}}),
        json!({"@context": {"a": {"@id": "b"}, "b": {"@id": "a"}}, "a": 1}),
    ] {
        assert!(!detail(document.clone()).is_empty(), "{document}");
    }
}

#[test]
fn size_is_bounded() {
    let notes: Vec<Value> = (0..10_001).map(|number| json!(number)).collect();
    assert!(detail(json!({"@context": AS, "object": notes})).contains("10000 values"));
    let nested: Vec<Value> = (0..33).map(|_| json!({"@context": AS, "type": "Note"})).collect();
    assert!(detail(json!({"object": nested})).contains("32 contexts"));
    let array: Vec<&str> = vec![AS; 32];
    assert!(detail(json!({"@context": array})).contains("32 contexts"));
    let scoped =
        json!({"@context": [AS, {"x": {"@id": "https://x.test/", "@context": {"y": "https://y.test/"}}}]});
    assert!(detail(scoped).contains("`x` is defined with a context of its own"));
    let nodes: Vec<Value> = (0..1_001)
        .map(|number| json!({"type": "Note", "content": number}))
        .collect();
    assert!(detail(json!({"@context": AS, "object": nodes})).contains("1000 blank nodes"));
}

#[test]
fn terms_are_bounded_that_are_defined_by_each_other() {
    let chain = |length: usize| {
        let terms: Map<String, Value> = (0..length)
            .map(|number| {
                (
                    format!("t{number}"),
                    json!({"@id": format!("t{}:x", number + 1), "@prefix": true}),
                )
            })
            .collect();
        json!({"@context": terms, "@id": "https://a.test/1", "t0": "x"})
    };
    assert!(detail(chain(100_000)).contains("256 terms"));
    let signed = signed(Kind::RsaSignature2017, object(chain(256)));
    assert_eq!(verdict(&signed, &rsa()).result, Outcome::Valid);
}

/// Every node knows every other, so that none can be told from the rest: RDFC tries all orders.
fn clique(size: usize) -> Value {
    let nodes: Vec<Value> = (0..size)
        .map(|number| {
            let others: Vec<String> = (0..size)
                .filter(|other| *other != number)
                .map(|other| format!("_:n{other}"))
                .collect();
            json!({"id": format!("_:n{number}"), "tag": others})
        })
        .collect();
    json!({"@context": AS, "@graph": nodes})
}

#[test]
fn poison_is_refused_before_it_works() {
    assert!(detail(clique(10)).contains("look alike"));
    // Siblings without anything of their own, below a node that is told apart.
    let child = json!({"type": "Link", "tag": [{"type": "Link"}, {"type": "Link"}, {"type": "Link"}]});
    let twin = json!({"type": "Note", "tag": vec![child; 9]});
    let parent = json!({"@context": AS, "type": "Note", "tag": vec![twin; 2]});
    assert!(detail(parent).contains("look alike"));
    // A long chain of look-alikes is no matter of orders, but of length.
    let chain: Vec<Value> = (0..200)
        .map(|number| json!({"id": format!("_:n{number}"), "tag": format!("_:n{}", number + 1)}))
        .collect();
    assert!(detail(json!({"@context": AS, "@graph": chain})).contains("look alike"));
}

#[test]
fn look_alikes_of_real_posts_are_told_apart() {
    let option = json!({"type": "Note", "name": "no", "replies": {"type": "Collection", "totalItems": 1}});
    let poll =
        json!({"@context": AS, "id": "https://a.test/1", "type": "Question", "oneOf": vec![option; 20]});
    let pages: Vec<Value> = (0..100)
        .map(|number| json!({"type": "Note", "content": number}))
        .collect();
    let collection = json!({"@context": AS, "id": "https://a.test/1", "type": "OrderedCollection", "orderedItems": pages[..40]});
    let links = json!({"@context": AS, "type": "Note", "tag": vec![json!({"type": "Link", "href": "https://a.test"}); 50]});
    for document in [poll, collection, links, clique(3)] {
        let signed = signed(Kind::RsaSignature2017, object(document));
        assert_eq!(verdict(&signed, &rsa()).result, Outcome::Valid);
    }
}
