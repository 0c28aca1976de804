//! `demo`: the whole gate on an embedded SDK, in a real repository and a real virtual environment, both temporary.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context;
use gix::objs::tree::{Entry, EntryKind};
use serde::Serialize;

use super::human::{BAD, GOOD};
use super::output::Output;
use super::signals::Signals;
use crate::activation::Target;
use crate::check::Status;
use crate::contract::{Contract, DEMO_SDK, DEMO_VERSION, DEMO_WRONG_ROUNDING};
use crate::environment::OLDEST_PYTHON;
use crate::fs::private_folder;
use crate::identity::{CommitId, ExpectedIdentity, ModuleOrigin};
use crate::limits::{Budget, Limits};
use crate::pipeline::{self, Request};
use crate::report::Verdict;

const BRIDGE: &str = "netbox_sdk/plugin_bridge.py";
const INIT: &str = "netbox_sdk/__init__.py";

/// One thing that is tried, and how it must end.
struct Case {
    name: &'static str,
    /// What is committed differently: in this file, this text for that one.
    committed: Option<(&'static str, &'static str, &'static str)>,
    /// A file of the working tree and what is appended to it after the commit.
    appended: Option<(&'static str, &'static str)>,
    /// The check that must refuse; without one the SDK must be accepted.
    refused_by: Option<&'static str>,
}

const CASES: [Case; 5] = [
    Case { name: "as committed", committed: None, appended: None, refused_by: None },
    Case {
        name: "a file changed on disk",
        committed: None,
        appended: Some((BRIDGE, "\n# one line more\n")),
        refused_by: Some("package.worktree"),
    },
    Case {
        name: "an untracked module",
        committed: None,
        appended: Some(("netbox_sdk/helper.py", "answer = 42\n")),
        refused_by: Some("package.worktree"),
    },
    Case {
        name: "another version than expected",
        committed: Some((INIT, DEMO_VERSION, "1.0.1")),
        appended: None,
        refused_by: Some("version.source"),
    },
    Case {
        name: "endpoint ids rounded",
        committed: Some((BRIDGE, DEMO_WRONG_ROUNDING.0, DEMO_WRONG_ROUNDING.1)),
        appended: None,
        refused_by: Some("vectors.integer"),
    },
];

/// How a case ended, also as JSON.
#[derive(Serialize)]
struct Outcome {
    name: &'static str,
    verdict: Verdict,
    failed: Vec<&'static str>,
    vectors: usize,
    record: &'static str,
    as_expected: bool,
}

#[derive(Serialize)]
struct Summary {
    schema: &'static str,
    cases: Vec<Outcome>,
}

pub(super) fn demo(signals: &Signals, output: &Output) -> anyhow::Result<u8> {
    let folder = private_folder(&std::env::temp_dir())?;
    let environment = folder.path().join("venv");
    make_environment(&environment)?;
    let mut cases = Vec::new();
    for (number, case) in CASES.iter().enumerate() {
        let place = folder.path().join(number.to_string());
        let outcome =
            run(case, &place, &environment, signals, output).with_context(|| format!("demo: {}", case.name))?;
        if let Some((_, code)) = signals.seen() {
            return Ok(code);
        }
        output.text(&describe(&outcome));
        cases.push(outcome);
    }
    let right = cases.iter().all(|outcome| outcome.as_expected);
    let summary = Summary { schema: "paired-sdk-gate/demo/v1", cases };
    output.object(&(serde_json::to_string_pretty(&summary)? + "\n"));
    let last = if right {
        format!("{GOOD}PASSED{GOOD:#}: one SDK accepted, four refused\n")
    } else {
        format!("{BAD}REFUSED{BAD:#}: not every case ended as it must\n")
    };
    output.text(&last);
    Ok(if right { 0 } else { Verdict::Refused.exit_code() })
}

fn describe(outcome: &Outcome) -> String {
    let verdict = if outcome.verdict == Verdict::Passed { "accepted" } else { "refused " };
    let why = match outcome.failed.as_slice() {
        [] => format!("every check passed, {} vectors, two probes", outcome.vectors),
        failed => format!("by {}", failed.join(", ")),
    };
    let unexpected = if outcome.as_expected { "" } else { " (not what was expected)" };
    format!("{verdict}  {:<30} {why}; record {}{unexpected}\n", outcome.name, outcome.record)
}

fn run(case: &Case, place: &Path, environment: &Path, signals: &Signals, output: &Output) -> anyhow::Result<Outcome> {
    let contract = Contract::demo();
    let root = place.join("sdk");
    let files = DEMO_SDK.iter().map(|&(path, text)| {
        let text = match case.committed {
            Some((changed, from, to)) if changed == path => text.replace(from, to),
            _ => text.to_owned(),
        };
        (path, text)
    });
    let commit = make_repository(&root, &files.collect())?;
    if let Some((path, text)) = case.appended {
        let path = root.join(path);
        let before = std::fs::read_to_string(&path).unwrap_or_default();
        std::fs::write(&path, before + text)?;
    }
    let record = place.join("netbox_sdk_bridge_activation.json");
    let blocked = crate::activation::Record::blocked(contract, "The demo has not verified this SDK yet.").to_bytes();
    std::fs::write(&record, &blocked)?;

    let identity = ExpectedIdentity::new(
        commit,
        DEMO_VERSION.parse()?,
        ModuleOrigin::parse(contract.module_origin, contract)?,
        environment.to_owned(),
    )?;
    let budget = Budget::start(Limits::default(), signals.interrupt());
    let request = Request::new(&root, commit, Some(identity.version()), contract, budget);
    let (run, approval) = pipeline::verify(&request, &identity, &|stage| output.stage(stage, request.budget.tally()));
    let verdict = match &approval {
        Some(approval) => {
            let _change = Target::open(&record, contract)?.activate(approval, false)?;
            Verdict::Passed
        }
        None => Verdict::without_proof(&run.ledger),
    };
    let failed = run.ledger.entries().iter().filter(|entry| entry.status == Status::Failed);
    let failed: Vec<_> = failed.map(|entry| entry.check.id()).collect();
    let untouched = std::fs::read(&record)? == blocked;
    let as_expected = match case.refused_by {
        None => verdict == Verdict::Passed && !untouched,
        Some(check) => verdict == Verdict::Refused && failed.contains(&check) && untouched,
    };
    Ok(Outcome {
        name: case.name,
        verdict,
        failed,
        vectors: run.evidence.behaviour.observations.len(),
        record: if untouched { "untouched" } else { "active" },
        as_expected,
    })
}

/// A repository with one commit of these files, checked out.
fn make_repository(root: &Path, files: &BTreeMap<&str, String>) -> anyhow::Result<CommitId> {
    std::fs::create_dir_all(root)?;
    let kind = gix::create::Kind::WithWorktree;
    let repository = gix::ThreadSafeRepository::init_opts(
        root,
        kind,
        gix::create::Options::default(),
        gix::open::Options::isolated(),
    )
    .map_err(|error| anyhow::anyhow!("cannot make a repository: {error}"))?
    .to_thread_local();
    let lost = |error: gix::Error| anyhow::anyhow!("cannot write to the repository: {error}");
    // One level of folders is all the demo SDK has.
    let mut folders: BTreeMap<&str, Vec<Entry>> = BTreeMap::new();
    for (path, text) in files {
        let file = root.join(path);
        std::fs::create_dir_all(file.parent().unwrap_or(root))?;
        std::fs::write(&file, text)?;
        let oid = repository.write_blob(text).map_err(lost)?.detach();
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let entry = Entry { mode: EntryKind::Blob.into(), filename: name.into(), oid };
        folders.entry(folder).or_default().push(entry);
    }
    let mut top = folders.remove("").unwrap_or_default();
    for (folder, mut entries) in folders {
        entries.sort();
        let oid = repository.write_object(gix::objs::Tree { entries }).map_err(lost)?.detach();
        top.push(Entry { mode: EntryKind::Tree.into(), filename: folder.into(), oid });
    }
    top.sort();
    let tree = repository.write_object(gix::objs::Tree { entries: top }).map_err(lost)?.detach();
    let who =
        gix::actor::SignatureRef { name: "Demo".into(), email: "demo@example.com".into(), time: "1700000000 +0000" };
    let commit = repository.commit_as(who, who, "HEAD", "The demo SDK", tree, gix::commit::NO_PARENT_IDS);
    Ok(commit.map_err(lost)?.to_string().parse()?)
}

/// A virtual environment without anything installed.
fn make_environment(root: &Path) -> anyhow::Result<()> {
    let python = find_python()?;
    let made = Command::new(&python)
        .args(["-I", "-m", "venv", "--without-pip"])
        .arg(root)
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start {}", python.display()))?;
    anyhow::ensure!(
        made.status.success(),
        "`{} -m venv` failed: {} (on Debian: `apt-get install python3-venv`)",
        python.display(),
        String::from_utf8_lossy(&made.stderr).trim()
    );
    Ok(())
}

/// The first Python on `PATH` that is recent enough.
fn find_python() -> anyhow::Result<PathBuf> {
    let (major, minor) = OLDEST_PYTHON;
    let question = format!("import sys; sys.exit(sys.version_info[:2] < ({major}, {minor}))");
    let names =
        std::iter::once("python3".to_owned()).chain((minor..minor + 5).rev().map(|minor| format!("python3.{minor}")));
    for name in names {
        let mut command = Command::new(&name);
        command.args(["-I", "-S", "-c", &question]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        if command.status().is_ok_and(|status| status.success()) {
            return Ok(name.into());
        }
    }
    anyhow::bail!("no Python {major}.{minor} or later on PATH; install one (on Debian: `apt-get install python3-venv`)")
}
