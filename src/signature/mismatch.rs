//! Why a signature does not verify, as far as key and signature tell: another key, another hash, another base.

use aws_lc_rs::digest::{SHA256, digest};

use crate::signature::key::{Algorithm, KeyKind, VerifyingKey};

/// What can be said of a signature that is not the key's over `base`, in words that follow a semicolon; `None` where
/// the algorithm tells nothing.
pub(super) fn words(
    key: &VerifyingKey,
    algorithm: Algorithm,
    signature: &[u8],
    base: &[u8],
) -> Option<String> {
    let expected = expected_length(key.kind())?;
    if signature.len() != expected {
        return Some(format!(
            "it has {} bytes, where such a key gives {expected}",
            signature.len()
        ));
    }
    let hash = match algorithm {
        Algorithm::RsaV15Sha256 => "SHA-256",
        Algorithm::RsaV15Sha512 => "SHA-512",
        _ => return None,
    };
    Some(match key.recover(signature) {
        None => "another key made it, or no RSA PKCS#1 v1.5".to_owned(),
        Some(signed) if signed.hash != hash => {
            format!("this key made it, with {} where {hash} was expected", signed.hash)
        }
        Some(signed) if hash == "SHA-256" => format!(
            "this key made it, over another base: the SHA-256 signed is {}, the one of the farm's base {}",
            hex(&signed.digest),
            hex(digest(&SHA256, base).as_ref())
        ),
        Some(_) => "this key made it, over another base".to_owned(),
    })
}

/// How long a signature of such a key is, in bytes, where all are of one length.
fn expected_length(kind: KeyKind) -> Option<usize> {
    match kind {
        KeyKind::Rsa(bits) | KeyKind::RsaPss(bits) => Some(bits.div_ceil(8)),
        KeyKind::Ed25519 => Some(64),
        KeyKind::P256 | KeyKind::P384 | KeyKind::Secret => None,
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
