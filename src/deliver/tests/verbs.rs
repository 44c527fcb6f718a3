//! What users and Follows have actors do, from a handle to the activity that arrives.

use serde_json::{Value, json};

use crate::activitypub::{Activity, PUBLIC};
use crate::command::Target;
use crate::deliver::tests::{Farm, Sut};
use crate::deliver::{How, VerbError};
use crate::farm::Who;

const ALICE: Who = Who::Actor(0);

/// A server with one persona, `@Nora`, who has an inbox and shares another.
async fn sut_with_nora(shared: bool) -> Sut {
    let sut = Sut::start().await;
    let mut actor =
        json!({"id": sut.id("/nora"), "preferredUsername": "Nora", "inbox": sut.id("/nora/inbox")});
    if shared {
        actor["endpoints"] = json!({"sharedInbox": sut.id("/inbox")});
    }
    sut.serves("/nora", &actor);
    let jrd = json!({"subject": "acct:Nora@sut.test", "links": [
        {"rel": "http://webfinger.net/rel/profile-page", "type": "text/html", "href": sut.id("/@nora")},
        {"rel": "self", "type": "text/html", "href": sut.id("/@nora")},
        {"rel": "self", "type": "application/activity+json", "href": sut.id("/nora")},
    ]});
    sut.says(WEBFINGER, 200, "application/jrd+json", jrd.to_string());
    sut.says("/nora/inbox", 202, "text/plain", "");
    sut.says("/inbox", 202, "text/plain", "");
    sut
}

const WEBFINGER: &str = "/.well-known/webfinger";

fn handle(sut: &Sut) -> Target {
    format!("@Nora@{}", sut.origin.trim_start_matches("http://"))
        .parse()
        .unwrap()
}

fn last_body(sut: &Sut) -> Value {
    serde_json::from_slice(&sut.asked().pop().unwrap().body).unwrap()
}

#[tokio::test]
async fn a_handle_is_found_by_webfinger() {
    let (farm, sut) = (Farm::new(), sut_with_nora(true).await);
    let signer = farm.alice().await;
    let remote = farm.outbound.find(&signer, &handle(&sut)).await.unwrap();
    assert_eq!(
        (remote.id, remote.inbox),
        (sut.id("/nora"), Some(sut.url("/nora/inbox")))
    );
    assert_eq!(remote.shared_inbox, Some(sut.url("/inbox")));
    let asked = &sut.asked()[0];
    let port = sut.url("/").port().unwrap();
    assert_eq!(
        asked.target,
        format!("{WEBFINGER}?resource=acct%3ANora%40127.0.0.1%3A{port}")
    );
    assert_eq!(asked.header("signature"), "");
}

#[tokio::test]
async fn webfinger_follows_redirects_with_their_query_and_takes_plain_json() {
    let (farm, sut) = (Farm::new(), sut_with_nora(false).await);
    let jrd = sut.answers.lock().unwrap()[WEBFINGER].body.clone();
    sut.redirects(WEBFINGER, 301, "/elsewhere?resource=acct:nora@sut.test");
    sut.says("/elsewhere", 200, "application/json; charset=utf-8", jrd);
    let signer = farm.alice().await;
    farm.outbound.find(&signer, &handle(&sut)).await.unwrap();
    assert_eq!(sut.asked()[1].target, "/elsewhere?resource=acct:nora@sut.test");
    sut.redirects("/elsewhere", 302, "/elsewhere");
    assert!(farm.outbound.find(&signer, &handle(&sut)).await.is_err());
    assert!(sut.count("/elsewhere") < 10, "a loop ends");
}

#[tokio::test]
async fn webfinger_may_be_answered_by_another_host() {
    let (farm, sut, apex) = (Farm::new(), sut_with_nora(false).await, Sut::start().await);
    let signer = farm.alice().await;
    for status in [301, 302, 307, 308] {
        let query = "resource=acct%3Anora%40sut.test";
        apex.redirects(WEBFINGER, status, &format!("{}?{query}", sut.id(WEBFINGER)));
        let remote = farm.outbound.find(&signer, &handle(&apex)).await.unwrap();
        assert_eq!(remote.id, sut.id("/nora"), "{status}");
        let asked = sut.asked();
        let [.., finger, actor] = &asked[..] else {
            panic!("{status}: {asked:?}")
        };
        assert_eq!(
            (finger.target.as_str(), actor.target.as_str()),
            (format!("{WEBFINGER}?{query}").as_str(), "/nora")
        );
    }

    // A server that forgets the query is followed all the same, and its refusal is what counts.
    apex.redirects(WEBFINGER, 302, &sut.id("/no-query"));
    sut.says("/no-query", 400, "text/plain", "");
    let lost = farm.outbound.find(&signer, &handle(&apex)).await;
    assert!(lost.unwrap_err().to_string().contains("400"));
    assert_eq!(sut.asked().pop().unwrap().target, "/no-query");
}

