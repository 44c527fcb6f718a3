//! What happens below HTTP: connections, TLS handshakes that failed, heads that were no request.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;

/// Counters below HTTP, of the federation listeners. `open` outlives a reset, the others start anew.
#[derive(Debug, Default)]
pub struct Connections {
    accepted: AtomicU64,
    open: AtomicU64,
    refused: AtomicU64,
    tls_failed: Mutex<BTreeMap<&'static str, u64>>,
    bad_requests: Mutex<BTreeMap<u16, u64>>,
}

/// The counters as `/stats` has them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ConnectionsSnapshot {
    /// Accepted since the last reset.
    pub accepted: u64,
    /// Open at this moment.
    pub open: u64,
    /// Turned away because the bound was reached.
    pub refused: u64,
    /// Handshakes that failed, by why.
    pub tls_failed: BTreeMap<&'static str, u64>,
    /// Heads that were no request for any peer, by the status they got.
    pub bad_requests: BTreeMap<u16, u64>,
}

impl Connections {
    pub(super) fn with_open(open: u64) -> Connections {
        Connections {
            open: AtomicU64::new(open),
            ..Connections::default()
        }
    }

    /// A connection was accepted and is open.
    pub fn accept(&self) {
        self.accepted.fetch_add(1, Ordering::Relaxed);
        self.open.fetch_add(1, Ordering::Relaxed);
    }

    /// A connection closed.
    pub fn close(&self) {
        self.open.fetch_sub(1, Ordering::Relaxed);
    }

    /// A connection was turned away at the bound.
    pub fn refuse(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// A TLS handshake failed.
    pub fn fail_tls(&self, why: &'static str) {
        let mut failed = self.tls_failed.lock().unwrap_or_else(PoisonError::into_inner);
        *failed.entry(why).or_default() += 1;
    }

    /// A head was no request for any peer and got that status.
    pub fn bad_request(&self, status: u16) {
        let mut bad = self.bad_requests.lock().unwrap_or_else(PoisonError::into_inner);
        *bad.entry(status).or_default() += 1;
    }

    pub(super) fn open(&self) -> u64 {
        self.open.load(Ordering::Relaxed)
    }

    pub(super) fn snapshot(&self) -> ConnectionsSnapshot {
        ConnectionsSnapshot {
            accepted: self.accepted.load(Ordering::Relaxed),
            open: self.open(),
            refused: self.refused.load(Ordering::Relaxed),
            tls_failed: self
                .tls_failed
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone(),
            bad_requests: self
                .bad_requests
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone(),
        }
    }
}
