//! `verify`, `activate` and `snapshot`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context;
use jiff::Timestamp;

use super::args::{Activate, Snapshot, Verify};
use super::output::{Output, ReportFile};
use super::signals::Signals;
use super::{INTERNAL_ERROR, human};
use crate::activation::{Action, Change, Target, WriteRefused};
use crate::approval::Approval;
use crate::check::{Check, Finding, Ledger};
use crate::contract::Contract;
use crate::identity::ExpectedIdentity;
use crate::limits::{Budget, Limits};
use crate::pipeline::{self, Evidence, Request, Run};
use crate::report::Verdict;
use crate::report::attestation::Statement;
use crate::report::v1::{Circumstances, Command, Record, RecordAction, Report, RunFacts, Subject};

pub(super) fn verify(options: &Verify, signals: &Signals, output: &Output) -> anyhow::Result<u8> {
    let mut session = Session::start(options, Contract::bridge_v1(), None, signals, output)?;
    let (run, approval) = session.prove();
    let verdict = if approval.is_some() { Verdict::Passed } else { Verdict::without_proof(&run.ledger) };
    session.finish(&run, Command::Verify, verdict, Record::none())
}

pub(super) fn activate(options: &Activate, signals: &Signals, output: &Output) -> anyhow::Result<u8> {
    let contract = Contract::bridge_v1();
    let producer = &options.producer;
    let path = producer.record(options.record.as_deref());
    let mut patch = producer.open_patch()?;
    let mut session = Session::start(&options.verify, contract, Some(&path), signals, output)?;
    let nothing_ran = Run { ledger: Ledger::new(), evidence: Evidence::default() };
    let target = match Target::open(&path, contract) {
        Ok(target) => target,
        Err(error) => {
            let record = Record { refused: Some(refusal(&path, &error, error.hint())), ..Record::none() };
            return session.finish(&nothing_ran, Command::Activate, Verdict::WriteRefused, record);
        }
    };
    let before = Record { before_sha256: Some(target.before_sha256()), ..Record::none() };
    let before = Record { after_sha256: before.before_sha256.clone(), ..before };
    let refused =
        |error: &WriteRefused| Record { refused: Some(refusal(&path, error, error.hint())), ..before.clone() };
    if let Err(error) = target.admits(&session.identity) {
        return session.finish(&nothing_ran, Command::Activate, Verdict::WriteRefused, refused(&error));
    }
    if let Some(refused) =
        producer.obstacles(options.record.as_deref(), &session.identity, contract, &mut patch, output)?
    {
        let record = Record { refused: Some(refused), ..before.clone() };
        return session.finish(&nothing_ran, Command::Activate, Verdict::WriteRefused, record);
    }
    let (run, approval) = session.prove();
    let Some(approval) = approval else {
        let verdict = Verdict::without_proof(&run.ledger);
        return session.finish(&run, Command::Activate, verdict, before);
    };
    match target.activate(&approval, options.dry_run) {
        Ok(change) => {
            if options.dry_run {
                output.text(&change.diff());
            }
            let next = producer.follow(options.record.as_deref(), &change, contract, &mut patch, output)?;
            let code = session.finish(&run, Command::Activate, Verdict::Passed, written(&change, before))?;
            output.text(&next);
            Ok(code)
        }
        Err(error) => session.finish(&run, Command::Activate, Verdict::WriteRefused, refused(&error)),
    }
}

fn written(change: &Change, before: Record) -> Record {
    let action = match change.action {
        Action::Activated => RecordAction::Activated,
        Action::WouldActivate => RecordAction::WouldActivate,
        Action::Unchanged => RecordAction::Unchanged,
        Action::Blocked | Action::WouldBlock => RecordAction::None,
    };
    let dry = action == RecordAction::WouldActivate;
    let after = if dry { before.before_sha256.clone() } else { Some(change.after_sha256()) };
    Record { action, after_sha256: after, ..before }
}

fn refusal(path: &Path, error: &impl std::error::Error, hint: String) -> Finding {
    Finding::new(path.display().to_string(), "a record that can be activated", human::chain(error), hint)
}

