//! How each software writes an opaque id.

use crate::software::IdStyle;

impl IdStyle {
    /// Writes a number below 2^44.
    pub fn write(self, number: u64) -> String {
        match self {
            IdStyle::Base36 => base36(number),
            IdStyle::Decimal => number.to_string(),
            IdStyle::Uuid => {
                let (high, low) = (number >> 12, number & 0xfff);
                format!("{high:08x}-0000-4{low:03x}-8000-{number:012x}")
            }
        }
    }

    /// Reads what [`IdStyle::write`] wrote, to the letter; anything else is `None`.
    pub fn read(self, text: &str) -> Option<u64> {
        let number = match self {
            IdStyle::Base36 => u64::from_str_radix(text, 36).ok()?,
            IdStyle::Decimal => text.parse().ok()?,
            IdStyle::Uuid => u64::from_str_radix(text.rsplit('-').next()?, 16).ok()?,
        };
        (number < 1 << 44 && self.write(number) == text).then_some(number)
    }
}

/// Ten characters, leading zeros included.
fn base36(number: u64) -> String {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    let mut text = Vec::new();
    let mut rest = number;
    for _ in 0..10 {
        text.push(char::from(DIGITS[(rest % 36) as usize]));
        rest /= 36;
    }
    text.iter().rev().collect()
}
