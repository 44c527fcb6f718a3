//! Documents that are given for a signed GET alone, and those that stay open.

use peerfarm::launch::StartError;

use crate::support::{By, Peerfarm, Request, Sut, farm, persona, plain};

const ACTIVITY_JSON: &str = "application/activity+json";

#[tokio::test]
async fn a_guarded_document_takes_either_dialect_and_no_less() {
    let sut = Sut::start(&["u1", "other"]).await;
    let farm = farm(&sut).authorized_fetch("mastodon1.*").unwrap();
    let farm = farm.start().await.unwrap();
    let alice = persona(&farm, "alice@mastodon1.test");
    let guarded = ["", "/outbox", "/followers", "/outbox?page=1"].map(|path| format!("{}{path}", alice.id));
    let key_id = sut.key_id("u1");
    let covered = ["(request-target)", "host", "date"];
    for url in &guarded {
        let get = || Request::get(url).with("accept", ACTIVITY_JSON);
        let by_other = By {
            covered: &covered,
            ..By::of(&key_id, sut.key("other"))
        };
        for (request, reason) in [
            (get(), Some("unsigned")),
            (get().signed_by(by_other), Some("signature_mismatch")),
            (
                get().signed_rfc9421(&sut, "u1", "sig1", &["@method"]),
                Some("header_not_signed"),
            ),
            (get().signed_over(&sut, "u1", &covered), None),
            (
                get().signed_rfc9421(&sut, "u1", "sig1", &["@method", "@target-uri"]),
                None,
            ),
        ] {
            let answer = request.send(plain(&farm)).await;
            let status = if reason.is_some() { 401 } else { 200 };
            assert_eq!(answer.status, status, "{url}: {answer:?}");
            assert_eq!(answer.header("x-peerfarm-reason"), Vec::from_iter(reason));
        }
    }
    // Nobody else was asked to guard anything.
    let open = persona(&farm, "alice@mastodon2.test");
    let answer = Request::get(&open.id)
        .with("accept", ACTIVITY_JSON)
        .send(plain(&farm))
        .await;
    assert_eq!(
        (answer.status, answer.header("vary")),
        (200, vec!["Accept".to_owned()])
    );
}

#[tokio::test]
async fn what_verifying_a_signature_takes_stays_open() {
    let sut = Sut::start(&["u1"]).await;
    let farm = farm(&sut).authorized_fetch("*").unwrap().start().await.unwrap();
    for (host, paths) in [
        (
            "mastodon1.test",
            [
                "/actor",
                "/actor/outbox",
                "/nodeinfo/2.0",
                "/.well-known/host-meta",
            ],
        ),
        (
            "misskey1.test",
            [
                "/users/INSTANCE",
                "/users/ALICE/publickey",
                "/nodeinfo/2.1",
                "/.well-known/host-meta",
            ],
        ),
        (
            "lemmy1.test",
            ["/", "/site_outbox", "/nodeinfo/2.1", "/.well-known/nodeinfo"],
        ),
    ] {
        let peer = farm.peer(host).unwrap();
        let alice = persona(&farm, &format!("alice@{host}"));
        let instance = peer.actor_url(peerfarm::farm::Who::Instance);
        let finger = format!(
            "{}/.well-known/webfinger?resource=acct:{}",
            peer.origin, alice.handle
        );
        let urls = paths.map(|path| match path {
            "/users/INSTANCE" => instance.clone(),
            "/users/ALICE/publickey" => format!("{}/publickey", alice.id),
            path => format!("{}{path}", peer.origin),
        });
        for url in urls.iter().chain([&instance, &finger]) {
            let answer = Request::get(url)
                .with("accept", ACTIVITY_JSON)
                .send(plain(&farm))
                .await;
            assert_eq!(answer.status, 200, "{url}: {answer:?}");
        }
        let page = Request::get(&alice.id)
            .with("accept", "text/html")
            .send(plain(&farm))
            .await;
        assert_eq!(page.status, 200, "{page:?}");
        let document = Request::get(&alice.id)
            .with("accept", ACTIVITY_JSON)
            .send(plain(&farm))
            .await;
        assert_eq!(document.header("x-peerfarm-reason"), ["unsigned"], "{document:?}");
    }
}

/// Each has to fetch from the other in order to verify what it fetches, and neither waits for the other.
#[tokio::test]
async fn two_guarded_peers_do_not_wait_for_each_other() {
    let sut = Sut::start(&["u1"]).await;
    let farm = farm(&sut).authorized_fetch("*").unwrap().start().await.unwrap();
    for (from, to) in [
        ("mastodon1.test", "mastodon2.test"),
        ("mastodon1.test", "misskey1.test"),
    ] {
        let alice = persona(&farm, &format!("alice@{from}"));
        let bob = persona(&farm, &format!("bob@{to}"));
        let peer = farm.peer(from).unwrap();
        let sent = farm
            .follow(&peer.handle(peer.who("alice").unwrap()), &bob.id)
            .await
            .unwrap();
        assert!(sent.deliveries[0].is_taken(), "{sent:?}");
        let peer = farm.peer(to).unwrap();
        let followers = farm.followers(&peer.handle(peer.who("bob").unwrap())).unwrap();
        assert_eq!(followers, [alice.id]);
    }
}

#[tokio::test]
async fn a_pattern_that_is_about_nobody_is_refused() {
    let sut = Sut::start(&[]).await;
    let refused = farm(&sut).authorized_fetch("gotosocial*").unwrap().start().await;
    assert!(matches!(refused, Err(StartError::Pattern { .. })), "{refused:?}");
    assert!(farm(&sut).authorized_fetch("mastodon?").is_err());
    let serve = "serve --listen 127.0.0.1:0 --control 127.0.0.1:0 --roster mastodon=1";
    Peerfarm::with(&format!("{serve} --authorized-fetch lemmy*"))
        .run()
        .ends(
            2,
            "error: `--authorized-fetch lemmy*`: no peer's host is like that; there are `mastodon1.test`",
        );
    Peerfarm::with(serve)
        .env("PEERFARM_AUTHORIZED_FETCH", "a:7443")
        .run()
        .ends(2, "`a:7443` is no pattern for hosts");
}
