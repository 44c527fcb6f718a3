//! Deliveries that are wrong on purpose: each in its one way, and what is told of who takes them.

use peerfarm::Running;
use serde_json::{Value, json};

use crate::support::{
    Api, FREE, Meets, Peerfarm, Said, Sut, counted, farm, farm_with, last_entry, oracle, persona, plain, raw,
    with,
};

const DIALECTS: [&str; 2] = ["cavage", "rfc9421"];

/// Each name with the verdict it must get, the same in both dialects where one stands there.
const NAMES: [(&str, &[&str]); 14] = [
    ("unsigned", &["unsigned"]),
    ("corrupt", &["signature_mismatch"]),
    ("wrong-key", &["signature_mismatch"]),
    ("bad-digest", &["digest_mismatch"]),
    ("no-digest", &["digest_missing"]),
    ("uncovered-digest", &["digest_not_signed"]),
    ("stale", &["date_too_old"]),
    ("future", &["date_in_future", "created_in_future"]),
    ("expired", &["expired"]),
    ("foreign-key-id", &["signature_mismatch"]),
    ("foreign-owner", &["key_owner_mismatch"]),
    ("replay", &["valid"]),
    ("foreign-actor", &["signer_mismatch"]),
    // Who wrote an object is no question of signatures.
    ("foreign-object", &["valid"]),
];

#[tokio::test]
async fn each_is_wrong_in_one_way_alone_in_either_dialect() {
    let sut = Sut::start(&[]).await;
    let farm = farm(&sut).start().await.unwrap();
    let to = persona(&farm, "bob@mastodon2.test").id;
    for (index, dialect) in DIALECTS.into_iter().enumerate() {
        let honest = send(&farm, json!({"to": to, "note": "hello", "dialect": dialect})).await;
        assert_eq!(honest["deliveries"][0]["status"], 202, "{honest}");
        assert!(honest.get("misbehaviour").is_none(), "{honest}");
        assert_eq!(last_verdict(&farm).await["result"], "valid");

        for (name, expected) in NAMES {
            let body = json!({"to": to, "note": "hello", "dialect": dialect, "misbehave": name});
            let sent = send(&farm, body).await;
            let verdict = last_verdict(&farm).await;
            let expected = expected.get(index).or(expected.first()).unwrap();
            let judged = match verdict["result"].as_str().unwrap() {
                "invalid" => verdict["reason"].as_str().unwrap(),
                result => result,
            };
            assert_eq!(judged, *expected, "{dialect} {name}: {verdict}");
            // There are findings where more than one thing is wrong. Whose key it is follows from the key id.
            let more = verdict.get("findings").is_some();
            assert_eq!(more, name == "foreign-key-id", "{dialect} {name}: {verdict}");

            // Mastodon takes what another signed and drops it later, and a duplicate likewise.
            let taken = ["replay", "foreign-actor", "foreign-object"].contains(&name);
            let told = json!([sent["misbehaviour"], sent["expected"], sent["finding"]]);
            assert_eq!(told, json!([name, "refused", taken]), "{dialect}: {sent}");
            let status = if taken { 202 } else { 401 };
            let statuses = sent["deliveries"].as_array().unwrap().iter();
            let count = statuses
                .inspect(|one| assert_eq!(one["status"], status, "{sent}"))
                .count();
            assert_eq!(count, if name == "replay" { 2 } else { 1 }, "{sent}");
        }
    }
}

#[tokio::test]
async fn what_was_sent_is_shown_as_it_arrived() {
    let sut = Sut::start(&[]).await;
    let farm = farm(&sut).start().await.unwrap();
    let to = persona(&farm, "bob@mastodon2.test").id;
    for (name, _) in NAMES {
        let sent = send(&farm, json!({"to": to, "note": "hello", "misbehave": name})).await;
        let id = last_entry(&farm).await["id"].as_str().unwrap().to_owned();
        let entry = Api::of(&farm).get(&format!("/journal/{id}")).await;
        for what in ["method", "target", "headers", "body"] {
            assert_eq!(sent["request"][what], entry[what], "{name}");
        }
        assert_eq!(
            sent["activity"].to_string(),
            entry["body"].as_str().unwrap(),
            "{name}"
        );
    }
}

