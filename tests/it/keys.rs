//! Keys as senders publish them, in both dialects: in every form, without their owner's word, rotated; and peers that
//! publish theirs in each of these forms, judged by other peers of the farm.

use peerfarm::Farm;
use peerfarm::command::serve::Settings;
use peerfarm::signature::key::SigningKey;
use serde_json::{Value, json};

use crate::support::{
    Api, By, Request, Sut, call, changed, farm, last_entry, persona, plain, settings, with,
};

const OLD: &str = include_str!("../fixtures/signature/rsa2048.public.pem");
const OF_POST: [&str; 3] = ["@method", "@target-uri", "content-digest"];
const DIALECTS: [&str; 2] = ["cavage", "rfc9421"];
/// What keeps a Mastodon from verifying with every kind of key.
const ALGORITHMS: [(&str, &str); 2] = [
    ("algorithms = [\"rsa-v1_5-sha256\"]\n", ""),
    ("algorithms = [\"rsa-v1_5-sha256\", \"ed25519\"]\n", ""),
];

/// A Create of some actor's, signed in a dialect by any key under any key id.
fn create(sut: &Sut, url: &str, actor: &str, dialect: &str, key_id: &str, key: &SigningKey) -> Request {
    let create = sut.activity(
        "u1",
        &format!("{dialect} {key_id}"),
        "Create",
        json!("https://sut.test/n/1"),
    );
    let request = Request::post(url, with(create, "actor", json!(actor)).to_string());
    match dialect {
        "cavage" => request.signed_by(By {
            algorithm: "hs2019",
            ..By::of(key_id, key)
        }),
        _ => request.signed_rfc9421_by(key_id, key, "sig1", &OF_POST),
    }
}

#[tokio::test]
async fn every_form_of_a_key_leads_to_its_owner_in_either_dialect() {
    let sut = Sut::start(&["u1"]).await;
    let (farm, _dirs) = changed(&sut, &ALGORITHMS).await;
    let inbox = persona(&farm, "alice@mastodon1.test").inbox;
    let id = |path: &str| format!("{}{path}", sut.origin());
    let (rsa, ed25519) = (sut.key("u1"), SigningKey::generate_ed25519().unwrap());
    let key = |key_id: &str, owner: &str| json!({"id": id(key_id), "owner": id(owner), "publicKeyPem": rsa.public_pem().unwrap()});
    let actor = |path: &str, public_key: Value| {
        let document = with(sut.actor_document("u1"), "id", json!(id(path)));
        with(document, "publicKey", public_key)
    };
    let serve = |path: &str, document: Value| sut.serve_at(path, 200, document);
    serve(
        "/fragment",
        actor("/fragment", key("/fragment#main-key", "/fragment")),
    );
    serve("/bare", actor("/bare", key("/bare#main-key", "/bare")));
    serve("/stub", actor("/stub", key("/stub/main-key", "/stub")));
    serve(
        "/stub/main-key",
        json!({"id": id("/stub"), "publicKey": key("/stub/main-key", "/stub")}),
    );
    serve("/owned", actor("/owned", key("/keys/7", "/owned")));
    serve("/keys/7", key("/keys/7", "/owned"));
    // Not the first of the two is meant.
    let first = json!({"id": id("/two#old"), "owner": id("/two"), "publicKeyPem": OLD});
    serve("/two", actor("/two", json!([first, key("/two#new", "/two")])));
    serve("/named", actor("/named", json!(id("/keys/8"))));
    serve("/keys/8", key("/keys/8", "/named"));
    serve(
        "/?author=7",
        actor("/?author=7", key("/?author=7#main-key", "/?author=7")),
    );
    let multikey = json!({
        "id": id("/multi#ed25519-key"), "type": "Multikey", "controller": id("/multi"),
        "publicKeyMultibase": ed25519.multibase().unwrap(),
    });
    let both = actor("/multi", key("/multi#main-key", "/multi"));
    serve("/multi", with(both, "assertionMethod", json!([multikey])));

    for (key_id, owner, key) in [
        ("/fragment#main-key", "/fragment", rsa),
        ("/bare", "/bare", rsa),
        ("/stub/main-key", "/stub", rsa),
        ("/keys/7", "/owned", rsa),
        ("/two#new", "/two", rsa),
        ("/keys/8", "/named", rsa),
        ("/?author=7#main-key", "/?author=7", rsa),
        ("/multi#main-key", "/multi", rsa),
        ("/multi#ed25519-key", "/multi", &ed25519),
    ] {
        for dialect in DIALECTS {
            let request = create(&sut, &inbox, &id(owner), dialect, &id(key_id), key);
            let answer = request.send(plain(&farm)).await;
            let verdict = last_entry(&farm).await["verdict"].take();
            assert_eq!(answer.status, 202, "{key_id} in {dialect}: {verdict}");
            assert_eq!(
                json!([verdict["result"], verdict["dialect"], verdict["key_id"]]),
                json!(["valid", dialect, id(key_id)])
            );
        }
    }
}

