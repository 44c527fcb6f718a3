//! Actors' keys: RSA, which every peer has, Ed25519, ECDSA on two curves, and shared secrets.

mod algorithm;
mod der;
mod error;
mod kind;
mod multibase;
mod pem;
mod recover;
mod signing;
mod verifying;

pub use algorithm::Algorithm;
pub use error::{KeyError, MAX_MULTIBASE, MAX_PEM, MAX_RSA_BITS, MIN_RSA_BITS};
pub use kind::KeyKind;
pub use recover::Recovered;
pub use signing::SigningKey;
pub use verifying::VerifyingKey;

#[cfg(test)]
mod tests;
