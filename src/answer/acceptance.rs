//! Whether a software takes a signature. The verdict is the specification's; what the software does not read, lets pass
//! or wants besides is its profile's, and decides the answer alone.

use http::StatusCode;

use crate::answer::Answer;
use crate::answer::refusal::{self, Told};
use crate::farm::Peer;
use crate::signature::{Dialect, Finding, Reason, Verdict, note_meaning};
use crate::software::Accepted;

/// Why a software does not take a signature.
#[derive(Debug)]
pub(super) struct Objection {
    /// The reason, where it is one that verdicts have too.
    known: Option<Reason>,
    /// Its name: a reason's, or that of the note which this software refuses.
    pub(super) name: String,
    /// In words, with the values that do not fit.
    pub(super) detail: String,
}

/// What the signature is of.
#[derive(Clone, Copy, Debug)]
pub(super) enum Signed {
    /// A delivery, and whether a proof vouches for its actor, whoever signed the request.
    Delivery {
        vouched: bool,
    },
    Fetch,
}

impl Objection {
    /// The first thing that this software does not let pass; none where it takes the signature.
    pub(super) fn to(peer: &Peer, verdict: &Verdict, signed: Signed) -> Option<Objection> {
        let (verifying, name) = (&peer.software.verifying, &peer.software.name);
        let accepted = match verdict.dialect {
            Some(dialect) => match verifying.accepted(dialect) {
                Some(accepted) => Some(accepted),
                // Nobody looks further into what they cannot read.
                None => return Some(unread(name, dialect)),
            },
            None => None,
        };
        if let Some(note) = verdict.notes.iter().find(|note| verifying.refuses.contains(note)) {
            return Some(Objection {
                known: None,
                name: (*note).to_owned(),
                detail: format!("{}; {name} refuses that", note_meaning(note).unwrap_or_default()),
            });
        }
        let vouched = matches!(signed, Signed::Delivery { vouched: true });
        // Who signed is the last thing to be found wanting, so nothing hides behind it.
        let counts = |finding: &&Finding| !(vouched && finding.reason == Reason::SignerMismatch);
        let untolerated = verdict.untolerated(&verifying.tolerates);
        if let Some(finding) = untolerated.filter(counts) {
            return Some(Objection::new(finding.reason, finding.detail.clone()));
        }
        lacking(name, verdict, accepted?, signed)
    }

    /// Whether it is that reason.
    pub(super) fn is(&self, reason: Reason) -> bool {
        self.known == Some(reason)
    }

    /// The answer to a delivery signed so. Whoever speaks another dialect is to knock again in this one, and does so
    /// after 401 everywhere.
    pub(super) fn answer(&self, peer: &Peer, told: &Told<'_>) -> Answer {
        let inbox = &peer.software.inbox;
        let own = inbox
            .by_reason
            .iter()
            .find(|(reason, _)| Some(*reason) == self.known);
        match (own, self.known) {
            (Some((_, reply)), _) => refusal::answer(reply, peer, told),
            (None, Some(Reason::SignerMismatch)) => refusal::answer(&inbox.signer_mismatch, peer, told),
            (None, _) => self.to_knock_again(refusal::answer(&inbox.bad_signature, peer, told)),
        }
    }

    /// The answer to a fetch signed so.
    pub(super) fn answer_to_fetch(&self, peer: &Peer, told: &Told<'_>) -> Answer {
        self.to_knock_again(refusal::answer(
            &peer.software.refusals.unsigned_fetch,
            peer,
            told,
        ))
    }

    fn new(reason: Reason, detail: String) -> Objection {
        Objection {
            known: Some(reason),
            name: reason.label(),
            detail,
        }
    }

    fn to_knock_again(&self, answer: Answer) -> Answer {
        match self.known {
            Some(Reason::UnsupportedDialect) => Answer {
                status: StatusCode::UNAUTHORIZED,
                ..answer
            },
            _ => answer,
        }
    }
}

fn unread(software: &str, dialect: Dialect) -> Objection {
    let other = match dialect {
        Dialect::Cavage => "RFC 9421 (`rfc9421`) alone",
        Dialect::Rfc9421 => "draft-cavage (`cavage`) alone",
    };
    let detail = format!(
        "the signature is in `{}`; {software} reads {other}",
        dialect.name()
    );
    Objection::new(Reason::UnsupportedDialect, detail)
}

/// What this software wants of a signature that holds.
fn lacking(software: &str, verdict: &Verdict, accepted: &Accepted, signed: Signed) -> Option<Objection> {
    if let (Some(algorithms), Some(algorithm)) = (&accepted.algorithms, verdict.algorithm)
        && !algorithms.contains(&algorithm)
    {
        let names: Vec<&str> = algorithms.iter().map(|algorithm| algorithm.name()).collect();
        let detail = format!(
            "the signature is `{algorithm}`; {software} verifies `{}`",
            names.join("`, `")
        );
        return Some(Objection::new(Reason::UnsupportedAlgorithm, detail));
    }
    let required = match signed {
        Signed::Delivery { .. } => &accepted.requires_post,
        Signed::Fetch => &accepted.requires_get,
    };
    let missing = required.iter().find(|name| !verdict.covered.contains(name))?;
    let detail = format!("{software} wants `{missing}` signed");
    Some(Objection::new(Reason::HeaderNotSigned, detail))
}
