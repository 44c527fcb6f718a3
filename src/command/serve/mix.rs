//! Which peers there are: so many of each software, and how their hosts are named.

use std::fmt;
use std::str::FromStr;

use crate::ids::Host;
use crate::software::PEERS_MAX;

/// So many peers of each software, in the order typed: `mastodon=12,lemmy=8`. Each name stands once, each count is
/// at least 1, and there are at most [`PEERS_MAX`] in all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mix(Vec<(String, usize)>);

impl Mix {
    /// Name of the software, and how many.
    pub fn parts(&self) -> impl Iterator<Item = (&str, usize)> {
        self.0.iter().map(|(software, count)| (software.as_str(), *count))
    }

    /// How many peers in all.
    pub fn peers(&self) -> usize {
        self.parts().map(|(_, count)| count).sum()
    }
}

impl FromStr for Mix {
    type Err = MixError;

    fn from_str(text: &str) -> Result<Mix, MixError> {
        let mut parts: Vec<(String, usize)> = Vec::new();
        for part in text.split(',').map(str::trim) {
            let error = || MixError::Part(part.to_owned());
            let (software, count) = part.split_once('=').ok_or_else(error)?;
            let named = !software.is_empty()
                && software
                    .bytes()
                    .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'_'));
            let count = count
                .parse()
                .ok()
                .filter(|count| named && (1..=PEERS_MAX).contains(count));
            if parts.iter().any(|(earlier, _)| earlier == software) {
                return Err(MixError::Twice(software.to_owned()));
            }
            parts.push((software.to_owned(), count.ok_or_else(error)?));
        }
        let mix = Mix(parts);
        match mix.peers() {
            peers if peers > PEERS_MAX => Err(MixError::TooMany(peers)),
            _ => Ok(mix),
        }
    }
}

impl fmt::Display for Mix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (software, count)) in self.0.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(f, "{comma}{software}={count}")?;
        }
        Ok(())
    }
}

/// What was typed is no mix of peers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MixError {
    /// One part is not `name=count`.
    #[error(
        "`{0}` is no part of a roster: write `SOFTWARE=COUNT,...`, for instance `mastodon=12,lemmy=8`, counts 1 to {PEERS_MAX}"
    )]
    Part(String),
    /// More peers than the farm takes.
    #[error("{0} peers are too many: at most {PEERS_MAX}")]
    TooMany(usize),
    /// A software stands twice.
    #[error("`{0}` stands twice: write one count for each software")]
    Twice(String),
}

/// How the hosts of a numbered farm are named: `flood{n}.test` gives `flood1.test`, `flood2.test`, ...
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Domain {
    before: String,
    after: String,
}

impl Domain {
    /// The host of the `number`th peer, from 1.
    pub fn host(&self, number: usize) -> Host {
        format!("{}{number}{}", self.before, self.after)
            .parse()
            .expect("the pattern was checked with the longest number")
    }
}

impl FromStr for Domain {
    type Err = DomainError;

    fn from_str(text: &str) -> Result<Domain, DomainError> {
        let error = || DomainError(text.to_owned());
        let (before, after) = text.split_once("{n}").ok_or_else(error)?;
        // Whatever number comes: none is longer than this one.
        let host: Host = format!("{before}{}{after}", usize::MAX)
            .parse()
            .map_err(|_| error())?;
        // In a URL a name that ends in a number is an IPv4 address (WHATWG URL section 3.5), and no peer is there.
        if !matches!(url::Host::parse(host.as_str()), Ok(url::Host::Domain(_))) {
            return Err(error());
        }
        Ok(Domain {
            before: before.to_owned(),
            after: after.to_owned(),
        })
    }
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{{n}}{}", self.before, self.after)
    }
}

/// What was typed names no hosts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no pattern for hosts: write a host name with `{{n}}` in it once and no number at its end, for instance `flood{{n}}.test`"
)]
pub struct DomainError(String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mix_keeps_its_order() {
        let mix: Mix = "mastodon=12, lemmy=8".parse().unwrap();
        assert_eq!(mix.parts().collect::<Vec<_>>(), [("mastodon", 12), ("lemmy", 8)]);
        assert_eq!(
            (mix.peers(), mix.to_string().as_str()),
            (20, "mastodon=12,lemmy=8")
        );
    }

    #[test]
    fn what_is_no_mix_is_refused() {
        for text in [
            "",
            "mastodon",
            "mastodon=0",
            "mastodon=-1",
            "=3",
            "mastodon=1,",
            "Mastodon=1",
            "a=10001",
        ] {
            assert!(matches!(text.parse::<Mix>(), Err(MixError::Part(_))), "{text}");
        }
        assert_eq!("a=1,a=2".parse::<Mix>(), Err(MixError::Twice("a".to_owned())));
        assert_eq!("a=9000,b=9000".parse::<Mix>(), Err(MixError::TooMany(18_000)));
    }

    #[test]
    fn a_pattern_numbers_hosts() {
        let domain: Domain = "flood{n}.test".parse().unwrap();
        assert_eq!(domain.host(7).as_str(), "flood7.test");
        assert_eq!(domain.to_string(), "flood{n}.test");
        for text in [
            "",
            "flood.test",
            "{n}{n}.test",
            "flood {n}.test",
            "-{n}.test",
            "{n}..test",
            "{n}",
            "127.0.0.{n}",
            "flood.0x{n}",
        ] {
            assert!(text.parse::<Domain>().is_err(), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_the_parsers_panic(text in "[a-z{}n.=,0-9-]{0,40}") {
            let _ = text.parse::<Mix>();
            if let Ok(domain) = text.parse::<Domain>() {
                domain.host(PEERS_MAX);
            }
        }
    }
}
