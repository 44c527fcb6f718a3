//! The gate: nobody can turn the farm on a stranger. Every outbound connection passes here, key fetches included,
//! whose URLs the sender of a request chose.
//!
//! What is neither loopback nor private, nor named by `--allow-target`, is refused before anything is sent. A
//! [`Permit`] carries the very addresses that were judged: no connection without one, and no second lookup.

use std::collections::HashSet;
use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::{PoisonError, RwLock};

use url::{Host, Url};

use crate::net::address::Kind;
use crate::net::resolve::{Resolve, Rule, Rules, System, folded};

/// What the user lets the farm reach.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// `--resolve`: names that lead elsewhere than DNS says.
    pub resolve: Vec<Rule>,
    /// `--allow-target`: hosts that may be neither loopback nor private.
    pub allow_targets: Vec<String>,
    /// `--allow-http`: whether URLs may be `http:`.
    pub allow_http: bool,
}

/// Judges every URL before the farm connects to it.
#[derive(Debug)]
pub struct Gate {
    resolver: Box<dyn Resolve>,
    rules: RwLock<Rules>,
    forbidden: RwLock<Vec<SocketAddr>>,
    allowed: HashSet<String>,
    allow_http: bool,
}

impl Gate {
    /// A gate that asks the system's resolver.
    pub fn new(settings: Settings) -> Gate {
        Gate::with_resolver(settings, Box::new(System::new()))
    }

    /// A gate that asks another resolver.
    pub fn with_resolver(settings: Settings, resolver: Box<dyn Resolve>) -> Gate {
        let mut rules = Rules::default();
        settings.resolve.into_iter().for_each(|rule| rules.add(rule));
        Gate {
            resolver,
            rules: RwLock::new(rules),
            forbidden: RwLock::default(),
            allowed: settings
                .allow_targets
                .iter()
                .map(|host| as_in_urls(host))
                .collect(),
            allow_http: settings.allow_http,
        }
    }

    /// Adds rules behind those of `--resolve`: the farm's own names, once its listeners are bound. Where they lead is
    /// judged like anything else.
    pub fn pin(&self, rules: impl IntoIterator<Item = Rule>) {
        let mut own = self.rules.write().unwrap_or_else(PoisonError::into_inner);
        rules.into_iter().for_each(|rule| own.add(rule));
    }

    /// Forbids an address whatever leads there: the farm's own control and hooks listeners, to which a sender could
    /// otherwise point an inbox or a key. An unspecified address forbids its port on every address of this machine.
    pub fn forbid(&self, address: SocketAddr) {
        self.forbidden
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .push(canonical(address));
    }

    /// Whether `http:` URLs may be opened.
    pub fn allows_http(&self) -> bool {
        self.allow_http
    }

    /// Judges a URL and every address its host has. Where some are refused and some are not, only the latter stand in
    /// the permit.
    ///
    /// # Errors
    /// When the URL is none to open, when its host has no address, and when all its addresses are refused.
    pub async fn vet(&self, url: &Url) -> Result<Permit, Refusal> {
        let host = self.judge_url(url)?;
        let port = url
            .port_or_known_default()
            .ok_or_else(|| Refusal::Url(url.to_string()))?;
        let (mut addresses, mut refusal) = (Vec::new(), None);
        for address in self.candidates(&host, port).await? {
            match self.judge_address(&host, address) {
                Ok(()) => addresses.push(address),
                Err(refused) => refusal = refusal.or(Some(refused)),
            }
        }
        match (addresses.is_empty(), refusal) {
            (false, _) => Ok(Permit {
                url: url.clone(),
                host,
                addresses,
            }),
            (true, Some(refused)) => Err(refused),
            (true, None) => Err(Refusal::Lookup {
                host,
                source: io::ErrorKind::NotFound.into(),
            }),
        }
    }

    /// The URL's host, if the URL is one the farm may open at all.
    fn judge_url(&self, url: &Url) -> Result<String, Refusal> {
        match url.scheme() {
            "https" => {}
            "http" if self.allow_http => {}
            "http" => return Err(Refusal::PlainHttp(url.to_string())),
            scheme => return Err(Refusal::Scheme(scheme.to_owned())),
        }
        let host = url
            .host_str()
            .map(folded)
            .ok_or_else(|| Refusal::Url(url.to_string()))?;
        match url.username().is_empty() && url.password().is_none() {
            true => Ok(host),
            false => Err(Refusal::Userinfo { host }),
        }
    }

