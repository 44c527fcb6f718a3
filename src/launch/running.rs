//! A farm that runs. Dropping it ends it.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::command::{Target, TargetError};
use crate::deliver::{How, Sent, VerbError};
use crate::farm::{Peer, Who};
use crate::ids::{Acct, NameError};
use crate::seed::Seed;
use crate::serve::Site;
use crate::stats::{Filter, Snapshot};

/// How long exchanges under way may take to end once the farm is told to.
pub const DRAIN_TIME: Duration = Duration::from_secs(5);

/// Where a farm answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Addresses {
    /// Every peer and hook over TLS.
    pub listen: Vec<SocketAddr>,
    /// The same without TLS.
    pub listen_http: Option<SocketAddr>,
    /// The control API.
    pub control: SocketAddr,
    /// Hooks alone.
    pub hooks: Option<SocketAddr>,
}

/// A running farm. Dropping it ends everything at once; [`Running::shutdown`] lets what is under way end first.
#[derive(Debug)]
#[must_use = "dropping it ends the farm"]
pub struct Running {
    site: Arc<Site>,
    addresses: Addresses,
    ca_file: PathBuf,
    new_authority: bool,
    /// The state directory of a farm that was given none; it goes with the farm.
    own_state: Option<tempfile::TempDir>,
}

impl Running {
    pub(super) fn new(
        site: Arc<Site>,
        addresses: Addresses,
        ca_file: PathBuf,
        new_authority: bool,
    ) -> Running {
        Running {
            site,
            addresses,
            ca_file,
            new_authority,
            own_state: None,
        }
    }

    pub(super) fn keeping(mut self, own_state: Option<tempfile::TempDir>) -> Running {
        self.own_state = own_state;
        self
    }

    pub(super) fn site(&self) -> &Site {
        &self.site
    }

    /// Where it answers.
    pub fn addresses(&self) -> &Addresses {
        &self.addresses
    }

    /// The control API: `http://127.0.0.1:7400`.
    pub fn url(&self) -> String {
        format!("http://{}", self.addresses.control)
    }

    /// Where a delivery to `/hook/<path>` is counted, over plain HTTP.
    pub fn hook_url(&self, path: &str) -> String {
        format!(
            "http://{}/hook/{}",
            self.addresses.hooks.unwrap_or(self.addresses.control),
            path.trim_start_matches('/')
        )
    }

    /// The bundle of CA certificates to trust.
    pub fn ca_file(&self) -> &Path {
        &self.ca_file
    }

    /// Whether this start made a new CA, which whoever kept a copy of the bundle does not know yet.
    pub fn new_authority(&self) -> bool {
        self.new_authority
    }

    /// The seed of this run.
    pub fn seed(&self) -> Seed {
        self.site.world.seed
    }

    /// The peers, in the roster's order.
    pub fn peers(&self) -> &[Arc<Peer>] {
        self.site.world.peers()
    }

    /// The peer of that host.
    pub fn peer(&self, host: &str) -> Option<&Arc<Peer>> {
        self.site.world.peer(&host.parse().ok()?)
    }

    /// Where to connect to reach a peer, whose name may not resolve.
    pub fn federation(&self) -> Option<SocketAddr> {
        self.addresses
            .listen
            .first()
            .copied()
            .or(self.addresses.listen_http)
    }

    /// The counters at this moment.
    pub fn stats(&self) -> Snapshot {
        self.site.world.snapshot(&Filter::default())
    }

    /// Zeroes counters and journal, and gives what that closed.
    pub fn reset(&self) -> Snapshot {
        self.site.world.reset()
    }

    /// The actor ids of those who follow `alice@mastodon1.test`, oldest first.
    ///
    /// # Errors
    /// When that is no handle of the farm.
    pub fn followers(&self, handle: &str) -> Result<Vec<String>, ActorError> {
        let (peer, who) = self.actor(handle)?;
        let relations = &self.site.world.relations;
        let follows = relations.followers(&peer.host, who, 0, usize::MAX);
        Ok(follows.into_iter().map(|follow| follow.other).collect())
    }

    /// Lets an actor of the farm follow somebody of the server under test, by handle or actor URL.
    ///
    /// # Errors
    /// When that is no actor of the farm, or the target cannot be found or reached.
    pub async fn follow(&self, handle: &str, target: &str) -> Result<Sent, CommandError> {
        let (peer, who) = self.actor(handle)?;
        let target: Target = target.parse()?;
        Ok(self
            .site
            .outbound
            .follow(peer, who, &target, How::default())
            .await?)
    }

    /// Sends a note to somebody of the server under test.
    ///
    /// # Errors
    /// As [`Running::follow`].
    pub async fn send_note(&self, handle: &str, to: &str, text: &str) -> Result<Sent, CommandError> {
        let (peer, who) = self.actor(handle)?;
        let target: Target = to.parse()?;
        Ok(self
            .site
            .outbound
            .note(peer, who, &target, text, How::default())
            .await?)
    }

    /// Ends it: nothing new begins, and what is under way has [`DRAIN_TIME`] to end.
    pub async fn shutdown(self) {
        self.site.stop.cancel();
        self.site.tasks.close();
        // What is not done by then ends with the drop.
        let _ = tokio::time::timeout(DRAIN_TIME, self.site.tasks.wait()).await;
    }

    fn actor(&self, handle: &str) -> Result<(&Arc<Peer>, Who), ActorError> {
        let acct: Acct = handle.parse()?;
        let peer = self.site.world.peer(&acct.host).filter(|peer| peer.owns(&acct));
        let peer = peer.ok_or_else(|| ActorError::NoPeer(acct.clone()))?;
        let who = peer.who_named(&acct.name).ok_or(ActorError::NoActor(acct))?;
        Ok((peer, who))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.site.stop.cancel();
        self.site.kill.cancel();
    }
}

/// A handle that leads to no actor of the farm.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ActorError {
    /// The peer has no such actor.
    #[error("`{0}` is nobody here: the peer has no actor of that name")]
    NoActor(Acct),
    /// The farm has no such peer.
    #[error("`{0}` is nobody here: the farm has no such peer")]
    NoPeer(Acct),
    /// It is no handle.
    #[error(transparent)]
    NoHandle(#[from] NameError),
}

/// Why a command was not carried out.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// The acting side is nobody here.
    #[error(transparent)]
    Actor(#[from] ActorError),
    /// The target is neither a handle nor a URL.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// The target could not be found, or the activity not be made.
    #[error(transparent)]
    Verb(#[from] VerbError),
}
