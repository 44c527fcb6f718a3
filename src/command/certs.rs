//! `peerfarm certs`.

use clap::Args;

use crate::command::serve;

/// The words of `certs`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  peerfarm certs
  peerfarm certs --pem > farm-ca.pem
  SSL_CERT_FILE=$(peerfarm certs) ./my-server")]
pub struct Certs {
    /// Prints the certificates themselves
    #[arg(long, conflicts_with = "json")]
    pub pem: bool,
    /// Prints the result as JSON
    #[arg(long)]
    pub json: bool,
    /// Which farm's.
    #[command(flatten)]
    pub state: serve::State,
}