#[tokio::test]
async fn a_name_nobody_has_with_its_port_is_asked_for_without() {
    let (farm, sut) = (Farm::new(), sut_with_nora(false).await);
    sut.says(WEBFINGER, 404, "text/plain", "");
    let signer = farm.alice().await;
    assert!(farm.outbound.find(&signer, &handle(&sut)).await.is_err());
    assert_eq!(
        sut.asked()[1].target,
        format!("{WEBFINGER}?resource=acct%3ANora%40127.0.0.1")
    );
}

#[tokio::test]
async fn the_url_of_a_page_leads_to_the_actor_it_is_of_and_no_other() {
    let (farm, sut) = (Farm::new(), sut_with_nora(false).await);
    let signer = farm.alice().await;
    let page = sut.answers.lock().unwrap()["/nora"].clone();
    sut.answers.lock().unwrap().insert("/@nora".to_owned(), page);
    let found = farm
        .outbound
        .find(&signer, &Target::Url(sut.url("/@nora")))
        .await
        .unwrap();
    assert_eq!(found.id, sut.id("/nora"));
    sut.serves(
        "/fake",
        &json!({"id": sut.id("/missing"), "inbox": sut.id("/inbox")}),
    );
    assert!(
        farm.outbound
            .find(&signer, &Target::Url(sut.url("/fake")))
            .await
            .is_err()
    );
}

#[tokio::test]
async fn an_undo_embeds_the_very_follow_that_was_sent() {
    let (farm, sut) = (Farm::new(), sut_with_nora(true).await);
    let sent = farm
        .outbound
        .follow(&farm.peer, ALICE, &handle(&sut), How::default())
        .await
        .unwrap();
    assert!(sent.deliveries[0].is_taken());
    assert_eq!(sent.deliveries[0].inbox, sut.id("/nora/inbox"));
    let follow = last_body(&sut);
    assert_eq!(
        (&follow["type"], &follow["object"]),
        (&json!("Follow"), &json!(sut.id("/nora")))
    );
    assert_eq!(follow["actor"], farm.peer.actor_url(ALICE));
    assert_eq!(follow["id"].as_str(), sent.id.as_deref());
    // The answer that names only the Follow's id finds it.
    let (relations, host) = (&farm.outbound.world.relations, &farm.peer.host);
    assert!(relations.accept_pending(host, ALICE, sent.id.as_deref(), &sut.id("/nora")));

    let undone = farm
        .outbound
        .unfollow(&farm.peer, ALICE, &handle(&sut), How::default())
        .await
        .unwrap();
    let undo = last_body(&sut);
    assert_eq!(
        (&undo["type"], &undo["object"]["id"]),
        (&json!("Undo"), &follow["id"])
    );
    assert_eq!(
        (&undo["object"]["object"], &undo["actor"]),
        (&follow["object"], &follow["actor"])
    );
    assert_ne!(undone.id, sent.id);
    let again = farm
        .outbound
        .unfollow(&farm.peer, ALICE, &handle(&sut), How::default())
        .await;
    assert!(matches!(again, Err(VerbError::NotFollowing { .. })));
    // A second Follow of the same two is another activity.
    let second = farm
        .outbound
        .follow(&farm.peer, ALICE, &handle(&sut), How::default())
        .await
        .unwrap();
    assert_ne!(second.id, sent.id);
}

