//! The `peerfarm` binary.

fn main() {}
