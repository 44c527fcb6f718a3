//! Multikey (W3C Controlled Identifiers 1.0 sections 2.2.2 and 2.4), which FEP-521a publishes keys in: `z`, then
//! base58btc over a multicodec prefix and the key.

use crate::signature::key::der::Family;
use crate::signature::key::error::{KeyError, MAX_MULTIBASE};

/// The family and the key.
pub(super) fn read(text: &str) -> Result<(Family, Vec<u8>), KeyError> {
    if text.len() > MAX_MULTIBASE {
        return Err(KeyError::TooLong(text.len()));
    }
    let base58 = text
        .strip_prefix('z')
        .ok_or(KeyError::Multibase("it does not begin with `z`, for base58btc"))?;
    let bytes = bs58::decode(base58)
        .into_vec()
        .map_err(|_| KeyError::Multibase("what follows the `z` is no base58btc"))?;
    for (family, prefix, length) in CODECS {
        if let Some(key) = bytes.strip_prefix(prefix.as_slice()) {
            return match key.len() == length {
                true => Ok((family, key.to_vec())),
                false => Err(KeyError::Multibase(
                    "it has not the length of the key it announces",
                )),
            };
        }
    }
    Err(KeyError::Multibase(
        "its multicodec is none of `ed25519-pub` (ed01), `p256-pub` (8024) and `p384-pub` (8124)",
    ))
}

/// An Ed25519 public key.
pub(super) fn write_ed25519(key: &[u8]) -> String {
    let bytes = [ED25519_PUB.as_slice(), key].concat();
    format!("z{}", bs58::encode(bytes).into_string())
}

/// The multicodecs 0xed, 0x1200 and 0x1201 as varints, and the lengths of the keys; a point on a curve is compressed.
const CODECS: [(Family, [u8; 2], usize); 3] = [
    (Family::Ed25519, ED25519_PUB, 32),
    (Family::P256, [0x80, 0x24], 33),
    (Family::P384, [0x81, 0x24], 49),
];
const ED25519_PUB: [u8; 2] = [0xed, 0x01];
