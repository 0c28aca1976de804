//! What the producer's repository commits about the SDK, read and held together: the activation record, the constants that
//! decide at run time, the contract snapshot and the workflows.
//!
//! Nothing of it is run: the Python module and the workflows are parsed. A workflow counts as evidence only if it plainly
//! and unconditionally runs the gate for the record's identity; what cannot be told is no evidence.

mod ci;
mod constants;
mod drift;
mod evidence;
mod gate;
mod install;
mod patch;
mod shell;
mod snapshot;
mod workflow;
mod yaml;

use std::path::{Path, PathBuf};

use crate::activation::{Record, RecordError, State};
use crate::contract::Contract;
use crate::fs::replace::{self, FileError};
use crate::identity::{CommitId, ReleaseVersion};

use constants::Constants;
use evidence::Wanted;
use workflow::Workflow;

pub use ci::{Forge, Pairing};
pub use drift::{Drift, Kind, TABLE};
pub use patch::Patch;

/// The largest workflow, in bytes.
const MAX_WORKFLOW: u64 = 1 << 20;
/// The largest snapshot, in bytes.
const MAX_SNAPSHOT: u64 = 1 << 20;
/// The most workflows in one folder.
const MAX_WORKFLOWS: usize = 500;

/// Where things are, relative to the producer's root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// The activation record.
    pub record: PathBuf,
    /// The module whose constants decide at run time.
    pub constants: PathBuf,
    /// The committed snapshot of the manifest.
    pub snapshot: PathBuf,
    /// The folders of workflows; those that are not there hold none.
    pub workflows: Vec<PathBuf>,
}

impl Default for Places {
    fn default() -> Self {
        Places {
            record: "tests/fixtures/netbox_sdk_bridge_activation.json".into(),
            constants: "netbox_proxbox/api/mcp_bridge.py".into(),
            snapshot: "tests/fixtures/proxbox_bridge_v1.json".into(),
            workflows: vec![".github/workflows".into(), ".gitea/workflows".into()],
        }
    }
}

/// What is committed, as it was read.
#[derive(Debug)]
pub struct Committed {
    contract: &'static Contract,
    record: Option<Record>,
    constants: Option<Constants>,
    workflows: Vec<Workflow>,
    places: Places,
    /// Drifts of single files, whatever the record says.
    found: Vec<Drift>,
}

impl Committed {
    /// Reads everything below `root`. What is missing or malformed is a drift, not an error.
    pub fn read(root: &Path, places: &Places, contract: &'static Contract) -> Committed {
        let mut committed = Committed {
            contract,
            record: None,
            constants: None,
            workflows: Vec::new(),
            places: places.clone(),
            found: Vec::new(),
        };
        committed.read_record(root);
        committed.read_constants(root);
        committed.read_snapshot(root);
        for folder in &places.workflows {
            committed.read_workflows(root, folder);
        }
        committed
    }

    /// The record, if it is one.
    pub fn record(&self) -> Option<&Record> {
        self.record.as_ref()
    }

    /// The constants could be read, so that a patch can set them.
    pub fn has_constants(&self) -> bool {
        self.constants.is_some()
    }

    /// Every contradiction. None means: consistent.
    pub fn drifts(&self) -> Vec<Drift> {
        let mut drifts = self.found.clone();
        let Some(record) = &self.record else { return drifts };
        drifts.extend(self.constants.iter().flat_map(|constants| constants.drifts(record)));
        drifts.extend(match record.state() {
            State::Blocked => self.evidence(None),
            State::Active { version, commit } => self.evidence(Some(&self.wanted(version, *commit))),
        });
        drifts
    }

    /// What stands in the way of activating this identity: all but the constants' values, which come with the patch, and
    /// the record's state.
    pub fn obstacles(&self, version: &ReleaseVersion, commit: CommitId) -> Vec<Drift> {
        let mut drifts = self.found.clone();
        drifts.extend(self.evidence(Some(&self.wanted(version, commit))));
        drifts
    }

    fn wanted(&self, version: &ReleaseVersion, commit: CommitId) -> Wanted {
        let module_origin = self.contract.module_origin.to_owned();
        Wanted { commit: commit.to_string(), version: version.to_string(), module_origin }
    }

