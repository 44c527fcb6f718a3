//! Commands that talk to a farm.

use serde_json::{Value, json};

use crate::support::{Control, Peerfarm};

#[test]
fn a_farm_that_is_not_there_ends_with_3_and_a_hint() {
    // Bound and dropped: nothing listens there.
    let free = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    Peerfarm::with(&format!("stats --farm http://{free}")).run().ends(
        3,
        &format!(
            "error: cannot reach the farm at `http://{free}`: connection refused; \
             hint: start it with `peerfarm serve`, or name another with `--farm URL`\n"
        ),
    );
}

#[test]
fn something_else_that_answers_is_no_farm() {
    let other = Control::answering([("GET /stats", 200, json!("hello"))]);
    other
        .peerfarm("reset")
        .run()
        .ends(3, "answers 404 Not Found and is no farm's control API");
    other
        .peerfarm("stats")
        .run()
        .ends(3, "not of this `peerfarm`'s shape");
}

#[test]
fn a_problem_of_the_farm_is_said_in_its_words() {
    let problem =
        json!({"title": "no such peer", "status": 404, "detail": "`a.test` is no host of this farm"});
    let farm = Control::answering([("GET /peers/a.test", 404, problem)]);
    farm.peerfarm("peers a.test")
        .run()
        .ends(2, "error: `a.test` is no host of this farm\n");
}

#[test]
fn peers_are_read_page_by_page() {
    let peer = |host: &str| {
        json!({"host": host, "software": "mastodon", "version": "4.5.0", "url": format!("https://{host}:7443"),
               "actor_count": 1, "actors": [{"name": "alice", "handle": "", "id": "", "inbox": "", "followers": 0, "following": 0}]})
    };
    let page = |hosts: &[&str], next: Option<&str>| {
        let mut page = json!({"peers": hosts.iter().map(|host| peer(host)).collect::<Vec<_>>()});
        if let Some(next) = next {
            page["next"] = json!(next);
        }
        page
    };
    let farm = Control::answering([
        (
            "GET /peers?limit=1000&actors=none",
            200,
            page(&["a.test", "b.test"], Some("b.test")),
        ),
        (
            "GET /peers?limit=1000&after=b.test&actors=none",
            200,
            page(&["c.test"], None),
        ),
        (
            "GET /peers?limit=3",
            200,
            page(&["a.test", "b.test"], Some("b.test")),
        ),
        (
            "GET /peers?limit=1&after=b.test",
            200,
            page(&["c.test"], Some("c.test")),
        ),
    ]);
    let all = farm.peerfarm("peers").run().ends(0, "");
    all.has_line("host software version actors url");
    all.has_line("c.test mastodon 4.5.0 1 https://c.test:7443");
    let three = farm.peerfarm("peers --limit 3 --json").run().ends(0, "");
    let three: Value = serde_json::from_str(&three.stdout).unwrap();
    assert_eq!(three, page(&["a.test", "b.test", "c.test"], None));
}

#[test]
fn a_follow_tells_what_the_server_said() {
    let delivery = |status: Value, error: Value| {
        json!({"activity": {"type": "Follow", "id": "https://mastodon1.test/f/1"},
               "deliveries": [{"inbox": "https://sut.test/inbox", "status": status, "time_ms": 3.06, "error": error,
                               "body": "who is this?"}]})
    };
    let path = |actor: &str| format!("POST /peers/mastodon1.test/actors/{actor}/follow");
    let unfound =
        json!({"title": "target not found", "detail": "`sut.test` does not resolve", "class": "dns"});
    let farm = Control::answering([
        (path("alice").as_str(), 200, delivery(json!(202), Value::Null)),
        (path("bob").as_str(), 200, delivery(json!(401), Value::Null)),
        (
            path("carol").as_str(),
            200,
            delivery(Value::Null, json!("connection refused")),
        ),
        (path("dave").as_str(), 502, unfound),
    ]);
    let follow = |actor: &str| {
        farm.peerfarm(&format!("follow {actor}@mastodon1.test:7443 @me@sut.test"))
            .run()
    };
    follow("alice")
        .ends(0, "")
        .has_line("https://sut.test/inbox: 202 in 3.1 ms");
    follow("bob").ends(1, "").has_line("who is this?");
    follow("carol")
        .ends(3, "")
        .has_line("https://sut.test/inbox: no answer after 3.1 ms: connection refused");
    follow("dave").ends(3, "error: `sut.test` does not resolve (dns)\n");
    farm.peerfarm("follow alice@mastodon1.test @me@sut.test --dialect cavage")
        .run()
        .ends(0, "");
    let heard = farm.heard();
    assert_eq!(heard[0], (path("alice"), json!({"target": "@me@sut.test"})));
    assert_eq!(heard[4].1, json!({"target": "@me@sut.test", "dialect": "cavage"}));
    farm.peerfarm("follow alice@mastodon1.test @me@sut.test --dialect latin")
        .run()
        .ends(2, "cavage, rfc9421");
}

