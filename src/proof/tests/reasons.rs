//! What is found, and what is said of what does not hold.

use super::*;

use serde_json::json;

fn note() -> Map<String, Value> {
    object(json!({"@context": AS, "id": "https://a.test/1", "type": "Note", "content": "x"}))
}

/// A signed note with one member of its proof changed, or taken away.
fn spoilt(kind: Kind, name: &str, value: Value) -> Value {
    let mut document = signed(kind, note());
    let member = match kind {
        Kind::EddsaJcs2022 => "proof",
        Kind::RsaSignature2017 => "signature",
    };
    match value {
        Value::Null => document[member].as_object_mut().unwrap().shift_remove(name),
        value => document[member]
            .as_object_mut()
            .unwrap()
            .insert(name.to_owned(), value),
    };
    document
}

fn reasons(verdict: &ProofVerdict) -> Vec<String> {
    verdict
        .findings
        .iter()
        .map(|finding| finding.reason.label())
        .collect()
}

#[test]
fn every_proof_is_found_and_named() {
    let both = signed(Kind::RsaSignature2017, object(signed(Kind::EddsaJcs2022, note())));
    let found = find(&both);
    let named: Vec<_> = found
        .iter()
        .map(|proof| (proof.name(), proof.kind(), proof.key_id()))
        .collect();
    assert_eq!(
        named,
        [
            (
                Some("eddsa-jcs-2022"),
                Some(Kind::EddsaJcs2022),
                Some(ED25519_KEY_ID)
            ),
            (
                Some("RsaSignature2017"),
                Some(Kind::RsaSignature2017),
                Some(RSA_KEY_ID)
            ),
        ]
    );
    // Each holds beside the other: the first never counts the second, which covers the first.
    let first = found[0].verify(ed25519().public_key(), terms(NOW));
    assert_eq!(
        (first.result, first.notes.as_slice()),
        (Outcome::Valid, ["signature_removed"].as_slice())
    );
    assert_eq!(
        found[1].verify(rsa().public_key(), terms(NOW)).result,
        Outcome::Valid
    );

    let mut several = both.clone();
    several["proof"] =
        json!([both["proof"], {"type": "DataIntegrityProof", "cryptosuite": "ecdsa-jcs-2019"}, 1, 2, 3]);
    let found = find(&several);
    assert_eq!(found.len(), PROOFS_MAX);
    assert_eq!(
        found[0].verify(ed25519().public_key(), terms(NOW)).result,
        Outcome::Valid
    );
    assert_eq!(found[1].name(), Some("ecdsa-jcs-2019"));

    for none in [
        json!({}),
        json!(null),
        json!([both]),
        json!({"proof": null, "signature": []}),
        json!({"object": both}),
    ] {
        assert!(find(&none).is_empty(), "{none}");
    }
}

#[test]
fn what_no_key_could_make_valid_needs_none() {
    for (document, reason, said) in [
        (
            json!({"proof": {"type": "DataIntegrityProof", "cryptosuite": "ecdsa-jcs-2019"}}),
            "unsupported_proof",
            "ecdsa-jcs-2019",
        ),
        (
            json!({"proof": {"type": "Ed25519Signature2020"}}),
            "unsupported_proof",
            "Ed25519Signature2020",
        ),
        (
            json!({"proof": {"type": "RsaSignature2017"}}),
            "unsupported_proof",
            "RsaSignature2017",
        ),
        (
            json!({"signature": {"type": "RsaSignature2018"}}),
            "unsupported_proof",
            "RsaSignature2018",
        ),
        (json!({"signature": {}}), "unsupported_proof", "without a type"),
        (
            json!({"signature": "c2ln"}),
            "malformed",
            "`signature` is no object",
        ),
        (
            json!({"signature": {"type": "RsaSignature2017", "creator": ["x"]}}),
            "malformed",
            "`creator`",
        ),
        (
            json!({"proof": {"type": "DataIntegrityProof", "cryptosuite": "eddsa-jcs-2022"}}),
            "malformed",
            "`verificationMethod`",
        ),
    ] {
        let proof = find(&document)[0];
        let verdict = proof.unverifiable().unwrap();
        assert_eq!(
            (verdict.result, reasons(&verdict)),
            (Outcome::Invalid, vec![reason.to_owned()]),
            "{document}"
        );
        assert!(verdict.detail.as_ref().unwrap().contains(said), "{verdict:?}");
        assert_eq!(proof.verify(rsa().public_key(), terms(NOW)), verdict);
    }
    assert_eq!(find(&signed(Kind::EddsaJcs2022, note()))[0].unverifiable(), None);
}

