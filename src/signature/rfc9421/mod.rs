//! The dialect that is the standard: HTTP Message Signatures, RFC 9421.

mod accept;
mod base;
mod component;
mod derived;
mod field;
mod guess;
mod header;
mod message;
mod sign;
mod verify;

pub use accept::{AcceptSignature, AcceptSignatureError};
pub use component::{Component, ComponentError};
pub use header::Header;
pub use message::{Message, Response};
pub use sign::{SignError, Signed, Signing, sign};

pub(super) use header::parse;

#[cfg(test)]
mod tests;
