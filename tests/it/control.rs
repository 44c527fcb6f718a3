//! The control API where several things meet: waits, commands and the server under test, names and pages.

use peerfarm::Farm;
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::support::{self, Api, Http2, Request, Sut, raw};

#[tokio::test]
async fn a_delivery_on_its_way_is_not_quiet() {
    let farm = Farm::builder().start().await.unwrap();
    let api = Api::of(&farm);
    let mut stream = TcpStream::connect(api.0).await.unwrap();
    let head = format!(
        "POST /hook/a HTTP/1.1\r\nhost: {}\r\ncontent-length: 4\r\n\r\n{{",
        api.0
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    api.get("/wait?requests=1").await;
    let problem = api.call("GET", "/wait?quiet=10ms&timeout=200ms", b"").await;
    assert_eq!(problem.status, 408);
    let missing = &problem.json()["missing"][0];
    assert_eq!(
        (&missing["condition"], &missing["in_flight"]),
        (&json!("quiet"), &json!(1)),
        "{missing}"
    );
    let waiting = api.get("/wait?quiet=10ms&unique=1");
    let rest = async {
        stream.write_all(b"  }").await.unwrap();
        raw::answer(&mut stream).await
    };
    let (stats, answer) = tokio::join!(waiting, rest);
    assert_eq!((answer.status, &stats["totals"]["in_flight"]), (200, &json!(0)));
}

#[tokio::test]
async fn a_wait_counts_anew_after_a_reset() {
    let farm = Farm::builder().start().await.unwrap();
    let api = Api::of(&farm);
    api.hook("/hook/a", r#"{"id":1}"#).await;
    let waiting = api.get("/wait?unique=2&kind=hook&host=hooks.test");
    let deliveries = async {
        api.reset().await;
        for id in [2, 3] {
            api.hook("/hook/a", format!(r#"{{"id":{id}}}"#)).await;
        }
    };
    let (stats, ()) = tokio::join!(waiting, deliveries);
    assert_eq!(
        (&stats["generation"], &stats["totals"]["unique"]),
        (&json!(2), &json!(2))
    );
}

#[tokio::test]
async fn a_wait_ends_with_the_farm() {
    let farm = Farm::builder().start().await.unwrap();
    let api = Api::of(&farm);
    let mut connection = Http2::connect(api.0).await;
    let (mut other, wait) = (connection.clone(), Request::get(&api.url("/wait?unique=1")));
    let waiting = tokio::spawn(async move { connection.send(&wait).await });
    tokio::task::yield_now().await;
    // Streams of one connection begin in their order: once this one is answered the wait goes on.
    assert_eq!(other.send(&Request::get(&api.url("/healthz"))).await.status, 200);
    farm.shutdown().await;
    let reply = waiting.await.unwrap();
    assert_eq!(
        (reply.status, &reply.json()["detail"]),
        (503, &json!("the farm is ending"))
    );
}

#[tokio::test]
async fn a_follow_counts_once_it_is_accepted() {
    let sut = Sut::start(&["me"]).await;
    let farm = support::farm(&sut).start().await.unwrap();
    let (api, plain) = (Api::of(&farm), farm.addresses().listen_http.unwrap());
    let following = async || {
        let peer = api.get("/peers/mastodon1.test?limit=1").await;
        peer["peers"][0]["actors"][0]["following"].clone()
    };
    let sent = api.tell("follow", json!({"target": sut.handle("me")})).await.ok();
    let follow = sut.received(1).await[0].json();
    assert_eq!((&follow["type"], &follow["id"]), (&json!("Follow"), &sent["id"]));
    assert_eq!(following().await, 0);

    let accept = sut.activity("me", "a1", "Accept", follow.clone());
    let inbox = format!("{}/inbox", follow["actor"].as_str().unwrap());
    let answer = sut.deliver(plain, "me", &inbox, &accept).await;
    assert_eq!(answer.status, 202, "{}", answer.text());
    assert_eq!(following().await, 1);

    api.tell("unfollow", json!({"target": sut.handle("me")}))
        .await
        .ok();
    let undo = sut.received(2).await[1].json();
    assert_eq!(
        (&undo["type"], &undo["object"]["id"]),
        (&json!("Undo"), &follow["id"])
    );
    assert_eq!(following().await, 0);
}

#[tokio::test]
async fn a_body_that_is_no_object_is_refused() {
    let farm = support::farm(&Sut::start(&[]).await).start().await.unwrap();
    let api = Api::of(&farm);
    let cases = [
        ("", 400),
        ("null", 422),
        ("7", 422),
        (r#""https://sut.test/users/me""#, 422),
        (r#"["https://203.0.113.1/users/me", "hello", null]"#, 422),
        (
            r#"[{"to": "https://203.0.113.1/users/me", "note": "hello"}]"#,
            422,
        ),
    ];
    for (body, status) in cases {
        for deed in ["send", "follow", "unfollow"] {
            let target = format!("/peers/mastodon1.test/actors/alice/{deed}");
            let answer = api.call("POST", &target, body.as_bytes()).await;
            assert_eq!(answer.status, status, "{deed} {body}: {}", answer.text());
            assert_eq!(answer.header("content-type"), ["application/problem+json"]);
        }
    }
    let answer = api
        .call(
            "POST",
            "/peers/mastodon1.test/actors/alice/follow",
            br#"["https://203.0.113.1/u"]"#,
        )
        .await;
    assert_eq!(answer.status, 422, "{}", answer.text());
}

#[tokio::test]
async fn the_guard_looks_at_http2_as_well() {
    let farm = Farm::builder().start().await.unwrap();
    let api = Api::of(&farm);
    let mut connection = Http2::connect(api.0).await;
    for (url, origin, status) in [
        (api.url("/reset"), None, 200),
        ("http://evil.test/reset".to_owned(), None, 421),
        ("http://evil.test/hook/a".to_owned(), None, 421),
        (api.url("/reset"), Some("https://evil.test"), 403),
        (api.url("/reset"), Some("null"), 403),
        (api.url("/hook/a"), Some("https://evil.test"), 403),
        (api.url("/reset"), Some("http://localhost:3000"), 200),
    ] {
        let mut post = Request::post(&url, "");
        if let Some(origin) = origin {
            post = post.with("origin", origin);
        }
        let reply = connection.send(&post).await;
        assert_eq!(reply.status, status, "{url} {origin:?}");
        if status != 200 {
            assert_eq!(reply.header("content-type"), ["application/problem+json"]);
            assert_eq!(reply.json()["status"], status);
        }
    }
    let stats = api.stats().await;
    assert_eq!(
        (&stats["generation"], &stats["totals"]["requests"]),
        (&json!(3), &json!(0))
    );
}

#[tokio::test]
async fn a_name_that_was_given_is_answered() {
    let (farm, _state) =
        support::farm_with(|settings| settings.control_hosts = vec!["farm.lan".parse().unwrap()]).await;
    let api = Api::of(&farm);
    for (host, status) in [
        ("farm.lan:7400", 200),
        ("FARM.LAN", 200),
        ("other.lan", 421),
        ("farm.lan.evil.test", 421),
    ] {
        let answer = api.call_with("GET", "/stats", &[("host", host)], b"").await;
        assert_eq!(answer.status, status, "{host}");
    }
    let page = [("host", "farm.lan"), ("origin", "http://farm.lan:3000")];
    assert_eq!(api.call_with("POST", "/reset", &page, b"").await.status, 200);
}

#[tokio::test]
async fn a_program_lets_an_actor_send_a_note_and_names_who_cannot() {
    let sut = Sut::start(&["me"]).await;
    let farm = support::farm(&sut).start().await.unwrap();
    let sent = farm
        .send_note("alice@mastodon1.test", &sut.handle("me"), "hello")
        .await
        .unwrap();
    let arrived = sut.received(1).await[0].json();
    assert_eq!(arrived, sent.activity);
    assert!(arrived["object"]["content"].as_str().unwrap().contains("hello"));
    for (handle, why) in [
        ("nobody@mastodon1.test", "no actor"),
        ("alice@sut.test", "no such peer"),
        ("alice", "no handle"),
    ] {
        let refused = farm
            .send_note(handle, &sut.handle("me"), "hello")
            .await
            .unwrap_err();
        assert!(refused.to_string().contains(why), "{refused}");
    }
}
