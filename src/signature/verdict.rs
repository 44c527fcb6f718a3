//! The verdict on a signature: what was found, in words that stats, journal and profiles share.

use serde::{Deserialize, Serialize};

use crate::signature::key::Algorithm;
use crate::signature::{Dialect, Window};

/// What verification found, by the specification, the same for every peer but for the time window.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// Valid, invalid or unsigned.
    pub result: Outcome,
    /// Why not, where it is invalid: the first of the findings.
    pub reason: Option<Reason>,
    /// The reason in words for a person, with the values that did not fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The dialect of the signature.
    pub dialect: Option<Dialect>,
    /// The label of the signature, where its dialect has one (RFC 9421 section 4.1).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// What the key computed: the algorithm that the signature's own name for it, or the key, stands for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub algorithm: Option<Algorithm>,
    /// The key id as the signature gave it.
    pub key_id: Option<String>,
    /// The covered components, in order, lower case; of RFC 9421 with their parameters: `@query-param;name="x"`.
    pub covered: Vec<String>,
    /// The window that its dates were judged by; `None` where it had none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<Window>,
    /// What was noticed besides: `query_omitted`, `scheme_prefix` (`Signature: Signature keyId=...`),
    /// `authorization_header` (the signature came in `Authorization`), `ecdsa_der` (an ECDSA signature as DER, where
    /// the draft leaves its form open), `several_signatures` (it is one of several), `input_reserialized` and
    /// `input_as_sent` (`Signature-Input` is not quite what structured fields write; signed is what they write, or the
    /// bytes as sent).
    pub notes: Vec<&'static str>,
    /// On failure, the signature base as the farm built it, to lay beside one's own.
    pub signature_base: Option<String>,
    /// All that does not hold, in the order of the checks; in the JSON where it says more than `reason` does.
    #[serde(skip_serializing_if = "fewer_than_two")]
    pub findings: Vec<Finding>,
}

impl Verdict {
    /// The verdict on a request without a signature.
    pub fn unsigned() -> Verdict {
        Verdict {
            result: Outcome::Unsigned,
            ..Verdict::valid()
        }
    }

    /// A verdict with one finding, and nothing known besides.
    pub fn invalid(reason: Reason, detail: impl Into<String>) -> Verdict {
        Verdict::valid().failed(reason, detail)
    }

    /// The same verdict with one more finding, which only the caller could make: [`Reason::SignerMismatch`],
    /// [`Reason::KeyOwnerMismatch`]. It comes last, so it is the reason only where all else holds.
    pub fn failed(mut self, reason: Reason, detail: impl Into<String>) -> Verdict {
        self.add(Finding::new(reason, detail));
        self
    }

    /// The same verdict with more words to the findings of one kind.
    pub fn explained(mut self, reason: Reason, words: &str) -> Verdict {
        for finding in self
            .findings
            .iter_mut()
            .filter(|finding| finding.reason == reason)
        {
            *finding = Finding::new(reason, format!("{}; {words}", finding.detail));
        }
        self.detail = self.findings.first().map(|finding| finding.detail.clone());
        self
    }

    /// The same verdict with `finding` in the place of those of that reason, where what they are about turns out not to
    /// be known ([`Reason::BodyMissing`]).
    pub fn instead(mut self, reason: Reason, finding: Finding) -> Verdict {
        let place = self.findings.iter().position(|found| found.reason == reason);
        if let Some(place) = place {
            self.findings.retain(|found| found.reason != reason);
            self.findings.insert(place, finding);
            let first = self.findings.first();
            self.reason = first.map(|first| first.reason);
            self.detail = first.map(|first| first.detail.clone());
        }
        self
    }

    /// The first finding that is not among `tolerated`; `None` where the rest held, or nothing was signed. Since
    /// every check runs, this answers for a peer that lets some failures pass without judging twice.
    pub fn untolerated(&self, tolerated: &[Reason]) -> Option<&Finding> {
        self.findings
            .iter()
            .find(|finding| !tolerated.contains(&finding.reason))
    }

