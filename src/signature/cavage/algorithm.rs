//! What the `algorithm` parameter stands for (draft-cavage-12 section 2.1.3 and appendix E.2).

use crate::signature::Hs2019;
use crate::signature::key::{Algorithm, KeyKind};

/// What a key of that kind computes under that `algorithm`, or under none; `None` where the name is unknown, or one
/// for another kind of key. The key decides (section 2.5); a name other than `hs2019` must agree.
pub fn computed(name: Option<&str>, kind: KeyKind, hs2019: Hs2019) -> Option<Algorithm> {
    let named = match name.unwrap_or(HS2019) {
        HS2019 => match (kind, hs2019) {
            (KeyKind::Rsa(_), Hs2019::Sha512) => Algorithm::RsaV15Sha512,
            _ => kind.algorithm(),
        },
        "ecdsa-sha256" => Algorithm::EcdsaP256Sha256,
        // Neither is in the draft, and some write either.
        "ed25519" | "ed25519-sha512" => Algorithm::Ed25519,
        "hmac-sha256" => Algorithm::HmacSha256,
        "rsa-sha256" => Algorithm::RsaV15Sha256,
        "rsa-sha512" => Algorithm::RsaV15Sha512,
        _ => return None,
    };
    kind.computes(named).then_some(named)
}

/// Whether the name forbids `(created)` and `(expires)` (section 2.3 items 2 and 3): the older ones, which were
/// defined before these two existed.
pub(super) fn forbids_times(name: &str) -> bool {
    ["rsa", "hmac", "ecdsa"]
        .iter()
        .any(|prefix| name.starts_with(prefix))
}

pub(super) const HS2019: &str = "hs2019";

/// The names that are read, in lower case only: the draft has them as fixed strings.
pub(super) const NAMES: [&str; 7] = [
    HS2019,
    "rsa-sha256",
    "rsa-sha512",
    "ecdsa-sha256",
    "ed25519",
    "ed25519-sha512",
    "hmac-sha256",
];
