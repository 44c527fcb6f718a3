//! From names to addresses: the rules of `--resolve` and the farm's own names first, then `localhost`, then DNS.

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::pin::Pin;
use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

/// Where a name leads instead of where DNS says: what `--resolve HOST[:PORT]=ADDR[:PORT]` asks for, and the farm's own
/// names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The name, lower case, without a trailing dot.
    host: String,
    /// The URL's port to which the rule is confined.
    port: Option<u16>,
    /// Where it leads.
    address: IpAddr,
    /// The port there; the URL's where there is none.
    to: Option<u16>,
}

impl Rule {
    /// A rule for `host`, for one `port` of its URLs or for all, that leads to `address` and there to `to` or to the
    /// URL's own port.
    pub fn new(host: &str, port: Option<u16>, address: IpAddr, to: Option<u16>) -> Rule {
        Rule {
            host: folded(host),
            port,
            address,
            to,
        }
    }

    fn holds_for(&self, port: u16) -> bool {
        self.port.is_none_or(|own| own == port)
    }
}

/// Rules by name, in the order given; the first that holds wins.
#[derive(Debug, Default)]
pub struct Rules(HashMap<String, Vec<Rule>>);

impl Rules {
    /// Adds a rule behind those that stand.
    pub fn add(&mut self, rule: Rule) {
        self.0.entry(rule.host.clone()).or_default().push(rule);
    }

    /// Where the rules send this host and port; `None` where they say nothing.
    pub fn pinned(&self, host: &str, port: u16) -> Option<SocketAddr> {
        let rule = self
            .0
            .get(&folded(host))?
            .iter()
            .find(|rule| rule.holds_for(port))?;
        Some(SocketAddr::new(rule.address, rule.to.unwrap_or(port)))
    }
}

/// A future of the addresses a name has.
pub type Lookup<'a> = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'a>>;

/// What turns a name into addresses.
pub trait Resolve: Send + Sync + fmt::Debug {
    /// All addresses of `host`, in the order of preference.
    fn lookup<'a>(&'a self, host: &'a str) -> Lookup<'a>;
}

/// The system's resolver, `/etc/hosts` included.
#[derive(Debug)]
pub struct System {
    /// Each lookup holds a thread for as long as the system's resolver pleases, whoever has stopped waiting for it.
    room: Arc<Semaphore>,
}

impl System {
    /// A resolver that asks the system, so many questions at once and no more.
    pub fn new() -> System {
        System {
            room: Arc::new(Semaphore::new(LOOKUPS_AT_ONCE)),
        }
    }
}

impl Default for System {
    fn default() -> System {
        System::new()
    }
}

impl Resolve for System {
    fn lookup<'a>(&'a self, host: &'a str) -> Lookup<'a> {
        Box::pin(async move {
            if let Some(addresses) = special(host) {
                return addresses;
            }
            let place = Arc::clone(&self.room)
                .acquire_owned()
                .await
                .map_err(io::Error::other)?;
            let name = host.to_owned();
            let found = spawn_blocking(move || {
                let _place = place;
                let sockets = (name.as_str(), 0).to_socket_addrs()?;
                Ok(sockets.map(|socket| socket.ip()).collect())
            });
            found.await.map_err(io::Error::other)?
        })
    }
}

/// The names that RFC 6761 keeps from DNS: `localhost` is loopback in both families (section 6.3), `invalid` never
/// resolves (section 6.4).
fn special(host: &str) -> Option<io::Result<Vec<IpAddr>>> {
    let host = folded(host);
    match host.rsplit('.').next() {
        Some("localhost") => Some(Ok(vec![Ipv6Addr::LOCALHOST.into(), Ipv4Addr::LOCALHOST.into()])),
        Some("invalid") => Some(Err(io::Error::new(
            io::ErrorKind::NotFound,
            "`.invalid` names never resolve",
        ))),
        _ => None,
    }
}

/// Lower case and without the root's dot: `A.test.` and `a.test` are one name.
pub(in crate::net) fn folded(host: &str) -> String {
    host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase()
}

/// How many names may be looked up at once.
const LOOKUPS_AT_ONCE: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_without_ports_holds_for_all_and_keeps_the_urls() {
        let mut rules = Rules::default();
        rules.add(Rule::new(
            "Sut.test.",
            Some(443),
            "127.0.0.1".parse().unwrap(),
            Some(3000),
        ));
        rules.add(Rule::new("sut.test", None, "127.0.0.2".parse().unwrap(), None));
        let pinned = |host, port| rules.pinned(host, port).map(|socket| socket.to_string());
        assert_eq!(pinned("sut.test", 443).as_deref(), Some("127.0.0.1:3000"));
        assert_eq!(pinned("SUT.test.", 8443).as_deref(), Some("127.0.0.2:8443"));
        assert_eq!(pinned("other.test", 443), None);
    }

    #[tokio::test]
    async fn localhost_is_loopback_in_both_families() {
        for name in ["localhost", "LOCALHOST.", "a.localhost"] {
            let found = System::new().lookup(name).await.unwrap();
            assert_eq!(
                found,
                [
                    IpAddr::from(Ipv6Addr::LOCALHOST),
                    IpAddr::from(Ipv4Addr::LOCALHOST)
                ]
            );
        }
        assert!(System::new().lookup("a.invalid").await.is_err());
    }
}
