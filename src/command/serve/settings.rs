//! What a farm starts from: checked, plain, and the same whether it was typed, or built by a program.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use crate::command::serve::{Domain, Mix, Pattern, Resolve};
use crate::ids::Host;
use crate::seed::Seed;
use crate::units::Span;

/// The settings of one farm.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Where peers answer over TLS; empty where they do not.
    pub listen: Vec<SocketAddr>,
    /// Where peers answer without TLS.
    pub listen_http: Option<SocketAddr>,
    /// Where the control API answers.
    pub control: SocketAddr,
    /// Where hooks alone answer.
    pub hooks: Option<SocketAddr>,
    /// Names by which the control API may be asked, besides addresses and `localhost`.
    pub control_hosts: Vec<Host>,
    /// The port in the peers' URLs; the listener's where there is none.
    pub public_port: Option<u16>,
    /// The directory of the CA and the keys.
    pub state: PathBuf,
    /// Profiles besides the built-in ones.
    pub peers_dir: Option<PathBuf>,
    /// Which peers; the default twenty where there is none.
    pub roster: Option<Mix>,
    /// How the peers' hosts are numbered; by their software (`mastodon1.test`) where there is none.
    pub domain: Option<Domain>,
    /// Actors a peer.
    pub actors: u32,
    /// Notes an actor.
    pub notes: u32,
    /// Which peers give their documents for a signed GET alone, besides those whose profile says so.
    pub authorized_fetch: Vec<Pattern>,
    /// When actors get their keys.
    pub keys: KeyMode,
    /// What fixes chance; drawn where there is none.
    pub seed: Option<Seed>,
    /// Where names lead instead of where DNS says.
    pub resolve: Vec<Resolve>,
    /// Files of CA certificates to trust besides the system's and the farm's.
    pub trust: Vec<PathBuf>,
    /// Whether any certificate will do.
    pub insecure: bool,
    /// Whether `http` URLs may be fetched and delivered to.
    pub allow_http: bool,
    /// Hosts that may be reached though they are neither loopback nor private.
    pub allow_targets: Vec<url::Host>,
    /// How long a hook waits before it answers.
    pub hook_latency: Span,
    /// Up to how much longer it waits, drawn anew each time.
    pub hook_jitter: Span,
    /// The fraction of a hook's requests that fail, 0 to 1.
    pub hook_error_rate: f64,
    /// How long a head or a body may take to arrive, and a connection rest between exchanges.
    pub patience: Span,
    /// The bound of the journal, in bytes.
    pub journal_bytes: usize,
    /// The bound of open connections over all listeners.
    pub max_connections: usize,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            listen: vec![SocketAddr::from((Ipv4Addr::LOCALHOST, 7443))],
            listen_http: None,
            control: SocketAddr::from((Ipv4Addr::LOCALHOST, 7400)),
            hooks: None,
            control_hosts: Vec::new(),
            public_port: None,
            state: PathBuf::from(".peerfarm"),
            peers_dir: None,
            roster: None,
            domain: None,
            actors: 10,
            notes: 20,
            authorized_fetch: Vec::new(),
            keys: KeyMode::OnDemand,
            seed: None,
            resolve: Vec::new(),
            trust: Vec::new(),
            insecure: false,
            allow_http: false,
            allow_targets: Vec::new(),
            hook_latency: Span::ZERO,
            hook_jitter: Span::ZERO,
            hook_error_rate: 0.0,
            patience: PATIENCE,
            journal_bytes: 32 << 20,
            max_connections: 10_000,
        }
    }
}

/// When actors get their keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyMode {
    /// All before the farm is ready.
    Ahead,
    /// Each when it is first asked for.
    OnDemand,
    /// One for all actors of a peer.
    Shared,
}

/// The patience of a farm that is told of none.
pub const PATIENCE: Span = Span::seconds(30);