#[tokio::test]
async fn a_follow_that_never_left_does_not_wait_for_an_accept() {
    let (farm, sut) = (Farm::new(), sut_with_nora(false).await);
    let dead = json!({"id": sut.id("/nora"), "inbox": "https://8.8.8.8/inbox"});
    sut.serves("/nora", &dead);
    let sent = farm
        .outbound
        .follow(&farm.peer, ALICE, &handle(&sut), How::default())
        .await
        .unwrap();
    assert!(!sent.deliveries[0].may_have_arrived());
    let relations = &farm.outbound.world.relations;
    assert!(!relations.accept_pending(&farm.peer.host, ALICE, None, &sut.id("/nora")));
}

#[tokio::test]
async fn a_note_is_public_mentions_its_target_and_goes_to_the_shared_inbox() {
    let (farm, sut) = (Farm::new(), sut_with_nora(true).await);
    let sent = farm
        .outbound
        .note(&farm.peer, ALICE, &handle(&sut), "1 < 2", How::default())
        .await
        .unwrap();
    assert_eq!(sent.deliveries[0].inbox, sut.id("/inbox"));
    let create = last_body(&sut);
    let note = &create["object"];
    assert_eq!(
        (&create["type"], &note["type"]),
        (&json!("Create"), &json!("Note"))
    );
    assert_eq!(
        (&note["to"], &note["attributedTo"]),
        (&json!([PUBLIC]), &create["actor"])
    );
    assert!(note["cc"].as_array().unwrap().contains(&json!(sut.id("/nora"))));
    assert_eq!(note["content"], "<p>1 &lt; 2</p>");
    let mention = &note["tag"][0];
    assert_eq!(mention["name"], handle(&sut).to_string());
    assert_eq!(
        (&mention["type"], &mention["href"]),
        (&json!("Mention"), &json!(sut.id("/nora")))
    );
    let second = farm
        .outbound
        .note(&farm.peer, ALICE, &handle(&sut), "again", How::default())
        .await
        .unwrap();
    assert_ne!(second.activity["object"]["id"], note["id"]);
}

#[tokio::test]
async fn an_activity_goes_as_given_with_what_it_needs_where_that_is_missing() {
    let (farm, sut) = (Farm::new(), sut_with_nora(false).await);
    let given = json!({"type": "Like", "object": "https://x.test/1", "extra": {"n": 1.5}});
    let Value::Object(given) = given else {
        unreachable!()
    };
    farm.outbound
        .activity(&farm.peer, ALICE, &handle(&sut), given, How::default())
        .await
        .unwrap();
    let like = last_body(&sut);
    assert_eq!(
        (&like["type"], &like["extra"]["n"]),
        (&json!("Like"), &json!(1.5))
    );
    assert_eq!(like["actor"], farm.peer.actor_url(ALICE));
    assert_eq!(like["@context"], "https://www.w3.org/ns/activitystreams");
    assert!(like["id"].as_str().unwrap().starts_with("https://peer1.test/"));
    assert_eq!(sut.asked().pop().unwrap().target, "/nora/inbox");
    let Value::Object(given) = json!({"@context": [], "id": "urn:x", "actor": "https://other.test/u"}) else {
        unreachable!()
    };
    farm.outbound
        .activity(&farm.peer, ALICE, &handle(&sut), given.clone(), How::default())
        .await
        .unwrap();
    assert_eq!(last_body(&sut), Value::Object(given));
}

#[tokio::test]
async fn an_accept_has_an_id_of_its_own_and_names_the_follow_as_it_came() {
    let (farm, sut) = (Farm::new(), sut_with_nora(true).await);
    let follow = json!({
        "id": "https://s.test/f/1?x=%7E", "type": "Follow", "actor": sut.id("/nora"), "object": farm.peer.actor_url(ALICE)
    });
    let follow = Activity::from_value(follow).unwrap();
    let mut ids = std::collections::HashSet::new();
    for _ in 0..3 {
        let sent = farm.outbound.accept(&farm.peer, ALICE, &follow).await.unwrap();
        assert_eq!(sent.deliveries[0].inbox, sut.id("/nora/inbox"));
        let accept = last_body(&sut);
        assert_eq!(
            (&accept["type"], &accept["object"]["id"]),
            (&json!("Accept"), &json!("https://s.test/f/1?x=%7E"))
        );
        assert_eq!(accept["actor"], farm.peer.actor_url(ALICE));
        let id = accept["id"].as_str().unwrap().to_owned();
        assert!(id.starts_with("https://peer1.test/") && ids.insert(id));
    }
}
