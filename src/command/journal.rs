//! `peerfarm journal` and `journal show`.

use clap::{Args, Subcommand};

use crate::command::Reach;
use crate::ids::Host;

/// The words of `journal`.
#[derive(Args, Clone, Debug)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "\
Examples:
  peerfarm journal
  peerfarm journal --verdict invalid --limit 5
  peerfarm journal show")]
pub struct Journal {
    /// One entry whole, where that is asked
    #[command(subcommand)]
    pub command: Option<Entries>,
    /// One host only
    #[arg(long, value_name = "HOST", value_parser = Host::before_port)]
    pub host: Option<Host>,
    /// One path only, for instance `/inbox`
    #[arg(long, value_name = "PATH")]
    pub path: Option<String>,
    /// One kind only, for instance `inbox`, `hook` or `actor`
    #[arg(long, value_name = "KIND")]
    pub kind: Option<String>,
    /// One verdict only
    #[arg(long, value_name = "VERDICT", value_parser = ["valid", "invalid", "unsigned"])]
    pub verdict: Option<String>,
    /// One outcome only
    #[arg(long, value_name = "OUTCOME", value_parser = ["accepted", "refused", "faulted", "aborted"])]
    pub outcome: Option<String>,
    /// Only what came after this entry, or this moment (RFC 3339)
    #[arg(long, value_name = "ID|TIME")]
    pub since: Option<String>,
    /// The newest so many
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub limit: usize,
    /// Where the farm is, and how the result is to look.
    #[command(flatten)]
    pub reach: Reach,
}

/// What to do with single entries.
#[derive(Clone, Debug, Subcommand)]
pub enum Entries {
    /// Shows one entry whole: headers, body, verdict and signature base
    Show(Show),
}

/// The words of `journal show`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  peerfarm journal show                      the delivery that was refused last
  peerfarm journal show 17
  peerfarm journal show 17 --json | jq .verdict")]
pub struct Show {
    /// The entry's id; without one, the delivery that was refused last
    pub id: Option<String>,
    /// Where the farm is, and how the result is to look.
    #[command(flatten)]
    pub reach: Reach,
}
