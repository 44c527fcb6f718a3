//! Tests through the front door, one module a theme. Fixtures live in `support` and nowhere else.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

/// The words: what is typed, set in the environment or written in `peerfarm.toml`, and the exit codes.
mod words;

/// Commands that talk to a farm, against a control API that answers from a script.
mod steps;

/// The control API of a running farm.
mod api;

/// The farm as a process.
mod serve;

/// The farm as a value in a Rust test.
mod library;

/// How a server finds actors and reads what peers publish.
mod discovery;

/// Deliveries to inboxes: what is taken and what follows, what is refused and in whose words.
mod inbox;

/// Signatures as a whole farm judges them: what is covered, whose key it is, how old it may be.
mod signatures;

/// The verdict on a request saved in a file, without a farm.
mod verify;

/// Who knocks how: the dialects of signatures that are sent, those that are taken, and what the others are told.
mod dialects;

/// What some software lets pass and other refuses.
mod contested;

/// Keys in every form, rotated, gone.
mod keys;

/// Signatures of other implementations, and theirs of ours.
mod foreign;

/// Proofs inside activities: made, verified, and what they vouch for.
mod proofs;

/// Documents that are given for a signed GET alone.
mod authorized_fetch;

/// Deliveries that are wrong on purpose: each in its one way, and what is told of who takes them.
mod misbehave;

/// What happens below and around an exchange: hosts, handshakes, heads, bodies, time limits, senders that leave.
mod connections;

/// Hooks: how they answer and count, whichever way a delivery comes.
mod hooks;

/// What hooks do wrong on purpose: latency, jitter, errors, hangs, and who leaves meanwhile.
mod hook_rules;

/// The counters: exact at every moment, also under load.
mod stats;

/// Resets: a clean line between what counts before and what counts after.
mod reset;

/// Times: from the moment a delivery says it was sent to its first success, and how times add up.
mod times;

/// The journal and its live feed: what arrived, whole, within its bound.
mod journal;

/// The metrics, in the Prometheus text format, beside the counters.
mod metrics;

/// The control API where several things meet: waits, commands and the server under test, names and pages.
mod control;

/// What the farm reaches out to, what its gate keeps it from, and what it says when that fails.
mod gate;

/// Processes one after the other and beside each other: how a farm ends, what it leaves, what keeps it from starting.
mod process;
