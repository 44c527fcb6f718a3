//! Heads: whom they are for, what is none, what is too large.

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::connections::{bad_requests, lone, secure};
use crate::support::{Http2, Request, plain, raw, tls};

#[tokio::test]
async fn no_host_two_hosts_and_a_foreign_host_are_told_and_counted() {
    let farm = lone().start().await.unwrap();
    for (hosts, status) in [
        ("", 400),
        ("Host: mastodon1.test\r\nHost: misskey1.test\r\n", 400),
        ("Host: mastodon1.test\r\nhost: mastodon1.test\r\n", 400),
        ("Host: unknown.test\r\n", 421),
        ("Host: 127.0.0.1\r\n", 421),
        ("Host: \r\n", 400),
        ("Host: mastodon1.test, misskey1.test\r\n", 400),
    ] {
        let mut stream = TcpStream::connect(plain(&farm)).await.unwrap();
        let request = format!("GET /users/alice HTTP/1.1\r\n{hosts}\r\n");
        for _ in 0..2 {
            stream.write_all(request.as_bytes()).await.unwrap();
            assert_eq!(raw::answer(&mut stream).await.status, status, "{hosts}");
        }
    }
    assert_eq!(bad_requests(&farm), [(400, 10), (421, 4)].into());
    assert!(farm.stats().hosts.values().all(|host| host.fetches.is_empty()));
}

#[tokio::test]
async fn the_absolute_form_wins_over_host() {
    let farm = lone().start().await.unwrap();
    let mut stream = TcpStream::connect(plain(&farm)).await.unwrap();
    for (asked, other) in [
        ("mastodon2.test", "lemmy1.test"),
        ("mastodon3.test", "unknown.test"),
    ] {
        let request = format!("GET http://{asked}/users/alice?q=1 HTTP/1.1\r\nHost: {other}\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let answer = raw::answer(&mut stream).await;
        assert_eq!(answer.status, 200);
        let id = answer.json()["id"].as_str().unwrap().to_owned();
        assert!(id.starts_with(&format!("https://{asked}:")), "{id}");
    }
    assert!(bad_requests(&farm).is_empty());
}

#[tokio::test]
async fn a_host_other_than_the_handshakes_is_misdirected() {
    let farm = lone().start().await.unwrap();
    let config = |protocol| tls::trusting(&farm, &[protocol]);
    let at = |host: &str| Request::get(&format!("https://{host}/nodeinfo/2.0"));
    let mut http1 = tls::connect(secure(&farm), "mastodon1.test", config("http/1.1"))
        .await
        .unwrap();
    let http2 = tls::connect(secure(&farm), "mastodon1.test", config("h2"))
        .await
        .unwrap();
    let mut http2 = Http2::over(http2).await;
    for (host, status) in [
        ("misskey1.test", 421),
        ("mastodon1.test", 200),
        ("MASTODON1.test:7", 200),
    ] {
        assert_eq!(at(host).send_over(&mut http1).await.status, status, "{host}");
        assert_eq!(http2.send(&at(host)).await.status, status, "{host}");
    }
    assert_eq!(bad_requests(&farm), [(421, 2)].into());
}

#[tokio::test]
async fn heads_beyond_the_limits_are_told_and_counted() {
    let farm = lone().start().await.unwrap();
    let wide = |count: usize| {
        // `Host` and `Date` are two of them.
        let names: Vec<_> = (0..count - 2).map(|number| format!("x-{number}")).collect();
        let mut request = Request::get("https://mastodon1.test/nodeinfo/2.0");
        for name in names {
            request
                .headers
                .insert(http::HeaderName::try_from(name).unwrap(), "x".parse().unwrap());
        }
        request
    };
    let long = |name, bytes: usize| {
        Request::get("https://mastodon1.test/nodeinfo/2.0").with(name, &"x".repeat(bytes))
    };
    let mut http2 = Http2::over(TcpStream::connect(plain(&farm)).await.unwrap()).await;
    for (request, status) in [
        (wide(100), 200),
        (wide(101), 431),
        (long("x-long", 32 * 1024), 200),
        (long("signature", 64 * 1024), 431),
        (long("x-long", 500 * 1024), 431),
    ] {
        let mut stream = TcpStream::connect(plain(&farm)).await.unwrap();
        // Who is refused may be so before all of it has left.
        let _ = stream.write_all(&request.bytes()).await;
        assert_eq!(raw::answer(&mut stream).await.status, status);
        if status == 431 {
            assert!(raw::ended(&mut stream).await.is_empty());
        }
    }
    assert_eq!(bad_requests(&farm), [(431, 3)].into());
    for (request, status) in [
        (wide(101), 200),
        (wide(102), 431),
        (long("x-long", 32 * 1024), 200),
        (long("signature", 64 * 1024), 431),
        (long("x-long", 500 * 1024), 431),
    ] {
        assert_eq!(http2.send(&request).await.status, status);
    }
    assert_eq!(bad_requests(&farm), [(431, 6)].into());
}

#[tokio::test]
async fn what_is_no_request_is_told_and_counted() {
    let farm = lone().start().await.unwrap();
    for (text, status) in [
        ("nonsense\r\n\r\n", 400),
        (
            "GET / HTTP/1.1\r\nHost: mastodon1.test\r\nX-Note: a\r\n b\r\n\r\n",
            400,
        ),
        ("GET / HTTP/1.1\r\nHost : mastodon1.test\r\n\r\n", 400),
        ("GET ?a HTTP/1.1\r\nHost: mastodon1.test\r\n\r\n", 400),
        (
            "POST /inbox HTTP/1.1\r\nHost: mastodon1.test\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab",
            400,
        ),
    ] {
        let mut stream = TcpStream::connect(plain(&farm)).await.unwrap();
        stream.write_all(text.as_bytes()).await.unwrap();
        assert_eq!(raw::answer(&mut stream).await.status, status, "{text}");
        assert!(raw::ended(&mut stream).await.is_empty());
    }
    assert_eq!(bad_requests(&farm), [(400, 5)].into());
}
