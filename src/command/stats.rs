//! `peerfarm stats` and `reset`.

use clap::Args;

use crate::command::Reach;
use crate::ids::Host;

/// The words of `stats`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  peerfarm stats
  peerfarm stats --watch --host mastodon1.test
  peerfarm stats --json | jq .totals.unique")]
pub struct Stats {
    /// One host only
    #[arg(long, value_name = "HOST", value_parser = Host::before_port)]
    pub host: Option<Host>,
    /// One path only, for instance `/inbox`
    #[arg(long, value_name = "PATH")]
    pub path: Option<String>,
    /// Shows it again each second, until interrupted
    #[arg(long)]
    pub watch: bool,
    /// Where the farm is, and how the result is to look.
    #[command(flatten)]
    pub reach: Reach,
}

/// The words of `reset`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  peerfarm reset
  peerfarm reset --json > before.json")]
pub struct Reset {
    /// Where the farm is, and how the result is to look.
    #[command(flatten)]
    pub reach: Reach,
}
