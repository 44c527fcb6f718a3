//! What of the farm's own requests can be wrong on purpose, by name. Each name stands for a hole that real servers had;
//! a server that takes such a request has it too.

mod effect;

pub use effect::{DigestEffect, Effect, KeyEffect, KeyIdEffect, SignatureEffect, TimeEffect, Whose};

use std::fmt;

use serde::{Deserialize, Serialize};

/// One thing that is wrong with a request; all else about it is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Misbehaviour {
    /// There is no signature.
    Unsigned,
    /// Bits of the signature are flipped.
    Corrupt,
    /// The key that signed is nobody's.
    WrongKey,
    /// The digest is of another body, and covered.
    BadDigest,
    /// There is no digest.
    NoDigest,
    /// The digest is right and not covered.
    UncoveredDigest,
    /// It was signed long ago.
    Stale,
    /// It was signed long from now.
    Future,
    /// The signature has expired.
    Expired,
    /// The key id is an actor's of another host.
    ForeignKeyId,
    /// The key says that an actor of another host owns it, who is also the activity's.
    ForeignOwner,
    /// It comes a second time.
    Replay,
    /// The activity is an actor's of another host.
    ForeignActor,
    /// The object is another host's.
    ForeignObject,
}

impl Misbehaviour {
    /// Every one, in the order in which they are listed.
    pub const ALL: [Misbehaviour; 14] = [
        Misbehaviour::Unsigned,
        Misbehaviour::Corrupt,
        Misbehaviour::WrongKey,
        Misbehaviour::BadDigest,
        Misbehaviour::NoDigest,
        Misbehaviour::UncoveredDigest,
        Misbehaviour::Stale,
        Misbehaviour::Future,
        Misbehaviour::Expired,
        Misbehaviour::ForeignKeyId,
        Misbehaviour::ForeignOwner,
        Misbehaviour::Replay,
        Misbehaviour::ForeignActor,
        Misbehaviour::ForeignObject,
    ];

    /// The name.
    pub fn label(self) -> &'static str {
        match self {
            Misbehaviour::Unsigned => "unsigned",
            Misbehaviour::Corrupt => "corrupt",
            Misbehaviour::WrongKey => "wrong-key",
            Misbehaviour::BadDigest => "bad-digest",
            Misbehaviour::NoDigest => "no-digest",
            Misbehaviour::UncoveredDigest => "uncovered-digest",
            Misbehaviour::Stale => "stale",
            Misbehaviour::Future => "future",
            Misbehaviour::Expired => "expired",
            Misbehaviour::ForeignKeyId => "foreign-key-id",
            Misbehaviour::ForeignOwner => "foreign-owner",
            Misbehaviour::Replay => "replay",
            Misbehaviour::ForeignActor => "foreign-actor",
            Misbehaviour::ForeignObject => "foreign-object",
        }
    }

    /// What is wrong, as it follows the words "a delivery".
    pub fn summary(self) -> &'static str {
        match self {
            Misbehaviour::Unsigned => "without a signature",
            Misbehaviour::Corrupt => "whose signature has flipped bits",
            Misbehaviour::WrongKey => "signed with a key that is nobody's",
            Misbehaviour::BadDigest => "whose digest is of another body",
            Misbehaviour::NoDigest => "without a digest",
            Misbehaviour::UncoveredDigest => "whose digest is not covered by the signature",
            Misbehaviour::Stale => "signed two days ago",
            Misbehaviour::Future => "signed two days from now",
            Misbehaviour::Expired => "whose signature expired two days ago",
            Misbehaviour::ForeignKeyId => "whose key id is that of an actor of another host",
            Misbehaviour::ForeignOwner => {
                "whose key claims to be that of the activity's actor, of another host"
            }
            Misbehaviour::Replay => "that had come before, byte for byte",
            Misbehaviour::ForeignActor => "whose activity is that of an actor of another host",
            Misbehaviour::ForeignObject => "whose object is by an actor of another host, and at an id there",
        }
    }

    /// What a right server does with it.
    pub fn expected(self) -> &'static str {
        "refused"
    }
}

impl fmt::Display for Misbehaviour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.label())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_name_reads_as_it_is_written() {
        for one in Misbehaviour::ALL {
            assert_eq!(json!(one), json!(one.label()));
            let read: Misbehaviour = serde_json::from_value(json!(one.label())).unwrap();
            assert_eq!(read, one);
        }
    }
}
