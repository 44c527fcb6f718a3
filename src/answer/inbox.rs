//! How an inbox takes a delivery. The verdict is the specification's; whether the delivery is taken all the same, and
//! in which words it is answered, is the software's.

use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderName, Method, StatusCode};

use crate::activitypub::{Activity, ActivityError};
use crate::answer::acceptance::{Objection, Signed};
use crate::answer::refusal::{self, Told};
use crate::answer::{self, Answer, Ask, Route};
use crate::farm::{AddFollower, Follow, Peer, Who, World};
use crate::proof::ProofVerdict;
use crate::signature::{Outcome, Reason, Verdict};
use crate::software::Reply;
use crate::stats::Ending;

/// Every refusal names its reason here, since some software answers with nothing else.
pub const REASON: HeaderName = HeaderName::from_static("x-peerfarm-reason");

const ACCEPT_SIGNATURE: HeaderName = HeaderName::from_static("accept-signature");
const UNSIGNED: &str = "the request carries no signature";

/// What is decided of a delivery.
#[derive(Debug)]
pub struct Decision {
    /// What is answered.
    pub answer: Answer,
    /// Whether it was taken.
    pub ending: Ending,
    /// What follows the answer.
    pub effect: Option<Effect>,
    /// What the journal is to know besides.
    pub notes: Vec<String>,
}

/// What follows an answer.
#[derive(Debug)]
pub enum Effect {
    /// A Follow was taken: the followed actor sends an Accept.
    Accept {
        /// The followed actor.
        who: Who,
        /// The Follow, as it came.
        follow: Box<Activity>,
    },
}

/// A delivery as far as it was read.
#[derive(Debug)]
pub struct Delivery<'a> {
    /// Which inbox.
    pub route: &'a Route,
    /// The path, as it came.
    pub path: &'a str,
    /// The headers.
    pub headers: &'a HeaderMap,
    /// What the body says.
    pub activity: Result<Activity, ActivityError>,
    /// What verification found.
    pub verdict: &'a Verdict,
    /// What was found of the proofs inside the activity.
    pub proofs: &'a [ProofVerdict],
    /// Whether its id was taken before at this host and path.
    pub duplicate: bool,
}

/// Decides, and does what a taken activity asks for: keeps a follower, lets one go, takes an Accept.
pub fn decide(world: &World, peer: &Peer, delivery: Delivery<'_>) -> Decision {
    let inbox = &peer.software.inbox;
    let Delivery {
        route,
        path,
        headers,
        activity,
        verdict,
        proofs,
        duplicate,
    } = delivery;
    let about = Told {
        path,
        key_id: verdict.key_id.as_deref().unwrap_or(""),
        ..Told::default()
    };
    let refused = |answer: Answer, reason: &str, detail: &str| {
        let answer = match answer.status {
            StatusCode::UNAUTHORIZED => asking(answer, peer),
            _ => answer,
        };
        Decision {
            answer: answer.with(REASON, reason),
            ending: Ending::Refused,
            effect: None,
            notes: refusal_notes(verdict, reason, detail),
        }
    };
    let refuse = |reply: &Reply, reason: &str, detail: &str| {
        let told = Told {
            reason,
            detail,
            ..about
        };
        refused(refusal::answer(reply, peer, &told), reason, detail)
    };
    let astray = match route {
        Route::Inbox(_) | Route::SharedInbox => None,
        Route::UnknownInbox => Some("unknown_recipient"),
        Route::WrongMethod { .. } => Some("wrong_method"),
        _ => Some("unknown_path"),
    };
    if let Some(reason) = astray {
        let ask = Ask {
            method: &Method::POST,
            path,
            query: None,
            headers,
        };
        return Decision {
            answer: answer::to(world, peer, route, &ask, None).with(REASON, reason),
            ending: Ending::Refused,
            effect: None,
            notes: vec![format!("refused: {reason}")],
        };
    }
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    if let (Some(reply), false) = (&inbox.wrong_type, inbox.takes(content_type)) {
        let detail = format!("the body must be one of {}", inbox.takes.join(", "));
        return refuse(reply, "wrong_content_type", &detail);
    }
    let activity = match activity {
        Ok(activity) => activity,
        Err(error) => return refuse(&inbox.malformed, "malformed", &error.to_string()),
    };
    let of_itself = activity.kind() == "Delete" && activity.object_id() == Some(activity.actor());
    let vouching = vouching(peer, proofs);
    let signed = Signed::Delivery {
        vouched: vouching.is_some(),
    };
    let objection = Objection::to(peer, verdict, signed);
    if of_itself
        && objection
            .as_ref()
            .is_some_and(|objection| objection.is(Reason::KeyGone))
    {
        return refuse(
            &inbox.delete_of_unknown,
            &Reason::KeyGone.label(),
            "an actor nobody knew is gone",
        );
    }
    if let (Outcome::Unsigned, Some(reply)) = (verdict.result, &inbox.unsigned) {
        return refuse(reply, "unsigned", UNSIGNED);
    }
    if let Some(objection) = objection {
        let told = Told {
            reason: &objection.name,
            detail: &objection.detail,
            ..about
        };
        return refused(objection.answer(peer, &told), &objection.name, &objection.detail);
    }
    if let (true, Some(reply)) = (duplicate, &inbox.duplicate) {
        return refuse(reply, "duplicate", "this activity was taken before");
    }
    let taken = match take(world, peer, route, activity) {
        Ok(taken) => taken,
        Err(why) => return refuse(&inbox.malformed, "wrong_recipient", why),
    };
    let mut notes: Vec<String> = taken.note.into_iter().map(str::to_owned).collect();
    notes.extend(let_pass(verdict, vouching));
    notes.extend(proofs.iter().filter_map(broken));
    Decision {
        answer: refusal::answer(
            &inbox.accepted,
            peer,
            &Told {
                path,
                ..Told::default()
            },
        ),
        ending: Ending::Accepted,
        effect: taken.effect,
        notes,
    }
}

