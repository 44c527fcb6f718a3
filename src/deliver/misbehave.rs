//! A delivery that is wrong on purpose, as an [`Effect`] says: made as an honest one is, and then not.

use bytes::Bytes;
use http::HeaderMap;
use serde::Serialize;
use serde_json::{Map, Value};
use tokio::task::spawn_blocking;
use url::{Position, Url};

use crate::clock::Timestamp;
use crate::command::Target;
use crate::deliver::signer::{SIGNATURE, SIGNATURE_INPUT};
use crate::deliver::verbs::any_inbox;
use crate::deliver::{Delivery, How, Outbound, Remote, Sent, Signer, SignerError, VerbError};
use crate::farm::{ForgedKey, Peer, Who};
use crate::fault::Misbehaviour;
use crate::fault::misbehave::{
    DigestEffect, Effect, KeyEffect, KeyIdEffect, SignatureEffect, TimeEffect, Whose,
};
use crate::signature::key::{KeyKind, SigningKey};
use crate::signature::{Dialect, corrupt};

/// What is to be sent.
#[derive(Clone, Debug)]
pub enum Content {
    /// An activity, completed where it lacks something.
    Activity(Map<String, Value>),
    /// The text of a note, in a Create.
    Note(String),
}

/// What was wrong with a delivery on purpose, and what that showed.
#[derive(Clone, Debug, Serialize)]
pub struct Misbehaved {
    /// What was wrong.
    pub misbehaviour: Misbehaviour,
    /// What a right server does with it.
    pub expected: &'static str,
    /// Whether it was taken all the same. `None` where that was not found out: without a whole answer, or where what
    /// was to be repeated was refused the first time.
    pub finding: Option<bool>,
    /// The request.
    pub request: Request,
}

/// A request as it went out, in the form in which the journal has one that came in.
#[derive(Clone, Debug, Serialize)]
pub struct Request {
    /// When it went out, the first time where it did so twice.
    pub at: Timestamp,
    /// The method: `POST`.
    pub method: &'static str,
    /// Path and query.
    pub target: String,
    /// The scheme.
    pub scheme: String,
    /// Names and values, in order.
    pub headers: Vec<(String, String)>,
    /// The body: the activity, byte for byte.
    pub body: String,
}

/// An actor of the farm.
#[derive(Clone, Copy)]
struct Actor<'a> {
    peer: &'a Peer,
    who: Who,
}

/// Whose part somebody plays: the sender, and an actor of another host, who is the sender where none is needed.
#[derive(Clone, Copy)]
struct Cast<'a> {
    own: Actor<'a>,
    others: Actor<'a>,
}

impl<'a> Cast<'a> {
    fn of(&self, whose: Whose) -> Actor<'a> {
        match whose {
            Whose::Others => self.others,
            Whose::Own => self.own,
        }
    }
}

