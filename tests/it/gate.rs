//! What the farm reaches out to, what its gate keeps it from, and what it says when that fails.

use std::net::{Ipv6Addr, SocketAddr};

use peerfarm::Farm;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::support::{self, Api, FREE, Sut};

#[tokio::test]
async fn the_gate_refuses_the_public_before_anything_leaves() {
    let sut = Sut::start(&["me"]).await;
    let farm = support::farm(&sut)
        .resolve("blocked.test=203.0.113.1")
        .unwrap()
        .start()
        .await
        .unwrap();
    let api = Api::of(&farm);
    // Documentation addresses (RFC 5737, RFC 3849), link-local ones (RFC 3927), and other ways to write them.
    for to in [
        "https://203.0.113.1/users/me",
        "http://203.0.113.1/users/me",
        "https://198.51.100.7:8443/users/me",
        "https://[2001:db8::1]/users/me",
        "https://[::ffff:203.0.113.1]/users/me",
        "https://3405803777/users/me",
        "https://169.254.169.254/latest/meta-data",
        "https://0.0.0.0/users/me",
        "https://blocked.test/users/me",
        "@me@blocked.test",
    ] {
        for (deed, body) in [
            ("send", json!({"to": to, "note": "hello"})),
            ("follow", json!({"target": to})),
        ] {
            let answer = api.tell(deed, body).await;
            assert_eq!(answer.status, 403, "{to}: {}", answer.text());
            assert_eq!(answer.json()["class"], "gate", "{to}");
        }
    }
    assert_eq!(sut.fetched().len(), 0);
}

#[tokio::test]
async fn the_gate_stands_between_an_actor_and_its_inbox_and_behind_redirects() {
    let sut = Sut::start(&["me"]).await;
    let farm = support::farm(&sut).start().await.unwrap();
    let api = Api::of(&farm);
    let mut moved = sut.actor_document("me");
    moved["inbox"] = "https://203.0.113.1/inbox".into();
    moved.as_object_mut().unwrap().remove("endpoints");
    sut.serve_at("/users/me", 200, moved);
    for (deed, body) in [
        ("send", json!({"to": sut.actor("me"), "note": "hello"})),
        ("follow", json!({"target": sut.actor("me")})),
    ] {
        let answer = api.tell(deed, body).await;
        assert_eq!(
            (answer.status, &answer.json()["class"]),
            (403, &json!("gate")),
            "{deed}"
        );
    }
    let redirecting = answering(
        FREE,
        "HTTP/1.1 302 Found\r\nlocation: https://203.0.113.1/users/me\r\ncontent-length: 0\r\n\r\n",
    )
    .await;
    let answer = api
        .tell(
            "send",
            json!({"to": format!("http://{redirecting}/u"), "note": "hello"}),
        )
        .await;
    assert_eq!((answer.status, &answer.json()["class"]), (403, &json!("gate")));
    // No follow waits for an answer that nobody was asked for.
    let answer = api.tell("unfollow", json!({"target": sut.actor("me")})).await;
    assert_eq!(answer.status, 409, "{}", answer.text());
}

#[tokio::test]
async fn no_call_widens_the_gate() {
    let farm = support::farm(&Sut::start(&[]).await).start().await.unwrap();
    let api = Api::of(&farm);
    let public = json!({"to": "https://203.0.113.1/users/me", "note": "hello"});
    let mut widened = public.clone();
    widened["allow_target"] = "203.0.113.1".into();
    assert_eq!(api.tell("send", widened).await.status, 422);
    let target = "/peers/mastodon1.test/actors/alice/send?allow_target=203.0.113.1";
    assert_eq!(api.post(target, &public).await.status, 400);
    for call in ["/targets", "/settings", "/allow-target", "/resolve", "/gate"] {
        for method in ["GET", "POST", "PUT", "PATCH"] {
            assert_eq!(
                api.call(method, call, public.to_string().as_bytes()).await.status,
                404
            );
        }
    }
    assert_eq!(api.tell("send", public).await.status, 403);
}

