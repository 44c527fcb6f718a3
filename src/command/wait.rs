//! `peerfarm wait`.

use clap::Args;

use crate::command::Reach;
use crate::ids::Host;
use crate::units::Span;

/// The words of `wait`: at least one condition.
#[derive(Args, Clone, Debug)]
#[command(group = clap::ArgGroup::new("condition").required(true).multiple(true).args(["unique", "requests", "quiet"]))]
#[command(after_help = "\
Examples:
  peerfarm wait --unique 20
  peerfarm wait --host mastodon1.test --path /inbox --requests 3 --timeout 10s
  peerfarm wait --quiet 2s")]
pub struct Wait {
    /// Counts one host only
    #[arg(long, value_name = "HOST", value_parser = Host::before_port)]
    pub host: Option<Host>,
    /// Counts one path only, for instance `/inbox`
    #[arg(long, value_name = "PATH")]
    pub path: Option<String>,
    /// Counts one kind only, for instance `inbox` or `hook`
    #[arg(long, value_name = "KIND")]
    pub kind: Option<String>,
    /// At least so many distinct deliveries were accepted
    #[arg(long, value_name = "N")]
    pub unique: Option<u64>,
    /// At least so many requests arrived
    #[arg(long, value_name = "N")]
    pub requests: Option<u64>,
    /// Nothing new arrived for so long
    #[arg(long, value_name = "SPAN")]
    pub quiet: Option<Span>,
    /// When to give up
    #[arg(long, value_name = "SPAN", default_value = "30s")]
    pub timeout: Span,
    /// Where the farm is, and how the result is to look.
    #[command(flatten)]
    pub reach: Reach,
}
