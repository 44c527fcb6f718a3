//! The verdict on a proof inside an activity, for a person.

use serde::Deserialize;

use crate::cli::show::verdict::{Finding, line, meaning, text_as_signed};
use crate::signature::note_meaning;

/// What was found of one proof.
#[derive(Deserialize)]
pub(super) struct ProofVerdict {
    result: String,
    kind: Option<String>,
    reason: Option<String>,
    #[serde(default)]
    detail: Option<String>,
    #[serde(default)]
    key_id: Option<String>,
    #[serde(default)]
    notes: Vec<String>,
    #[serde(default)]
    hashed: Option<Hashed>,
    #[serde(default)]
    findings: Vec<Finding>,
}

#[derive(Deserialize)]
struct Hashed {
    options: String,
    document: String,
}

impl ProofVerdict {
    /// The whole verdict, a fact a line, and where it does not hold the two texts whose digests are signed. It quotes
    /// what strangers sent.
    pub(super) fn text(&self) -> String {
        let kind = self.kind.as_deref().unwrap_or("of no kind");
        let result = match &self.reason {
            Some(reason) => format!("{kind}, {}: {reason}", self.result),
            None => format!("{kind}, {}", self.result),
        };
        let mut text = line("proof", &result);
        if let Some(meaning) = self.reason.as_deref().and_then(meaning) {
            text.push_str(&line("meaning", meaning));
        }
        if let Some(detail) = &self.detail {
            text.push_str(&line("why", detail));
        }
        // The first finding is the reason.
        for other in self.findings.iter().skip(1) {
            text.push_str(&line("also", &other.text()));
        }
        if let Some(key_id) = &self.key_id {
            text.push_str(&line("key id", key_id));
        }
        for note in &self.notes {
            let meaning = note_meaning(note).map(|meaning| format!(": {meaning}"));
            text.push_str(&line("note", &format!("{note}{}", meaning.unwrap_or_default())));
        }
        if let Some(Hashed { options, document }) = &self.hashed {
            text.push_str(&text_as_signed(
                "the proof's options, as the farm hashed them",
                options,
            ));
            text.push_str(&text_as_signed("the activity, as the farm hashed it", document));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::cli::output::foreign;

    #[test]
    fn a_proof_says_what_to_do_and_shows_what_was_hashed() {
        let verdict = json!({
            "result": "invalid", "kind": "RsaSignature2017", "reason": "signature_mismatch", "detail": "another key",
            "key_id": "https://sut.test/me#key", "notes": ["context_replaced"],
            "hashed": {"options": "a\n", "options_sha256": "0", "document": "b\nc\n", "document_sha256": "1"},
            "findings": [{"reason": "signature_mismatch", "detail": "another key"},
                         {"reason": "signer_mismatch", "detail": "another actor"}],
        });
        let text = foreign(&ProofVerdict::deserialize(verdict).unwrap().text());
        // `printf 'b\nc\n' | sha256sum`
        let sum = "bb9ead4c391dab4c05bd498dafac47a54f8b212625f2124a911202cc6ea61d27";
        for expected in [
            "proof         RsaSignature2017, invalid: signature_mismatch\nmeaning       another key, or",
            "\nwhy           another key\nalso          signer_mismatch: another actor (",
            "\nkey id        https://sut.test/me#key\nnote          context_replaced: the proof's contexts",
            "the proof's options, as the farm hashed them: 2 bytes, SHA-256 ",
            &format!("the activity, as the farm hashed it: 4 bytes, SHA-256 {sum}; ␊ is an LF\n  b␊\n  c␊\n"),
        ] {
            assert!(text.contains(expected), "{expected}\n--\n{text}");
        }
    }

    #[test]
    fn a_valid_proof_is_two_lines() {
        let verdict =
            json!({"result": "valid", "kind": "eddsa-jcs-2022", "reason": null, "key_id": "k", "notes": []});
        let text = ProofVerdict::deserialize(verdict).unwrap().text();
        assert_eq!(text, "proof         eddsa-jcs-2022, valid\nkey id        k\n");
    }
}
