//! `peerfarm completions`.

use clap::Args;
use clap_complete::Shell;

/// The words of `completions`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  peerfarm completions bash > ~/.local/share/bash-completion/completions/peerfarm
  peerfarm completions fish > ~/.config/fish/completions/peerfarm.fish")]
pub struct Completions {
    /// The shell
    pub shell: Shell,
}
