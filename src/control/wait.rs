//! `GET /wait`: a long poll that ends when everything named holds.

use std::fmt;
use std::time::{Duration, Instant};

use http::{Response, StatusCode};
use serde::Serialize;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::control::query::{Parameters, bad};
use crate::control::stats::{counted, filter, known};
use crate::control::{Body, Problem};
use crate::farm::World;
use crate::net::line::Line;
use crate::serve::Site;
use crate::stats::{Filter, Snapshot, Tally};
use crate::units::Span;

/// Waits until all named conditions hold for what the filter takes, then answers the counters.
///
/// # Errors
/// 400 where no condition is named or a parameter does not fit; 408 at the timeout, with what was missing, and when the
/// sender leaves; 503 where the farm ends before.
pub(super) async fn wait(site: &Site, line: &Line, query: Option<&str>) -> Result<Response<Body>, Problem> {
    let conditions = Conditions::read(query)?;
    known(&site.world, conditions.filter.host.as_ref())?;
    let gone = async {
        line.departed().await;
    };
    match conditions.hold(&site.world, &site.stop, gone).await {
        Ok(counters) => Ok(counted(counters, site.outbound.key_fetches())),
        Err(failed) => Err(failed.into()),
    }
}

/// What is waited for: all that is named, together.
#[derive(Clone, Debug)]
pub struct Conditions {
    /// What counts.
    pub filter: Filter,
    /// At least so many distinct deliveries taken.
    pub unique: Option<u64>,
    /// At least so many deliveries arrived.
    pub requests: Option<u64>,
    /// Nothing new arrived for so long, and nothing is in flight but what a fault holds.
    pub quiet: Option<Duration>,
    /// How long at the most.
    pub timeout: Duration,
}

/// Why a wait ended before its conditions held.
#[derive(Clone, Debug, thiserror::Error)]
pub enum WaitFailed {
    /// The farm ends.
    #[error("the farm is ending")]
    Ending,
    /// The timeout passed.
    #[error("after {after}: {}", .missing.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    RanOut {
        /// How long it went on.
        after: Span,
        /// What did not hold.
        missing: Vec<Missing>,
    },
}

/// One condition that does not hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "condition", rename_all = "snake_case")]
pub enum Missing {
    /// Not quiet for long enough.
    Quiet {
        /// How long it was to be.
        wanted: Span,
        /// How long it was.
        got: Span,
        /// How many deliveries were in flight and not held by a fault.
        in_flight: u64,
    },
    /// Too few deliveries arrived.
    Requests {
        /// How many there were to be.
        wanted: u64,
        /// How many there were.
        got: u64,
    },
    /// Too few distinct deliveries were taken.
    Unique {
        /// How many there were to be.
        wanted: u64,
        /// How many there were.
        got: u64,
    },
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Missing::Quiet {
                wanted,
                got,
                in_flight,
            } => {
                write!(f, "quiet for {got} of {wanted}, {in_flight} in flight")
            }
            Missing::Requests { wanted, got } => write!(f, "requests {got} of {wanted}"),
            Missing::Unique { wanted, got } => write!(f, "unique {got} of {wanted}"),
        }
    }
}

impl From<WaitFailed> for Problem {
    fn from(failed: WaitFailed) -> Problem {
        let detail = failed.to_string();
        match failed {
            WaitFailed::Ending => Problem::new(StatusCode::SERVICE_UNAVAILABLE, detail),
            WaitFailed::RanOut { missing, .. } => {
                Problem::new(StatusCode::REQUEST_TIMEOUT, detail).with("missing", json!(missing))
            }
        }
    }
}

