//! `peerfarm follow`, `unfollow` and `send`: what an actor of the farm does.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::command::{Reach, Target};
use crate::fault::Misbehaviour;
use crate::ids::Acct;
use crate::signature::Dialect;

/// The words of `follow` and `unfollow`.
#[derive(Args, Clone, Debug)]
pub struct Follow {
    /// The actor of the farm that follows: `alice@mastodon1.test`
    pub actor: Acct,
    /// Whom: a handle, or an actor's URL
    pub target: Target,
    /// Signs it in this dialect and no other, whatever its software does
    #[arg(long, value_name = "DIALECT", value_parser = dialects())]
    pub dialect: Option<Dialect>,
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
  peerfarm send alice@mastodon1.test @me@sut.test --note 'hello' --dialect rfc9421
  peerfarm send alice@mastodon1.test @me@sut.test --note 'hello' --misbehave wrong-key
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
    /// Signs it in this dialect and no other, whatever its software does
    #[arg(long, value_name = "DIALECT", value_parser = dialects())]
    pub dialect: Option<Dialect>,
    /// Sends it wrong on purpose, in one way; a server that takes it ends this with 1, one that refuses it with 0
    #[arg(long, value_name = "NAME", value_enum)]
    pub misbehave: Option<Misbehaviour>,
    /// Where the farm is, and how the result is to look.
    #[command(flatten)]
    pub reach: Reach,
}

fn dialects() -> impl TypedValueParser<Value = Dialect> {
    let dialects = [Dialect::Cavage, Dialect::Rfc9421];
    PossibleValuesParser::new(dialects.map(Dialect::name)).try_map(move |name| {
        let named = dialects.into_iter().find(|dialect| dialect.name() == name);
        named.ok_or("no dialect of that name")
    })
}
