//! The control API of a running farm, over its own listeners.

use std::net::{Ipv4Addr, SocketAddr};

use http::HeaderMap;
use peerfarm::Running;
use peerfarm::command::serve::Settings;
use peerfarm::farm::Who;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::raw::{self, Answer};
use crate::support::{DEADLINE, Sut, farm};

/// What a test asks of a farm.
struct Asker {
    to: SocketAddr,
    headers: HeaderMap,
}

impl Asker {
    fn of(running: &Running) -> Asker {
        Asker::at(running.addresses().control)
    }

    fn at(to: SocketAddr) -> Asker {
        Asker {
            to,
            headers: HeaderMap::from_iter([named("host", &to.to_string())]),
        }
    }

    fn with(mut self, name: &'static str, value: &str) -> Asker {
        let (name, value) = named(name, value);
        self.headers.insert(name, value);
        self
    }

    async fn get(&self, target: &str) -> Answer {
        raw::send(self.to, "GET", target, &self.headers, b"").await
    }

    async fn json(&self, target: &str) -> Value {
        let answer = self.get(target).await;
        assert_eq!(
            (answer.status, answer.header("content-type")),
            (200, vec!["application/json".to_owned()])
        );
        answer.json()
    }

    async fn post(&self, target: &str, body: &[u8]) -> Answer {
        raw::send(self.to, "POST", target, &self.headers, body).await
    }

    /// The status, and what the problem says to a person.
    async fn refused(&self, method: &str, target: &str, body: &[u8]) -> (u16, String) {
        let answer = raw::send(self.to, method, target, &self.headers, body).await;
        assert_eq!(
            answer.header("content-type"),
            ["application/problem+json"],
            "{answer:?}"
        );
        let problem = answer.json();
        assert_eq!(problem["status"], answer.status);
        assert_eq!(problem["type"], "about:blank");
        assert!(problem["title"].is_string());
        (answer.status, problem["detail"].as_str().unwrap().to_owned())
    }
}

fn named(name: &'static str, value: &str) -> (http::HeaderName, http::HeaderValue) {
    (http::HeaderName::from_static(name), value.parse().unwrap())
}

#[tokio::test]
async fn what_is_asked_of_the_api_counts_nowhere() {
    let running = farm(&Sut::start(&[]).await).start().await.unwrap();
    let api = Asker::of(&running);
    for target in [
        "/",
        "/healthz",
        "/stats",
        "/stats/hooks",
        "/metrics",
        "/peers",
        "/peers/mastodon1.test",
        "/journal",
        "/wait?requests=0",
        "/nothing",
        "/journal/1",
        "/hook",
    ] {
        api.get(target).await;
    }
    assert_eq!(running.stats().totals.requests, 0);
    // A hook of that name is another path, and no call.
    assert_eq!(api.post("/hook/stats", b"{}").await.json(), json!({"ok": true}));
    let stats = api.json("/stats").await;
    assert_eq!(stats["totals"]["requests"], 1);
    assert_eq!(
        stats["hosts"]["hooks.test"]["paths"]["/hook/stats"]["requests"],
        1
    );
    assert_eq!(stats["connections"]["accepted"], 0);
}

#[tokio::test]
async fn what_is_asked_wrongly_is_told_what_would_be_right() {
    let running = farm(&Sut::start(&[]).await).start().await.unwrap();
    let api = Asker::of(&running);
    let (status, detail) = api.refused("GET", "/stat", b"").await;
    assert_eq!(status, 404);
    assert!(detail.contains("`/stats`"), "{detail}");
    assert_eq!(
        api.refused("GET", "/reset", b"").await,
        (405, "`/reset` takes POST alone".to_owned())
    );
    assert_eq!(api.get("/reset").await.header("allow"), ["POST"]);
    assert_eq!(api.post("/stats", b"").await.header("allow"), ["GET, HEAD"]);
    let (status, detail) = api.refused("GET", "/stats?hots=a.test", b"").await;
    assert_eq!(status, 400);
    assert_eq!(
        detail,
        "there is no parameter `hots` here: this call takes `host`, `path`, `kind`"
    );
    let (status, detail) = api.refused("POST", "/reset?faults=1", b"").await;
    assert_eq!(
        (status, detail.as_str()),
        (400, "there is no parameter `faults` here: this call takes none")
    );
    for target in [
        "/journal?limit=1001",
        "/journal?verdict=good",
        "/journal?kind=inboxes",
        "/journal?since=yesterday",
        "/peers?limit=0",
        // A typo is likelier than a wait for what cannot come.
        "/journal?host=mastodon1.tset",
        "/stats?host=mastodon1.tset",
        "/wait?host=mastodon1.tset&requests=1",
    ] {
        assert_eq!(api.refused("GET", target, b"").await.0, 400, "{target}");
    }
    assert_eq!(api.refused("GET", "/peers/nobody.test", b"").await.0, 404);
}

