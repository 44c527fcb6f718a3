//! Keys: the forms in the field, whose they are, how often they are fetched.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::timeout;

use crate::activitypub::ACTIVITY_JSON;
use crate::deliver::KeyFailure;
use crate::deliver::tests::{Farm, Sut};
use crate::signature::Reason;
use crate::signature::key::SigningKey;

/// Two public keys of one kind.
fn pem(index: usize) -> &'static str {
    static PEMS: OnceLock<Vec<String>> = OnceLock::new();
    let make = || SigningKey::generate_rsa(2_048).unwrap().public_pem().unwrap();
    &PEMS.get_or_init(|| vec![make(), make()])[index]
}

fn key(id: &str, owner: &str) -> Value {
    json!({"id": id, "owner": owner, "publicKeyPem": pem(0)})
}

fn actor(id: &str, public_key: Value) -> Value {
    json!({"id": id, "type": "Person", "inbox": format!("{id}/inbox"), "publicKey": public_key})
}

async fn owner(farm: &Farm, key_id: &str) -> Result<String, Reason> {
    let found = farm.outbound.key(&farm.peer, key_id).await;
    found
        .map(|key| key.owner.id.clone())
        .map_err(|failure| failure.reason)
}

#[tokio::test]
async fn every_form_of_a_key_id_leads_to_the_owner() {
    let (farm, sut) = (Farm::new(), Sut::start().await);
    let id = |path: &str| sut.id(path);
    sut.serves(
        "/fragment",
        &actor(&id("/fragment"), key(&id("/fragment#main-key"), &id("/fragment"))),
    );
    let listed = key(&id("/stub/main-key"), &id("/stub"));
    sut.serves("/stub", &actor(&id("/stub"), listed.clone()));
    sut.serves("/stub/main-key", &json!({"id": id("/stub"), "publicKey": listed}));
    sut.serves("/keys/7", &key(&id("/keys/7"), &id("/bare")));
    sut.serves("/bare", &actor(&id("/bare"), key(&id("/keys/7"), &id("/bare"))));
    let two = json!([key(&id("/two#a"), &id("/two")), {"id": id("/two#b"), "owner": id("/two"), "publicKeyPem": pem(1)}]);
    sut.serves("/two", &actor(&id("/two"), two));
    sut.serves("/keys/8", &key(&id("/keys/8"), &id("/named")));
    sut.serves("/named", &actor(&id("/named"), json!(id("/keys/8"))));
    // WordPress: the actor's id has a query, and so has its key's.
    let author = id("/?author=0");
    sut.serves("/", &actor(&author, key(&format!("{author}#main-key"), &author)));

    for (key_id, expected) in [
        ("/fragment#main-key", "/fragment"),
        ("/fragment", "/fragment"),
        ("/stub/main-key", "/stub"),
        ("/keys/7", "/bare"),
        ("/two#a", "/two"),
        ("/two#b", "/two"),
        ("/keys/8", "/named"),
        ("/named", "/named"),
        ("/?author=0#main-key", "/?author=0"),
        ("/?author=0", "/?author=0"),
    ] {
        assert_eq!(owner(&farm, &id(key_id)).await, Ok(id(expected)), "{key_id}");
    }
    let second = farm.outbound.key(&farm.peer, &id("/two#b")).await.unwrap();
    assert_eq!(second.public.pem().unwrap(), pem(1));
}

#[tokio::test]
async fn a_key_s_text_may_be_written_in_any_way() {
    let (farm, sut) = (Farm::new(), Sut::start().await);
    let (rsa, pkcs1, ed25519) = (
        include_str!("../../../tests/fixtures/signature/rsa2048.public.pem"),
        include_str!("../../../tests/fixtures/signature/rsa2048.public.pkcs1.pem"),
        include_str!("../../../tests/fixtures/signature/ed25519.public.pem"),
    );
    for (index, (text, expected)) in [
        (rsa.to_owned(), rsa),
        (rsa.replace('\n', "\r\n"), rsa),
        (rsa.trim_end().to_owned(), rsa),
        (rsa.replace('\n', "\\n"), rsa),
        (pkcs1.to_owned(), rsa),
        (ed25519.to_owned(), ed25519),
    ]
    .into_iter()
    .enumerate()
    {
        let path = format!("/u{index}");
        let (id, key_id) = (sut.id(&path), sut.id(&format!("{path}#k")));
        let written = json!({"id": key_id, "owner": id, "publicKeyPem": text});
        sut.serves(&path, &actor(&id, written));
        let key = farm.outbound.key(&farm.peer, &key_id).await.unwrap();
        assert_eq!(key.public.pem().unwrap(), expected, "{text}");
    }
}

