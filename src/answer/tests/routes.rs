//! Which request is after what.

use crate::answer::tests::*;

const ALICE: Who = Who::Actor(0);

#[test]
fn every_url_that_a_peer_prints_leads_back() {
    for port in [None, Some(7443)] {
        let farm = Farm::whole(port);
        for peer in farm.peers() {
            let software = &peer.software.name;
            for who in [ALICE, Who::Actor(10)] {
                let values = peer.values(who);
                for (name, method, expected) in [
                    ("actor", "GET", Route::Actor(who)),
                    ("inbox", "POST", Route::Inbox(who)),
                    ("outbox", "GET", Route::Collection(who, CollectionKind::Outbox)),
                    (
                        "followers",
                        "GET",
                        Route::Collection(who, CollectionKind::Followers),
                    ),
                    (
                        "following",
                        "GET",
                        Route::Collection(who, CollectionKind::Following),
                    ),
                    (
                        "featured",
                        "GET",
                        Route::Collection(who, CollectionKind::Featured),
                    ),
                    ("key_document", "GET", Route::KeyDocument(who)),
                    ("shared_inbox", "POST", Route::SharedInbox),
                ] {
                    let Some(url) = values.get(name).and_then(Value::as_str) else {
                        continue;
                    };
                    assert!(url.starts_with(&peer.origin), "{url}");
                    assert_eq!(
                        farm.route(peer, method, url),
                        expected,
                        "{name} of {software}: {url}"
                    );
                }
                let profile = values.get("profile").unwrap().as_str().unwrap();
                let found = farm.route(peer, "GET", profile);
                assert!(
                    matches!(found, Route::Profile(own) | Route::Actor(own) if own == who),
                    "{profile}: {found:?}"
                );
            }
            let server = peer.values(Who::Instance);
            let url = |name: &str| server.get(name).unwrap().as_str().unwrap();
            assert_eq!(
                farm.route(peer, "GET", url("actor")),
                Route::Actor(Who::Instance),
                "{software}"
            );
            let inbox = farm.route(peer, "POST", url("inbox"));
            assert!(
                matches!(inbox, Route::Inbox(Who::Instance) | Route::SharedInbox),
                "{software}: {inbox:?}"
            );
        }
    }
}

#[test]
fn every_note_leads_back_to_its_place() {
    let farm = Farm::whole(None);
    for peer in farm.peers() {
        for place in [(0, 0), (0, 44), (10, 7)].map(|(actor, note)| Place { actor, note }) {
            let note = Note::in_outbox(&farm.world, peer, place);
            assert_eq!(
                farm.route(peer, "GET", &note.url(peer)),
                Route::Note(place),
                "{}",
                note.url(peer)
            );
            let create = note.create(peer)["id"].as_str().unwrap().to_owned();
            if !create.contains('#') {
                assert_eq!(farm.route(peer, "GET", &create), Route::Create(place), "{create}");
            }
        }
    }
}

#[test]
fn paths_are_matched_decoded_but_for_separators() {
    let farm = Farm::of(&["mastodon"]);
    let peer = farm.peer("mastodon");
    for (path, expected) in [
        ("/users/alice", Route::Actor(ALICE)),
        ("/users/%61lice", Route::Actor(ALICE)),
        ("/users/ALICE", Route::Actor(ALICE)),
        ("/users/alice?x=1", Route::Actor(ALICE)),
        ("/%40alice", Route::Profile(ALICE)),
        ("/@alice", Route::Profile(ALICE)),
        ("/users/user11", Route::Actor(Who::Actor(10))),
        ("/users/user12", Route::UnknownActor),
        ("/users/user011", Route::UnknownActor),
        ("/users/nobody", Route::UnknownActor),
        ("/users/nobody/outbox", Route::UnknownActor),
        ("/users/alice/statuses/1", Route::UnknownObject),
        ("/users%2Falice", Route::Unknown),
        ("/users/alice%3Fx", Route::UnknownActor),
        ("/users/%ff", Route::UnknownActor),
        ("/users/%zz", Route::UnknownActor),
        ("//users/alice", Route::Unknown),
        ("/users/alice/", Route::Unknown),
        ("/users/", Route::Unknown),
        ("/nowhere", Route::Unknown),
        ("*", Route::Unknown),
        ("", Route::Unknown),
    ] {
        assert_eq!(farm.route(peer, "GET", path), expected, "{path}");
    }
}

#[test]
fn an_actor_may_stand_in_the_query() {
    let farm = Farm::of_changed_mastodon(&[(
        "\nactor = \"{origin}/users/{name}\"",
        "\nactor = \"{origin}/?author={number}\"",
    )]);
    let peer = farm.peer("mastodon");
    assert_eq!(
        peer.actor_url(Who::Actor(10)),
        "https://mastodon1.test/?author=11"
    );
    for (target, expected) in [
        ("/?author=1", Route::Actor(ALICE)),
        ("/?author=11", Route::Actor(Who::Actor(10))),
        ("/?author=12", Route::UnknownActor),
        ("/?author=0", Route::UnknownActor),
        ("/?author=01", Route::UnknownActor),
        ("/?author=x", Route::UnknownActor),
        ("/?author=", Route::Unknown),
        ("/", Route::Unknown),
    ] {
        assert_eq!(farm.route(peer, "GET", target), expected, "{target}");
    }
    assert_eq!(
        Route::who_at(&farm.world, peer, "https://mastodon1.test/?author=1"),
        Some(ALICE)
    );
}

