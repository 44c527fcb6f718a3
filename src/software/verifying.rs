//! What a software asks of a signature. The verdict is the specification's; only what no specification fixes, the
//! window and what `hs2019` stands for, is the profile's. The rest decides the answer alone.

use std::time::Duration;

use crate::clock::Timestamp;
use crate::signature::key::Algorithm;
use crate::signature::rfc9421::AcceptSignature;
use crate::signature::{Dialect, Hs2019, Reason, Terms, Window};

/// What it asks of a signature, and what it lets pass.
#[derive(Debug)]
pub struct Verifying {
    /// How old a date may be.
    pub past: Duration,
    /// How far in the future it may lie.
    pub future: Duration,
    /// The failures it lets pass all the same: `query_omitted`, `date_too_old`, ...
    pub tolerates: Vec<Reason>,
    /// The notes that a signature must not have, though it holds: `several_signatures`, `scheme_prefix`, ...
    pub refuses: Vec<&'static str>,
    /// Whether documents ask for a signed GET, all but those that lead to keys.
    pub authorized_fetch: bool,
    /// What `hs2019` stands for.
    pub hs2019: Hs2019,
    /// What it asks of draft-cavage; `None` where it does not read that.
    pub cavage: Option<Accepted>,
    /// What it asks of RFC 9421; `None` where it does not read that.
    pub rfc9421: Option<Accepted>,
    /// The `Accept-Signature` of its refusals (RFC 9421 section 5.1), where it sends one.
    pub accept_signature: Option<AcceptSignature>,
}

/// What a dialect's signature needs to be taken, beyond the specification.
#[derive(Debug)]
pub struct Accepted {
    /// What has to be covered on a POST, by the names that verdicts carry.
    pub requires_post: Vec<String>,
    /// What has to be covered on a GET.
    pub requires_get: Vec<String>,
    /// The algorithms it verifies; `None` for all that the farm does.
    pub algorithms: Option<Vec<Algorithm>>,
}

impl Verifying {
    /// What it asks of a signature in that dialect; `None` where it does not read that.
    pub fn accepted(&self, dialect: Dialect) -> Option<&Accepted> {
        match dialect {
            Dialect::Cavage => self.cavage.as_ref(),
            Dialect::Rfc9421 => self.rfc9421.as_ref(),
        }
    }

    /// By what a signature that came at `now` is judged.
    pub fn terms(&self, now: Timestamp) -> Terms {
        Terms {
            window: Window {
                past: self.past,
                future: self.future,
            },
            hs2019: self.hs2019,
            now,
        }
    }
}
