//! `peerfarm serve`: its flags as typed, and the [`Settings`] they mean.

mod address;
mod mix;
mod pattern;
mod resolve;
mod settings;

pub use address::{Address, AddressError, Listen};
pub use mix::{Domain, DomainError, Mix, MixError};
pub use pattern::{Pattern, PatternError};
pub use resolve::{Resolve, ResolveError};
pub use settings::{KeyMode, Settings};

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::BoolishValueParser;
use clap::{Args, ValueEnum};

use crate::ids::Host;
use crate::seed::Seed;
use crate::units::Span;

/// The flags of `serve`. Each has an environment variable, `--journal-mib` for instance `PEERFARM_JOURNAL_MIB`, and
/// a key in `peerfarm.toml`, `journal-mib`; see [`crate::command::Surroundings`].
#[derive(Args, Clone, Debug)]
pub struct Flags {
    #[command(flatten)]
    listeners: Listeners,
    #[command(flatten)]
    peers: Peers,
    #[command(flatten)]
    state: State,
    #[command(flatten)]
    outbound: Outbound,
    #[command(flatten)]
    hooks: Hooks,
    #[command(flatten)]
    limits: Limits,
    /// What to log, on stderr: `info`, or by module `warn,peerfarm::deliver=debug`
    #[arg(long, value_name = "FILTER", default_value = "warn", help_heading = "Options", value_parser = filter)]
    pub log: String,
}

/// Where the farm listens.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Listeners (port 0 picks a free one)")]
struct Listeners {
    /// Where peers answer over TLS; may be given again, for IPv6 say; `off` with --listen-http
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7443")]
    listen: Vec<Listen>,
    /// Where peers answer without TLS
    #[arg(long, value_name = "ADDRESS", default_value = "off")]
    listen_http: Listen,
    /// Where the control API answers
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7400")]
    control: Address,
    /// Where hooks alone answer, for other machines to reach
    #[arg(long, value_name = "ADDRESS", default_value = "off")]
    hooks: Listen,
    /// A name by which the control API may be asked, besides addresses and `localhost` (repeatable)
    #[arg(long, value_name = "NAME")]
    control_host: Vec<Host>,
    /// The port in the peers' URLs, where something forwards to the listener [default: the listener's]
    #[arg(long, value_name = "PORT", value_parser = whole(1..=65_535))]
    public_port: Option<u64>,
}

/// Which peers there are.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Peers")]
pub struct Names {
    /// So many peers of each software, for instance `mastodon=12,lemmy=8` [default: twenty peers of all kinds]
    #[arg(long, value_name = "SOFTWARE=N,...")]
    pub roster: Option<Mix>,
    /// Names the hosts by this pattern, numbered in one row [default: `mastodon1.test` and so on]
    #[arg(long, value_name = "flood{n}.test")]
    pub domain: Option<Domain>,
    /// A directory of profiles, besides the built-in ones
    #[arg(long, value_name = "DIR")]
    pub peers_dir: Option<PathBuf>,
}

/// What the peers hold.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Peers")]
struct Peers {
    #[command(flatten)]
    names: Names,
    /// Actors a peer: alice, bob, carol, dave, erin, frank, grace, heidi, ivan, judy, user11, ...
    #[arg(long, value_name = "N", default_value = "10", value_parser = whole(1..=MAX_ACTORS))]
    actors: u64,
    /// Notes an actor has in its outbox
    #[arg(long, value_name = "N", default_value = "20", value_parser = whole(0..=MAX_NOTES))]
    notes: u64,
    /// Peers that give their documents for a signed GET alone, by their hosts: `mastodon*` (repeatable)
    #[arg(long, value_name = "GLOB")]
    authorized_fetch: Vec<Pattern>,
    /// When actors get their keys
    #[arg(long, value_name = "WHEN", value_enum, default_value = "on-demand")]
    keys: Keys,
    /// Fixes faults, texts and ids [default: drawn, and printed]
    #[arg(long, value_name = "N", value_parser = whole(0..=MAX_SEED))]
    seed: Option<u64>,
}

