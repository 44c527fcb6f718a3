//! What is signed: a request, or a response.

use http::HeaderMap;

use crate::signature::Request;

/// A message whose components a signature can cover.
#[derive(Clone, Copy, Debug)]
pub enum Message<'a> {
    /// A request.
    Request(&'a Request<'a>),
    /// A response.
    Response(Response<'a>),
}

/// What of a response a signature can cover.
#[derive(Clone, Copy, Debug)]
pub struct Response<'a> {
    /// The status code: 200.
    pub status: u16,
    /// The headers.
    pub headers: &'a HeaderMap,
    /// The body, before any content coding is undone.
    pub body: &'a [u8],
    /// The request it answers, for components with `;req` (RFC 9421 section 2.4).
    pub request: Option<&'a Request<'a>>,
}

impl<'a> Message<'a> {
    /// Its headers.
    pub fn headers(&self) -> &'a HeaderMap {
        match self {
            Message::Request(request) => request.headers,
            Message::Response(response) => response.headers,
        }
    }

    /// Its body.
    pub fn body(&self) -> &'a [u8] {
        match self {
            Message::Request(request) => request.body,
            Message::Response(response) => response.body,
        }
    }
}
