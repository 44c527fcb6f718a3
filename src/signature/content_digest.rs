//! The `Content-Digest` field (RFC 9530 section 2): what ties a body to the signature of its fields.

use aws_lc_rs::digest;
use http::HeaderMap;
use sfv::{Dictionary, Parser};

use crate::signature::dictionary::{Member, members};
use crate::signature::digest::{algorithm, mismatch, offered, unusual};
use crate::signature::field::combined;
use crate::signature::{Finding, Reason, base64};

/// The value of a `Content-Digest` header for `body`: `sha-256=:`, 44 characters of base64, `:`.
pub fn sha256_header(body: &[u8]) -> String {
    format!(
        "sha-256=:{}:",
        base64::encode(digest::digest(&digest::SHA256, body))
    )
}

/// Checks the `Content-Digest` headers against the body, which is what went over the wire, any `Content-Encoding`
/// included. Each `sha-256` and each `sha-512` must match and one of them must be there; other algorithms are passed
/// over. What is not right is returned in order; nothing means that the body is the one announced.
///
/// A value that is no byte sequence (base64 without its colons, say) is [`Reason::Malformed`]; what stands between
/// the colons and is no base64 is [`Reason::BadBase64`]. Either is compared all the same, where it can be read.
pub fn check(headers: &HeaderMap, body: &[u8]) -> Vec<Finding> {
    let Some(field) = combined("content-digest", headers) else {
        return vec![missing(headers, body)];
    };
    let text = String::from_utf8_lossy(&field);
    let members = members(&text);
    if members.len() > MAX_DIGESTS {
        let detail = format!(
            "`Content-Digest` has {} members; at most {MAX_DIGESTS} are read",
            members.len()
        );
        return vec![Finding::new(Reason::UnsupportedDigest, detail)];
    }
    let mut findings = Vec::new();
    let mut others = Vec::new();
    for member in &members {
        match algorithm(member.key.trim()) {
            Some(algorithm) => compare(*member, algorithm, body, &mut findings),
            None => others.push(member.key.trim()),
        }
    }
    let explained = findings
        .iter()
        .any(|finding| [Reason::Malformed, Reason::BadBase64].contains(&finding.reason));
    let is_plain = findings.is_empty() && matches!(members.as_slice(), [only] if is_plain(*only, &text));
    if !is_plain
        && !explained
        && let Err(fault) = Parser::new(field.as_ref()).parse::<Dictionary>()
    {
        let detail = format!("`Content-Digest` is no dictionary of structured fields: {fault}");
        findings.insert(0, Finding::new(Reason::Malformed, detail));
    }
    if others.len() == members.len() {
        let detail = format!(
            "`Content-Digest` offers {}; `sha-256` or `sha-512` is needed",
            offered(&others)
        );
        findings.push(Finding::new(Reason::UnsupportedDigest, detail));
    }
    findings
}

/// What is unusual about the `Content-Digest` headers, in the names of a verdict's notes.
pub(super) fn notes(headers: &HeaderMap) -> Vec<&'static str> {
    let field = combined("content-digest", headers).unwrap_or_default();
    let text = String::from_utf8_lossy(&field);
    unusual(members(&text).iter().map(|member| member.key.trim()))
}

/// Whether a field is one of the two usual members and nothing else, which needs no parser to be a dictionary.
fn is_plain(member: Member, field: &str) -> bool {
    ["sha-256", "sha-512"].contains(&member.key)
        && member.value.ends_with(':')
        && member.value.matches(':').count() == 2
        && field.len() == member.key.len() + 1 + member.value.len()
}

fn missing(headers: &HeaderMap, body: &[u8]) -> Finding {
    let other = ["Digest", "Repr-Digest"]
        .into_iter()
        .find(|name| headers.contains_key(*name))
        .map(|name| format!(" (`{name}` is there, but is not the same thing)"))
        .unwrap_or_default();
    let detail = format!(
        "there is no `Content-Digest`{other}; the body calls for `{}`",
        sha256_header(body)
    );
    Finding::new(Reason::DigestMissing, detail)
}

fn compare(member: Member, algorithm: &'static digest::Algorithm, body: &[u8], findings: &mut Vec<Finding>) {
    let Member { key, value } = member;
    let shown = || format!("{key}={value}");
    let sequence = value.strip_prefix(':').and_then(|rest| rest.split_once(':'));
    let text = match sequence {
        // Parameters may follow; none are defined.
        Some((text, _)) => text,
        None => {
            let detail = format!(
                "`Content-Digest` has `{}`, whose value should be base64 between colons: `{key}=:...:`",
                shown()
            );
            findings.push(Finding::new(Reason::Malformed, detail));
            value.trim_matches([':', '"'])
        }
    };
    let given = base64::decode(text);
    if let Some(fault) = given.fault
        && sequence.is_some()
    {
        let detail = format!(
            "`Content-Digest` has `{}`, whose value is no base64: {fault}",
            shown()
        );
        findings.push(Finding::new(Reason::BadBase64, detail));
    }
    let computed = digest::digest(algorithm, body);
    if given.bytes.as_deref() != Some(computed.as_ref()) {
        let told = mismatch(
            &format!("`Content-Digest` has `{}`", shown()),
            (body, algorithm),
            (text, given.bytes.as_deref()),
            findings,
        );
        findings.push(told);
    }
}

/// How many digests of one message are computed.
const MAX_DIGESTS: usize = 8;

#[cfg(test)]
mod tests;