#[test]
fn each_fault_has_its_reason() {
    use Kind::{EddsaJcs2022 as Eddsa, RsaSignature2017 as Rsa};
    // A member that is signed spoils the signature, too.
    for (kind, name, value, expected) in [
        (
            Eddsa,
            "proofPurpose",
            json!("authentication"),
            "proof_purpose_mismatch signature_mismatch",
        ),
        (
            Eddsa,
            "proofPurpose",
            json!(null),
            "proof_purpose_mismatch signature_mismatch",
        ),
        (Eddsa, "proofValue", json!(null), "malformed"),
        (Eddsa, "proofValue", json!(["z"]), "malformed"),
        (Eddsa, "proofValue", json!("z0OIl"), "bad_multibase"),
        (Eddsa, "proofValue", json!("z2g"), "bad_multibase"),
        (Eddsa, "proofValue", json!("u2g"), "bad_multibase"),
        (Eddsa, "proofValue", json!("z".repeat(200_000)), "bad_multibase"),
        (
            Eddsa,
            "@context",
            json!([AS, "https://w3id.org/security/v1"]),
            "context_mismatch signature_mismatch",
        ),
        (Eddsa, "@context", json!(null), "signature_mismatch"),
        (
            Eddsa,
            "created",
            json!("yesterday"),
            "date_unreadable signature_mismatch",
        ),
        (Eddsa, "created", json!(1), "date_unreadable signature_mismatch"),
        (
            Eddsa,
            "created",
            json!("2023-11-14T23:13:21Z"),
            "created_in_future signature_mismatch",
        ),
        (
            Eddsa,
            "expires",
            json!("2023-11-14T21:13:19Z"),
            "expired signature_mismatch",
        ),
        (Eddsa, "nonce", json!("x"), "signature_mismatch"),
        (Rsa, "signatureValue", json!(null), "malformed"),
        (Rsa, "signatureValue", json!("%"), "bad_base64"),
        (Rsa, "signatureValue", json!(""), "signature_mismatch"),
        (Rsa, "created", json!(null), "malformed signature_mismatch"),
        (
            Rsa,
            "created",
            json!("2023-11-14T23:13:21Z"),
            "created_in_future signature_mismatch",
        ),
        (
            Rsa,
            "expires",
            json!("2023-11-14T21:13:19Z"),
            "expired signature_mismatch",
        ),
        (Rsa, "nonce", json!("x"), "signature_mismatch"),
        (Rsa, "domain", json!("x"), "signature_mismatch"),
        // What Mastodon leaves out of the options is not covered.
        (Rsa, "id", json!("https://a.test/#s"), ""),
    ] {
        let document = spoilt(kind, name, value);
        let verdict = verdict(&document, &key_of(kind));
        assert_eq!(
            reasons(&verdict).join(" "),
            expected,
            "{kind} {name} {verdict:#?}"
        );
        assert_eq!(
            verdict.reason,
            verdict.findings.first().map(|finding| finding.reason)
        );
        assert_eq!(
            verdict.hashed.is_some(),
            !expected.is_empty(),
            "a failure shows what was hashed"
        );
    }
}

#[test]
fn dates_have_an_hour_here() {
    for kind in KINDS {
        let document = signed(kind, note());
        let at = |now: Timestamp| {
            let verdict = find(&document)[0].verify(key_of(kind).public_key(), terms(now));
            reasons(&verdict).join(" ")
        };
        assert_eq!(at(NOW.minus(Duration::from_secs(3_600))), "");
        assert_eq!(at(NOW.minus(Duration::from_secs(3_601))), "created_in_future");
        // Objects are forwarded years later.
        assert_eq!(at(NOW.plus(Duration::from_secs(100_000_000))), "");
    }
    let mut document = note();
    sign_rsa_signature_2017(&mut document, RSA_KEY_ID, NOW, Some(NOW), &rsa()).unwrap();
    let document = Value::Object(document);
    let at = |seconds| {
        let now = NOW.plus(Duration::from_secs(seconds));
        reasons(&find(&document)[0].verify(rsa().public_key(), terms(now))).join(" ")
    };
    assert_eq!((at(3_600).as_str(), at(3_601).as_str()), ("", "expired"));
}

