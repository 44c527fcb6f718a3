//! A request that is made and signed step by step, so that a test can get any one step wrong.

use std::net::SocketAddr;

use http::{HeaderMap, HeaderValue};
use peerfarm::clock::Timestamp;
use peerfarm::signature::cavage::{self, ParameterOrder};
use peerfarm::signature::key::SigningKey;
use peerfarm::signature::rfc9421::{self, Component, Message};
use peerfarm::signature::{self, content_digest, digest};
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
    /// The `algorithm` parameter, whatever the key.
    pub algorithm: &'a str,
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
            algorithm: by.algorithm,
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

    /// Signed by a user in RFC 9421 over these components, besides what signatures it has. `Content-Digest` takes the
    /// place of `Digest`.
    pub fn signed_rfc9421(self, sut: &Sut, user: &str, label: &str, covered: &[&str]) -> Request {
        self.signed_rfc9421_by(&sut.key_id(user), sut.key(user), label, covered)
    }

    /// The same by any key under any key id.
    pub fn signed_rfc9421_by(self, key_id: &str, key: &SigningKey, label: &str, covered: &[&str]) -> Request {
        let components: Vec<Component> = covered.iter().map(|name| name.parse().unwrap()).collect();
        let signing = rfc9421::Signing {
            label,
            components: &components,
            key_id,
            algorithm: key.kind().algorithm(),
            names_algorithm: false,
            created: Some(Timestamp::now().unix()),
            expires: None,
            nonce: None,
            tag: None,
        };
        let mut signed = self.without("digest");
        if !signed.body.is_empty() {
            let digest = content_digest::sha256_header(&signed.body);
            signed = signed.with("content-digest", &digest);
        }
        let request = signature::Request {
            method: signed.method,
            target: &signed.target,
            scheme: "https",
            headers: &signed.headers,
            authority: None,
            body: &signed.body,
        };
        let made = rfc9421::sign(&signing, &Message::Request(&request), key).unwrap();
        signed.headers.append("signature-input", made.input);
        signed.headers.append("signature", made.signature);
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
            algorithm: "rsa-sha256",
            covered: &COVERED,
            query: true,
            host: None,
        }
    }
}
