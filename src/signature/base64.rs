//! Base64 as it should be, and as it comes.

use base64::Engine;
use base64::alphabet::STANDARD as ALPHABET;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};

/// Base64 with padding (RFC 4648 section 4).
pub(crate) fn encode(bytes: impl AsRef<[u8]>) -> String {
    STANDARD.encode(bytes)
}

/// What base64 text holds. Both can be there: text that is not quite base64 and can be read all the same.
pub(crate) struct Decoded {
    /// The bytes, where there is any reading of the text.
    pub(crate) bytes: Option<Vec<u8>>,
    /// What makes it not base64 as RFC 4648 section 4 has it.
    pub(crate) fault: Option<base64::DecodeError>,
}

/// Reads base64; unpadded or wrapped text, which some decoders let pass, is a fault and is read.
pub(crate) fn decode(text: &str) -> Decoded {
    match STANDARD.decode(text) {
        Ok(bytes) => Decoded {
            bytes: Some(bytes),
            fault: None,
        },
        Err(fault) => {
            let solid: String = text.split_ascii_whitespace().collect();
            Decoded {
                bytes: LENIENT.decode(solid).ok(),
                fault: Some(fault),
            }
        }
    }
}

const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &ALPHABET,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);
