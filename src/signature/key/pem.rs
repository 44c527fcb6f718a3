//! PEM (RFC 7468): read as it comes in actor documents, written as it should be.

use pem_rfc7468::LineEnding;

use crate::signature::base64;
use crate::signature::key::{KeyError, MAX_PEM};

/// Label and DER of the first PEM block in `text`, past the parameters that OpenSSL writes before an EC key. Lines may be of any length and end in any way, in a literal `\n`
/// too, as in JSON that was escaped twice.
pub(super) fn read(text: &str) -> Result<(String, Vec<u8>), KeyError> {
    if text.len() > MAX_PEM {
        return Err(KeyError::TooLong(text.len()));
    }
    let text = text.replace("\\r", "\r").replace("\\n", "\n");
    let mut rest = text.as_str();
    loop {
        let (_, after_begin) = rest.split_once("-----BEGIN ").ok_or(KeyError::NoPem)?;
        let (label, block) = after_begin.split_once("-----").ok_or(KeyError::NoPem)?;
        let (body, after_end) = block.split_once("-----END ").ok_or(KeyError::NoPem)?;
        if label != "EC PARAMETERS" {
            let der = base64::decode(body).bytes.ok_or(KeyError::Base64)?;
            return Ok((label.to_owned(), der));
        }
        rest = after_end;
    }
}

/// A PEM block with lines of 64 columns that end in LF, the last one too.
pub(super) fn write(label: &'static str, der: &[u8]) -> String {
    pem_rfc7468::encode_string(label, LineEnding::LF, der)
        .expect("labels are ours, and a key's DER is far below the limit of PEM")
}
