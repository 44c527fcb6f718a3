//! The client against sockets that answer as real ones do, and as they should not.

use std::net::Ipv4Addr;

use rcgen::{CertificateParams, KeyPair};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::{RootCertStore, ServerConfig};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

use super::*;
use crate::net::failure::Class;
use crate::net::gate::Settings;
use crate::net::resolve::Rule;

#[tokio::test]
async fn an_answer_comes_back_whole_and_the_request_is_as_asked() {
    let (server, url) =
        answering(b"HTTP/1.1 202 Accepted\r\nX-A: 1\r\nX-A: 2\r\nContent-Length: 2\r\n\r\nok").await;
    let reply = client().request(&url, ask()).await.unwrap();
    assert_eq!((reply.status.as_u16(), &reply.body[..]), (202, &b"ok"[..]));
    assert_eq!(reply.headers.get_all("x-a").iter().count(), 2);
    assert!(reply.timing.connected <= reply.timing.answered && reply.timing.answered <= reply.timing.total);
    let sent = server.await.unwrap();
    let expected = format!(
        "POST //x/%7E?q=1 HTTP/1.1\r\ndate: now\r\nhost: 127.0.0.1:{}\r\n",
        url.port().unwrap()
    );
    assert!(sent.starts_with(&expected), "{sent}");
}

#[tokio::test]
async fn a_redirect_is_an_answer_like_any_other() {
    let (_server, url) = answering(b"HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n").await;
    assert_eq!(client().request(&url, ask()).await.unwrap().status, 302);
}

#[tokio::test]
async fn one_deadline_covers_a_body_that_stalls() {
    let (_server, url) = answering(b"HTTP/1.1 500 No\r\nContent-Length: 1000\r\n\r\n0123456789").await;
    let within = Duration::from_millis(300);
    let failure = client().request(&url, Ask { within, ..ask() }).await.unwrap_err();
    assert_eq!((failure.class(), failure.status()), (Class::Timeout, Some(500)));
    assert!(
        failure.to_string().ends_with("still reading the body"),
        "{failure}"
    );
}

#[tokio::test]
async fn a_body_over_the_limit_is_not_read_on() {
    let whole = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789";
    let chunked =
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n012345\r\n6\r\n012345\r\n0\r\n\r\n";
    for (bytes, limit, class) in [
        (&whole[..], 10, None),
        (&whole[..], 9, Some(Class::TooLarge)),
        (&chunked[..], 12, None),
        (&chunked[..], 11, Some(Class::TooLarge)),
    ] {
        let (_server, url) = answering(bytes).await;
        let done = client()
            .request(
                &url,
                Ask {
                    read: Read::All(limit),
                    ..ask()
                },
            )
            .await;
        assert_eq!(done.map_err(|failure| failure.class()).err(), class, "{limit}");
        let (_server, url) = answering(bytes).await;
        let read = Read::Start(limit);
        assert_eq!(
            client()
                .request(&url, Ask { read, ..ask() })
                .await
                .unwrap()
                .body
                .len(),
            limit
        );
    }
}

#[tokio::test]
async fn an_end_and_a_reset_are_told_apart() {
    for (sent, is_reset, class) in [
        (&b""[..], true, Class::Reset),
        (b"", false, Class::Closed),
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf",
            false,
            Class::Closed,
        ),
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf",
            true,
            Class::Reset,
        ),
        (b"SSH-2.0-OpenSSH_9.2\r\n", false, Class::Protocol),
        (b"HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n", false, Class::Protocol),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = url_of(&listener);
        let server = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            read_head(&mut stream).await;
            stream.write_all(sent).await.unwrap();
            if is_reset {
                stream.set_zero_linger().unwrap();
            }
        });
        let failure = client().request(&url, ask()).await.unwrap_err();
        assert_eq!(failure.class(), class, "{}", failure.chain());
        server.await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reset_is_one_whenever_it_comes() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = url_of(&listener);
    let server = tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            stream.set_zero_linger().unwrap();
        }
    });
    // Among so many it comes before, while and after the request is written.
    for _ in 0..200 {
        let failure = client().request(&url, ask()).await.unwrap_err();
        assert_eq!(failure.class(), Class::Reset, "{}", failure.chain());
    }
    server.abort();
}

#[tokio::test]
async fn a_head_is_bounded_in_headers_and_bytes() {
    for head in [
        "A: b\r\n".repeat(HEADERS + 1),
        format!("A: {}\r\n", "b".repeat(HEAD_BYTES)),
    ] {
        let answer = format!("HTTP/1.1 200 OK\r\n{head}Content-Length: 0\r\n\r\n").into_bytes();
        let (_server, url) = answering(Box::leak(answer.into_boxed_slice())).await;
        assert_eq!(
            client().request(&url, ask()).await.unwrap_err().class(),
            Class::Protocol
        );
    }
}

