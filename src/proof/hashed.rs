//! What a proof signs: two canonical texts and their digests.

use aws_lc_rs::digest::{Digest, SHA256, digest};
use serde::Serialize;

use crate::signature::cut;

/// The canonical forms of a proof's options and of the document, and their SHA-256. JSON (RFC 8785) for
/// `eddsa-jcs-2022`, N-Quads for `RsaSignature2017`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hashed {
    /// The proof without what it cannot cover.
    pub options: String,
    /// Its digest in lower-case hexadecimal.
    pub options_sha256: String,
    /// The document without its proof.
    pub document: String,
    /// Its digest in lower-case hexadecimal.
    pub document_sha256: String,
}

impl Hashed {
    pub(super) fn new(options: String, document: String) -> Hashed {
        Hashed {
            options_sha256: hex(sha256(&options)),
            document_sha256: hex(sha256(&document)),
            options,
            document,
        }
    }

    /// The digests of the options and of the document, one after the other: what `eddsa-jcs-2022` signs.
    pub(super) fn bytes(&self) -> Vec<u8> {
        [sha256(&self.options).as_ref(), sha256(&self.document).as_ref()].concat()
    }

    /// The same in hexadecimal: what `RsaSignature2017` signs.
    pub(super) fn text(&self) -> String {
        format!("{}{}", self.options_sha256, self.document_sha256)
    }

    /// What a verdict keeps of it: the first bytes of each text, and the digests of the whole.
    pub(super) fn shown(self) -> Hashed {
        Hashed {
            options: cut(self.options, MAX_SHOWN),
            document: cut(self.document, MAX_SHOWN),
            ..self
        }
    }
}

fn sha256(text: &str) -> Digest {
    digest(&SHA256, text.as_bytes())
}

fn hex(digest: Digest) -> String {
    digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// How many bytes of a canonical text a verdict keeps.
const MAX_SHOWN: usize = 16_384;
