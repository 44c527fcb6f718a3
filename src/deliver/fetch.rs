//! Fetching an ActivityPub document (ActivityPub section 3.2): signed as the software signs, redirects followed as
//! far as it follows them, each judged by the gate anew and signed anew.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderMap, LOCATION};
use http::{Method, StatusCode};
use serde_json::Value;
use tokio::time::Instant;
use url::Url;

use crate::activitypub::{MediaType, is_activity};
use crate::clock::Timestamp;
use crate::deliver::{Outbound, Signer, SignerError};
use crate::net::client::{Ask, Read, Reply};
use crate::net::failure::{Class, Failure, chain};

/// A document that was fetched.
#[derive(Clone, Debug)]
pub struct Document {
    /// Where it was in the end, after all redirects.
    pub url: Url,
    /// The JSON object.
    pub value: Value,
    /// What was noticed besides: `content_type_json`.
    pub notes: Vec<&'static str>,
}

/// What a GET is for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wanted {
    /// No ActivityPub, asked for by that `Accept` and never signed.
    Discovery(&'static str),
    /// An ActivityPub document, in the dialects that the software knocks in.
    Document,
}

impl Outbound {
    /// Fetches the ActivityPub document at `url`; a fragment is left out. One deadline, the software's, covers all
    /// redirects.
    ///
    /// # Errors
    /// See [`FetchError`].
    pub async fn fetch(&self, signer: &Signer, url: &Url) -> Result<Document, FetchError> {
        let (url, reply) = self.get(signer, url, Wanted::Document).await?;
        let (value, notes) = read(&url, &reply)?;
        Ok(Document { url, value, notes })
    }

    /// A GET that follows redirects: the last URL and what it answered, which is neither a redirect nor a failure.
    pub(super) async fn get(
        &self,
        signer: &Signer,
        url: &Url,
        wanted: Wanted,
    ) -> Result<(Url, Reply), FetchError> {
        let manners = &signer.software().client;
        let start = Instant::now();
        let mut url = url.clone();
        url.set_fragment(None);
        for _ in 0..=manners.redirects {
            let ask = Ask {
                method: Method::GET,
                headers: HeaderMap::new(),
                body: Bytes::new(),
                within: manners.fetch_timeout.saturating_sub(start.elapsed()),
                read: Read::All(manners.body_limit),
            };
            let reply = match wanted {
                Wanted::Document => {
                    let sign = |dialect| signer.get(&url, &signer.means(dialect, None, Timestamp::now()));
                    self.knock(signer, &url, None, ask, sign).await?.done?
                }
                Wanted::Discovery(accept) => {
                    let headers = signer.get_plain(&url, accept, Timestamp::now())?;
                    self.client.request(&url, Ask { headers, ..ask }).await?
                }
            };
            match reply.status {
                status if status.is_success() => return Ok((url, reply)),
                status if is_redirect(status) => url = next(&url, &reply)?,
                status => {
                    return Err(FetchError::Status {
                        url,
                        status: status.as_u16(),
                    });
                }
            }
        }
        Err(FetchError::Redirects {
            url,
            limit: manners.redirects,
        })
    }
}

/// Why a document could not be had.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The exchange did not come to its end.
    #[error(transparent)]
    Exchange(#[from] Failure),
    /// The answer is no JSON object.
    #[error("`{url}` is no JSON object: {problem}")]
    Json {
        /// The URL.
        url: Url,
        /// What the JSON reader said.
        problem: String,
    },
    /// A redirect that leads nowhere.
    #[error("`{url}` redirects to no URL: `{location}`")]
    Location {
        /// The URL.
        url: Url,
        /// What `Location` said; empty where there was none.
        location: String,
    },
    /// More redirects than the software follows.
    #[error("`{url}` is one redirect too many: this software follows {limit}")]
    Redirects {
        /// Where the last redirect leads.
        url: Url,
        /// How many are followed.
        limit: usize,
    },
    /// The request could not be signed.
    #[error(transparent)]
    Signer(#[from] SignerError),
    /// Another status than success.
    #[error("`{url}` answers {status}")]
    Status {
        /// The URL.
        url: Url,
        /// The status.
        status: u16,
    },
    /// Another media type than an ActivityPub document has (ActivityPub section 3.2).
    #[error(
        "`{url}` is `{content_type}`, no ActivityPub document: `application/activity+json` would be right, or \
         `application/ld+json; profile=\"https://www.w3.org/ns/activitystreams\"`"
    )]
    Type {
        /// The URL.
        url: Url,
        /// The media type; empty where there was none.
        content_type: String,
    },
}

impl FetchError {
    /// Whether it says that there is no such document: 404 or 410.
    pub fn is_gone(&self) -> bool {
        matches!(
            self,
            FetchError::Status {
                status: 404 | 410,
                ..
            }
        )
    }

    /// The message and those of all its causes, joined by colons.
    pub fn chain(&self) -> String {
        chain(self)
    }

    /// The class it is counted under: that of the exchange, or what was wrong with the answer.
    pub fn label(&self) -> &'static str {
        match self {
            FetchError::Exchange(failure) => failure.class().label(),
            FetchError::Json { .. } => "json",
            FetchError::Location { .. } | FetchError::Redirects { .. } => "redirect",
            FetchError::Signer(_) => Class::Local.label(),
            FetchError::Status { .. } => "status",
            FetchError::Type { .. } => "content_type",
        }
    }
}

/// RFC 9110 section 15.4: the redirects that lead a GET to another URL.
fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

/// Where a redirect leads, relative to where it was found (RFC 9110 section 10.2.2); a fragment leads a GET nowhere.
fn next(url: &Url, reply: &Reply) -> Result<Url, FetchError> {
    let location = header(&reply.headers, LOCATION);
    let joined = match location.is_empty() {
        true => None,
        false => url.join(&location).ok(),
    };
    let mut next = joined.ok_or_else(|| FetchError::Location {
        url: url.clone(),
        location,
    })?;
    next.set_fragment(None);
    Ok(next)
}

/// The JSON object of an answer, and what was noticed about it.
fn read(url: &Url, reply: &Reply) -> Result<(Value, Vec<&'static str>), FetchError> {
    let content_type = header(&reply.headers, CONTENT_TYPE);
    let mut notes = Vec::new();
    if !is_activity(&content_type) {
        let is_json = MediaType::parse(&content_type)
            .is_some_and(|media| media.is("application", "json") || media.is("application", "ld+json"));
        if !is_json {
            return Err(FetchError::Type {
                url: url.clone(),
                content_type,
            });
        }
        notes.push("content_type_json");
    }
    Ok((object(url, &reply.body)?, notes))
}

/// A JSON object and nothing else.
pub(super) fn object(url: &Url, bytes: &[u8]) -> Result<Value, FetchError> {
    let problem = match serde_json::from_slice::<Value>(bytes) {
        Ok(value) if value.is_object() => return Ok(value),
        Ok(_) => "it is another JSON value".to_owned(),
        Err(error) => error.to_string(),
    };
    Err(FetchError::Json {
        url: url.clone(),
        problem,
    })
}

/// A header as text; empty where there is none or no text.
pub(super) fn header(headers: &HeaderMap, name: http::HeaderName) -> String {
    let value = headers.get(name).and_then(|value| value.to_str().ok());
    value.unwrap_or_default().to_owned()
}