/// Where the state lies.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "State")]
pub struct State {
    /// The directory of the CA and the keys; the same directory, the same CA and keys
    #[arg(long = "state", value_name = "DIR", default_value = ".peerfarm")]
    pub state: PathBuf,
}

/// How the farm reaches the server under test.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Reaching the server under test")]
struct Outbound {
    /// Where a name leads instead of where DNS says (repeatable)
    #[arg(long, value_name = "HOST[:PORT]=ADDR[:PORT]")]
    resolve: Vec<Resolve>,
    /// A file of CA certificates to trust, besides the system's and the farm's own (repeatable)
    #[arg(long, value_name = "FILE")]
    trust: Vec<PathBuf>,
    /// Takes any certificate
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true",
          default_value = "false", hide_default_value = true, value_parser = BoolishValueParser::new())]
    insecure: bool,
    /// Follows and delivers to `http` URLs
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true",
          default_value = "false", hide_default_value = true, value_parser = BoolishValueParser::new())]
    allow_http: bool,
    /// A host that may be reached though it is neither loopback nor private (repeatable)
    #[arg(long, value_name = "HOST", value_parser = target)]
    allow_target: Vec<url::Host>,
}

/// What hooks do of their own accord.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Hooks")]
struct Hooks {
    /// How long a hook waits before it answers (also MOCK_LATENCY_MS)
    #[arg(long, value_name = "MS", default_value = "0", value_parser = whole(0..=MAX_HOOK_MS))]
    hook_latency_ms: u64,
    /// Up to how much longer it waits, drawn anew each time (also MOCK_JITTER_MS)
    #[arg(long, value_name = "MS", default_value = "0", value_parser = whole(0..=MAX_HOOK_MS))]
    hook_jitter_ms: u64,
    /// The fraction of requests answered 500, 0 to 1 (also MOCK_ERROR_RATE)
    #[arg(long, value_name = "RATE", default_value = "0", value_parser = fraction)]
    hook_error_rate: f64,
}

/// What bounds the farm.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Limits")]
struct Limits {
    /// The bound of the journal, in MiB; the oldest entries go first
    #[arg(long, value_name = "MIB", default_value = "32", value_parser = whole(1..=MAX_JOURNAL_MIB))]
    journal_mib: u64,
    /// The bound of open connections
    #[arg(long, value_name = "N", default_value = "10000", value_parser = whole(1..=MAX_CONNECTIONS))]
    max_connections: u64,
}

/// The words for a [`KeyMode`].
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Keys {
    /// All before the farm is ready
    Ahead,
    /// Each when it is first asked for
    OnDemand,
    /// One for all actors of a peer
    Shared,
}

impl Flags {
    /// What the flags mean together.
    ///
    /// # Errors
    /// Every pair of flags that do not go together.
    pub fn check(self) -> Result<Settings, Vec<Conflict>> {
        let Flags {
            listeners,
            peers,
            state,
            outbound,
            hooks,
            limits,
            log: _,
        } = self;
        let listen: Vec<_> = listeners
            .listen
            .iter()
            .filter_map(|listen| listen.address())
            .collect();
        let listen_http = listeners.listen_http.address();

        let mut conflicts = Vec::new();
        if !listen.is_empty() && listen.len() < listeners.listen.len() {
            conflicts.push(Conflict::OffAndOn);
        }
        if listen.is_empty() && listen_http.is_none() {
            conflicts.push(Conflict::Deaf);
        }
        let count = peers.names.roster.as_ref().map_or(DEFAULT_PEERS, Mix::peers) as u64;
        if count * peers.actors > MAX_ACTORS_IN_ALL {
            conflicts.push(Conflict::Crowd {
                peers: count,
                actors: peers.actors,
            });
        }
        if !conflicts.is_empty() {
            return Err(conflicts);
        }

        Ok(Settings {
            listen,
            listen_http,
            control: listeners.control.0,
            hooks: listeners.hooks.address(),
            control_hosts: listeners.control_host,
            public_port: listeners.public_port.map(narrow),
            state: state.state,
            peers_dir: peers.names.peers_dir,
            roster: peers.names.roster,
            domain: peers.names.domain,
            actors: narrow(peers.actors),
            notes: narrow(peers.notes),
            authorized_fetch: peers.authorized_fetch,
            keys: match peers.keys {
                Keys::Ahead => KeyMode::Ahead,
                Keys::OnDemand => KeyMode::OnDemand,
                Keys::Shared => KeyMode::Shared,
            },
            seed: peers.seed.map(Seed),
            resolve: outbound.resolve,
            trust: outbound.trust,
            insecure: outbound.insecure,
            allow_http: outbound.allow_http,
            allow_targets: outbound.allow_target,
            hook_latency: Span::millis(hooks.hook_latency_ms),
            hook_jitter: Span::millis(hooks.hook_jitter_ms),
            hook_error_rate: hooks.hook_error_rate,
            patience: settings::PATIENCE,
            journal_bytes: narrow(limits.journal_mib << 20),
            max_connections: narrow(limits.max_connections),
        })
    }
}

