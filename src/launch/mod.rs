//! From settings to a running farm: everything is loaded, checked and bound before anything answers, so a farm that
//! could not do all of it does none.

mod builder;
mod error;
mod running;
mod wait;

pub use builder::{Builder, Farm};
pub use error::StartError;
pub use running::{ActorError, Addresses, CommandError, Running};
pub use wait::Wait;

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::clock::Timestamp;
use crate::command::serve::{KeyMode, Pattern, Settings};
use crate::control::{self, Guard, Scope};
use crate::deliver::Outbound;
use crate::farm::{self, HOOKS_HOST, Who, World};
use crate::fault::HookRules;
use crate::ids::Host;
use crate::journal::Journal;
use crate::net::client::Client;
use crate::net::gate::{self, Gate};
use crate::net::listen::Listener;
use crate::net::resolve::Rule;
use crate::net::tls::{ServerTls, Trust};
use crate::seed::Seed;
use crate::serve::{self, Federation, Patience, Site};
use crate::software::{self, Roster};
use crate::store::{Authorities, KeyScope, Keyring, Store};

/// Connections to the control listener have room of their own, so that a farm that is full can still be asked.
const CONTROL_CONNECTIONS: usize = 1_000;

/// Starts a farm.
///
/// # Errors
/// The first step that fails; nothing is left running then.
pub async fn start(settings: Settings) -> Result<Running, StartError> {
    let roster = roster(&settings)?;
    for pattern in &settings.authorized_fetch {
        about_somebody("--authorized-fetch", pattern, &roster)?;
    }
    let hooks_host: Host = HOOKS_HOST.parse().map_err(StartError::Name)?;
    let store = Arc::new(Store::open(&settings.state)?);
    let hosts: Vec<Host> = roster.hosts().cloned().chain([hooks_host.clone()]).collect();
    let authorities = store.authorities_for(&hosts, Timestamp::now())?;
    let new_authority = authorities.made().is_some();
    let trust = trust(&settings, &authorities);

    let bound = Bound::all(&settings).await?;
    let addresses = bound.addresses();
    let world = Arc::new(world(
        &settings,
        &roster,
        Keyring::new(Arc::clone(&store), scope(&settings)),
        &addresses,
    ));
    if settings.keys == KeyMode::Ahead {
        make_keys(&world).await?;
    }
    let client = Client::new(
        Arc::new(gate(&settings, &hosts, &addresses)),
        trust.client_config()?,
    );
    let site = Arc::new(Site {
        outbound: Arc::new(Outbound::new(Arc::clone(&world), client)),
        world,
        hooks_host,
        hook_rules: HookRules {
            latency: settings.hook_latency.duration(),
            jitter: settings.hook_jitter.duration(),
            error_rate: settings.hook_error_rate,
        },
        patience: Patience::of(settings.patience.duration()),
        tasks: TaskTracker::new(),
        stop: CancellationToken::new(),
        kill: CancellationToken::new(),
    });
    bound.serve(&site, &settings, Arc::new(ServerTls::new(authorities)));
    Ok(Running::new(site, addresses, store.bundle_path(), new_authority))
}

/// The peers that a farm with these settings has.
///
/// # Errors
/// Every problem of the profiles; a roster that names what there is not.
pub fn roster(settings: &Settings) -> Result<Roster, StartError> {
    let profiles = software::load(settings.peers_dir.as_deref())?;
    let roster = match &settings.roster {
        Some(mix) => Roster::of_mix(mix.parts(), &profiles)?,
        None => profiles.roster().clone(),
    };
    match &settings.domain {
        Some(domain) => Ok(roster.renamed(|number| domain.host(number))?),
        None => Ok(roster),
    }
}

/// A pattern that is about no peer is a slip.
fn about_somebody(flag: &'static str, pattern: &Pattern, roster: &Roster) -> Result<(), StartError> {
    if roster.hosts().any(|host| pattern.matches(host)) {
        return Ok(());
    }
    let hosts: Vec<String> = roster.hosts().take(3).map(|host| format!("`{host}`")).collect();
    let more = if roster.hosts().count() > hosts.len() {
        ", ..."
    } else {
        ""
    };
    Err(StartError::Pattern {
        flag,
        pattern: pattern.clone(),
        hosts: hosts.join(", ") + more,
    })
}

fn world(settings: &Settings, roster: &Roster, keyring: Keyring, addresses: &Addresses) -> World {
    let (scheme, listener) = match addresses.listen.first() {
        Some(address) => ("https", Some(address)),
        None => ("http", addresses.listen_http.as_ref()),
    };
    let default = if scheme == "https" { 443 } else { 80 };
    let port = settings.public_port.or(listener.map(SocketAddr::port));
    let port = port.filter(|port| *port != default);
    let peer = |entry: &software::Entry| {
        let software = Arc::clone(&entry.software);
        let mut peer = farm::Peer::new(entry.host.clone(), software, settings.actors, scheme, port);
        peer.authorized_fetch |= settings
            .authorized_fetch
            .iter()
            .any(|pattern| pattern.matches(&peer.host));
        peer
    };
    World::new(
        settings.seed.unwrap_or_else(Seed::draw),
        settings.notes,
        roster.entries().iter().map(peer).collect(),
        Journal::new(settings.journal_bytes),
        keyring,
    )
}