    pub(super) fn valid() -> Verdict {
        Verdict {
            result: Outcome::Valid,
            reason: None,
            detail: None,
            dialect: None,
            label: None,
            algorithm: None,
            key_id: None,
            covered: Vec::new(),
            window: None,
            notes: Vec::new(),
            signature_base: None,
            findings: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, finding: Finding) {
        if self.findings.is_empty() {
            self.reason = Some(finding.reason);
            self.detail = Some(finding.detail.clone());
        }
        self.result = Outcome::Invalid;
        self.findings.push(finding);
    }
}

/// One thing about a signature that does not hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What kind of thing.
    pub reason: Reason,
    /// In words for a person, with the values that did not fit.
    pub detail: String,
}

impl Finding {
    /// A finding; a detail longer than 2,048 bytes is cut, since it may quote what a stranger sent.
    pub fn new(reason: Reason, detail: impl Into<String>) -> Finding {
        Finding {
            reason,
            detail: cut(detail.into(), MAX_DETAIL),
        }
    }
}

impl Reason {
    /// The name, as stats, journal and profiles have it.
    pub fn label(self) -> String {
        // A unit variant serialises as its name.
        match serde_json::to_value(self) {
            Ok(serde_json::Value::String(name)) => name,
            _ => String::new(),
        }
    }

    /// What it means and what would be right, in one line for a person.
    pub fn meaning(self) -> &'static str {
        match self {
            Reason::BadBase64 => {
                "write signature and digest as RFC 4648 section 4 has base64, padded, in one line"
            }
            Reason::BadMultibase => "write `proofValue` as `z` and base58btc of the signature's 64 bytes",
            Reason::BodyMissing => "give the body by `--body FILE`, so that its digest can be compared",
            Reason::CanonicalizationFailed => {
                "send JSON-LD that can be processed; a smaller document, or ids for its nodes, may help"
            }
            Reason::ContextMismatch => {
                "sign under the document's own `@context`, and do not change it afterwards"
            }
            Reason::ContextUnknown => {
                "name well-known contexts and define other terms in the document itself"
            }
            Reason::CreatedInFuture => "the sender's clock is ahead, or `created` is no Unix time in seconds",
            Reason::DateInFuture => "the sender's clock is ahead: sign with the time of sending, in GMT",
            Reason::DateTooOld => "sign when sending and again for each retry, or look at the sender's clock",
            Reason::DateUnreadable => {
                "write `Date` as RFC 9110 section 5.6.7 has it: `Sun, 06 Nov 1994 08:49:37 GMT`"
            }
            Reason::DigestMismatch => {
                "the body was changed after its digest was made: digest the bytes that are sent"
            }
            Reason::DigestMissing => {
                "a POST needs a digest of its body, or the signature says nothing about the body"
            }
            Reason::DigestNotSigned => {
                "list the digest among what the signature covers, or anybody can replace both"
            }
            Reason::Expired => "it came after `expires`: allow more time, or sign again for each retry",
            Reason::HeaderMissing => {
                "send every header that the signature covers, or do not cover it; a proxy may drop one"
            }
            Reason::HeaderNotSigned => "cover method and target, the host, a date, and the digest of a body",
            Reason::KeyFetchFailed => {
                "the document at the key id could not be fetched: serve it to whoever asks"
            }
            Reason::KeyGone => "the key id leads to nothing: its owner is deleted, or the key id is wrong",
            Reason::KeyMissing => "all was checked but the signature itself",
            Reason::KeyOwnerMismatch => {
                "key and owner must name each other: the key its `owner`, the owner that key id"
            }
            Reason::KeyUnreadable => "publish the public key as SPKI or PKCS#1 PEM, or as a Multikey",
            Reason::Malformed => {
                "a header of the signature, or its digest, does not parse: write it as its dialect has it"
            }
            Reason::ParameterForbidden => "cover `(created)` and `(expires)` under algorithm `hs2019` alone",
            Reason::ParameterMissing => {
                "add the parameter: covered times need theirs, RFC 9421 `created` and `keyid`"
            }
            Reason::ProofPurposeMismatch => "prove objects for the purpose `assertionMethod`",
            Reason::QueryOmitted => "sign the target with its query, as it stands in the request line",
            Reason::SignatureMismatch => {
                "another key, or another signature base: lay the one below beside the one signed"
            }
            Reason::SignerMismatch => {
                "sign with the key of the activity's `actor`; forwarding needs a proof in the object"
            }
            Reason::UnsupportedAlgorithm => "name an algorithm that the key computes, or none",
            Reason::UnsupportedDialect => "sign in a dialect that is read here",
            Reason::UnsupportedDigest => "give a digest by SHA-256 or SHA-512",
            Reason::UnsupportedProof => {
                "prove objects by `eddsa-jcs-2022`, or sign them by `RsaSignature2017`"
            }
        }
    }
}