pub(super) fn snapshot(options: &Snapshot, signals: &Signals, output: &Output) -> anyhow::Result<u8> {
    let contract = Contract::bridge_v1();
    let clock = Clock::start();
    let file = output.open_report()?;
    let limits = Limits::from(&options.limits);
    let budget = Budget::start(limits, signals.interrupt());
    // The copy is made beside its target, so that handing it over is one rename.
    let parent = match options.out.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    if std::fs::symlink_metadata(&options.out).is_ok() {
        anyhow::bail!(super::Usage(format!("--out {} already exists; name a new folder", options.out.display())));
    }
    let parent = parent
        .canonicalize()
        .map_err(|error| super::Usage(format!("--out: cannot find the folder {}: {error}", parent.display())))?;
    let (commit, version) = (options.expected_commit, options.expected_version.as_ref());
    let request = Request {
        allow_shallow: options.allow_shallow,
        temporary: parent.clone(),
        ..Request::new(&options.sdk_root, commit, version, contract, budget.clone())
    };
    let (mut run, copy) = pipeline::snapshot(&request, &parent, &|stage| output.stage(stage, request.budget.tally()));
    let handed_over = copy.map(|copy| copy.hand_over(&options.out));
    if let Some(Err(error)) = &handed_over {
        let hint = "name a new folder in one you may write to";
        run.ledger.undecided(Check::SnapshotDigest, Finding::new("--out", "a new folder", error.to_string(), hint));
    }
    let verdict = match handed_over {
        Some(Ok(())) => Verdict::Copied,
        _ => Verdict::without_proof(&run.ledger),
    };
    let subject = Subject {
        commit: options.expected_commit.to_string(),
        tree: None,
        version: options.expected_version.as_ref().map(ToString::to_string),
        module_origin: contract.module_origin.to_owned(),
        package: contract.package.to_owned(),
        package_digest: None,
    };
    let (exit_code, interrupted_by) = exit_code(verdict, signals);
    let facts = RunFacts { sdk_root: options.sdk_root.display().to_string(), interrupted_by, ..clock.facts(&run) };
    let about = Circumstances {
        command: Command::Snapshot,
        verdict,
        exit_code,
        subject,
        contract,
        manifest: contract.manifest(),
        seed: 0,
        generated: 0,
        limits: budget.limits(),
        record: Record::none(),
        run: facts,
    };
    publish(&Report::new(&run, about), file, ReportFile::open(None, "attestation")?, output)
}

pub(super) struct Clock {
    at: Timestamp,
    since: Instant,
}

impl Clock {
    pub(super) fn start() -> Self {
        Clock { at: Timestamp::now(), since: Instant::now() }
    }

    pub(super) fn facts(&self, run: &Run) -> RunFacts {
        let millis = |duration: std::time::Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        RunFacts {
            started_at: self.at.to_string(),
            finished_at: Timestamp::now().to_string(),
            duration_ms: millis(self.since.elapsed()),
            stages: run.evidence.durations.iter().map(|(stage, took)| (stage.name(), millis(*took))).collect(),
            base_prefix: run.evidence.behaviour.interpreter.as_ref().map(|found| found.base_prefix.clone()),
            ..RunFacts::default()
        }
    }
}

pub(super) fn exit_code(verdict: Verdict, signals: &Signals) -> (u8, Option<String>) {
    // A signal that came too late to stop anything changes nothing.
    match signals.seen() {
        Some((name, code)) if verdict == Verdict::Unverifiable => (code, Some(name.to_owned())),
        _ => (verdict.exit_code(), None),
    }
}

/// Files first, and none before all are written: standard output must not say yes where one is missing.
fn publish(report: &Report, mut file: ReportFile, mut attestation: ReportFile, output: &Output) -> anyhow::Result<u8> {
    let text = report.to_json().context("cannot write the report")?;
    file.fill(&text)?;
    if attestation.is_wanted() {
        attestation.fill(&(serde_json::to_string_pretty(&Statement::new(report, &text))? + "\n"))?;
    }
    file.persist()?;
    attestation.persist()?;
    output.object(&text);
    output.text(&human::report(report, output.quiet()));
    if output.github() {
        output.document(&super::github::report(report));
    }
    Ok(report.exit_code)
}

/// Bytes of the largest manifest that is read: the producer's has a few thousand.
const LARGEST_MANIFEST: u64 = 1 << 20;