#[test]
fn an_activity_is_sent_from_stdin_a_file_or_a_note() {
    let line = "POST /peers/lemmy1.test/actors/alice/send";
    let answer =
        json!({"deliveries": [{"inbox": "i", "status": 200, "time_ms": 1.0, "error": null, "body": ""}]});
    let farm = Control::answering([(line, 200, answer)]);
    let send = "send alice@lemmy1.test https://sut.test/me";
    let like = json!({"type": "Like", "object": "https://sut.test/1"});
    farm.peerfarm(&format!("{send} --activity -"))
        .stdin(&like.to_string())
        .run()
        .ends(0, "");
    farm.peerfarm(&format!("{send} --activity a.json"))
        .file("a.json", &like.to_string())
        .run()
        .ends(0, "");
    farm.peerfarm(&format!("{send} --note"))
        .word("hello you")
        .run()
        .ends(0, "");
    farm.peerfarm(&format!("{send} --dialect rfc9421 --note hello"))
        .run()
        .ends(0, "");
    let to = "https://sut.test/me";
    let expected = [
        json!({"to": to, "activity": like}),
        json!({"to": to, "activity": like}),
        json!({"to": to, "note": "hello you"}),
        json!({"to": to, "note": "hello", "dialect": "rfc9421"}),
    ];
    assert_eq!(farm.heard(), expected.map(|body| (line.to_owned(), body)));

    farm.peerfarm(&format!("{send} --activity -"))
        .stdin("{")
        .run()
        .ends(2, "`-` is no activity: EOF");
    farm.peerfarm(&format!("{send} --activity -"))
        .stdin("[]")
        .run()
        .ends(2, "JSON, but no object");
    farm.peerfarm(&format!("{send} --activity b.json"))
        .run()
        .ends(2, "error: cannot read `b.json`: no such file or directory\n");
    farm.peerfarm(send)
        .run()
        .ends(2, "--note <TEXT>|--activity <FILE>");
}

#[test]
fn a_wait_names_its_conditions_and_ends_with_1_when_they_do_not_hold() {
    let missing = json!({"title": "Request Timeout", "status": 408, "detail": "after 1s: unique 2 of 3",
                         "missing": [{"condition": "unique", "wanted": 3, "got": 2}]});
    let farm = Control::answering([(
        "GET /wait?host=lemmy1.test&path=%2Finbox&kind=inbox&unique=3&requests=4&quiet=500ms&timeout=1s",
        408,
        missing,
    )]);
    let wait = "wait --host lemmy1.test --path /inbox --kind inbox --unique 3 --requests 4 --quiet 0.5s --timeout 1s";
    farm.peerfarm(wait)
        .run()
        .ends(1, "")
        .has_line("after 1s: unique 2 of 3");
    farm.peerfarm(&format!("{wait} --json"))
        .run()
        .ends(1, "")
        .has_line("\"got\": 2");
}

#[test]
fn the_journal_is_asked_as_typed() {
    let entries = json!({"entries": [{
        "id": "17", "at": "2026-01-01T00:00:00.000Z", "host": "lemmy1.test", "path": "/inbox", "method": "POST",
        "kind": "inbox", "status": 400, "outcome": "refused", "delivery_id": null, "activity": "Create",
        "origin": "sut.test", "bytes": 2, "service_ms": 1.25, "faults": [],
        "verdict": {"result": "invalid", "reason": "digest_mismatch", "dialect": "cavage", "key_id": null,
                    "covered": [], "notes": [], "signature_base": null}}]});
    let farm = Control::answering([
        ("GET /journal?limit=50", 200, entries.clone()),
        (
            "GET /journal?host=lemmy1.test&verdict=invalid&since=9&limit=1",
            200,
            json!({"entries": []}),
        ),
        ("GET /journal/a%2Fb", 404, json!({"title": "no such entry"})),
        (
            "GET /journal?outcome=refused&limit=1",
            200,
            json!({"entries": []}),
        ),
    ]);
    farm.peerfarm("journal").run().ends(0, "").has_line(
        "17 2026-01-01T00:00:00.000Z lemmy1.test POST /inbox 400 refused invalid: digest_mismatch Create sut.test",
    );
    farm.peerfarm("journal --host lemmy1.test --verdict invalid --since 9 --limit 1")
        .run()
        .ends(0, "")
        .has_line("nothing has arrived that fits");
    farm.peerfarm("journal show a/b")
        .run()
        .ends(2, "error: no such entry\n");
    farm.peerfarm("journal show")
        .run()
        .ends(1, "error: no delivery was refused");
    let json = farm.peerfarm("journal --json").run().ends(0, "");
    assert_eq!(serde_json::from_str::<Value>(&json.stdout).unwrap(), entries);
}
