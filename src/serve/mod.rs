//! The path of a request, from the accepted connection to the counted answer.
//!
//! [`run`] accepts, `connection` reads the ClientHello and speaks HTTP, `exchange` is the one straight function that
//! carries a request, `wire` the only place that waits, cuts and sends, and `record` puts the exchange into stats and
//! journal as its answer's last frame is handed over.

mod connection;
mod delivery;
mod exchange;
mod fetch;
mod hook;
mod host;
mod patience;
mod proofs;
mod record;
mod via;
mod wire;

pub use connection::{Broken, Federation, run, speak};
pub use hook::hook;
pub use patience::Patience;
pub use via::{Departed, Via};
pub use wire::{Body, Unread, read};

use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::deliver::Outbound;
use crate::farm::World;
use crate::fault::HookRules;
use crate::ids::Host;

/// What every exchange of a running farm shares.
#[derive(Debug)]
pub struct Site {
    /// The live farm.
    pub world: Arc<World>,
    /// What sends and fetches for it.
    pub outbound: Arc<Outbound>,
    /// Where hooks are found by name: `hooks.test`.
    pub hooks_host: Host,
    /// How hooks misbehave.
    pub hook_rules: HookRules,
    /// How long senders may take.
    pub patience: Patience,
    /// What goes on after an answer: Accepts under way.
    pub tasks: TaskTracker,
    /// Says that the farm is to end: nothing new begins, what is under way goes on.
    pub stop: CancellationToken,
    /// Says that it ends now, whatever is under way.
    pub kill: CancellationToken,
}
