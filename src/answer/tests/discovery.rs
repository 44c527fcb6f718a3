//! WebFinger by RFC 7033, and where software differs.

use crate::answer::tests::*;

fn finger(farm: &Farm, peer: &Peer, query: &str) -> Answer {
    farm.ask(
        peer,
        "GET",
        &format!("/.well-known/webfinger?{query}"),
        &[("origin", "https://x.test")],
    )
}

#[test]
fn every_software_finds_its_actors() {
    for (port, authority) in [(None, ""), (Some(7443), ":7443")] {
        let farm = Farm::whole(port);
        for peer in farm.peers() {
            let (host, software) = (&peer.host, &peer.software.name);
            for query in [
                format!("resource=acct:alice@{host}{authority}"),
                format!("resource=acct%3Aalice%40{host}{}", authority.replace(':', "%3A")),
                format!("resource=acct%3aalice%40{host}"),
                format!("rel=self&resource=acct:alice@{host}"),
                format!("resource=ACCT:Alice@{}", host.as_str().to_uppercase()),
            ] {
                let answer = finger(&farm, peer, &query);
                assert_eq!(answer.status, 200, "{software}: {query}");
                assert_eq!(
                    answer.header("content-type"),
                    peer.software.webfinger.content_type
                );
                assert_eq!(answer.header("access-control-allow-origin"), "*");
                let jrd = answer.document();
                let own = |link: &&Value| {
                    link["rel"] == "self" && link["href"] == peer.actor_url(Who::Actor(0)).as_str()
                };
                assert_eq!(
                    jrd["links"].as_array().unwrap().iter().filter(own).count().min(1),
                    1,
                    "{software}: {jrd}"
                );
            }
        }
    }
}

#[test]
fn the_actors_urls_find_it_as_well() {
    let farm = Farm::of(&["mastodon", "lemmy"]);
    let peer = farm.peer("mastodon");
    let by_account = finger(&farm, peer, "resource=acct:alice@mastodon1.test").document();
    assert_eq!(by_account["subject"], "acct:alice@mastodon1.test");
    let aliases = serde_json::json!([
        "https://mastodon1.test/@alice",
        "https://mastodon1.test/users/alice"
    ]);
    assert_eq!(by_account["aliases"], aliases);
    for query in [
        "resource=https%3A%2F%2Fmastodon1.test%2Fusers%2Falice",
        "resource=https%3A%2F%2Fmastodon1.test%2F%40alice",
        "resource=https://mastodon1.test/@alice",
        "resource=HTTPS://Mastodon1.test:443/@alice",
        "resource=acct:ALICE@mastodon1.TEST",
    ] {
        assert_eq!(finger(&farm, peer, query).document(), by_account, "{query}");
    }
    // Lemmy takes accounts alone.
    let lemmy = farm.peer("lemmy");
    let refused = finger(&farm, lemmy, "resource=https%3A%2F%2Flemmy1.test%2Fu%2Falice");
    assert_eq!(
        refused.status.as_u16(),
        lemmy.software.webfinger.foreign_host.status
    );
}

#[test]
fn bad_requests_and_unknown_users_are_told_apart() {
    let farm = Farm::at(&["mastodon"], Some(7443), 1);
    let peer = farm.peer("mastodon");
    for (query, status) in [
        ("", 400),
        ("resource", 400),
        ("resource=", 400),
        (
            "resource=acct:alice@mastodon1.test&resource=acct:alice@mastodon1.test",
            400,
        ),
        ("resource=foobar", 400),
        ("resource=alice@mastodon1.test", 400),
        ("resource=acct:alice", 400),
        ("resource=acct:@mastodon1.test", 400),
        ("resource=acct:alice@", 400),
        ("resource=acct:%ff@mastodon1.test", 400),
        ("resource=acct:nobody@mastodon1.test", 404),
        ("resource=acct:j%C3%BCrgen@mastodon1.test", 404),
        ("resource=acct:alice@elsewhere.test", 404),
        ("resource=acct:alice@mastodon1.test:443", 404),
        ("resource=mailto:alice@mastodon1.test", 404),
        ("resource=https://mastodon1.test:7443/users/nobody", 404),
        ("resource=https://mastodon1.test:7443/users/alice/outbox", 404),
        ("resource=https://mastodon1.test:1/users/alice", 404),
        ("resource=https://elsewhere.test/users/alice", 404),
        ("resource=acct:alice@mastodon1.test:7443", 200),
        ("resource=acct:alice@mastodon1.test", 200),
        ("resource=https://mastodon1.test:7443/users/alice", 200),
    ] {
        let answer = finger(&farm, peer, query);
        assert_eq!(answer.status, status, "{query}");
        assert_eq!(answer.header("access-control-allow-origin"), "*", "{query}");
        assert!(!answer.header("content-type").contains("html"), "{query}");
    }
}

