//! Any JSON with proofs of both kinds put into it: judging must end without a panic, and never with "valid".
#![no_main]

use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use peerfarm::clock::Timestamp;
use peerfarm::proof::find;
use peerfarm::signature::{Hs2019, Outcome, Reason, Terms, Window};
use serde_json::{Value, json};

fuzz_target!(|data: &[u8]| {
    let Ok(Value::Object(mut document)) = serde_json::from_slice(data) else {
        return;
    };
    // What the document has of its own is read first, then the same with a kind that is known.
    judge(&Value::Object(document.clone()));
    for (member, kind) in [("proof", "DataIntegrityProof"), ("signature", "RsaSignature2017")] {
        let known =
            json!({"type": kind, "cryptosuite": "eddsa-jcs-2022", "creator": "x", "verificationMethod": "x"});
        let proof = document.entry(member).or_insert_with(|| json!({}));
        if !proof.is_object() {
            *proof = json!({});
        }
        if let (Some(proof), Value::Object(known)) = (proof.as_object_mut(), known) {
            proof.extend(known);
        }
    }
    judge(&Value::Object(document));
});

fn judge(document: &Value) {
    let hour = Duration::from_secs(3_600);
    let terms = Terms {
        window: Window {
            past: hour,
            future: hour,
        },
        hs2019: Hs2019::Sha256,
        now: Timestamp::from_unix(1_700_000_000),
    };
    for proof in find(document) {
        let verdict = proof.verify_without_key(Reason::KeyGone, "", terms);
        assert_eq!(verdict.result, Outcome::Invalid);
    }
}
