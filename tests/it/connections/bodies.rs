//! Bodies that are large, asked for, or never come; senders that leave.

use peerfarm::units::Span;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::connections::{lone, secure};
use crate::support::{DEADLINE, Events, Http2, Request, Sut, call, counted, farm, persona, plain, raw, tls};

#[tokio::test]
async fn who_asks_before_sending_gets_leave_or_the_refusal() {
    let sut = Sut::start(&["u1"]).await;
    let farm = farm(&sut).start().await.unwrap();
    let alice = persona(&farm, "alice@mastodon1.test");
    let create = sut.activity("u1", "c1", "Create", json!("https://sut.test/n/1"));
    let request = Request::post(&alice.inbox, create.to_string())
        .signed(&sut, "u1")
        .with("expect", "100-continue");
    let mut stream = TcpStream::connect(plain(&farm)).await.unwrap();
    for _ in 0..2 {
        stream.write_all(&request.head()).await.unwrap();
        leave(&mut stream).await;
        stream.write_all(&request.body).await.unwrap();
        assert_eq!(raw::answer(&mut stream).await.status, 202);
    }

    let too_large = Request::post(&alice.inbox, vec![b'x'; 1_048_577]).signed(&sut, "u1");
    let elsewhere = Request::post("http://unknown.test/inbox", "x");
    for (request, status) in [(too_large, 413), (elsewhere, 421)] {
        let request = request.with("expect", "100-continue");
        let mut stream = TcpStream::connect(plain(&farm)).await.unwrap();
        stream.write_all(&request.head()).await.unwrap();
        let answer = raw::answer(&mut stream).await;
        assert_eq!(
            (answer.status, answer.header("connection")),
            (status, vec!["close".to_owned()])
        );
        assert!(raw::ended(&mut stream).await.is_empty());
    }
    let counts = counted(&farm, &alice.inbox);
    assert_eq!((counts.accepted, counts.refused), (2, 1));
}

#[tokio::test]
async fn whoever_sends_a_large_body_gets_the_refusal_and_may_go_on() {
    let sut = Sut::start(&[]).await;
    let farm = farm(&sut).start().await.unwrap();
    let (mastodon, misskey) = (
        persona(&farm, "alice@mastodon1.test"),
        persona(&farm, "alice@misskey1.test"),
    );
    let port = secure(&farm).port();
    let unknown = (
        format!("https://unknown.test:{port}/inbox"),
        format!("https://mastodon1.test:{port}/x"),
    );
    let smuggled = |size: usize| {
        let evil = b"GET /evil HTTP/1.1\r\nHost: mastodon1.test\r\n\r\n";
        evil.repeat(size / evil.len() + 1)[..size].to_owned()
    };
    for (url, size, status) in [
        (&mastodon.inbox, 70_000, 401),
        (&mastodon.inbox, 3_000_000, 413),
        (&misskey.inbox, 70_000, 413),
        (&misskey.inbox, 3_000_000, 413),
        (&unknown.0, 70_000, 421),
        (&unknown.0, 3_000_000, 421),
        (&unknown.1, 70_000, 404),
        (&unknown.1, 3_000_000, 413),
    ] {
        let large = Request::post(url, smuggled(size));
        // Mastodon looks for the activity first, and this is none; what is unsigned is so whatever it says.
        let create = sut.activity("u1", "c", "Create", json!("x".repeat(size)));
        let large = if status == 401 {
            Request::post(url, create.to_string())
        } else {
            large
        };
        let next = Request::get(&mastodon.id).with("accept", "application/activity+json");

        let mut http1 = TcpStream::connect(plain(&farm)).await.unwrap();
        let answer = large.send_over(&mut http1).await;
        assert_eq!(answer.status, status, "{size} to {url}");
        assert_eq!(
            next.send_over(&mut http1).await.json()["id"],
            mastodon.id,
            "{size} to {url}"
        );
        http1.shutdown().await.unwrap();
        assert!(
            raw::ended(&mut http1).await.is_empty(),
            "{size} to {url}: nobody else was answered"
        );

        let mut http2 = Http2::over(TcpStream::connect(plain(&farm)).await.unwrap()).await;
        let (answer, sent) = http2.send_as_is(&large.clone().without("host")).await;
        assert_eq!(
            (answer.status, sent),
            (status, large.body.len()),
            "{size} to {url}"
        );
        assert_eq!(
            http2.send(&next).await.json()["id"],
            mastodon.id,
            "{size} to {url}"
        );
    }
    let journal = call(&farm, "/journal?limit=100").await;
    assert!(
        !journal.to_string().contains("/evil"),
        "no body was read as a request"
    );
}

