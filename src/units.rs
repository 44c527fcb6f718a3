//! Spans of time as people type them: `250ms`, `2s`, `1.5m`, `1h`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A span of time with its unit: `20ms`, `2s`, `5m`, `1h`. A bare `0` needs none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(Duration);

impl Span {
    /// No time at all.
    pub const ZERO: Span = Span(Duration::ZERO);

    /// A span of so many milliseconds.
    pub const fn millis(millis: u64) -> Span {
        Span(Duration::from_millis(millis))
    }

    /// A span of so many seconds.
    pub const fn seconds(seconds: u64) -> Span {
        Span(Duration::from_secs(seconds))
    }

    /// The same span as the standard library has it.
    pub const fn duration(self) -> Duration {
        self.0
    }
}

impl From<Duration> for Span {
    fn from(duration: Duration) -> Span {
        Span(duration)
    }
}

impl FromStr for Span {
    type Err = SpanError;

    fn from_str(text: &str) -> Result<Span, SpanError> {
        let error = || SpanError(text.to_owned());
        let trimmed = text.trim();
        if trimmed == "0" {
            return Ok(Span::ZERO);
        }
        let digits = trimmed
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .ok_or_else(error)?;
        let (number, unit) = trimmed.split_at(digits);
        let number: f64 = number.parse().map_err(|_| error())?;
        let seconds = match unit {
            "us" | "µs" => number / 1e6,
            "ms" => number / 1e3,
            "s" => number,
            "m" => number * 60.0,
            "h" => number * 3_600.0,
            "d" => number * 86_400.0,
            _ => return Err(error()),
        };
        Duration::try_from_secs_f64(seconds)
            .map(Span)
            .map_err(|_| error())
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = self.0.as_micros();
        match micros {
            0 => f.write_str("0s"),
            _ if !micros.is_multiple_of(1_000) => write!(f, "{micros}us"),
            _ if !micros.is_multiple_of(1_000_000) => write!(f, "{}ms", micros / 1_000),
            _ if !micros.is_multiple_of(60_000_000) => write!(f, "{}s", micros / 1_000_000),
            _ if !micros.is_multiple_of(3_600_000_000) => write!(f, "{}m", micros / 60_000_000),
            _ => write!(f, "{}h", micros / 3_600_000_000),
        }
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Span, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// What was typed is no span of time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no span of time: write a number and a unit, for instance `250ms`, `2s`, `5m`")]
pub struct SpanError(String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_read_as_they_print() {
        for (text, millis) in [("20ms", 20), ("2s", 2_000), ("5m", 300_000), ("1h", 3_600_000)] {
            let span: Span = text.parse().unwrap();
            assert_eq!(span, Span::millis(millis));
            assert_eq!(span.to_string(), text);
        }
        assert_eq!("1.5s".parse::<Span>().unwrap(), Span::millis(1_500));
    }

    #[test]
    fn a_number_without_a_unit_is_refused() {
        for text in [
            "20",
            "",
            "ms",
            "-2s",
            "2 parsecs",
            "NaNs",
            "1e400s",
            "99999999999999999999d",
        ] {
            assert!(text.parse::<Span>().is_err(), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_the_parser_panic(text in ".{0,24}") {
            let _ = text.parse::<Span>();
        }
    }
}
