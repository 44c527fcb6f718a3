//! Why a farm did not start.

use std::io;
use std::net::SocketAddr;

use crate::command::serve::Pattern;
use crate::ids::NameError;
use crate::net::tls::TrustError;
use crate::software::{Problems, RosterError};
use crate::store::StoreError;

/// Why a farm did not start. The message says where, and what would be right.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// An address cannot be listened on.
    #[error("cannot listen on `{address}` (`{flag}`): {source}")]
    Bind {
        /// The flag that names it.
        flag: &'static str,
        /// The address.
        address: SocketAddr,
        /// What the system says.
        source: io::Error,
    },
    /// A name is none.
    #[error(transparent)]
    Name(#[from] NameError),
    /// Neither `--listen` nor `--listen-http`.
    #[error("no peer could be reached: give `--listen`, `--listen-http` or both an address")]
    NoListener,
    /// No directory could be made for a farm that was given none.
    #[error("cannot make a state directory: {0}")]
    OwnState(#[source] io::Error),
    /// A pattern for peers is about none.
    #[error("`{flag} {pattern}`: no peer's host is like that; there are {hosts}")]
    Pattern {
        /// The flag.
        flag: &'static str,
        /// The pattern.
        pattern: Pattern,
        /// The first few hosts there are.
        hosts: String,
    },
    /// The profiles have problems.
    #[error("{0}")]
    Profiles(#[from] Problems),
    /// The roster names what there is not.
    #[error(transparent)]
    Roster(#[from] RosterError),
    /// The state directory cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// No random bytes, or no certificates.
    #[error("cannot set up TLS: {0}")]
    Tls(#[from] rustls::Error),
    /// A certificate to trust cannot be read.
    #[error(transparent)]
    Trust(#[from] TrustError),
}

impl StartError {
    /// Whether the words or a file are wrong, rather than the system.
    pub fn is_of_words(&self) -> bool {
        matches!(
            self,
            StartError::Name(_)
                | StartError::NoListener
                | StartError::Pattern { .. }
                | StartError::Profiles(_)
                | StartError::Roster(_)
                | StartError::Trust(_)
        )
    }

    /// What to do next, where that is not plain.
    pub fn hint(&self) -> Option<String> {
        match self {
            StartError::Bind { flag, source, .. } if source.kind() == io::ErrorKind::AddrInUse => {
                Some(format!("port 0 picks a free one: `{flag} 127.0.0.1:0`"))
            }
            StartError::Bind { address, source, .. }
                if source.kind() == io::ErrorKind::PermissionDenied && address.port() < 1024 =>
            {
                Some(
                    "ports below 1024 are root's; `setcap cap_net_bind_service=+ep` on the binary lends them"
                        .to_owned(),
                )
            }
            _ => None,
        }
    }
}
