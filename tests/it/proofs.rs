//! Proofs inside activities: what carries them, what each kind vouches for, and what is told of those that do not hold.

use peerfarm::clock::Timestamp;
use peerfarm::command::serve::Settings;
use peerfarm::proof::{self, Kind};
use peerfarm::signature::key::{SigningKey, VerifyingKey};
use peerfarm::signature::{Hs2019, Outcome, Terms, Window};
use peerfarm::{Farm, Running};
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use crate::support::{
    Api, DEADLINE, Peerfarm, Persona, Request, Sut, call, counted, farm, last_entry, persona, plain, raw,
    settings, softwares, with,
};

const SECURITY: &str = "https://w3id.org/security/v1";
const DATA_INTEGRITY: &str = "https://w3id.org/security/data-integrity/v1";

#[tokio::test]
async fn a_public_activity_of_mastodon_is_signed_and_nothing_else_is() {
    let sut = Sut::start(&["u1"]).await;
    let farm = farm(&sut).start().await.unwrap();
    let alice = persona(&farm, "alice@mastodon1.test");
    let key = key_of(&farm, &alice).await;
    let private = json!({"type": "Like", "object": sut.actor("u1"), "to": sut.actor("u1")});
    let public = json!({"type": "Like", "object": sut.actor("u1"), "cc": ["as:Public"]});
    for (count, (deed, body, is_signed)) in [
        ("send", json!({"to": sut.actor("u1"), "note": "hello"}), true),
        ("send", json!({"to": sut.actor("u1"), "activity": public}), true),
        ("send", json!({"to": sut.actor("u1"), "activity": private}), false),
        ("follow", json!({"target": sut.actor("u1")}), false),
    ]
    .into_iter()
    .enumerate()
    {
        let answer = Api::of(&farm).tell(deed, body).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        assert!(answer.json().get("notes").is_none(), "{answer:?}");
        let arrived = sut.received(count + 1).await.pop().unwrap().json();
        // What is told to be sent is what was sent.
        assert_eq!(answer.json()["activity"], arrived);
        assert!(arrived.get("proof").is_none(), "{arrived}");
        assert_eq!(arrived.get("signature").is_some(), is_signed, "{arrived}");
        if !is_signed {
            continue;
        }
        assert!(contexts(&arrived).contains(&json!(SECURITY)), "{arrived}");
        let signature = &arrived["signature"];
        assert_eq!(signature["type"], "RsaSignature2017");
        assert_eq!(signature["creator"], key["id"]);
        assert_eq!(signature.as_object().unwrap().len(), 5, "{signature}");
        let time = |name: &str| Timestamp::parse_rfc3339(signature[name].as_str().unwrap()).unwrap();
        let (created, expires) = (time("created"), time("expires"));
        assert_eq!(expires.micros_since(created), 2 * 86_400 * 1_000_000);
        assert!(Timestamp::now().micros_since(created) < 60_000_000, "{signature}");

        let public = VerifyingKey::from_pem(key["publicKeyPem"].as_str().unwrap()).unwrap();
        assert_eq!(
            judged(&arrived, &public),
            [(Outcome::Valid, Kind::RsaSignature2017)]
        );
        let tampered = with(arrived, "object", json!("https://a.test/1"));
        assert_eq!(
            judged(&tampered, &public),
            [(Outcome::Invalid, Kind::RsaSignature2017)]
        );
    }

    // What can be fetched later is as it was.
    let id = sut.received(1).await[0].json()["object"]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let note = raw::get(plain(&farm), &id, Some("application/activity+json"))
        .await
        .json();
    assert!(
        note.get("signature").is_none() && !contexts(&note).contains(&json!(SECURITY)),
        "{note}"
    );
}

