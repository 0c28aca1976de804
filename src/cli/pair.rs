//! `pair --mcp`: the SDK's MCP server, driven against a producer on loopback.

use std::panic::{AssertUnwindSafe, catch_unwind};

use clap::Args;

use super::INTERNAL_ERROR;
use super::args::{Identity, LimitFlags};
use super::human::{self, BAD, GOOD, UNSURE};
use super::output::Output;
use super::signals::Signals;
use super::verify::{Clock, exit_code};
use crate::check::{Ledger, Status};
use crate::contract::Contract;
use crate::limits::{Budget, Limits};
use crate::pipeline::{self, Evidence, Request, Run};
use crate::report::Verdict;
use crate::report::tools::{Facts, Report, Subject};

#[derive(Debug, Args)]
pub(super) struct Pair {
    /// Drive the SDK's own MCP server, whose extra has to be installed in the environment; `verify` drives the client
    #[arg(long, required = true)]
    mcp: bool,
    #[command(flatten)]
    identity: Identity,
    /// Accept a history that a shallow clone cut off
    #[arg(long)]
    allow_shallow: bool,
    /// Let the differences that released SDKs are known for refuse, too
    #[arg(long)]
    deny_advisories: bool,
    /// Decide nothing unless the kernel confines the server's processes in full
    #[arg(long)]
    require_sandbox: bool,
    #[command(flatten)]
    limits: LimitFlags,
}

pub(super) fn pair(options: &Pair, signals: &Signals, output: &Output) -> anyhow::Result<u8> {
    let (contract, clock) = (Contract::bridge_v1(), Clock::start());
    let identity = options.identity.expected()?;
    let mut file = output.open_report()?;
    let (sdk_root, version) = (&options.identity.sdk_root, Some(identity.version()));
    let budget = Budget::start(Limits::from(&options.limits), signals.interrupt());
    let request = Request {
        allow_shallow: options.allow_shallow,
        require_sandbox: options.require_sandbox,
        deny_advisories: options.deny_advisories,
        ..Request::new(sdk_root, identity.commit(), version, contract, budget)
    };
    let work = || pipeline::tools(&request, &identity, &|stage| output.stage(stage, request.budget.tally()));
    let finished = catch_unwind(AssertUnwindSafe(work));
    let panicked = finished.is_err();
    // What a panic leaves has proven nothing.
    let nothing = || (Run { ledger: Ledger::new(), evidence: Evidence::default() }, None);
    let (run, proven) = finished.unwrap_or_else(|_| nothing());
    let verdict = if proven.is_some() { Verdict::Passed } else { Verdict::without_proof(&run.ledger) };
    let (exit_code, interrupted_by) = exit_code(verdict, signals);
    let facts = clock.facts(&run);
    let facts = Facts {
        started_at: facts.started_at,
        finished_at: facts.finished_at,
        duration_ms: facts.duration_ms,
        stages: facts.stages,
        sdk_root: options.identity.sdk_root.display().to_string(),
        environment_root: identity.environment_root().display().to_string(),
        interrupted_by,
    };
    let subject = Subject {
        commit: identity.commit().to_string(),
        tree: None,
        version: identity.version().to_string(),
        packages: [contract.package, contract.server.package].map(str::to_owned),
        packages_digest: None,
    };
    let exit_code = if panicked { INTERNAL_ERROR } else { exit_code };
    let report = Report::new(&run, verdict, exit_code, subject, facts);
    let text = serde_json::to_string_pretty(&report)? + "\n";
    file.finish(&text)?;
    output.object(&text);
    output.text(&told(&report, output.quiet()));
    if output.github() {
        output.document(&super::github::of_checks(&report.checks, &[], &told(&report, false)));
    }
    Ok(exit_code)
}

fn told(report: &Report, quiet: bool) -> String {
    let mut text = String::new();
    for check in report.checks.iter().filter(|_| !quiet) {
        human::row(&mut text, check.status, check.id, check.claim, &check.findings);
    }
    let Subject { commit, version, packages: [sdk, server], .. } = &report.subject;
    let subject = format!("{server} of {sdk} {version} at {commit}");
    let names = |status: Status| {
        let with = report.checks.iter().filter(|check| check.status == status).map(|check| check.id);
        with.collect::<Vec<_>>().join(", ")
    };
    match report.verdict {
        Verdict::Passed => {
            let count = report.scenarios.len();
            human::line(
                &mut text,
                format_args!("{GOOD}PASSED{GOOD:#}: {subject} ({count} scenarios); no record is written on this alone"),
            );
        }
        Verdict::Refused => {
            human::line(&mut text, format_args!("{BAD}REFUSED{BAD:#}: {subject}; failed: {}", names(Status::Failed)));
        }
        _ => {
            let why = match (&report.run.interrupted_by, names(Status::Error)) {
                (Some(signal), _) => format!("interrupted by {signal}"),
                (None, names) if names.is_empty() => "not every check ran".into(),
                (None, names) => format!("could not decide: {names}"),
            };
            human::line(&mut text, format_args!("{UNSURE}UNVERIFIABLE{UNSURE:#}: {subject}; {why}"));
        }
    }
    text
}
