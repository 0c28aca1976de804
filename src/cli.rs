//! The command line: the only place that reads arguments, prints, and turns verdicts into exit codes.

mod args;
mod audit;
mod check;
mod contract;
mod demo;
mod doctor;
mod github;
mod help;
mod human;
mod output;
mod pair;
mod producer;
mod progress;
mod record;
mod signals;
mod verify;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

use crate::report::Verdict;
use args::{Arguments, Command, Document, Schema};
use output::{Output, Unwritten};

/// The process failed in itself: nothing is known about the subject.
const INTERNAL_ERROR: u8 = 70;
/// As clap's.
const USAGE_ERROR: u8 = 2;

/// Runs the command that `arguments` name.
///
/// Exit codes: 0 yes, 1 refused, 2 wrong usage, 3 unverifiable, 4 the record was not written, 70 internal error, 130 and 143 on
/// SIGINT and SIGTERM.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let output = Output::new(&arguments.global);
    ExitCode::from(dispatch(&arguments, &output).unwrap_or_else(|error| {
        output.error(&format!("{error:#}"));
        match error {
            error if error.is::<Usage>() => USAGE_ERROR,
            error if error.is::<Unwritten>() => Verdict::Unverifiable.exit_code(),
            _ => INTERNAL_ERROR,
        }
    }))
}

/// An argument that parses but cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Usage(String);

fn dispatch(arguments: &Arguments, output: &Output) -> anyhow::Result<u8> {
    let signals = signals::Signals::install()?;
    match &arguments.command {
        Command::Verify(options) => verify::verify(options, &signals, output),
        Command::Activate(options) => verify::activate(options, &signals, output),
        Command::Snapshot(options) => verify::snapshot(options, &signals, output),
        Command::Block(options) => record::block(options, output),
        Command::Status(options) => record::status(options, output),
        Command::Check(options) => check::check(options, output),
        Command::Ci(options) => check::ci(options, output),
        Command::Audit(options) => audit::audit(options, output),
        Command::Explain(options) => help::explain(options, output),
        Command::Completions(options) => help::completions(options, output),
        Command::Man => help::man(output),
        Command::Doctor(options) => doctor::doctor(options, &signals, output),
        Command::Pair(options) => pair::pair(options, &signals, output),
        Command::Producer(options) => producer::run(options, &signals, output),
        Command::Demo => demo::demo(&signals, output),
        Command::Validate(options) => contract::validate(options, output),
        Command::Manifest(options) => contract::manifest(options, output),
        Command::Schema(Schema { document }) => {
            let schema = match document {
                Document::Report => crate::report::v1::json_schema(),
                Document::Validation => contract::json_schema::<contract::Validation>(),
                Document::Record => crate::activation::json_schema(),
                Document::Attestation => contract::json_schema::<crate::report::attestation::Statement>(),
                Document::Audit => contract::json_schema::<audit::Findings>(),
                Document::Status => contract::json_schema::<record::Statement>(),
                Document::Check => contract::json_schema::<check::Consistency>(),
                Document::Doctor => contract::json_schema::<doctor::Diagnosis>(),
                Document::Pair => contract::json_schema::<crate::report::tools::Report>(),
                Document::Traffic => contract::json_schema::<producer::Traffic>(),
                Document::ManifestCheck => contract::json_schema::<contract::Comparison>(),
            };
            output.document(&(serde_json::to_string_pretty(&schema)? + "\n"));
            Ok(0)
        }
    }
}
