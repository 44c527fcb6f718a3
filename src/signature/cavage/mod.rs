//! The dialect most of the fediverse speaks: draft-cavage-http-signatures-12.

mod algorithm;
mod base;
mod guess;
mod header;
mod proof;
mod sign;
mod verify;

pub use algorithm::computed;
pub use header::Header;
pub use sign::{ParameterOrder, SignError, Signing, sign};

pub(super) use header::malformed;

#[cfg(test)]
mod tests;