#[tokio::test]
async fn nobody_turns_the_farm_on_its_own_control() {
    let farm = support::farm_with(|settings| settings.hooks = Some(FREE)).await;
    let api = Api::of(&farm.0);
    let hooks = farm.0.addresses().hooks.unwrap();
    for own in [
        format!("http://{}/hook/a", api.0),
        format!("http://[::ffff:127.0.0.1]:{}/hook/a", api.0.port()),
        format!("http://127.1:{}/hook/a", api.0.port()),
        format!("http://{hooks}/hook/a"),
        format!("@me@{hooks}"),
    ] {
        let answer = api.tell("send", json!({"to": own, "note": "hello"})).await;
        assert_eq!(
            (answer.status, &answer.json()["class"]),
            (403, &json!("gate")),
            "{own}"
        );
    }
    assert_eq!(api.stats().await["totals"]["requests"], 0);
}

#[tokio::test]
async fn plain_http_is_opened_only_where_that_is_allowed() {
    let sut = Sut::start(&["me"]).await;
    let farm = Farm::builder()
        .shared_keys()
        .resolve(&sut.resolve())
        .unwrap()
        .start()
        .await
        .unwrap();
    let answer = Api::of(&farm)
        .tell("send", json!({"to": sut.actor("me"), "note": "hello"}))
        .await;
    assert_eq!(answer.status, 403);
    assert!(
        answer.text().contains("hint: `--allow-http`"),
        "{}",
        answer.text()
    );
    assert_eq!(sut.fetched().len(), 0);
}

#[tokio::test]
async fn localhost_is_tried_in_both_families_and_ipv6_first() {
    let sut = Sut::start(&["me"]).await;
    let farm = support::farm(&sut).start().await.unwrap();
    let api = Api::of(&farm);
    let port = sut.origin().rsplit_once(':').unwrap().1.to_owned();
    let origin = format!("http://localhost:{port}");
    let id = format!("{origin}/users/local");
    let document = json!({
        "@context": "https://www.w3.org/ns/activitystreams",
        "id": id, "type": "Person", "preferredUsername": "local", "inbox": format!("{origin}/inbox"),
    });
    sut.serve_at("/users/local", 200, document);
    // On 127.0.0.1 alone.
    let answer = api.tell("send", json!({"to": id, "note": "hello"})).await.ok();
    assert_eq!(answer["deliveries"][0]["status"], 202, "{answer}");
    let received = sut.received(1).await;
    let host = received[0].headers["host"].to_str().unwrap();
    assert!(host.starts_with("localhost"), "{host}");

    // On both: it is `::1` that is asked.
    let both = SocketAddr::from((Ipv6Addr::LOCALHOST, port.parse().unwrap()));
    answering(both, "HTTP/1.1 418 I'm a teapot\r\ncontent-length: 0\r\n\r\n").await;
    let problem = api.tell("send", json!({"to": id, "note": "hello"})).await;
    assert_eq!(
        (problem.status, &problem.json()["class"]),
        (502, &json!("status"))
    );
    assert!(problem.text().contains("answers 418"), "{}", problem.text());
    assert_eq!(sut.received(1).await.len(), 1);
}

#[tokio::test]
async fn what_went_wrong_on_the_way_is_told_apart() {
    let sut = Sut::start(&["me"]).await;
    let farm = support::farm(&sut).start().await.unwrap();
    let closing = answering(FREE, "").await;
    let noise = answering(FREE, "220 smtp.test ESMTP\r\n").await;
    for (authority, class) in [
        ("nowhere.invalid".to_owned(), "dns"),
        ("127.0.0.1:1".to_owned(), "refused"),
        (closing.to_string(), "closed"),
        (noise.to_string(), "protocol"),
    ] {
        fails(&sut, Api::of(&farm), &authority, class).await;
    }
}

#[tokio::test]
async fn who_never_answers_is_given_as_long_as_the_software_would() {
    let sut = Sut::start(&["me"]).await;
    let (farm, _state) = support::farm_with(|settings| {
        settings.resolve = vec![sut.resolve().parse().unwrap()];
        let folder = settings.state.join("own");
        let quick = include_str!("../../peers/mastodon.toml")
            .replace("\ntimeout = \"30s\"", "\ntimeout = \"1s\"")
            .replace("\nfetch_timeout = \"30s\"", "\nfetch_timeout = \"1s\"");
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("mastodon.toml"), quick).unwrap();
        settings.peers_dir = Some(folder);
    })
    .await;
    // Connections stand there, and nobody ever accepts them.
    let silent = std::net::TcpListener::bind(FREE).unwrap();
    fails(
        &sut,
        Api::of(&farm),
        &silent.local_addr().unwrap().to_string(),
        "timeout",
    )
    .await;
}