fn manifest(path: &Path) -> anyhow::Result<String> {
    let refuse = |why: String| super::Usage(format!("--manifest {}: {why}", path.display()));
    let file = crate::fs::read_file(path, LARGEST_MANIFEST).map_err(|error| refuse(error.to_string()))?;
    if file.exceeds {
        anyhow::bail!(refuse(format!("more than {LARGEST_MANIFEST} bytes")));
    }
    Ok(String::from_utf8(file.bytes).map_err(|error| refuse(error.to_string()))?)
}

/// One run of the whole pipeline, from its arguments to its report.
struct Session<'a> {
    options: &'a Verify,
    identity: ExpectedIdentity,
    contract: &'a Contract,
    record: Option<&'a Path>,
    manifest: Option<String>,
    seed: u64,
    budget: Budget,
    signals: &'a Signals,
    output: &'a Output,
    report: ReportFile,
    attestation: ReportFile,
    clock: Clock,
    panicked: bool,
}

impl<'a> Session<'a> {
    fn start(
        options: &'a Verify,
        contract: &'a Contract,
        record: Option<&'a Path>,
        signals: &'a Signals,
        output: &'a Output,
    ) -> anyhow::Result<Self> {
        let seed = match options.seed {
            Some(seed) => seed,
            None => getrandom::u64().map_err(|error| anyhow::anyhow!("cannot draw a seed: {error}"))?,
        };
        let manifest = options.manifest.as_deref().map(manifest).transpose()?;
        Ok(Session {
            manifest,
            identity: options.identity.expected()?,
            budget: Budget::start(Limits::from(&options.limits), signals.interrupt()),
            report: output.open_report()?,
            attestation: ReportFile::open(options.attestation.as_deref(), "attestation")?,
            clock: Clock::start(),
            panicked: false,
            options,
            contract,
            record,
            seed,
            signals,
            output,
        })
    }

    /// Runs the pipeline. A panic in it is an internal error, and what it leaves has proven nothing.
    fn prove(&mut self) -> (Run, Option<Approval>) {
        let request = Request {
            sdk_root: &self.options.identity.sdk_root,
            commit: self.identity.commit(),
            version: Some(self.identity.version()),
            contract: self.contract,
            allow_shallow: self.options.allow_shallow,
            manifest: self.manifest.as_deref(),
            seed: self.seed,
            generated: self.options.generated,
            require_sandbox: self.options.require_sandbox,
            deny_advisories: self.options.deny_advisories,
            wheelhouse: self.options.wheelhouse.as_deref(),
            release_artifact: self.options.release_artifact.as_ref(),
            temporary: std::env::temp_dir(),
            budget: self.budget.clone(),
        };
        let work =
            || pipeline::verify(&request, &self.identity, &|stage| self.output.stage(stage, request.budget.tally()));
        catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
            self.panicked = true;
            (Run { ledger: Ledger::new(), evidence: Evidence::default() }, None)
        })
    }

    /// Writes the report and the text; the exit code.
    fn finish(self, run: &Run, command: Command, verdict: Verdict, record: Record) -> anyhow::Result<u8> {
        let (exit_code, interrupted_by) = exit_code(verdict, self.signals);
        let exit_code = if self.panicked { INTERNAL_ERROR } else { exit_code };
        let facts = RunFacts {
            sdk_root: self.options.identity.sdk_root.display().to_string(),
            environment_root: Some(self.identity.environment_root().display().to_string()),
            record: self.record.map(|path| path.display().to_string()),
            release_artifact: self.options.release_artifact.as_ref().map(|file| file.path().display().to_string()),
            interrupted_by,
            ..self.clock.facts(run)
        };
        let subject = Subject {
            commit: self.identity.commit().to_string(),
            tree: None,
            version: Some(self.identity.version().to_string()),
            module_origin: self.identity.module_origin().to_string(),
            package: self.contract.package.to_owned(),
            package_digest: None,
        };
        let about = Circumstances {
            command,
            verdict,
            exit_code,
            subject,
            contract: self.contract,
            manifest: self.manifest.as_deref().unwrap_or_else(|| self.contract.manifest()),
            seed: self.seed,
            generated: self.options.generated,
            limits: self.budget.limits(),
            record,
            run: facts,
        };
        publish(&Report::new(run, about), self.report, self.attestation, self.output)
    }
}
