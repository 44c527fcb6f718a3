//! What a user can have an actor do: follow, unfollow, send a note or an activity; and the Accept that answers a
//! Follow.

use bytes::Bytes;
use serde::Serialize;
use serde_json::{Map, Value, json};
use url::Url;

use crate::activitypub::{ACTIVITY_STREAMS, Activity, PUBLIC, paragraph};
use crate::clock::Timestamp;
use crate::command::Target;
use crate::deliver::prove::Proven;
use crate::deliver::{Delivery, FindError, How, Misbehaved, Outbound, Remote, SignerError};
use crate::farm::notes::{self, NOTES_MAX, Place};
use crate::farm::{Follow, Note, Peer, Who};
use crate::fault::Misbehaviour;

/// An activity that was sent, and what became of it.
#[derive(Clone, Debug, Serialize)]
pub struct Sent {
    /// The activity's id.
    pub id: Option<String>,
    /// The activity.
    pub activity: Value,
    /// What each inbox said.
    pub deliveries: Vec<Delivery>,
    /// Which proofs it lacks that its actor's software would make, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What was wrong with it on purpose, and what that showed.
    #[serde(flatten)]
    pub misbehaved: Option<Misbehaved>,
}

impl Outbound {
    /// Follows somebody. The Follow waits in the relations from before it is sent, since its Accept may come first.
    ///
    /// # Errors
    /// When the target is not found, when the Follow cannot be signed, when there are too many relations.
    pub async fn follow(&self, peer: &Peer, who: Who, target: &Target, how: How) -> Result<Sent, VerbError> {
        let remote = self.recipient(peer, target).await?;
        let inbox = own_inbox(&remote)?;
        let id = peer.software.urls.follow.render(&self.fresh.values(peer, who));
        let relations = &self.world.relations;
        let follow = Follow {
            id: id.clone(),
            other: remote.id.clone(),
        };
        if !relations.add_pending(&peer.host, who, follow) {
            return Err(VerbError::TooManyRelations);
        }
        let sent = self
            .post(peer, who, inbox, follow_document(peer, who, &id, &remote.id), how)
            .await;
        if !sent
            .as_ref()
            .is_ok_and(|sent| sent.deliveries.iter().any(Delivery::may_have_arrived))
        {
            relations.remove_following(&peer.host, who, &remote.id);
        }
        sent
    }

    /// Takes a Follow back: an Undo around the very Follow that was sent.
    ///
    /// # Errors
    /// When the target is not found, when the actor does not follow it, when the Undo cannot be signed.
    pub async fn unfollow(
        &self,
        peer: &Peer,
        who: Who,
        target: &Target,
        how: How,
    ) -> Result<Sent, VerbError> {
        let remote = self.recipient(peer, target).await?;
        let inbox = own_inbox(&remote)?;
        let Some(follow) = self.world.relations.remove_following(&peer.host, who, &remote.id) else {
            return Err(VerbError::NotFollowing {
                actor: peer.handle(who),
                target: remote.id,
            });
        };
        let (urls, documents) = (&peer.software.urls, &peer.software.documents);
        let values = self.fresh.values(peer, who).with("follow", follow.id.as_str());
        let id = urls.undo.render(&values);
        let values = values
            .with("undo", id)
            .with("follow", follow_document(peer, who, &follow.id, &remote.id))
            .with("follow_id", follow.id)
            .with("target", remote.id.as_str());
        self.post(peer, who, inbox, documents.undo.render(&values), how)
            .await
    }

    /// Sends a public note that mentions the target.
    ///
    /// # Errors
    /// When the target is not found, when the Create cannot be signed.
    pub async fn note(
        &self,
        peer: &Peer,
        who: Who,
        target: &Target,
        text: &str,
        how: How,
    ) -> Result<Sent, VerbError> {
        let remote = self.recipient(peer, target).await?;
        let inbox = any_inbox(&remote)?;
        let (place, note) = self.new_note(peer, who, (&remote, target), text);
        let create = note.create(peer);
        self.world.sent.keep(&peer.host, place, note);
        self.post(peer, who, inbox, create, how).await
    }

    /// A public note that mentions somebody, and its place. It is not kept yet.
    pub(super) fn new_note(
        &self,
        peer: &Peer,
        who: Who,
        (remote, target): (&Remote, &Target),
        text: &str,
    ) -> (Place, Note) {
        let mention =
            json!({"type": "Mention", "href": remote.id, "name": format!("@{}", handle(remote, target))});
        let place = self.new_place(peer, who);
        let note = Note {
            who,
            id: notes::id(peer.software.ids.note, self.world.seed, peer.host.as_str(), place),
            content: paragraph(text),
            text: text.to_owned(),
            published: Timestamp::now().seconds_rfc3339(),
            to: vec![PUBLIC.to_owned()],
            cc: vec![remote.id.clone()],
            tag: vec![mention],
        };
        (place, note)
    }

    /// Sends an activity as it is given, with `@context`, `actor` and a new `id` where it has none.
    ///
    /// # Errors
    /// When it is no JSON object, when the target is not found, when it cannot be signed.
    pub async fn activity(
        &self,
        peer: &Peer,
        who: Who,
        target: &Target,
        activity: Map<String, Value>,
        how: How,
    ) -> Result<Sent, VerbError> {
        let remote = self.recipient(peer, target).await?;
        let inbox = any_inbox(&remote)?;
        let activity = self.completed(peer, who, activity);
        self.post(peer, who, inbox, Value::Object(activity), how).await
    }

