//! How a software signs what it sends, and in which dialect it knocks first.

use std::ops::RangeInclusive;
use std::time::Duration;

use http::StatusCode;

use crate::signature::{Dialect, cavage, rfc9421};
use crate::software::Template;

/// How it signs.
#[derive(Debug)]
pub struct Signing {
    /// The dialect of the first knock.
    pub first: Dialect,
    /// What follows where the first knock is answered so; `None` where it knows one dialect.
    pub second: Option<SecondKnock>,
    /// The key id of the signature (`{key}` for most, `{actor}` for PeerTube).
    pub key_id: Template,
    /// How it speaks draft-cavage; as most do where the profile does not say.
    pub cavage: CavageSigning,
    /// How it speaks RFC 9421; as the fediverse agreed to where the profile does not say.
    pub rfc9421: Rfc9421Signing,
}

/// The same request once more, in another dialect.
#[derive(Debug)]
pub struct SecondKnock {
    /// The dialect.
    pub dialect: Dialect,
    /// The statuses after which it knocks again.
    pub after: Vec<RangeInclusive<u16>>,
    /// How long it remembers of an origin which dialect was taken there; `None` where each request knocks anew.
    pub remembers: Option<Duration>,
}

impl SecondKnock {
    /// Whether that answer makes it knock again.
    pub fn follows(&self, status: StatusCode) -> bool {
        self.after.iter().any(|range| range.contains(&status.as_u16()))
    }
}

/// How it speaks draft-cavage-http-signatures-12.
#[derive(Debug)]
pub struct CavageSigning {
    /// The signed headers of a POST, in the order on the wire.
    pub post: Vec<String>,
    /// The signed headers of a GET; `None` where GETs go unsigned.
    pub get: Option<Vec<String>>,
    /// The `algorithm` parameter.
    pub algorithm: String,
    /// Whether `(request-target)` has the query.
    pub query: bool,
    /// Whether a signed GET carries a `Digest` of the empty body.
    pub get_digest: bool,
    /// The order of the parameters in the header.
    pub parameters: cavage::ParameterOrder,
    /// Whether each signature has `created`.
    pub created: bool,
    /// How long after it was made the signature expires, where it says so.
    pub expires: Option<Duration>,
}

impl Default for CavageSigning {
    /// What nearly every server sends and takes (SWICG report, sections 3.1 and 3.2).
    fn default() -> CavageSigning {
        let get = ["(request-target)", "host", "date"].map(str::to_owned);
        CavageSigning {
            post: [get.as_slice(), &["digest".to_owned()]].concat(),
            get: Some(get.into()),
            algorithm: "rsa-sha256".to_owned(),
            query: true,
            get_digest: false,
            parameters: cavage::ParameterOrder::AlgorithmFirst,
            created: false,
            expires: None,
        }
    }
}

/// How it speaks RFC 9421. `created` and `keyid` are always there.
#[derive(Debug)]
pub struct Rfc9421Signing {
    /// The label of the signature: `sig1`.
    pub label: String,
    /// The covered components of a POST, in the order on the wire.
    pub post: Vec<rfc9421::Component>,
    /// Those of a GET; `None` where GETs go unsigned.
    pub get: Option<Vec<rfc9421::Component>>,
    /// Whether `alg` names the algorithm.
    pub names_algorithm: bool,
    /// How long after `created` the signature expires, where it says so.
    pub expires: Option<Duration>,
    /// Whether each signature has a `nonce`.
    pub nonce: bool,
    /// The `tag`, where there is one.
    pub tag: Option<String>,
}

impl Default for Rfc9421Signing {
    /// What the fediverse agreed to (SWICG report, section 3.5).
    fn default() -> Rfc9421Signing {
        Rfc9421Signing {
            label: "sig1".to_owned(),
            post: components(&["@method", "@target-uri", "content-digest"]),
            get: Some(components(&["@method", "@target-uri"])),
            names_algorithm: false,
            expires: None,
            nonce: false,
            tag: None,
        }
    }
}

fn components(names: &[&str]) -> Vec<rfc9421::Component> {
    let component = |name: &&str| name.parse().expect("these are components");
    names.iter().map(component).collect()
}
