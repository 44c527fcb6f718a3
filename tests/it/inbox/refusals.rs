//! What is refused, by whom and how: the verdict is one, the words are the software's.

use std::collections::BTreeSet;

use serde_json::json;

use crate::support::{By, Persona, Request, Sut, call, counted, farm, last_entry, persona, plain, softwares};

#[tokio::test]
async fn the_same_wrong_request_has_one_verdict_and_an_answer_of_each_software() {
    let sut = Sut::start(&["u1", "u2"]).await;
    let farm = farm(&sut).start().await.unwrap();
    // What is wrong, the verdict it gets everywhere, the reason that is answered, and with what status.
    let wrongs = [
        ("unsigned", json!(["unsigned", null]), "unsigned", [401, 401, 400]),
        (
            "tampered",
            json!(["invalid", "digest_mismatch"]),
            "digest_mismatch",
            [401, 401, 400],
        ),
        (
            "forged",
            json!(["invalid", "signature_mismatch"]),
            "signature_mismatch",
            [401, 202, 400],
        ),
        ("no_json", json!(["valid", null]), "malformed", [400, 400, 400]),
        (
            "as_text",
            json!(["valid", null]),
            "wrong_content_type",
            [202, 415, 404],
        ),
    ];
    for (wrong, verdict, reason, statuses) in wrongs {
        let mut answers = Vec::new();
        for (alice, status) in softwares(&farm, "alice").into_iter().zip(statuses) {
            let create = sut
                .activity("u1", wrong, "Create", json!("https://sut.test/n/1"))
                .to_string();
            let whole = Request::post(&alice.inbox, create.as_str());
            let key_id = sut.key_id("u1");
            let request = match wrong {
                "unsigned" => whole,
                "tampered" => whole
                    .signed(&sut, "u1")
                    .tampered(create.replace("n/1", "n/2").as_bytes()),
                "forged" => whole.signed_by(By::of(&key_id, sut.key("u2"))),
                "no_json" => Request::post(&alice.inbox, "{\"type\":").signed(&sut, "u1"),
                _ => whole.with("content-type", "text/plain").signed(&sut, "u1"),
            };
            let answer = request.send(plain(&farm)).await;
            assert_eq!(answer.status, status, "{wrong} to {}", alice.handle);
            let entry = last_entry(&farm).await;
            assert_eq!(
                json!([entry["verdict"]["result"], entry["verdict"]["reason"]]),
                verdict,
                "{wrong}"
            );
            match (wrong, status) {
                // Mastodon does not look at the type.
                ("as_text", 202) => assert_eq!(entry["outcome"], "accepted"),
                _ => {
                    assert_eq!(
                        answer.header("x-peerfarm-reason"),
                        [reason],
                        "{wrong} to {}",
                        alice.handle
                    );
                    assert_eq!(entry["outcome"], "refused");
                }
            }
            answers.push((answer.status, answer.text()));
        }
        let distinct: BTreeSet<_> = answers.iter().collect();
        assert_eq!(
            distinct.len(),
            3,
            "each software has words of its own: {answers:?}"
        );
    }
    let unsigned = async |host: &str| {
        let alice = persona(&farm, &format!("alice@{host}"));
        let create = sut.activity("u1", "unsigned", "Create", json!("x"));
        Request::post(&alice.inbox, create.to_string())
            .send(plain(&farm))
            .await
    };
    assert_eq!(
        unsigned("mastodon1.test").await.text(),
        r#"{"error":"Request not signed"}"#
    );
    assert_eq!(unsigned("misskey1.test").await.text(), "");
    assert!(unsigned("lemmy1.test").await.text().contains("invalid signature"));
    // A signature that does not hold makes nobody fetch its key anew more than once.
    assert_eq!(sut.fetches_of("/users/u1"), 2);
}

#[tokio::test]
async fn a_signature_of_somebody_else_is_not_taken() {
    let sut = Sut::start(&["u1", "u2"]).await;
    let farm = farm(&sut).start().await.unwrap();
    for (count, (alice, status)) in softwares(&farm, "alice")
        .into_iter()
        .zip([202, 202, 400])
        .enumerate()
    {
        let follow = sut.activity("u1", &format!("{count}/1"), "Follow", json!(alice.id));
        let answer = sut.deliver(plain(&farm), "u2", &alice.inbox, &follow).await;
        assert_eq!(
            (answer.status, answer.header("x-peerfarm-reason")),
            (status, vec!["signer_mismatch".into()])
        );
        let verdict = last_entry(&farm).await["verdict"].take();
        assert_eq!(
            (&verdict["result"], &verdict["reason"]),
            (&json!("invalid"), &json!("signer_mismatch"))
        );
        let counts = counted(&farm, &alice.inbox);
        assert_eq!(
            (counts.accepted, counts.refused, counts.verdicts.invalid),
            (0, 1, 1)
        );
        assert!(farm.followers(&alice.handle).unwrap().is_empty());

        // The Accept of u2's own Follow is the only one that leaves.
        let own = sut.activity("u2", &format!("{count}/2"), "Follow", json!(alice.id));
        sut.deliver(plain(&farm), "u2", &alice.inbox, &own).await;
        let received = sut.received(count + 1).await;
        let to: Vec<&str> = received.iter().map(|accept| accept.path.as_str()).collect();
        assert_eq!(to, vec!["/users/u2/inbox"; count + 1]);
    }
}