#[tokio::test]
async fn a_half_closed_sender_gets_its_answer_unless_a_latency_holds_it() {
    let sut = Sut::start(&["u1"]).await;
    let farm = farm(&sut)
        .hooks(Span::seconds(600), Span::ZERO, 0.0)
        .start()
        .await
        .unwrap();
    let mut events = Events::of(&farm).await;
    let alice = persona(&farm, "alice@mastodon1.test");
    let create = sut.activity("u1", "c1", "Create", json!("https://sut.test/n/1"));
    // The key of the first has yet to be fetched.
    for request in [
        Request::post(&alice.inbox, create.to_string()).signed(&sut, "u1"),
        Request::get(&alice.id),
    ] {
        let mut stream = TcpStream::connect(plain(&farm)).await.unwrap();
        stream.write_all(&request.bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
        let answer = raw::answer(&mut stream).await;
        assert!([200, 202].contains(&answer.status), "{answer:?}");
        assert!(raw::ended(&mut stream).await.is_empty());
        assert_eq!(events.next().await["status"], answer.status);
    }
    for to in [plain(&farm), farm.addresses().control] {
        let held = Request::post("http://hooks.test/hook/held", "{}");
        let held = if to == plain(&farm) {
            held
        } else {
            held.with("host", &to.to_string())
        };
        let mut stream = TcpStream::connect(to).await.unwrap();
        stream.write_all(&held.bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
        assert!(raw::ended(&mut stream).await.is_empty());
        assert_eq!(events.next().await["outcome"], "aborted");
    }
    let counts = counted(&farm, "https://hooks.test/hook/held");
    assert_eq!((counts.requests, counts.aborted), (2, 2));
}

#[tokio::test]
async fn senders_that_leave_during_a_latency_are_aborted() {
    let farm = lone()
        .hooks(Span::seconds(600), Span::ZERO, 0.0)
        .start()
        .await
        .unwrap();
    let mut events = Events::of(&farm).await;
    let url = "https://hooks.test/hook/slow";
    let mut senders = Vec::new();
    for number in 0..5 {
        let mut stream = TcpStream::connect(plain(&farm)).await.unwrap();
        let request = Request::post(url, format!(r#"{{"id":"{number}"}}"#));
        stream.write_all(&request.bytes()).await.unwrap();
        senders.push(stream);
    }
    let config = tls::trusting(&farm, &["http/1.1"]);
    let mut sealed = tls::connect(secure(&farm), "hooks.test", config).await.unwrap();
    sealed.write_all(&Request::post(url, "{}").bytes()).await.unwrap();
    let http2 = Http2::over(TcpStream::connect(plain(&farm)).await.unwrap()).await;
    let streams: Vec<_> = (0..2)
        .map(|_| {
            let mut http2 = http2.clone();
            tokio::spawn(async move { http2.send(&Request::post(url, "{}")).await })
        })
        .collect();
    let waited = call(&farm, "/wait?requests=8&timeout=20s").await;
    assert_eq!(waited["totals"]["in_flight"], 8);
    drop((senders, sealed));
    for stream in streams {
        stream.abort();
    }
    for entry in events.take(8).await {
        assert_eq!(
            (&entry["outcome"], &entry["status"]),
            (&json!("aborted"), &json!(null))
        );
        assert_eq!(entry["faults"], json!(["hook-latency"]));
    }
    let counts = counted(&farm, url);
    assert_eq!((counts.requests, counts.aborted, counts.in_flight), (8, 8, 0));
    assert!(counts.status.is_empty());
    // Whom it does not concern is served as ever.
    let mut http2 = http2;
    let other = http2
        .send(&Request::get("https://mastodon1.test/nodeinfo/2.0"))
        .await;
    assert_eq!(other.status, 200);
}

#[tokio::test]
async fn who_does_not_finish_what_it_began_is_told_and_let_go() {
    let sut = Sut::start(&["u1"]).await;
    let farm = farm(&sut).patience(Span::millis(800)).start().await.unwrap();
    let alice = persona(&farm, "alice@mastodon1.test");
    let create = sut.activity("u1", "c1", "Create", json!("https://sut.test/n/1"));
    let whole = Request::post(&alice.inbox, create.to_string()).signed(&sut, "u1");
    let connect = async || TcpStream::connect(plain(&farm)).await.unwrap();

    let mut half_a_head = connect().await;
    half_a_head
        .write_all(b"GET / HTTP/1.1\r\nHost: mastodon1.test\r\n")
        .await
        .unwrap();
    let mut half_a_preface = connect().await;
    half_a_preface.write_all(b"PRI * HT").await.unwrap();
    let mut half_a_body = connect().await;
    half_a_body
        .write_all(&whole.bytes()[..whole.bytes().len() - 1])
        .await
        .unwrap();
    let mut silent = connect().await;
    let mut no_handshake = TcpStream::connect(secure(&farm)).await.unwrap();

    // Others go on meanwhile. The body is read by itself, since its sender waits for leave. Each connects as it begins:
    // the first exchange makes keys, which takes as long as it takes.
    let asking = whole.clone().with("expect", "100-continue");
    let exchange = async || {
        let mut stream = connect().await;
        stream.write_all(&asking.head()).await.unwrap();
        leave(&mut stream).await;
        stream.write_all(&asking.body).await.unwrap();
        assert_eq!(raw::answer(&mut stream).await.status, 202);
        stream
    };
    let mut resting = exchange().await;
    let mut half_a_second_head = exchange().await;
    half_a_second_head.write_all(b"GET /").await.unwrap();

    let answer = raw::answer(&mut half_a_body).await;
    assert_eq!(
        (answer.status, answer.header("connection")),
        (408, vec!["close".to_owned()])
    );
    for stream in [&mut half_a_head, &mut half_a_preface, &mut half_a_second_head] {
        let answer = raw::answer(stream).await;
        assert_eq!(
            (answer.status, answer.header("connection")),
            (408, vec!["close".to_owned()])
        );
    }
    for stream in [
        &mut half_a_head,
        &mut half_a_preface,
        &mut half_a_body,
        &mut half_a_second_head,
        &mut silent,
        &mut resting,
        &mut no_handshake,
    ] {
        assert!(raw::ended(stream).await.is_empty());
    }
    let connections = farm.stats().connections;
    assert_eq!((connections.open, connections.accepted), (0, 7));
    assert_eq!(connections.bad_requests, [(408, 3)].into());
    assert_eq!(connections.tls_failed, [("handshake_timeout", 1)].into());
    let counts = counted(&farm, &alice.inbox);
    assert_eq!((counts.requests, counts.accepted, counts.refused), (3, 2, 1));
    assert_eq!(counts.status, [(202, 2), (408, 1)].into());
}

/// Reads the leave to send a body.
async fn leave(stream: &mut TcpStream) {
    let mut leave = [0; 25];
    let read = tokio::time::timeout(DEADLINE, stream.read_exact(&mut leave)).await;
    read.expect("leave within the deadline").unwrap();
    assert_eq!(&leave, b"HTTP/1.1 100 Continue\r\n\r\n");
}