#[tokio::test]
async fn who_makes_no_proofs_sends_none() {
    let sut = Sut::start(&["u1"]).await;
    let farm = farm(&sut)
        .authorized_fetch("mastodon2.test")
        .unwrap()
        .start()
        .await
        .unwrap();
    for (count, host) in ["mastodon2.test", "misskey1.test", "lemmy1.test"]
        .into_iter()
        .enumerate()
    {
        let body = json!({"to": sut.actor("u1"), "note": "hello"});
        let answer = Api::of(&farm)
            .post(&format!("/peers/{host}/actors/alice/send"), &body)
            .await;
        assert_eq!(answer.status, 200, "{answer:?}");
        let arrived = sut.received(count + 1).await.pop().unwrap().json();
        assert!(
            arrived.get("proof").or(arrived.get("signature")).is_none(),
            "{arrived}"
        );
    }
}

/// What brings proofs keeps them, what another did is not proven, and what has no canonical form goes without.
#[tokio::test]
async fn an_activity_that_cannot_be_proven_is_sent_as_it_is() {
    let sut = Sut::start(&["u1"]).await;
    let farm = farm(&sut).start().await.unwrap();
    let like = json!({"type": "Like", "object": sut.actor("u1"), "to": "as:Public"});
    let brings = with(like.clone(), "signature", json!({"type": "RsaSignature2017"}));
    let others = with(like.clone(), "actor", json!("https://a.test/u1"));
    let unknown = with(
        like,
        "@context",
        json!(["https://www.w3.org/ns/activitystreams", "https://a.test/ctx"]),
    );
    for (count, (activity, told)) in [
        (brings, None),
        (others, None),
        (unknown, Some("`https://a.test/ctx`")),
    ]
    .into_iter()
    .enumerate()
    {
        let body = json!({"to": sut.actor("u1"), "activity": activity});
        let answer = Api::of(&farm).tell("send", body).await.json();
        assert_eq!(answer["deliveries"][0]["status"], 202, "{answer}");
        let arrived = sut.received(count + 1).await.pop().unwrap().json();
        assert_eq!(arrived.get("signature"), activity.get("signature"), "{arrived}");
        match told {
            None => assert!(answer.get("notes").is_none(), "{answer}"),
            Some(told) => {
                let note = answer["notes"][0].as_str().unwrap();
                assert!(
                    note.starts_with("no RsaSignature2017: ") && note.contains(told),
                    "{note}"
                );
            }
        }
    }
}

#[tokio::test]
async fn a_profile_can_make_both_kinds_and_publish_both_keys() {
    let sut = Sut::start(&["u1"]).await;
    let (farm, _dirs) = proving(&sut).await;
    let alice = persona(&farm, "alice@mastodon1.test");
    let document = raw::get(plain(&farm), &alice.id, Some("application/activity+json"))
        .await
        .json();
    let method = &document["assertionMethod"][0];
    assert_eq!(method["id"], json!(format!("{}#ed25519-key", alice.id)));
    let ed25519 = VerifyingKey::from_multibase(method["publicKeyMultibase"].as_str().unwrap()).unwrap();
    let rsa = VerifyingKey::from_pem(document["publicKey"]["publicKeyPem"].as_str().unwrap()).unwrap();

    let answer = Api::of(&farm)
        .tell("send", json!({"to": sut.actor("u1"), "note": "hello"}))
        .await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let arrived = sut.received(1).await.pop().unwrap().json();
    let (has, proof) = (contexts(&arrived), &arrived["proof"]);
    assert!(
        has.contains(&json!(SECURITY)) && has.contains(&json!(DATA_INTEGRITY)),
        "{arrived}"
    );
    assert_eq!(
        json!([
            proof["type"],
            proof["cryptosuite"],
            proof["proofPurpose"],
            proof["verificationMethod"]
        ]),
        json!([
            "DataIntegrityProof",
            "eddsa-jcs-2022",
            "assertionMethod",
            method["id"]
        ])
    );
    assert_eq!(proof["@context"], arrived["@context"]);
    assert_eq!(valid(&arrived, &ed25519), [Kind::EddsaJcs2022]);
    assert_eq!(valid(&arrived, &rsa), [Kind::RsaSignature2017]);

    // Everything carries the one, only what is public the other.
    Api::of(&farm)
        .tell("follow", json!({"target": sut.actor("u1")}))
        .await;
    let follow = sut.received(2).await.pop().unwrap().json();
    assert!(
        follow.get("proof").is_some() && follow.get("signature").is_none(),
        "{follow}"
    );
    assert_eq!(valid(&follow, &ed25519), [Kind::EddsaJcs2022]);
}

