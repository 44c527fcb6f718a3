//! The dialect against the draft's vectors, OpenSSL, an independent implementation and chance.

mod header;
mod oracle;
mod properties;
mod sign;
mod vectors;
mod verify;
