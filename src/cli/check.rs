//! `check` and `ci`, and the producer's part in `activate` and `block`.

use std::path::{Path, PathBuf};

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::github::{self, Annotation};
use super::human::{self, BAD, GOOD, printable};
use super::output::{Output, ReportFile};
use crate::activation::{Change, Record, State};
use crate::check::Finding;
use crate::committed::{Committed, Drift, Forge, Pairing, Patch, Places};
use crate::contract::Contract;
use crate::identity::{CommitId, ExpectedIdentity, ReleaseVersion};
use crate::report::Verdict;

#[derive(Debug, Args)]
pub(super) struct Check {
    /// The top of the producer's checkout
    #[arg(long, value_name = "DIR")]
    producer_root: PathBuf,
    /// The activation record, below the producer's root
    #[arg(long, value_name = "FILE", default_value_os_t = Places::default().record)]
    record: PathBuf,
    #[command(flatten)]
    places: PlaceFlags,
}

/// Where things are in the producer's repository.
#[derive(Debug, Args)]
struct PlaceFlags {
    /// The module whose constants decide at run time, below the producer's root
    #[arg(long, value_name = "FILE", default_value_os_t = Places::default().constants)]
    constants: PathBuf,
    /// The committed snapshot of the manifest, below the producer's root
    #[arg(long, value_name = "FILE", default_value_os_t = Places::default().snapshot)]
    snapshot: PathBuf,
    /// A folder of workflows, below the producer's root; may be repeated
    #[arg(long, value_name = "DIR", default_values_os_t = Places::default().workflows)]
    workflows: Vec<PathBuf>,
}

impl PlaceFlags {
    fn places(&self, record: &Path) -> Places {
        Places {
            record: record.to_owned(),
            constants: self.constants.clone(),
            snapshot: self.snapshot.clone(),
            workflows: self.workflows.clone(),
        }
    }
}

/// The producer's repository, for the commands that write its record.
#[derive(Debug, Args)]
#[command(next_help_heading = "Producer")]
pub(super) struct Producer {
    /// The top of the producer's checkout, whose constants and workflows go with the record
    #[arg(long, value_name = "DIR")]
    producer_root: Option<PathBuf>,
    /// Write here, as a patch for `git apply`, what the producer has to commit besides the record
    #[arg(long, value_name = "FILE", requires = "producer_root")]
    patch: Option<PathBuf>,
    #[command(flatten)]
    places: PlaceFlags,
    #[command(flatten)]
    source: Source,
}

/// Where a workflow gets things from.
#[derive(Debug, Args)]
struct Source {
    /// The SDK's repository
    #[arg(long, value_name = "OWNER/NAME", default_value = Pairing::REPOSITORY)]
    sdk_repository: String,
    /// The action that provides the gate; without it the runner has to have the program
    #[arg(long, value_name = "OWNER/NAME@COMMIT")]
    gate_action: Option<String>,
}

impl Source {
    fn pairing<'a>(&'a self, version: &'a ReleaseVersion, commit: CommitId) -> Pairing<'a> {
        Pairing { version, commit, repository: &self.sdk_repository, action: self.gate_action.as_deref() }
    }
}

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("forge").required(true))]
pub(super) struct Ci {
    /// For GitHub Actions
    #[arg(long, group = "forge")]
    github: bool,
    /// For Gitea Actions
    #[arg(long, group = "forge")]
    gitea: bool,
    /// The full commit id: 40 lower-case hexadecimal digits
    #[arg(long, value_name = "SHA")]
    expected_commit: CommitId,
    /// The exact released version that commit declares
    #[arg(long, value_name = "VERSION")]
    expected_version: ReleaseVersion,
    #[command(flatten)]
    source: Source,
}

/// What `check` says.
#[derive(Serialize, JsonSchema)]
pub(super) struct Consistency {
    /// Always `paired-sdk-gate/check/v1`.
    schema: &'static str,
    /// The exit code of the process.
    exit_code: u8,
    /// Nothing contradicts anything.
    consistent: bool,
    /// `blocked` or `active`, if the record is one.
    state: Option<&'static str>,
    /// The version the record exposes.
    version: Option<String>,
    /// The commit the record exposes.
    commit: Option<String>,
    /// Every contradiction.
    drifts: Vec<Drift>,
}

