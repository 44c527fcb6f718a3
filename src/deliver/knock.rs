//! Knocking: a request that its receiver does not take goes again, signed in the other dialect, where its software does
//! so. However often it knocks, one deadline covers it.

use http::HeaderMap;
use serde::Serialize;
use tokio::time::Instant;
use url::Url;

use crate::deliver::{Outbound, Signer, SignerError};
use crate::net::client::{Ask, Reply};
use crate::net::failure::Failure;
use crate::signature::Dialect;
use crate::software::SecondKnock;

/// A knock that another one followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Knock {
    /// The dialect.
    pub dialect: Dialect,
    /// What was answered.
    pub status: u16,
}

/// What came of a request.
#[derive(Debug)]
pub(super) struct Knocked {
    /// The dialect of the last knock.
    pub(super) dialect: Dialect,
    /// The one before it.
    pub(super) earlier: Option<Knock>,
    /// What the last one came to.
    pub(super) done: Result<Reply, Failure>,
}

impl Outbound {
    /// Asks at `url`, in `only` that dialect or as the software does. `ask` has all but the headers, which `sign` makes
    /// for a dialect.
    ///
    /// # Errors
    /// When `sign` fails.
    pub(super) async fn knock(
        &self,
        signer: &Signer,
        url: &Url,
        only: Option<Dialect>,
        ask: Ask,
        sign: impl Fn(Dialect) -> Result<HeaderMap, SignerError>,
    ) -> Result<Knocked, SignerError> {
        let start = Instant::now();
        let within = ask.within;
        let request = async |dialect: Dialect| {
            let ask = Ask {
                headers: sign(dialect)?,
                within: within.saturating_sub(start.elapsed()),
                ..ask.clone()
            };
            Ok::<_, SignerError>(self.client.request(url, ask).await)
        };
        let signing = &signer.software().signing;
        let Some(second) = signing.second.as_ref().filter(|_| only.is_none()) else {
            let dialect = only.unwrap_or(signing.first);
            return Ok(Knocked {
                dialect,
                earlier: None,
                done: request(dialect).await?,
            });
        };
        let mut order = [signing.first, second.dialect];
        if self.knows_second(signer, url, second) {
            order.reverse();
        }
        let [one, other] = order;
        let mut knocked = Knocked {
            dialect: one,
            earlier: None,
            done: request(one).await?,
        };
        if let Ok(reply) = &knocked.done
            && second.follows(reply.status)
        {
            let earlier = Knock {
                dialect: one,
                status: reply.status.as_u16(),
            };
            knocked = Knocked {
                dialect: other,
                earlier: Some(earlier),
                done: request(other).await?,
            };
        }
        if second.remembers.is_some() && knocked.done.as_ref().is_ok_and(|reply| reply.status.is_success()) {
            let is_second = knocked.dialect == second.dialect;
            self.taken
                .remember(signer.host(), &origin(url), is_second, Instant::now());
        }
        Ok(knocked)
    }

    /// Whether it remembers that the second dialect was taken there.
    fn knows_second(&self, signer: &Signer, url: &Url, second: &SecondKnock) -> bool {
        let known = |remembers| {
            self.taken
                .is_second(signer.host(), &origin(url), remembers, Instant::now())
        };
        second.remembers.is_some_and(known)
    }
}

fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}
