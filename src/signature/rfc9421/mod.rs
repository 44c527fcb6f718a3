//! HTTP Message Signatures: RFC 9421.

mod accept;
mod component;
mod message;
mod sign;

pub use accept::{AcceptSignature, AcceptSignatureError};
pub use component::{Component, ComponentError};
pub use message::{Message, Response};
pub use sign::{SignError, Signed, Signing, sign};