#[tokio::test]
async fn a_multikey_is_found_wherever_its_owner_lists_it() {
    let (farm, sut) = (Farm::new(), Sut::start().await);
    let id = |path: &str| sut.id(path);
    let multikey = |key_id: &str, owner: &str| {
        // tests/fixtures/signature/ed25519.public.pem, computed with Node's BigInt.
        let multibase = "z6MkvNj7LXbSWxHPQn8cGzhabgzzJqTSni62ANDDkMAtqYML";
        json!({"id": id(key_id), "type": "Multikey", "controller": id(owner), "publicKeyMultibase": multibase})
    };
    let with = |path: &str, methods: Value| {
        let rsa = key(&id(&format!("{path}#main-key")), &id(path));
        let mut document = actor(&id(path), rsa);
        document["assertionMethod"] = methods;
        sut.serves(path, &document);
    };
    with("/one", multikey("/one#ed", "/one"));
    with(
        "/list",
        json!(["https://elsewhere.test/k", multikey("/list#ed", "/list")]),
    );
    with("/named", json!(id("/keys/9")));
    sut.serves("/keys/9", &multikey("/keys/9", "/named"));
    let alone =
        json!({"id": id("/alone"), "type": "Person", "assertionMethod": multikey("/alone#ed", "/alone")});
    sut.serves("/alone", &alone);
    // Somebody else's: by its controller, and by an actor who claims it.
    with("/foreign", multikey("/foreign#ed", "/one"));
    with("/thief", json!(id("/keys/9")));
    sut.serves("/keys/evil", &multikey("/keys/evil", "/one"));
    let broken = json!({"id": id("/broken#ed"), "type": "Multikey", "controller": id("/broken"), "publicKeyMultibase": "z6Mk"});
    with("/broken", broken);

    let ed25519 = include_str!("../../../tests/fixtures/signature/ed25519.public.pem");
    for (key_id, expected) in [
        ("/one#ed", "/one"),
        ("/list#ed", "/list"),
        ("/keys/9", "/named"),
        ("/alone#ed", "/alone"),
        ("/alone", "/alone"),
    ] {
        let found = farm.outbound.key(&farm.peer, &id(key_id)).await.unwrap();
        assert_eq!(found.owner.id, id(expected), "{key_id}");
        assert_eq!(found.public.pem().unwrap(), ed25519, "{key_id}");
    }
    // The bare id still means the one key of `publicKey`.
    let bare = farm.outbound.key(&farm.peer, &id("/one")).await.unwrap();
    assert_eq!(bare.public.pem().unwrap(), pem(0));
    for (key_id, expected) in [
        ("/foreign#ed", Reason::KeyOwnerMismatch),
        ("/thief#ed", Reason::KeyOwnerMismatch),
        ("/keys/evil", Reason::KeyOwnerMismatch),
        ("/broken#ed", Reason::KeyUnreadable),
    ] {
        assert_eq!(owner(&farm, &id(key_id)).await, Err(expected), "{key_id}");
    }
}