/// Flags that do not go together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Conflict {
    /// More actors than the farm holds.
    #[error(
        "`--actors {actors}` for {peers} peers is more than {MAX_ACTORS_IN_ALL} actors: name fewer actors or peers"
    )]
    Crowd {
        /// How many peers.
        peers: u64,
        /// How many actors each.
        actors: u64,
    },
    /// Nothing would answer for the peers.
    #[error("`--listen off` leaves the peers without an address: give `--listen-http ADDRESS` as well")]
    Deaf,
    /// `--listen` both off and on.
    #[error("`--listen off` stands beside other `--listen`: give either")]
    OffAndOn,
}

/// A parser of whole numbers in a range, whose message says what would be right.
fn whole(range: RangeInclusive<u64>) -> impl Fn(&str) -> Result<u64, String> + Clone + Send + Sync + 'static {
    move |text| {
        let error = || format!("write a whole number from {} to {}", range.start(), range.end());
        let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let number = text
            .parse()
            .ok()
            .filter(|number| digits && range.contains(number));
        number.ok_or_else(error)
    }
}

fn fraction(text: &str) -> Result<f64, String> {
    let fraction = text
        .parse()
        .ok()
        .filter(|fraction| (0.0..=1.0).contains(fraction));
    fraction.ok_or_else(|| "write a fraction from 0 to 1, for instance `0.05`".to_owned())
}

fn target(text: &str) -> Result<url::Host, String> {
    url::Host::parse(text.trim_end_matches('.')).map_err(|_| {
        "write a host without scheme, port or path, for instance `staging.example.org`".to_owned()
    })
}

fn filter(text: &str) -> Result<String, String> {
    match tracing_subscriber::filter::Targets::from_str(text) {
        Ok(_) => Ok(text.to_owned()),
        Err(_) => Err(
            "write a level (`error`, `warn`, `info`, `debug`, `trace`, `off`) or levels by module, \
                       for instance `warn,peerfarm::deliver=debug`"
                .to_owned(),
        ),
    }
}

/// Narrows a number that its parser has already kept in range.
fn narrow<T: TryFrom<u64>>(number: u64) -> T {
    T::try_from(number)
        .ok()
        .expect("the flag's own range is within the type's")
}

const DEFAULT_PEERS: usize = 20;
const MAX_ACTORS: u64 = 10_000;
const MAX_ACTORS_IN_ALL: u64 = 1_000_000;
const MAX_NOTES: u64 = 100_000;
const MAX_HOOK_MS: u64 = 3_600_000;
const MAX_JOURNAL_MIB: u64 = 65_536;
const MAX_CONNECTIONS: u64 = 1_000_000;
/// The largest whole number that every JSON reader keeps exact.
const MAX_SEED: u64 = (1 << 53) - 1;