#[tokio::test]
async fn a_key_that_its_owner_does_not_list_is_nobodys_in_either_dialect() {
    let sut = Sut::start(&["u1"]).await;
    let (farm, _dirs) = changed(&sut, &ALGORITHMS).await;
    let inbox = persona(&farm, "alice@mastodon1.test").inbox;
    let id = |path: &str| format!("{}{path}", sut.origin());
    let (victim, own) = (sut.actor("u1"), SigningKey::generate_rsa(2048).unwrap());
    let pem = own.public_pem().unwrap();
    let bare = json!({"id": id("/keys/evil"), "owner": victim, "publicKeyPem": pem});
    sut.serve_at("/keys/evil", 200, bare.clone());
    let two = json!([{"id": id("/two#a"), "owner": id("/two"), "publicKeyPem": pem}, {"id": id("/two#b"), "owner": id("/two"), "publicKeyPem": OLD}]);
    let actor = with(sut.actor_document("u1"), "id", json!(id("/two")));
    sut.serve_at("/two", 200, with(actor, "publicKey", two));
    for (key_id, actor, reason) in [
        // It says it is the victim's, who does not say so.
        ("/keys/evil", victim.clone(), "key_owner_mismatch"),
        // Neither of two is the one by that name, nor is the first.
        ("/two#c", id("/two"), "key_owner_mismatch"),
        ("/two#b", id("/two"), "signature_mismatch"),
    ] {
        for dialect in DIALECTS {
            let request = create(&sut, &inbox, &actor, dialect, &id(key_id), &own);
            let answer = request.send(plain(&farm)).await;
            assert_eq!(
                (answer.status, answer.header("x-peerfarm-reason")),
                (401, vec![reason.to_owned()]),
                "{key_id} in {dialect}: {answer:?}"
            );
            let entry = last_entry(&farm).await;
            assert_eq!(entry["outcome"], "refused");
            assert_eq!(entry["verdict"]["dialect"], dialect);
        }
    }
}

#[tokio::test]
async fn a_rotated_key_counts_whichever_dialect_it_comes_in() {
    for (one, other) in [("cavage", "rfc9421"), ("rfc9421", "cavage")] {
        let sut = Sut::start(&["u1"]).await;
        let farm = farm(&sut).start().await.unwrap();
        let inbox = persona(&farm, "alice@mastodon1.test").inbox;
        let (key_id, actor) = (sut.key_id("u1"), sut.actor("u1"));
        let (old, new) = (sut.key("u1"), SigningKey::generate_rsa(2048).unwrap());
        let deliver = async |dialect: &str, key: &SigningKey| {
            let request = create(&sut, &inbox, &actor, dialect, &key_id, key);
            request.send(plain(&farm)).await.status
        };
        assert_eq!(deliver(one, old).await, 202);
        let mut document = sut.actor_document("u1");
        document["publicKey"]["publicKeyPem"] = new.public_pem().unwrap().into();
        sut.serve_at("/users/u1", 200, document);
        assert_eq!(deliver(other, &new).await, 202);
        assert_eq!(sut.fetches_of("/users/u1"), 2);
        for dialect in [one, other, one, other, one, other, one, other, one, other] {
            assert_eq!(deliver(dialect, old).await, 401);
        }
        assert_eq!(deliver(one, &new).await, 202);
        assert_eq!(sut.fetches_of("/users/u1"), 2);
        assert_eq!(call(&farm, "/stats").await["key_fetches"]["again"], 1);
    }
}

