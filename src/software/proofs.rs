//! Which proofs a software puts inside what it sends, and which it verifies.

use std::time::Duration;

use serde::Deserialize;

use crate::proof::Kind;

/// Proofs inside activities, made and verified; none of either where the profile does not say.
#[derive(Debug, Default)]
pub struct Proofs {
    /// The kinds it verifies: a valid one of the activity's actor vouches for what another's server delivers.
    pub verifies: Vec<Kind>,
    /// How it makes `eddsa-jcs-2022`, where it does.
    pub eddsa_jcs_2022: Option<Making>,
    /// How it makes `RsaSignature2017`, where it does.
    pub rsa_signature_2017: Option<Making>,
}

/// How a kind of proof is made.
#[derive(Clone, Copy, Debug)]
pub struct Making {
    /// What it stands on.
    pub on: ProofsOn,
    /// How long after it was made it expires, where it says so.
    pub expires: Option<Duration>,
    /// Whether it is made where documents are given for a signed GET alone.
    pub under_authorized_fetch: bool,
}

/// Which activities carry a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProofsOn {
    /// All.
    All,
    /// Those that are addressed to the public.
    Public,
}

impl Proofs {
    /// How that kind is made, where it is.
    pub fn making(&self, kind: Kind) -> Option<&Making> {
        match kind {
            Kind::EddsaJcs2022 => self.eddsa_jcs_2022.as_ref(),
            Kind::RsaSignature2017 => self.rsa_signature_2017.as_ref(),
        }
    }
}

impl Making {
    /// Whether an activity gets one.
    pub fn applies(&self, is_public: bool, authorized_fetch: bool) -> bool {
        (self.on == ProofsOn::All || is_public) && (self.under_authorized_fetch || !authorized_fetch)
    }
}
