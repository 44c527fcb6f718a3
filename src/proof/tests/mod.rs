//! Vectors, foreign proofs, and what is said of those that do not hold.

use std::time::Duration;

use super::*;

use crate::clock::Timestamp;
use crate::signature::key::SigningKey;
use crate::signature::{Hs2019, Outcome, Window};

mod bounds;
mod foreign;
mod properties;
mod reasons;
mod vectors;

fn rsa() -> SigningKey {
    SigningKey::from_pem(include_str!("../../../tests/fixtures/signature/rsa2048.pem")).unwrap()
}

fn ed25519() -> SigningKey {
    SigningKey::from_pem(include_str!("../../../tests/fixtures/signature/ed25519.pem")).unwrap()
}

/// An hour each way around a moment.
fn terms(now: Timestamp) -> Terms {
    let hour = Duration::from_secs(3_600);
    Terms {
        window: Window {
            past: hour,
            future: hour,
        },
        hs2019: Hs2019::default(),
        now,
    }
}

/// The verdict on the one proof of a document.
fn verdict(document: &Value, key: &SigningKey) -> ProofVerdict {
    match find(document).as_slice() {
        [proof] => proof.verify(key.public_key(), terms(NOW)),
        proofs => panic!("{} proofs in {document}", proofs.len()),
    }
}

/// A document, signed in one of both ways by Alice.
fn signed(kind: Kind, mut document: Map<String, Value>) -> Value {
    match kind {
        Kind::EddsaJcs2022 => sign_eddsa_jcs_2022(&mut document, ED25519_KEY_ID, NOW, &ed25519()),
        Kind::RsaSignature2017 => sign_rsa_signature_2017(&mut document, RSA_KEY_ID, NOW, None, &rsa()),
    }
    .unwrap();
    document.into()
}

/// The key that goes with a kind.
fn key_of(kind: Kind) -> SigningKey {
    match kind {
        Kind::EddsaJcs2022 => ed25519(),
        Kind::RsaSignature2017 => rsa(),
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        other => panic!("no object: {other}"),
    }
}

const KINDS: [Kind; 2] = [Kind::EddsaJcs2022, Kind::RsaSignature2017];
const AS: &str = "https://www.w3.org/ns/activitystreams";
const RSA_KEY_ID: &str = "https://mastodon1.test/users/alice#main-key";
const ED25519_KEY_ID: &str = "https://mastodon1.test/users/alice#ed25519-key";
/// 2023-11-14T22:13:20Z, when the foreign proofs were made.
const NOW: Timestamp = Timestamp::from_unix(1_700_000_000);
