//! Proofs inside activities: which are made on what, which are verified.

use crate::software::raw::Section;
use crate::software::{Making, Proofs, Urls};

pub(super) fn proofs(section: &Section, urls: &Urls) -> Proofs {
    if !section.has("verifies") {
        section.wrong("verifies", "missing; `[]` for none");
    }
    let eddsa = section.optional_section("eddsa_jcs_2022");
    if eddsa.is_some() && urls.ed25519_key.is_none() {
        section.wrong(
            "eddsa_jcs_2022",
            "these proofs name an Ed25519 key, and `urls.ed25519_key` is missing",
        );
    }
    let rsa = section.optional_section("rsa_signature_2017");
    Proofs {
        verifies: section.words("verifies"),
        eddsa_jcs_2022: eddsa.and_then(|table| making(&table, false)),
        rsa_signature_2017: rsa.and_then(|table| making(&table, true)),
    }
}

fn making(section: &Section, may_expire: bool) -> Option<Making> {
    let on = section.word("makes");
    let under_authorized_fetch = section.optional_flag("under_authorized_fetch").unwrap_or(true);
    Some(Making {
        expires: may_expire.then(|| section.optional_span("expires")).flatten(),
        under_authorized_fetch,
        on: on?,
    })
}