impl Conditions {
    fn read(query: Option<&str>) -> Result<Conditions, Problem> {
        let known = ["host", "path", "kind", "unique", "requests", "quiet", "timeout"];
        let parameters = Parameters::read(query, &known)?;
        let quiet: Option<Span> = parameters.value("quiet")?;
        let timeout: Span = parameters.value("timeout")?.unwrap_or(TIMEOUT);
        let conditions = Conditions {
            filter: filter(&parameters)?,
            unique: parameters.number("unique")?,
            requests: parameters.number("requests")?,
            quiet: quiet.map(Span::duration),
            timeout: timeout.duration(),
        };
        if timeout > TIMEOUT_MAX {
            return Err(bad(
                format!("`timeout`: `{timeout}` is more than {TIMEOUT_MAX}"),
                "timeout",
            ));
        }
        if conditions.unique.is_none() && conditions.requests.is_none() && conditions.quiet.is_none() {
            let detail = "there is nothing to wait for: name one or more of `unique`, `requests`, `quiet`";
            return Err(Problem::new(StatusCode::BAD_REQUEST, detail));
        }
        Ok(conditions)
    }

    /// Waits until all conditions hold in one picture, which it gives; `gone` ends it as the timeout does.
    ///
    /// # Errors
    /// See [`WaitFailed`].
    pub async fn hold(
        &self,
        world: &World,
        stop: &CancellationToken,
        gone: impl Future<Output = ()>,
    ) -> Result<Snapshot, WaitFailed> {
        let began = Instant::now();
        let deadline = began + self.timeout.min(TIMEOUT_MAX.duration());
        let mut changes = world.stats.changes();
        tokio::pin!(gone);
        let mut over = false;
        loop {
            // Marked before looking, so that a change while looking wakes again.
            changes.mark_unchanged();
            let now = Instant::now();
            let mut tally = world.stats.tally(&self.filter);
            if self.missing(&tally, began, now).is_empty() {
                // The picture itself has to show it: a reset may have come between.
                let snapshot = world.snapshot(&self.filter);
                tally = snapshot.totals.tally();
                if self.missing(&tally, began, now).is_empty() {
                    return Ok(snapshot);
                }
            }
            if over || now >= deadline {
                let missing = self.missing(&tally, began, now);
                return Err(WaitFailed::RanOut {
                    after: rounded((now - began).min(self.timeout)),
                    missing,
                });
            }
            tokio::select! {
                biased;
                () = stop.cancelled() => return Err(WaitFailed::Ending),
                () = &mut gone => {
                    over = true;
                    continue;
                }
                () = tokio::time::sleep_until(self.next_look(&tally, began, now, deadline).into()) => continue,
                // The world outlives this, and with it the sender.
                _ = changes.changed() => {}
            }
            // Under load every look would see a change: one look for all of a moment is enough.
            tokio::time::sleep_until((now + APART).min(deadline).into()).await;
        }
    }

    /// What does not hold at `now`.
    fn missing(&self, tally: &Tally, began: Instant, now: Instant) -> Vec<Missing> {
        let mut missing = Vec::new();
        if let Some(wanted) = self.unique.filter(|wanted| tally.unique < *wanted) {
            missing.push(Missing::Unique {
                wanted,
                got: tally.unique,
            });
        }
        if let Some(wanted) = self.requests.filter(|wanted| tally.requests < *wanted) {
            missing.push(Missing::Requests {
                wanted,
                got: tally.requests,
            });
        }
        if let Some(wanted) = self.quiet {
            let got = now.saturating_duration_since(quiet_since(tally, began));
            if tally.busy > 0 || got < wanted {
                missing.push(Missing::Quiet {
                    wanted: wanted.into(),
                    got: rounded(got),
                    in_flight: tally.busy,
                });
            }
        }
        missing
    }

    /// When to look again, after `now`, though nothing changes: when it has been quiet for long enough, or at the end.
    fn next_look(&self, tally: &Tally, began: Instant, now: Instant, deadline: Instant) -> Instant {
        let quiet = self.quiet.filter(|_| tally.busy == 0);
        let due = quiet.and_then(|wanted| quiet_since(tally, began).checked_add(wanted));
        // Where it is quiet already something else is missing, which only a change can bring.
        let due = due.filter(|due| *due > now);
        due.map_or(deadline, |due| due.min(deadline))
    }
}

/// Since when it is quiet. Where nothing has arrived yet that is since the wait began: what is waited for may be still
/// on its way.
fn quiet_since(tally: &Tally, began: Instant) -> Instant {
    tally.last_arrival.unwrap_or(began)
}

