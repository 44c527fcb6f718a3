//! What the control API says no with: problem details (RFC 9457).

use bytes::Bytes;
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, Response, StatusCode};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::control::Body;

/// A refusal. Its `type` is always `about:blank`: the status says what kind it is (RFC 9457 section 4.2.1), and the
/// members beside `detail` say the rest to programs.
#[derive(Clone, Debug)]
pub struct Problem(Box<Details>);

#[derive(Clone, Debug, Serialize)]
struct Details {
    r#type: &'static str,
    title: &'static str,
    status: u16,
    detail: String,
    #[serde(flatten)]
    more: Map<String, Value>,
    #[serde(skip)]
    allow: Option<&'static str>,
}

impl Problem {
    /// A refusal with that status; `detail` says to a person what would be right.
    pub fn new(status: StatusCode, detail: impl Into<String>) -> Problem {
        Problem(Box::new(Details {
            r#type: "about:blank",
            title: status.canonical_reason().unwrap_or("Refused"),
            status: status.as_u16(),
            detail: detail.into(),
            more: Map::new(),
            allow: None,
        }))
    }

    /// A method the path does not take; `allow` lists those it takes, as the header of that name has them.
    pub fn wrong_method(path: &str, allow: &'static str) -> Problem {
        let mut problem = Problem::new(
            StatusCode::METHOD_NOT_ALLOWED,
            format!("`{path}` takes {allow} alone"),
        );
        problem.0.allow = Some(allow);
        problem
    }

    /// The same refusal with a member of its own; `detail` and its like keep theirs.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<Value>) -> Problem {
        self.0.more.insert(name.to_owned(), value.into());
        self
    }

    /// The status.
    pub fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.0.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    /// What it says to a person.
    pub fn detail(&self) -> &str {
        &self.0.detail
    }
}

impl From<Problem> for Response<Body> {
    fn from(problem: Problem) -> Response<Body> {
        // Every member is a string, a number or a value that is JSON already.
        let mut text = serde_json::to_vec(&problem.0).unwrap_or_default();
        text.push(b'\n');
        let mut response = Response::new(Body::from(Bytes::from(text)));
        *response.status_mut() = problem.status();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(allow) = problem.0.allow {
            headers.insert(ALLOW, HeaderValue::from_static(allow));
        }
        response
    }
}
