//! A request as it came, in the form of HTTP/1.1 whatever it came over: one buffer, since the journal keeps many.

use http::{Request, Version};

/// The request as it came.
#[derive(Clone, Debug, Default)]
pub struct Raw {
    bytes: Vec<u8>,
    method: usize,
    path: usize,
    target: usize,
    version: &'static str,
    authority: Option<Box<str>>,
    head: usize,
}

impl Raw {
    /// The head of a request, with room for so many bytes of body.
    pub fn head<B>(request: &Request<B>, body: usize) -> Raw {
        let line = |bytes: &mut Vec<u8>, part: &str| {
            bytes.extend_from_slice(part.as_bytes());
            bytes.len()
        };
        let target = request
            .uri()
            .path_and_query()
            .map_or("/", |target| target.as_str());
        let fields = request.headers().iter();
        let length: usize = fields
            .map(|(name, value)| name.as_str().len() + value.len() + 4)
            .sum();
        let mut bytes = Vec::with_capacity(target.len() + length + body.min(BODY_ROOM) + 16);
        let method = line(&mut bytes, request.method().as_str());
        let path = method + request.uri().path().len().min(target.len());
        let target = line(&mut bytes, target);
        for (name, value) in request.headers() {
            line(&mut bytes, name.as_str());
            line(&mut bytes, ": ");
            bytes.extend_from_slice(value.as_bytes());
            line(&mut bytes, "\r\n");
        }
        Raw {
            method,
            path,
            target,
            version: if request.version() == Version::HTTP_2 {
                "HTTP/2.0"
            } else {
                "HTTP/1.1"
            },
            authority: request
                .uri()
                .authority()
                .map(|authority| authority.as_str().into()),
            head: bytes.len(),
            bytes,
        }
    }

    /// Adds the body. It is copied, since hyper's buffers are larger than what they carry.
    pub fn add_body(&mut self, body: &[u8]) {
        self.bytes.extend_from_slice(body);
    }

    /// The method.
    pub fn method(&self) -> &str {
        self.text(0, self.method)
    }

    /// The path, without the query.
    pub fn path(&self) -> &str {
        self.text(self.method, self.path)
    }

    /// The request target: path and query.
    pub fn target(&self) -> &str {
        self.text(self.method, self.target)
    }

    /// `HTTP/1.1` or `HTTP/2.0`.
    pub fn version(&self) -> &'static str {
        self.version
    }

    /// The host that `:authority` or a whole URL asked for; `None` where only `Host` does.
    pub fn authority(&self) -> Option<&str> {
        self.authority.as_deref()
    }

    /// The headers in their order, one `name: value` a line, each ended by CRLF.
    pub fn headers(&self) -> &[u8] {
        &self.bytes[self.target..self.head]
    }

    /// The body.
    pub fn body(&self) -> &[u8] {
        &self.bytes[self.head..]
    }

    /// What it takes in memory.
    pub(super) fn weight(&self) -> usize {
        self.bytes.capacity() + self.authority().map_or(0, str::len)
    }

    /// Method and target came as text.
    fn text(&self, from: usize, to: usize) -> &str {
        std::str::from_utf8(&self.bytes[from..to]).unwrap_or_default()
    }
}

/// How much is set aside for a body that was only announced.
const BODY_ROOM: usize = 4 * 1024;
