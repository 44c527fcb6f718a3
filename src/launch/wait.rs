//! Waiting for what a test expects, instead of sleeping.

use std::future::IntoFuture;
use std::pin::Pin;
use std::time::Duration;

use crate::control::{Conditions, WaitFailed};
use crate::ids::Host;
use crate::launch::Running;
use crate::serve::Site;
use crate::stats::{Filter, Snapshot};

/// A wait to be; await it to begin. All that is named must hold together, for 30 s at the most unless
/// [`Wait::timeout`] says otherwise.
#[derive(Debug)]
#[must_use = "a wait begins when it is awaited"]
pub struct Wait<'a> {
    site: &'a Site,
    conditions: Conditions,
}

impl Running {
    /// Waits until deliveries have come: `farm.wait().path("/inbox").unique(3).await?`.
    pub fn wait(&self) -> Wait<'_> {
        let conditions = Conditions {
            filter: Filter::default(),
            unique: None,
            requests: None,
            quiet: None,
            timeout: Duration::from_secs(30),
        };
        Wait {
            site: self.site(),
            conditions,
        }
    }
}

impl Wait<'_> {
    /// Only what came to this host.
    pub fn host(mut self, host: &Host) -> Self {
        self.conditions.filter.host = Some(host.clone());
        self
    }

    /// Only what came to this path.
    pub fn path(mut self, path: &str) -> Self {
        self.conditions.filter.path = Some(path.to_owned());
        self
    }

    /// At least so many distinct deliveries were taken.
    pub fn unique(mut self, count: u64) -> Self {
        self.conditions.unique = Some(count);
        self
    }

    /// At least so many deliveries arrived.
    pub fn requests(mut self, count: u64) -> Self {
        self.conditions.requests = Some(count);
        self
    }

    /// Nothing new arrived for so long, and nothing is under way but what a latency or a fault holds.
    pub fn quiet(mut self, span: Duration) -> Self {
        self.conditions.quiet = Some(span);
        self
    }

    /// How long at the most.
    pub fn timeout(mut self, span: Duration) -> Self {
        self.conditions.timeout = span;
        self
    }
}

impl<'a> IntoFuture for Wait<'a> {
    type Output = Result<Snapshot, WaitFailed>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send + 'a>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let Wait { site, conditions } = self;
            conditions
                .hold(&site.world, &site.stop, std::future::pending())
                .await
        })
    }
}
