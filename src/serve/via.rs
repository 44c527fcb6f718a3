//! How a request came, and how it may end without an answer.

use crate::ids::Host;
use crate::net::line::Line;

/// How a request came.
#[derive(Clone, Debug)]
pub struct Via {
    /// The name the TLS handshake asked for; none over plain HTTP.
    pub sni: Option<Host>,
    /// The connection.
    pub line: Line,
}

/// There is nobody left to answer, or a fault wants the connection cut: hyper drops it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the exchange ended without an answer")]
pub struct Departed;