/// Why it was refused, and in words where the verdict does not say the same.
fn refusal_notes(verdict: &Verdict, reason: &str, detail: &str) -> Vec<String> {
    let told = verdict.reason.is_some_and(|own| own.label() == reason);
    let words = (!told && !detail.is_empty()).then(|| detail.to_owned());
    std::iter::once(format!("refused: {reason}"))
        .chain(words)
        .collect()
}

/// The kind of the first proof that lets this software take the activity as its actor's, whoever delivers it.
fn vouching<'a>(peer: &Peer, proofs: &'a [ProofVerdict]) -> Option<&'a str> {
    let verifies = &peer.software.proofs.verifies;
    let valid = proofs.iter().filter(|proof| proof.result == Outcome::Valid);
    valid
        .filter_map(|proof| proof.kind.as_deref())
        .find(|name| verifies.iter().any(|kind| kind.name() == *name))
}

/// What was wrong with a signature that was taken, and why it was.
fn let_pass(verdict: &Verdict, vouching: Option<&str>) -> Vec<String> {
    let reasons = verdict.findings.iter().map(|finding| finding.reason);
    let told = reasons.map(|reason| match (reason, vouching) {
        (Reason::SignerMismatch, Some(kind)) => format!("vouched for by its {kind}"),
        (reason, _) => format!("tolerated: {}", reason.label()),
    });
    told.collect()
}

/// What is told of a proof that does not hold, of which nothing follows.
fn broken(proof: &ProofVerdict) -> Option<String> {
    let kind = proof.kind.as_deref().unwrap_or("proof");
    Some(format!("its {kind} does not hold: {}", proof.reason?.label()))
}

/// The answer to a body above the limit.
pub fn too_large(peer: &Peer) -> Answer {
    let detail = format!("the body is larger than {} bytes", peer.software.inbox.body_limit);
    let told = Told {
        reason: "too_large",
        detail: &detail,
        ..Told::default()
    };
    refusal::answer(&peer.software.inbox.too_large, peer, &told).with(REASON, "too_large")
}

/// The answer to a fetch that had to be signed; `None` where its signature will do.
pub fn fetch_refusal(peer: &Peer, verdict: &Verdict) -> Option<Answer> {
    let objection = match verdict.result {
        Outcome::Unsigned => None,
        _ => Some(Objection::to(peer, verdict, Signed::Fetch)?),
    };
    let (reason, detail) = match &objection {
        Some(objection) => (objection.name.as_str(), objection.detail.as_str()),
        None => ("unsigned", UNSIGNED),
    };
    let told = Told {
        reason,
        detail,
        ..Told::default()
    };
    let answer = match &objection {
        Some(objection) => objection.answer_to_fetch(peer, &told),
        None => refusal::answer(&peer.software.refusals.unsigned_fetch, peer, &told),
    };
    Some(asking(answer.with(REASON, reason), peer))
}

