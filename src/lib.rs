//! peerfarm stands in for the fediverse and for webhook providers while someone tests a server.
//!
//! The module list below is a map of the code: a module uses only modules listed above it, and `tests/layers.rs`
//! holds that. `docs/ARCHITECTURE.md` tells what each layer is for and follows one request through them.
//!
//! # A farm in a Rust test
//!
//! ```
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use peerfarm::Farm;
//! use peerfarm::units::Span;
//!
//! // Free ports, a state directory of its own, and 5 ms before a hook answers.
//! let farm = Farm::builder()
//!     .hooks(Span::millis(5), Span::ZERO, 0.0)
//!     .start()
//!     .await?;
//!
//! // Point the server under test at the farm. Here a bare HTTP client stands in for it.
//! # use tokio::io::{AsyncReadExt, AsyncWriteExt};
//! let url = farm.hook_url("orders");
//! # let address = farm.addresses().control;
//! # let mut server = tokio::net::TcpStream::connect(address).await?;
//! # let body = r#"{"id":"evt_1"}"#;
//! # let head = format!("POST /hook/orders HTTP/1.1\r\nHost: {address}\r\nContent-Length: {}\r\n\r\n", body.len());
//! # server.write_all(format!("{head}{body}").as_bytes()).await?;
//! # assert!(url.ends_with("/hook/orders"));
//!
//! // Wait for what is expected instead of sleeping, then read exact numbers.
//! let stats = farm.wait().path("/hook/orders").unique(1).await?;
//! assert_eq!(stats.totals.accepted, 1);
//! assert_eq!(stats.totals.duplicates, 0);
//!
//! // Who follows alice? Nobody yet.
//! assert!(farm.followers("alice@mastodon1.test")?.is_empty());
//!
//! // Everything stops when the farm is dropped.
//! # Ok(())
//! # }
//! ```

// values: no I/O; the only reader of wall time, the only drawer of chance
pub mod units;
pub mod ids;
pub mod clock;
pub mod seed;

// protocol: bytes in, values out
pub mod signature;
pub mod proof;
pub mod saved;
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
pub mod launch;
pub mod runner;

// entry: the only place that prints, reads the environment and exits
pub mod cli;

pub use launch::{Builder, Farm, Running};
