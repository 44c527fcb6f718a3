//! The only place that waits, cuts and sends: it reads bodies within their bounds, carries out what a fault planned,
//! and hands the answer over frame by frame.

use std::error::Error;
use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use http::header::{CONNECTION, CONTENT_TYPE, EXPECT};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Version};
use http_body::{Body as _, Frame, SizeHint};
use http_body_util::BodyExt;
use hyper::body::Incoming;

use crate::answer::Answer;
use crate::fault::Plan;
use crate::net::line::Line;
use crate::serve::Patience;
use crate::serve::record::Record;
use crate::serve::via::Departed;
use crate::units::Span;

/// How much of a body that is too large is still read, so that its sender gets to see the answer.
pub const DRAIN_MAX: usize = 8 * 1024 * 1024;

/// Why a body was not read to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unread {
    /// The connection broke.
    Broken,
    /// It took longer than this.
    Late(Span),
    /// Its chunks are none (RFC 9112 section 7.1); where it would end nobody knows.
    Malformed,
    /// It is larger than the limit. Up to [`DRAIN_MAX`] it was read and thrown away.
    TooLarge {
        /// Whether its end was reached, so that the connection is still good.
        drained: bool,
    },
}

impl Unread {
    fn of(error: &hyper::Error) -> Unread {
        let source = error
            .source()
            .and_then(|source| source.downcast_ref::<io::Error>());
        match source.map(io::Error::kind) {
            Some(ErrorKind::InvalidData | ErrorKind::InvalidInput) => Unread::Malformed,
            _ => Unread::Broken,
        }
    }
}

/// Reads a body of `limit` bytes at the most, which may take as long as `patience` says.
pub async fn read(
    headers: &HeaderMap,
    body: Incoming,
    limit: usize,
    patience: Patience,
) -> Result<Bytes, Unread> {
    if body.size_hint().lower() > limit as u64 && headers.contains_key(EXPECT) {
        // The sender waits for leave to send it, and gets the refusal instead.
        return Err(Unread::TooLarge { drained: false });
    }
    let mut reading = std::pin::pin!(collect(body, limit));
    // What came with the head is there after one more turn of the connection: only what did not needs a clock.
    if let Some(read) = soon(reading.as_mut()).await {
        return read;
    }
    let read = tokio::time::timeout(patience.body, reading).await;
    read.unwrap_or(Err(Unread::Late(patience.body.into())))
}

/// Waits as long as the plan says. It ends early when the sender goes away: nobody is left to answer.
pub async fn hold(plan: &Plan, record: &Record, line: &Line) -> Result<(), Departed> {
    if plan.hang {
        let _held = record.hold();
        // Nobody but the sender, or the farm's end, ends a hang.
        tokio::select! {
            _ = line.departed() => {}
            () = record.farm_ends() => {}
        }
        return Err(Departed);
    }
    if plan.delay.is_zero() {
        return Ok(());
    }
    let _held = record.hold();
    tokio::select! {
        biased;
        () = tokio::time::sleep(plan.delay) => Ok(()),
        _ = line.departed() => Err(Departed),
    }
}

/// Makes the response of an answer; the record is committed with its last frame.
pub fn send(answer: Answer, method: &Method, mut record: Record) -> Response<Body> {
    record.answered(answer.status);
    let mut response = Response::new(());
    *response.status_mut() = answer.status;
    *response.headers_mut() = answer.headers;
    let body = Body {
        bytes: answer.body,
        record: Some(Box::new(record)),
    };
    // hyper does not ask for the frames of an empty body, nor of any where the method is HEAD.
    let body = match body.bytes.is_empty() || method == Method::HEAD {
        true => body.committed(),
        false => body,
    };
    response.map(|()| body)
}

/// A response that is counted elsewhere or nowhere.
pub fn plain(answer: Answer) -> Response<Body> {
    let mut response = Response::new(Body {
        bytes: answer.body,
        record: None,
    });
    *response.status_mut() = answer.status;
    *response.headers_mut() = answer.headers;
    response
}