/// Both sides verify each other's proofs while they verify each other's requests.
#[tokio::test]
async fn peers_verify_each_others_proofs() {
    let sut = Sut::start(&[]).await;
    let (farm, _dirs) = proving(&sut).await;
    let (alice, bob) = (
        persona(&farm, "alice@mastodon1.test"),
        persona(&farm, "bob@mastodon2.test"),
    );
    let there = json!({"to": bob.id, "note": "hello"});
    let back = json!({"to": alice.id, "note": "hello"});
    let api = Api::of(&farm);
    let (one, other) = tokio::join!(
        api.post("/peers/mastodon1.test/actors/alice/send", &there),
        api.post("/peers/mastodon2.test/actors/bob/send", &back),
    );
    for answer in [one, other] {
        assert_eq!(answer.json()["deliveries"][0]["status"], 202, "{answer:?}");
    }
    let entries = call(&farm, "/journal?kind=inbox").await["entries"].take();
    let entries = entries.as_array().unwrap();
    assert_eq!(entries.len(), 2, "{entries:?}");
    for entry in entries {
        assert_eq!(entry["verdict"]["result"], "valid", "{entry}");
        let proofs = entry["proofs"].as_array().unwrap().iter();
        let told: Vec<_> = proofs
            .map(|proof| (proof["kind"].clone(), proof["result"].clone()))
            .collect();
        let valid = json!("valid");
        assert_eq!(
            told,
            [
                (json!("eddsa-jcs-2022"), valid.clone()),
                (json!("RsaSignature2017"), valid)
            ]
        );
        assert!(entry.get("notes").is_none(), "{entry}");
    }
}

/// Case: the request is signed by a relay, the activity by its actor.
#[tokio::test]
async fn a_proof_vouches_for_its_actor_where_the_software_verifies_that_kind() {
    let sut = Sut::start(&["u1", "relay"]).await;
    let farm = farm(&sut).start().await.unwrap();
    for to in softwares(&farm, "alice") {
        let follow = sut.activity("u1", &to.handle, "Follow", json!(to.id));
        let (refused, vouched) = match to.handle.split_once('@').unwrap().1 {
            "lemmy1.test" => (400, false),
            _ => (202, true),
        };
        for (what, activity, holds) in [
            ("bare", follow.clone(), None),
            (
                "tampered",
                with(signed(&sut, "u1", "u1", &follow), "summary", json!("x")),
                Some("signature_mismatch"),
            ),
            (
                "another's",
                signed(&sut, "relay", "relay", &follow),
                Some("signer_mismatch"),
            ),
            (
                "forged",
                signed(&sut, "relay", "u1", &follow),
                Some("signature_mismatch"),
            ),
            ("right", signed(&sut, "u1", "u1", &follow), Some("valid")),
        ] {
            let answer = sut.deliver(plain(&farm), "relay", &to.inbox, &activity).await;
            let entry = last_entry(&farm).await;
            let place = format!("{} {what}: {entry}", to.handle);
            // The verdict on the request is the same for all.
            assert_eq!(entry["verdict"]["reason"], "signer_mismatch", "{place}");
            let proof = &entry["proofs"][0];
            let found = proof["reason"].as_str().or(proof["result"].as_str());
            assert_eq!(found, holds, "{place}");
            if what == "right" && vouched {
                assert_eq!(
                    (answer.status, &entry["outcome"]),
                    (to.taken, &json!("accepted")),
                    "{place}"
                );
                assert_eq!(
                    entry["notes"],
                    json!(["vouched for by its RsaSignature2017"]),
                    "{place}"
                );
                continue;
            }
            assert_eq!(
                (answer.status, &entry["outcome"]),
                (refused, &json!("refused")),
                "{place}"
            );
            assert_eq!(answer.header("x-peerfarm-reason"), ["signer_mismatch"], "{place}");
        }
        let followers = farm.followers(&to.handle).unwrap();
        assert_eq!(followers, if vouched { vec![sut.actor("u1")] } else { vec![] });
        let counts = counted(&farm, &to.inbox);
        assert_eq!(
            (counts.accepted, counts.refused),
            if vouched { (1, 4) } else { (0, 5) }
        );
    }
}

