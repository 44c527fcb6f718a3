//! The bodies of the control API's answers.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, Response};
use http_body::{Frame, SizeHint};
use http_body_util::Full;
use serde::Serialize;

use crate::control::events::Events;
use crate::serve;

/// A body: whole, or one that goes on.
#[derive(Debug)]
pub enum Body {
    /// Server-sent events.
    Events(Events),
    /// A hook's answer.
    Hook(serve::Body),
    /// Bytes that are all there.
    Whole(Full<Bytes>),
}

impl From<Bytes> for Body {
    fn from(bytes: Bytes) -> Body {
        Body::Whole(Full::new(bytes))
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.get_mut() {
            Body::Events(events) => Pin::new(events).poll_frame(cx),
            Body::Hook(hook) => Pin::new(hook).poll_frame(cx),
            Body::Whole(whole) => Pin::new(whole).poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Body::Events(_) => false,
            Body::Hook(hook) => hook.is_end_stream(),
            Body::Whole(whole) => whole.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Body::Events(_) => SizeHint::default(),
            Body::Hook(hook) => hook.size_hint(),
            Body::Whole(whole) => whole.size_hint(),
        }
    }
}

/// 200 with a value as JSON and a line end, for terminals.
pub(super) fn json(value: &impl Serialize) -> Response<Body> {
    // Keys are strings and no serialiser here fails, so there always is a text.
    let mut text = serde_json::to_vec(value).unwrap_or_default();
    text.push(b'\n');
    whole("application/json", text)
}

/// 200 with a text of that media type.
pub(super) fn whole(media_type: &'static str, text: impl Into<Bytes>) -> Response<Body> {
    typed(media_type, Body::from(text.into()))
}

/// 200 with a body of that media type. No answer of the API holds longer than the moment.
pub(super) fn typed(media_type: &'static str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