/// Says that the connection will close, where the protocol has a word for it (RFC 9112 section 9.6).
pub fn closing(mut answer: Answer, version: Version) -> Answer {
    if version < Version::HTTP_2 {
        answer
            .headers
            .insert(CONNECTION, HeaderValue::from_static("close"));
    }
    answer
}

/// The answer to a body that was not read to its end.
pub fn unread(unread: Unread, version: Version, limit: usize) -> Answer {
    let (status, text, clean) = match unread {
        Unread::TooLarge { drained } => (
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("the body is larger than {limit} bytes\n"),
            drained,
        ),
        Unread::Late(within) => (
            StatusCode::REQUEST_TIMEOUT,
            format!("the body took longer than {within}\n"),
            false,
        ),
        Unread::Broken | Unread::Malformed => (
            StatusCode::BAD_REQUEST,
            "the body is not chunked as it says\n".to_owned(),
            false,
        ),
    };
    let answer = Answer {
        status,
        headers: HeaderMap::from_iter([(
            CONTENT_TYPE,
            HeaderValue::from_static("text/plain; charset=utf-8"),
        )]),
        body: text.into(),
    };
    match clean {
        true => answer,
        false => closing(answer, version),
    }
}

/// Reads and forgets a body that nobody wants, so that its sender gets to see the answer. False where it was not
/// read to its end.
pub async fn drain(request: Request<Incoming>, patience: Patience) -> bool {
    if request.headers().contains_key(EXPECT) {
        return request.body().is_end_stream();
    }
    match read(&HeaderMap::new(), request.into_body(), 0, patience).await {
        Ok(_) => true,
        Err(Unread::TooLarge { drained }) => drained,
        Err(_) => false,
    }
}

/// A response's body: one frame at the most.
#[derive(Debug)]
pub struct Body {
    bytes: Bytes,
    /// On the heap, since hyper moves a body a few times before it asks for its frame.
    record: Option<Box<Record>>,
}

impl Body {
    fn committed(mut self) -> Body {
        if let Some(record) = self.record.take() {
            record.commit();
        }
        self
    }
}

impl From<Bytes> for Body {
    fn from(bytes: Bytes) -> Body {
        Body { bytes, record: None }
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if self.bytes.is_empty() {
            return Poll::Ready(None);
        }
        if let Some(record) = self.record.take() {
            record.commit();
        }
        Poll::Ready(Some(Ok(Frame::data(std::mem::take(&mut self.bytes)))))
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.bytes.len() as u64)
    }
}

/// What a future gives at its first or its second turn; `None` where it needs more.
async fn soon<F: Future>(mut future: Pin<&mut F>) -> Option<F::Output> {
    let mut again = true;
    std::future::poll_fn(|cx| match future.as_mut().poll(cx) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending if std::mem::take(&mut again) => {
            cx.waker().wake_by_ref();
            Poll::Pending
        }
        Poll::Pending => Poll::Ready(None),
    })
    .await
}

async fn collect(mut body: Incoming, limit: usize) -> Result<Bytes, Unread> {
    let mut first = Bytes::new();
    let mut rest = BytesMut::new();
    let mut total = 0;
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|error| Unread::of(&error))?.into_data() else {
            continue;
        };
        total += data.len();
        if total > DRAIN_MAX.max(limit) {
            return Err(Unread::TooLarge { drained: false });
        }
        if total > limit {
            // The rest is only read so that the answer gets through.
            (first, rest) = (Bytes::new(), BytesMut::new());
        } else if first.is_empty() {
            first = data;
        } else {
            if rest.is_empty() {
                rest.extend_from_slice(&first);
            }
            rest.extend_from_slice(&data);
        }
    }
    match total > limit {
        true => Err(Unread::TooLarge { drained: true }),
        false if rest.is_empty() => Ok(first),
        false => Ok(rest.freeze()),
    }
}
