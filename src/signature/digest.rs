//! The `Digest` header (RFC 3230): what ties a body to the signature of its headers.

mod guess;

use std::borrow::Cow;

use aws_lc_rs::digest;
use http::HeaderMap;

use crate::signature::base64;
use crate::signature::{Finding, Reason};

/// The value of a `Digest` header for `body`: `SHA-256=` and 44 characters of base64.
pub fn sha256_header(body: &[u8]) -> String {
    format!(
        "SHA-256={}",
        base64::encode(digest::digest(&digest::SHA256, body))
    )
}

/// Checks the `Digest` headers against the body (RFC 3230 section 4.3.2): names in any case, several algorithms, one
/// line or more. Each SHA-256 and each SHA-512 must match and one of them must be there; other algorithms are passed
/// over. What is not right is returned in order; nothing means that the body is the one announced.
pub fn check(headers: &HeaderMap, body: &[u8]) -> Vec<Finding> {
    let lines: Vec<Cow<str>> = headers
        .get_all("digest")
        .iter()
        .map(|line| String::from_utf8_lossy(line.as_bytes()))
        .collect();
    if lines.is_empty() {
        let detail = format!(
            "there is no `Digest`; the body calls for `{}`",
            sha256_header(body)
        );
        return vec![Finding::new(Reason::DigestMissing, detail)];
    }
    let members: Vec<&str> = lines
        .iter()
        .flat_map(|line| line.split(','))
        .map(str::trim)
        .filter(|member| !member.is_empty())
        .collect();
    if members.len() > MAX_DIGESTS {
        let detail = format!(
            "`Digest` has {} members; at most {MAX_DIGESTS} are read",
            members.len()
        );
        return vec![Finding::new(Reason::UnsupportedDigest, detail)];
    }
    let mut findings = Vec::new();
    let mut others = Vec::new();
    for member in &members {
        // Base64 ends in `=` too: only the first one divides.
        let (name, value) = member.split_once('=').unwrap_or((member, ""));
        match algorithm(name.trim()) {
            Some(algorithm) => compare(member, value.trim(), algorithm, body, &mut findings),
            None => others.push(name.trim()),
        }
    }
    if others.len() == members.len() {
        let detail = format!(
            "`Digest` offers {}; `SHA-256` or `SHA-512` is needed",
            offered(&others)
        );
        findings.push(Finding::new(Reason::UnsupportedDigest, detail));
    }
    findings
}

/// What is unusual about the `Digest` headers, in the names of a verdict's notes: no SHA-256, or more than one digest.
pub(super) fn notes(headers: &HeaderMap) -> Vec<&'static str> {
    let lines = headers.get_all("digest").iter();
    let lines: Vec<Cow<str>> = lines
        .map(|line| String::from_utf8_lossy(line.as_bytes()))
        .collect();
    let members = lines.iter().flat_map(|line| line.split(',')).map(str::trim);
    let names = members.filter(|member| !member.is_empty());
    unusual(names.map(|member| member.split_once('=').map_or(member, |(name, _)| name.trim())))
}

/// The same of digests by the names of their algorithms.
pub(super) fn unusual<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'static str> {
    let (mut count, mut sha256) = (0, false);
    for name in names {
        count += 1;
        sha256 |= name.eq_ignore_ascii_case("sha-256");
    }
    let without = (count > 0 && !sha256).then_some("digest_without_sha256");
    without
        .into_iter()
        .chain((count > 1).then_some("several_digests"))
        .collect()
}

/// The names of algorithms, for a person.
pub(super) fn offered(names: &[&str]) -> String {
    match names {
        [] => "nothing".to_owned(),
        names => format!("`{}`", names.join("`, `")),
    }
}

/// The algorithm of that name, in any case: RFC 3230 section 4.1.1 has it so, and under RFC 9530 section 5 one in
/// capitals is no dictionary, and is compared all the same.
pub(super) fn algorithm(name: &str) -> Option<&'static digest::Algorithm> {
    match name.to_ascii_lowercase().as_str() {
        "sha-256" => Some(&digest::SHA256),
        "sha-512" => Some(&digest::SHA512),
        _ => None,
    }
}

fn compare(
    member: &str,
    value: &str,
    algorithm: &'static digest::Algorithm,
    body: &[u8],
    findings: &mut Vec<Finding>,
) {
    let given = base64::decode(value);
    if let Some(fault) = given.fault {
        let detail = format!("`Digest` has `{member}`, whose value is no base64: {fault}");
        findings.push(Finding::new(Reason::BadBase64, detail));
    }
    let computed = digest::digest(algorithm, body);
    if given.bytes.as_deref() != Some(computed.as_ref()) {
        let told = mismatch(
            &format!("`Digest` has `{member}`"),
            (body, algorithm),
            (value, given.bytes.as_deref()),
            findings,
        );
        findings.push(told);
    }
}

/// The finding on a digest that is not the body's by that algorithm. `given` is its text and the bytes in it; `before`
/// what is found already.
pub(super) fn mismatch(
    what: &str,
    (body, algorithm): (&[u8], &'static digest::Algorithm),
    (text, bytes): (&str, Option<&[u8]>),
    before: &[Finding],
) -> Finding {
    // Once: whoever sends several slips in each alike.
    let is_told = before
        .iter()
        .any(|finding| finding.reason == Reason::DigestMismatch);
    let slip = (!is_told).then(|| guess::slip(body, text, bytes, algorithm));
    let slip = slip.flatten().map(|slip| format!("; it is {slip}"));
    let detail = format!(
        "{what}, but the body of {} bytes gives `{}`{}",
        body.len(),
        base64::encode(digest::digest(algorithm, body)),
        slip.unwrap_or_default()
    );
    Finding::new(Reason::DigestMismatch, detail)
}

/// How many digests of one request are computed.
const MAX_DIGESTS: usize = 8;

#[cfg(test)]
mod tests;
