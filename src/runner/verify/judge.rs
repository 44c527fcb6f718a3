//! The verdict on each signature of a saved request, at a moment that suits it.

use crate::activitypub::Activity;
use crate::clock::Timestamp;
use crate::command::{Moment, Verify};
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
    let (at, note) = moment(words.at, saved, &signatures[counts]);
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
    let terms = || Terms {
        window: Window {
            past: words.past.duration(),
            future: words.future.duration(),
        },
        hs2019: words.hs2019,
        now: moment(words.at, saved, signature).0,
    };
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
            let detail = format!("the key is `{owner}`'s, the activity `{}`'s", activity.actor());
            verdict.failed(Reason::SignerMismatch, detail)
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
fn moment(typed: Option<Moment>, saved: &Saved, signature: &SignatureHeader) -> (Timestamp, Option<Note>) {
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
            if let Some(created) = signature.created() {
                return by(Timestamp::from_unix(created), "its own `created`");
            }
            match date() {
                Some(at) => by(at, "its own `Date`"),
                None => (Timestamp::now(), None),
            }
        }
    }
}
