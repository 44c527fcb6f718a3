//! HTTP/1.1 over a bare socket, byte for byte, so that a test can be as rude as it likes.

use std::net::SocketAddr;

use http::HeaderMap;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::sut::DEADLINE;

/// An answer as it came.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }

    /// The JSON of an answer that says 200.
    #[track_caller]
    pub fn ok(&self) -> serde_json::Value {
        assert_eq!(self.status, 200, "{}", self.text());
        self.json()
    }

    /// The values of a header, one a line.
    pub fn header(&self, name: &str) -> Vec<String> {
        let fields = self.head.lines().filter_map(|line| line.split_once(':'));
        fields
            .filter(|(own, _)| own.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.trim().to_owned())
            .collect()
    }
}

/// Authority and target of a URL.
pub fn parts(url: &str) -> (&str, &str) {
    let rest = url.split_once("://").unwrap().1;
    match rest.find('/') {
        Some(slash) => rest.split_at(slash),
        None => (rest, "/"),
    }
}

/// A request head; `Content-Length` stands in it where there is a body.
pub fn head(method: &str, target: &str, headers: &HeaderMap, length: usize) -> Vec<u8> {
    let mut head = format!("{method} {target} HTTP/1.1\r\n").into_bytes();
    for (name, value) in headers {
        head.extend_from_slice(format!("{name}: ").as_bytes());
        head.extend_from_slice(value.as_bytes());
        head.extend_from_slice(b"\r\n");
    }
    if length > 0 {
        head.extend_from_slice(format!("content-length: {length}\r\n").as_bytes());
    }
    head.extend_from_slice(b"\r\n");
    head
}

/// Sends a request over a connection of its own and reads the answer.
pub async fn send(to: SocketAddr, method: &str, target: &str, headers: &HeaderMap, body: &[u8]) -> Answer {
    let mut stream = TcpStream::connect(to).await.unwrap();
    let mut bytes = head(method, target, headers, body.len());
    bytes.extend_from_slice(body);
    stream.write_all(&bytes).await.unwrap();
    answer(&mut stream).await
}

/// A POST of `{}` that is on its way; nobody has read its answer yet.
pub async fn begin(to: SocketAddr, path: &str) -> TcpStream {
    let mut stream = TcpStream::connect(to).await.unwrap();
    let request = format!("POST {path} HTTP/1.1\r\nhost: {to}\r\ncontent-length: 2\r\n\r\n{{}}");
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

/// A GET of a URL of a peer over plain HTTP.
pub async fn get(to: SocketAddr, url: &str, accept: Option<&str>) -> Answer {
    let (authority, target) = parts(url);
    let mut headers = HeaderMap::new();
    headers.insert("host", authority.parse().unwrap());
    if let Some(accept) = accept {
        headers.insert("accept", accept.parse().unwrap());
    }
    send(to, "GET", target, &headers, b"").await
}

/// Reads until the other side has closed the connection, or reset it; what came before.
pub async fn ended(stream: &mut (impl AsyncRead + Unpin)) -> Vec<u8> {
    let mut bytes = Vec::new();
    let ended = tokio::time::timeout(DEADLINE, stream.read_to_end(&mut bytes)).await;
    // A reset ends it as well, and so does the end of a TLS stream without its alert.
    let _ = ended.expect("an end within the deadline");
    bytes
}

/// Reads one answer: its head, then as many bytes as `Content-Length` says.
pub async fn answer(stream: &mut (impl AsyncRead + Unpin)) -> Answer {
    let read = tokio::time::timeout(DEADLINE, read_answer(stream)).await;
    read.expect("an answer within the deadline").expect("an answer")
}

/// The same; `None` where the connection ends before.
pub async fn read_answer(stream: &mut (impl AsyncRead + Unpin)) -> Option<Answer> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
            // An interim answer goes before the one that counts.
            if !head.starts_with("HTTP/1.1 100") {
                break end;
            }
            bytes.drain(..end + 4);
            continue;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let mut answer = Answer {
        status,
        head,
        body: bytes.split_off(end + 4),
    };
    let length: usize = answer
        .header("content-length")
        .first()
        .map_or(0, |length| length.parse().unwrap());
    while answer.body.len() < length {
        if stream.read_buf(&mut answer.body).await.ok()? == 0 {
            return None;
        }
    }
    Some(answer)
}
