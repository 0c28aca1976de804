//! `audit`: a saved report, re-checked.

use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::human::{self, BAD, GOOD, printable};
use super::output::Output;
use crate::activation;
use crate::contract::Contract;
use crate::digest::sha256;
use crate::report::Verdict;
use crate::report::audit::{self, Fault};

#[derive(Debug, Args)]
pub(super) struct Audit {
    /// The report to check
    #[arg(value_name = "REPORT")]
    report: PathBuf,
    /// An activation record that it has to support
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
}

/// What `audit` says.
#[derive(Serialize, JsonSchema)]
pub(super) struct Findings {
    /// Always `paired-sdk-gate/audit/v1`.
    schema: &'static str,
    /// The exit code of the process.
    exit_code: u8,
    /// Nothing is wrong.
    sound: bool,
    /// SHA-256 of the report's bytes.
    report_sha256: String,
    /// Everything that is wrong.
    faults: Vec<Fault>,
}

pub(super) fn audit(options: &Audit, output: &Output) -> anyhow::Result<u8> {
    let bytes = match read(&options.report) {
        Ok(bytes) => bytes,
        Err(error) => {
            output.error(&format!("{error}\n  next: name a report that was written with --report"));
            return Ok(Verdict::Unverifiable.exit_code());
        }
    };
    let contract = Contract::bridge_v1();
    let mut faults = audit::faults(&bytes, contract);
    if let Some(path) = &options.record {
        match activation::read(path, contract) {
            Ok((record, text)) => faults.extend(audit::record_faults(&bytes, &record, &text)),
            Err(error) => {
                output.error(&format!("{}\n  next: {}", human::chain(&error), error.hint()));
                return Ok(Verdict::Unverifiable.exit_code());
            }
        }
    }
    let mut text = String::new();
    for Fault { id, expected, found } in &faults {
        let (expected, found) = (printable(expected), printable(found));
        human::line(
            &mut text,
            format_args!("{BAD}FAIL{BAD:#}  {id}\n        expected  {expected}\n        found     {found}"),
        );
    }
    let (sound, report_sha256) = (faults.is_empty(), sha256(&bytes));
    let conclusion = if sound { format!("{GOOD}SOUND{GOOD:#}") } else { format!("{BAD}UNSOUND{BAD:#}") };
    if !sound {
        let next = "believe nothing in it; prove the commit again with `verify --report FILE`, or ask whoever keeps the original";
        human::line(&mut text, format_args!("        next      {next}"));
    }
    human::line(&mut text, format_args!("{conclusion}: the report of SHA-256 {report_sha256}"));
    let exit_code = if sound { 0 } else { Verdict::Refused.exit_code() };
    let said = Findings { schema: "paired-sdk-gate/audit/v1", exit_code, sound, report_sha256, faults };
    output.object(&(serde_json::to_string_pretty(&said)? + "\n"));
    output.text(&text);
    Ok(exit_code)
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    let name = path.display();
    let file = std::fs::File::open(path).map_err(|error| format!("cannot open {name}: {error}"))?;
    let mut bytes = Vec::new();
    file.take(audit::MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| format!("cannot read {name}: {error}"))?;
    if bytes.len() as u64 > audit::MAX_BYTES {
        Err(format!("{name} is longer than {} bytes", audit::MAX_BYTES))
    } else {
        Ok(bytes)
    }
}
