//! `peerfarm peers`.

use clap::Args;

use crate::command::Reach;
use crate::ids::{Host, NameError};

/// The words of `peers`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  peerfarm peers
  peerfarm peers mastodon1.test
  peerfarm peers --json | jq -r '.peers[].host'")]
pub struct Peers {
    /// One peer, with its actors; its port may stand behind the name
    #[arg(conflicts_with = "limit", value_parser = peer)]
    pub host: Option<String>,
    /// The first so many peers [default: all]
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// Where the farm is, and how the result is to look.
    #[command(flatten)]
    pub reach: Reach,
}

/// A peer's host, with its port or without, as its URLs have it.
fn peer(text: &str) -> Result<String, NameError> {
    Host::before_port(text)?;
    Ok(text.to_owned())
}