/// What a note of a verdict means, in half a line for a person; `None` for one that is not known.
pub fn note_meaning(note: &str) -> Option<&'static str> {
    let mut known = NOTES.iter().chain(PROOF_NOTES);
    known.find(|(name, _)| *name == note).map(|(_, meaning)| *meaning)
}

/// The notes on the signature of a request, and what each means.
pub const NOTES: &[(&str, &str)] = &[
    (
        "authorization_header",
        "the signature came in `Authorization: Signature`",
    ),
    (
        "digest_without_sha256",
        "the body's digest is not given by SHA-256, which some software wants",
    ),
    (
        "ecdsa_der",
        "the ECDSA signature is DER, where r and s side by side are the usual form",
    ),
    (
        "input_as_sent",
        "signed were the bytes of `Signature-Input`, not what structured fields write",
    ),
    (
        "input_reserialized",
        "signed is `Signature-Input` as structured fields write it, not its bytes",
    ),
    ("query_omitted", "signed was the target without its query"),
    (
        "scheme_prefix",
        "`Signature:` has the scheme word, which belongs to `Authorization`",
    ),
    (
        "several_digests",
        "the body's digest is given more than once, which some software does not take",
    ),
    (
        "several_signatures",
        "the request has several signatures, each with a verdict of its own",
    ),
];

/// Those on proofs in objects.
const PROOF_NOTES: &[(&str, &str)] = &[
    (
        "context_replaced",
        "the proof's contexts are fewer than the document's, and were used",
    ),
    (
        "signature_removed",
        "the object's `signature` was left out before its proof was checked",
    ),
];

/// Of the verdicts on the signatures of one request, the place of the one that counts: the first that is valid, else
/// the first. `None` of none.
pub fn decisive<'a>(verdicts: impl IntoIterator<Item = &'a Verdict>) -> Option<usize> {
    let mut outcomes = verdicts.into_iter().map(|verdict| verdict.result).enumerate();
    let first = outcomes.next()?;
    let valid = std::iter::once(first)
        .chain(outcomes)
        .find(|(_, result)| *result == Outcome::Valid);
    Some(valid.map_or(0, |(place, _)| place))
}

/// The three outcomes of verification; their names are labels in stats and journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// There was a signature and it does not hold.
    Invalid,
    /// There was no signature.
    Unsigned,
    /// There was a signature and it holds.
    Valid,
}