#[tokio::test]
async fn a_key_counts_only_where_its_owner_lists_it() {
    let (farm, sut) = (Farm::new(), Sut::start().await);
    let id = |path: &str| sut.id(path);
    sut.serves(
        "/victim",
        &actor(&id("/victim"), key(&id("/victim#main-key"), &id("/victim"))),
    );
    // A key, an actor and a stub that claim to be the victim's.
    sut.serves("/keys/evil", &key(&id("/keys/evil"), &id("/victim")));
    sut.serves(
        "/evil",
        &actor(&id("/victim"), key(&id("/evil#main-key"), &id("/victim"))),
    );
    sut.serves(
        "/other",
        &actor(&id("/other"), key(&id("/other#main-key"), &id("/victim"))),
    );
    sut.redirects("/moved", 302, "/victim");
    sut.serves(
        "/keys/nobodys",
        &json!({"id": id("/keys/nobodys"), "publicKeyPem": pem(0)}),
    );
    sut.serves("/keys/renamed", &key(&id("/keys/another"), &id("/victim")));
    let two = json!([key(&id("/two#a"), &id("/two")), key(&id("/two#b"), &id("/two"))]);
    sut.serves("/two", &actor(&id("/two"), two));
    let named = id("/victim-key");
    sut.serves("/victim-key", &key(&named, &id("/victim")));
    sut.serves("/thief", &actor(&id("/thief"), json!(named)));
    for key_id in [
        "/keys/evil",
        "/evil#main-key",
        "/other#main-key",
        "/moved#main-key",
        "/keys/nobodys",
        "/keys/renamed",
        "/two",
        "/two#c",
        "/victim#other-key",
        "/thief",
    ] {
        assert_eq!(
            owner(&farm, &id(key_id)).await,
            Err(Reason::KeyOwnerMismatch),
            "{key_id}"
        );
    }
}

#[tokio::test]
async fn a_host_that_redirects_anywhere_vouches_for_nobody() {
    let (farm, open, evil) = (Farm::new(), Sut::start().await, Sut::start().await);
    // The document stands at the attacker's and says it is the open host's.
    let id = open.id("/leave");
    evil.serves("/claim", &actor(&id, key(&format!("{id}#k"), &id)));
    open.redirects("/leave", 302, &evil.id("/claim"));
    for key_id in [format!("{id}#k"), id.clone(), evil.id("/claim")] {
        assert_eq!(
            owner(&farm, &key_id).await,
            Err(Reason::KeyOwnerMismatch),
            "{key_id}"
        );
    }
}

