//! The control API, asked over HTTP/1.1: one connection a call.

use std::io;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HOST};
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::time::timeout;
use url::form_urlencoded;

use crate::command::FarmUrl;
use crate::runner::Failure;

/// One farm's control API.
#[derive(Clone, Debug)]
pub struct Api<'a> {
    farm: &'a FarmUrl,
    patience: Duration,
}

impl<'a> Api<'a> {
    /// The API at this place.
    pub fn new(farm: &'a FarmUrl) -> Api<'a> {
        Api {
            farm,
            patience: PATIENCE,
        }
    }

    /// The same API, given so much longer to answer.
    pub fn patient(self, more: Duration) -> Api<'a> {
        Api {
            patience: self.patience.saturating_add(more),
            ..self
        }
    }

    /// Asks for what lies at `path`.
    ///
    /// # Errors
    /// As [`Api::call`].
    pub async fn get(&self, path: &str, query: &[(&str, Option<String>)]) -> Result<Value, Failure> {
        self.call(Method::GET, &target(path, query), None).await
    }

    /// Posts `body`, or nothing, to `path`.
    ///
    /// # Errors
    /// As [`Api::call`].
    pub async fn post(&self, path: &str, body: Option<&Value>) -> Result<Value, Failure> {
        self.call(Method::POST, path, body).await
    }

    /// One exchange.
    ///
    /// # Errors
    /// When the farm cannot be reached, does not answer in time, answers no JSON, or refuses with a problem.
    async fn call(&self, method: Method, target: &str, body: Option<&Value>) -> Result<Value, Failure> {
        let body = body.map_or_else(Bytes::new, |body| Bytes::from(body.to_string()));
        let request = Request::builder()
            .method(method)
            .uri(target)
            .header(HOST, self.farm.authority())
            .header(ACCEPT, "application/json, application/problem+json")
            .header(CONTENT_TYPE, "application/json")
            .body(Full::new(body))
            .map_err(|source| Failure::Target {
                target: target.to_owned(),
                source,
            })?;
        let exchange = timeout(self.patience, self.exchange(request));
        let (status, body) = exchange.await.map_err(|_| Failure::Silent {
            farm: self.farm.clone(),
            patience: self.patience,
        })??;
        let answer: Option<Value> = serde_json::from_slice(&body).ok();
        match answer {
            Some(answer) if status.is_success() => Ok(answer),
            Some(Value::Object(problem))
                if problem.contains_key("title") || problem.contains_key("detail") =>
            {
                Err(Failure::Refused {
                    status,
                    problem: Value::Object(problem),
                })
            }
            _ => Err(Failure::Foreign {
                farm: self.farm.clone(),
                status,
            }),
        }
    }

    async fn exchange(&self, request: Request<Full<Bytes>>) -> Result<(StatusCode, Bytes), Failure> {
        let unreached = |error| Failure::Unreached {
            farm: self.farm.clone(),
            error,
        };
        let connect = TcpStream::connect((self.farm.host.as_str(), self.farm.port));
        let stream = timeout(CONNECT_PATIENCE, connect)
            .await
            .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
            .map_err(unreached)?;
        let broken = |source| Failure::Broken {
            farm: self.farm.clone(),
            source,
        };
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(broken)?;
        // It ends when the sender is dropped, and whatever it has to say the sender says too.
        tokio::spawn(connection);
        let response = sender.send_request(request).await.map_err(broken)?;
        let status = response.status();
        match Limited::new(response.into_body(), MAX_ANSWER).collect().await {
            Ok(body) => Ok((status, body.to_bytes())),
            Err(error) if error.is::<LengthLimitError>() => Err(Failure::TooLarge { limit: MAX_ANSWER }),
            Err(error) => match error.downcast::<hyper::Error>() {
                Ok(source) => Err(broken(*source)),
                Err(error) => Err(unreached(io::Error::other(error))),
            },
        }
    }
}

/// A path with those parameters that have a value.
fn target(path: &str, query: &[(&str, Option<String>)]) -> String {
    let mut encoded = form_urlencoded::Serializer::new(String::new());
    for (name, value) in query {
        if let Some(value) = value {
            encoded.append_pair(name, value);
        }
    }
    match encoded.finish() {
        query if query.is_empty() => path.to_owned(),
        query => format!("{path}?{query}"),
    }
}

/// What the system said, without its number: `connection refused`.
pub(super) fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    let words = text
        .split_once(" (os error")
        .map_or(text.as_str(), |(words, _)| words);
    let mut letters = words.chars();
    match letters.next() {
        Some(first) => first.to_lowercase().chain(letters).collect(),
        None => String::new(),
    }
}

/// How long a connection may take.
const CONNECT_PATIENCE: Duration = Duration::from_secs(5);
/// How long an answer may take: a delivery waits for the server under test, as long as the sending software would.
const PATIENCE: Duration = Duration::from_secs(120);
/// The largest answer that is read, in bytes.
const MAX_ANSWER: usize = 256 << 20;