#[tokio::test]
async fn a_replay_is_the_same_bytes_and_counts_once() {
    let sut = Sut::start(&["me"]).await;
    let farm = farm(&sut).start().await.unwrap();
    let to = persona(&farm, "bob@mastodon2.test");
    send(
        &farm,
        json!({"to": to.id, "note": "hello", "misbehave": "replay"}),
    )
    .await;
    let counts = counted(&farm, &to.shared_inbox);
    assert_eq!((counts.accepted, counts.unique, counts.duplicates), (2, 1, 1));

    // Lemmy tells one it had before.
    let to = persona(&farm, "bob@lemmy1.test").id;
    let sent = send(&farm, json!({"to": to, "note": "hello", "misbehave": "replay"})).await;
    let statuses = json!([sent["deliveries"][0]["status"], sent["deliveries"][1]["status"]]);
    assert_eq!((statuses, &sent["finding"]), (json!([200, 400]), &json!(false)));

    send(
        &farm,
        json!({"to": sut.actor("me"), "note": "hello", "misbehave": "replay"}),
    )
    .await;
    let [first, second] = sut.received(2).await.try_into().unwrap();
    assert_eq!((first.headers, first.body), (second.headers, second.body));

    // Who refuses the first has not been tried.
    sut.meets("POST", "cavage", Meets::Refusal(401));
    let body = json!({"to": sut.actor("me"), "note": "hello", "misbehave": "replay"});
    let sent = send(&farm, body).await;
    assert_eq!(sent["finding"], Value::Null);
    assert_eq!(sent["deliveries"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn another_implementation_sees_what_is_wrong_and_that_the_rest_is_right() {
    let sut = Sut::start(&["me"]).await;
    let farm = farm(&sut).start().await.unwrap();
    let own = key_of(&farm, "alice@mastodon1.test").await;
    let others = key_of(&farm, "alice@mastodon2.test").await;
    let as_others = with(own.clone(), "id", others["id"].clone());
    let mut seen = 0;
    for (name, holds, holds_at_least) in [
        ("unsigned", false, false),
        ("corrupt", false, false),
        ("wrong-key", false, false),
        ("bad-digest", false, true),
        ("no-digest", false, true),
        ("uncovered-digest", false, true),
        ("stale", false, true),
        ("future", false, true),
        // It does not ask until when a signature holds.
        ("expired", true, true),
        ("foreign-key-id", false, false),
        ("replay", true, true),
        ("foreign-actor", true, true),
        ("foreign-object", true, true),
    ] {
        let body = json!({"to": sut.actor("me"), "note": "hello", "dialect": "cavage", "misbehave": name});
        send(&farm, body).await;
        seen += if name == "replay" { 2 } else { 1 };
        let received = sut.received(seen).await.pop().unwrap();
        assert_eq!(
            oracle::signer(&received, &own).is_some(),
            holds,
            "{name}: {received:?}"
        );
        assert_eq!(
            oracle::signer_at_least(&received, &own).is_some(),
            holds_at_least,
            "{name}: {received:?}"
        );
        if name == "foreign-key-id" {
            // The key id is another's, the key the sender's own.
            assert!(oracle::signer(&received, &others).is_none());
            assert!(oracle::signer(&received, &as_others).is_some());
        }
        if name == "expired" {
            let signature = received.header("signature").unwrap();
            assert!(
                signature.contains("(expires)") && signature.contains(r#"algorithm="hs2019""#),
                "{signature}"
            );
        }
    }
}

#[tokio::test]
async fn what_is_foreign_is_of_a_host_that_is_neither_side() {
    let sut = Sut::start(&["me"]).await;
    let farm = farm(&sut).start().await.unwrap();
    let alice = persona(&farm, "alice@mastodon1.test").id;
    let third = persona(&farm, "alice@mastodon2.test").id;
    let like = json!({"type": "Like", "object": "https://sut.test/notes/1"});
    let create = json!({"type": "Create", "object": {"type": "Note", "content": "hello"}});
    let note = json!("hello");
    for (name, what, value, actor, author) in [
        ("foreign-actor", "note", &note, &third, Some(&third)),
        ("foreign-actor", "activity", &like, &third, None),
        ("foreign-owner", "note", &note, &third, Some(&third)),
        ("foreign-object", "note", &note, &alice, Some(&third)),
        ("foreign-object", "activity", &create, &alice, Some(&third)),
        ("foreign-key-id", "note", &note, &alice, Some(&alice)),
    ] {
        let sent = send(
            &farm,
            json!({"to": sut.actor("me"), what: value, "misbehave": name}),
        )
        .await;
        let activity = &sent["activity"];
        assert_eq!(activity["actor"], json!(actor), "{name}: {activity}");
        assert_eq!(
            origin(&activity["id"]),
            origin(&json!(actor)),
            "{name}: {activity}"
        );
        if let Some(author) = author {
            let object = &activity["object"];
            assert_eq!(object["attributedTo"], json!(author), "{name}: {activity}");
            assert_eq!(
                origin(&object["id"]),
                origin(&json!(author)),
                "{name}: {activity}"
            );
            // Nothing speaks for what is forged.
            let id = object["id"].as_str().unwrap();
            assert_eq!(raw::get(plain(&farm), id, None).await.status, 404, "{name}: {id}");
        }
    }
    // Where the next peer is the receiver, it is the one behind.
    let to = persona(&farm, "bob@mastodon2.test").id;
    let sent = send(
        &farm,
        json!({"to": to, "note": "hello", "misbehave": "foreign-actor"}),
    )
    .await;
    assert_eq!(
        sent["activity"]["actor"],
        persona(&farm, "alice@mastodon3.test").id
    );
}

#[tokio::test]
async fn a_key_that_claims_to_be_anothers_is_served_once_it_was_asked_for() {
    let sut = Sut::start(&["me"]).await;
    let farm = farm(&sut).start().await.unwrap();
    let alice = persona(&farm, "alice@mastodon1.test").id;
    send(
        &farm,
        json!({"to": sut.actor("me"), "note": "hello", "misbehave": "foreign-owner"}),
    )
    .await;
    let received = sut.received(1).await.remove(0);
    let signature = received.header("signature").unwrap();
    let key_id = signature.split('"').nth(1).unwrap();
    assert_eq!(origin(&json!(key_id)), origin(&json!(alice)));

    let answer = raw::get(plain(&farm), key_id, None).await;
    assert_eq!(
        answer.header("content-type"),
        ["application/activity+json; charset=utf-8"]
    );
    let key = answer.ok();
    assert_eq!(key["id"], key_id);
    assert_eq!(key["owner"], persona(&farm, "alice@mastodon2.test").id);
    assert_eq!(oracle::signer(&received, &key).as_deref(), Some(key_id));

    let (folder, name) = key_id.rsplit_once('/').unwrap();
    for nothing in [
        format!("{folder}/{}", "0".repeat(name.len())),
        format!("{folder}/"),
        key_id.replace("mastodon1", "mastodon2"),
    ] {
        assert_eq!(
            raw::get(plain(&farm), &nothing, None).await.status,
            404,
            "{nothing}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_exit_code_tells_whether_it_was_let_in() {
    let sut = Sut::start(&["me", "gone"]).await;
    let farm = farm(&sut).start().await.unwrap();
    let inbox = format!("{}/inbox", sut.origin());
    let bad_digest = async |to: String| said(&farm, format!("{to} --misbehave bad-digest")).await;

    let finding = format!("finding: {inbox} took (202) a delivery whose digest is of another body");
    let said_of = bad_digest(sut.actor("me")).await.ends(1, "");
    said_of.has_line(&finding);

    sut.meets("POST", "cavage", Meets::Refusal(401));
    let refused = format!("as expected: {inbox} refused (401) a delivery whose digest is of another body");
    bad_digest(sut.actor("me")).await.ends(0, "").has_line(&refused);

    let nothing = std::net::TcpListener::bind(FREE).unwrap().local_addr().unwrap();
    let closed = format!("http://sut.test:{}/inbox", nothing.port());
    let document = with(
        sut.actor_document("gone"),
        "endpoints",
        json!({"sharedInbox": closed}),
    );
    sut.serve_at("/users/gone", 200, document);
    let silent = format!("undecided: {closed} did not answer a delivery whose digest is of another body");
    bad_digest(sut.actor("gone")).await.ends(3, "").has_line(&silent);

    let dialect = format!("{} --misbehave corrupt --dialect rfc9421 --json", sut.actor("me"));
    let said = said(&farm, dialect).await.ends(1, "");
    let answer: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(
        (&answer["misbehaviour"], &answer["finding"]),
        (&json!("corrupt"), &json!(true))
    );
    assert!(!said.stdout.contains("PRIVATE"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_sent_is_judged_from_what_is_printed_as_it_was_on_arrival() {
    let sut = Sut::start(&[]).await;
    let farm = farm(&sut).start().await.unwrap();
    let to = persona(&farm, "bob@mastodon2.test").id;
    let key = json!(key_of(&farm, "alice@mastodon1.test").await).to_string();
    for (dialect, name) in [("cavage", "stale"), ("rfc9421", "expired"), ("rfc9421", "replay")] {
        let words = format!("{to} --misbehave {name} --dialect {dialect} --json");
        let printed = said(&farm, words).await.stdout;
        let judged = Peerfarm::with("verify - --key key --past 65m --json")
            .stdin(&printed)
            .file("key", &key);
        let judged = tokio::task::spawn_blocking(move || judged.run()).await.unwrap();
        let judged: Value = serde_json::from_str(&judged.stdout).unwrap();
        let verdict = last_verdict(&farm).await;
        for what in ["result", "reason", "covered", "signature_base"] {
            assert_eq!(judged["verdict"][what], verdict[what], "{name}: {judged}");
        }
    }
}

#[test]
fn the_help_says_what_each_is() {
    let help = Peerfarm::with("send --help").run().ends(0, "");
    for (name, _) in NAMES {
        assert!(
            help.stdout.contains(&format!("- {name}:")),
            "{name}\n--\n{}",
            help.stdout
        );
    }
    assert!(
        help.stdout
            .contains("bad-digest:       a delivery whose digest is of another body")
    );
    Peerfarm::with("send alice@a.test @me@b.test --note a --misbehave bad-key")
        .run()
        .ends(2, "possible values: unsigned, corrupt, wrong-key");
}

#[tokio::test]
async fn what_cannot_be_is_refused_and_nothing_leaves() {
    let sut = Sut::start(&["me"]).await;
    let (me, resolve) = (sut.actor("me"), sut.resolve());
    let of = |roster: &'static str| {
        let resolve = resolve.parse().unwrap();
        farm_with(move |settings| {
            settings.roster = Some(roster.parse().unwrap());
            settings.resolve = vec![resolve];
        })
    };
    let (one, _state) = of("mastodon=1").await;
    let (two, _other_state) = of("mastodon=2").await;
    let bob = persona(&two, "bob@mastodon2.test").id;
    let like = json!({"type": "Like", "object": "https://sut.test/notes/1"});
    for (farm, body, why) in [
        (
            &one,
            json!({"to": me, "note": "a", "misbehave": "bad-key"}),
            "`bad-key`, expected one of `unsigned`, `corrupt`",
        ),
        (
            &one,
            json!({"to": me, "note": "a", "misbehave": "foreign-actor"}),
            "needs 2 peers and has 1",
        ),
        (
            &two,
            json!({"to": bob, "note": "a", "misbehave": "foreign-key-id"}),
            "needs 3 peers and has 2",
        ),
        (
            &two,
            json!({"to": me, "activity": like, "misbehave": "foreign-object"}),
            "whose `object` is an object",
        ),
        (&two, json!({"to": me, "misbehave": "corrupt"}), "either `note`"),
    ] {
        let answer = Api::of(farm).tell("send", body.clone()).await;
        let problem = answer.json();
        let detail = problem["detail"].as_str().unwrap();
        assert!(answer.status == 422 && detail.contains(why), "{body}: {problem}");
    }
    assert!(sut.received(0).await.is_empty());
    assert_eq!(two.stats().totals.requests, 0);
}

async fn send(farm: &Running, body: Value) -> Value {
    Api::of(farm).tell("send", body).await.ok()
}

/// What `send alice@mastodon1.test` with these words and a note says.
async fn said(farm: &Running, words: String) -> Said {
    let url = farm.url();
    let run = move || {
        Peerfarm::with(&format!("send alice@mastodon1.test {words} --note hello"))
            .env("PEERFARM_FARM", &url)
            .run()
    };
    tokio::task::spawn_blocking(run).await.unwrap()
}

/// The verdict on the delivery that came last.
async fn last_verdict(farm: &Running) -> Value {
    let mut entries = Api::of(farm).get("/journal?kind=inbox&limit=1").await;
    entries["entries"][0]["verdict"].take()
}

/// The key in an actor's document.
async fn key_of(farm: &Running, handle: &str) -> Value {
    let answer = raw::get(plain(farm), &persona(farm, handle).id, None).await;
    answer.ok()["publicKey"].clone()
}

fn origin(url: &Value) -> String {
    let url = url::Url::parse(url.as_str().unwrap()).unwrap();
    url.origin().ascii_serialization()
}