#[test]
fn misskey_refuses_other_hosts_with_422() {
    let farm = Farm::of(&["misskey"]);
    let misskey = farm.peer("misskey");
    assert_eq!(
        finger(&farm, misskey, "resource=acct:alice@elsewhere.test").status,
        422
    );
    assert_eq!(
        finger(&farm, misskey, "resource=acct:nobody@misskey1.test").status,
        404
    );
    assert_eq!(finger(&farm, misskey, "").status, 400);
}

#[test]
fn a_plus_is_a_plus() {
    assert_eq!(
        webfinger::query_pairs("a=b+c%2Bd%20e&&f"),
        Some(vec![
            ("a".to_owned(), "b+c+d e".to_owned()),
            ("f".to_owned(), String::new())
        ])
    );
    assert_eq!(webfinger::query_pairs("a=%ff"), None);
}

#[test]
fn rel_keeps_the_links_it_names() {
    let farm = Farm::of(&["mastodon"]);
    let peer = farm.peer("mastodon");
    let rels = |query: &str| {
        let jrd = finger(&farm, peer, &format!("resource=acct:alice@mastodon1.test{query}")).document();
        assert_eq!(jrd["subject"], "acct:alice@mastodon1.test");
        assert!(jrd["aliases"].is_array());
        let links = jrd["links"].as_array().unwrap().clone();
        links
            .iter()
            .map(|link| link["rel"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert!(rels("").len() > 2);
    assert_eq!(rels("&rel=self"), ["self"]);
    let page = "http://webfinger.net/rel/profile-page";
    let mut two = rels("&rel=self&rel=http%3A%2F%2Fwebfinger.net%2Frel%2Fprofile-page");
    two.sort();
    assert_eq!(two, [page, "self"]);
    assert!(rels("&rel=nope").is_empty());
}

#[test]
fn no_name_contains_a_colon() {
    let farm = Farm::whole(Some(7443));
    for peer in farm.peers() {
        for who in [Who::Actor(0), Who::Instance] {
            let actor = farm.document(peer, &peer.actor_url(who));
            let name = actor["preferredUsername"]
                .as_str()
                .unwrap_or_else(|| panic!("{actor}"));
            assert!(!name.is_empty() && !name.contains(':'), "{name}");
        }
    }
}

#[test]
fn the_instance_actor_is_found_where_the_software_shows_it() {
    let farm = Farm::whole(None);
    for peer in farm.peers() {
        let query = format!("resource=acct:{}@{}", peer.name(Who::Instance), peer.host);
        let answer = finger(&farm, peer, &query);
        if peer.software.webfinger.instance.is_some() {
            assert_eq!(answer.status, 200, "{query}");
            assert!(
                answer.text().contains(&peer.actor_url(Who::Instance)),
                "{}",
                answer.text()
            );
        } else {
            assert_eq!(
                answer.status.as_u16(),
                peer.software.webfinger.unknown_user.status,
                "{query}"
            );
        }
    }
}

proptest::proptest! {
    #[test]
    fn no_query_makes_it_panic(query in "(resource=)?(acct:|https://)?.{0,50}") {
        static FARM: LazyLock<Farm> = LazyLock::new(|| Farm::of(&["mastodon"]));
        let peer = FARM.peer("mastodon");
        let answer = finger(&FARM, peer, &query.replace('?', ""));
        proptest::prop_assert!([200, 400, 404].contains(&answer.status.as_u16()));
    }
}