    /// Where the host may be: what a rule says, the address it spells, or what the resolver finds.
    async fn candidates(&self, host: &str, port: u16) -> Result<Vec<SocketAddr>, Refusal> {
        let pinned = self
            .rules
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .pinned(host, port);
        if let Some(address) = pinned {
            return Ok(vec![canonical(address)]);
        }
        let found = match Host::parse(host) {
            Ok(Host::Ipv4(address)) => vec![address.into()],
            Ok(Host::Ipv6(address)) => vec![address.into()],
            _ => {
                let found = self.resolver.lookup(host).await;
                found.map_err(|source| Refusal::Lookup {
                    host: host.to_owned(),
                    source,
                })?
            }
        };
        let mut seen = HashSet::new();
        let sockets = found.into_iter().map(|ip| canonical(SocketAddr::new(ip, port)));
        Ok(sockets
            .filter(|socket| seen.insert(*socket))
            .take(CANDIDATES)
            .collect())
    }

    fn judge_address(&self, host: &str, address: SocketAddr) -> Result<(), Refusal> {
        let forbidden = self.forbidden.read().unwrap_or_else(PoisonError::into_inner);
        if forbidden.iter().any(|own| is_own(*own, address)) {
            return Err(Refusal::Own {
                host: host.to_owned(),
                address,
            });
        }
        let kind = Kind::of(address.ip());
        let is_spelled = || self.allowed.contains(&as_in_urls(&address.ip().to_string()));
        let passes = match kind {
            Kind::Loopback | Kind::Private => true,
            Kind::LinkLocal => is_spelled(),
            Kind::Other => self.allowed.contains(host) || is_spelled(),
            Kind::Unusable => false,
        };
        match passes {
            true => Ok(()),
            false => Err(Refusal::Address {
                host: host.to_owned(),
                address: address.ip(),
                kind,
            }),
        }
    }
}

/// The proof that the gate was passed: a URL, and the addresses at which it may be reached. Only [`Gate::vet`] makes
/// one.
#[derive(Clone, Debug)]
pub struct Permit {
    url: Url,
    host: String,
    addresses: Vec<SocketAddr>,
}

impl Permit {
    /// The URL that was judged.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// The URL's host, lower case, without a trailing dot.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The addresses that were judged; at least one, in the order of preference.
    pub(in crate::net) fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }
}

/// Why the gate does not open.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// Every address of the host is neither loopback nor private; this is the first.
    #[error("{} {kind}; {}", subject(.host, .address), .kind.advice(.host))]
    Address {
        /// The URL's host.
        host: String,
        /// The first of its addresses that was refused.
        address: IpAddr,
        /// What kind of address it is.
        kind: Kind,
    },
    /// The host does not resolve, so there was nothing to judge.
    #[error("`{host}` does not resolve; hint: `--resolve {host}=ADDR` says where it is")]
    Lookup {
        /// The URL's host.
        host: String,
        /// What the resolver said.
        source: io::Error,
    },
    /// The URL leads to the farm's own control or hooks listener.
    #[error("`{host}` leads to `{address}`, where the farm itself is controlled; no peer is there")]
    Own {
        /// The URL's host.
        host: String,
        /// The address.
        address: SocketAddr,
    },
    /// A URL without TLS, and the farm was not told to take those.
    #[error("`{0}` is a plain `http:` URL; hint: `--allow-http` lets the farm open those")]
    PlainHttp(String),
    /// Neither `https` nor `http`.
    #[error("`{0}:` is no scheme the farm opens: only `https:`, and `http:` with `--allow-http`")]
    Scheme(String),
    /// A URL without a host.
    #[error("`{0}` names no host")]
    Url(String),
    /// A URL with a user name or a password.
    #[error("a URL at `{host}` carries a user name or a password; write it without")]
    Userinfo {
        /// The URL's host.
        host: String,
    },
}

/// What the kind of an address is said of: the host, where it is spelt as that address, else where it leads.
fn subject(host: &str, address: &IpAddr) -> String {
    match as_in_urls(&address.to_string()) == host {
        true => format!("`{host}` is"),
        false => format!("`{host}` leads to `{address}`,"),
    }
}

/// Whether `address` is where `own` listens.
fn is_own(own: SocketAddr, address: SocketAddr) -> bool {
    // Only an address of this machine can be bound to.
    let is_here = || UdpSocket::bind((address.ip(), 0)).is_ok();
    own.port() == address.port() && (own.ip() == address.ip() || (own.ip().is_unspecified() && is_here()))
}

/// An IPv4-mapped address as the IPv4 address it is.
fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

/// A host as URLs have it: folded, international names in ASCII, IPv6 addresses in brackets.
fn as_in_urls(host: &str) -> String {
    let host = folded(host);
    match host.parse::<std::net::Ipv6Addr>() {
        Ok(address) => format!("[{address}]"),
        Err(_) => Host::parse(&host).map_or(host, |host| host.to_string()),
    }
}

/// How many addresses of one name are judged and tried.
const CANDIDATES: usize = 16;

#[cfg(test)]
mod tests;