#[tokio::test]
async fn failures_to_connect_are_classed_apart() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = url_of(&listener);
    drop(listener);
    for (url, class) in [
        (url.as_str(), Class::Refused),
        ("http://unknown.invalid/", Class::Dns),
        ("http://8.8.8.8/", Class::Gate),
    ] {
        let failure = client()
            .request(&Url::parse(url).unwrap(), ask())
            .await
            .unwrap_err();
        assert_eq!(failure.class(), class, "{}", failure.chain());
    }
}

#[tokio::test]
async fn localhost_reaches_a_server_on_ipv4_alone() {
    let (_server, mut url) = answering(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
    url.set_host(Some("localhost")).unwrap();
    assert_eq!(client().request(&url, ask()).await.unwrap().status, 200);
}

#[tokio::test]
async fn ipv4_is_tried_promptly_where_ipv6_swallows_everything() {
    // A listener whose backlog is full answers no SYN; that is as near to a black hole as loopback has one.
    let socket = TcpSocket::new_v6().unwrap();
    socket.bind("[::1]:0".parse().unwrap()).unwrap();
    let hole = socket.listen(1).unwrap();
    let address = hole.local_addr().unwrap();
    let mut fill = Vec::new();
    while let Ok(Ok(stream)) = timeout(Duration::from_millis(200), TcpStream::connect(address)).await {
        fill.push(stream);
    }
    let listener = TcpListener::bind(("127.0.0.1", address.port())).await.unwrap();
    let (_server, mut url) = serving(listener, b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    url.set_host(Some("localhost")).unwrap();
    let reply = client().request(&url, ask()).await.unwrap();
    assert!(
        reply.timing.connected < Duration::from_millis(900),
        "{:?}",
        reply.timing
    );
}

#[tokio::test]
async fn tls_trusts_the_given_roots_for_the_urls_host() {
    let key = KeyPair::generate().unwrap();
    let names = ["sut.test".to_owned(), "127.0.0.1".to_owned()];
    let certificate = CertificateParams::new(names).unwrap().self_signed(&key).unwrap();
    let der = certificate.der().clone();
    let mut roots = RootCertStore::empty();
    roots.add(der.clone()).unwrap();
    let trusting = ClientConfig::builder()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let key = PrivatePkcs8KeyDer::from(key.serialize_der()).into();
    let config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![der], key)
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let server = tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            if let Ok(mut stream) = acceptor.accept(stream).await {
                read_head(&mut stream).await;
                stream
                    .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                    .await
                    .unwrap();
                stream.shutdown().await.unwrap();
            }
        }
    });
    for (host, tls, said) in [
        ("sut.test", &trusting, None),
        ("127.0.0.1", &trusting, None),
        ("other.test", &trusting, Some("not valid for name")),
        ("sut.test", &trusting_nobody(), Some("UnknownIssuer")),
    ] {
        let url = Url::parse(&format!("https://{host}:{port}/")).unwrap();
        let done = client_trusting(tls).request(&url, ask()).await;
        let failure = done.err().map(|failure| (failure.class(), failure.chain()));
        match (failure, said) {
            (None, None) => {}
            (Some((Class::Tls, chain)), Some(said)) => assert!(chain.contains(said), "{chain}"),
            (failure, _) => panic!("{host}: {failure:?}"),
        }
    }
    server.abort();
}

fn ask() -> Ask {
    Ask {
        method: Method::POST,
        headers: HeaderMap::from_iter([(http::header::DATE, HeaderValue::from_static("now"))]),
        body: Bytes::from_static(b"{}"),
        within: Duration::from_secs(10),
        read: Read::All(1_000),
    }
}

fn trusting_nobody() -> ClientConfig {
    ClientConfig::builder()
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth()
}

fn client() -> Client {
    client_trusting(&trusting_nobody())
}

fn client_trusting(tls: &ClientConfig) -> Client {
    let resolve = ["sut.test", "other.test"]
        .map(|host| Rule::new(host, None, Ipv4Addr::LOCALHOST.into(), None))
        .to_vec();
    let settings = Settings {
        allow_http: true,
        resolve,
        ..Settings::default()
    };
    Client::new(Arc::new(Gate::new(settings)), Arc::new(tls.clone()))
}

fn url_of(listener: &TcpListener) -> Url {
    let address = listener.local_addr().unwrap();
    Url::parse(&format!("http://{address}//x/%7E?q=1#frag")).unwrap()
}

/// A server that answers its one request with these bytes and then holds the connection; ends with what it read.
async fn answering(bytes: &'static [u8]) -> (JoinHandle<String>, Url) {
    serving(TcpListener::bind("127.0.0.1:0").await.unwrap(), bytes)
}

fn serving(listener: TcpListener, bytes: &'static [u8]) -> (JoinHandle<String>, Url) {
    let url = url_of(&listener);
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let head = read_head(&mut stream).await;
        stream.write_all(bytes).await.unwrap();
        // Until the client leaves.
        while stream.read(&mut [0; 1_024]).await.is_ok_and(|read| read > 0) {}
        head
    });
    (server, url)
}

async fn read_head(stream: &mut (impl AsyncRead + Unpin)) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n{}") {
        head.push(stream.read_u8().await.unwrap());
    }
    String::from_utf8(head).unwrap()
}
