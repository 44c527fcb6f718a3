//! What can go wrong with the state on disk.

use std::io;
use std::path::PathBuf;

use crate::signature::key::KeyError;

/// Why the state could not be opened, read or written. Each names the file or directory.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another process writes this state.
    #[error("another farm writes `{}`; hint: give this one a state directory of its own: `--state DIR`", dir.display())]
    Busy {
        /// The state directory.
        dir: PathBuf,
    },
    /// A file does not hold what it should.
    #[error("`{}` does not hold {wanted}: {problem}; hint: put it back as it was, or remove it and a new one is made", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What it should hold.
        wanted: &'static str,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The operating system refused something.
    #[error("cannot {action} `{}`", path.display())]
    File {
        /// What was tried: `read`, `write`, ...
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// As many authorities as the state takes.
    #[error("`{}` holds {limit} authorities, one for each change of the roster, and takes no more; hint: begin anew with another `--state DIR`", dir.display())]
    Full {
        /// The directory of the authorities.
        dir: PathBuf,
        /// How many it takes.
        limit: usize,
    },
    /// A key could not be made or used.
    #[error("cannot make the keys of {owner}")]
    Key {
        /// Whose.
        owner: String,
        /// Why not.
        source: KeyError,
    },
    /// A reader found nothing.
    #[error("`{}` does not exist: no farm has run with this state directory; hint: start `peerfarm serve` once, or name its directory: `--state DIR`", path.display())]
    Missing {
        /// The file a reader looked for.
        path: PathBuf,
    },
    /// A file lies where the state directory should be.
    #[error("`{}` is no directory; hint: name one: `--state DIR`", path.display())]
    NotDirectory {
        /// The path.
        path: PathBuf,
    },
    /// A certificate could not be made.
    #[error("cannot make {what}")]
    Sign {
        /// Which.
        what: String,
        /// Why not.
        source: rcgen::Error,
    },
    /// The state directory cannot be made or written.
    #[error("cannot write the state directory `{}`: {error}; hint: name one the farm may write: `--state DIR`", path.display())]
    Unwritable {
        /// The path that could not be made.
        path: PathBuf,
        /// Why not; part of the message already, hence no source.
        error: io::Error,
    },
}
