//! Follows, and what undoes and answers them.

use std::collections::BTreeSet;
use std::io::ErrorKind;

use peerfarm::Running;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::support::{
    Persona, Request, Sut, call, counted, farm, last_entry, oracle, persona, plain, raw, softwares, with,
};

#[tokio::test]
async fn the_accept_names_the_follow_byte_for_byte_and_the_followed_signs_it() {
    let sut = Sut::start(&["u1"]).await;
    let farm = farm(&sut).start().await.unwrap();
    for (count, alice) in softwares(&farm, "alice").into_iter().enumerate() {
        let id = format!("{}/f/{count}?x=%7E&y=\u{e9}", sut.origin());
        let follow = with(sut.activity("u1", "", "Follow", json!(alice.id)), "id", json!(id));
        let answer = sut.deliver(plain(&farm), "u1", &alice.inbox, &follow).await;
        assert_eq!(answer.status, alice.taken, "{answer:?}");
        let received = sut.received(count + 1).await;
        let (request, accept) = (&received[count], received[count].json());
        assert_eq!(
            (request.method.as_str(), request.path.as_str()),
            ("POST", "/users/u1/inbox")
        );
        assert_eq!(
            (&accept["type"], &accept["actor"]),
            (&json!("Accept"), &json!(alice.id))
        );
        let object = &accept["object"];
        assert_eq!(
            (
                &object["id"],
                &object["type"],
                &object["actor"],
                &object["object"]
            ),
            (
                &json!(id),
                &json!("Follow"),
                &json!(sut.actor("u1")),
                &json!(alice.id)
            )
        );

        let document = raw::get(plain(&farm), &alice.id, Some("application/activity+json")).await;
        let key = document.json()["publicKey"].take();
        assert_eq!(key["owner"], alice.id);
        assert_eq!(oracle::signer(request, &key).as_deref(), key["id"].as_str());
        assert_eq!(farm.followers(&alice.handle).unwrap(), [sut.actor("u1")]);
    }
}

#[tokio::test]
async fn the_accept_leaves_after_the_answer() {
    let sut = Sut::start(&["u1"]).await;
    let farm = farm(&sut).start().await.unwrap();
    for (count, alice) in softwares(&farm, "alice").into_iter().enumerate() {
        let follow = sut.activity("u1", &format!("f{count}"), "Follow", json!(alice.id));
        let request = Request::post(&alice.inbox, follow.to_string()).signed(&sut, "u1");
        let mut stream = TcpStream::connect(plain(&farm)).await.unwrap();
        stream.write_all(&request.bytes()).await.unwrap();
        sut.received(count + 1).await;
        // The socket is asked itself, since the runtime may not know yet.
        let stream = stream.into_std().unwrap();
        let answered = stream.peek(&mut [0]).map_err(|error| error.kind());
        assert_eq!(
            answered,
            Ok::<usize, ErrorKind>(1),
            "the answer is there before the Accept"
        );
    }
}

#[tokio::test]
async fn every_accept_has_an_id_of_its_own_on_the_host_of_the_followed() {
    let sut = Sut::start(&["u1", "u2"]).await;
    let farm = farm(&sut).start().await.unwrap();
    let mut count = 0;
    for alice in softwares(&farm, "alice") {
        let first = sut.activity("u1", &format!("f{count}"), "Follow", json!(alice.id));
        let undo = sut.activity("u1", &format!("undo{count}"), "Undo", first.clone());
        let again = sut.activity("u1", &format!("again{count}"), "Follow", json!(alice.id));
        let other = sut.activity("u2", &format!("other{count}"), "Follow", json!(alice.id));
        let mut ids = BTreeSet::new();
        for (user, activity) in [("u1", first), ("u1", undo), ("u1", again), ("u2", other)] {
            let answer = sut.deliver(plain(&farm), user, &alice.inbox, &activity).await;
            assert_eq!(answer.status, alice.taken, "{answer:?}");
            if activity["type"] == "Undo" {
                assert!(farm.followers(&alice.handle).unwrap().is_empty());
                continue;
            }
            count += 1;
            let accept = sut.received(count).await[count - 1].json();
            let id = accept["id"].as_str().unwrap().to_owned();
            let (origin, _) = alice.id.split_at(alice.id.len() - raw::parts(&alice.id).1.len());
            assert!(id.starts_with(&format!("{origin}/")), "{id}");
            assert_ne!(accept["object"]["id"], id);
            ids.insert(id);
        }
        assert_eq!(ids.len(), 3, "{ids:?}");
    }
}

