//! `peerfarm hosts`.

use std::net::{IpAddr, Ipv4Addr};

use clap::Args;

use crate::command::serve;

/// The words of `hosts`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  peerfarm hosts | sudo tee -a /etc/hosts
  peerfarm hosts --address 172.18.0.2 --roster mastodon=2
  peerfarm hosts --compose          the network's aliases for a compose file")]
pub struct Hosts {
    /// The address that all names get
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST), conflicts_with = "compose")]
    pub address: IpAddr,
    /// Prints the names as a YAML list, for `aliases:` of a compose network
    #[arg(long, conflicts_with = "json")]
    pub compose: bool,
    /// Prints the result as JSON
    #[arg(long)]
    pub json: bool,
    /// Which peers.
    #[command(flatten)]
    pub names: serve::Names,
}
