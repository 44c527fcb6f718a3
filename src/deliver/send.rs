//! One delivery: one activity to one inbox, signed, reported as it was answered. A redirect is an answer like any
//! other: a signed POST is never sent to another URL than it was signed for.

use bytes::Bytes;
use http::Method;
use http::header::{HeaderMap, LOCATION};
use serde::Serialize;
use tokio::time::Instant;
use url::Url;

use crate::clock::Timestamp;
use crate::deliver::fetch::header;
use crate::deliver::knock::Knocked;
use crate::deliver::{Knock, Outbound, Signer, SignerError};
use crate::net::client::{Ask, Read};
use crate::net::failure::{Class, Failure};
use crate::signature::Dialect;

/// How a delivery goes out where its software is not to decide.
#[derive(Clone, Copy, Debug, Default)]
pub struct How {
    /// Signed in this dialect, and without a second knock.
    pub dialect: Option<Dialect>,
}

/// What became of one delivery.
#[derive(Clone, Debug, Serialize)]
pub struct Delivery {
    /// Where it went.
    pub inbox: String,
    /// The answer's status, where there was one: the last knock's, as all that follows.
    pub status: Option<u16>,
    /// Until the answer's last byte, or until it failed, in milliseconds, earlier knocks included.
    pub time_ms: f64,
    /// The dialect of the signature that was answered so.
    pub dialect: Dialect,
    /// The knocks before that, which made it knock again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub knocks: Vec<Knock>,
    /// Where a redirect would lead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// The answer's body where it is no 2xx, its first [`ANSWER_MAX`] bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// What went wrong, where there is no whole answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Class>,
    /// The same in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

impl Delivery {
    /// Whether the other side took it.
    pub fn is_taken(&self) -> bool {
        self.error.is_none() && self.status.is_some_and(|status| (200..300).contains(&status))
    }

    /// Whether the other side may have seen it: not where no connection stood.
    pub fn may_have_arrived(&self) -> bool {
        use Class::{Dns, Gate, Local, Refused, Tls, Unreachable};
        !matches!(self.error, Some(Dns | Gate | Local | Refused | Tls | Unreachable))
    }
}

impl Outbound {
    /// Delivers an activity's bytes to an inbox. One deadline, the software's, covers all knocks.
    ///
    /// # Errors
    /// When it cannot be signed. Everything else is a [`Delivery`].
    pub async fn send(
        &self,
        signer: &Signer,
        inbox: &Url,
        activity: Bytes,
        how: How,
    ) -> Result<Delivery, SignerError> {
        let ask = ask(signer, HeaderMap::new(), activity.clone());
        let start = Instant::now();
        let sign = |dialect| {
            let means = signer.means(dialect, Some(&activity), Timestamp::now());
            signer.post(inbox, &activity, &means)
        };
        let knocked = self.knock(signer, inbox, how.dialect, ask, sign).await?;
        Ok(delivery(inbox, start, knocked))
    }

    /// Delivers an activity's bytes under these headers, made in that dialect, once.
    pub(super) async fn send_as_is(
        &self,
        signer: &Signer,
        inbox: &Url,
        dialect: Dialect,
        headers: HeaderMap,
        activity: Bytes,
    ) -> Delivery {
        let start = Instant::now();
        let knocked = Knocked {
            dialect,
            earlier: None,
            done: self.client.request(inbox, ask(signer, headers, activity)).await,
        };
        delivery(inbox, start, knocked)
    }
}

fn ask(signer: &Signer, headers: HeaderMap, body: Bytes) -> Ask {
    Ask {
        method: Method::POST,
        headers,
        body,
        within: signer.software().client.timeout,
        read: Read::Start(ANSWER_MAX),
    }
}

fn delivery(inbox: &Url, start: Instant, knocked: Knocked) -> Delivery {
    let delivery = Delivery {
        inbox: inbox.to_string(),
        status: None,
        time_ms: start.elapsed().as_micros() as f64 / 1_000.0,
        dialect: knocked.dialect,
        knocks: knocked.earlier.into_iter().collect(),
        location: None,
        body: None,
        error: None,
        detail: None,
    };
    match knocked.done {
        Ok(reply) => Delivery {
            status: Some(reply.status.as_u16()),
            location: Some(header(&reply.headers, LOCATION)).filter(|_| reply.status.is_redirection()),
            body: (!reply.status.is_success()).then(|| String::from_utf8_lossy(&reply.body).into_owned()),
            ..delivery
        },
        Err(failure) => failed(delivery, &failure),
    }
}

fn failed(delivery: Delivery, failure: &Failure) -> Delivery {
    Delivery {
        status: failure.status(),
        error: Some(failure.class()),
        detail: Some(failure.chain()),
        ..delivery
    }
}

/// How much of an answer is kept, in bytes.
pub const ANSWER_MAX: usize = 64 * 1024;
