//! How a command finds the running farm it talks to.

use std::fmt;
use std::str::FromStr;

use clap::Args;
use url::Url;

/// Where the farm is, and how the result is to look.
#[derive(Args, Clone, Debug)]
pub struct Reach {
    /// The farm's control API (also PEERFARM_FARM)
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:7400")]
    pub farm: FarmUrl,
    /// Prints the result as JSON
    #[arg(long)]
    pub json: bool,
}

/// The base of a farm's control API: `http://127.0.0.1:7400`. It speaks plain HTTP and lies at the root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FarmUrl {
    /// Name or address; an IPv6 address without brackets.
    pub host: String,
    /// The port; 80 where the URL has none.
    pub port: u16,
}

impl FarmUrl {
    /// Host and port as `Host` carries them.
    pub fn authority(&self) -> String {
        match self.host.contains(':') {
            true => format!("[{}]:{}", self.host, self.port),
            false => format!("{}:{}", self.host, self.port),
        }
    }
}

impl FromStr for FarmUrl {
    type Err = FarmUrlError;

    /// Reads `http://host[:port][/]`, or `host:port` alone.
    fn from_str(text: &str) -> Result<FarmUrl, FarmUrlError> {
        let error = || FarmUrlError(text.to_owned());
        let whole = match text.contains("://") {
            true => text.to_owned(),
            false => format!("http://{text}"),
        };
        let url = Url::parse(&whole).map_err(|_| error())?;
        let bare = url.path() == "/"
            && url.query().is_none()
            && url.username().is_empty()
            && url.password().is_none();
        let host = match url.host() {
            Some(url::Host::Ipv6(address)) => address.to_string(),
            Some(host) => host.to_string(),
            None => return Err(error()),
        };
        match url.scheme() {
            "http" if bare => Ok(FarmUrl {
                host,
                port: url.port().unwrap_or(80),
            }),
            _ => Err(error()),
        }
    }
}

impl fmt::Display for FarmUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "http://{}", self.authority())
    }
}

/// What was typed is no base of a control API.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no control API: write `http://ADDRESS:PORT`, as the farm's `ready` line has it")]
pub struct FarmUrlError(String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_read_with_and_without_scheme() {
        for (typed, meant) in [
            ("http://127.0.0.1:7400", "http://127.0.0.1:7400"),
            ("http://localhost:7400/", "http://localhost:7400"),
            ("127.0.0.1:7400", "http://127.0.0.1:7400"),
            ("[::1]:7400", "http://[::1]:7400"),
            ("http://farm", "http://farm:80"),
        ] {
            assert_eq!(typed.parse::<FarmUrl>().unwrap().to_string(), meant);
        }
        for text in [
            "",
            "https://a.test",
            "http://a.test/api",
            "http://u@a.test",
            "http://a.test?x",
            "ftp://a.test",
        ] {
            assert!(text.parse::<FarmUrl>().is_err(), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_the_parser_panic(text in ".{0,40}") {
            let _ = text.parse::<FarmUrl>();
        }
    }
}
