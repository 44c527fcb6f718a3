//! Addresses to listen on, as people type them.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::str::FromStr;

/// An address to bind: `127.0.0.1:7443`, `[::1]:0`, `localhost:7443` (the IPv4 loopback), `:7443` (every IPv4 address).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address(pub SocketAddr);

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Address, AddressError> {
        if let Ok(address) = text.parse() {
            return Ok(Address(address));
        }
        let error = || AddressError(text.to_owned());
        let (host, port) = text.rsplit_once(':').ok_or_else(error)?;
        let ip = match host {
            "" => Ipv4Addr::UNSPECIFIED,
            _ if host.eq_ignore_ascii_case("localhost") => Ipv4Addr::LOCALHOST,
            _ => return Err(error()),
        };
        // `parse` alone would let a sign pass.
        if !port.bytes().all(|b| b.is_ascii_digit()) {
            return Err(error());
        }
        let port = port.parse().map_err(|_| error())?;
        Ok(Address(SocketAddr::new(IpAddr::V4(ip), port)))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// An address to bind, or none: `off`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listen {
    /// Bind this address.
    At(Address),
    /// Bind nothing.
    Off,
}

impl Listen {
    /// The address, where there is one.
    pub fn address(self) -> Option<SocketAddr> {
        match self {
            Listen::At(Address(address)) => Some(address),
            Listen::Off => None,
        }
    }
}

impl FromStr for Listen {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Listen, AddressError> {
        match text {
            "off" => Ok(Listen::Off),
            _ => text.parse().map(Listen::At),
        }
    }
}

impl fmt::Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Listen::At(address) => address.fmt(f),
            Listen::Off => f.write_str("off"),
        }
    }
}

/// What was typed is no address to bind.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no address to listen on: write `ADDRESS:PORT`, for instance `127.0.0.1:7443`, `[::1]:0`, `:443`"
)]
pub struct AddressError(String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_read_as_other_tools_take_them() {
        let cases = [
            ("127.0.0.1:7443", "127.0.0.1:7443"),
            ("0.0.0.0:443", "0.0.0.0:443"),
            ("[::1]:0", "[::1]:0"),
            ("[::]:443", "[::]:443"),
            ("localhost:7443", "127.0.0.1:7443"),
            (":443", "0.0.0.0:443"),
        ];
        for (typed, meant) in cases {
            assert_eq!(
                typed.parse::<Listen>().unwrap().address(),
                Some(meant.parse().unwrap()),
                "{typed}"
            );
        }
        assert_eq!("off".parse::<Listen>().unwrap().address(), None);
    }

    #[test]
    fn what_cannot_be_bound_is_refused() {
        for text in [
            "",
            ":",
            "7443",
            "127.0.0.1",
            "127.0.0.1:70000",
            "::1:443:",
            "sut.test:443",
            ":+1",
            "OFF ",
        ] {
            assert!(text.parse::<Listen>().is_err(), "{text}");
        }
        assert!("off".parse::<Address>().is_err());
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_the_parser_panic(text in ".{0,24}") {
            let _ = text.parse::<Listen>();
        }
    }
}
