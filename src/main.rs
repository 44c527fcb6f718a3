//! The `peerfarm` binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    peerfarm::cli::main()
}
