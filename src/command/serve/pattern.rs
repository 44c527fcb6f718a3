//! Which peers a flag is about, by their hosts.

use std::fmt;
use std::str::FromStr;

use crate::ids::Host;

/// A pattern for hosts: `*` stands for any characters, also none. `mastodon*` is every Mastodon of the default roster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern(String);

impl Pattern {
    /// Whether that host is meant.
    pub fn matches(&self, host: &Host) -> bool {
        let mut pieces = self.0.split('*');
        let first = pieces.next().unwrap_or_default();
        let Some(mut rest) = host.as_str().strip_prefix(first) else {
            return false;
        };
        let Some(last) = pieces.next_back() else {
            return rest.is_empty();
        };
        for piece in pieces {
            match rest.split_once(piece) {
                Some((_, behind)) => rest = behind,
                None => return false,
            }
        }
        rest.ends_with(last)
    }
}

impl FromStr for Pattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Pattern, PatternError> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"*-._".contains(&byte);
        match !text.is_empty() && text.bytes().all(fits) {
            true => Ok(Pattern(text.to_ascii_lowercase())),
            false => Err(PatternError(text.to_owned())),
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What was typed can match no host.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no pattern for hosts: write a host without its port, `*` for any part of it, for instance `mastodon*`"
)]
pub struct PatternError(String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_characters() {
        let matches = |pattern: &str, host: &str| {
            let pattern: Pattern = pattern.parse().unwrap();
            pattern.matches(&host.parse().unwrap())
        };
        for pattern in [
            "mastodon1.test",
            "Mastodon*",
            "*",
            "*.test",
            "*1*",
            "m*n1.*st",
            "mastodon1.test*",
            "**",
        ] {
            assert!(matches(pattern, "mastodon1.test"), "{pattern}");
        }
        for pattern in [
            "mastodon",
            "mastodon1",
            "*.tes",
            "a*",
            "*2*",
            "mastodon1.test*test",
            "m*t*t*t*t",
        ] {
            assert!(!matches(pattern, "mastodon1.test"), "{pattern}");
        }
        for text in ["", "mastodon1.test:7443", "a b", "mastodon?"] {
            assert!(text.parse::<Pattern>().is_err(), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_pattern_makes_a_match_panic(text in "[a-c*.-]{0,9}", host in "[a-c]{1,5}\\.[a-c]{1,3}") {
            if let Ok(pattern) = text.parse::<Pattern>() {
                pattern.matches(&host.parse().unwrap());
            }
        }
    }
}
