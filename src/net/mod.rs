//! Sockets: listening, the line an exchange runs over, TLS, and the gate that everything outbound passes.
//!
//! On the way out, [`resolve`] turns a name into addresses, [`gate`] lets only harmless ones through and hands out a
//! [`gate::Permit`], and [`client`] takes nothing but permits.

pub mod line;
pub mod listen;
pub mod tls;
pub mod address;
pub mod resolve;
pub mod gate;
pub mod failure;
mod connect;
pub mod client;
