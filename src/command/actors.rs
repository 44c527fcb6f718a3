//! `peerfarm follow`, `unfollow` and `send`: what an actor of the farm does.

use std::path::PathBuf;

use clap::Args;

use crate::command::{Reach, Target};
use crate::ids::Acct;

/// The words of `follow` and `unfollow`.
#[derive(Args, Clone, Debug)]
pub struct Follow {
    /// The actor of the farm that follows: `alice@mastodon1.test`
    pub actor: Acct,
    /// Whom: a handle, or an actor's URL
    pub target: Target,
    /// Where the farm is, and how the result is to look.
    #[command(flatten)]
    pub reach: Reach,
}

/// The words of `send`: a note or an activity, never both.
#[derive(Args, Clone, Debug)]
#[command(group = clap::ArgGroup::new("what").required(true).args(["note", "activity"]))]
#[command(after_help = "\
Examples:
  peerfarm send alice@mastodon1.test @me@sut.test --note 'hello'
  peerfarm send alice@mastodon1.test https://sut.test/users/me --activity like.json
  echo '{\"type\": \"Like\", \"object\": \"https://sut.test/notes/1\"}' |
    peerfarm send alice@mastodon1.test @me@sut.test --activity -")]
pub struct Send {
    /// The actor of the farm that sends: `alice@mastodon1.test`
    pub actor: Acct,
    /// To whom: a handle, or an actor's URL
    pub to: Target,
    /// The text of a note, sent as a Create
    #[arg(long, value_name = "TEXT")]
    pub note: Option<String>,
    /// A file with an activity in JSON, `-` for stdin; the farm adds what is missing of `@context`, `id` and `actor`
    #[arg(long, value_name = "FILE")]
    pub activity: Option<PathBuf>,
    /// Where the farm is, and how the result is to look.
    #[command(flatten)]
    pub reach: Reach,
}
