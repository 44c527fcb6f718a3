//! Which form of an actor or a note is served, and to whom.

use crate::answer::tests::*;

const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

#[test]
fn people_get_pages_and_programs_documents() {
    let farm = Farm::of(&["mastodon"]);
    let peer = farm.peer("mastodon");
    let note = Note::in_outbox(&farm.world, peer, Place { actor: 0, note: 44 }).url(peer);
    for (target, accept, is_page) in [
        ("/users/alice", &["application/activity+json"][..], false),
        ("/users/alice", &["*/*"], false),
        ("/users/alice", &[], false),
        ("/users/alice", &[BROWSER], true),
        ("/users/alice", &["text/html;q=0.1", "application/ld+json"], false),
        ("/@alice", &["*/*"], true),
        ("/@alice", &[], true),
        ("/@alice", &["application/activity+json"], false),
        (&note, &[BROWSER], true),
        (&note, &["*/*"], false),
    ] {
        let headers: Vec<_> = accept.iter().map(|accept| ("accept", *accept)).collect();
        let answer = farm.ask(peer, "GET", target, &headers);
        assert_eq!(
            (answer.status.as_u16(), answer.header("vary")),
            (200, "Accept"),
            "{target}"
        );
        assert_eq!(
            answer.header("content-type").starts_with("text/html"),
            is_page,
            "{target} {accept:?}"
        );
        let handle = answer.text().contains("@alice@mastodon1.test");
        assert!(!is_page || handle, "{}", answer.text());
    }
}

#[test]
fn a_page_shows_the_newest_notes() {
    let farm = Farm::of(&["mastodon"]);
    let peer = farm.peer("mastodon");
    let page = farm.ask(peer, "GET", "/@alice", &[("accept", BROWSER)]);
    let url = |note| Note::in_outbox(&farm.world, peer, Place { actor: 0, note }).url(peer);
    assert!(page.text().contains(&url(44)) && page.text().contains(&url(40)));
    assert!(!page.text().contains(&url(39)));
}

#[test]
fn authorized_fetch_guards_documents_but_not_what_a_signature_needs() {
    let farm = Farm::of_changed_mastodon(&[("authorized_fetch = false", "authorized_fetch = true")]);
    let peer = farm.peer("mastodon");
    let guarded = |target: &str, accept: &str| {
        let headers = HeaderMap::from_iter([(http::header::ACCEPT, accept.parse().unwrap())]);
        is_guarded(peer, &farm.route(peer, "GET", target), &headers)
    };
    for path in [
        "/users/alice",
        "/users/alice/outbox",
        "/users/alice/followers",
        "/@alice",
    ] {
        assert!(guarded(path, "application/activity+json"), "{path}");
    }
    for path in [
        "/actor",
        "/actor/outbox",
        "/.well-known/webfinger",
        "/.well-known/nodeinfo",
        "/nodeinfo/2.0",
        "/no",
    ] {
        assert!(!guarded(path, "application/activity+json"), "{path}");
    }
    assert!(!guarded("/users/alice", BROWSER) && !guarded("/@alice", BROWSER));
    assert_eq!(farm.get(peer, "/users/alice").header("vary"), "Accept, Signature");
    let open = Farm::of(&["mastodon"]);
    let peer = open.peer("mastodon");
    assert!(!is_guarded(peer, &Route::Actor(Who::Actor(0)), &HeaderMap::new()));
}
