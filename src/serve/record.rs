//! What an exchange leaves in stats and journal. It is committed once: with the last frame of its answer, or when it
//! is dropped before, as an exchange that its sender left.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::CONTENT_LENGTH;
use http::{Request, StatusCode};

use crate::clock::{Sent, Timestamp};
use crate::fault::Plan;
use crate::ids::{DeliveryId, Host};
use crate::journal::{Entry, Raw};
use crate::proof::ProofVerdict;
use crate::serve::Site;
use crate::signature::Verdict;
use crate::stats::{Arrival, Ending, Kind, Settled, Stats};

/// An exchange on its way.
#[must_use = "dropping a record counts its exchange as left by the sender"]
pub struct Record {
    site: Arc<Site>,
    host: Host,
    kind: &'static str,
    /// What it is to count as; `None` once it is counted.
    count: Option<Count>,
    at: Timestamp,
    started: Instant,
    raw: Raw,
    status: Option<u16>,
    ending: Ending,
    decided_by_fault: bool,
    faults: Vec<Arc<str>>,
    /// What is known of the delivery so far.
    pub about: About,
    after: Option<Box<dyn FnOnce() + Send + Sync>>,
}

/// What is learnt of a delivery on its way.
#[derive(Debug, Default)]
pub struct About {
    /// Its id.
    pub id: Option<DeliveryId>,
    /// The activity's type.
    pub activity: Option<String>,
    /// The host it says it is from.
    pub origin: Option<String>,
    /// When it was sent.
    pub sent: Option<Sent>,
    /// What verification found.
    pub verdict: Option<Box<Verdict>>,
    /// The same of each proof inside its activity.
    pub proofs: Vec<ProofVerdict>,
    /// What else there is to know.
    pub notes: Vec<String>,
}

enum Count {
    Delivery(Arrival),
    Fetch,
}

/// While it lives, a fault or a latency holds the exchange.
pub struct Hold<'a> {
    stats: &'a Stats,
    arrival: &'a Arrival,
}

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        self.stats.release(self.arrival);
    }
}

impl Record {
    /// A delivery arrived: from now on it counts.
    pub fn delivery<B>(site: &Arc<Site>, host: &Host, kind: Kind, request: &Request<B>) -> Record {
        let (at, started) = (Timestamp::now(), Instant::now());
        let arrival = site
            .world
            .stats
            .arrive(host, request.uri().path(), kind, at, started);
        let mut record = Record::new(site, host, kind.label(), at, started, request);
        record.count = arrival.map(Count::Delivery);
        record
    }

    /// A fetch arrived; it counts when it is answered, or left.
    pub fn fetch<B>(site: &Arc<Site>, host: &Host, kind: &'static str, request: &Request<B>) -> Record {
        let (at, started) = (Timestamp::now(), Instant::now());
        let mut record = Record::new(site, host, kind, at, started, request);
        record.count = Some(Count::Fetch);
        record
    }

    fn new<B>(
        site: &Arc<Site>,
        host: &Host,
        kind: &'static str,
        at: Timestamp,
        started: Instant,
        request: &Request<B>,
    ) -> Record {
        let length = request
            .headers()
            .get(CONTENT_LENGTH)
            .and_then(|length| length.to_str().ok());
        let announced = length.and_then(|length| length.parse().ok()).unwrap_or(0);
        Record {
            site: Arc::clone(site),
            host: host.clone(),
            kind,
            count: None,
            at,
            started,
            raw: Raw::head(request, announced),
            status: None,
            ending: Ending::Aborted,
            decided_by_fault: false,
            faults: Vec::new(),
            about: About::default(),
            after: None,
        }
    }

    /// Its body, whole.
    pub fn body(&mut self, body: &Bytes) {
        self.raw.add_body(body);
    }

