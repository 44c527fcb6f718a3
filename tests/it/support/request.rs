//! A request that is made and signed step by step, so that a test can get any one step wrong.

use std::net::SocketAddr;

use http::{HeaderMap, HeaderValue};
use peerfarm::clock::Timestamp;
use peerfarm::signature::cavage::{self, ParameterOrder};
use peerfarm::signature::key::SigningKey;
use peerfarm::signature::{self, digest};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;

use super::Sut;
use super::raw::{self, Answer};

/// What a delivery of the fediverse covers.
pub const COVERED: [&str; 4] = ["(request-target)", "host", "date", "digest"];

/// A request to be.
#[derive(Clone, Debug)]
pub struct Request {
    pub method: &'static str,
    /// Host and port, as the URL has them.
    pub authority: String,
    /// Path and query, as the URL has them.
    pub target: String,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

/// A signature to be.
#[derive(Clone, Copy)]
pub struct By<'a> {
    pub key_id: &'a str,
    pub key: &'a SigningKey,
    pub covered: &'a [&'a str],
    /// Whether the query is covered.
    pub query: bool,
    /// The host that is covered, where it is not the `Host` header's.
    pub host: Option<&'a str>,
}

impl Request {
    /// A delivery: `Host`, `Date`, `Content-Type`, `Digest`.
    pub fn post(url: &str, body: impl Into<Vec<u8>>) -> Request {
        let body = body.into();
        let digest = digest::sha256_header(&body);
        Request {
            method: "POST",
            body,
            ..Request::get(url)
        }
        .with("content-type", "application/activity+json")
        .with("digest", &digest)
    }

    /// A fetch: `Host`, `Date`.
    pub fn get(url: &str) -> Request {
        let (authority, target) = raw::parts(url);
        Request {
            method: "GET",
            authority: authority.to_owned(),
            target: target.to_owned(),
            headers: HeaderMap::new(),
            body: Vec::new(),
        }
        .with("host", authority)
        .with("date", &Timestamp::now().http_date())
    }

    /// With this header instead of what it had of that name.
    pub fn with(mut self, name: &'static str, value: &str) -> Request {
        self.headers.insert(name, HeaderValue::from_str(value).unwrap());
        self
    }

    pub fn without(mut self, name: &str) -> Request {
        self.headers.remove(name);
        self
    }

    /// With another body under the same headers.
    pub fn tampered(mut self, body: &[u8]) -> Request {
        self.body = body.to_owned();
        self
    }

    /// Signed by a user over what is usual.
    pub fn signed(self, sut: &Sut, user: &str) -> Request {
        self.signed_over(sut, user, &COVERED)
    }

    /// Signed by a user over these components.
    pub fn signed_over(self, sut: &Sut, user: &str, covered: &[&str]) -> Request {
        let key_id = sut.key_id(user);
        self.signed_by(By {
            covered,
            ..By::of(&key_id, sut.key(user))
        })
    }

    pub fn signed_by(self, by: By<'_>) -> Request {
        let signing = cavage::Signing {
            headers: by.covered,
            algorithm: "rsa-sha256",
            computes: by.key.kind().algorithm(),
            created: None,
            expires: None,
            key_id: by.key_id,
            order: ParameterOrder::default(),
            query: by.query,
        };
        let request = signature::Request {
            method: self.method,
            target: &self.target,
            scheme: "https",
            headers: &self.headers,
            authority: by.host,
            body: &self.body,
        };
        let signature = cavage::sign(&signing, &request, by.key).unwrap();
        let mut signed = self;
        signed.headers.insert("signature", signature);
        signed
    }

    /// Its bytes over HTTP/1.1.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.head();
        bytes.extend_from_slice(&self.body);
        bytes
    }

    /// Its head over HTTP/1.1.
    pub fn head(&self) -> Vec<u8> {
        raw::head(self.method, &self.target, &self.headers, self.body.len())
    }

    /// Sends it over a connection of its own.
    pub async fn send(&self, to: SocketAddr) -> Answer {
        let mut stream = TcpStream::connect(to).await.unwrap();
        self.send_over(&mut stream).await
    }

    /// Sends it over a connection.
    pub async fn send_over(&self, stream: &mut (impl AsyncRead + AsyncWrite + Unpin)) -> Answer {
        stream.write_all(&self.bytes()).await.unwrap();
        raw::answer(stream).await
    }
}

impl<'a> By<'a> {
    /// Over what is usual.
    pub fn of(key_id: &'a str, key: &'a SigningKey) -> By<'a> {
        By {
            key_id,
            key,
            covered: &COVERED,
            query: true,
            host: None,
        }
    }
}
