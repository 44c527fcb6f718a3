//! Verification (draft-cavage-12 section 2.5): every check runs, so that one verdict serves peers of any leniency.

use std::time::Duration;

use crate::clock::Timestamp;
use crate::signature::cavage::Header;
use crate::signature::cavage::algorithm::{HS2019, NAMES, forbids_times};
use crate::signature::cavage::base::{Base, CREATED, EXPIRES, REQUEST_TARGET};
use crate::signature::cavage::proof::Proof;
use crate::signature::key::VerifyingKey;
use crate::signature::verdict::{MAX_BASE, cut};
use crate::signature::window::{expired, outside};
use crate::signature::{Dialect, Finding, Reason, Request, Terms, Verdict, Window, base64, digest};

impl Header {
    /// Runs the checks in the order that [`crate::signature::SignatureHeader::verify`] documents. Where there is no
    /// key, the finding that says so stands for the last of them.
    pub(in crate::signature) fn verify(
        &self,
        request: &Request,
        key: Result<&VerifyingKey, Finding>,
        terms: Terms,
    ) -> Verdict {
        let base = Base::build(self.covered.iter().map(String::as_str), request, self.times());
        let mut verdict = Verdict {
            dialect: Some(Dialect::Cavage),
            key_id: Some(self.key_id().to_owned()),
            covered: self.covered.clone(),
            notes: self.notes.clone(),
            ..Verdict::valid()
        };
        let signature = base64::decode(&self.signature);
        structure(self, &base, &mut verdict);
        if let Some(fault) = signature.fault {
            let detail = format!("`signature` is `{}`, which is no base64: {fault}", self.signature);
            verdict.add(Finding::new(Reason::BadBase64, detail));
        }
        content(self, request, &mut verdict);
        dates(self, &base, terms, &mut verdict);
        match key {
            Ok(key) => {
                let proof = Proof {
                    header: self,
                    request,
                    base: &base,
                    signature: signature.bytes.as_deref(),
                    key,
                };
                proof.check(terms.hs2019, &mut verdict);
            }
            Err(failure) => verdict.add(failure),
        }
        if !verdict.findings.is_empty() {
            let text = String::from_utf8_lossy(&base.bytes()).into_owned();
            verdict.signature_base = Some(cut(text, MAX_BASE));
        }
        verdict
    }
}

/// What the signature says of itself, against what the draft and the fediverse ask of it.
fn structure(header: &Header, base: &Base, verdict: &mut Verdict) {
    let algorithm = header.algorithm.as_deref().unwrap_or(HS2019);
    if !NAMES.contains(&algorithm) {
        let detail = format!(
            "algorithm `{algorithm}`; `{}`, or none, would do",
            NAMES.join("`, `")
        );
        verdict.add(Finding::new(Reason::UnsupportedAlgorithm, detail));
    }
    for time in [CREATED, EXPIRES].into_iter().filter(|time| header.covers(time)) {
        if forbids_times(algorithm) {
            let detail =
                format!("`{time}` is covered, which algorithm `{algorithm}` forbids; `{HS2019}` allows it");
            verdict.add(Finding::new(Reason::ParameterForbidden, detail));
        }
        if base.missing.contains(&time) {
            let parameter = time.trim_matches(['(', ')']);
            let detail = format!("`{time}` is covered, but there is no parameter `{parameter}`");
            verdict.add(Finding::new(Reason::ParameterMissing, detail));
        }
    }
    let mut uncovered: Vec<&str> = [REQUEST_TARGET, "host"]
        .into_iter()
        .filter(|name| !header.covers(name))
        .collect();
    if !header.covers("date") && !header.covers(CREATED) {
        uncovered.push("date` or `(created)");
    }
    if !uncovered.is_empty() {
        let detail = format!(
            "`{}` must be covered; `{}` is",
            uncovered.join("`, `"),
            header.covered.join(" ")
        );
        verdict.add(Finding::new(Reason::HeaderNotSigned, detail));
    }
    let missing: Vec<&str> = base
        .missing
        .iter()
        .copied()
        .filter(|name| ![CREATED, EXPIRES].contains(name))
        .collect();
    if !missing.is_empty() {
        let detail = format!("`{}` is covered and is not in the request", missing.join("`, `"));
        verdict.add(Finding::new(Reason::HeaderMissing, detail));
    }
}

/// Whether the signature covers the body, by way of its digest. A request without a body needs none; a POST always
/// does, even of nothing.
fn content(header: &Header, request: &Request, verdict: &mut Verdict) {
    let needed = request.method == "POST" || !request.body.is_empty();
    let present = request.headers.contains_key("digest");
    let covered = header.covers("digest");
    let announced = present && covered;
    if !needed && !announced {
        return;
    }
    if present && !covered {
        let detail = format!(
            "`Digest` is there and not covered, so the body is not signed; `{}` is covered",
            header.covered.join(" ")
        );
        verdict.add(Finding::new(Reason::DigestNotSigned, detail));
    }
    verdict.notes.extend(digest::notes(request.headers));
    for finding in digest::check(request.headers, request.body) {
        verdict.add(finding);
    }
}

/// Whether the covered dates lie in the window, and `created` and `expires` in the right order with now, covered or
/// not (sections 2.1.4 and 2.1.5).
fn dates(header: &Header, base: &Base, terms: Terms, verdict: &mut Verdict) {
    let Terms { window, now, .. } = terms;
    let is_dated = base.value("date").is_some() || header.created().or(header.expires()).is_some();
    verdict.window = is_dated.then_some(window);
    if let Some(text) = base.value("date") {
        let text = String::from_utf8_lossy(text);
        match Timestamp::parse_http_date(&text) {
            Some(date) => {
                let finding = outside(
                    window,
                    now,
                    date,
                    Reason::DateInFuture,
                    format_args!("`Date`, `{text}`,"),
                );
                finding.into_iter().for_each(|finding| verdict.add(finding));
            }
            None => {
                let detail = format!("`Date` is `{text}`; `{}` would be one now", now.http_date());
                verdict.add(Finding::new(Reason::DateUnreadable, detail));
            }
        }
    }
    if let Some(created) = header.created() {
        // Only what is covered dates the signature.
        let past = if header.covers(CREATED) {
            window.past
        } else {
            Duration::MAX
        };
        let (date, window) = (Timestamp::from_unix(created), Window { past, ..window });
        let what = format_args!("`created`, {created},");
        let finding = outside(window, now, date, Reason::CreatedInFuture, what);
        finding.into_iter().for_each(|finding| verdict.add(finding));
    }
    if let Some(expires) = header.expires() {
        let finding = expired(terms, expires);
        finding.into_iter().for_each(|finding| verdict.add(finding));
    }
}