#[test]
fn what_was_sent_is_an_unknown_object() {
    let farm = Farm::of(&["misskey"]);
    let peer = farm.peer("misskey");
    let uuid = "/0b2d8a8e-6f1c-4d3e-9a51-3f0f6d1c2b4a";
    assert_eq!(farm.route(peer, "GET", uuid), Route::UnknownObject);
    for path in [
        "/robots.txt",
        "/favicon.ico",
        "/",
        "/0b2d8a8e-6f1c-4d3e-9a51-3f0f6d1c2b4",
    ] {
        assert_eq!(farm.route(peer, "GET", path), Route::Unknown, "{path}");
    }
}

#[test]
fn an_actor_is_known_by_its_id_and_its_page() {
    let farm = Farm::at(&["mastodon"], Some(7443), 1);
    let peer = farm.peer("mastodon");
    let who = |url: &str| Route::who_at(&farm.world, peer, url);
    assert_eq!(who("https://mastodon1.test:7443/users/alice"), Some(ALICE));
    assert_eq!(who("https://mastodon1.test:7443/@alice"), Some(ALICE));
    assert_eq!(who("https://mastodon1.test:7443/actor"), Some(Who::Instance));
    for url in [
        "https://mastodon1.test/users/alice",
        "http://mastodon1.test:7443/users/alice",
        "https://mastodon1.test:7443/users/alice#main-key",
        "https://mastodon1.test:7443/users/alice/outbox",
        "https://mastodon1.test:74430/users/alice",
        "/users/alice",
        "",
    ] {
        assert_eq!(who(url), None, "{url}");
    }
}

#[test]
fn a_note_is_found_under_its_author_alone() {
    let farm = Farm::of(&["mastodon"]);
    let peer = farm.peer("mastodon");
    let note = Note::in_outbox(&farm.world, peer, Place { actor: 0, note: 3 }).url(peer);
    assert_eq!(
        farm.route(peer, "GET", &note.replace("/alice/", "/bob/")),
        Route::UnknownObject
    );
    let beyond = Note::in_outbox(&farm.world, peer, Place { actor: 0, note: 45 }).url(peer);
    assert_eq!(farm.route(peer, "GET", &beyond), Route::UnknownObject);
}

#[test]
fn another_method_is_told_which_would_do() {
    let farm = Farm::of(&["lemmy", "mastodon"]);
    let refused = farm.ask(farm.peer("lemmy"), "DELETE", "/u/alice", &[]);
    assert_eq!(
        (refused.status.as_u16(), refused.header("allow")),
        (405, "GET, HEAD")
    );
    let peer = farm.peer("mastodon");
    for (method, path, kind, allow) in [
        ("POST", "/users/alice", "actor", "GET, HEAD"),
        ("DELETE", "/users/alice/outbox", "collection", "GET, HEAD"),
        ("GET", "/users/alice/inbox", "collection", "POST"),
        ("PUT", "/inbox", "collection", "POST"),
        (
            "POST",
            "/.well-known/webfinger",
            "webfinger",
            "GET, HEAD, OPTIONS",
        ),
        ("OPTIONS", "/users/alice", "actor", "GET, HEAD"),
    ] {
        assert_eq!(
            farm.route(peer, method, path),
            Route::WrongMethod { kind, allow },
            "{method} {path}"
        );
        // Mastodon's router knows no such path under another method.
        let answer = farm.ask(peer, method, path, &[]);
        assert_eq!(
            (answer.status.as_u16(), answer.header("allow")),
            (404, ""),
            "{method} {path}"
        );
    }
    for path in [
        "/users/alice",
        "/users/alice/outbox",
        "/.well-known/webfinger",
        "/.well-known/nodeinfo",
    ] {
        assert_eq!(
            farm.route(peer, "HEAD", path),
            farm.route(peer, "GET", path),
            "{path}"
        );
    }
    assert_eq!(
        farm.route(peer, "POST", "/users/nobody/inbox"),
        Route::UnknownInbox
    );
    assert_eq!(
        farm.route(peer, "GET", "/users/nobody/inbox"),
        Route::UnknownActor
    );
    for path in ["/nowhere", "/users/nobody", "/users/alice/statuses/1"] {
        assert_eq!(
            farm.route(peer, "POST", path),
            farm.route(peer, "GET", path),
            "{path}"
        );
    }
    assert_eq!(farm.route(peer, "PUT", "/nowhere"), Route::Unknown);
}

#[test]
fn scripts_of_any_origin_may_ask_for_discovery() {
    let farm = Farm::whole(None);
    for peer in farm.peers() {
        let mut paths = vec!["/.well-known/webfinger", "/.well-known/nodeinfo"];
        if peer.software.host_meta.is_some() {
            paths.push("/.well-known/host-meta");
        }
        for path in paths {
            let headers = [
                ("origin", "https://x.test"),
                ("access-control-request-method", "GET"),
            ];
            let answer = farm.ask(peer, "OPTIONS", path, &headers);
            assert_eq!(answer.status, 204, "{path}");
            assert_eq!(answer.header("access-control-allow-origin"), "*");
            assert!(answer.header("access-control-allow-methods").contains("GET"));
            let answer = farm.ask(peer, "GET", path, &headers);
            assert_eq!(answer.header("access-control-allow-origin"), "*", "{path}");
        }
    }
}

proptest::proptest! {
    #[test]
    fn no_target_makes_the_router_panic(path in "/?.{0,60}", query in proptest::option::of(".{0,40}")) {
        static FARM: LazyLock<Farm> = LazyLock::new(|| Farm::whole(None));
        for peer in FARM.peers() {
            let _ = Route::of(&FARM.world, peer, &Method::GET, &path, query.as_deref());
        }
    }
}
