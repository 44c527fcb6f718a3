//! The HTTP/1.1 client: one connection an exchange, one deadline over all of it, nothing read without a bound, no
//! redirect followed. It connects only where a [`Permit`] leads.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::header::{HOST, HeaderMap, HeaderValue};
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Instant, timeout};
use tokio_rustls::TlsConnector;
use tokio_util::task::AbortOnDropHandle;
use url::{Position, Url};

use crate::net::connect::connect;
use crate::net::failure::{Failure, Stage};
use crate::net::gate::{Gate, Permit};

/// What is sent. The URL stands in the permit, so that nothing is sent elsewhere.
#[derive(Clone, Debug)]
pub struct Ask {
    /// `GET`, `POST`.
    pub method: Method,
    /// The headers, in the order in which they are sent. `Host` is filled in where it is missing.
    pub headers: HeaderMap,
    /// The body; empty for none.
    pub body: Bytes,
    /// What the whole exchange may take, from the lookup to the body's last byte.
    pub within: Duration,
    /// How much of the answer's body is read.
    pub read: Read,
}

/// How much of a body is read, in bytes.
#[derive(Clone, Copy, Debug)]
pub enum Read {
    /// All of it; one that is larger is a failure.
    All(usize),
    /// The beginning; what comes behind is left.
    Start(usize),
}

/// What came back, whole.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The status.
    pub status: StatusCode,
    /// The headers, at most [`HEADERS`] and [`HEAD_BYTES`] in all.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
    /// How long it took.
    pub timing: Timing,
}

/// How long an exchange took, from its start.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// Until the connection stood, TLS included.
    pub connected: Duration,
    /// Until the answer's head was there.
    pub answered: Duration,
    /// Until the answer's last byte.
    pub total: Duration,
}

/// Sends requests through the gate.
#[derive(Clone)]
pub struct Client {
    gate: Arc<Gate>,
    tls: Arc<ClientConfig>,
}

impl Client {
    /// A client behind `gate` that trusts what `tls` trusts; `tls` offers `http/1.1` or nothing.
    pub fn new(gate: Arc<Gate>, tls: Arc<ClientConfig>) -> Client {
        Client { gate, tls }
    }

    /// The gate it stands behind.
    pub fn gate(&self) -> &Arc<Gate> {
        &self.gate
    }

    /// Has a URL judged and, where it passes, makes the exchange; the deadline covers both.
    ///
    /// # Errors
    /// See [`Failure`]; after [`Failure::Gate`] nothing was sent.
    pub async fn request(&self, url: &Url, ask: Ask) -> Result<Reply, Failure> {
        let mut progress = Progress::new(url.host_str().unwrap_or_default(), ask.within);
        let exchange = async |progress: &mut Progress| {
            let permit = self.gate.vet(url).await?;
            self.run(&permit, ask, progress).await
        };
        progress.limit(exchange).await
    }

    /// Makes one exchange where the permit leads.
    ///
    /// # Errors
    /// See [`Failure`].
    pub async fn exchange(&self, permit: &Permit, ask: Ask) -> Result<Reply, Failure> {
        let mut progress = Progress::new(permit.host(), ask.within);
        progress
            .limit(async |progress: &mut Progress| self.run(permit, ask, progress).await)
            .await
    }

    async fn run(&self, permit: &Permit, ask: Ask, progress: &mut Progress) -> Result<Reply, Failure> {
        progress.stage = Stage::Connect;
        let stream = connect(permit).await?;
        if permit.url().scheme() == "http" {
            return speak(stream, permit, ask, progress).await;
        }
        progress.stage = Stage::Handshake;
        let failed = |source| Failure::Tls {
            host: permit.host().to_owned(),
            source,
        };
        let name = server_name(permit).map_err(failed)?;
        let stream = TlsConnector::from(Arc::clone(&self.tls))
            .connect(name, stream)
            .await
            .map_err(failed)?;
        speak(stream, permit, ask, progress).await
    }
}

/// How far an exchange has come; it outlives the exchange, so that a deadline can say what it cut off.
struct Progress {
    host: String,
    start: Instant,
    within: Duration,
    stage: Stage,
    status: Option<u16>,
}

