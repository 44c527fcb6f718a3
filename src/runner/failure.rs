//! Why a command came to no result.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use http::StatusCode;
use serde_json::Value;

use crate::command::FarmUrl;
use crate::launch::StartError;
use crate::runner::{KeyFileError, api};
use crate::saved::SavedError;
use crate::store::StoreError;

/// A command that came to no result.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// An activity's file cannot be used.
    #[error("`{}` is no activity: {problem}; hint: write one JSON object, for instance `{{\"type\": \"Like\", \"object\": \"https://sut.test/notes/1\"}}`", file.display())]
    Activity {
        /// The file.
        file: PathBuf,
        /// What is wrong with it, and where.
        problem: String,
    },
    /// The exchange broke off.
    #[error("the farm at `{farm}` broke off")]
    Broken {
        /// The farm.
        farm: FarmUrl,
        /// What hyper says.
        source: hyper::Error,
    },
    /// A file cannot be read.
    #[error("cannot read `{}`: {}", file.display(), api::plain(error))]
    File {
        /// The file.
        file: PathBuf,
        /// Why; part of the message already, hence no source.
        error: io::Error,
    },
    /// Something answers, but no farm.
    #[error("`{farm}` answers {status} and is no farm's control API; hint: the farm's `ready` line names it")]
    Foreign {
        /// Where.
        farm: FarmUrl,
        /// The status.
        status: StatusCode,
    },
    /// A file holds no key.
    #[error("`{}` cannot be used as a key: {problem}", file.display())]
    Key {
        /// The file.
        file: PathBuf,
        /// Why; part of the message already, hence no source.
        problem: KeyFileError,
    },
    /// There is no refusal to show.
    #[error(
        "no delivery was refused, as far as the journal goes back; hint: `peerfarm journal` lists what arrived"
    )]
    NothingRefused,
    /// The farm says no, with a problem (RFC 9457).
    #[error("{}", described(problem, *status))]
    Refused {
        /// The status.
        status: StatusCode,
        /// The problem, whole.
        problem: Value,
    },
    /// A file holds no request.
    #[error("`{}` cannot be judged: {error}", file.display())]
    Saved {
        /// The file.
        file: PathBuf,
        /// Why; part of the message already, hence no source.
        error: SavedError,
    },
    /// The farm does not answer in time.
    #[error("the farm at `{farm}` has not answered for {} s", patience.as_secs())]
    Silent {
        /// The farm.
        farm: FarmUrl,
        /// How long it was given.
        patience: Duration,
    },
    /// There are no such peers.
    #[error(transparent)]
    Roster(#[from] StartError),
    /// The state cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// No request can be made of this.
    #[error("`{target}` is no path of the control API")]
    Target {
        /// The request's target.
        target: String,
        /// What is wrong with it.
        source: http::Error,
    },
    /// The answer is too large.
    #[error("the answer is larger than {limit} bytes; hint: ask for less, by `--host` or `--limit`")]
    TooLarge {
        /// The limit.
        limit: usize,
    },
    /// Nothing listens there.
    #[error(
        "cannot reach the farm at `{farm}`: {}; hint: start it with `peerfarm serve`, or name another with `--farm URL`",
        api::plain(error)
    )]
    Unreached {
        /// The farm.
        farm: FarmUrl,
        /// Why; part of the message already, hence no source.
        error: io::Error,
    },
}

/// A problem in one line, with its class.
fn described(problem: &Value, status: StatusCode) -> String {
    let text = |key: &str| problem.get(key).and_then(Value::as_str);
    // The title is the status in words; what is the matter stands in the detail.
    let said = text("detail").or_else(|| text("title")).map(str::to_owned);
    let mut line = said.unwrap_or_else(|| format!("the farm answers {status}"));
    if let Some(class) = text("class") {
        line.push_str(&format!(" ({class})"));
    }
    line
}