    fn evidence(&self, wanted: Option<&Wanted>) -> Vec<Drift> {
        let judged: Vec<_> = self.workflows.iter().map(|workflow| workflow.drifts(wanted)).collect();
        let evidence = judged.iter().any(|(_, evidence)| *evidence);
        let mut drifts: Vec<_> = judged.into_iter().flat_map(|(drifts, _)| drifts).collect();
        if let (Some(wanted), false) = (wanted, evidence) {
            let expected = format!("a workflow that proves version {}, commit {}", wanted.version, wanted.commit);
            let folder = self.places.workflows.first().map(|folder| shown(folder)).unwrap_or_default();
            drifts.push(Drift::new(Kind::WorkflowAbsent, (&folder, None), expected, "none"));
        }
        drifts
    }

    fn read_record(&mut self, root: &Path) {
        let file = shown(&self.places.record);
        let Some(bytes) = self.file(root, &self.places.record.clone(), Record::MAX_BYTES, Kind::RecordMissing) else {
            return;
        };
        match Record::parse(&bytes, self.contract) {
            Ok(record) => self.record = Some(record),
            Err(why) => {
                let line = line_of(&why, &bytes);
                let (expected, found) = ("an activation record", why.to_string());
                self.found.push(Drift::new(Kind::RecordInvalid, (&file, line), expected, found));
            }
        }
    }

    fn read_constants(&mut self, root: &Path) {
        let file = shown(&self.places.constants);
        let Some(bytes) = self.file(root, &self.places.constants.clone(), MAX_WORKFLOW, Kind::ConstantsMissing) else {
            return;
        };
        match Constants::read(&file, bytes) {
            Ok(constants) => self.constants = Some(constants),
            Err(drifts) => self.found.extend(drifts),
        }
    }

    fn read_snapshot(&mut self, root: &Path) {
        let file = shown(&self.places.snapshot);
        if let Some(bytes) = self.file(root, &self.places.snapshot.clone(), MAX_SNAPSHOT, Kind::SnapshotMissing) {
            self.found.extend(snapshot::drifts(&file, &bytes));
        }
    }

    fn read_workflows(&mut self, root: &Path, folder: &Path) {
        let unreadable =
            |why: String| Drift::new(Kind::Unreadable, (&shown(folder), None), "a folder of workflows", why);
        let entries = match std::fs::read_dir(root.join(folder)) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return,
            Err(error) => return self.found.push(unreadable(error.to_string())),
        };
        let mut names = Vec::new();
        for entry in entries {
            match entry {
                Ok(entry) => names.push(entry.file_name()),
                Err(error) => return self.found.push(unreadable(error.to_string())),
            }
        }
        names.retain(|name| Path::new(name).extension().is_some_and(|end| end == "yml" || end == "yaml"));
        names.sort();
        if names.len() > MAX_WORKFLOWS {
            return self.found.push(unreadable(format!("{} where at most {MAX_WORKFLOWS} are read", names.len())));
        }
        for name in names {
            let path = folder.join(name);
            if let Some(bytes) = self.file(root, &path, MAX_WORKFLOW, Kind::Unreadable) {
                self.workflows.push(Workflow::read(&shown(&path), &bytes));
            }
        }
    }

    /// The bytes of a regular file, or what its absence is called.
    fn file(&mut self, root: &Path, path: &Path, max_bytes: u64, missing: Kind) -> Option<Vec<u8>> {
        let error = match replace::read(&root.join(path), max_bytes) {
            Ok(bytes) => return Some(bytes),
            Err(error) => error,
        };
        let drift = |kind, found| Drift::new(kind, (&shown(path), None), "a regular file", found);
        self.found.push(if error.is_not_found() {
            drift(missing, "no such file".into())
        } else {
            Drift { cure: error.hint(), ..drift(Kind::Unreadable, told(&error)) }
        });
        None
    }
}

fn told(error: &FileError) -> String {
    match error {
        FileError::Io { source, .. } => source.to_string(),
        error => error.to_string(),
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// The line of the record that an error is about.
fn line_of(error: &RecordError, bytes: &[u8]) -> Option<usize> {
    let member = match error {
        RecordError::Json { line, .. } => return Some(*line),
        RecordError::Member { member, .. } => member.as_str(),
        RecordError::Identity { member, .. } => member,
    };
    let text = String::from_utf8_lossy(bytes);
    text.lines().position(|line| line.trim_start().starts_with(&format!("\"{member}\""))).map(|at| at + 1)
}
