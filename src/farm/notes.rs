//! The notes in an outbox, made from the seed and never stored: any one can be made again from its id, so an outbox
//! of 100,000 notes takes no memory.

use crate::clock::Timestamp;
use crate::seed::Seed;
use crate::software::IdStyle;

/// How many notes an outbox may hold; an id has room for so many.
pub const NOTES_MAX: u32 = 1 << 22;

/// How many actors a peer may have; an id has room for so many.
pub const ACTORS_MAX: u32 = 1 << 22;

/// A note's place: whose it is, and the how-manyth, from 0, the oldest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The author's number.
    pub actor: u32,
    /// Which of the author's notes.
    pub note: u32,
}

const NOTE_BITS: u32 = 22;
const BITS: u32 = 44;
const MASK: u64 = (1 << BITS) - 1;
/// Notes are ten minutes apart, from this moment on; 100,000 of them take not quite two years.
const FIRST_PUBLISHED: i64 = 1_577_836_800;
const APART: i64 = 600;

const OPENINGS: [&str; 8] = [
    "Morning walk along the canal",
    "Finally fixed the bicycle bell",
    "The library opens late today",
    "Soup of the day",
    "Reading an old atlas",
    "Rain on the tin roof",
    "The kettle has opinions",
    "Planted the last of the beans",
];
const CLOSINGS: [&str; 8] = [
    "and it was worth it.",
    "but nobody believes me.",
    "so ask me again tomorrow.",
    "with more pepper than planned.",
    "and the cat agrees.",
    "though the forecast said otherwise.",
    "which explains the noise.",
    "and that is all the news from here.",
];

/// The id part of a note's URL.
pub fn id(style: IdStyle, seed: Seed, host: &str, place: Place) -> String {
    let plain = (u64::from(place.actor) << NOTE_BITS) | u64::from(place.note);
    style.write(Scramble::of(seed, host).forward(plain))
}

/// The place that an id part names; the caller checks that actor and note exist.
pub fn place_of_id(style: IdStyle, seed: Seed, host: &str, id: &str) -> Option<Place> {
    let plain = Scramble::of(seed, host).backward(style.read(id).filter(|number| *number <= MASK)?);
    Some(Place {
        actor: (plain >> NOTE_BITS) as u32,
        note: (plain & ((1 << NOTE_BITS) - 1)) as u32,
    })
}

/// The opaque id of an actor. It depends on the host alone, not on the seed: keys on disk outlive a run, and so must ids.
pub fn actor_id(style: &IdStyle, host: &str, number: u32) -> String {
    style.write(Scramble::of(ACTOR_SEED, host).forward(u64::from(number)))
}

/// The number of the actor with that opaque id; the caller checks that it exists.
pub fn actor_of_id(style: &IdStyle, host: &str, id: &str) -> Option<u32> {
    let number = style.read(id).filter(|number| *number <= MASK)?;
    u32::try_from(Scramble::of(ACTOR_SEED, host).backward(number)).ok()
}

/// When a note was published.
pub fn published(place: Place) -> Timestamp {
    Timestamp::from_unix(FIRST_PUBLISHED + i64::from(place.note) * APART)
}

/// A note's text, plain.
pub fn text(seed: Seed, host: &str, place: Place) -> String {
    let words = [host, &place.actor.to_string(), &place.note.to_string()];
    let opening = seed.pick(&OPENINGS, &[&words[..], &["opening"]].concat());
    let closing = seed.pick(&CLOSINGS, &[&words[..], &["closing"]].concat());
    format!("{opening}, {closing}")
}

const ACTOR_SEED: Seed = Seed(0);

/// A bijection over 44 bits, another for each seed and host: two odd factors with a folding shift between.
struct Scramble {
    factor: u64,
    offset: u64,
}

impl Scramble {
    fn of(seed: Seed, host: &str) -> Scramble {
        Scramble {
            factor: seed.number(&[host, "id factor"]) | 1,
            offset: seed.number(&[host, "id offset"]),
        }
    }

    fn forward(&self, plain: u64) -> u64 {
        fold(plain.wrapping_add(self.offset).wrapping_mul(self.factor) & MASK)
    }

    fn backward(&self, number: u64) -> u64 {
        fold(number)
            .wrapping_mul(inverse(self.factor))
            .wrapping_sub(self.offset)
            & MASK
    }
}

/// Its own inverse, since the shift is half the width.
fn fold(number: u64) -> u64 {
    number ^ (number >> (BITS / 2))
}

/// The inverse of an odd number modulo 2^64, by Newton's iteration: each round doubles the right bits.
fn inverse(odd: u64) -> u64 {
    let mut guess = odd;
    for _ in 0..5 {
        guess = guess.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(guess)));
    }
    guess
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn every_id_leads_back_to_its_place(seed: u64, actor in 0..ACTORS_MAX, note in 0..NOTES_MAX) {
            let place = Place { actor, note };
            for style in [IdStyle::Decimal, IdStyle::Base36, IdStyle::Uuid] {
                let id = id(style, Seed(seed), "a.test", place);
                proptest::prop_assert_eq!(place_of_id(style, Seed(seed), "a.test", &id), Some(place));
            }
        }

        #[test]
        fn no_text_makes_the_reader_panic(text in ".{0,40}") {
            let _ = place_of_id(IdStyle::Decimal, Seed(1), "a.test", &text);
            let _ = place_of_id(IdStyle::Uuid, Seed(1), "a.test", &text);
        }
    }

    #[test]
    fn another_seed_gives_other_ids_and_texts() {
        let place = Place { actor: 3, note: 4 };
        let ids: Vec<_> = [1, 2]
            .map(|s| id(IdStyle::Base36, Seed(s), "a.test", place))
            .into();
        assert_ne!(ids[0], ids[1]);
        let texts: std::collections::HashSet<_> = (0..20).map(|s| text(Seed(s), "a.test", place)).collect();
        assert!(texts.len() > 5);
    }

    #[test]
    fn an_actors_id_outlives_the_seed() {
        let id = actor_id(&IdStyle::Base36, "misskey1.test", 7);
        assert_eq!(actor_of_id(&IdStyle::Base36, "misskey1.test", &id), Some(7));
        assert_ne!(actor_of_id(&IdStyle::Base36, "misskey2.test", &id), Some(7));
    }
}