/// How the profile of such a software differs from Mastodon's.
fn profiles() -> Vec<(&'static str, Vec<(&'static str, String)>)> {
    let embedded = "\"publicKey\": {\n    \"id\": \"{key}\",\n    \"owner\": \"{actor}\",\n    \"publicKeyPem\": \"{public_key_pem}\"\n  },\n  \"tag\"";
    let old = serde_json::to_string(OLD).unwrap();
    let two = format!(
        "\"publicKey\": [{{\"id\": \"{{actor}}#old-key\", \"owner\": \"{{actor}}\", \"publicKeyPem\": {old}}}, \
         {{\"id\": \"{{key}}\", \"owner\": \"{{actor}}\", \"publicKeyPem\": \"{{public_key_pem}}\"}}],\n  \"tag\""
    );
    let key = "key = \"{actor}#main-key\"\ninstance";
    let path = |path: &str| {
        format!("key = \"{{actor}}/{path}\"\nkey_document = \"{{origin}}/users/{{name}}/{path}\"\ninstance")
    };
    let document = |document: &str| format!("key = '{document}'\n\n[webfinger]");
    vec![
        // Two keys, of which the second signs.
        ("array", vec![(embedded, two)]),
        // The actor names its key, which is a document of its own.
        (
            "named",
            vec![
                (embedded, "\"publicKey\": \"{key}\",\n  \"tag\"".to_owned()),
                (key, path("publickey")),
                (
                    "[webfinger]",
                    document(
                        r#"{"id": "{key}", "type": "Key", "owner": "{actor}", "publicKeyPem": "{public_key_pem}"}"#,
                    ),
                ),
            ],
        ),
        // GoToSocial: the key's document is a stub of its owner.
        (
            "stub",
            vec![
                (key, path("main-key")),
                (
                    "[webfinger]",
                    document(
                        r#"{"id": "{actor}", "type": "Person", "preferredUsername": "{name}", "publicKey": {"id": "{key}", "owner": "{actor}", "publicKeyPem": "{public_key_pem}"}}"#,
                    ),
                ),
            ],
        ),
        // PeerTube: signatures name the actor.
        (
            "fragmentless",
            vec![("key_id = \"{key}\"", "key_id = \"{actor}\"".to_owned())],
        ),
        // WordPress: the actor is a query.
        (
            "query",
            vec![(
                "actor = \"{origin}/users/{name}\"",
                "actor = \"{origin}/?author={number}\"".to_owned(),
            )],
        ),
    ]
}

#[tokio::test]
async fn peers_publish_keys_in_every_form_and_others_find_them() {
    let sut = Sut::start(&[]).await;
    let (state, directory) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut roster = "[[peers]]\nhost = \"receiver.test\"\nsoftware = \"mastodon\"\n".to_owned();
    for (name, changes) in profiles() {
        let mut profile = include_str!("../../peers/mastodon.toml").to_owned();
        let named = ("name = \"mastodon\"\n", format!("name = \"{name}\"\n"));
        for (from, to) in changes.into_iter().chain([named]) {
            assert!(profile.contains(from), "{name}: `{from}` is not in the profile");
            profile = profile.replacen(from, &to, 1);
        }
        std::fs::write(directory.path().join(format!("{name}.toml")), profile).unwrap();
        roster += &format!("[[peers]]\nhost = \"{name}.test\"\nsoftware = \"{name}\"\n");
    }
    std::fs::write(directory.path().join("roster.toml"), roster).unwrap();
    let settings = Settings {
        peers_dir: Some(directory.path().to_owned()),
        ..settings(&sut, state.path())
    };
    let farm = Farm::builder().settings(settings).start().await.unwrap();
    let receiver = persona(&farm, "alice@receiver.test");
    for (name, _) in profiles() {
        let sender = persona(&farm, &format!("alice@{name}.test"));
        let origin = sender.id.split_once(".test").unwrap().0;
        assert_eq!(origin, format!("https://{name}"));
        for dialect in DIALECTS {
            let path = format!("/peers/{name}.test/actors/alice/send");
            let body = json!({"to": receiver.id, "note": "hello", "dialect": dialect});
            let sent = Api(farm.addresses().control).post(&path, &body).await.ok();
            assert_eq!(
                sent["deliveries"][0]["status"], 202,
                "{name} in {dialect}: {sent}"
            );
            let journal = call(&farm, "/journal?host=receiver.test&kind=inbox&limit=1").await;
            let verdict = &journal["entries"][0]["verdict"];
            let key_id = match name {
                "array" | "query" => format!("{}#main-key", sender.id),
                "named" => format!("{}/publickey", sender.id),
                "stub" => format!("{}/main-key", sender.id),
                _ => sender.id.clone(),
            };
            assert_eq!(
                json!([verdict["result"], verdict["dialect"], verdict["key_id"]]),
                json!(["valid", dialect, key_id]),
                "{name} in {dialect}"
            );
        }
    }
}