/// To the millisecond, for people.
fn rounded(duration: Duration) -> Span {
    Span::millis(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
}

/// How long a wait goes on where none is said.
const TIMEOUT: Span = Span::seconds(30);

/// The longest wait.
const TIMEOUT_MAX: Span = Span::seconds(3_600);

/// The least time between two looks at the counters.
const APART: Duration = Duration::from_millis(5);

#[cfg(test)]
mod tests {
    use super::*;

    fn conditions(query: &str) -> Conditions {
        Conditions::read(Some(query)).unwrap_or_else(|problem| panic!("{query}: {}", problem.detail()))
    }

    fn texts(conditions: &Conditions, tally: Tally, began: Instant, now: Instant) -> Vec<String> {
        let missing = conditions.missing(&tally, began, now);
        missing.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn all_that_is_named_has_to_hold() {
        let began = Instant::now();
        let now = began + Duration::from_secs(10);
        let wanted = conditions("unique=3&requests=4&quiet=2s");
        let tally = |requests, unique, busy, ago| Tally {
            requests,
            unique,
            busy,
            last_arrival: Some(now - Duration::from_millis(ago)),
        };
        assert_eq!(
            texts(&wanted, tally(3, 2, 1, 500), began, now),
            [
                "unique 2 of 3",
                "requests 3 of 4",
                "quiet for 500ms of 2s, 1 in flight"
            ]
        );
        assert_eq!(
            texts(&wanted, tally(4, 3, 1, 2_000), began, now),
            ["quiet for 2s of 2s, 1 in flight"]
        );
        assert!(texts(&wanted, tally(4, 3, 0, 2_000), began, now).is_empty());
        assert!(texts(&wanted, tally(9, 9, 0, 2_001), began, now).is_empty());
    }

    #[test]
    fn before_anything_arrives_quiet_begins_with_the_wait() {
        let began = Instant::now();
        let wanted = conditions("quiet=2s");
        let at = |millis| {
            texts(
                &wanted,
                Tally::default(),
                began,
                began + Duration::from_millis(millis),
            )
        };
        assert_eq!(at(1_999), ["quiet for 1999ms of 2s, 0 in flight"]);
        assert!(at(2_000).is_empty());
    }

    #[test]
    fn the_next_look_is_when_quiet_may_hold() {
        let began = Instant::now();
        let deadline = began + Duration::from_secs(30);
        let wanted = conditions("quiet=2s&unique=1");
        let next =
            |tally, seconds| wanted.next_look(&tally, began, began + Duration::from_secs(seconds), deadline);
        assert_eq!(next(Tally::default(), 1), began + Duration::from_secs(2));
        let busy = Tally {
            busy: 1,
            ..Tally::default()
        };
        assert_eq!(next(busy, 1), deadline);
        // Quiet already: only a delivery brings the rest, and looking again and again brings nothing.
        assert_eq!(next(Tally::default(), 2), deadline);
    }

    #[test]
    fn a_wait_for_nothing_or_for_ever_is_refused() {
        for (query, expected) in [
            (
                "",
                "there is nothing to wait for: name one or more of `unique`, `requests`, `quiet`",
            ),
            (
                "host=a.test&timeout=1s",
                "there is nothing to wait for: name one or more of `unique`, `requests`, `quiet`",
            ),
            ("unique=1&timeout=61m", "`timeout`: `61m` is more than 1h"),
            ("unique=-1", "`unique`: `-1` is not a whole number, zero or more"),
            (
                "quiet=2",
                "`quiet`: `2` is no span of time: write a number and a unit, for instance `250ms`, `2s`, `5m`",
            ),
        ] {
            let problem = Conditions::read(Some(query)).unwrap_err();
            assert_eq!(
                (problem.status(), problem.detail()),
                (StatusCode::BAD_REQUEST, expected),
                "{query}"
            );
        }
        assert_eq!(conditions("quiet=99999999d").timeout, Duration::from_secs(30));
    }
}