/// The same answer with the signature that would have done (RFC 9421 section 5.1), where this software asks for one.
fn asking(answer: Answer, peer: &Peer) -> Answer {
    match &peer.software.verifying.accept_signature {
        Some(wanted) => answer.with(ACCEPT_SIGNATURE, &wanted.to_string()),
        None => answer,
    }
}

#[derive(Debug, Default)]
struct Taken {
    effect: Option<Effect>,
    note: Option<&'static str>,
}

impl Taken {
    fn noted(note: &'static str) -> Taken {
        Taken {
            note: Some(note),
            ..Taken::default()
        }
    }
}

/// Does what an activity asks for. What is not understood is recorded and asks for nothing (ActivityPub section 7).
fn take(world: &World, peer: &Peer, route: &Route, activity: Activity) -> Result<Taken, &'static str> {
    match activity.kind() {
        "Accept" => Ok(take_accept(world, peer, &activity)),
        "Follow" => take_follow(world, peer, route, activity),
        "Reject" => Ok(take_reject(world, peer, &activity)),
        "Undo" => Ok(take_undo(world, peer, &activity)),
        _ => Ok(Taken::default()),
    }
}

/// ActivityPub section 7.5. Whom it follows stands in `object`, whatever inbox it came to; an actor's own inbox takes
/// no Follow of another.
fn take_follow(world: &World, peer: &Peer, route: &Route, follow: Activity) -> Result<Taken, &'static str> {
    let Some(who) = follow.object_id().and_then(|url| Route::who_at(world, peer, url)) else {
        return Ok(Taken::noted("a Follow of nobody here"));
    };
    if matches!(route, Route::Inbox(owner) if *owner != who) {
        return Err("the Follow is of another actor than this inbox's");
    }
    let known = Follow {
        id: follow.id().unwrap_or_default().to_owned(),
        other: follow.actor().to_owned(),
    };
    Ok(match world.relations.add_follower(&peer.host, who, known) {
        AddFollower::Added => Taken {
            effect: Some(Effect::Accept {
                who,
                follow: Box::new(follow),
            }),
            note: None,
        },
        AddFollower::Known => Taken::noted("a Follow that was answered before"),
        AddFollower::Full => Taken::noted("the farm has no room for another follower"),
    })
}

/// ActivityPub section 7.6: matched by the Follow's id, else, where the Follow is embedded, by the pair.
fn take_accept(world: &World, peer: &Peer, accept: &Activity) -> Taken {
    let relations = &world.relations;
    let id = accept.object_id();
    let by_id = id.and_then(|id| Some((relations.owner_of_follow(&peer.host, id)?, Some(id))));
    let by_pair = || Some((Route::who_at(world, peer, accept.object_actor()?)?, None));
    let accepted = by_id
        .or_else(by_pair)
        .is_some_and(|(who, id)| relations.accept_pending(&peer.host, who, id, accept.actor()));
    match accepted {
        true => Taken::default(),
        false => Taken::noted("an Accept of no Follow that waits"),
    }
}

/// ActivityPub section 7.7.
fn take_reject(world: &World, peer: &Peer, reject: &Activity) -> Taken {
    let relations = &world.relations;
    let by_id = reject
        .object_id()
        .and_then(|id| relations.owner_of_follow(&peer.host, id));
    let who = by_id.or_else(|| Route::who_at(world, peer, reject.object_actor()?));
    match who.and_then(|who| relations.remove_following(&peer.host, who, reject.actor())) {
        Some(_) => Taken::default(),
        None => Taken::noted("a Reject of no Follow"),
    }
}

/// ActivityPub section 7.12. An embedded Follow is undone by the pair of actors, whatever its id; a bare id by the id.
fn take_undo(world: &World, peer: &Peer, undo: &Activity) -> Taken {
    let relations = &world.relations;
    if undo.object_kind().is_some_and(|kind| kind != "Follow") {
        return Taken::default();
    }
    let by_pair = undo
        .object_object()
        .and_then(|url| Route::who_at(world, peer, url))
        .is_some_and(|who| relations.remove_follower(&peer.host, who, undo.actor()));
    let by_id = || {
        let id = undo.object_id()?;
        relations.remove_follower_by_follow(&peer.host, id, undo.actor())
    };
    match by_pair || by_id().is_some() {
        true => Taken::default(),
        false => Taken::noted("an Undo of nothing known"),
    }
}
