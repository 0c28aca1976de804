//! `doctor`: what a run would stumble over, before one is made.

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::args::{Identity, LimitFlags, release_file};
use super::human::{self, BAD, GOOD, UNSURE};
use super::output::Output;
use super::signals::Signals;
use super::verify::exit_code;
use crate::check::{Check, Entry, Finding, Status};
use crate::contract::Contract;
use crate::inventory::ReleaseFile;
use crate::limits::{Budget, Limits};
use crate::pipeline::{self, Host, Request, Run};
use crate::report::Verdict;

/// The row that no run has, for what a run finds out by writing.
pub(super) const ROOM: &str = "host.room";
pub(super) const ROOM_CLAIM: &str = "the temporary folder can be written to and has room for what a run makes";

#[derive(Debug, Args)]
pub(super) struct Doctor {
    #[command(flatten)]
    identity: Identity,
    /// Accept a history that a shallow clone cut off
    #[arg(long)]
    allow_shallow: bool,
    /// Be content with nothing less than a kernel that confines the SDK's process in full
    #[arg(long)]
    require_sandbox: bool,
    /// Hold what is installed against the wheels here whose digests the commit's uv.lock names
    #[arg(long, value_name = "DIR")]
    wheelhouse: Option<std::path::PathBuf>,
    /// Hold a released wheel (.whl) or sdist (.tar.gz) against the commit
    #[arg(long, value_name = "FILE", value_parser = release_file)]
    release_artifact: Option<ReleaseFile>,
    #[command(flatten)]
    limits: LimitFlags,
}

/// What `doctor` says.
#[derive(Serialize, JsonSchema)]
pub(super) struct Diagnosis {
    /// Always `paired-sdk-gate/doctor/v1`.
    schema: &'static str,
    /// The exit code of the process.
    exit_code: u8,
    /// Nothing that was looked at stands in the way of a run.
    ready: bool,
    /// What was looked at, in the order of the report; `host.room` last.
    checks: Vec<Row>,
    /// What this machine has to offer.
    host: Host,
}

/// One thing that was looked at.
#[derive(Serialize, JsonSchema)]
struct Row {
    /// A check of the report, or `host.room`.
    id: &'static str,
    /// What a pass means.
    claim: &'static str,
    /// How it ended.
    status: Status,
    /// Why it did not pass.
    findings: Vec<Finding>,
}

pub(super) fn doctor(options: &Doctor, signals: &Signals, output: &Output) -> anyhow::Result<u8> {
    let identity = options.identity.expected()?;
    let contract = Contract::bridge_v1();
    let (sdk_root, version) = (&options.identity.sdk_root, Some(identity.version()));
    let budget = Budget::start(Limits::from(&options.limits), signals.interrupt());
    let request = Request {
        allow_shallow: options.allow_shallow,
        require_sandbox: options.require_sandbox,
        wheelhouse: options.wheelhouse.as_deref(),
        release_artifact: options.release_artifact.as_ref(),
        ..Request::new(sdk_root, identity.commit(), version, contract, budget)
    };
    let (run, host) = pipeline::preflight(&request, &identity, &|stage| output.stage(stage, request.budget.tally()));
    let checks = rows(&run, &host);
    let verdict = match &checks {
        checks if checks.iter().any(|row| row.status == Status::Failed) => Verdict::Refused,
        checks if checks.iter().all(|row| row.status == Status::Passed) => Verdict::Passed,
        _ => Verdict::Unverifiable,
    };
    let (exit_code, _) = exit_code(verdict, signals);
    let said =
        Diagnosis { schema: "paired-sdk-gate/doctor/v1", exit_code, ready: verdict == Verdict::Passed, checks, host };
    output.object(&(serde_json::to_string_pretty(&said)? + "\n"));
    output.text(&told(&said, verdict, output.quiet()));
    Ok(exit_code)
}

fn rows(run: &Run, host: &Host) -> Vec<Row> {
    let entry = |check: Check| &run.ledger.entries()[check as usize];
    let row = |Entry { check, status, findings }: &Entry| Row {
        id: check.id(),
        claim: check.claim(),
        status: *status,
        findings: findings.clone(),
    };
    let lacking: Vec<_> = host.temporary.finding().into_iter().collect();
    let status = if lacking.is_empty() { Status::Passed } else { Status::Error };
    let room = Row { id: ROOM, claim: ROOM_CLAIM, status, findings: lacking };
    pipeline::decided().map(entry).map(row).chain([room]).collect()
}

fn told(said: &Diagnosis, verdict: Verdict, quiet: bool) -> String {
    let mut text = String::new();
    for Row { id, claim, status, findings } in said.checks.iter().filter(|_| !quiet) {
        human::row(&mut text, *status, id, claim, findings);
    }
    // What never ran is decided once these are.
    let open = said.checks.iter().filter(|row| matches!(row.status, Status::Failed | Status::Error));
    let open: Vec<_> = open.map(|row| row.id).collect();
    match verdict {
        Verdict::Passed => human::line(&mut text, format_args!("{GOOD}READY{GOOD:#}: nothing of it was run")),
        _ => {
            let style = if verdict == Verdict::Refused { BAD } else { UNSURE };
            human::line(&mut text, format_args!("{style}NOT READY{style:#}: {}", open.join(", ")));
        }
    }
    text
}
