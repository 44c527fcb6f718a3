//! ActivityPub documents, host-meta and NodeInfo.

use crate::answer::tests::*;

#[test]
fn every_document_has_the_id_it_is_fetched_at() {
    for port in [None, Some(7443)] {
        let farm = Farm::whole(port);
        for peer in farm.peers() {
            let note = Note::in_outbox(&farm.world, peer, Place { actor: 10, note: 44 });
            let create = note.create(peer)["id"].as_str().unwrap().to_owned();
            let mut urls = vec![
                peer.actor_url(Who::Actor(10)),
                peer.actor_url(Who::Instance),
                note.url(peer),
            ];
            urls.extend(Some(create).filter(|create| !create.contains('#')));
            for url in urls {
                let answer = farm.get(peer, &url);
                assert_eq!(answer.status, 200, "{url}");
                assert_eq!(
                    answer.header("content-type"),
                    peer.software.documents.content_type
                );
                assert!(crate::activitypub::is_activity(answer.header("content-type")));
                assert_eq!(answer.document()["id"], url.as_str());
                assert!(answer.header("vary").starts_with("Accept"), "{url}");
            }
        }
    }
}

#[test]
fn an_actor_is_not_too_thin() {
    let farm = Farm::whole(None);
    for peer in farm.peers() {
        for who in [Who::Actor(0), Who::Instance] {
            let actor = farm.document(peer, &peer.actor_url(who));
            let url = |key: &str| {
                actor[key]
                    .as_str()
                    .unwrap_or_else(|| panic!("no `{key}` in {actor}"))
                    .to_owned()
            };
            assert!(url("inbox").starts_with(&peer.origin) && url("outbox").starts_with(&peer.origin));
            assert_eq!(actor["publicKey"]["owner"], actor["id"]);
            assert_eq!(actor["publicKey"]["publicKeyPem"], KEYS.public_key_pem.as_str());
            let key = peer.values(who).get("key").unwrap().clone();
            assert_eq!(actor["publicKey"]["id"], key, "{}", peer.software.name);
        }
    }
}

#[test]
fn a_key_document_leads_to_its_owner() {
    let farm = Farm::whole(None);
    for peer in farm.peers() {
        let Some(url) = peer.values(Who::Actor(0)).get("key_document").cloned() else {
            continue;
        };
        let document = farm.document(peer, url.as_str().unwrap());
        let actor = peer.actor_url(Who::Actor(0));
        let key = if document["publicKey"].is_object() {
            &document["publicKey"]
        } else {
            &document
        };
        assert_eq!(
            (&key["owner"], &key["publicKeyPem"]),
            (&actor.into(), &KEYS.public_key_pem.as_str().into())
        );
    }
}

#[test]
fn a_key_without_a_fragment_is_a_document_of_its_own() {
    let farm = Farm::of_changed_mastodon(&[
        (
            "key = \"{actor}#main-key\"\ninstance",
            "key = \"{actor}/main-key\"\ninstance",
        ),
        (
            "instance_key = \"{actor}#main-key\"",
            "instance_key = \"{actor}/main-key\"\nkey_document = \"{origin}/users/{name}/main-key\"",
        ),
        (
            "[webfinger]",
            "key = '{\"id\": \"{actor}\", \"publicKey\": {\"id\": \"{key}\", \"owner\": \"{actor}\"}}'\n\n[webfinger]",
        ),
    ]);
    let peer = farm.peer("mastodon");
    for (path, who, owner) in [
        (
            "/users/alice/main-key",
            Who::Actor(0),
            "https://mastodon1.test/users/alice",
        ),
        ("/actor/main-key", Who::Instance, "https://mastodon1.test/actor"),
    ] {
        assert_eq!(farm.route(peer, "GET", path), Route::KeyDocument(who));
        let document = farm.document(peer, path);
        assert_eq!(
            document["publicKey"]["id"],
            format!("https://mastodon1.test{path}")
        );
        assert_eq!(document["publicKey"]["owner"], owner);
    }
}

#[test]
fn nodeinfo_is_found_by_its_links() {
    let farm = Farm::whole(Some(7443));
    for peer in farm.peers() {
        let answer = farm.get(peer, "/.well-known/nodeinfo");
        let links = answer.document()["links"].as_array().unwrap().clone();
        let schema = "http://nodeinfo.diaspora.software/ns/schema/";
        let mut documents = 0;
        for link in &links {
            let href = link["href"].as_str().unwrap();
            assert!(href.starts_with(&format!("{}/", peer.origin)), "{href}");
            let Some(version) = link["rel"].as_str().unwrap().strip_prefix(schema) else {
                continue;
            };
            documents += 1;
            let answer = farm.get(peer, href);
            assert_eq!(
                (
                    answer.status.as_u16(),
                    answer.header("access-control-allow-origin")
                ),
                (200, "*"),
                "{href}"
            );
            assert!(
                answer.header("content-type").starts_with("application/json"),
                "{href}"
            );
            let document = answer.document();
            assert_eq!(
                (&document["version"], &document["usage"]["users"]["total"]),
                (&version.into(), &11.into())
            );
            // A Lemmy's notes are comments.
            let count = |key: &str| document["usage"][key].as_u64().unwrap_or(0);
            assert_eq!(
                count("localPosts") + count("localComments"),
                11 * 45,
                "{document}"
            );
        }
        assert!(documents > 0, "{}", peer.software.name);
        for (path, index) in &peer.software.nodeinfo.redirects {
            let answer = farm.get(peer, path);
            let target = peer.software.nodeinfo.documents[*index]
                .url
                .render(&peer.server_values());
            assert_eq!(
                (answer.status.is_redirection(), answer.header("location")),
                (true, target.as_str())
            );
        }
    }
}

#[test]
fn host_meta_holds_the_literal_uri() {
    let farm = Farm::at(&["misskey", "lemmy"], Some(7443), 1);
    let peer = farm.peer("misskey");
    let template = "https://misskey1.test:7443/.well-known/webfinger?resource={uri}";
    let xrd = farm.ask(peer, "GET", "/.well-known/host-meta", &[]);
    assert!(xrd.header("content-type").starts_with("application/xrd+xml"));
    assert!(
        xrd.text()
            .contains(&format!("rel=\"lrdd\" template=\"{template}\"")),
        "{}",
        xrd.text()
    );
    let expected = serde_json::json!({"links": [{"rel": "lrdd", "template": template}]});
    let by_accept = farm.ask(
        peer,
        "GET",
        "/.well-known/host-meta",
        &[("accept", "application/json")],
    );
    for json in [
        by_accept,
        farm.ask(peer, "GET", "/.well-known/host-meta.json", &[]),
    ] {
        assert_eq!(
            (json.document(), json.header("access-control-allow-origin")),
            (expected.clone(), "*")
        );
    }
    assert_eq!(farm.get(farm.peer("lemmy"), "/.well-known/host-meta").status, 404);
}
