//! TLS on both sides: the certificate a peer shows by the name it was asked for, and whom the farm itself trusts.

mod client;
mod failure;
mod server;

pub use client::{Trust, TrustError};
pub use failure::{rustls_failure_label, tls_failure_label};
pub use server::{Refusal, ServerTls};

#[cfg(test)]
mod tests;