#[test]
fn a_key_must_be_the_one_and_of_the_right_kind() {
    for kind in KINDS {
        let document = signed(kind, note());
        let other = key_of(KINDS[usize::from(kind == KINDS[0])]);
        let verdict_ = verdict(&document, &other);
        assert_eq!(reasons(&verdict_), ["unsupported_algorithm"]);
        assert!(verdict_.detail.unwrap().contains(&other.kind().to_string()));
        let stranger = match kind {
            Kind::EddsaJcs2022 => SigningKey::generate_ed25519(),
            Kind::RsaSignature2017 => SigningKey::generate_rsa(2_048),
        };
        assert_eq!(
            reasons(&verdict(&document, &stranger.unwrap())),
            ["signature_mismatch"]
        );
        let gone = find(&document)[0].verify_without_key(Reason::KeyGone, "410", terms(NOW));
        assert_eq!(
            (reasons(&gone), gone.detail.as_deref()),
            (vec!["key_gone".to_owned()], Some("410"))
        );
    }
    let error = sign_eddsa_jcs_2022(&mut note(), "x", NOW, &rsa()).unwrap_err();
    assert!(matches!(error, ProofError::Key(_)), "{error:?}");
    let error = sign_rsa_signature_2017(&mut note(), "x", NOW, None, &ed25519()).unwrap_err();
    assert!(matches!(error, ProofError::Key(_)), "{error:?}");
}

#[test]
fn the_contexts_of_a_proof_may_be_the_first_of_its_document() {
    let mut document = signed(Kind::EddsaJcs2022, note());
    document["@context"] = json!([AS, "https://w3id.org/security/v1"]);
    let longer = verdict(&document, &ed25519());
    assert_eq!(
        (longer.result, longer.notes),
        (Outcome::Valid, vec!["context_replaced"])
    );
    document["@context"] = json!(["https://w3id.org/security/v1", AS]);
    assert_eq!(
        reasons(&verdict(&document, &ed25519())),
        ["context_mismatch", "signature_mismatch"]
    );
}

#[test]
fn the_json_of_a_verdict_is_for_the_journal() {
    let document = signed(Kind::EddsaJcs2022, note());
    assert_eq!(
        serde_json::to_value(verdict(&document, &ed25519())).unwrap(),
        json!({"result": "valid", "kind": "eddsa-jcs-2022", "reason": null, "key_id": ED25519_KEY_ID, "notes": []})
    );
    let mut document = signed(Kind::RsaSignature2017, note());
    document["content"] = "y".into();
    let mut verdict = serde_json::to_value(verdict(&document, &rsa())).unwrap();
    let hashed = verdict["hashed"].take();
    assert_eq!(
        verdict,
        json!({
            "result": "invalid", "kind": "RsaSignature2017", "reason": "signature_mismatch",
            "detail": "the signature is not this key's over the digests of options and document",
            "key_id": RSA_KEY_ID, "notes": [], "hashed": null,
        })
    );
    assert_eq!(
        hashed["document"],
        "<https://a.test/1> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <https://www.w3.org/ns/activitystreams#Note> .\n\
        <https://a.test/1> <https://www.w3.org/ns/activitystreams#content> \"y\" .\n"
    );
    let members: Vec<&String> = hashed.as_object().unwrap().keys().collect();
    assert_eq!(
        members,
        ["options", "options_sha256", "document", "document_sha256"]
    );
}

#[test]
fn kinds_have_the_names_of_profiles() {
    for (kind, name) in KINDS.into_iter().zip(["eddsa_jcs_2022", "rsa_signature_2017"]) {
        assert_eq!(serde_json::to_value(kind).unwrap(), name);
        assert_eq!(serde_json::from_value::<Kind>(name.into()).unwrap(), kind);
    }
}
