//! How long the farm waits for what a sender is to send.

use std::time::Duration;

/// The time limits of every connection.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// How long a TLS handshake may take.
    pub handshake: Duration,
    /// How long a head may take to arrive, and how long a connection may rest between exchanges.
    pub head: Duration,
    /// How long a body may take to arrive.
    pub body: Duration,
}

impl Patience {
    /// So long for a head and for a body; a handshake gets ten seconds of it at the most.
    pub fn of(span: Duration) -> Patience {
        Patience {
            handshake: span.min(HANDSHAKE_MAX),
            head: span,
            body: span,
        }
    }
}

const HANDSHAKE_MAX: Duration = Duration::from_secs(10);
