//! The `paired-sdk-gate` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    paired_sdk_gate::cli::run(std::env::args_os())
}
