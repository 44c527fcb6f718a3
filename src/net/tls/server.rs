//! The server side: a configuration for each of the farm's hosts, made when the host is first asked for.

use std::collections::HashMap;
use std::sync::Arc;

use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::server::{ClientHello, ProducesTickets};
use rustls::{AlertDescription, ServerConfig};

use crate::clock::Timestamp;
use crate::ids::Host;
use crate::store::{Authorities, Leaf, OnceTry};

/// The hosts the farm answers for over TLS. Its size is the farm's: one configuration a host.
pub struct ServerTls {
    authorities: Authorities,
    configs: HashMap<Host, OnceTry<Arc<ServerConfig>>>,
    provider: Arc<CryptoProvider>,
    /// One for all hosts, so that a sender's handshakes get cheap; rustls resumes a session only under its own name.
    /// Made with the first certificate: the first random bytes of a process take the library up to 0.1 s to gather.
    ticketer: OnceTry<Arc<dyn ProducesTickets>>,
}

impl ServerTls {
    /// Takes the hosts of these authorities. No certificate is made yet.
    pub fn new(authorities: Authorities) -> ServerTls {
        ServerTls {
            configs: authorities
                .hosts()
                .map(|host| (host.clone(), OnceTry::default()))
                .collect(),
            authorities,
            provider: Arc::new(aws_lc_rs::default_provider()),
            ticketer: OnceTry::default(),
        }
    }

    /// The host a client asks for (RFC 6066 section 3) and what to shake hands with: TLS 1.2 and 1.3, `h2` before
    /// `http/1.1`. The first call for a host makes its certificate, well under a millisecond; `now` dates it.
    ///
    /// # Errors
    /// When the client names no host, or none of the farm's: see [`Refusal::alert`].
    pub fn choose(
        &self,
        hello: &ClientHello<'_>,
        now: Timestamp,
    ) -> Result<(Host, Arc<ServerConfig>), Refusal> {
        let name = hello.server_name().ok_or(Refusal::NoSni)?;
        let host: Host = name.parse().map_err(|_| Refusal::UnrecognizedName)?;
        let config = self.config(&host, now)?;
        Ok((host, config))
    }

    /// What to shake hands with for this host.
    ///
    /// # Errors
    /// When the host is none of the farm's, or its certificate cannot be made.
    pub fn config(&self, host: &Host, now: Timestamp) -> Result<Arc<ServerConfig>, Refusal> {
        let cell = self.configs.get(host).ok_or(Refusal::UnrecognizedName)?;
        cell.obtain(|| {
            let leaf = self
                .authorities
                .leaf(host, now)
                .ok_or(Refusal::UnrecognizedName)?;
            let leaf = leaf.map_err(|error| {
                tracing::error!(%host, error = &error as &dyn std::error::Error, "no certificate for a peer");
                Refusal::NoCertificate
            })?;
            self.configure(leaf).map_err(|error| {
                tracing::error!(%host, %error, "no TLS configuration for a peer");
                Refusal::NoCertificate
            })
        })
    }

    fn configure(&self, leaf: Leaf) -> Result<Arc<ServerConfig>, rustls::Error> {
        let mut config = ServerConfig::builder_with_provider(Arc::clone(&self.provider))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(vec![leaf.certificate], leaf.key)?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        config.ticketer = self.ticketer.obtain(aws_lc_rs::Ticketer::new)?;
        Ok(Arc::new(config))
    }
}

impl std::fmt::Debug for ServerTls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServerTls")
            .field("hosts", &self.configs.len())
            .finish_non_exhaustive()
    }
}

/// Why a client gets no handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The certificate could not be made; the log says why.
    #[error("there is no certificate for the host asked for")]
    NoCertificate,
    /// The client named no host, as one does that connects to a bare address.
    #[error("the client named no host (SNI)")]
    NoSni,
    /// The client named a host that is none of the farm's.
    #[error("the client named a host that is none of the farm's")]
    UnrecognizedName,
}

impl Refusal {
    /// The label under which `tls_failed` counts it.
    pub fn label(self) -> &'static str {
        match self {
            Refusal::NoCertificate => "no_certificate",
            Refusal::NoSni => "no_sni",
            Refusal::UnrecognizedName => "unrecognized_name",
        }
    }

    /// The fatal alert to write to the bare connection before closing it. Nothing is encrypted before the server's
    /// first message, so the record is the same in TLS 1.2 and 1.3 (RFC 8446 sections 5.1 and 6); rustls offers no way
    /// to choose it. A missing name is answered as RFC 8446 section 9.2 says, an unknown one as RFC 6066 section 3.
    pub fn alert(self) -> [u8; 7] {
        let description = match self {
            Refusal::NoCertificate => AlertDescription::InternalError,
            Refusal::NoSni => AlertDescription::MissingExtension,
            Refusal::UnrecognizedName => AlertDescription::UnrecognisedName,
        };
        [ALERT, 3, 3, 0, 2, FATAL, description.into()]
    }
}

/// `ContentType.alert`.
const ALERT: u8 = 21;

/// `AlertLevel.fatal`.
const FATAL: u8 = 2;
