//! A delivery to an inbox: read whole, verified by the specification, answered by the software's tolerance.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use hyper::body::Incoming;

use crate::activitypub::Activity;
use crate::answer::Route;
use crate::answer::inbox::{self, Decision, Effect};
use crate::clock::{Sent, Timestamp};
use crate::farm::Peer;
use crate::ids::DeliveryId;
use crate::serve::host::Asked;
use crate::serve::proofs;
use crate::serve::record::{self, Record};
use crate::serve::via::{Departed, Via};
use crate::serve::wire::{self, Unread};
use crate::serve::{Body, Site};
use crate::signature::{self, Finding, Outcome, Parsed, Reason, SignatureHeader, Verdict};
use crate::stats::{Ending, Kind};
use crate::webhook;

/// Carries one delivery.
///
/// # Errors
/// [`Departed`] where the sender reset the connection before there was an answer.
pub async fn deliver(
    site: &Arc<Site>,
    via: &Via,
    peer: &Arc<Peer>,
    asked: &Asked,
    route: Route,
    request: Request<Incoming>,
) -> Result<Response<Body>, Departed> {
    let kind = if route.is_inbox() {
        Kind::Inbox
    } else {
        Kind::Unknown
    };
    let mut record = Record::delivery(site, &peer.host, kind, &request);
    let limit = peer.software.inbox.body_limit;
    let (head, body) = request.into_parts();
    let body = match wire::read(&head.headers, body, limit, site.patience).await {
        Ok(body) => body,
        Err(Unread::Broken) => return Err(Departed),
        Err(unread) => {
            record.ends(Ending::Refused);
            let answer = match unread {
                Unread::TooLarge { drained: true } => {
                    let most = format!("the body is larger than {limit} bytes");
                    record.about.notes.extend(["refused: too_large".to_owned(), most]);
                    inbox::too_large(peer)
                }
                _ => wire::unread(unread, head.version, limit),
            };
            return Ok(wire::send(answer, &head.method, record));
        }
    };
    record.body(&body);
    let request = Request::from_parts(head, ());
    let decision = decide(site, via, peer, asked, &route, &request, &body, &mut record).await?;
    record.ends(decision.ending);
    if let Some(effect) = decision.effect {
        let (site, peer) = (Arc::clone(site), Arc::clone(peer));
        record.after(move || carry_out(site, peer, effect));
    }
    Ok(wire::send(decision.answer, request.method(), record))
}

/// What of a request a signature can cover.
pub fn covered<'a, B>(
    request: &'a Request<B>,
    peer: &'a Peer,
    asked: &'a Asked,
    body: &'a [u8],
) -> signature::Request<'a> {
    signature::Request {
        // The one in the URLs that the sender knows, whichever listener it came to.
        scheme: peer.scheme(),
        method: request.method().as_str(),
        target: record::target(request),
        headers: request.headers(),
        authority: Some(&asked.authority),
        body,
    }
}

/// What verification found, and whose key it was.
#[derive(Debug)]
pub struct Verified {
    /// The verdict, by the specification.
    pub verdict: Verdict,
    /// The actor who owns the key, where it was found.
    pub owner: Option<String>,
}

impl Verified {
    fn by_nobody(verdict: Verdict) -> Verified {
        Verified { verdict, owner: None }
    }
}

/// Verifies by the specification. Of several signatures the first that is valid counts, else the first of all.
///
/// # Errors
/// [`Departed`] where the sender reset the connection meanwhile.
pub async fn verify(
    site: &Arc<Site>,
    via: &Via,
    peer: &Arc<Peer>,
    request: &signature::Request<'_>,
) -> Result<Verified, Departed> {
    let signatures = match signature::parse(request) {
        Parsed::Unsigned => return Ok(Verified::by_nobody(Verdict::unsigned())),
        Parsed::Invalid(verdict) => return Ok(Verified::by_nobody(verdict)),
        Parsed::Signed(signatures) => signatures,
    };
    let mut judged = Vec::new();
    for signature in &signatures {
        let verified = judge(site, via, peer, request, signature).await?;
        let is_valid = verified.verdict.result == Outcome::Valid;
        judged.push(verified);
        if is_valid {
            break;
        }
    }
    Ok(
        match signature::decisive(judged.iter().map(|verified| &verified.verdict)) {
            Some(place) => judged.swap_remove(place),
            None => Verified::by_nobody(Verdict::unsigned()),
        },
    )
}