#[tokio::test]
async fn a_data_integrity_proof_vouches_at_mastodon_alone() {
    let sut = Sut::start(&["u1", "relay"]).await;
    let farm = farm(&sut).start().await.unwrap();
    let key = SigningKey::generate_ed25519().unwrap();
    let key_id = publish(&sut, "u1", &key);
    for (count, to) in softwares(&farm, "alice").into_iter().enumerate() {
        let like = sut.activity("u1", &count.to_string(), "Like", json!(to.id));
        let mut proven: Map<String, Value> = like.as_object().unwrap().clone();
        proof::sign_eddsa_jcs_2022(&mut proven, &key_id, Timestamp::now(), &key).unwrap();
        sut.deliver(plain(&farm), "relay", &to.inbox, &Value::Object(proven))
            .await;
        let entry = last_entry(&farm).await;
        assert_eq!(
            json!([entry["proofs"][0]["kind"], entry["proofs"][0]["result"]]),
            json!(["eddsa-jcs-2022", "valid"]),
            "{entry}"
        );
        let outcome = if to.handle.ends_with("mastodon1.test") {
            "accepted"
        } else {
            "refused"
        };
        assert_eq!(entry["outcome"], outcome, "{entry}");
    }
}

/// A proof lets nothing pass but who signed.
#[tokio::test]
async fn a_proof_vouches_for_no_broken_request() {
    let sut = Sut::start(&["u1", "relay"]).await;
    let farm = farm(&sut).start().await.unwrap();
    let to = persona(&farm, "alice@mastodon1.test");
    let like = signed(&sut, "u1", "u1", &sut.activity("u1", "1", "Like", json!(to.id)));
    let body = like.to_string();
    let post = || Request::post(&to.inbox, body.clone());
    for (request, reason) in [
        (post(), "unsigned"),
        (
            post().signed_over(&sut, "relay", &["(request-target)", "host", "date"]),
            "digest_not_signed",
        ),
        (
            post()
                .signed(&sut, "relay")
                .with("date", "Tue, 14 Nov 2023 22:13:20 GMT"),
            "date_too_old",
        ),
    ] {
        let answer = request.send(plain(&farm)).await;
        assert_eq!(
            (answer.status, answer.header("x-peerfarm-reason")),
            (401, vec![reason.to_owned()])
        );
        assert_eq!(last_entry(&farm).await["proofs"][0]["result"], "valid");
    }
}

