//! Fetching: how it is signed, where redirects lead, what is read.

use std::time::Duration;

use serde_json::json;

use crate::activitypub::ACTIVITY_JSON;
use crate::clock::Timestamp;
use crate::deliver::FetchError;
use crate::deliver::tests::{Asked, Farm, Sut};
use crate::farm::Who;
use crate::signature::{self, Hs2019, Outcome, Parsed, Terms, Window};

fn terms() -> Terms {
    let minute = Duration::from_secs(60);
    Terms {
        window: Window {
            past: minute,
            future: minute,
        },
        hs2019: Hs2019::Sha256,
        now: Timestamp::now(),
    }
}

/// The verdict on a request of alice's that reached the server.
fn verdict(farm: &Farm, asked: &Asked, authority: &str) -> Outcome {
    let request = signature::Request {
        method: &asked.method,
        target: &asked.target,
        scheme: "https",
        headers: &asked.headers,
        authority: Some(authority),
        body: &asked.body,
    };
    let Parsed::Signed(signatures) = signature::parse(&request) else {
        return Outcome::Unsigned;
    };
    let peer = &farm.peer;
    assert_eq!(
        signatures[0].key_id(),
        format!("{}#main-key", peer.actor_url(Who::Actor(0)))
    );
    let keys = farm
        .outbound
        .world
        .keyring
        .ready(&peer.key_owner(Who::Actor(0)))
        .unwrap();
    signatures[0]
        .verify(&request, keys.rsa.public_key(), terms())
        .result
}

#[tokio::test]
async fn a_fetch_is_dressed_and_signed_as_the_software_does() {
    let (farm, sut) = (Farm::new(), Sut::start().await);
    sut.serves("/u1", &json!({"id": sut.id("/u1")}));
    let signer = farm.alice().await;
    let document = farm
        .outbound
        .fetch(&signer, &sut.url("/u1?page=2#main-key"))
        .await
        .unwrap();
    assert_eq!(
        (document.value["id"].as_str(), document.notes.len()),
        (Some(sut.id("/u1").as_str()), 0)
    );
    assert_eq!(document.url, sut.url("/u1?page=2"));
    let asked = &sut.asked()[0];
    assert_eq!(
        (asked.method.as_str(), asked.target.as_str()),
        ("GET", "/u1?page=2")
    );
    assert_eq!(
        asked.header("accept"),
        "application/activity+json, application/ld+json"
    );
    assert!(
        asked.header("user-agent").starts_with("Mastodon/"),
        "{}",
        asked.header("user-agent")
    );
    // Mastodon leaves the port out of `Host`.
    assert_eq!(asked.header("host"), "127.0.0.1");
    assert_eq!(verdict(&farm, asked, "127.0.0.1"), Outcome::Valid);
}

#[tokio::test]
async fn redirects_are_followed_so_far_and_each_is_signed_anew() {
    let (farm, sut) = (Farm::new(), Sut::start().await);
    sut.redirects("/a", 301, "/b?x=1");
    sut.redirects("/b", 307, &sut.id("/c#top"));
    sut.redirects("/c", 308, "d");
    sut.serves("/d", &json!({}));
    let signer = farm.alice().await;
    let document = farm.outbound.fetch(&signer, &sut.url("/a")).await.unwrap();
    assert_eq!(document.url, sut.url("/d"));
    let asked = sut.asked();
    let targets: Vec<&str> = asked.iter().map(|asked| asked.target.as_str()).collect();
    assert_eq!(targets, ["/a", "/b?x=1", "/c", "/d"]);
    for asked in &asked {
        assert_eq!(
            verdict(&farm, asked, "127.0.0.1"),
            Outcome::Valid,
            "{}",
            asked.target
        );
    }
    sut.redirects("/d", 302, "/e");
    let failed = farm.outbound.fetch(&signer, &sut.url("/a")).await;
    assert!(
        matches!(failed, Err(FetchError::Redirects { limit: 3, .. })),
        "{failed:?}"
    );
}

#[tokio::test]
async fn a_redirect_passes_the_gate_like_any_url() {
    let (farm, sut) = (Farm::new(), Sut::start().await);
    let signer = farm.alice().await;
    for (location, label) in [
        ("https://8.8.8.8/", "gate"),
        ("http://169.254.169.254/latest/meta-data/", "gate"),
        ("//u:p@127.0.0.1/", "gate"),
        ("file:///etc/passwd", "gate"),
        ("", "redirect"),
        ("http://[", "redirect"),
    ] {
        sut.redirects("/a", 302, location);
        let failure = farm.outbound.fetch(&signer, &sut.url("/a")).await.unwrap_err();
        assert_eq!(failure.label(), label, "{}", failure.chain());
    }
}

#[tokio::test]
async fn only_activitypub_documents_are_read() {
    let (farm, sut) = (Farm::new(), Sut::start().await);
    let signer = farm.alice().await;
    let ld = r#"application/ld+json; profile="https://www.w3.org/ns/activitystreams""#;
    for (content_type, body, expected) in [
        ("application/activity+json; charset=utf-8", "{}", Ok(0)),
        (ld, "{}", Ok(0)),
        ("application/json", "{}", Ok(1)),
        ("application/ld+json", "{}", Ok(1)),
        ("text/html", "{}", Err("content_type")),
        ("application/activity+json", "[]", Err("json")),
        ("application/activity+json", "", Err("json")),
    ] {
        sut.says("/a", 200, content_type, body);
        let done = farm.outbound.fetch(&signer, &sut.url("/a")).await;
        let notes = done
            .as_ref()
            .map(|document| document.notes.len())
            .map_err(FetchError::label);
        assert_eq!(notes, expected, "{content_type} {body}");
    }
    let large = format!("\"{}\"", "x".repeat(1_048_576));
    sut.says("/a", 200, ACTIVITY_JSON, large);
    let failure = farm.outbound.fetch(&signer, &sut.url("/a")).await.unwrap_err();
    assert_eq!(failure.label(), "too_large");
}