impl Outbound {
    /// Sends a note or an activity that is wrong in one way, without a second knock. It carries no proofs: they would
    /// speak for what the request does not, and hide who takes it.
    ///
    /// # Errors
    /// As for [`Outbound::note`] and [`Outbound::activity`]; and when the farm has too few peers for it, or the activity
    /// no object.
    pub async fn misbehave(
        &self,
        peer: &Peer,
        who: Who,
        target: &Target,
        content: Content,
        misbehaviour: Misbehaviour,
        how: How,
    ) -> Result<Sent, VerbError> {
        let effect = misbehaviour.effect();
        let remote = self.recipient(peer, target).await?;
        let inbox = any_inbox(&remote)?;
        let own = Actor { peer, who };
        let others = match effect.involves_another() {
            true => self.another(own, inbox, misbehaviour)?,
            false => own,
        };
        let cast = Cast { own, others };
        let activity = match content {
            Content::Activity(activity) => {
                self.wrong_activity(cast, (&remote, target), activity, misbehaviour)?
            }
            Content::Note(text) => self.wrong_create(cast, (&remote, target), &text, effect),
        };

        let signer = self.signer(peer, who).await?;
        let dialect = how.dialect.unwrap_or(signer.software().signing.first);
        let text = activity.to_string();
        let body = Bytes::from(text.clone());
        let headers = self
            .wrong_headers(cast, &signer, dialect, inbox, &body, effect)
            .await?;
        let request = Request::of(inbox, &headers, text);
        let send = || self.send_as_is(&signer, inbox, dialect, headers.clone(), body.clone());
        let mut deliveries = vec![send().await];
        let is_repeated = effect.repeats && deliveries.iter().all(Delivery::is_taken);
        if is_repeated {
            deliveries.push(send().await);
        }
        let last = deliveries.last().filter(|_| is_repeated || !effect.repeats);
        let finding = last.filter(|last| last.error.is_none()).map(Delivery::is_taken);
        Ok(Sent {
            id: activity["id"].as_str().map(str::to_owned),
            activity,
            deliveries,
            notes: Vec::new(),
            misbehaved: Some(Misbehaved {
                misbehaviour,
                expected: misbehaviour.expected(),
                finding,
                request,
            }),
        })
    }

    /// The actor in the sender's place on the next peer of the roster that is neither the sender's nor the receiver's.
    fn another(
        &self,
        own: Actor<'_>,
        inbox: &Url,
        misbehaviour: Misbehaviour,
    ) -> Result<Actor<'_>, VerbError> {
        let peers = self.world.peers();
        let is_receiver = |peer: &Peer| inbox.host_str() == Some(peer.host.as_str());
        let place = peers.iter().position(|peer| peer.host == own.peer.host);
        let (before, after) = peers.split_at(place.unwrap_or(0));
        let mut next = after.iter().chain(before);
        let found = next.find(|peer| peer.host != own.peer.host && !is_receiver(peer));
        let Some(peer) = found else {
            let is_within = peers
                .iter()
                .any(|peer| is_receiver(peer) && peer.host != own.peer.host);
            return Err(VerbError::TooFewPeers {
                misbehaviour,
                needed: if is_within { 3 } else { 2 },
                there: peers.len(),
            });
        };
        Ok(Actor { peer, who: own.who })
    }

    /// The Create of a note. It can be fetched only where it was honest: nothing is to speak for what is forged.
    fn wrong_create(&self, cast: Cast<'_>, to: (&Remote, &Target), text: &str, effect: Effect) -> Value {
        let author = cast.of(effect.actor);
        let (place, note) = self.new_note(author.peer, author.who, to, text);
        let mut create = note.create(author.peer);
        if effect.object != effect.actor {
            let other = cast.of(effect.object);
            let (_, note) = self.new_note(other.peer, other.who, to, text);
            create["object"] = note.document(other.peer);
        }
        if effect.is_honest() {
            self.world.sent.keep(&author.peer.host, place, note);
        }
        create
    }

    /// The activity as it was given, but for whose it is.
    fn wrong_activity(
        &self,
        cast: Cast<'_>,
        to: (&Remote, &Target),
        mut activity: Map<String, Value>,
        misbehaviour: Misbehaviour,
    ) -> Result<Value, VerbError> {
        let effect = misbehaviour.effect();
        if effect.actor == Whose::Others {
            activity.remove("actor");
        }
        if effect.object == Whose::Others {
            let Actor { peer, who } = cast.others;
            match activity.get_mut("object") {
                Some(Value::Object(object)) => {
                    let (_, note) = self.new_note(peer, who, to, "");
                    object.insert("id".to_owned(), note.url(peer).into());
                    object.insert("attributedTo".to_owned(), peer.actor_url(who).into());
                }
                // An id alone has no author, and the actor is wrong enough.
                _ if effect.actor == Whose::Others => {}
                _ => return Err(VerbError::NoObject(misbehaviour)),
            }
        }
        let Actor { peer, who } = cast.of(effect.actor);
        Ok(Value::Object(self.completed(peer, who, activity)))
    }

    /// The headers: made by honest means but for what the effect changes of them.
    async fn wrong_headers(
        &self,
        cast: Cast<'_>,
        signer: &Signer,
        dialect: Dialect,
        inbox: &Url,
        body: &[u8],
        effect: Effect,
    ) -> Result<HeaderMap, SignerError> {
        let now = Timestamp::now();
        let mut means = signer.means(dialect, Some(body), now);
        let nobodys;
        if effect.key == KeyEffect::Nobodys {
            nobodys = nobodys_key(means.key.kind()).await?;
            means.key = &nobodys;
        }
        let key_id = match effect.key_id {
            KeyIdEffect::Claimed => self.claim(cast, means.key)?,
            KeyIdEffect::Others => key_id_of(cast.others),
            KeyIdEffect::Own => means.key_id.to_owned(),
        };
        means.key_id = &key_id;
        match effect.digest {
            DigestEffect::Missing => (means.digested, means.covers_digest) = (None, false),
            DigestEffect::OfAnother => means.digested = Some(ANOTHER_BODY),
            DigestEffect::Right => {}
            DigestEffect::Uncovered => means.covers_digest = false,
        }
        match effect.time {
            TimeEffect::Ago(time) => means.now = now.minus(time),
            TimeEffect::Ahead(time) => means.now = now.plus(time),
            TimeEffect::Expired(time) => means.expires = Some(now.minus(time)),
            TimeEffect::Now => {}
        }
        let mut headers = signer.post(inbox, body, &means)?;
        match effect.signature {
            SignatureEffect::Corrupt => {
                let made = headers.get(SIGNATURE).and_then(corrupt);
                headers.insert(
                    SIGNATURE,
                    made.expect("what was just signed ends with its signature"),
                );
            }
            SignatureEffect::Missing => {
                headers.remove(SIGNATURE);
                headers.remove(SIGNATURE_INPUT);
            }
            SignatureEffect::Whole => {}
        }
        Ok(headers)
    }

    /// Serves the key as another's from now on, and gives its id.
    fn claim(&self, cast: Cast<'_>, key: &SigningKey) -> Result<String, SignerError> {
        let forged = ForgedKey {
            owner: cast.others.peer.actor_url(cast.others.who),
            public_key_pem: key.public_pem()?,
        };
        let values = self.fresh.values(cast.own.peer, cast.own.who);
        let name = values.get("uuid").and_then(Value::as_str).unwrap_or_default();
        Ok(self.world.forged_keys.keep(cast.own.peer, name, forged))
    }
}

