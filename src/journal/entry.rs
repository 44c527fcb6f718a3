//! One exchange that ended, and how it is told.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Serialize, Serializer};

use crate::clock::Timestamp;
use crate::ids::{DeliveryId, Host};
use crate::journal::Raw;
use crate::proof::ProofVerdict;
use crate::signature::{Finding, Outcome, Verdict};
use crate::stats::Ending;

/// One exchange that ended.
#[derive(Debug)]
pub struct Entry {
    /// Its id; later entries have larger ones, resets or not.
    pub id: u64,
    /// When it arrived.
    pub at: Timestamp,
    /// The peer it arrived at.
    pub host: Host,
    /// The scheme that a signature covers there; `None` where no peer is.
    pub scheme: Option<&'static str>,
    /// What the path is: `inbox`, `hook`, or the kind of a fetch.
    pub kind: &'static str,
    /// The status that was answered.
    pub status: Option<u16>,
    /// How it ended; `None` for a fetch.
    pub outcome: Option<Ending>,
    /// The delivery's id.
    pub delivery_id: Option<DeliveryId>,
    /// The activity's type.
    pub activity: Option<String>,
    /// The host it came from, by what it says: the actor's, else the key's.
    pub origin: Option<String>,
    /// From arrival to the answer's last byte.
    pub service_ms: f64,
    /// The faults that took part.
    pub faults: Vec<Arc<str>>,
    /// What verification found, of a delivery or a signed fetch.
    pub verdict: Option<Box<Verdict>>,
    /// What was found of each proof inside a delivered activity, in their order.
    pub proofs: Vec<ProofVerdict>,
    /// What else there is to know: why a signer was let pass, why a Follow was not answered.
    pub notes: Vec<String>,
    /// The request.
    pub raw: Raw,
}

impl Entry {
    /// The entry with its request: target, version, scheme, `authority` where that is not in `Host` (HTTP/2), headers and body
    /// (`body` where it is text, else `body_base64`).
    pub fn whole(&self) -> Whole<'_> {
        Whole(self)
    }

    /// What verification found.
    pub fn verdict(&self) -> Option<Outcome> {
        self.verdict.as_ref().map(|verdict| verdict.result)
    }

    /// What it takes in memory, near enough.
    pub(super) fn weight(&self) -> usize {
        let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let findings = |findings: &[Finding]| -> usize {
            let each = findings.iter();
            each.map(|finding| finding.detail.len() + ITEM_OVERHEAD).sum()
        };
        let verdict = self.verdict.as_ref().map_or(0, |verdict| {
            let covered = verdict.covered.iter().map(|name| name.len() + ITEM_OVERHEAD);
            let texts = text(&verdict.detail) + text(&verdict.key_id) + text(&verdict.signature_base);
            size_of::<Verdict>() + texts + findings(&verdict.findings) + covered.sum::<usize>()
        });
        let proofs = self.proofs.iter().map(|proof| {
            let hashed = proof.hashed.as_ref().map_or(0, |hashed| {
                let digests = hashed.options_sha256.len() + hashed.document_sha256.len();
                hashed.options.len() + hashed.document.len() + digests
            });
            let texts = text(&proof.kind) + text(&proof.detail) + text(&proof.key_id);
            size_of::<ProofVerdict>() + texts + hashed + findings(&proof.findings)
        });
        let id = self.delivery_id.as_ref().map_or(0, |id| id.as_str().len());
        let notes = self.notes.iter().map(|note| note.len() + ITEM_OVERHEAD);
        ENTRY_OVERHEAD
            + self.raw.weight()
            + id
            + text(&self.activity)
            + text(&self.origin)
            + notes.sum::<usize>()
            + verdict
            + proofs.sum::<usize>()
    }

    fn line(&self) -> Line<'_> {
        Line {
            id: self.id.to_string(),
            at: self.at,
            host: &self.host,
            path: self.raw.path(),
            method: self.raw.method(),
            kind: self.kind,
            status: self.status,
            outcome: self.outcome,
            delivery_id: self.delivery_id.as_ref(),
            activity: self.activity.as_deref(),
            origin: self.origin.as_deref(),
            bytes: self.raw.body().len(),
            service_ms: self.service_ms,
            faults: &self.faults,
            verdict: self.verdict.as_deref(),
            proofs: &self.proofs,
            notes: &self.notes,
        }
    }
}

impl Serialize for Entry {
    /// As the contract has it, without the request.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.line().serialize(serializer)
    }
}

/// An entry that serialises with its request.
#[derive(Debug)]
pub struct Whole<'a>(&'a Entry);

impl Serialize for Whole<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw = &self.0.raw;
        let body = std::str::from_utf8(raw.body()).ok();
        WholeLine {
            line: self.0.line(),
            target: raw.target(),
            version: raw.version(),
            scheme: self.0.scheme,
            authority: raw.authority(),
            headers: HeaderLines(raw.headers()),
            body,
            body_base64: body.is_none().then(|| STANDARD.encode(raw.body())),
        }
        .serialize(serializer)
    }
}

#[derive(Serialize)]
struct Line<'a> {
    id: String,
    at: Timestamp,
    host: &'a Host,
    path: &'a str,
    method: &'a str,
    kind: &'static str,
    status: Option<u16>,
    outcome: Option<Ending>,
    delivery_id: Option<&'a DeliveryId>,
    activity: Option<&'a str>,
    origin: Option<&'a str>,
    bytes: usize,
    service_ms: f64,
    faults: &'a [Arc<str>],
    verdict: Option<&'a Verdict>,
    #[serde(skip_serializing_if = "<[ProofVerdict]>::is_empty")]
    proofs: &'a [ProofVerdict],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    notes: &'a [String],
}

#[derive(Serialize)]
struct WholeLine<'a> {
    #[serde(flatten)]
    line: Line<'a>,
    target: &'a str,
    version: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    scheme: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    authority: Option<&'a str>,
    headers: HeaderLines<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    body_base64: Option<String>,
}

/// Header lines as a JSON list of `[name, value]`, so that repeated ones keep their order.
struct HeaderLines<'a>(&'a [u8]);

impl Serialize for HeaderLines<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = String::from_utf8_lossy(self.0);
        serializer.collect_seq(text.split("\r\n").filter_map(|line| line.split_once(": ")))
    }
}

/// What an entry takes besides its texts: itself, its place in the ring, and what allocations cost.
const ENTRY_OVERHEAD: usize = size_of::<Entry>() + 96;

/// What an item of a list takes besides its text.
const ITEM_OVERHEAD: usize = 40;