/// Judges one signature. Its key is fetched where the cache does not have it; where a cached key does not verify, it is
/// fetched once more, at most once a minute a key.
async fn judge(
    site: &Arc<Site>,
    via: &Via,
    peer: &Arc<Peer>,
    request: &signature::Request<'_>,
    signature: &SignatureHeader,
) -> Result<Verified, Departed> {
    let verifying = &peer.software.verifying;
    let terms = || verifying.terms(Timestamp::now());
    let key_id = signature.key_id();
    let found = tokio::select! {
        found = site.outbound.key(peer, key_id) => found,
        () = via.line.reset() => return Err(Departed),
    };
    let mut key = match found {
        Ok(key) => key,
        Err(failure) => {
            let verdict = signature.verify_without_key(request, failure.reason, failure.detail, terms());
            return Ok(Verified::by_nobody(verdict));
        }
    };
    let mut verdict = signature.verify(request, &key.public, terms());
    let does_not_fit = |finding: &Finding| finding.reason == Reason::SignatureMismatch;
    if verdict.findings.iter().any(does_not_fit)
        && let Some(newer) = site.outbound.newer_key(peer, key_id, &key).await
    {
        verdict = signature.verify(request, &newer.public, terms());
        key = newer;
    }
    let age = key.fetched.elapsed().as_secs();
    if age > 0 && verdict.findings.iter().any(does_not_fit) {
        let words = format!(
            "the key is as it was fetched {age} s ago; it is fetched anew at most once a minute, or after a reset"
        );
        verdict = verdict.explained(Reason::SignatureMismatch, &words);
    }
    Ok(Verified {
        verdict,
        owner: Some(key.owner.id.clone()),
    })
}

/// The host a request says it is from: its actor's, else its key's.
pub fn origin(actor: Option<&str>, verdict: &Verdict) -> Option<String> {
    let url = actor.or(verdict.key_id.as_deref())?;
    url::Url::parse(url).ok()?.host_str().map(str::to_owned)
}

#[expect(
    clippy::too_many_arguments,
    reason = "each is one fact of the exchange; a struct would only rename them"
)]
async fn decide(
    site: &Arc<Site>,
    via: &Via,
    peer: &Arc<Peer>,
    asked: &Asked,
    route: &Route,
    request: &Request<()>,
    body: &Bytes,
    record: &mut Record,
) -> Result<Decision, Departed> {
    let read = Activity::read(body);
    if let Ok(activity) = &read {
        record.about.activity = Some(activity.kind().to_owned());
        record.about.id = activity.id().map(DeliveryId::new);
        record.about.sent = sent(request.headers(), activity, body);
    }
    let actor = read.as_ref().ok().map(Activity::actor);
    let Verified { mut verdict, owner } =
        verify(site, via, peer, &covered(request, peer, asked, body)).await?;
    // Also where the signature does not hold: a failure that is tolerated must not let a foreign signer through.
    if let (Some(actor), Some(owner)) = (actor, owner)
        && owner != actor
    {
        let detail = format!("the key is `{owner}`'s, the activity `{actor}`'s");
        verdict = verdict.failed(Reason::SignerMismatch, detail);
    }
    let proofs = match &read {
        Ok(activity) => proofs::judge(site, via, peer, activity, &verdict).await?,
        Err(_) => Vec::new(),
    };
    record.about.origin = origin(actor, &verdict);
    let decision = inbox::decide(
        &site.world,
        peer,
        inbox::Delivery {
            route,
            path: request.uri().path(),
            headers: request.headers(),
            activity: read,
            verdict: &verdict,
            proofs: &proofs,
            duplicate: record.is_duplicate(),
        },
    );
    record.about.notes.extend_from_slice(&decision.notes);
    record.about.proofs = proofs;
    record.about.verdict = Some(Box::new(verdict));
    Ok(decision)
}

/// When an activity was sent: `X-Sent-At`, a load stamp in its text, or `published`.
fn sent(headers: &HeaderMap, activity: &Activity, body: &[u8]) -> Option<Sent> {
    webhook::sent(headers, body).or_else(|| Sent::from_rfc3339(activity.published()?))
}

/// What follows an answer goes on by itself; the farm waits for it when it ends.
fn carry_out(site: Arc<Site>, peer: Arc<Peer>, effect: Effect) {
    let tasks = site.tasks.clone();
    tasks.spawn(async move {
        match effect {
            Effect::Accept { who, follow } => {
                if let Err(error) = site.outbound.accept(&peer, who, &follow).await {
                    tracing::warn!(peer = %peer.host, error = &error as &dyn std::error::Error, "no accept sent");
                }
            }
        }
    });
}
