//! HTTP/2 towards the farm, over whatever stream: TLS, or plain TCP by prior knowledge (RFC 9113 section 3.3).

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use http::Version;
use http_body::{Frame, SizeHint};
use http_body_util::BodyExt;
use hyper::body::Bytes;
use hyper::client::conn::http2::{SendRequest, handshake};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

use super::raw::Answer;
use super::request::Request;
use super::sut::DEADLINE;

/// One connection.
#[derive(Clone)]
pub struct Http2 {
    sender: SendRequest<Slices>,
}

impl Http2 {
    pub async fn connect(to: SocketAddr) -> Http2 {
        Http2::over(TcpStream::connect(to).await.unwrap()).await
    }

    pub async fn over<S>(stream: S) -> Http2
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (sender, connection) = handshake(TokioExecutor::new(), TokioIo::new(stream))
            .await
            .unwrap();
        tokio::spawn(connection);
        Http2 { sender }
    }

    /// Sends a request and reads the answer. `Host` becomes `:authority`.
    pub async fn send(&mut self, request: &Request) -> Answer {
        let mut request = request.clone();
        if let Some(host) = request.headers.remove("host") {
            request.authority = host.to_str().unwrap().to_owned();
        }
        self.send_as_is(&request).await.0
    }

    /// Sends a request with its authority as `:authority` and all its headers, `Host` included. Tells too how much
    /// of the body was let through by the time that the answer's head came.
    pub async fn send_as_is(&mut self, request: &Request) -> (Answer, usize) {
        let sent = Arc::new(AtomicUsize::new(0));
        let body = Slices {
            rest: request.body.clone().into(),
            sent: Arc::clone(&sent),
        };
        let url = format!("https://{}{}", request.authority, request.target);
        let mut asked = http::Request::new(body);
        *asked.method_mut() = request.method.parse().unwrap();
        *asked.uri_mut() = url.parse().unwrap();
        *asked.version_mut() = Version::HTTP_2;
        *asked.headers_mut() = request.headers.clone();
        let response = tokio::time::timeout(DEADLINE, self.sender.send_request(asked)).await;
        let response = response
            .expect("an answer within the deadline")
            .expect("an answer");
        let sent = sent.load(Ordering::Relaxed);
        let (head, body) = response.into_parts();
        let mut lines = format!("HTTP/2 {}\r\n", head.status.as_u16());
        for (name, value) in &head.headers {
            lines += &format!("{name}: {}\r\n", value.to_str().unwrap());
        }
        let body = tokio::time::timeout(DEADLINE, body.collect()).await;
        let body = body.expect("a body within the deadline").expect("a whole body");
        let answer = Answer {
            status: head.status.as_u16(),
            head: lines,
            body: body.to_bytes().to_vec(),
        };
        (answer, sent)
    }
}

/// A body that leaves piece by piece, as the other side lets it.
pub struct Slices {
    rest: Bytes,
    sent: Arc<AtomicUsize>,
}

impl http_body::Body for Slices {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.rest.is_empty() {
            return Poll::Ready(None);
        }
        let slice = self.rest.len().min(16 * 1024);
        let slice = self.rest.split_to(slice);
        self.sent.fetch_add(slice.len(), Ordering::Relaxed);
        Poll::Ready(Some(Ok(Frame::data(slice))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.rest.len() as u64)
    }
}
