//! What a signature is judged by that no specification fixes.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::clock::Timestamp;
use crate::units::Span;

/// The moment, and what a software profile decides.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// How far its dates may lie from now.
    pub window: Window,
    /// What `hs2019` stands for.
    pub hs2019: Hs2019,
    /// Now.
    pub now: Timestamp,
}

/// How far a signature's date may lie from now; both ends included. In JSON each is a [`Span`]'s text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// How old a covered `Date` or `created` may be.
    #[serde(serialize_with = "write", deserialize_with = "read")]
    pub past: Duration,
    /// How far ahead it may lie: how much the two clocks may differ. `expires` is given the same margin.
    #[serde(serialize_with = "write", deserialize_with = "read")]
    pub future: Duration,
}

/// What an RSA key computes under `hs2019`. The registry says RSASSA-PSS with SHA-512 and the fediverse means PKCS#1
/// v1.5, most with SHA-256.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Hs2019 {
    /// `rsa-v1_5-sha256`.
    #[default]
    Sha256,
    /// `rsa-v1_5-sha512`.
    Sha512,
}

fn write<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    Span::from(*duration).serialize(serializer)
}

fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    Span::deserialize(deserializer).map(Span::duration)
}