#[tokio::test]
async fn a_delete_storm_of_somebody_gone_costs_one_fetch() {
    let sut = Sut::start(&["u1", "gone", "lost"]).await;
    sut.serve_at("/users/gone", 410, json!({}));
    sut.serve_at("/users/lost", 404, json!({}));
    let farm = farm(&sut).start().await.unwrap();
    for (user, storm) in [("gone", 40), ("lost", 3)] {
        let shared = persona(&farm, "alice@mastodon1.test").shared_inbox;
        let to = plain(&farm);
        let delete = |number: u32| {
            let delete = sut.activity(user, &number.to_string(), "Delete", json!(sut.actor(user)));
            let request = Request::post(&shared, delete.to_string()).signed(&sut, user);
            tokio::spawn(async move { request.send(to).await })
        };
        let storm: Vec<_> = (0..storm).map(delete).collect();
        for answer in storm {
            let answer = answer.await.unwrap();
            let said = (answer.status, answer.header("x-peerfarm-reason"));
            assert_eq!(said, (202, vec!["key_gone".into()]));
        }
        assert_eq!(delete(99).await.unwrap().status, 202);
        assert_eq!(sut.fetches_of(&format!("/users/{user}")), 1);
        assert_eq!(last_entry(&farm).await["outcome"], "refused");
    }
    assert_eq!(
        call(&farm, "/stats").await["key_fetches"]["outcomes"],
        json!({"gone": 2})
    );
}

#[tokio::test]
async fn a_key_that_cannot_be_had_is_answered_as_the_software_does() {
    let sut = Sut::start(&["u1", "gone", "hidden"]).await;
    sut.serve_at("/users/gone", 410, json!({}));
    sut.serve_at("/users/hidden", 403, json!({}));
    let farm = farm(&sut).start().await.unwrap();
    // What a 403 hides may be back in a moment: Mastodon asks for another attempt.
    for (user, kind, reason, statuses) in [
        ("gone", "Delete", "key_gone", [202, 202, 400]),
        ("gone", "Create", "key_gone", [401, 202, 400]),
        ("hidden", "Delete", "key_fetch_failed", [503, 202, 400]),
        ("hidden", "Create", "key_fetch_failed", [503, 202, 400]),
    ] {
        for (alice, status) in softwares(&farm, "alice").into_iter().zip(statuses) {
            let id = format!("{user}/{kind}");
            let activity = sut.activity(user, &id, kind, json!(sut.actor(user)));
            let answer = sut.deliver(plain(&farm), user, &alice.inbox, &activity).await;
            assert_eq!(answer.status, status, "{kind} of {user} to {}", alice.handle);
            assert_eq!(answer.header("x-peerfarm-reason"), [reason]);
            assert_eq!(last_entry(&farm).await["verdict"]["reason"], reason);
        }
    }
    // The cache is the farm's, not the peer's.
    assert_eq!(
        (sut.fetches_of("/users/gone"), sut.fetches_of("/users/hidden")),
        (1, 1)
    );
}

#[tokio::test]
async fn one_id_counts_once_at_each_inbox() {
    let sut = Sut::start(&["u1"]).await;
    let farm = farm(&sut).start().await.unwrap();
    let create = sut.activity("u1", "c1", "Create", json!("https://sut.test/n/1"));
    let mut to: Vec<Persona> = Vec::new();
    for host in ["mastodon1.test", "misskey1.test", "mastodon2.test"] {
        to.extend(["alice", "bob"].map(|name| persona(&farm, &format!("{name}@{host}"))));
    }
    for somebody in &to {
        for _ in 0..2 {
            let answer = sut.deliver(plain(&farm), "u1", &somebody.inbox, &create).await;
            assert_eq!(answer.status, 202);
        }
        let counts = counted(&farm, &somebody.inbox);
        assert_eq!((counts.requests, counts.accepted), (2, 2));
        assert_eq!((counts.unique, counts.duplicates), (1, 1));
    }
    let totals = farm.stats().totals;
    assert_eq!((totals.requests, totals.unique, totals.duplicates), (12, 6, 6));

    // Lemmy alone says so: the second is refused, and so is no duplicate of what was taken.
    let alice = persona(&farm, "alice@lemmy1.test");
    for status in [200, 400] {
        let answer = sut.deliver(plain(&farm), "u1", &alice.inbox, &create).await;
        assert_eq!(answer.status, status);
    }
    let counts = counted(&farm, &alice.inbox);
    assert_eq!((counts.accepted, counts.refused, counts.duplicates), (1, 1, 0));
}

#[tokio::test]
async fn what_takes_no_deliveries_refuses_and_counts_them() {
    let sut = Sut::start(&["u1"]).await;
    let farm = farm(&sut).start().await.unwrap();
    for (alice, wrong_method) in softwares(&farm, "alice").into_iter().zip([404, 404, 405]) {
        let nobody = format!("{}/nobody/inbox", alice.id.rsplit_once('/').unwrap().0);
        let nothing = alice.shared_inbox.replace("/inbox", "/boxes");
        for (url, status, reason) in [
            (&nobody, 404, "unknown_recipient"),
            (&nothing, 404, "unknown_path"),
            (&alice.id, wrong_method, "wrong_method"),
        ] {
            let create = sut.activity("u1", "c1", "Create", json!("x"));
            let answer = sut.deliver(plain(&farm), "u1", url, &create).await;
            assert_eq!(answer.status, status, "{url}");
            let counts = counted(&farm, url);
            assert_eq!(
                (counts.requests, counts.refused, counts.unique),
                (1, 1, 0),
                "{url}"
            );
            let said = (
                answer.header("x-peerfarm-reason"),
                last_entry(&farm).await["verdict"]["result"].take(),
            );
            assert_eq!(said, (vec![reason.to_owned()], json!("valid")), "{url}");
        }
    }
}
