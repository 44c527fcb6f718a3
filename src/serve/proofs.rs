//! The proofs inside a delivered activity: their keys are fetched as those of signatures are, then each is judged.

use std::sync::Arc;

use tokio::task::spawn_blocking;

use crate::activitypub::Activity;
use crate::clock::Timestamp;
use crate::deliver::{KeyFailure, RemoteKey};
use crate::farm::Peer;
use crate::proof::{self, Proof, ProofVerdict};
use crate::serve::Site;
use crate::serve::via::{Departed, Via};
use crate::signature::{Reason, Terms, Verdict};

/// The verdict on each proof that the activity carries, in their order; `verdict` is that on the request.
///
/// # Errors
/// [`Departed`] where the sender reset the connection meanwhile.
pub async fn judge(
    site: &Arc<Site>,
    via: &Via,
    peer: &Arc<Peer>,
    activity: &Activity,
    verdict: &Verdict,
) -> Result<Vec<ProofVerdict>, Departed> {
    let found = proof::find(activity.value());
    if found.is_empty() {
        return Ok(Vec::new());
    }
    let mut keys = Vec::with_capacity(found.len());
    for proof in &found {
        let key = tokio::select! {
            key = key(site, peer, proof) => key,
            () = via.line.reset() => return Err(Departed),
        };
        keys.push(key);
    }
    let mut verdicts = judged(peer, activity, &keys).await;
    let mut changed = false;
    for ((proof, judged), key) in found.iter().zip(&verdicts).zip(&mut keys) {
        if let (Some(key_id), Some(Ok(stale))) = (proof.key_id(), key.as_ref())
            && does_not_fit(judged)
            // That one was fetched again already, where it had to be.
            && verdict.key_id.as_deref() != Some(key_id)
            && let Some(newer) = site.outbound.newer_key(peer, key_id, stale).await
        {
            *key = Some(Ok(newer));
            changed = true;
        }
    }
    if changed {
        verdicts = judged(peer, activity, &keys).await;
    }
    Ok(verdicts)
}

/// The key of a proof, or why there is none; `None` where no key could make it valid.
type Key = Option<Result<Arc<RemoteKey>, KeyFailure>>;

async fn key(site: &Arc<Site>, peer: &Arc<Peer>, proof: &Proof<'_>) -> Key {
    match (proof.unverifiable(), proof.key_id()) {
        (None, Some(key_id)) => Some(site.outbound.key(peer, key_id).await),
        _ => None,
    }
}

/// Judges away from the threads that serve, since a canonical form takes its time. Nothing comes of it where the farm
/// ends meanwhile.
async fn judged(peer: &Peer, activity: &Activity, keys: &[Key]) -> Vec<ProofVerdict> {
    let terms = peer.software.verifying.terms(Timestamp::now());
    let (activity, keys) = (activity.clone(), keys.to_vec());
    let judge = move || {
        let found = proof::find(activity.value());
        let each = found.iter().zip(&keys);
        each.map(|(proof, key)| one(proof, key, terms, activity.actor()))
            .collect()
    };
    spawn_blocking(judge).await.unwrap_or_default()
}

fn one(proof: &Proof<'_>, key: &Key, terms: Terms, actor: &str) -> ProofVerdict {
    match key {
        Some(Ok(key)) => {
            let verdict = proof.verify(&key.public, terms);
            let owner = &key.owner.id;
            match owner == actor {
                true => verdict,
                false => {
                    let detail = format!("the key is `{owner}`'s, the activity `{actor}`'s");
                    verdict.failed(Reason::SignerMismatch, detail)
                }
            }
        }
        Some(Err(KeyFailure { reason, detail, .. })) => proof.verify_without_key(*reason, detail, terms),
        // Says so without a look at any key.
        None => proof.verify_without_key(Reason::KeyMissing, "", terms),
    }
}

fn does_not_fit(verdict: &ProofVerdict) -> bool {
    let mut reasons = verdict.findings.iter().map(|finding| finding.reason);
    reasons.any(|reason| reason == Reason::SignatureMismatch)
}