impl Request {
    fn of(inbox: &Url, headers: &HeaderMap, body: String) -> Request {
        let shown = |(name, value): (&http::HeaderName, &http::HeaderValue)| {
            (
                name.to_string(),
                String::from_utf8_lossy(value.as_bytes()).into_owned(),
            )
        };
        Request {
            at: Timestamp::now(),
            method: "POST",
            target: inbox[Position::BeforePath..Position::AfterQuery].to_owned(),
            scheme: inbox.scheme().to_owned(),
            headers: headers.iter().map(shown).collect(),
            body,
        }
    }
}

fn key_id_of(Actor { peer, who }: Actor<'_>) -> String {
    peer.software.signing.key_id.render(&peer.values(who))
}

/// A new key of that kind and size, so that nothing but whose it is gives it away.
async fn nobodys_key(kind: KeyKind) -> Result<SigningKey, SignerError> {
    let made = spawn_blocking(move || match kind {
        KeyKind::Rsa(bits) => SigningKey::generate_rsa(bits),
        KeyKind::P256 => SigningKey::generate_p256(),
        _ => SigningKey::generate_ed25519(),
    });
    Ok(made.await.map_err(|_| SignerError::Interrupted)??)
}

/// Whose digest is told where it is not the body's.
const ANOTHER_BODY: &[u8] = b"another body";
