//! The proofs that an actor's software puts inside its activities, made in one place, before there are bytes.

use serde_json::{Map, Value};
use tokio::task::spawn_blocking;

use crate::activitypub::{id_of, is_public};
use crate::clock::Timestamp;
use crate::deliver::{Outbound, Signer, SignerError};
use crate::farm::{Peer, Who};
use crate::proof::{self, Kind, ProofError};

/// An activity that is ready to be sent.
pub(super) struct Proven {
    pub(super) activity: Value,
    /// Which proofs it lacks, and why.
    pub(super) notes: Vec<String>,
}

impl Outbound {
    /// The activity with the proofs that its actor's software puts on it. One that cannot be made is left out, and that
    /// is told: the activity itself can be sent all the same. What somebody else did, and what brings proofs of its own,
    /// stays as it is.
    pub(super) async fn proven(
        &self,
        peer: &Peer,
        who: Who,
        signer: &Signer,
        activity: Value,
    ) -> Result<Proven, SignerError> {
        let mut notes = Vec::new();
        let kinds = kinds(peer, who, &activity);
        let mut activity = match activity {
            Value::Object(activity) if !kinds.is_empty() => activity,
            activity => return Ok(Proven { activity, notes }),
        };
        // All of them before the first proof, which covers them.
        for kind in &kinds {
            add_context(&mut activity, context(*kind));
        }
        let (signer, now) = (signer.clone(), Timestamp::now());
        // The canonical form of a long document takes its time, and so does an RSA signature.
        let made = spawn_blocking(move || {
            for kind in kinds {
                if let Err(error) = signer.prove(kind, &mut activity, now) {
                    notes.push(format!("no {kind}: {error}"));
                }
            }
            (activity, notes)
        });
        let (activity, notes) = made.await.map_err(|_| SignerError::Interrupted)?;
        Ok(Proven {
            activity: Value::Object(activity),
            notes,
        })
    }
}

impl Signer {
    /// Puts one proof into an activity, which stays as it is where there is an error.
    fn prove(&self, kind: Kind, activity: &mut Map<String, Value>, now: Timestamp) -> Result<(), ProofError> {
        match (kind, self.ed25519_key_id()) {
            (Kind::EddsaJcs2022, Some(key_id)) => {
                proof::sign_eddsa_jcs_2022(activity, key_id, now, &self.keys().ed25519)
            }
            // No profile makes these without such a key.
            (Kind::EddsaJcs2022, None) => Ok(()),
            (Kind::RsaSignature2017, _) => {
                let making = self.software().proofs.making(kind);
                let lifetime = making.and_then(|making| making.expires);
                let expires = lifetime.map(|lifetime| now.plus(lifetime));
                proof::sign_rsa_signature_2017(activity, self.key_id(), now, expires, &self.keys().rsa)
            }
        }
    }
}

/// Which proofs an activity gets, in the order in which they are made.
fn kinds(peer: &Peer, who: Who, activity: &Value) -> Vec<Kind> {
    let is_own = id_of(&activity["actor"]).is_some_and(|actor| actor == peer.actor_url(who));
    let brings_proofs = activity.get("proof").is_some() || activity.get("signature").is_some();
    if !is_own || brings_proofs {
        return Vec::new();
    }
    let is_public = is_public(activity);
    let is_made = |kind: &Kind| {
        let making = peer.software.proofs.making(*kind);
        making.is_some_and(|making| making.applies(is_public, peer.authorized_fetch))
    };
    let mut kinds = vec![Kind::EddsaJcs2022, Kind::RsaSignature2017];
    kinds.retain(is_made);
    kinds
}

/// The context that gives a proof a meaning to those who read JSON-LD.
fn context(kind: Kind) -> &'static str {
    match kind {
        Kind::EddsaJcs2022 => "https://w3id.org/security/data-integrity/v1",
        Kind::RsaSignature2017 => "https://w3id.org/security/v1",
    }
}

/// Adds a context behind those that are there.
fn add_context(activity: &mut Map<String, Value>, context: &str) {
    match activity.get_mut("@context") {
        Some(Value::Array(contexts)) if contexts.iter().any(|known| known == context) => {}
        Some(Value::Array(contexts)) => contexts.push(context.into()),
        Some(known) if known == context => {}
        Some(known) => *known = Value::Array(vec![known.take(), context.into()]),
        None => {
            activity.shift_insert(0, "@context".to_owned(), context.into());
        }
    }
}