#[tokio::test]
async fn a_follow_that_comes_again_is_accepted_once() {
    let sut = Sut::start(&["u1", "u2"]).await;
    let farm = farm(&sut).start().await.unwrap();
    let alice = persona(&farm, "alice@mastodon1.test");
    let follow = |user, id| sut.activity(user, id, "Follow", json!(alice.id));
    for (user, id) in [("u1", "f1"), ("u1", "f1"), ("u2", "f2")] {
        let answer = sut
            .deliver(plain(&farm), user, &alice.inbox, &follow(user, id))
            .await;
        assert_eq!(answer.status, 202);
    }
    let received = sut.received(2).await;
    let to: Vec<&str> = received.iter().map(|accept| accept.path.as_str()).collect();
    assert_eq!(to, ["/users/u1/inbox", "/users/u2/inbox"]);
    let counts = counted(&farm, &alice.inbox);
    assert_eq!((counts.accepted, counts.unique, counts.duplicates), (3, 2, 1));
}

#[tokio::test]
async fn whom_a_follow_is_of_stands_in_its_object() {
    let sut = Sut::start(&["u1"]).await;
    let farm = farm(&sut).start().await.unwrap();
    let both = softwares(&farm, "alice").into_iter().zip(softwares(&farm, "bob"));
    for (count, (alice, bob)) in both.enumerate() {
        let host = alice.handle.rsplit('@').next().unwrap();
        let astray = sut.activity("u1", &format!("{host}/1"), "Follow", json!(bob.id));
        let answer = sut.deliver(plain(&farm), "u1", &alice.inbox, &astray).await;
        assert_eq!(
            (answer.status, answer.header("x-peerfarm-reason")),
            (400, vec!["wrong_recipient".into()])
        );
        let nobody = sut.activity(
            "u1",
            &format!("{host}/2"),
            "Follow",
            json!(format!("https://{host}/nobody")),
        );
        let answer = sut
            .deliver(plain(&farm), "u1", &alice.shared_inbox, &nobody)
            .await;
        assert_eq!(answer.status, alice.taken);
        assert_eq!(
            last_entry(&farm).await["notes"],
            json!(["a Follow of nobody here"])
        );

        let shared = sut.activity("u1", &format!("{host}/3"), "Follow", json!(bob.id));
        let answer = sut.deliver(plain(&farm), "u1", &bob.shared_inbox, &shared).await;
        assert_eq!(answer.status, bob.taken);
        let accepts = sut.received(count + 1).await;
        assert_eq!(accepts.len(), count + 1);
        let accept = accepts[count].json();
        assert_eq!(
            (&accept["actor"], &accept["object"]["id"]),
            (&json!(bob.id), &shared["id"])
        );
        assert!(farm.followers(&alice.handle).unwrap().is_empty());
        assert_eq!(farm.followers(&bob.handle).unwrap(), [sut.actor("u1")]);
    }
}

#[tokio::test]
async fn every_spelling_of_a_follow_is_a_follow() {
    let sut = Sut::start(&["u1"]).await;
    let farm = farm(&sut).start().await.unwrap();
    for (round, alice) in softwares(&farm, "alice").into_iter().enumerate() {
        let u1 = sut.actor("u1");
        let plain_form = |id: &str| sut.activity("u1", &format!("{round}/{id}"), "Follow", json!(alice.id));
        let spellings = [
            with(plain_form("1"), "type", json!(["Follow", "x:Foo"])),
            with(plain_form("2"), "actor", json!([u1])),
            with(plain_form("3"), "actor", json!({"id": u1, "type": "Person"})),
            with(plain_form("4"), "to", json!("as:Public")),
            with(
                plain_form("5"),
                "@context",
                json!("https://www.w3.org/ns/activitystreams"),
            ),
            with(plain_form("6"), "object", json!([alice.id])),
            with(
                plain_form("7"),
                "object",
                json!({"id": alice.id, "type": "Person"}),
            ),
        ];
        for (count, follow) in spellings.iter().enumerate() {
            let answer = sut.deliver(plain(&farm), "u1", &alice.inbox, follow).await;
            assert_eq!(answer.status, alice.taken, "{follow}");
            let count = 7 * round + count + 1;
            let accept = sut.received(count).await[count - 1].json();
            assert_eq!(accept["object"]["id"], follow["id"], "{follow}");
            assert_eq!(farm.followers(&alice.handle).unwrap(), std::slice::from_ref(&u1));
        }

        let two = with(plain_form("8"), "actor", json!([u1, "https://sut.test/users/u2"]));
        let answer = sut.deliver(plain(&farm), "u1", &alice.inbox, &two).await;
        assert_eq!(
            (answer.status, answer.header("x-peerfarm-reason")),
            (400, vec!["malformed".into()])
        );
        assert!(answer.text().contains("names 2 actors"), "{answer:?}");
    }
}

