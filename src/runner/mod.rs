//! Carries out commands, of the command line as of a script: through the control API of a running farm, or from the
//! files that lie here. Nothing is printed; each command comes back as an [`Outcome`].

mod actors;
mod api;
mod failure;
mod file;
mod journal;
mod local;
mod peers;
mod stats;
mod verify;

pub use failure::Failure;
pub use verify::KeyFileError;

use std::net::IpAddr;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::command::Step;

/// Carries out one command.
///
/// # Errors
/// When it came to no result.
pub async fn carry_out(step: &Step) -> Result<Outcome, Failure> {
    match step {
        Step::Peers(words) => peers::list(words).await,
        Step::Follow(words) => actors::follow(words).await,
        Step::Unfollow(words) => actors::unfollow(words).await,
        Step::Send(words) => actors::send(words).await,
        Step::Stats(words) => stats::stats(words).await,
        Step::Reset(words) => stats::reset(words).await,
        Step::Wait(words) => stats::wait(words).await,
        Step::Journal(words) => journal::read(words).await,
        Step::Verify(words) => verify::verify(words),
        Step::Certs(words) => local::certs(words),
        Step::Hosts(words) => local::hosts(words),
        Step::Completions(words) => Ok(local::completions(words)),
    }
}

/// What came of a command. Where it came from the control API, it is the API's answer, whole.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The farm's CA certificates.
    Authorities {
        /// The file, absolute.
        file: PathBuf,
        /// Its text.
        pem: String,
    },
    /// An activity's deliveries.
    Delivered {
        /// The API's answer.
        answer: Value,
        /// How they ended together.
        fate: Fate,
    },
    /// Journal entries.
    Entries(Value),
    /// One journal entry, whole.
    Entry(Value),
    /// The verdict on a saved request: `{"method", "target", "scheme", "authority", "bytes", "judged_at", "notes":
    /// [{"name", "detail"}], "verdict"}`, the verdict as the journal has it, and where there are several signatures
    /// `"verdicts"`, one each.
    Judged {
        /// All of that.
        answer: Value,
        /// Whether the signature holds.
        valid: bool,
    },
    /// The names of a farm, and the address they get.
    Names {
        /// Every peer's host, then those of the hooks.
        hosts: Vec<String>,
        /// The address.
        address: IpAddr,
    },
    /// One peer.
    Peer(Value),
    /// Peers.
    Peers(Value),
    /// A shell's completions.
    Script(String),
    /// Counters.
    Stats(Value),
    /// A wait: the counters it waited for, or the problem that says what was missing.
    Waited {
        /// The API's answer.
        answer: Value,
        /// Whether the conditions held in time.
        held: bool,
    },
}

impl Outcome {
    /// The outcome as JSON.
    pub fn json(&self) -> Value {
        match self {
            Outcome::Delivered { answer, .. } | Outcome::Waited { answer, .. } => answer.clone(),
            Outcome::Judged { answer, .. } => answer.clone(),
            Outcome::Entries(answer) | Outcome::Entry(answer) => answer.clone(),
            Outcome::Peer(answer) | Outcome::Peers(answer) | Outcome::Stats(answer) => answer.clone(),
            Outcome::Authorities { file, .. } => json!({ "ca": file }),
            Outcome::Names { hosts, address } => json!({ "hosts": hosts, "address": address }),
            Outcome::Script(text) => json!({ "script": text }),
        }
    }
}

/// How the deliveries of one activity ended together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It was wrong on purpose, and refused.
    KeptOut,
    /// It was wrong on purpose, and taken all the same.
    LetIn,
    /// There was nobody to deliver to.
    Nobody,
    /// One was answered with another status than 2xx.
    Refused,
    /// All were answered 2xx.
    Taken,
    /// One got no answer.
    Unreached,
}
