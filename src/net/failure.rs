//! Why an exchange with somebody else did not come to its end, classed so that one can be told from another.

use std::error::Error;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use rustls::CertificateError;
use serde::Serialize;

use crate::net::gate::Refusal;
use crate::units::Span;

/// The class of a [`Failure`]; the names are labels in stats, results and JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// The connection ended (FIN) before the answer did.
    Closed,
    /// The name does not resolve.
    Dns,
    /// The farm's own gate refused: nothing was sent.
    Gate,
    /// The farm's own machine is out of ports, sockets or memory; no fault of the other side.
    Local,
    /// What came back is no HTTP.
    Protocol,
    /// Nothing listens there.
    Refused,
    /// The connection was reset (RST).
    Reset,
    /// The deadline passed.
    Timeout,
    /// The TLS handshake failed.
    Tls,
    /// The answer's body is larger than the limit.
    TooLarge,
    /// No route leads there.
    Unreachable,
}

impl Class {
    /// The label: `too_large`.
    pub const fn label(self) -> &'static str {
        match self {
            Class::Closed => "closed",
            Class::Dns => "dns",
            Class::Gate => "gate",
            Class::Local => "local",
            Class::Protocol => "protocol",
            Class::Refused => "refused",
            Class::Reset => "reset",
            Class::Timeout => "timeout",
            Class::Tls => "tls",
            Class::TooLarge => "too_large",
            Class::Unreachable => "unreachable",
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.label())
    }
}

/// Where an exchange stood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The name was being looked up.
    Lookup,
    /// A connection was being made.
    Connect,
    /// TLS was being agreed.
    Handshake,
    /// The request was out and the answer's head awaited.
    Head,
    /// The answer's body was being read.
    Body,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stage::Lookup => "looking up the name",
            Stage::Connect => "connecting",
            Stage::Handshake => "agreeing on TLS",
            Stage::Head => "waiting for the answer",
            Stage::Body => "reading the body",
        })
    }
}