#[tokio::test]
async fn an_undo_goes_by_the_pair_or_by_the_id_and_only_for_its_own_actor() {
    let sut = Sut::start(&["u1", "u2"]).await;
    let farm = farm(&sut).start().await.unwrap();
    for alice in softwares(&farm, "alice") {
        let host = &alice.handle;
        let followed = || farm.followers(&alice.handle).unwrap() == [sut.actor("u1")];
        let follow = |id: &str| sut.activity("u1", &format!("{host}/{id}"), "Follow", json!(alice.id));
        let deliver = async |user: &str, activity: Value| {
            let answer = sut.deliver(plain(&farm), user, &alice.inbox, &activity).await;
            assert_eq!(answer.status, alice.taken, "{activity}");
            last_entry(&farm).await["notes"].take()
        };
        deliver("u1", follow("f1")).await;
        let undo = |user, id: &str, object| sut.activity(user, &format!("{host}/{id}"), "Undo", object);
        let unknown = json!(["an Undo of nothing known"]);

        let foreign = undo("u2", "n1", follow("f1"));
        assert_eq!(
            (deliver("u2", foreign).await, followed()),
            (unknown.clone(), true)
        );
        let foreign = undo("u2", "n2", follow("f1")["id"].clone());
        assert_eq!(
            (deliver("u2", foreign).await, followed()),
            (unknown.clone(), true)
        );
        let other = undo("u1", "n3", json!("https://sut.test/likes/1"));
        assert_eq!((deliver("u1", other).await, followed()), (unknown.clone(), true));
        let like = undo("u1", "n4", json!({"type": "Like", "object": alice.id}));
        assert_eq!((deliver("u1", like).await, followed()), (Value::Null, true));

        // Another id than the Follow's own: the pair decides.
        let by_pair = undo("u1", "u1", follow("another"));
        assert_eq!((deliver("u1", by_pair).await, followed()), (Value::Null, false));
        deliver("u1", follow("f2")).await;
        assert!(followed());
        let by_id = undo("u1", "u2", follow("f2")["id"].clone());
        assert_eq!((deliver("u1", by_id).await, followed()), (Value::Null, false));
    }
}

#[tokio::test]
async fn an_accept_of_a_bare_id_is_matched_by_it() {
    let sut = Sut::start(&["u1"]).await;
    let farm = farm(&sut).start().await.unwrap();
    for (count, alice) in softwares(&farm, "alice").into_iter().enumerate() {
        farm.follow(&alice.handle, &sut.handle("u1")).await.unwrap();
        let follow = sut.received(count + 1).await[count].json();
        let unknown = sut.activity(
            "u1",
            &format!("a{count}"),
            "Accept",
            json!("https://sut.test/f/none"),
        );
        let answer = sut.deliver(plain(&farm), "u1", &alice.inbox, &unknown).await;
        assert_eq!(answer.status, alice.taken);
        assert_eq!(
            last_entry(&farm).await["notes"],
            json!(["an Accept of no Follow that waits"])
        );
        assert_eq!(following(&farm, &alice).await, 0);

        let accept = sut.activity("u1", &format!("b{count}"), "Accept", follow["id"].clone());
        sut.deliver(plain(&farm), "u1", &alice.inbox, &accept).await;
        assert_eq!(following(&farm, &alice).await, 1);
        assert_eq!(counted(&farm, &alice.inbox).accepted, 2);
    }
}

#[tokio::test]
async fn only_who_was_asked_can_accept() {
    let sut = Sut::start(&["u1", "u2"]).await;
    let farm = farm(&sut).start().await.unwrap();
    let alice = persona(&farm, "alice@mastodon1.test");
    farm.follow(&alice.handle, &sut.handle("u1")).await.unwrap();
    let follow = sut.received(1).await[0].json();
    let accept = sut.activity("u2", "a1", "Accept", follow["id"].clone());
    sut.deliver(plain(&farm), "u2", &alice.inbox, &accept).await;
    assert_eq!(following(&farm, &alice).await, 0);
    let embedded = sut.activity("u1", "a2", "Accept", follow);
    sut.deliver(plain(&farm), "u1", &alice.shared_inbox, &embedded)
        .await;
    assert_eq!(following(&farm, &alice).await, 1);
}

async fn following(farm: &Running, persona: &Persona) -> u64 {
    let (name, host) = persona.handle.split_once('@').unwrap();
    let peer = call(farm, &format!("/peers/{host}")).await;
    let actors = peer["peers"][0]["actors"].as_array().unwrap();
    let actor = actors.iter().find(|actor| actor["name"] == name).unwrap();
    actor["following"].as_u64().unwrap()
}
