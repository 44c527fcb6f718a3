//! The dialect against the draft's vectors, OpenSSL, an independent implementation, cases from the field and chance.

mod algorithms;
mod cases;
mod header;
mod oracle;
mod properties;
mod sign;
mod slips;
mod vectors;
mod verify;
