//! Where a name leads instead of where DNS says: `HOST[:PORT]=ADDR[:PORT]`.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

/// One `--resolve` rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolve {
    /// The name as a URL has it: lower case, international names in their ASCII form, no trailing dot.
    pub host: String,
    /// The URL's port to which the rule is confined.
    pub port: Option<u16>,
    /// Where it leads.
    pub address: IpAddr,
    /// The port there; the URL's own where there is none.
    pub to: Option<u16>,
}

impl FromStr for Resolve {
    type Err = ResolveError;

    /// Reads `HOST[:PORT]=ADDR[:PORT]`; an IPv6 address with a port stands in brackets.
    fn from_str(text: &str) -> Result<Resolve, ResolveError> {
        let error = || ResolveError(text.to_owned());
        let (from, to) = text.split_once('=').ok_or_else(error)?;
        let (host, port) = match from.rsplit_once(':') {
            Some((host, port)) if !from.ends_with(']') => (host, Some(port.parse().map_err(|_| error())?)),
            _ => (from, None),
        };
        let host = url::Host::parse(host.trim_end_matches('.')).map_err(|_| error())?;
        let (address, to) = match to.parse::<SocketAddr>() {
            Ok(socket) => (socket.ip(), Some(socket.port())),
            Err(_) => {
                let bare = to.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
                (bare.unwrap_or(to).parse().map_err(|_| error())?, None)
            }
        };
        Ok(Resolve {
            host: host.to_string(),
            port,
            address,
            to,
        })
    }
}

impl fmt::Display for Resolve {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.host)?;
        if let Some(port) = self.port {
            write!(f, ":{port}")?;
        }
        match self.to {
            Some(to) => write!(f, "={}", SocketAddr::new(self.address, to)),
            None => write!(f, "={}", self.address),
        }
    }
}

/// What was typed is no rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no resolve rule: write `HOST[:PORT]=ADDR[:PORT]`, for instance `sut.test:443=127.0.0.1:3000`"
)]
pub struct ResolveError(String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_read_with_and_without_ports() {
        let rule: Resolve = "SUT.test:443=127.0.0.1:3000".parse().unwrap();
        assert_eq!(
            (rule.host.as_str(), rule.port, rule.to),
            ("sut.test", Some(443), Some(3000))
        );
        for (typed, meant) in [
            ("sut.test=127.0.0.1", "sut.test=127.0.0.1"),
            ("sut.test.=::1", "sut.test=::1"),
            ("sut.test=[::1]", "sut.test=::1"),
            ("sut.test:80=[::1]:3000", "sut.test:80=[::1]:3000"),
        ] {
            assert_eq!(typed.parse::<Resolve>().unwrap().to_string(), meant);
        }
    }

    #[test]
    fn what_leads_nowhere_is_refused() {
        for text in [
            "",
            "sut.test",
            "=127.0.0.1",
            "sut.test=",
            "sut.test=localhost",
            "sut.test:x=127.0.0.1",
            "a=1=2",
        ] {
            assert!(text.parse::<Resolve>().is_err(), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_the_parser_panic(text in ".{0,40}") {
            let _ = text.parse::<Resolve>();
        }
    }
}