impl Progress {
    fn new(host: &str, within: Duration) -> Progress {
        Progress {
            host: host.to_owned(),
            start: Instant::now(),
            within,
            stage: Stage::Lookup,
            status: None,
        }
    }

    /// Runs an exchange up to the deadline.
    async fn limit<F>(&mut self, exchange: F) -> Result<Reply, Failure>
    where
        F: AsyncFnOnce(&mut Progress) -> Result<Reply, Failure>,
    {
        match timeout(self.within, exchange(self)).await {
            Ok(done) => done,
            Err(_) => Err(Failure::Timeout {
                host: self.host.clone(),
                limit: self.within,
                stage: self.stage,
                status: self.status,
            }),
        }
    }

    fn broken(&self, source: hyper::Error) -> Failure {
        Failure::Http {
            host: self.host.clone(),
            stage: self.stage,
            status: self.status,
            source,
        }
    }
}

/// HTTP/1.1 over a connection that stands: one request, one answer.
async fn speak<S>(stream: S, permit: &Permit, ask: Ask, progress: &mut Progress) -> Result<Reply, Failure>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let connected = progress.start.elapsed();
    progress.stage = Stage::Head;
    let how = ask.read;
    let request = request(permit.url(), ask)?;
    let (mut sender, connection) = http1::Builder::new()
        .max_headers(HEADERS)
        .max_header_size(HEAD_BYTES)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(|error| progress.broken(error))?;
    let driver = AbortOnDropHandle::new(tokio::spawn(connection));
    let sent = sender.send_request(request).await;
    let answer = match sent {
        Ok(answer) => answer,
        // hyper tells the reason to the connection alone where the request had not been taken up.
        Err(error) if error.is_canceled() || error.is_closed() => {
            let reason = driver.await.ok().and_then(Result::err);
            return Err(progress.broken(reason.unwrap_or(error)));
        }
        Err(error) => return Err(progress.broken(error)),
    };
    progress.stage = Stage::Body;
    progress.status = Some(answer.status().as_u16());
    let answered = progress.start.elapsed();
    let (head, body) = answer.into_parts();
    let body = read(body, how, head.status, progress).await?;
    let timing = Timing {
        connected,
        answered,
        total: progress.start.elapsed(),
    };
    Ok(Reply {
        status: head.status,
        headers: head.headers,
        body,
        timing,
    })
}

/// The request as it goes on the wire: origin form (RFC 9112 section 3.2.1), never the text a user typed.
fn request(url: &Url, ask: Ask) -> Result<Request<Full<Bytes>>, Failure> {
    let mut request = Request::builder()
        .method(ask.method)
        .uri(&url[Position::BeforePath..Position::AfterQuery])
        .body(Full::new(ask.body))?;
    *request.headers_mut() = ask.headers;
    if !request.headers().contains_key(HOST) {
        let authority = &url[Position::BeforeHost..Position::AfterPort];
        let host = HeaderValue::from_str(authority).map_err(http::Error::from)?;
        request.headers_mut().insert(HOST, host);
    }
    Ok(request)
}

async fn read(
    mut body: Incoming,
    how: Read,
    status: StatusCode,
    progress: &Progress,
) -> Result<Bytes, Failure> {
    let (Read::All(limit) | Read::Start(limit)) = how;
    let mut bytes = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| progress.broken(error))?;
        let Some(data) = frame.data_ref() else { continue };
        let room = limit - bytes.len();
        bytes.extend_from_slice(&data[..data.len().min(room)]);
        if data.len() > room {
            return match how {
                Read::Start(_) => Ok(bytes.freeze()),
                Read::All(_) => Err(Failure::TooLarge {
                    host: progress.host.clone(),
                    limit,
                    status: status.as_u16(),
                }),
            };
        }
    }
    Ok(bytes.freeze())
}

/// The name the certificate must carry: the URL's host, an address included.
fn server_name(permit: &Permit) -> std::io::Result<ServerName<'static>> {
    let host = permit.host().trim_start_matches('[').trim_end_matches(']');
    ServerName::try_from(host.to_owned()).map_err(std::io::Error::other)
}

/// How many headers an answer may have.
pub const HEADERS: usize = 100;

/// How large an answer's head may be, in bytes.
pub const HEAD_BYTES: usize = 64 * 1024;

#[cfg(test)]
mod tests;
