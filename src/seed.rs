//! The seed and the dice: the only drawer of chance. The same seed and the same words give the same draw,
//! whatever was drawn before, so nothing depends on the order in which requests arrive.

use std::fmt;
use std::str::FromStr;

use aws_lc_rs::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};

/// What fixes faults, texts and ids of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seed(pub u64);

impl Seed {
    /// A seed from the operating system, for a run that was given none. It stays below 2^53, so that every JSON
    /// reader keeps it exact.
    ///
    /// # Panics
    /// When the operating system gives no random bytes: nothing could be signed then either.
    pub fn draw() -> Seed {
        let mut bytes = [0; 8];
        aws_lc_rs::rand::fill(&mut bytes).expect("the operating system gives random bytes");
        Seed(u64::from_be_bytes(bytes) >> 11)
    }

    /// A number in `0..2^64` for these words: the first eight bytes of a SHA-256 over seed and words.
    pub fn number(self, words: &[&str]) -> u64 {
        let mut input = self.0.to_be_bytes().to_vec();
        for word in words {
            input.extend_from_slice(&(word.len() as u64).to_be_bytes());
            input.extend_from_slice(word.as_bytes());
        }
        let hash = digest(&SHA256, &input);
        let mut first = [0; 8];
        first.copy_from_slice(&hash.as_ref()[..8]);
        u64::from_be_bytes(first)
    }

    /// A fraction in `0.0..1.0` for these words.
    pub fn fraction(self, words: &[&str]) -> f64 {
        // 53 bits are what an f64 holds exactly.
        (self.number(words) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// One of `choices` for these words.
    ///
    /// # Panics
    /// When there is nothing to choose from.
    pub fn pick<'a, T>(self, choices: &'a [T], words: &[&str]) -> &'a T {
        let index = self.number(words) % choices.len() as u64;
        &choices[index as usize]
    }

    /// A version 4 UUID (RFC 9562 section 5.4 in shape) for these words.
    pub fn uuid(self, words: &[&str]) -> String {
        let (high, low) = (self.number(words), self.number(&[words, &["low"]].concat()));
        let high = (high & !0xf000) | 0x4000;
        let low = (low & !(0b11 << 62)) | (0b10 << 62);
        format!(
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            high >> 32,
            (high >> 16) & 0xffff,
            high & 0xffff,
            low >> 48,
            low & 0xffff_ffff_ffff
        )
    }
}

impl FromStr for Seed {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Seed, Self::Err> {
        text.parse().map(Seed)
    }
}

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_and_words_draw_the_same() {
        assert_eq!(Seed(7).number(&["a", "b"]), Seed(7).number(&["a", "b"]));
        assert_ne!(Seed(7).number(&["a", "b"]), Seed(8).number(&["a", "b"]));
        assert_ne!(Seed(7).number(&["ab", ""]), Seed(7).number(&["a", "b"]));
    }

    #[test]
    fn fractions_spread_over_the_unit() {
        let below = (0..10_000)
            .filter(|i| Seed(1).fraction(&[&i.to_string()]) < 0.25)
            .count();
        // 2,500 expected; 4 standard deviations are 173.
        assert!((2_327..2_673).contains(&below), "{below}");
    }

    #[test]
    fn a_uuid_names_its_version_and_variant() {
        let uuid = Seed(3).uuid(&["x"]);
        assert_eq!((uuid.len(), &uuid[14..15]), (36, "4"));
        assert!(matches!(&uuid[19..20], "8" | "9" | "a" | "b"), "{uuid}");
    }
}
