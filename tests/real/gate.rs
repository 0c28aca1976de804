//! The binary, run on a real subject.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use paired_sdk_gate::digest::sha256;
use serde_json::Value;

use crate::support::registry::{self, Subject};

pub const GATE: &str = env!("CARGO_BIN_EXE_paired-sdk-gate");

/// The five identity flags, spelled as the specification spells them; a test changes one to see it matter.
pub struct Identity {
    pub repo: PathBuf,
    pub commit: String,
    pub version: String,
    pub environment: PathBuf,
}

impl Identity {
    /// The identity a subject really has, with an environment made for its version.
    pub fn of(subject: &Subject) -> Self {
        Identity {
            repo: subject.repo.clone(),
            commit: subject.commit.clone(),
            version: subject.version.to_owned(),
            environment: registry::environment(subject.version),
        }
    }

    /// The identity of the shared checkout of a release.
    pub fn released(version: &str) -> Self {
        Identity::of(&registry::subject(version))
    }

    /// Appends the identity and asks for JSON.
    pub fn on(&self, mut command: Command, verb: &str) -> Command {
        command.arg(verb).arg("--sdk-root").arg(&self.repo);
        command.args(["--expected-commit", &self.commit, "--expected-version", &self.version]);
        command.arg("--expected-environment-root").arg(&self.environment);
        command.args(["--expected-module-origin", "netbox_sdk/plugin_bridge.py", "--format", "json"]);
        command
    }

    pub fn verify(&self) -> Run {
        run(&mut self.on(Command::new(GATE), "verify"))
    }

    pub fn activate(&self, record: &Path, more: &[&str]) -> Run {
        run(self.on(Command::new(GATE), "activate").arg("--record").arg(record).args(more))
    }
}

/// What a run said.
pub struct Run {
    pub code: Option<i32>,
    /// The report; null if nothing was printed, as for a usage error.
    pub report: Value,
    pub stderr: String,
}

pub fn run(command: &mut Command) -> Run {
    let output = command.output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    let report = if stdout.is_empty() { Value::Null } else { serde_json::from_str(&stdout).unwrap() };
    let run = Run { code: output.status.code(), report, stderr: String::from_utf8(output.stderr).unwrap() };
    if run.report["schema"] == "paired-sdk-gate/report/v1" {
        assert_eq!(run.report["exit_code"].as_i64(), run.code.map(i64::from), "the report's exit code is the real one");
    }
    run
}

impl Run {
    #[track_caller]
    pub fn assert(&self, code: i32, verdict: &str) -> &Self {
        let found = self.report["verdict"].as_str();
        // What is left of a log is its end: what was found comes last, and alone.
        let checks = self.report["checks"].as_array().into_iter().flatten();
        let unsound: Vec<_> =
            checks.filter(|check| ["failed", "error"].iter().any(|it| check["status"] == *it)).collect();
        assert_eq!(
            (self.code, found),
            (Some(code), Some(verdict)),
            "{}\n{:#}",
            self.stderr,
            serde_json::json!(unsound)
        );
        self
    }

    /// The ids of the checks with that status, in report order.
    pub fn checks(&self, status: &str) -> Vec<&str> {
        let checks = self.report["checks"].as_array().unwrap().iter();
        checks.filter(|check| check["status"] == status).map(|check| check["id"].as_str().unwrap()).collect()
    }

    /// Refused by exactly these checks, with a hint for each finding; `(subject, found)` of each finding of the first.
    #[track_caller]
    pub fn refused_by(&self, ids: &[&str]) -> Vec<(&str, &str)> {
        self.assert(1, "refused");
        assert_eq!(self.checks("failed"), ids, "{:#}", self.report);
        for id in ids {
            assert!(self.findings(id).iter().all(|finding| finding["hint"] != ""), "{id} gives a hint");
        }
        self.told(ids[0])
    }

    /// `(subject, found)` of each finding of one check.
    pub fn told(&self, id: &str) -> Vec<(&str, &str)> {
        let findings = self.findings(id).iter();
        findings.map(|found| (found["subject"].as_str().unwrap(), found["actual"].as_str().unwrap())).collect()
    }

    /// The findings of one check.
    pub fn findings(&self, id: &str) -> &[Value] {
        let checks = self.report["checks"].as_array().unwrap();
        checks.iter().find(|check| check["id"] == id).unwrap()["findings"].as_array().unwrap()
    }
}

/// What `git` says the commit holds below `netbox_sdk/`, and what independent hashing says of the bytes: path → facts.
pub fn committed_package(subject: &Subject) -> BTreeMap<String, (String, u64, String, String)> {
    let listing = git(&subject.repo, ["ls-tree", "-r", "-z", "--full-tree", &subject.commit, "netbox_sdk/"]);
    let entries = listing.split_terminator('\0').map(|entry| {
        let (facts, path) = entry.split_once('\t').unwrap();
        let [mode, "blob", id] = facts.split(' ').collect::<Vec<_>>()[..] else { panic!("{entry}") };
        let bytes = std::fs::read(subject.repo.join(path)).unwrap();
        (path.to_owned(), (mode.to_owned(), bytes.len() as u64, id.to_owned(), sha256(&bytes)))
    });
    entries.collect()
}

pub fn git(repo: &Path, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> String {
    let output = crate::support::git::git_command(repo).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}