    /// Whether its id was already taken at this host and path.
    pub fn is_duplicate(&self) -> bool {
        match (&self.count, &self.about.id) {
            (Some(Count::Delivery(arrival)), Some(id)) => self.site.world.stats.knows(arrival, id),
            _ => false,
        }
    }

    /// What the faults do with it.
    pub fn planned(&mut self, plan: &Plan) {
        self.decided_by_fault = plan.decides();
        self.faults.clone_from(&plan.rules);
    }

    /// What the farm decided; a fault that decides the answer goes before it.
    pub fn ends(&mut self, ending: Ending) {
        self.ending = ending;
    }

    /// What is to happen once it is answered; not where the sender left before.
    pub fn after(&mut self, after: impl FnOnce() + Send + Sync + 'static) {
        self.after = Some(Box::new(after));
    }

    /// The status that goes out.
    pub(super) fn answered(&mut self, status: StatusCode) {
        self.status = Some(status.as_u16());
    }

    /// Marks it held until the guard is dropped.
    pub fn hold(&self) -> Option<Hold<'_>> {
        match &self.count {
            Some(Count::Delivery(arrival)) => {
                let stats = &self.site.world.stats;
                stats.hold(arrival);
                Some(Hold { stats, arrival })
            }
            _ => None,
        }
    }

    /// Waits until the farm is told to end.
    pub(super) async fn farm_ends(&self) {
        self.site.stop.cancelled().await;
    }

    /// Counts it as answered. The caller is about to hand over its last frame.
    pub(super) fn commit(mut self) {
        self.settle();
        if let Some(after) = self.after.take() {
            after();
        }
    }

    /// Counts it, once; what comes later finds nothing left to count.
    fn settle(&mut self) {
        let ending = match (self.decided_by_fault, self.status) {
            (true, _) => Ending::Faulted,
            (false, None) => Ending::Aborted,
            (false, Some(_)) => self.ending,
        };
        let service = self.started.elapsed();
        match self.count.take() {
            Some(Count::Fetch) => {
                let entry = self.entry(None, service);
                let world = &self.site.world;
                world
                    .stats
                    .fetched(&self.host, self.kind, self.status, || world.journal.add(entry));
            }
            Some(Count::Delivery(arrival)) => {
                let settled = Settled {
                    ending,
                    status: self.status,
                    verdict: self.about.verdict.as_ref().map(|verdict| verdict.result),
                    faults: self.faults.clone(),
                    id: self.about.id.as_ref().map(|id| arrival.digest(id)),
                    sent: self.about.sent,
                    processed: false,
                    bytes: self.raw.body().len() as u64,
                    service,
                };
                let entry = self.entry(Some(ending), service);
                let world = &self.site.world;
                world.stats.settle(arrival, &settled, || world.journal.add(entry));
            }
            None => {}
        }
    }

    fn entry(&mut self, outcome: Option<Ending>, service: Duration) -> Entry {
        let about = std::mem::take(&mut self.about);
        let peer = self.site.world.peer(&self.host);
        Entry {
            id: self.site.world.journal.next_id(),
            at: self.at,
            host: self.host.clone(),
            scheme: peer.map(|peer| peer.scheme()),
            kind: self.kind,
            status: self.status,
            outcome,
            delivery_id: about.id,
            activity: about.activity,
            origin: about.origin,
            service_ms: service.as_secs_f64() * 1e3,
            faults: std::mem::take(&mut self.faults),
            verdict: about.verdict,
            proofs: about.proofs,
            notes: about.notes,
            raw: std::mem::take(&mut self.raw),
        }
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        if self.count.is_some() {
            self.status = None;
            self.settle();
        }
    }
}

impl std::fmt::Debug for Record {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Record")
            .field("host", &self.host)
            .field("path", &self.raw.path())
            .finish_non_exhaustive()
    }
}

/// Path and query as they came.
pub fn target<B>(request: &Request<B>) -> &str {
    request
        .uri()
        .path_and_query()
        .map_or("/", |target| target.as_str())
}
