//! How a request that misbehaves departs from an honest one: a value, for whoever makes the request to carry out.

use std::time::Duration;

use crate::fault::Misbehaviour;

/// In what a request departs from an honest one; the default is in nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effect {
    /// What becomes of the signature once it is made.
    pub signature: SignatureEffect,
    /// What it is made with.
    pub key: KeyEffect,
    /// Whose key it says that is.
    pub key_id: KeyIdEffect,
    /// What of the digest.
    pub digest: DigestEffect,
    /// When it says it was made, and until when it says it holds.
    pub time: TimeEffect,
    /// Whose the activity is.
    pub actor: Whose,
    /// Whose the activity's object is.
    pub object: Whose,
    /// Whether the same request goes out a second time.
    pub repeats: bool,
}

/// What becomes of the signature once it is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SignatureEffect {
    /// Bits of it are flipped, and it is base64 still.
    Corrupt,
    /// It is left out.
    Missing,
    /// Nothing.
    #[default]
    Whole,
}

/// The key that signs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeyEffect {
    /// One of the kind and size of the sender's that nobody has.
    Nobodys,
    /// The sender's.
    #[default]
    Own,
}

/// The key id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeyIdEffect {
    /// One of the sender's host, whose document has the key that signed and names the other host's actor as its owner.
    Claimed,
    /// That of an actor of another host.
    Others,
    /// The sender's.
    #[default]
    Own,
}

/// The digest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DigestEffect {
    /// There is none, and none is covered.
    Missing,
    /// That of another body.
    OfAnother,
    /// That of the body.
    #[default]
    Right,
    /// That of the body, and not covered.
    Uncovered,
}

/// The moments a request tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimeEffect {
    /// It was made this long ago.
    Ago(Duration),
    /// It will be made so much later.
    Ahead(Duration),
    /// It holds until so long ago.
    Expired(Duration),
    /// It is made now.
    #[default]
    Now,
}

/// Whose something is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Whose {
    /// An actor's of another host, which is neither the sender's nor the receiver's.
    Others,
    /// The sender's.
    #[default]
    Own,
}

impl Effect {
    /// Whether it takes an actor of another host.
    pub fn involves_another(&self) -> bool {
        self.actor == Whose::Others || self.object == Whose::Others || self.key_id != KeyIdEffect::Own
    }

    /// Whether each request is honest by itself.
    pub fn is_honest(&self) -> bool {
        let Effect { repeats, .. } = *self;
        *self
            == Effect {
                repeats,
                ..Effect::default()
            }
    }
}

impl Misbehaviour {
    /// How it departs from an honest request.
    pub fn effect(self) -> Effect {
        let honest = Effect::default();
        match self {
            Misbehaviour::Unsigned => Effect {
                signature: SignatureEffect::Missing,
                ..honest
            },
            Misbehaviour::Corrupt => Effect {
                signature: SignatureEffect::Corrupt,
                ..honest
            },
            Misbehaviour::WrongKey => Effect {
                key: KeyEffect::Nobodys,
                ..honest
            },
            Misbehaviour::BadDigest => Effect {
                digest: DigestEffect::OfAnother,
                ..honest
            },
            Misbehaviour::NoDigest => Effect {
                digest: DigestEffect::Missing,
                ..honest
            },
            Misbehaviour::UncoveredDigest => Effect {
                digest: DigestEffect::Uncovered,
                ..honest
            },
            Misbehaviour::Stale => Effect {
                time: TimeEffect::Ago(FAR),
                ..honest
            },
            Misbehaviour::Future => Effect {
                time: TimeEffect::Ahead(FAR),
                ..honest
            },
            Misbehaviour::Expired => Effect {
                time: TimeEffect::Expired(FAR),
                ..honest
            },
            Misbehaviour::ForeignKeyId => Effect {
                key_id: KeyIdEffect::Others,
                ..honest
            },
            Misbehaviour::ForeignOwner => Effect {
                key_id: KeyIdEffect::Claimed,
                actor: Whose::Others,
                object: Whose::Others,
                ..honest
            },
            Misbehaviour::Replay => Effect {
                repeats: true,
                ..honest
            },
            Misbehaviour::ForeignActor => Effect {
                actor: Whose::Others,
                object: Whose::Others,
                ..honest
            },
            Misbehaviour::ForeignObject => Effect {
                object: Whose::Others,
                ..honest
            },
        }
    }
}

/// Beyond any server's window: the widest known takes a day either way (Pixelfed), most an hour.
const FAR: Duration = Duration::from_secs(2 * 24 * 60 * 60);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_departs_in_a_way_of_its_own() {
        let mut effects = vec![Effect::default()];
        for one in Misbehaviour::ALL {
            let effect = one.effect();
            assert!(!effects.contains(&effect), "{one}");
            effects.push(effect);
        }
    }

    #[test]
    fn only_a_replay_is_made_of_honest_requests() {
        let honest: Vec<Misbehaviour> = Misbehaviour::ALL
            .into_iter()
            .filter(|one| one.effect().is_honest())
            .collect();
        assert_eq!(honest, [Misbehaviour::Replay]);
    }

    #[test]
    fn what_is_foreign_takes_another_host_and_nothing_else_does() {
        for one in Misbehaviour::ALL {
            assert_eq!(
                one.effect().involves_another(),
                one.label().starts_with("foreign-"),
                "{one}"
            );
        }
    }
}
