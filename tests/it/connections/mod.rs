//! What happens below and around an exchange: hosts, handshakes, heads, bodies, time limits, senders that leave.

/// Bodies that are large, asked for, or never come; senders that leave.
mod bodies;

/// Handshakes that fail, and connections beyond the bound.
mod handshakes;

/// Heads: whom they are for, what is none, what is too large.
mod heads;

use std::collections::BTreeMap;
use std::net::SocketAddr;

use peerfarm::{Builder, Farm, Running};

/// A farm with no server under test.
pub fn lone() -> Builder {
    Farm::builder().shared_keys().plain_http()
}

/// Where a farm answers over TLS.
pub fn secure(farm: &Running) -> SocketAddr {
    farm.addresses().listen[0]
}

pub fn bad_requests(farm: &Running) -> BTreeMap<u16, u64> {
    farm.stats().connections.bad_requests
}
