//! Exit codes: the contract with scripts.

use std::process::ExitCode;

use http::StatusCode;

use crate::launch::StartError;
use crate::runner::{Failure, Fate, Outcome};
use crate::store::StoreError;

/// How the process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done, passed.
    Done = 0,
    /// A check failed: a delivery was refused, a signature does not hold, a wait ran out, there was nothing to show.
    Failed = 1,
    /// The words or a file are wrong.
    Words = 2,
    /// The farm or the server under test could not be reached, or a system call failed.
    Unreached = 3,
    /// Interrupted.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

impl From<&StartError> for Exit {
    fn from(error: &StartError) -> Exit {
        match error.is_of_words() {
            true => Exit::Words,
            false => Exit::Unreached,
        }
    }
}

impl From<&Outcome> for Exit {
    fn from(outcome: &Outcome) -> Exit {
        match outcome {
            Outcome::Delivered {
                fate: Fate::LetIn | Fate::Nobody | Fate::Refused,
                ..
            } => Exit::Failed,
            Outcome::Delivered {
                fate: Fate::Unreached,
                ..
            } => Exit::Unreached,
            Outcome::Judged { valid: false, .. } | Outcome::Waited { held: false, .. } => Exit::Failed,
            _ => Exit::Done,
        }
    }
}

impl From<&Failure> for Exit {
    fn from(failure: &Failure) -> Exit {
        match failure {
            Failure::Activity { .. }
            | Failure::File { .. }
            | Failure::Key { .. }
            | Failure::Saved { .. }
            | Failure::Target { .. } => Exit::Words,
            Failure::NothingRefused => Exit::Failed,
            Failure::Refused { status, .. }
                if *status != StatusCode::REQUEST_TIMEOUT && status.is_client_error() =>
            {
                Exit::Words
            }
            Failure::Roster(error) => error.into(),
            Failure::Store(StoreError::Missing { .. }) => Exit::Words,
            _ => Exit::Unreached,
        }
    }
}
