//! What the benchmarks share.

#![allow(dead_code, reason = "no benchmark uses all of it")]

/// Processor time, and the figures that come of many measurements.
pub mod figures;

/// What is delivered, and reading the answers.
pub mod sender;

/// A server in a process of its own.
pub mod server;