/// Why a signature does not hold; the names are labels in stats, journal and profiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The signature or a digest is no base64 (RFC 4648 section 4, padding included).
    BadBase64,
    /// The value of a proof is no multibase in base58btc.
    BadMultibase,
    /// The body is not in the file, so its digest cannot be compared, as only `peerfarm verify` lets it happen.
    BodyMissing,
    /// The document has no canonical form: it is no JSON-LD, or too large or too entangled.
    CanonicalizationFailed,
    /// The contexts of a proof are not the first of its document.
    ContextMismatch,
    /// A JSON-LD context that the farm does not have; none is fetched.
    ContextUnknown,
    /// `created` lies too far in the future.
    CreatedInFuture,
    /// The date lies too far in the future.
    DateInFuture,
    /// The date, or `(created)`, is older than the window.
    DateTooOld,
    /// No date, or not as HTTP or, in a proof, RFC 3339 has it.
    DateUnreadable,
    /// The body has another digest.
    DigestMismatch,
    /// A POST without a digest.
    DigestMissing,
    /// The digest is not covered by the signature.
    DigestNotSigned,
    /// `expires` has passed.
    Expired,
    /// A covered header is not in the request.
    HeaderMissing,
    /// A component that must be covered is not.
    HeaderNotSigned,
    /// The key could not be fetched.
    KeyFetchFailed,
    /// The key's owner is gone (410 or 404).
    KeyGone,
    /// No key was given, as only `peerfarm verify` lets it happen.
    KeyMissing,
    /// The key's owner does not name that key, or the key another owner.
    KeyOwnerMismatch,
    /// The key is no public key the farm can read.
    KeyUnreadable,
    /// The signature header, `Content-Digest` or the proof does not parse, or a covered component makes no sense.
    Malformed,
    /// `(created)` or `(expires)` with an algorithm that forbids it.
    ParameterForbidden,
    /// A listed `(created)` or `(expires)` without its parameter; `created` or `keyid` missing in RFC 9421.
    ParameterMissing,
    /// A proof that was made for another purpose than to assert.
    ProofPurposeMismatch,
    /// The signature covers the target without its query.
    QueryOmitted,
    /// The cryptographic check failed.
    SignatureMismatch,
    /// Valid, but made by another actor than the activity's.
    SignerMismatch,
    /// A signature algorithm the farm does not know or that does not fit the key.
    UnsupportedAlgorithm,
    /// A signature in a dialect the farm does not read.
    UnsupportedDialect,
    /// A digest algorithm the farm does not compute.
    UnsupportedDigest,
    /// A kind of proof the farm does not read.
    UnsupportedProof,
}

/// `text`, or its first `limit` bytes or a few less and how much was left out.
pub(crate) fn cut(mut text: String, limit: usize) -> String {
    if text.len() > limit {
        let left_out = text.len() - text.floor_char_boundary(limit);
        text.truncate(text.len() - left_out);
        text.push_str(&format!("... ({left_out} bytes more)"));
    }
    text
}

fn fewer_than_two(findings: &[Finding]) -> bool {
    findings.len() < 2
}

/// How many bytes of a signature base a verdict keeps.
pub(super) const MAX_BASE: usize = 16_384;

/// How many bytes a finding's detail may have.
const MAX_DETAIL: usize = 2_048;

#[cfg(test)]
mod tests {
    use super::*;

    /// Every reason's name, as serde lists them where one is unknown.
    fn labels() -> Vec<String> {
        let error = serde_json::from_str::<Reason>("\"?\"").unwrap_err().to_string();
        let (_, listed) = error.split_once("expected one of").unwrap();
        listed.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    }

    #[test]
    fn every_reason_stands_in_the_docs_and_says_what_would_be_right() {
        let docs = include_str!("../../docs/signatures.md");
        let table: Vec<&str> = docs
            .lines()
            .filter_map(|line| line.strip_prefix("| `")?.split('|').next())
            .flat_map(|cell| cell.split(['`', ',', ' ']))
            .collect();
        let labels = labels();
        assert!(labels.len() > 20, "{labels:?}");
        for label in labels {
            assert!(
                table.contains(&label.as_str()),
                "docs/signatures.md has no `{label}`"
            );
            let reason: Reason = serde_json::from_value(label.clone().into()).unwrap();
            let meaning = reason.meaning();
            assert!(
                meaning.len() < 100 && !meaning.ends_with('.'),
                "{label}: {meaning}"
            );
        }
    }

    #[test]
    fn the_first_valid_verdict_counts_else_the_first() {
        let invalid = || Verdict::invalid(Reason::Malformed, "");
        assert_eq!(decisive(&[]), None);
        assert_eq!(decisive(&[invalid(), invalid()]), Some(0));
        assert_eq!(
            decisive(&[invalid(), Verdict::valid(), Verdict::valid()]),
            Some(1)
        );
        assert_eq!(decisive(&[Verdict::valid(), invalid()]), Some(0));
    }
}