#[tokio::test]
async fn foreign_names_and_pages_are_turned_away() {
    let running = farm(&Sut::start(&[]).await).start().await.unwrap();
    let rebound = Asker::of(&running).with("host", "evil.test");
    assert_eq!(rebound.refused("GET", "/stats", b"").await.0, 421);
    assert_eq!(rebound.refused("POST", "/hook/a", b"{}").await.0, 421);
    let page = Asker::of(&running).with("origin", "https://evil.test");
    assert_eq!(page.refused("POST", "/reset", b"").await.0, 403);
    assert_eq!(
        Asker::of(&running)
            .with("host", "localhost:1")
            .get("/stats")
            .await
            .status,
        200
    );
}

#[tokio::test]
async fn the_hooks_listener_has_hooks_stats_and_reset_alone() {
    let free = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let state = tempfile::tempdir().unwrap();
    let settings = Settings {
        listen: vec![free],
        control: free,
        hooks: Some(free),
        state: state.path().to_owned(),
        ..Settings::default()
    };
    let running = peerfarm::Farm::builder()
        .settings(settings)
        .start()
        .await
        .unwrap();
    // As a container of the same compose project knows it.
    let hooks = Asker::at(running.addresses().hooks.unwrap()).with("host", "farm:8080");
    assert_eq!(hooks.post("/hook/a", b"{}").await.status, 200);
    assert_eq!(hooks.json("/stats/hooks").await["/hook/a"]["unique"], 1);
    assert_eq!(hooks.json("/healthz").await, json!({"status": "ok"}));
    for target in [
        "/",
        "/peers",
        "/journal",
        "/metrics",
        "/events",
        "/wait?requests=0",
    ] {
        assert_eq!(hooks.refused("GET", target, b"").await.0, 404, "{target}");
    }
    let command = "/peers/mastodon1.test/actors/alice/follow";
    assert_eq!(hooks.refused("POST", command, b"{}").await.0, 404);
    assert_eq!(hooks.post("/reset", b"").await.json()["totals"]["requests"], 1);
    let page = hooks.with("origin", "http://farm:8080");
    assert_eq!(page.refused("POST", "/reset", b"").await.0, 403);
}

#[tokio::test]
async fn a_reset_closes_counters_and_journal_together() {
    let running = farm(&Sut::start(&[]).await).seed(7).start().await.unwrap();
    let api = Asker::of(&running);
    for body in [r#"{"id": 1}"#, r#"{"id": 1}"#, r#"{"id": 2}"#] {
        api.post("/hook/a", body.as_bytes()).await;
    }
    let closed = api.post("/reset", b"").await.json();
    assert_eq!(
        (closed["generation"].clone(), closed["seed"].clone()),
        (json!(1), json!(7))
    );
    let path = &closed["hosts"]["hooks.test"]["paths"]["/hook/a"];
    assert_eq!(
        (
            path["requests"].clone(),
            path["unique"].clone(),
            path["duplicates"].clone()
        ),
        (json!(3), json!(2), json!(1))
    );
    assert_eq!(closed["bounds"]["journal_evicted"], 0);
    let anew = api.json("/stats").await;
    assert_eq!(
        (anew["generation"].clone(), anew["totals"]["requests"].clone()),
        (json!(2), json!(0))
    );
    assert_eq!(api.json("/journal").await, json!({"entries": []}));
    assert_eq!(api.json("/stats/hooks").await, json!({}));
}

#[tokio::test]
async fn the_flat_view_counts_what_was_not_taken_as_failed() {
    let zero = peerfarm::units::Span::ZERO;
    let running = farm(&Sut::start(&[]).await)
        .hooks(zero, zero, 1.0)
        .start()
        .await
        .unwrap();
    let api = Asker::of(&running);
    assert_eq!(api.post("/hook/a", b"{}").await.status, 500);
    let hook = api.json("/stats/hooks").await["/hook/a"].clone();
    let expected = json!({
        "requests": 1, "failures": 1, "unique": 0, "duplicates": 0,
        "first_success_ms":
            {"count": 0, "min": null, "mean": null, "p50": null, "p95": null, "p99": null, "max": null},
    });
    assert_eq!(hook, expected);
}

