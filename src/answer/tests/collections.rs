//! Collections and their pages.

use std::collections::HashSet;

use crate::answer::tests::*;
use crate::farm::Follow;

/// Every item from `first` on, by `next`.
fn walk(farm: &Farm, peer: &Peer, url: &str) -> Vec<Value> {
    let whole = farm.document(peer, url);
    let mut items = Vec::new();
    let mut next = whole["first"].as_str().map(str::to_owned);
    while let Some(page_url) = next {
        let page = farm.document(peer, &page_url);
        assert_eq!(page["id"], page_url.as_str());
        assert_eq!(page["partOf"], url);
        items.extend(page["orderedItems"].as_array().unwrap().iter().cloned());
        if page["next"].is_null() {
            assert_eq!(whole["last"], page_url.as_str());
        }
        next = page["next"].as_str().map(str::to_owned);
    }
    items
}

#[test]
fn an_outbox_holds_every_note_once_newest_first() {
    let farm = Farm::of(&["mastodon"]);
    let peer = farm.peer("mastodon");
    let outbox = "https://mastodon1.test/users/alice/outbox";
    let whole = farm.document(peer, outbox);
    assert_eq!(
        (&whole["type"], &whole["totalItems"], &whole["id"]),
        (&"OrderedCollection".into(), &45.into(), &outbox.into())
    );
    let creates = walk(&farm, peer, outbox);
    let ids: HashSet<&str> = creates
        .iter()
        .map(|create| create["object"]["id"].as_str().unwrap())
        .collect();
    assert_eq!((creates.len(), ids.len()), (45, 45));
    let dates: Vec<&str> = creates
        .iter()
        .map(|create| create["published"].as_str().unwrap())
        .collect();
    assert!(dates.is_sorted_by(|a, b| a > b), "{dates:?}");
    for create in &creates {
        assert_eq!(
            (&create["type"], &create["actor"]),
            (&"Create".into(), &"https://mastodon1.test/users/alice".into())
        );
        let mut note = farm.document(peer, create["object"]["id"].as_str().unwrap());
        // Alone it carries the context that the Create carries for it.
        assert!(note.as_object_mut().unwrap().shift_remove("@context").is_some());
        assert_eq!(note, create["object"]);
    }
}

#[test]
fn pages_beyond_the_last_are_empty_and_no_number_is_no_page() {
    let farm = Farm::of(&["mastodon"]);
    let peer = farm.peer("mastodon");
    let beyond = farm.document(peer, "/users/alice/outbox?page=4");
    assert_eq!(
        (&beyond["orderedItems"], &beyond["next"]),
        (&serde_json::json!([]), &Value::Null)
    );
    assert_eq!(beyond["prev"], "https://mastodon1.test/users/alice/outbox?page=3");
    farm.document(peer, "/users/alice/outbox?page=18446744073709551615");
    for query in [
        "page=0",
        "page=-1",
        "page=x",
        "page=",
        "page=18446744073709551616",
    ] {
        assert_eq!(
            farm.get(peer, &format!("/users/alice/outbox?{query}")).status,
            404,
            "{query}"
        );
    }
    let whole = farm.document(peer, "/users/alice/outbox");
    assert_eq!(farm.document(peer, "/users/alice/outbox?other=1"), whole);
    let page = farm.document(peer, "/users/alice/outbox?page=2");
    assert_eq!(farm.document(peer, "/users/alice/outbox?other=1&page=2"), page);
}

#[test]
fn followers_and_following_are_paged() {
    let farm = Farm::of(&["mastodon"]);
    let peer = farm.peer("mastodon");
    for number in 0..25 {
        let follow = Follow {
            id: format!("https://s.test/f/{number}"),
            other: format!("https://s.test/u/{number}"),
        };
        farm.world
            .relations
            .add_follower(&peer.host, Who::Actor(0), follow);
    }
    let followers = walk(&farm, peer, "https://mastodon1.test/users/alice/followers");
    let expected: Vec<Value> = (0..25)
        .rev()
        .map(|number| format!("https://s.test/u/{number}").into())
        .collect();
    assert_eq!(followers, expected);
    let following = farm.document(peer, "/users/alice/following");
    assert_eq!(following["totalItems"], 0);
    let featured = farm.document(peer, "/users/alice/collections/featured");
    assert_eq!(
        (&featured["totalItems"], &featured["orderedItems"]),
        (&0.into(), &serde_json::json!([]))
    );
}

#[test]
fn every_software_serves_its_collections() {
    let farm = Farm::whole(Some(7443));
    for peer in farm.peers() {
        let values = peer.values(Who::Actor(0));
        for name in ["outbox", "followers", "following", "featured"] {
            let Some(url) = values.get(name).and_then(Value::as_str) else {
                continue;
            };
            let whole = farm.document(peer, url);
            assert_eq!(whole["id"], url, "{whole}");
            assert_eq!(
                whole["totalItems"],
                if name == "outbox" { 45 } else { 0 },
                "{whole}"
            );
            if name == "outbox" && whole["first"].is_string() {
                assert_eq!(walk(&farm, peer, url).len(), 45, "{url}");
            }
        }
        let instance = farm.document(
            peer,
            peer.values(Who::Instance)
                .get("outbox")
                .unwrap()
                .as_str()
                .unwrap(),
        );
        assert_eq!(instance["totalItems"], 0);
    }
}

#[test]
fn a_hundred_thousand_notes_have_a_last_page() {
    let farm = Farm::at(&["mastodon"], None, 100_000);
    let peer = farm.peer("mastodon");
    let whole = farm.document(peer, "/users/alice/outbox");
    assert_eq!(
        whole["last"],
        "https://mastodon1.test/users/alice/outbox?page=5000"
    );
    let last = farm.document(peer, "/users/alice/outbox?page=5000");
    assert_eq!(last["orderedItems"].as_array().unwrap().len(), 20);
    assert_eq!(last["next"], Value::Null);
}
