//! Whom a command is about.

use std::fmt;
use std::str::FromStr;

use url::Url;

use crate::ids::Acct;

/// Whom a command is about: `@name@host[:port]`, or an actor's URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A handle: the name with its capitals, which a server may care for, and the authority.
    Handle {
        /// The user part.
        name: String,
        /// The host, with a port where one was given.
        authority: String,
    },
    /// An actor's URL, or that of its page.
    Url(Url),
}

impl FromStr for Target {
    type Err = TargetError;

    fn from_str(text: &str) -> Result<Target, TargetError> {
        let error = || TargetError(text.to_owned());
        if text.contains("://") {
            return match Url::parse(text) {
                Ok(url) if matches!(url.scheme(), "http" | "https") => Ok(Target::Url(url)),
                _ => Err(error()),
            };
        }
        let acct: Acct = text.parse().map_err(|_| error())?;
        let authority = match acct.port {
            Some(port) => format!("{}:{port}", acct.host),
            None => acct.host.to_string(),
        };
        let typed = text.rsplit_once('@').map_or("", |(name, _)| name);
        let name = &typed[typed.len() - acct.name.as_str().len()..];
        Ok(Target::Handle {
            name: name.to_owned(),
            authority,
        })
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Handle { name, authority } => write!(f, "@{name}@{authority}"),
            Target::Url(url) => url.fmt(f),
        }
    }
}

/// What was typed is nobody.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is neither a handle nor an actor's URL: write for instance `@me@sut.test` or `https://sut.test/users/me`"
)]
pub struct TargetError(String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_a_handle_or_a_url() {
        for (typed, meant) in [
            ("@me@sut.test", "@me@sut.test"),
            ("me@sut.test:3000", "@me@sut.test:3000"),
            ("acct:me@localhost:3000", "@me@localhost:3000"),
            ("@Nora@SUT.test", "@Nora@sut.test"),
            ("https://sut.test/users/me", "https://sut.test/users/me"),
            ("http://127.0.0.1:3000/@me", "http://127.0.0.1:3000/@me"),
        ] {
            assert_eq!(typed.parse::<Target>().unwrap().to_string(), meant);
        }
        for text in [
            "",
            "me",
            "sut.test",
            "ftp://sut.test/me",
            "https://",
            "https:/sut.test",
        ] {
            assert!(text.parse::<Target>().is_err(), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_the_parser_panic(text in ".{0,40}") {
            let _ = text.parse::<Target>();
        }
    }
}
