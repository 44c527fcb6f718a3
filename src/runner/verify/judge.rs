//! The verdict on each signature of a saved request, at a moment that suits it.

use std::time::Duration;

use crate::activitypub::Activity;
use crate::clock::Timestamp;
use crate::command::{Moment, Verify};
use crate::proof::{self, Proof, ProofVerdict};
use crate::runner::verify::key::{Found, Keys, NotFound};
use crate::saved::{Note, Saved, Told};
use crate::signature::{
    Finding, Outcome, Parsed, Reason, Request, SignatureHeader, Terms, Verdict, Window, decisive, parse,
};
use crate::units::Span;

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
    let mut found: Vec<One> = signatures
        .iter()
        .map(|signature| one(words, saved, request, keys, signature))
        .collect();
    let Some(counts) = decisive(found.iter().map(|one| &one.verdict)) else {
        return alone(Verdict::unsigned());
    };
    let (at, note) = moment(words, saved, signatures[counts].created());
    let mut notes: Vec<Note> = note.into_iter().collect();
    let One { verdict, whose, note } = found.swap_remove(counts);
    notes.extend(note);
    let verdict = by_its_actor(verdict, whose, saved, &mut notes);
    let mut verdicts: Vec<Verdict> = found.into_iter().map(|one| one.verdict).collect();
    verdicts.insert(counts, verdict);
    Judged {
        verdicts,
        counts,
        at: Some(at),
        notes,
    }
}

/// What was found of one signature.
struct One {
    verdict: Verdict,
    whose: Whose,
    note: Option<Note>,
}

/// Whose key it was judged by.
enum Whose {
    /// That actor's.
    Actor(String),
    /// There was none.
    Nobodys,
    /// The key's file does not say.
    Unsaid,
}

/// The verdict on one signature. Of several keys that could be meant the first that verifies counts, else the first.
fn one(words: &Verify, saved: &Saved, request: &Request, keys: &Keys, signature: &SignatureHeader) -> One {
    let terms = terms(words, saved, moment(words, saved, signature.created()).0);
    let without = |reason, detail| signature.verify_without_key(request, reason, detail, terms);
    let keyless = |verdict| One {
        verdict: undecided(verdict, saved),
        whose: Whose::Nobodys,
        note: None,
    };
    let mut first = None;
    for found in keys.find(signature.key_id()) {
        let judged = match found {
            Ok(Found { key, owner }) => One {
                verdict: undecided(signature.verify(request, &key, terms), saved),
                whose: owner.map_or(Whose::Unsaid, Whose::Actor),
                note: None,
            },
            Err(NotFound {
                reason,
                detail,
                other,
            }) => {
                let verdict = without(reason, detail);
                let note = other.map(|(id, key)| {
                    let by_other = signature.verify(request, &key, terms);
                    differs(&id, &verdict, &by_other)
                });
                One {
                    note,
                    ..keyless(verdict)
                }
            }
        };
        if judged.verdict.result == Outcome::Valid {
            return judged;
        }
        first.get_or_insert(judged);
    }
    first.unwrap_or_else(|| keyless(without(Reason::KeyMissing, NO_KEY.to_owned())))
}

/// What the only key of a file says of a signature that names another: whether just the id is wrong.
fn differs(id: &str, without: &Verdict, with: &Verdict) -> Note {
    // Up to the key both have the same findings; then one says that there is none, the other what the key gave.
    let checked = without.findings.len().saturating_sub(1);
    let detail = match with.findings.get(checked) {
        None => format!("the file's key `{id}` verifies the signature, so only the id is another"),
        Some(finding) => format!("the file's key `{id}` does not verify it: {}", finding.detail),
    };
    Note::new("key_id_differs", detail)
}

/// The verdict, less what it says of a body that the file does not have.
fn undecided(verdict: Verdict, saved: &Saved) -> Verdict {
    match saved.lacks_body() {
        true => {
            let detail = "the body is not in the file, or not all of it, so its digest cannot be compared; hint: \
                          `--body FILE`";
            verdict.instead(Reason::DigestMismatch, Finding::new(Reason::BodyMissing, detail))
        }
        false => verdict,
    }
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
    let at = at.unwrap_or_else(|| moment(words, saved, None).0);
    let found = proof::find(activity.value());
    let each = found.iter();
    each.map(|proof| one_proof(proof, activity.actor(), keys, terms(words, saved, at)))
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
            Err(NotFound { reason, detail, .. }) => proof.verify_without_key(reason, detail, terms),
        };
        if judged.result == Outcome::Valid {
            return judged;
        }
        first.get_or_insert(judged);
    }
    first.unwrap_or_else(|| proof.verify_without_key(Reason::KeyMissing, NO_KEY, terms))
}

fn terms(words: &Verify, saved: &Saved, now: Timestamp) -> Terms {
    Terms {
        window: window(words, saved),
        hs2019: words.hs2019.or(saved.hs2019).unwrap_or_default(),
        now,
    }
}

/// The window: as typed, else as the farm judged by.
fn window(words: &Verify, saved: &Saved) -> Window {
    let either = |typed: Option<Span>, told: Option<Duration>| {
        typed
            .map(Span::duration)
            .or(told)
            .unwrap_or(Duration::from_secs(3_600))
    };
    Window {
        past: either(words.past, saved.window.map(|window| window.past)),
        future: either(words.future, saved.window.map(|window| window.future)),
    }
}

fn anothers(owner: &str, actor: &str) -> String {
    format!("the key is `{owner}`'s, the activity `{actor}`'s")
}

/// As the farm adds it: whether the key is that of the activity's actor.
fn by_its_actor(verdict: Verdict, whose: Whose, saved: &Saved, notes: &mut Vec<Note>) -> Verdict {
    let Ok(activity) = Activity::read(&saved.body) else {
        return verdict;
    };
    match whose {
        Whose::Actor(owner) if owner != activity.actor() => {
            verdict.failed(Reason::SignerMismatch, anothers(&owner, activity.actor()))
        }
        Whose::Actor(_) | Whose::Nobodys => verdict,
        Whose::Unsaid => {
            let detail = "the key's file does not say whose it is, so whether it is the activity's actor's was not \
                          checked; hint: `--key` takes an actor's JSON too";
            notes.push(Note::new("owner_unchecked", detail));
            verdict
        }
    }
}

/// The moment to judge at, and why that one: a saved request is always old.
fn moment(words: &Verify, saved: &Saved, created: Option<i64>) -> (Timestamp, Option<Note>) {
    let by = |at: Timestamp, what: &str| {
        let Window { past, future } = window(words, saved);
        let (past, future) = (Span::from(past), Span::from(future));
        let window = match saved.window {
            Some(_) => format!(", within {past} back and {future} ahead"),
            None => String::new(),
        };
        let detail = format!(
            "judged as of {}, {what}{window}; hint: `--at now`",
            at.seconds_rfc3339()
        );
        (at, Some(Note::new("judged_at", detail)))
    };
    let date = || {
        let text = saved.headers.get("date")?.to_str().ok()?;
        Timestamp::parse_http_date(text)
    };
    match words.at {
        Some(Moment::At(at)) => (at, None),
        Some(Moment::Now) => (Timestamp::now(), None),
        None => {
            if let Some(Told { at, what }) = saved.at {
                return by(at, what);
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

const NO_KEY: &str = "no key was given, so all was checked but the signature itself; hint: `--key FILE`";