#[tokio::test]
async fn the_journal_is_filtered_and_shows_one_entry_whole() {
    let running = farm(&Sut::start(&[]).await).start().await.unwrap();
    let api = Asker::of(&running).with("x-sent-at", "1700000000000");
    api.post("/hook/a?x=1", br#"{"id": "one"}"#).await;
    api.post("/hook/b", b"\xff\x00").await;
    let entries = |answer: Value| answer["entries"].as_array().unwrap().clone();
    let all = entries(api.json("/journal").await);
    let paths: Vec<&Value> = all.iter().map(|entry| &entry["path"]).collect();
    assert_eq!(paths, ["/hook/b", "/hook/a"], "newest first");
    assert!(all[0].get("body").is_none());
    assert_eq!(entries(api.json("/journal?limit=1").await)[0], all[0]);
    assert_eq!(entries(api.json("/journal?path=/hook/a").await), [all[1].clone()]);
    assert_eq!(
        entries(api.json("/journal?host=mastodon1.test").await),
        [] as [Value; 0]
    );
    let first = all[1]["id"].as_str().unwrap();
    assert_eq!(
        entries(api.json(&format!("/journal?since={first}")).await),
        [all[0].clone()]
    );
    assert_eq!(
        entries(api.json("/journal?since=2020-01-01T00:00:00+00:00").await).len(),
        2
    );
    assert_eq!(
        entries(api.json("/journal?since=2999-01-01T00:00:00Z").await).len(),
        0
    );

    let whole = api.json(&format!("/journal/{first}")).await;
    assert_eq!(whole["target"], "/hook/a?x=1");
    assert_eq!(whole["body"], r#"{"id": "one"}"#);
    assert_eq!(whole["delivery_id"], "one");
    assert!(
        whole["headers"]
            .as_array()
            .unwrap()
            .contains(&json!(["x-sent-at", "1700000000000"]))
    );
    let second = api
        .json(&format!("/journal/{}", all[0]["id"].as_str().unwrap()))
        .await;
    // printf '\xff\x00' | base64
    assert_eq!(
        (second["body_base64"].clone(), second.get("body")),
        (json!("/wA="), None)
    );
}

#[tokio::test]
async fn a_wait_ends_when_all_holds() {
    let running = farm(&Sut::start(&[]).await).start().await.unwrap();
    let api = Asker::of(&running);
    let wait = api.get("/wait?path=/hook/a&unique=2&requests=3&timeout=20s");
    let deliveries = async {
        for body in [r#"{"id": 1}"#, r#"{"id": 1}"#, r#"{"id": 2}"#] {
            api.post("/hook/b", body.as_bytes()).await;
            api.post("/hook/a", body.as_bytes()).await;
        }
    };
    let (answer, ()) = tokio::join!(wait, deliveries);
    let totals = answer.json()["totals"].clone();
    assert_eq!(
        (
            answer.status,
            totals["requests"].clone(),
            totals["unique"].clone()
        ),
        (200, json!(3), json!(2))
    );
}

#[tokio::test]
async fn a_wait_that_runs_out_says_what_was_missing() {
    let running = farm(&Sut::start(&[]).await).start().await.unwrap();
    let api = Asker::of(&running);
    api.post("/hook/a", b"{}").await;
    let answer = api.get("/wait?unique=2&requests=1&quiet=1h&timeout=50ms").await;
    let problem = answer.json();
    assert_eq!(
        (answer.status, problem["title"].as_str()),
        (408, Some("Request Timeout"))
    );
    let missing = problem["missing"].as_array().unwrap();
    assert_eq!(missing[0], json!({"condition": "unique", "wanted": 2, "got": 1}));
    assert_eq!(
        (missing[1]["condition"].clone(), missing[1]["wanted"].clone()),
        (json!("quiet"), json!("1h"))
    );
    assert_eq!(missing.len(), 2);
}

#[tokio::test]
async fn what_a_fault_holds_does_not_keep_it_from_being_quiet() {
    let running = farm(&Sut::start(&[]).await).start().await.unwrap();
    let api = Asker::of(&running);
    let mut hanging = TcpStream::connect(api.to).await.unwrap();
    let head = raw::head("GET", "/hook/hang-1", &api.headers, 0);
    hanging.write_all(&head).await.unwrap();
    let answer = api.get("/wait?requests=1&quiet=100ms&timeout=20s").await;
    assert_eq!(
        (answer.status, answer.json()["totals"]["in_flight"].clone()),
        (200, json!(1))
    );
}

#[tokio::test]
async fn events_tell_of_deliveries_and_fetches_and_end_with_the_farm() {
    let running = farm(&Sut::start(&[]).await).start().await.unwrap();
    let api = Asker::of(&running);
    let mut events = TcpStream::connect(api.to).await.unwrap();
    events
        .write_all(&raw::head("GET", "/events", &api.headers, 0))
        .await
        .unwrap();
    read_until(&mut events, ": from here on\n\n").await;
    api.post("/hook/a", b"{}").await;
    let told = read_until(&mut events, "\n\n").await;
    assert!(
        told.contains("event: delivery\nid: 1\ndata: {\"id\":\"1\","),
        "{told}"
    );
    let peer = running.peer("mastodon1.test").unwrap();
    raw::get(
        running.addresses().listen_http.unwrap(),
        &peer.actor_url(Who::Actor(0)),
        None,
    )
    .await;
    let told = read_until(&mut events, "\n\n").await;
    assert!(told.contains("event: fetch\nid: 2\n"), "{told}");
    running.shutdown().await;
    let mut rest = Vec::new();
    tokio::time::timeout(DEADLINE, events.read_to_end(&mut rest))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(rest, b"0\r\n\r\n", "the body ends as a body does");
}

#[tokio::test]
async fn peers_are_listed_page_by_page() {
    let running = farm(&Sut::start(&[]).await).actors(3).start().await.unwrap();
    let api = Asker::of(&running);
    let all = api.json("/peers").await;
    let hosts = |answer: &Value| -> Vec<String> {
        let peers = answer["peers"].as_array().unwrap().iter();
        peers
            .map(|peer| peer["host"].as_str().unwrap().to_owned())
            .collect()
    };
    let expected: Vec<String> = running.peers().iter().map(|peer| peer.host.to_string()).collect();
    assert_eq!((hosts(&all), all.get("next")), (expected.clone(), None));
    let page = api.json("/peers?limit=2").await;
    assert_eq!(
        (hosts(&page), page["next"].clone()),
        (expected[..2].to_vec(), json!(expected[1]))
    );
    let page = api.json(&format!("/peers?after={}", expected[1])).await;
    assert_eq!((hosts(&page), page.get("next")), (expected[2..].to_vec(), None));

    let one = api.json(&format!("/peers/{}", expected[0])).await;
    let one = &one["peers"][0];
    assert_eq!(one["actors"], all["peers"][0]["actors"]);
    assert_eq!(one["facts"]["timeouts"].as_str().map(str::is_empty), Some(false));
    let peer = running.peer(&expected[0]).unwrap();
    assert_eq!(one["url"], peer.origin);
    assert_eq!(one["actors"][1]["id"], peer.actor_url(Who::Actor(1)));
    assert_eq!(one["actors"][1]["handle"], peer.handle(Who::Actor(1)));
    let page = api
        .json(&format!("/peers/{}?limit=1&after=alice", expected[0]))
        .await;
    assert_eq!(
        (
            page["peers"][0]["actors"][0]["name"].clone(),
            page["next"].clone()
        ),
        (json!("bob"), json!("bob"))
    );
    let brief = api.json("/peers?actors=none").await;
    assert_eq!(brief["peers"][0]["actors"], json!([]));
    assert_eq!(brief["peers"][0]["actor_count"], peer.actors);
}

#[tokio::test]
async fn an_actor_follows_sends_and_unfollows() {
    let sut = Sut::start(&["me"]).await;
    let running = farm(&sut).start().await.unwrap();
    let api = Asker::of(&running);
    let tell = async |deed: &str, body: Value| {
        let target = format!("/peers/mastodon1.test/actors/alice/{deed}");
        api.post(&target, body.to_string().as_bytes()).await.json()
    };
    let followed = tell("follow", json!({"target": sut.actor("me")})).await;
    let delivery = &followed["deliveries"][0];
    assert_eq!(
        (delivery["status"].clone(), delivery["inbox"].clone()),
        (json!(202), json!(sut.actor("me") + "/inbox"))
    );
    assert!(delivery["time_ms"].as_f64().unwrap() > 0.0);
    assert_eq!(followed["activity"]["type"], "Follow");
    let noted = tell("send", json!({"to": sut.actor("me"), "note": "hello"})).await;
    assert_eq!(noted["activity"]["type"], "Create");
    let like = json!({"type": "Like", "object": "https://sut.test/1"});
    let sent = tell("send", json!({"to": sut.actor("me"), "activity": like})).await;
    assert_eq!(
        (
            sent["activity"]["type"].clone(),
            sent["activity"]["object"].clone()
        ),
        (json!("Like"), like["object"].clone())
    );
    let undone = tell("unfollow", json!({"target": sut.actor("me")})).await;
    assert_eq!(undone["activity"]["object"]["id"], followed["activity"]["id"]);
    let received = sut.received(4).await;
    let kinds: Vec<Value> = received.iter().map(|one| one.json()["type"].clone()).collect();
    assert_eq!(kinds, ["Follow", "Create", "Like", "Undo"]);
}

#[tokio::test]
async fn a_command_that_cannot_be_is_refused_and_nothing_leaves() {
    let sut = Sut::start(&["me"]).await;
    let running = farm(&sut).start().await.unwrap();
    let api = Asker::of(&running);
    let alice = "/peers/mastodon1.test/actors/alice";
    let me = sut.actor("me");
    let cases = [
        ("follow", "{".to_owned(), 400, "the body is no JSON"),
        ("follow", "{}".to_owned(), 422, "missing field `target`"),
        (
            "follow",
            format!(r#"{{"target": "{me}", "as": 1}}"#),
            422,
            "unknown field `as`",
        ),
        (
            "follow",
            r#"{"target": "me"}"#.to_owned(),
            422,
            "`me` is neither a handle",
        ),
        ("send", format!(r#"{{"to": "{me}"}}"#), 422, "either `note`"),
        (
            "send",
            format!(r#"{{"to": "{me}", "note": "a", "activity": {{}}}}"#),
            422,
            "either `note`",
        ),
        (
            "send",
            format!(r#"{{"to": "{me}", "activity": []}}"#),
            422,
            "invalid type: sequence",
        ),
        (
            "unfollow",
            format!(r#"{{"target": "{me}"}}"#),
            409,
            "does not follow",
        ),
        (
            "follow",
            r#"{"target": "https://203.0.113.7/me"}"#.to_owned(),
            403,
            "--allow-target",
        ),
        (
            "follow",
            r#"{"target": "http://127.0.0.1:1/me"}"#.to_owned(),
            502,
            "127.0.0.1",
        ),
    ];
    for (deed, body, status, words) in cases {
        let (got, detail) = api
            .refused("POST", &format!("{alice}/{deed}"), body.as_bytes())
            .await;
        assert!(
            got == status && detail.contains(words),
            "{deed} {body}: {got} {detail}"
        );
    }
    let unreached = api
        .post(
            &format!("{alice}/follow"),
            br#"{"target": "http://127.0.0.1:1/me"}"#,
        )
        .await;
    assert_eq!(unreached.json()["class"], "refused");
    let nobody = "/peers/mastodon1.test/actors/nobody/follow";
    assert_eq!(api.refused("POST", nobody, b"{}").await.0, 404);
    let large = vec![b' '; 1024 * 1024 + 1];
    assert_eq!(api.refused("POST", &format!("{alice}/send"), &large).await.0, 413);
    assert!(sut.received(0).await.is_empty());
}

#[tokio::test]
async fn the_page_shows_paths_as_text() {
    let running = farm(&Sut::start(&[]).await).start().await.unwrap();
    let api = Asker::of(&running);
    api.post("/hook/a&b'\"", b"{}").await;
    let page = api.get("/").await;
    assert_eq!(page.header("content-type"), ["text/html; charset=utf-8"]);
    assert!(
        page.text()
            .contains("<td>/hook/a&amp;b&#39;&quot;<td>1<td>1<td>0"),
        "{}",
        page.text()
    );
}

/// Reads on until this has come, and gives all that came.
async fn read_until(stream: &mut TcpStream, end: &str) -> String {
    let mut read = Vec::new();
    let reading = async {
        while !String::from_utf8_lossy(&read).contains(end) {
            assert_ne!(stream.read_buf(&mut read).await.unwrap(), 0);
        }
    };
    tokio::time::timeout(DEADLINE, reading).await.unwrap();
    String::from_utf8(read).unwrap()
}