/// An exchange that did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Every address of the host failed; this is what the last one said.
    #[error("no connection to `{host}` at `{address}`")]
    Connect {
        /// The URL's host.
        host: String,
        /// The address tried last.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// The gate refused.
    #[error(transparent)]
    Gate(#[from] Refusal),
    /// The exchange broke off.
    #[error("the exchange with `{host}` broke off while {stage}")]
    Http {
        /// The URL's host.
        host: String,
        /// Where it stood.
        stage: Stage,
        /// The status, where one had been seen.
        status: Option<u16>,
        /// What hyper said.
        source: hyper::Error,
    },
    /// What was to be sent is no HTTP request.
    #[error("no HTTP request can be made of this")]
    Request(#[from] http::Error),
    /// The deadline passed.
    #[error("`{host}` took longer than `{}`: still {stage}", tenths(*.limit))]
    Timeout {
        /// The URL's host.
        host: String,
        /// What the whole exchange was given.
        limit: Duration,
        /// Where it stood.
        stage: Stage,
        /// The status, where one had been seen.
        status: Option<u16>,
    },
    /// The TLS handshake failed.
    #[error("no TLS with `{host}`")]
    Tls {
        /// The URL's host, which is the name the certificate must carry.
        host: String,
        /// What rustls or the system said.
        source: io::Error,
    },
    /// The body is larger than the limit.
    #[error("`{host}` answers {status} with a body of more than {limit} bytes")]
    TooLarge {
        /// The URL's host.
        host: String,
        /// The limit, in bytes.
        limit: usize,
        /// The status.
        status: u16,
    },
}

impl Failure {
    /// The class this failure is counted under.
    pub fn class(&self) -> Class {
        match self {
            Failure::Connect { source, .. } => of_system(source).unwrap_or(Class::Local),
            Failure::Gate(Refusal::Lookup { .. }) => Class::Dns,
            Failure::Gate(_) => Class::Gate,
            Failure::Http { source, .. } => of_http(source),
            Failure::Request(_) => Class::Protocol,
            Failure::Timeout { .. } => Class::Timeout,
            // A peer that cuts the connection in mid-handshake has not spoken TLS wrongly; but a connection that
            // merely ends there is what a refused handshake looks like too, so only a reset is told apart.
            Failure::Tls { source, .. } => match of_system(source) {
                Some(Class::Reset) => Class::Reset,
                _ => Class::Tls,
            },
            Failure::TooLarge { .. } => Class::TooLarge,
        }
    }

    /// Whether nobody there speaks TLS, as far as can be told. Whoever shows a certificate, or says what it does not
    /// like, does speak it.
    pub fn meets_no_tls(&self) -> bool {
        match self {
            Failure::Tls { source, .. } => {
                let said = source.get_ref().and_then(|said| said.downcast_ref());
                matches!(said, None | Some(rustls::Error::InvalidMessage(_)))
            }
            _ => matches!(self.class(), Class::Closed | Class::Refused | Class::Reset),
        }
    }

    /// The status that had been seen before it failed.
    pub fn status(&self) -> Option<u16> {
        match self {
            Failure::Http { status, .. } | Failure::Timeout { status, .. } => *status,
            Failure::TooLarge { status, .. } => Some(*status),
            _ => None,
        }
    }

    /// As [`chain`] has it.
    pub fn chain(&self) -> String {
        chain(self)
    }
}

/// An error's message and those of all its causes, joined by colons, and what to do next where that is known.
pub fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    let mut hint = None;
    while let Some(error) = cause {
        hint = hint.or(error.downcast_ref().and_then(tls_hint));
        let said = error.to_string();
        // Some errors already say what their cause says.
        if !text.ends_with(&said) {
            text.push_str(": ");
            text.push_str(&said);
        }
        cause = error.source();
    }
    match hint {
        Some(hint) => format!("{text}; hint: {hint}"),
        None => text,
    }
}

/// What the user may do about a handshake that failed.
fn tls_hint(error: &io::Error) -> Option<&'static str> {
    let problem = match error.get_ref()?.downcast_ref()? {
        rustls::Error::InvalidCertificate(problem) => problem,
        rustls::Error::InvalidMessage(_) => {
            return Some("if it speaks plain HTTP there, `--allow-http` lets the farm do so");
        }
        _ => return None,
    };
    match problem {
        CertificateError::UnknownIssuer => {
            Some("`--trust CA.pem` trusts its issuer, `--insecure` any certificate")
        }
        // webpki has no public name for it.
        CertificateError::Other(other) if other.to_string().contains("CaUsedAsEndEntity") => Some(
            "it shows a CA's own certificate: make one with `-addext basicConstraints=critical,CA:FALSE`, or give \
             `--insecure`",
        ),
        _ => None,
    }
}

/// A span to the tenth of a second; what is left of a deadline has digits that say nothing.
fn tenths(limit: Duration) -> Span {
    let tenth = Duration::from_millis(100);
    match limit < tenth {
        true => limit.into(),
        false => Span::millis((limit + tenth / 2).as_millis() as u64 / 100 * 100),
    }
}

/// What class the system's word for it belongs to; `None` where it has no word of its own.
fn of_system(error: &io::Error) -> Option<Class> {
    use io::ErrorKind::*;
    match error.kind() {
        ConnectionRefused => Some(Class::Refused),
        ConnectionReset | ConnectionAborted | BrokenPipe => Some(Class::Reset),
        TimedOut => Some(Class::Timeout),
        HostUnreachable | NetworkUnreachable | NetworkDown => Some(Class::Unreachable),
        AddrNotAvailable | AddrInUse | OutOfMemory => Some(Class::Local),
        UnexpectedEof => Some(Class::Closed),
        _ => None,
    }
}

/// hyper wraps what the system said; what it says itself is either an end that came early or no HTTP.
fn of_http(error: &hyper::Error) -> Class {
    let mut cause = error.source();
    while let Some(inner) = cause {
        let class = inner.downcast_ref::<io::Error>().and_then(of_system);
        if let Some(class) = class {
            return class;
        }
        cause = inner.source();
    }
    match error.is_incomplete_message() || error.is_canceled() || error.is_closed() {
        true => Class::Closed,
        false => Class::Protocol,
    }
}
