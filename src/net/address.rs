//! What kind of address an address is, as far as the gate cares.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The kinds the gate tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Link-local, and where clouds keep their metadata: never by name, only where `--allow-target` spells the address.
    LinkLocal,
    /// This machine.
    Loopback,
    /// Anything else: public, shared (RFC 6598), documentation, and the tunnels that could lead anywhere (NAT64,
    /// 6to4, Teredo).
    Other,
    /// Private by RFC 1918 or RFC 4193.
    Private,
    /// Nowhere one could connect to: unspecified, multicast, broadcast.
    Unusable,
}

impl Kind {
    /// Judges one address; an IPv4-mapped one by its IPv4 address.
    pub fn of(address: IpAddr) -> Kind {
        match address.to_canonical() {
            IpAddr::V4(v4) => Kind::of_v4(v4),
            IpAddr::V6(v6) => Kind::of_v6(v6),
        }
    }

    fn of_v4(v4: Ipv4Addr) -> Kind {
        match v4 {
            _ if v4.is_loopback() => Kind::Loopback,
            _ if v4.is_private() => Kind::Private,
            _ if v4.is_link_local() => Kind::LinkLocal,
            // RFC 1122 section 3.2.1.3: the whole of 0/8 is this network, and Linux connects 0.0.0.0 to itself.
            _ if v4.octets()[0] == 0 || v4.is_multicast() || v4.is_broadcast() => Kind::Unusable,
            _ => Kind::Other,
        }
    }

    fn of_v6(v6: Ipv6Addr) -> Kind {
        let is_metadata = METADATA
            .iter()
            .any(|(network, bits)| (v6.to_bits() ^ network.to_bits()) >> (128 - bits) == 0);
        match v6 {
            _ if v6.is_loopback() => Kind::Loopback,
            _ if is_metadata || v6.is_unicast_link_local() => Kind::LinkLocal,
            _ if v6.is_unique_local() => Kind::Private,
            _ if v6.is_unspecified() || v6.is_multicast() => Kind::Unusable,
            _ => Kind::Other,
        }
    }

    /// What would be right instead, for a URL at `host`.
    pub(in crate::net) fn advice(self, host: &str) -> String {
        match self {
            Kind::Other => {
                format!("hint: if it is yours to test, `--allow-target {host}` lets the farm reach it")
            }
            Kind::LinkLocal => {
                "hint: `--allow-target` with that very address lets the farm reach it".to_owned()
            }
            _ => "write a loopback or private address".to_owned(),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::LinkLocal => "a link-local or metadata address",
            Kind::Loopback => "a loopback address",
            Kind::Other => "neither loopback nor private",
            Kind::Private => "a private address",
            Kind::Unusable => "an address to which nothing can connect",
        })
    }
}

/// Unique local networks in which clouds hand out credentials: Amazon's instance metadata and Google's.
const METADATA: [(Ipv6Addr, u32); 2] = [
    (Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0), 32),
    (Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254), 128),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_judged_by_the_registries() {
        // The IANA special-purpose registries for IPv4 and IPv6 (RFC 6890), first and last of each block and what
        // lies beside it.
        for (kind, addresses) in [
            (
                Kind::Loopback,
                "127.0.0.0 127.0.0.1 127.255.255.255 ::1 ::ffff:127.0.0.1",
            ),
            (
                Kind::Private,
                "10.0.0.0 10.255.255.255 172.16.0.0 172.31.255.255 192.168.0.0 192.168.255.255",
            ),
            (
                Kind::Private,
                "fc00:: fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff fd00::1 ::ffff:10.1.2.3",
            ),
            (
                Kind::LinkLocal,
                "169.254.0.0 169.254.169.254 169.254.255.255 ::ffff:169.254.169.254",
            ),
            (Kind::LinkLocal, "fe80::1 febf:ffff::1 fd00:ec2::254 fd20:ce::254"),
            (
                Kind::Unusable,
                "0.0.0.0 0.1.2.3 224.0.0.1 239.255.255.255 255.255.255.255 :: ff02::1 ::ffff:0.0.0.0",
            ),
            (
                Kind::Other,
                "9.255.255.255 11.0.0.0 126.255.255.255 128.0.0.0 172.15.255.255 172.32.0.0",
            ),
            (
                Kind::Other,
                "192.167.255.255 192.169.0.0 169.253.255.255 169.255.0.0 8.8.8.8 ::ffff:8.8.8.8",
            ),
            (
                Kind::Other,
                "100.64.0.1 100.100.100.200 192.0.0.192 192.0.2.1 198.18.0.1 203.0.113.1 240.0.0.1",
            ),
            (
                Kind::Other,
                "2606:4700::1111 fbff::1 fe00::1 fec0::1 2001:db8::1 ::7f00:1 ::2",
            ),
            // NAT64 (RFC 6052), its local prefix (RFC 8215), 6to4 and Teredo around a loopback address.
            (
                Kind::Other,
                "64:ff9b::7f00:1 64:ff9b:1::7f00:1 2002:7f00:1:: 2001:0:7f00:1::",
            ),
        ] {
            for address in addresses.split(' ') {
                assert_eq!(Kind::of(address.parse().unwrap()), kind, "{address}");
            }
        }
    }
}
