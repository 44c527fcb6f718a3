//! Verification (RFC 9421 section 3.2), by what the fediverse asks of a signature (SWICG, "ActivityPub and HTTP
//! Signatures"): every check runs, so that one verdict serves peers of any leniency.

use crate::clock::Timestamp;
use crate::signature::key::{Algorithm, VerifyingKey};
use crate::signature::rfc9421::base::Base;
use crate::signature::rfc9421::derived::Target;
use crate::signature::rfc9421::{Header, Message, guess};
use crate::signature::verdict::{MAX_BASE, cut};
use crate::signature::window::{expired, outside};
use crate::signature::{Dialect, Finding, Reason, Request, Terms, Verdict, content_digest, mismatch};

impl Header {
    /// Runs the checks in the order that [`crate::signature::SignatureHeader::verify`] documents. Where there is no
    /// key, the finding that says so stands for the last of them.
    pub(in crate::signature) fn verify(
        &self,
        message: &Message,
        key: Result<&VerifyingKey, Finding>,
        terms: Terms,
    ) -> Verdict {
        let base = Base::build(&self.components, message);
        let mut verdict = Verdict {
            dialect: Some(Dialect::Rfc9421),
            label: Some(self.label().to_owned()),
            key_id: Some(self.key_id().to_owned()),
            covered: self.covered(),
            notes: self.notes.clone(),
            ..Verdict::valid()
        };
        structure(self, message, &base, &mut verdict);
        content(self, message, &mut verdict);
        dates(self, terms, &mut verdict);
        match key {
            Ok(key) => proof(self, message, &base, key, &mut verdict),
            Err(failure) => verdict.add(failure),
        }
        if !verdict.findings.is_empty() {
            let text = String::from_utf8_lossy(&base.bytes(&self.strict)).into_owned();
            verdict.signature_base = Some(cut(text, MAX_BASE));
        }
        verdict
    }
}

/// What the signature says of itself, against what the standard and the fediverse ask of it.
fn structure(header: &Header, message: &Message, base: &Base, verdict: &mut Verdict) {
    if let Some(name) = &header.algorithm
        && !REGISTERED.contains(&name.as_str())
    {
        let detail = format!(
            "`alg` is `{name}`; one of `{}`, or none, would do",
            REGISTERED.join("`, `")
        );
        verdict.add(Finding::new(Reason::UnsupportedAlgorithm, detail));
    }
    if header.created().is_none() {
        let detail = "there is no parameter `created`, so nothing dates the signature";
        verdict.add(Finding::new(Reason::ParameterMissing, detail));
    }
    if let Message::Request(request) = message {
        let uncovered = uncovered(header, request);
        if !uncovered.is_empty() {
            let covered = header.covered();
            let detail = format!(
                "{} must be covered; `{}` is",
                uncovered.join(" and "),
                covered.join(" ")
            );
            verdict.add(Finding::new(Reason::HeaderNotSigned, detail));
        }
    }
    for fault in &base.faults {
        let detail = format!("`{}` is covered, but {}", fault.component, fault.why);
        verdict.add(Finding::new(fault.reason, detail));
    }
}

/// What of a request's method and target must be covered and is not. The body's digest is looked at with the body.
fn uncovered(header: &Header, request: &Request) -> Vec<&'static str> {
    let mut uncovered = Vec::new();
    if !header.covers("@method") {
        uncovered.push("`@method`");
    }
    let query = Target::of(request).query.unwrap_or_default();
    let local = header.covers("@request-target")
        || header.covers("@path") && (query.is_empty() || header.covers("@query"));
    let host = header.covers("@authority") || header.covers("host");
    let target = header.covers("@target-uri") || local && host;
    if !target {
        uncovered.push("`@target-uri` (or `@authority`, `@path` and any `@query`)");
    }
    uncovered
}

/// Whether the signature covers the body, by way of its digest. A message without a body needs none; a POST always
/// does, even of nothing.
fn content(header: &Header, message: &Message, verdict: &mut Verdict) {
    let needed = match message {
        Message::Request(request) => request.method == "POST" || !request.body.is_empty(),
        Message::Response(_) => false,
    };
    let present = message.headers().contains_key("content-digest");
    let covered = header.covers("content-digest");
    let announced = present && covered;
    if !needed && !announced {
        return;
    }
    if present && !covered {
        let detail = format!(
            "`Content-Digest` is there and not covered, so the body is not signed; `{}` is covered",
            header.covered().join(" ")
        );
        verdict.add(Finding::new(Reason::DigestNotSigned, detail));
    }
    verdict.notes.extend(content_digest::notes(message.headers()));
    for finding in content_digest::check(message.headers(), message.body()) {
        verdict.add(finding);
    }
}

/// Whether `created` lies in the window and `expires` has not passed.
fn dates(header: &Header, terms: Terms, verdict: &mut Verdict) {
    let Terms { window, now, .. } = terms;
    verdict.window = header.created().or(header.expires).map(|_| window);
    let created = header.created().and_then(|created| {
        let date = Timestamp::from_unix(created);
        let what = format_args!("`created`, {created},");
        outside(window, now, date, Reason::CreatedInFuture, what)
    });
    let expires = header.expires.and_then(|expires| expired(terms, expires));
    for finding in created.into_iter().chain(expires) {
        verdict.add(finding);
    }
}

/// Whether the key fits and verifies; where it does not, whether it verifies what senders are known to sign instead.
fn proof(header: &Header, message: &Message, base: &Base, key: &VerifyingKey, verdict: &mut Verdict) {
    let kind = key.kind();
    let named = header.algorithm.as_deref().and_then(Algorithm::named);
    let fitting = named.filter(|named| kind.computes(*named));
    if let Some(named) = named
        && fitting.is_none()
    {
        let detail = format!("`alg` is `{named}`, but the key is {kind}");
        verdict.add(Finding::new(Reason::UnsupportedAlgorithm, detail));
    }
    let algorithm = fitting.unwrap_or(kind.algorithm());
    verdict.algorithm = Some(algorithm);
    let verifies = |algorithm, bytes: &[u8]| key.verifies(algorithm, bytes, &header.signature);
    if verifies(algorithm, &base.bytes(&header.strict)) {
        verdict
            .notes
            .extend(header.sent.is_some().then_some("input_reserialized"));
        return;
    }
    // Section 2.5 wants the last line as structured fields write it; who copies the field signs its very bytes.
    if let Some(sent) = &header.sent
        && verifies(algorithm, &base.bytes(sent))
    {
        verdict.notes.push("input_as_sent");
        return;
    }
    let slip = guess::slip(header, message, base, algorithm, key)
        .or_else(|| mismatch::words(key, algorithm, &header.signature, &base.bytes(&header.strict)))
        .map(|slip| format!("; {slip}"))
        .unwrap_or_default();
    let detail = format!(
        "the {kind} key `{}` does not verify the signature under `{algorithm}` over the base the farm built{slip}",
        header.key_id()
    );
    verdict.add(Finding::new(Reason::SignatureMismatch, detail));
}

/// The names in the HTTP Signature Algorithms registry (section 6.2.2).
const REGISTERED: [&str; 6] = [
    "rsa-pss-sha512",
    "rsa-v1_5-sha256",
    "ecdsa-p256-sha256",
    "ecdsa-p384-sha384",
    "ed25519",
    "hmac-sha256",
];
