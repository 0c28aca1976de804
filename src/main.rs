//! The `paired-sdk-gate` command.

fn main() {}
