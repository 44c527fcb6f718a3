//! The verdict on each signature of a saved request, at a moment that suits it.

use crate::activitypub::Activity;
use crate::clock::Timestamp;
use crate::command::{Moment, Verify};
use crate::proof::{self, Proof, ProofVerdict};
use crate::runner::verify::key::{Found, Keys};
use crate::saved::{Note, Saved};
use crate::signature::{
    Outcome, Parsed, Reason, Request, SignatureHeader, Terms, Verdict, Window, decisive, parse,
};

/// What was found.
pub(super) struct Judged {
    /// A verdict a signature, at least one.
    pub(super) verdicts: Vec<Verdict>,
    /// The place of the one that counts.
    pub(super) counts: usize,
    /// The moment that one was judged at, where there was anything to date.
    pub(super) at: Option<Timestamp>,
    /// What a reader has to know besides.
    pub(super) notes: Vec<Note>,
}

/// Judges as the farm does on arrival, except for what only a fetch could tell.
pub(super) fn judge(words: &Verify, saved: &Saved, request: &Request, keys: &Keys) -> Judged {
    let alone = |verdict| Judged {
        verdicts: vec![verdict],
        counts: 0,
        at: None,
        notes: Vec::new(),
    };
    let signatures = match parse(request) {
        Parsed::Unsigned => return alone(Verdict::unsigned()),
        Parsed::Invalid(verdict) => return alone(verdict),
        Parsed::Signed(signatures) => signatures,
    };
    let mut notes = Vec::new();
    let mut found: Vec<(Verdict, Option<String>)> = signatures
        .iter()
        .map(|signature| one(words, saved, request, keys, signature))
        .collect();
    let Some(counts) = decisive(found.iter().map(|(verdict, _)| verdict)) else {
        return alone(Verdict::unsigned());
    };
    let (at, note) = moment(words.at, saved, signatures[counts].created());
    notes.extend(note);
    let (verdict, owner) = found.swap_remove(counts);
    let verdict = by_its_actor(verdict, owner, saved, keys, &mut notes);
    let mut verdicts: Vec<Verdict> = found.into_iter().map(|(verdict, _)| verdict).collect();
    verdicts.insert(counts, verdict);
    Judged {
        verdicts,
        counts,
        at: Some(at),
        notes,
    }
}

/// The verdict on one signature, and whose key it was judged by. Of several keys that could be meant the first that
/// verifies counts, else the first.
fn one(
    words: &Verify,
    saved: &Saved,
    request: &Request,
    keys: &Keys,
    signature: &SignatureHeader,
) -> (Verdict, Option<String>) {
    let terms = || terms(words, moment(words.at, saved, signature.created()).0);
    let mut first = None;
    for found in keys.find(signature.key_id()) {
        let judged = match found {
            Ok(Found { key, owner }) => (signature.verify(request, &key, terms()), owner),
            Err((reason, detail)) => (
                signature.verify_without_key(request, reason, detail, terms()),
                None,
            ),
        };
        if judged.0.result == Outcome::Valid {
            return judged;
        }
        first.get_or_insert(judged);
    }
    first.unwrap_or_else(|| {
        let detail = "no key was given, so all was checked but the signature itself; hint: `--key FILE`";
        let verdict = signature.verify_without_key(request, Reason::KeyMissing, detail, terms());
        (verdict, None)
    })
}

/// The verdict on each proof inside the activity, at the same moment as the signatures.
pub(super) fn judge_proofs(
    words: &Verify,
    saved: &Saved,
    keys: &Keys,
    at: Option<Timestamp>,
) -> Vec<ProofVerdict> {
    let Ok(activity) = Activity::read(&saved.body) else {
        return Vec::new();
    };
    let at = at.unwrap_or_else(|| moment(words.at, saved, None).0);
    let found = proof::find(activity.value());
    let each = found.iter();
    each.map(|proof| one_proof(proof, activity.actor(), keys, terms(words, at)))
        .collect()
}

/// The verdict on one proof, by the first key that verifies it, else by the first that could be meant.
fn one_proof(proof: &Proof<'_>, actor: &str, keys: &Keys, terms: Terms) -> ProofVerdict {
    let mut first = None;
    for found in keys.find(proof.key_id().unwrap_or_default()) {
        let judged = match found {
            Ok(Found { key, owner }) => {
                let verdict = proof.verify(&key, terms);
                match owner {
                    Some(owner) if owner != actor => {
                        verdict.failed(Reason::SignerMismatch, anothers(&owner, actor))
                    }
                    _ => verdict,
                }
            }
            Err((reason, detail)) => proof.verify_without_key(reason, detail, terms),
        };
        if judged.result == Outcome::Valid {
            return judged;
        }
        first.get_or_insert(judged);
    }
    first.unwrap_or_else(|| {
        let detail = "no key was given, so all was checked but the signature itself; hint: `--key FILE`";
        proof.verify_without_key(Reason::KeyMissing, detail, terms)
    })
}

fn terms(words: &Verify, now: Timestamp) -> Terms {
    Terms {
        window: Window {
            past: words.past.duration(),
            future: words.future.duration(),
        },
        hs2019: words.hs2019,
        now,
    }
}

fn anothers(owner: &str, actor: &str) -> String {
    format!("the key is `{owner}`'s, the activity `{actor}`'s")
}

/// As the farm adds it: whether the key is that of the activity's actor.
fn by_its_actor(
    verdict: Verdict,
    owner: Option<String>,
    saved: &Saved,
    keys: &Keys,
    notes: &mut Vec<Note>,
) -> Verdict {
    let Ok(activity) = Activity::read(&saved.body) else {
        return verdict;
    };
    match owner {
        Some(owner) if owner != activity.actor() => {
            verdict.failed(Reason::SignerMismatch, anothers(&owner, activity.actor()))
        }
        Some(_) => verdict,
        None => {
            if !keys.is_empty() {
                let detail = "the key's file does not say whose it is, so whether it is the activity's actor's was not \
                              checked; hint: `--key` takes an actor's JSON too";
                notes.push(Note::new("owner_unchecked", detail));
            }
            verdict
        }
    }
}

/// The moment to judge at, and why that one: a saved request is always old.
fn moment(typed: Option<Moment>, saved: &Saved, created: Option<i64>) -> (Timestamp, Option<Note>) {
    let by = |at: Timestamp, what: &str| {
        let detail = format!("judged as of {}, {what}; hint: `--at now`", at.seconds_rfc3339());
        (at, Some(Note::new("judged_at", detail)))
    };
    let date = || {
        let text = saved.headers.get("date")?.to_str().ok()?;
        Timestamp::parse_http_date(text)
    };
    match typed {
        Some(Moment::At(at)) => (at, None),
        Some(Moment::Now) => (Timestamp::now(), None),
        None => {
            if let Some(at) = saved.at {
                return by(at, "when it arrived");
            }
            if let Some(created) = created {
                return by(Timestamp::from_unix(created), "its own `created`");
            }
            match date() {
                Some(at) => by(at, "its own `Date`"),
                None => (Timestamp::now(), None),
            }
        }
    }
}
