//! A verdict for a person: what does not hold, what that means, and the signature base to lay beside one's own.

use aws_lc_rs::digest::{SHA256, digest};
use serde::Deserialize;

use crate::signature::{Reason, note_meaning};

/// What verification found.
#[derive(Deserialize)]
pub(super) struct Verdict {
    result: String,
    reason: Option<String>,
    #[serde(default)]
    detail: Option<String>,
    #[serde(default)]
    dialect: Option<String>,
    #[serde(default)]
    label: Option<String>,
    #[serde(default)]
    algorithm: Option<String>,
    #[serde(default)]
    key_id: Option<String>,
    #[serde(default)]
    covered: Vec<String>,
    #[serde(default)]
    notes: Vec<String>,
    #[serde(default)]
    signature_base: Option<String>,
    #[serde(default)]
    findings: Vec<Finding>,
}

#[derive(Deserialize)]
pub(super) struct Finding {
    reason: String,
    detail: String,
}

impl Verdict {
    /// `invalid: digest_mismatch`.
    pub(super) fn short(&self) -> String {
        match &self.reason {
            Some(reason) => format!("{}: {reason}", self.result),
            None => self.result.clone(),
        }
    }

    /// The whole verdict, a fact a line. It quotes what strangers sent.
    pub(super) fn text(&self) -> String {
        let mut text = line("verdict", &self.short());
        if let Some(meaning) = self.reason.as_deref().and_then(meaning) {
            text.push_str(&line("meaning", meaning));
        }
        // The first finding is the reason.
        let others: Vec<String> = self.findings.iter().skip(1).map(Finding::text).collect();
        for (name, value) in [
            ("why", &self.detail),
            ("dialect", &self.dialect),
            ("label", &self.label),
            ("algorithm", &self.algorithm),
            ("key id", &self.key_id),
        ] {
            if let Some(value) = value {
                text.push_str(&line(name, value));
            }
            if name == "why" {
                text.extend(others.iter().map(|other| line("also", other)));
            }
        }
        if !self.covered.is_empty() {
            text.push_str(&line("covered", &self.covered.join(" ")));
        }
        for note in &self.notes {
            let meaning = note_meaning(note).map(|meaning| format!(": {meaning}"));
            text.push_str(&line("note", &format!("{note}{}", meaning.unwrap_or_default())));
        }
        if let Some(base) = &self.signature_base {
            text.push_str(&shown(base));
        }
        text
    }
}

impl Finding {
    pub(super) fn text(&self) -> String {
        let meaning = meaning(&self.reason).map(|meaning| format!(" ({meaning})"));
        format!("{}: {}{}", self.reason, self.detail, meaning.unwrap_or_default())
    }
}

/// The signature base with the ends of its lines, and what two of them are best compared by first.
fn shown(base: &str) -> String {
    text_as_signed("signature base, as the farm built it", base)
}

/// A text that was signed or digested, line by line, under its name.
pub(super) fn text_as_signed(name: &str, base: &str) -> String {
    // The verdict keeps text, and of a long base not all.
    let whole = !base.contains('\u{fffd}') && !base.ends_with(" bytes more)");
    let size = match whole {
        true => {
            let sum = digest(&SHA256, base.as_bytes());
            let sum: String = sum.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
            format!("{} bytes, SHA-256 {sum}", base.len())
        }
        false => "not kept byte for byte".to_owned(),
    };
    let mut text = format!("{name}: {size}; {LINE_END} is an LF\n");
    for part in base.split_inclusive('\n') {
        match part.strip_suffix('\n') {
            Some(content) => text.push_str(&format!("  {content}{LINE_END}\n")),
            None => text.push_str(&format!("  {part}\n")),
        }
    }
    text
}

/// What a reason means; nothing for one that only a newer farm knows.
pub(super) fn meaning(reason: &str) -> Option<&'static str> {
    let reason: Reason = serde_json::from_value(reason.into()).ok()?;
    Some(reason.meaning())
}

pub(super) fn line(name: &str, value: &str) -> String {
    format!("{name:<14}{value}\n")
}

/// Stands for an LF that is signed.
const LINE_END: &str = "␊";

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::cli::output::foreign;

    #[test]
    fn a_verdict_says_what_to_do_and_shows_every_byte_of_its_base() {
        let verdict = json!({
            "result": "invalid", "reason": "digest_mismatch", "detail": "it is another", "dialect": "cavage",
            "key_id": "https://sut.test/me#key", "covered": ["host"], "notes": ["query_omitted", "new_one"],
            "signature_base": "host: a.test\nx: 1\r",
            "findings": [{"reason": "digest_mismatch", "detail": "it is another"},
                         {"reason": "not_yet_known", "detail": "it is new"}],
        });
        let text = foreign(&Verdict::deserialize(verdict).unwrap().text());
        // `printf 'host: a.test\nx: 1\r' | sha256sum`
        let sum = "73d5071ddd368a2e2026e70aac1a7dfcfa59f993064552e69ea8dc6c91572102";
        for expected in [
            &format!(
                "verdict       invalid: digest_mismatch\nmeaning       {}\n",
                Reason::DigestMismatch.meaning()
            ),
            "why           it is another\nalso          not_yet_known: it is new\n",
            "note          query_omitted: signed was the target without its query\nnote          new_one\n",
            &format!("18 bytes, SHA-256 {sum}; ␊ is an LF\n  host: a.test␊\n  x: 1\\r\n"),
        ] {
            assert!(text.contains(expected), "{expected}\n--\n{text}");
        }
    }

    #[test]
    fn a_base_that_was_not_kept_whole_has_no_digest() {
        for base in ["host: \u{fffd}", "host: a... (7 bytes more)"] {
            let text = shown(base);
            assert!(
                text.contains("not kept byte for byte") && !text.contains("SHA-256"),
                "{text}"
            );
        }
    }
}