#[tokio::test]
async fn what_is_gone_or_no_key_is_told_apart_and_not_asked_for_again() {
    let (farm, sut) = (Farm::new(), Sut::start().await);
    let id = |path: &str| sut.id(path);
    sut.says("/deleted", 410, "text/plain", "");
    sut.serves("/buried", &json!({"id": id("/buried"), "type": "Tombstone"}));
    sut.says("/forbidden", 403, "text/plain", "");
    sut.says("/page", 200, "text/html", "<p>");
    sut.says("/broken", 200, ACTIVITY_JSON, "{");
    sut.serves("/keyless", &json!({"id": id("/keyless"), "type": "Person"}));
    let bad = json!({"id": id("/bad#k"), "owner": id("/bad"), "publicKeyPem": "-----BEGIN"});
    sut.serves("/bad", &actor(&id("/bad"), bad));
    for (path, reason, class) in [
        ("/deleted", Reason::KeyGone, Some("status")),
        ("/missing", Reason::KeyGone, Some("status")),
        ("/buried", Reason::KeyGone, None),
        ("/forbidden", Reason::KeyFetchFailed, Some("status")),
        ("/page", Reason::KeyFetchFailed, Some("content_type")),
        ("/broken", Reason::KeyFetchFailed, Some("json")),
        ("/keyless", Reason::KeyUnreadable, None),
        ("/bad#k", Reason::KeyUnreadable, None),
    ] {
        for _ in 0..3 {
            let failure = farm.outbound.key(&farm.peer, &id(path)).await.unwrap_err();
            assert_eq!(
                (failure.reason, failure.class),
                (reason, class),
                "{path}: {failure}"
            );
        }
        assert_eq!(sut.count(path.split('#').next().unwrap()), 1, "{path}");
    }
    let outcomes = farm.outbound.key_fetches().outcomes;
    let expected = [
        ("content_type", 1),
        ("gone", 3),
        ("json", 1),
        ("status", 1),
        ("unreadable", 2),
    ];
    assert_eq!(outcomes.into_iter().collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn a_key_id_cannot_lead_past_the_gate() {
    let farm = Farm::new();
    farm.outbound
        .client
        .gate()
        .forbid("127.0.0.1:7400".parse().unwrap());
    for (key_id, class) in [
        ("https://8.8.8.8/u#k", Some("gate")),
        ("http://127.0.0.1:7400/reset", Some("gate")),
        ("https://unknown.invalid/u", Some("dns")),
        ("acct:u@a.test", Some("gate")),
        ("not a url", None),
    ] {
        let failure = farm.outbound.key(&farm.peer, key_id).await.unwrap_err();
        assert_eq!(
            (failure.reason, failure.class),
            (Reason::KeyFetchFailed, class),
            "{failure}"
        );
    }
    let long = format!("https://127.0.0.1/{}", "x".repeat(10_000));
    assert!(farm.outbound.key(&farm.peer, &long).await.is_err());
}

#[tokio::test]
async fn many_who_ask_at_once_share_one_fetch() {
    let (farm, sut) = (Farm::new(), Sut::start().await);
    let id = sut.id("/u1");
    sut.serves("/u1", &actor(&id, key(&format!("{id}#k"), &id)));
    sut.hold(true);
    let ask = || {
        let (outbound, peer, key_id) = (farm.outbound.clone(), Arc::clone(&farm.peer), format!("{id}#k"));
        tokio::spawn(async move { outbound.key(&peer, &key_id).await.map(|key| key.owner.id.clone()) })
    };
    // The first leaves before there is an answer; what it started goes on for the others.
    let first = ask();
    timeout(Duration::from_secs(10), async {
        while sut.asked().is_empty() {
            tokio::task::yield_now().await;
        }
    })
    .await
    .unwrap();
    first.abort();
    assert!(first.await.unwrap_err().is_cancelled());
    let others: Vec<_> = (0..50).map(|_| ask()).collect();
    sut.hold(false);
    for other in others {
        assert_eq!(other.await.unwrap(), Ok::<_, KeyFailure>(id.clone()));
    }
    assert_eq!(sut.count("/u1"), 1);
}

#[tokio::test]
async fn a_rotated_key_is_fetched_once_more_and_then_not_for_every_bad_signature() {
    let (farm, sut) = (Farm::new(), Sut::start().await);
    let (id, key_id) = (sut.id("/u1"), sut.id("/u1#k"));
    sut.serves("/u1", &actor(&id, key(&key_id, &id)));
    let first = farm.outbound.key(&farm.peer, &key_id).await.unwrap();
    let rotated = json!({"id": key_id, "owner": id, "publicKeyPem": pem(1)});
    sut.serves("/u1", &actor(&id, rotated));
    let second = farm
        .outbound
        .newer_key(&farm.peer, &key_id, &first)
        .await
        .unwrap();
    assert_eq!(second.public.pem().unwrap(), pem(1));
    // A signature by the first key, then ten bad ones: the key stays, and nobody is asked.
    for _ in 0..11 {
        let known = farm.outbound.key(&farm.peer, &key_id).await.unwrap();
        assert_eq!(known.public.pem().unwrap(), pem(1));
        assert!(
            farm.outbound
                .newer_key(&farm.peer, &key_id, &known)
                .await
                .is_none()
        );
    }
    // Who had looked the first one up before it was rotated still gets the second.
    assert!(
        farm.outbound
            .newer_key(&farm.peer, &key_id, &first)
            .await
            .is_some()
    );
    assert_eq!(sut.count("/u1"), 2);
    let fetches = farm.outbound.key_fetches();
    assert_eq!((fetches.outcomes["found"], fetches.again), (2, 1));
    farm.outbound.reset_key_fetches();
    assert!(farm.outbound.key_fetches().outcomes.is_empty());
}

#[tokio::test]
async fn a_key_that_cannot_be_fetched_again_stays_unless_it_is_gone() {
    let (farm, sut) = (Farm::new(), Sut::start().await);
    for (path, status, stays) in [("/u1", 500, true), ("/u2", 410, false)] {
        let (id, key_id) = (sut.id(path), sut.id(&format!("{path}#k")));
        sut.serves(path, &actor(&id, key(&key_id, &id)));
        let known = farm.outbound.key(&farm.peer, &key_id).await.unwrap();
        sut.says(path, status, "text/plain", "");
        assert!(
            farm.outbound
                .newer_key(&farm.peer, &key_id, &known)
                .await
                .is_none()
        );
        assert_eq!(farm.outbound.key(&farm.peer, &key_id).await.is_ok(), stays);
    }
}