/// Nothing follows from a proof that does not hold where the request speaks for itself, but it is told.
#[tokio::test]
async fn a_broken_proof_on_a_right_request_is_told_and_let_pass() {
    let sut = Sut::start(&["u1"]).await;
    let farm = farm(&sut).start().await.unwrap();
    let to = persona(&farm, "alice@mastodon1.test");
    let like = sut.activity("u1", "1", "Like", json!(to.id));
    let nowhere = format!("{}/nowhere#key", sut.origin());
    let failing = format!("{}/failing#key", sut.origin());
    sut.serve_at("/failing", 500, Value::Null);
    let unknown = with(
        signed(&sut, "u1", "u1", &like),
        "@context",
        json!("https://a.test/ctx"),
    );
    let of_kind = |kind: &str| {
        with(
            like.clone(),
            "signature",
            json!({"type": kind, "creator": sut.key_id("u1")}),
        )
    };
    for (activity, reason, shows_hashed) in [
        (
            with(signed(&sut, "u1", "u1", &like), "content", json!("x")),
            "signature_mismatch",
            true,
        ),
        (unknown, "context_unknown", false),
        (sign(&sut, "u1", &nowhere, &like), "key_gone", true),
        (sign(&sut, "u1", &failing, &like), "key_fetch_failed", true),
        (of_kind("LinkedDataSignature2015"), "unsupported_proof", false),
        (of_kind("RsaSignature2017"), "malformed", true),
        (with(like.clone(), "proof", json!("none")), "malformed", false),
    ] {
        let answer = sut.deliver(plain(&farm), "u1", &to.inbox, &activity).await;
        let entry = last_entry(&farm).await;
        assert_eq!(
            (answer.status, &entry["verdict"]["result"]),
            (202, &json!("valid")),
            "{entry}"
        );
        assert_eq!(entry["outcome"], "accepted", "{entry}");
        let proof = &entry["proofs"][0];
        assert_eq!(
            (&proof["result"], &proof["reason"]),
            (&json!("invalid"), &json!(reason)),
            "{entry}"
        );
        assert_eq!(proof.get("hashed").is_some(), shows_hashed, "{entry}");
        let note = entry["notes"][0].as_str().unwrap();
        assert!(
            note.starts_with("its ") && note.ends_with(&format!("does not hold: {reason}")),
            "{note}"
        );
    }
    // Its key was fetched for the request, and for no proof again.
    assert_eq!(sut.fetches_of("/users/u1"), 1);
}

/// A key that was changed is found, though the old one was kept.
#[tokio::test]
async fn a_proof_by_a_new_key_is_found_valid() {
    let sut = Sut::start(&["u1", "relay"]).await;
    let farm = farm(&sut).start().await.unwrap();
    let to = persona(&farm, "alice@mastodon1.test");
    for (id, key) in [SigningKey::generate_ed25519(), SigningKey::generate_ed25519()]
        .into_iter()
        .enumerate()
    {
        let key = key.unwrap();
        let key_id = publish(&sut, "u1", &key);
        let like = sut.activity("u1", &id.to_string(), "Like", json!(to.id));
        let mut proven = like.as_object().unwrap().clone();
        proof::sign_eddsa_jcs_2022(&mut proven, &key_id, Timestamp::now(), &key).unwrap();
        let answer = sut
            .deliver(plain(&farm), "relay", &to.inbox, &Value::Object(proven))
            .await;
        assert_eq!(answer.status, 202);
        let entry = last_entry(&farm).await;
        assert_eq!(entry["outcome"], "accepted", "{id}: {entry}");
    }
}

#[tokio::test]
async fn journal_and_verify_tell_of_proofs_in_words() {
    let sut = Sut::start(&["u1"]).await;
    let farm = farm(&sut).start().await.unwrap();
    let to = persona(&farm, "alice@mastodon1.test");
    let like = signed(&sut, "u1", "u1", &sut.activity("u1", "1", "Like", json!(to.id)));
    for (activity, result) in [
        (like.clone(), "valid"),
        (
            with(like, "object", json!("https://a.test/1")),
            "invalid: signature_mismatch",
        ),
    ] {
        sut.deliver(plain(&farm), "u1", &to.inbox, &activity).await;
        let id = last_entry(&farm).await["id"].as_str().unwrap().to_owned();
        let (control, entry) = (
            Api::of(&farm).url(""),
            call(&farm, &format!("/journal/{id}")).await,
        );
        let key = sut.actor_document("u1").to_string();
        tokio::task::spawn_blocking(move || {
            let shown = Peerfarm::with(&format!("journal show {id} --farm {control}")).run();
            let verified = Peerfarm::with("verify entry --key key").file("entry", &entry.to_string());
            let verified = verified.file("key", &key).run();
            for said in [shown.ends(0, ""), verified.ends(0, "")] {
                said.has_line("verdict valid");
                said.has_line(&format!("proof RsaSignature2017, {result}"));
                let hashed = said.stdout.contains("the activity, as the farm hashed it: ");
                assert_eq!(hashed, result != "valid", "{said:?}");
            }
        })
        .await
        .unwrap();
    }
}

