//! Hooks: how they answer and count, whichever way a delivery comes.

use http::HeaderMap;
use peerfarm::Farm;
use peerfarm::units::Span;
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::support::{Api, Http2, Request, Serving, raw, tls};

#[tokio::test]
async fn a_hook_is_there_from_its_first_delivery_on() {
    let farm = Farm::builder().start().await.unwrap();
    let api = Api::of(&farm);
    assert_eq!(api.get("/stats/hooks").await, json!({}));
    let answer = api.hook("/hook/a/b%20c", "{}").await;
    assert_eq!((answer.status, answer.text().as_str()), (200, r#"{"ok":true}"#));
    assert_eq!(answer.header("content-type"), ["application/json"]);
    assert_eq!(api.hook("/hook/", "{}").await.status, 200);
    let flat = api.get("/stats/hooks").await;
    assert_eq!(flat["/hook/a/b%20c"]["requests"], 1);
    assert_eq!(flat["/hook/"]["requests"], 1);
    assert_eq!(api.hook("/hook", "{}").await.status, 404);
}

#[tokio::test]
async fn any_method_is_a_delivery() {
    let farm = Farm::builder().start().await.unwrap();
    let api = Api::of(&farm);
    for method in ["GET", "PUT", "DELETE", "PATCH", "OPTIONS", "QUERY"] {
        let answer = api.call(method, "/hook/a", b"").await;
        assert_eq!(
            (answer.status, answer.text().as_str()),
            (200, r#"{"ok":true}"#),
            "{method}"
        );
    }
    let hook = api.hook_stats("/hook/a").await;
    assert_eq!((&hook["requests"], &hook["accepted"]), (&json!(6), &json!(6)));
}

#[tokio::test]
async fn a_head_is_answered_as_its_get_without_a_body() {
    let farm = Farm::builder().start().await.unwrap();
    let api = Api::of(&farm);
    for path in ["/hook/a", "/stats", "/stats/hooks"] {
        let mut stream = TcpStream::connect(api.0).await.unwrap();
        let head = format!(
            "HEAD {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n",
            api.0
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let answer = String::from_utf8(raw::ended(&mut stream).await).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{path}: {answer}");
        assert!(answer.ends_with("\r\n\r\n"), "{path}: {answer}");
        assert!(answer.contains("content-length: "), "{path}: {answer}");
    }
    let hook = api.hook_stats("/hook/a").await;
    assert_eq!(hook["accepted"], 1, "{hook}");
    assert_eq!(hook["status"], json!({"200": 1}));
}

#[tokio::test]
async fn a_hook_by_name_counts_where_the_control_listener_counts() {
    let farm = Farm::builder().plain_http().start().await.unwrap();
    let api = Api::of(&farm);
    let to = farm.federation().unwrap();
    let url = format!("https://hooks.test:{}/hook/x", to.port());
    for protocol in ["h2", "http/1.1"] {
        let trusting = tls::trusting(&farm, &[protocol]);
        let mut stream = tls::connect(to, "hooks.test", trusting).await.unwrap();
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(protocol.as_bytes()));
        let post = Request::post(&url, "{}");
        let answer = match protocol {
            "h2" => Http2::over(stream).await.send(&post).await,
            _ => post.send_over(&mut stream).await,
        };
        assert_eq!((answer.status, answer.text().as_str()), (200, r#"{"ok":true}"#));
    }
    let headers = HeaderMap::from_iter([(http::header::HOST, "hooks.test".parse().unwrap())]);
    let plain = farm.addresses().listen_http.unwrap();
    assert_eq!(
        raw::send(plain, "POST", "/hook/x", &headers, b"{}").await.status,
        200
    );
    assert_eq!(api.hook("/hook/x", "{}").await.status, 200);

    let hook = api.hook_stats("/hook/x").await;
    assert_eq!((&hook["requests"], &hook["unique"]), (&json!(4), &json!(1)));
    let entries = api.get("/journal?host=hooks.test&path=/hook/x&kind=hook").await;
    assert_eq!(entries["entries"].as_array().unwrap().len(), 4);

    // The name has hooks alone; the API is not there, and a peer has no hooks.
    for (host, path) in [
        ("hooks.test", "/stats"),
        ("hooks.test", "/"),
        ("mastodon1.test", "/hook/x"),
    ] {
        let headers = HeaderMap::from_iter([(http::header::HOST, host.parse().unwrap())]);
        let answer = raw::send(plain, "POST", path, &headers, b"{}").await;
        assert_eq!(answer.status, 404, "{host}{path}: {answer:?}");
    }
    assert_eq!(farm.stats().connections.bad_requests, [(404, 2)].into());
    assert_eq!(api.hook_stats("/hook/x").await["requests"], 4);
}

#[tokio::test]
async fn the_hooks_listener_serves_hooks_and_their_counters_alone() {
    let farm = Serving::start("--hooks 127.0.0.1:0");
    let (api, hooks) = (farm.api(), farm.hooks());
    assert_eq!(hooks.hook("/hook/a", "{}").await.status, 200);
    assert_eq!(hooks.get("/healthz").await, api.get("/healthz").await);
    assert_eq!(hooks.hook_stats("/hook/a").await["requests"], 1);
    assert_eq!(hooks.get("/stats/hooks").await["/hook/a"]["requests"], 1);
    for (method, target) in [
        ("GET", "/"),
        ("GET", "/peers"),
        ("GET", "/peers/mastodon1.test"),
        ("POST", "/peers/mastodon1.test/actors/alice/send"),
        ("GET", "/journal"),
        ("GET", "/journal/1"),
        ("GET", "/metrics"),
        ("GET", "/events"),
        ("GET", "/wait?requests=1"),
        ("GET", "/faults"),
        ("POST", "/floods"),
        ("GET", "/.well-known/webfinger?resource=acct:alice@mastodon1.test"),
    ] {
        let answer = hooks.call(method, target, b"").await;
        assert_eq!(answer.status, 404, "{method} {target}");
        let paths = answer.json()["paths"].clone();
        assert_eq!(
            paths,
            json!(["/healthz", "/stats", "/stats/hooks", "/reset", "/hook/{path}"])
        );
    }
    assert_eq!(hooks.reset().await["totals"]["requests"], 1);
    assert_eq!(api.stats().await["totals"]["requests"], 0);
}

#[tokio::test]
async fn no_name_of_a_hook_hides_the_api_or_is_hidden_by_it() {
    let farm = Farm::builder().start().await.unwrap();
    let api = Api::of(&farm);
    for path in [
        "/hook/stats",
        "/hook/reset",
        "/hook/../stats",
        "/hook/.well-known/webfinger",
        "/hook//",
    ] {
        let answer = api.hook(path, "{}").await;
        assert_eq!(
            (answer.status, answer.text().as_str()),
            (200, r#"{"ok":true}"#),
            "{path}"
        );
    }
    let stats = api.stats().await;
    assert_eq!(stats["generation"], 1, "a hook named reset resets nothing");
    assert_eq!(stats["totals"]["requests"], 5);
    let hosts = stats["hosts"].as_object().unwrap();
    for (host, counts) in hosts {
        assert_eq!(counts["fetches"], json!({}), "{host}");
        let paths: Vec<&String> = counts["paths"].as_object().unwrap().keys().collect();
        match host.as_str() {
            "hooks.test" => assert_eq!(
                paths,
                [
                    "/hook/../stats",
                    "/hook/.well-known/webfinger",
                    "/hook//",
                    "/hook/reset",
                    "/hook/stats"
                ]
            ),
            _ => assert!(paths.is_empty(), "{host}: {paths:?}"),
        }
    }
}

#[tokio::test]
async fn a_body_over_one_mebibyte_is_refused() {
    let farm = Farm::builder().start().await.unwrap();
    let api = Api::of(&farm);
    let mut client = TcpStream::connect(api.0).await.unwrap();
    for (size, status) in [(1 << 20, 200), ((1 << 20) + 1, 413), (3 << 20, 413), (2, 200)] {
        let reply = Request::post(&api.url("/hook/a"), vec![b'x'; size])
            .send_over(&mut client)
            .await;
        assert_eq!(reply.status, status, "{size} bytes, on one connection");
    }
    let hook = api.hook_stats("/hook/a").await;
    let counts = ["requests", "accepted", "refused", "unique"].map(|key| hook[key].as_u64().unwrap());
    assert_eq!(counts, [4, 2, 2, 2]);
    assert_eq!(hook["status"], json!({"200": 2, "413": 2}));
    assert_eq!(api.get("/stats/hooks").await["/hook/a"]["failures"], 2);
}

#[tokio::test]
async fn a_delivery_is_known_by_its_bodys_id_or_else_its_digest() {
    let farm = Farm::builder().start().await.unwrap();
    let api = Api::of(&farm);
    // The digests are those of FIPS 180-2's examples and of `sha256sum`.
    let cases: [(&[u8], &str); 7] = [
        (br#"{"n": [1, {"id": "inner"}], "id": "evt_1"}"#, "evt_1"),
        (br#"{"id": 42}"#, "42"),
        (br#"{"id": "caf\u00e9"}"#, "café"),
        (
            b"abc",
            "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        ),
        (
            b"",
            "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        ),
        (
            b"\xff\xfe",
            "sha256:b3d510ef04275ca8e698e5b3cbb0ece3949ef9252f0cdc839e9ee347409a2209",
        ),
        (
            b"[\"id\"]",
            "sha256:fc949a4dac6b077d1c847c8706688fbbd098682139e19ff26a436691c96c89f1",
        ),
    ];
    for (body, _) in cases {
        api.hook("/hook/a", body).await;
    }
    let entries = api.get("/journal").await;
    let entries = entries["entries"].as_array().unwrap().iter().rev();
    let ids: Vec<&str> = entries
        .map(|entry| entry["delivery_id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, cases.map(|(_, id)| id));
}

#[tokio::test]
async fn the_flat_view_counts_as_mock_providers_do() {
    let farm = Farm::builder()
        .seed(3)
        .hooks(Span::ZERO, Span::ZERO, 0.5)
        .start()
        .await
        .unwrap();
    let api = Api::of(&farm);
    let mut failed = 0;
    for n in 0..40 {
        let answer = api.hook("/hook/a", format!(r#"{{"id":{}}}"#, n % 30)).await;
        match answer.status {
            500 => failed += 1,
            status => assert_eq!(status, 200),
        }
    }
    assert!((5..35).contains(&failed), "{failed} of 40");
    let flat = api.get("/stats/hooks").await;
    let keys: Vec<&String> = flat["/hook/a"].as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        ["requests", "failures", "unique", "duplicates", "first_success_ms"]
    );
    let count = |key: &str| flat["/hook/a"][key].as_u64().unwrap();
    assert_eq!((count("requests"), count("failures")), (40, failed));
    assert_eq!(count("unique") + count("duplicates"), 40 - failed);
    let whole = api.hook_stats("/hook/a").await;
    assert_eq!(whole["faults"], json!({"hook-error": failed}));
    assert_eq!(whole["status"], json!({"200": 40 - failed, "500": failed}));
}