/// The gate leads the farm's own names to its own listeners, and never to its control listener: a sender chooses
/// what is fetched for the key of its signature.
fn gate(settings: &Settings, hosts: &[Host], addresses: &Addresses) -> Gate {
    let gate = Gate::new(gate::Settings {
        resolve: settings
            .resolve
            .iter()
            .map(|rule| Rule::new(&rule.host, rule.port, rule.address, rule.to))
            .collect(),
        allow_targets: settings.allow_targets.iter().map(url::Host::to_string).collect(),
        allow_http: settings.allow_http || addresses.listen.is_empty(),
    });
    if let Some(own) = addresses.listen.first().or(addresses.listen_http.as_ref()) {
        let own = reachable(*own);
        gate.pin(
            hosts
                .iter()
                .map(|host| Rule::new(host.as_str(), None, own.ip(), Some(own.port()))),
        );
    }
    gate.forbid(addresses.control);
    if let Some(hooks) = addresses.hooks {
        gate.forbid(hooks);
    }
    gate
}

/// Where a listener on all addresses is reached from here.
fn reachable(address: SocketAddr) -> SocketAddr {
    let mut reached = address;
    if address.ip().is_unspecified() {
        reached.set_ip(match address {
            SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
        });
    }
    reached
}

fn trust(settings: &Settings, authorities: &Authorities) -> Trust {
    Trust {
        certificates: authorities
            .certificates()
            .into_iter()
            .map(|certificate| certificate.der().clone())
            .collect(),
        files: settings.trust.clone(),
        insecure: settings.insecure,
    }
}

fn scope(settings: &Settings) -> KeyScope {
    match settings.keys {
        KeyMode::Shared => KeyScope::Peer,
        KeyMode::Ahead | KeyMode::OnDemand => KeyScope::Actor,
    }
}

/// Makes every actor's keys on all cores, before the farm is ready.
async fn make_keys(world: &Arc<World>) -> Result<(), StartError> {
    let owners: Vec<_> = world
        .peers()
        .iter()
        .flat_map(|peer| {
            let actors = (0..peer.actors).map(Who::Actor);
            actors
                .chain([Who::Instance])
                .map(|who| (peer.key_owner(who), peer.software.keys.rsa_bits))
        })
        .collect();
    let world = Arc::clone(world);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let made = tokio::task::spawn_blocking(move || world.keyring.make_ahead(&owners, cores)).await;
    made.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))?;
    Ok(())
}

/// Every listener, bound; none answers yet.
#[derive(Debug)]
struct Bound {
    listen: Vec<Listener>,
    listen_http: Option<Listener>,
    control: Listener,
    hooks: Option<Listener>,
}

impl Bound {
    async fn all(settings: &Settings) -> Result<Bound, StartError> {
        if settings.listen.is_empty() && settings.listen_http.is_none() {
            return Err(StartError::NoListener);
        }
        let room = Arc::new(Semaphore::new(settings.max_connections));
        let own_room = Arc::new(Semaphore::new(CONTROL_CONNECTIONS));
        let mut listen = Vec::new();
        for address in &settings.listen {
            listen.push(bind("--listen", *address, &room).await?);
        }
        let listen_http = match settings.listen_http {
            Some(address) => Some(bind("--listen-http", address, &room).await?),
            None => None,
        };
        let control = bind("--control", settings.control, &own_room).await?;
        let hooks = match settings.hooks {
            Some(address) => Some(bind("--hooks", address, &room).await?),
            None => None,
        };
        Ok(Bound {
            listen,
            listen_http,
            control,
            hooks,
        })
    }

    fn addresses(&self) -> Addresses {
        Addresses {
            listen: self.listen.iter().map(Listener::address).collect(),
            listen_http: self.listen_http.as_ref().map(Listener::address),
            control: self.control.address(),
            hooks: self.hooks.as_ref().map(Listener::address),
        }
    }

    /// Lets every listener answer.
    fn serve(self, site: &Arc<Site>, settings: &Settings, tls: Arc<ServerTls>) {
        for listener in self.listen {
            let federation = Federation {
                listener,
                tls: Some(Arc::clone(&tls)),
            };
            site.tasks.spawn(serve::run(Arc::clone(site), federation));
        }
        if let Some(listener) = self.listen_http {
            let federation = Federation { listener, tls: None };
            site.tasks.spawn(serve::run(Arc::clone(site), federation));
        }
        let names = settings.control_hosts.clone();
        let all = Guard::new(Scope::Everything, names.clone());
        site.tasks
            .spawn(control::run(Arc::clone(site), self.control, all));
        if let Some(listener) = self.hooks {
            let hooks = Guard::new(Scope::HooksOnly, names);
            site.tasks.spawn(control::run(Arc::clone(site), listener, hooks));
        }
    }
}

async fn bind(
    flag: &'static str,
    address: SocketAddr,
    room: &Arc<Semaphore>,
) -> Result<Listener, StartError> {
    let bound = Listener::bind(address, Arc::clone(room)).await;
    bound.map_err(|source| StartError::Bind {
        flag,
        address,
        source,
    })
}