pub(super) fn check(options: &Check, output: &Output) -> anyhow::Result<u8> {
    let contract = Contract::bridge_v1();
    if !options.producer_root.is_dir() {
        let root = options.producer_root.display();
        output
            .error(&format!("cannot look at {root}: it is no folder\n  next: name the top of the producer's checkout"));
        return Ok(Verdict::Unverifiable.exit_code());
    }
    let committed = Committed::read(&options.producer_root, &options.places.places(&options.record), contract);
    let drifts = committed.drifts();
    let verdict = match &drifts[..] {
        [] => Verdict::Passed,
        drifts if drifts.iter().all(Drift::undecided) => Verdict::Unverifiable,
        _ => Verdict::Refused,
    };
    let (state, version, commit) = match committed.record().map(Record::state) {
        None => (None, None, None),
        Some(State::Blocked) => (Some("blocked"), None, None),
        Some(State::Active { version, commit }) => {
            (Some("active"), Some(version.to_string()), Some(commit.to_string()))
        }
    };
    let mut text = if output.quiet() { String::new() } else { told(&drifts) };
    let identity = match (&version, &commit) {
        (Some(version), Some(commit)) => format!(": version {version}, commit {commit}"),
        _ => String::new(),
    };
    let conclusion = match (drifts.len(), state) {
        (0, state) => format!("{GOOD}CONSISTENT{GOOD:#}: {}{identity}", state.unwrap_or_default()),
        (1, _) => format!("{BAD}DRIFT{BAD:#}: 1 contradiction"),
        (count, _) => format!("{BAD}DRIFT{BAD:#}: {count} contradictions"),
    };
    human::line(&mut text, format_args!("{conclusion}"));
    let annotations = drifts.iter().map(|drift| Annotation {
        file: Some(drift.file.clone()),
        line: drift.line,
        title: drift.id.to_owned(),
        message: format!("expected {}, found {}. {}", drift.expected, drift.found, drift.cure),
    });
    if output.github() {
        output.document(&github::annotations(annotations.collect()));
        github::summarise(&format!("### `check`\n\n```text\n{}```\n", anstream::adapter::strip_str(&text)));
    }
    let exit_code = verdict.exit_code();
    let consistent = drifts.is_empty();
    let schema = "paired-sdk-gate/check/v1";
    let said = Consistency { schema, exit_code, consistent, state, version, commit, drifts };
    output.object(&(serde_json::to_string_pretty(&said)? + "\n"));
    output.text(&text);
    Ok(exit_code)
}

fn told(drifts: &[Drift]) -> String {
    let mut text = String::new();
    for Drift { id, file, line, expected, found, cure } in drifts {
        let place = line.map_or(file.clone(), |line| format!("{file}:{line}"));
        human::line(&mut text, format_args!("{BAD}FAIL{BAD:#}  {id}"));
        human::push_finding(&mut text, &Finding::new(place, expected, found, cure));
    }
    text
}

pub(super) fn ci(options: &Ci, output: &Output) -> anyhow::Result<u8> {
    let forge = if options.gitea { Forge::Gitea } else { Forge::Github };
    let pairing = options.source.pairing(&options.expected_version, options.expected_commit);
    output.document(&pairing.workflow(forge, Contract::bridge_v1()));
    Ok(0)
}

impl Producer {
    /// The record's path.
    pub(super) fn record(&self, record: Option<&Path>) -> PathBuf {
        let default = Places::default().record;
        let record = record.unwrap_or(&default);
        self.producer_root.as_ref().map_or(record.to_owned(), |root| root.join(record))
    }

    pub(super) fn open_patch(&self) -> anyhow::Result<ReportFile> {
        ReportFile::open(self.patch.as_deref(), "patch")
    }

    fn committed(&self, record: Option<&Path>, contract: &'static Contract) -> Option<(&Path, Committed)> {
        let root = self.producer_root.as_deref()?;
        let default = Places::default().record;
        Some((root, Committed::read(root, &self.places.places(record.unwrap_or(&default)), contract)))
    }

    /// What the producer commits that stands in the way of activating this identity, told but for the last, which is the finding.
    /// The patch then holds the workflow, if that is missing.
    pub(super) fn obstacles(
        &self,
        record: Option<&Path>,
        identity: &ExpectedIdentity,
        contract: &'static Contract,
        file: &mut ReportFile,
        output: &Output,
    ) -> anyhow::Result<Option<Finding>> {
        let Some((root, committed)) = self.committed(record, contract) else { return Ok(None) };
        let obstacles = committed.obstacles(identity.version(), identity.commit());
        let Some((last, others)) = obstacles.split_last() else { return Ok(None) };
        output.text(&told(others));
        let mut patch = Patch::default();
        if last.id == "workflow.absent" {
            committed.workflow_patch(root, &self.source.pairing(identity.version(), identity.commit()), &mut patch);
        }
        file.finish(patch.text())?;
        let hint = match &self.patch {
            Some(file) if !patch.text().is_empty() => {
                format!("apply it and activate again: `git apply {}`", file.display())
            }
            _ => last.cure.clone(),
        };
        let found = match others.len() {
            0 => last.found.clone(),
            more => format!("{}, and {more} more above", last.found),
        };
        Ok(Some(Finding::new(format!("{} ({})", last.file, last.id), last.expected.clone(), found, hint)))
    }

    /// Leaves in the patch what has to follow a change of the record; what to say of it, last.
    pub(super) fn follow(
        &self,
        record: Option<&Path>,
        change: &Change,
        contract: &'static Contract,
        file: &mut ReportFile,
        output: &Output,
    ) -> anyhow::Result<String> {
        let Some((root, committed)) = self.committed(record, contract) else { return Ok(String::new()) };
        let (before, after) = (Record::parse(&change.before, contract)?, Record::parse(&change.after, contract)?);
        let mut patch = Patch::default();
        committed.constants_patch(&after, &mut patch);
        if *after.state() == State::Blocked {
            committed.workflow_removal(root, &before, self.source.gate_action.as_deref(), &mut patch);
        }
        file.finish(patch.text())?;
        if !committed.has_constants() {
            let root = root.display();
            output.error(&format!(
                "the constants cannot be read, so no patch sets them\n  next: paired-sdk-gate check --producer-root {root}"
            ));
        }
        Ok(match &self.patch {
            Some(_) if patch.text().is_empty() => "nothing else has to change: the patch is empty\n".into(),
            Some(file) => format!("next: git apply {}\n", printable(&file.display().to_string())),
            None if !patch.text().is_empty() => {
                "the producer's constants have to follow: `--patch FILE` writes the change\n".into()
            }
            None => String::new(),
        })
    }
}
