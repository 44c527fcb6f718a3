//! The document of a key that claims to be somebody else's; `None` where it was forgotten meanwhile.

use serde_json::json;

use crate::activitypub::ACTIVITY_STREAMS;
use crate::answer::Answer;
use crate::farm::{Peer, World, forged_keys};

/// A key alone, as servers publish those: only its owner's document could tell that it is none of the owner's.
pub fn document(world: &World, peer: &Peer, name: &str) -> Option<Answer> {
    let key = world.forged_keys.key(peer, name)?;
    let document = json!({
        "@context": [ACTIVITY_STREAMS, SECURITY],
        "id": forged_keys::url(peer, name),
        "type": "Key",
        "owner": key.owner,
        "publicKeyPem": key.public_key_pem,
    });
    Some(Answer::json(&peer.software.documents.content_type, &document))
}

const SECURITY: &str = "https://w3id.org/security/v1";
