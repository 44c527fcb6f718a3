//! What the farm sends and fetches, always as one of its actors and as that actor's software would: a Follow, a note,
//! an Accept; an actor's document, a key.
//!
//! Everything goes through [`Outbound`], and from there through the gate. Peers of one farm know each other only this
//! way, too.

mod fresh;
mod taken;
mod outbound;
mod signer;
mod knock;
mod fetch;
mod remote;
mod key_cache;
mod key;
mod send;
mod webfinger;
mod prove;
mod verbs;
mod misbehave;

pub use fetch::{Document, FetchError};
pub use key::{KeyFailure, RemoteKey};
pub use key_cache::KeyFetches;
pub use knock::Knock;
pub use misbehave::{Content, Misbehaved};
pub use outbound::Outbound;
pub use remote::Remote;
pub use send::{ANSWER_MAX, Delivery, How};
pub use signer::{Means, Signer, SignerError};
pub use verbs::{Sent, VerbError};
pub use webfinger::FindError;

#[cfg(test)]
mod tests;