    /// An activity with `@context`, `actor` and a new `id` where it had none.
    pub(super) fn completed(
        &self,
        peer: &Peer,
        who: Who,
        mut activity: Map<String, Value>,
    ) -> Map<String, Value> {
        // Servers pass over what does not say that it is ActivityStreams; where it goes first it is where all look for it.
        if !activity.contains_key("@context") {
            activity.shift_insert(0, "@context".to_owned(), ACTIVITY_STREAMS.into());
        }
        if !activity.contains_key("id") {
            let kind = activity.get("type").and_then(Value::as_str).unwrap_or("activity");
            let values = self
                .fresh
                .values(peer, who)
                .with("type", kind.to_ascii_lowercase());
            activity.insert(
                "id".to_owned(),
                peer.software.urls.activity.render(&values).into(),
            );
        }
        if !activity.contains_key("actor") {
            activity.insert("actor".to_owned(), peer.actor_url(who).into());
        }
        activity
    }

    /// Accepts a Follow of one of the farm's actors, under an id of its own (ActivityPub section 7.6).
    ///
    /// # Errors
    /// When the follower is not found, when the Accept cannot be signed.
    pub async fn accept(&self, peer: &Peer, who: Who, follow: &Activity) -> Result<Sent, VerbError> {
        let follower = follow.actor();
        let remote = match self.keys.owner(follower) {
            Some(remote) => remote,
            None => self.recipient(peer, &Target::Url(url_of(follower)?)).await?,
        };
        let inbox = own_inbox(&remote)?;
        let values = self
            .fresh
            .values(peer, who)
            .with("follow", follow.id().unwrap_or_default());
        let id = peer.software.urls.accept.render(&values);
        let mut values = values
            .with("accept", id)
            .with("follow", follow.value().clone())
            .with("follower", follower);
        if let Some(follow_id) = follow.id() {
            values.set("follow_id", follow_id);
        }
        let accept = peer.software.documents.accept.render(&values);
        self.post(peer, who, inbox, accept, How::default()).await
    }

    /// Whom a command is about, looked up as the peer's instance actor.
    pub(super) async fn recipient(&self, peer: &Peer, target: &Target) -> Result<Remote, VerbError> {
        let signer = self.signer(peer, Who::Instance).await?;
        Ok(self.find(&signer, target).await?)
    }

    async fn post(
        &self,
        peer: &Peer,
        who: Who,
        inbox: &Url,
        activity: Value,
        how: How,
    ) -> Result<Sent, VerbError> {
        let signer = self.signer(peer, who).await?;
        let Proven { activity, notes } = self.proven(peer, who, &signer, activity).await?;
        let body = Bytes::from(activity.to_string());
        let delivery = self.send(&signer, inbox, body, how).await?;
        Ok(Sent {
            id: activity["id"].as_str().map(str::to_owned),
            activity,
            deliveries: vec![delivery],
            notes,
            misbehaved: None,
        })
    }

    /// Where a new note stands, behind those of the author's outbox.
    fn new_place(&self, peer: &Peer, who: Who) -> Place {
        let room = u64::from(NOTES_MAX - self.world.notes.min(NOTES_MAX - 1));
        Place {
            actor: match who {
                Who::Actor(number) => number,
                Who::Instance => notes::ACTORS_MAX - 1,
            },
            note: NOTES_MAX - room as u32 + (self.fresh.count(peer) % room) as u32,
        }
    }
}

/// Why an actor could not do as told.
#[derive(Debug, thiserror::Error)]
pub enum VerbError {
    /// The target was not found.
    #[error(transparent)]
    Find(#[from] FindError),
    /// The target has no inbox.
    #[error("`{0}` has no inbox")]
    NoInbox(String),
    /// There is no object that could be another's.
    #[error("`{0}` needs an activity whose `object` is an object, not an id alone")]
    NoObject(Misbehaviour),
    /// There is no Follow to take back.
    #[error("`{actor}` does not follow `{target}`")]
    NotFollowing {
        /// The actor's handle.
        actor: String,
        /// The target's id.
        target: String,
    },
    /// Nothing can be signed.
    #[error(transparent)]
    Signer(#[from] SignerError),
    /// There is no other host whose actor could be wronged.
    #[error(
        "`{misbehaviour}` takes an actor of another host than the sender's and the receiver's: \
         the farm needs {needed} peers and has {there}"
    )]
    TooFewPeers {
        /// What was to be wrong.
        misbehaviour: Misbehaviour,
        /// How many peers that takes.
        needed: usize,
        /// How many there are.
        there: usize,
    },
    /// The farm keeps no more relations.
    #[error("the farm keeps no more relations; unfollow somebody, or start it anew")]
    TooManyRelations,
    /// An id that is no URL.
    #[error("`{0}` is no URL")]
    Url(String),
}

fn follow_document(peer: &Peer, who: Who, id: &str, target: &str) -> Value {
    let values = peer.values(who).with("follow", id).with("target", target);
    peer.software.documents.follow.render(&values)
}

fn own_inbox(remote: &Remote) -> Result<&Url, VerbError> {
    remote
        .inbox
        .as_ref()
        .ok_or_else(|| VerbError::NoInbox(remote.id.clone()))
}

pub(super) fn any_inbox(remote: &Remote) -> Result<&Url, VerbError> {
    remote
        .any_inbox()
        .ok_or_else(|| VerbError::NoInbox(remote.id.clone()))
}

/// A handle for a mention: as typed, or made of the actor's name and its host.
fn handle(remote: &Remote, target: &Target) -> String {
    if let Target::Handle { name, authority } = target {
        return format!("{name}@{authority}");
    }
    let id = url_of(&remote.id).ok();
    let authority = id.as_ref().map_or("", |url| {
        &url[url::Position::BeforeHost..url::Position::AfterPort]
    });
    format!("{}@{authority}", remote.name.as_deref().unwrap_or_default())
}

fn url_of(id: &str) -> Result<Url, VerbError> {
    Url::parse(id).map_err(|_| VerbError::Url(id.to_owned()))
}