#[tokio::test]
async fn a_refusal_of_the_server_under_test_is_shown_with_its_body() {
    let sut = Sut::start(&["me"]).await;
    let farm = support::farm(&sut).start().await.unwrap();
    let refusing = answering(
        FREE,
        "HTTP/1.1 401 Unauthorized\r\ncontent-length: 20\r\n\r\nkey is not yours: 12",
    )
    .await;
    let mut document = sut.actor_document("me");
    document["endpoints"]["sharedInbox"] = format!("http://{refusing}/inbox").into();
    sut.serve_at("/users/me", 200, document);
    let answer = Api::of(&farm)
        .tell("send", json!({"to": sut.actor("me"), "note": "hello"}))
        .await
        .ok();
    let delivery = &answer["deliveries"][0];
    assert_eq!(
        (&delivery["status"], &delivery["body"]),
        (&json!(401), &json!("key is not yours: 12"))
    );
    assert!(delivery["error"].is_null(), "{delivery}");
}

#[tokio::test]
async fn a_certificate_that_is_not_trusted_is_what_is_told() {
    let (sut, _state) =
        support::farm_with(|settings| settings.domain = Some("sut{n}.test".parse().unwrap())).await;
    let port = sut.federation().unwrap().port();
    let target = json!({"target": format!("@alice@sut1.test:{port}")});
    let rule = || vec!["sut1.test=127.0.0.1".parse().unwrap()];
    let (wary, _state) = support::farm_with(|settings| settings.resolve = rule()).await;
    let answer = Api::of(&wary).tell("follow", target.clone()).await;
    let problem = answer.json();
    assert_eq!(
        (answer.status, &problem["class"]),
        (502, &json!("tls")),
        "{problem}"
    );
    let detail = problem["detail"].as_str().unwrap();
    assert!(detail.contains("UnknownIssuer"), "{detail}");
    assert!(detail.contains("hint: `--trust"), "{detail}");
    // Nobody tries in plain text where TLS is spoken.
    assert_eq!(sut.stats().connections.accepted, 1);

    let (trusting, _state) = support::farm_with(|settings| {
        settings.resolve = rule();
        settings.trust = vec![sut.ca_file().to_owned()];
    })
    .await;
    let (insecure, _state) = support::farm_with(|settings| {
        settings.resolve = rule();
        settings.insecure = true;
    })
    .await;
    for farm in [trusting, insecure] {
        let sent = Api::of(&farm).tell("follow", target.clone()).await.ok();
        let inbox = format!("https://sut1.test:{port}/users/alice/inbox");
        assert_eq!(sent["deliveries"][0]["inbox"], inbox, "{sent}");
        assert!(sent["deliveries"][0]["status"].is_number(), "{sent}");
    }
}

/// Fails the test unless neither an actor there can be looked up nor an inbox there be reached, both for that reason.
async fn fails(sut: &Sut, api: Api, authority: &str, class: &str) {
    // While the actor is looked for there is no delivery yet: the call fails.
    let url = format!("http://{authority}/users/me");
    let answer = api.tell("send", json!({"to": url, "note": "hello"})).await;
    assert_eq!(
        (answer.status, &answer.json()["class"]),
        (502, &json!(class)),
        "{}",
        answer.text()
    );

    // A delivery that fails is an answer.
    let mut document = sut.actor_document("me");
    document["endpoints"]["sharedInbox"] = format!("http://{authority}/inbox").into();
    sut.serve_at("/users/me", 200, document);
    let answer = api
        .tell("send", json!({"to": sut.actor("me"), "note": "hello"}))
        .await
        .ok();
    let delivery = &answer["deliveries"][0];
    assert_eq!(
        (&delivery["error"], &delivery["status"]),
        (&json!(class), &Value::Null),
        "{delivery}"
    );
    assert!(
        delivery["detail"]
            .as_str()
            .is_some_and(|detail| !detail.is_empty()),
        "{delivery}"
    );
}

/// A server that says the same to every request, and closes.
async fn answering(at: SocketAddr, bytes: &'static str) -> SocketAddr {
    let listener = TcpListener::bind(at).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            // What is left unread would turn the close into a reset.
            read_request(&mut stream).await;
            let _ = stream.write_all(bytes.as_bytes()).await;
        }
    });
    address
}

async fn read_request(stream: &mut TcpStream) {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                return;
            }
        }
        if stream.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
            return;
        }
    }
}
