//! peerfarm stands in for the fediverse and for webhook providers while someone tests a server.
//!
//! The module list below is a map of the code: a module uses only modules listed above it, and `tests/layers.rs`
//! holds that. `docs/ARCHITECTURE.md` tells what each layer is for and follows one request through them.

// values: no I/O; the only reader of wall time, the only drawer of chance
pub mod units;
pub mod ids;
pub mod clock;
pub mod seed;

// protocol: bytes in, values out
pub mod signature;
pub mod activitypub;
pub mod webhook;

// model: files and words as typed become checked models
pub mod fault;
pub mod software;
pub mod command;

// state: what lives and what lies on disk; standard locks, nothing async
pub mod stats;
pub mod journal;
pub mod store;
pub mod farm;

// transport: sockets and the gate
pub mod net;
pub mod deliver;
pub mod answer;
pub mod serve;

// drivers: what makes the farm do something
pub mod control;