/// A farm of Mastodons that put `eddsa-jcs-2022` on everything besides.
async fn proving(sut: &Sut) -> (Running, [TempDir; 2]) {
    let multikey = r#"{"id": "{ed25519_key}", "type": "Multikey", "controller": "{actor}", "publicKeyMultibase": "{ed25519_multibase}"}"#;
    let mut profile = include_str!("../../peers/mastodon.toml").to_owned();
    for (from, to) in [
        (
            "key = \"{actor}#main-key\"",
            "key = \"{actor}#main-key\"\ned25519_key = \"{actor}#ed25519-key\"".to_owned(),
        ),
        (
            "  \"tag\": [],\n  \"attachment\"",
            format!("  \"assertionMethod\": [{multikey}],\n  \"tag\": [],\n  \"attachment\""),
        ),
        (
            "[proofs.rsa_signature_2017]",
            "[proofs.eddsa_jcs_2022]\nmakes = \"all\"\n\n[proofs.rsa_signature_2017]".to_owned(),
        ),
    ] {
        assert!(profile.contains(from), "`{from}` is not in the profile");
        profile = profile.replacen(from, &to, 1);
    }
    let (state, profiles) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::write(profiles.path().join("mastodon.toml"), profile).unwrap();
    let settings = Settings {
        peers_dir: Some(profiles.path().to_owned()),
        ..settings(sut, state.path())
    };
    let farm = Farm::builder().settings(settings).start().await.unwrap();
    (farm, [state, profiles])
}

/// The activity with an `RsaSignature2017` by a user's key, under the key id of another.
fn signed(sut: &Sut, by: &str, under: &str, activity: &Value) -> Value {
    sign(sut, by, &sut.key_id(under), activity)
}

fn sign(sut: &Sut, by: &str, key_id: &str, activity: &Value) -> Value {
    let mut activity = activity.as_object().unwrap().clone();
    proof::sign_rsa_signature_2017(&mut activity, key_id, Timestamp::now(), None, sut.key(by)).unwrap();
    Value::Object(activity)
}

/// Lists an Ed25519 key in a user's document from now on; its id.
fn publish(sut: &Sut, user: &str, key: &SigningKey) -> String {
    let id = format!("{}#ed25519-key", sut.actor(user));
    let multikey = json!([{
        "id": id, "type": "Multikey", "controller": sut.actor(user), "publicKeyMultibase": key.multibase().unwrap(),
    }]);
    let document = with(sut.actor_document(user), "assertionMethod", multikey);
    sut.serve_at(&format!("/users/{user}"), 200, document);
    id
}

async fn key_of(farm: &Running, actor: &Persona) -> Value {
    let document = raw::get(plain(farm), &actor.id, Some("application/activity+json")).await;
    document.json()["publicKey"].take()
}

fn contexts(document: &Value) -> Vec<Value> {
    match &document["@context"] {
        Value::Array(contexts) => contexts.clone(),
        one => vec![one.clone()],
    }
}

/// What the proofs of a document are by that key.
fn judged(document: &Value, key: &VerifyingKey) -> Vec<(Outcome, Kind)> {
    let terms = Terms {
        window: Window {
            past: DEADLINE,
            future: DEADLINE,
        },
        hs2019: Hs2019::Sha256,
        now: Timestamp::now(),
    };
    let found = proof::find(document);
    let each = found.iter();
    each.map(|proof| (proof.verify(key, terms).result, proof.kind().unwrap()))
        .collect()
}

/// Which of them hold.
fn valid(document: &Value, key: &VerifyingKey) -> Vec<Kind> {
    let judged = judged(document, key).into_iter();
    let valid = judged.filter(|(result, _)| *result == Outcome::Valid);
    valid.map(|(_, kind)| kind).collect()
}
