//! A farm for a Rust test: configured step by step, started on free ports.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use crate::command::serve::{KeyMode, PatternError, Settings};
use crate::launch::{self, Running, StartError};
use crate::seed::Seed;
use crate::units::Span;

/// A farm that is configured and not yet bound. It has no address until [`Builder::start`].
#[derive(Debug)]
pub struct Farm;

impl Farm {
    /// A farm on free ports of 127.0.0.1 with a state directory of its own, which goes with it.
    pub fn builder() -> Builder {
        let free = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let settings = Settings {
            listen: vec![free],
            control: free,
            ..Settings::default()
        };
        Builder {
            settings,
            state: None,
        }
    }
}

/// The settings of a farm to be. What is not said is as in `peerfarm serve`, but for ports and state.
#[derive(Debug)]
pub struct Builder {
    settings: Settings,
    state: Option<PathBuf>,
}

impl Builder {
    /// Takes these settings instead, ports and state directory included.
    #[must_use]
    pub fn settings(self, settings: Settings) -> Builder {
        Builder {
            state: Some(settings.state.clone()),
            settings,
        }
    }

    /// Keeps CA and keys in this directory, for the next farm to find.
    #[must_use]
    pub fn state(mut self, directory: impl Into<PathBuf>) -> Builder {
        self.state = Some(directory.into());
        self
    }

    /// Answers without TLS too, on a free port.
    #[must_use]
    pub fn plain_http(mut self) -> Builder {
        self.settings.listen_http = Some(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
        self
    }

    /// So many actors a peer.
    #[must_use]
    pub fn actors(mut self, actors: u32) -> Builder {
        self.settings.actors = actors;
        self
    }

    /// So many notes an actor.
    #[must_use]
    pub fn notes(mut self, notes: u32) -> Builder {
        self.settings.notes = notes;
        self
    }

    /// Lets peers give their documents for a signed GET alone, as `--authorized-fetch GLOB` does.
    ///
    /// # Errors
    /// When that is no pattern for hosts.
    pub fn authorized_fetch(mut self, hosts: &str) -> Result<Builder, PatternError> {
        self.settings.authorized_fetch.push(hosts.parse()?);
        Ok(self)
    }

    /// One key pair a peer instead of one an actor.
    #[must_use]
    pub fn shared_keys(mut self) -> Builder {
        self.settings.keys = KeyMode::Shared;
        self
    }

    /// Fixes chance.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Builder {
        self.settings.seed = Some(Seed(seed));
        self
    }

    /// Lets a host lead to an address, as `--resolve HOST[:PORT]=ADDR[:PORT]` does.
    ///
    /// # Errors
    /// When that is no such rule.
    pub fn resolve(mut self, rule: &str) -> Result<Builder, crate::command::serve::ResolveError> {
        self.settings.resolve.push(rule.parse()?);
        Ok(self)
    }

    /// Trusts the certificates of a PEM file besides the system's.
    #[must_use]
    pub fn trust(mut self, file: impl Into<PathBuf>) -> Builder {
        self.settings.trust.push(file.into());
        self
    }

    /// Lets the farm fetch from and deliver to `http` URLs.
    #[must_use]
    pub fn allow_http(mut self) -> Builder {
        self.settings.allow_http = true;
        self
    }

    /// How hooks misbehave: latency, jitter on top, and the fraction that fails.
    #[must_use]
    pub fn hooks(mut self, latency: Span, jitter: Span, error_rate: f64) -> Builder {
        self.settings.hook_latency = latency;
        self.settings.hook_jitter = jitter;
        self.settings.hook_error_rate = error_rate;
        self
    }

    /// How long a head or a body may take to arrive, and a connection rest between exchanges; else half a minute.
    #[must_use]
    pub fn patience(mut self, patience: Span) -> Builder {
        self.settings.patience = patience;
        self
    }

    /// Binds, and answers from then on.
    ///
    /// # Errors
    /// The first step that fails; nothing is left running then.
    pub async fn start(self) -> Result<Running, StartError> {
        let mut settings = self.settings;
        let own = match self.state {
            Some(directory) => {
                settings.state = directory;
                None
            }
            None => {
                let own = tempfile::tempdir().map_err(StartError::OwnState)?;
                settings.state = own.path().to_owned();
                Some(own)
            }
        };
        Ok(launch::start(settings).await?.keeping(own))
    }
}
