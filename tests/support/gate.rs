//! The program under test, run as a caller would: with an environment of its own.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// What a run left.
#[derive(Debug)]
pub struct Outcome {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Outcome {
    pub fn of(command: &mut Command) -> Self {
        let output = command.output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let code = output.status.code().unwrap_or_else(|| panic!("ended by a signal: {output:?}"));
        Outcome { code, stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    /// Standard output as exactly one JSON object.
    #[track_caller]
    pub fn json(&self) -> Value {
        let value: Value = serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"));
        assert!(value.is_object(), "{value}");
        value
    }
}

/// The program with scrubbed surroundings.
pub fn gate() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_paired-sdk-gate"));
    command.env_clear();
    for name in ["PATH", "TMPDIR"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command
}

/// `verify` or `activate` with the five identity flags.
pub fn identified(command: &str, root: &Path, commit: &str, version: &str, environment: impl AsRef<OsStr>) -> Command {
    let mut gate = gate();
    gate.arg(command).arg("--sdk-root").arg(root);
    gate.args(["--expected-commit", commit, "--expected-version", version]);
    gate.arg("--expected-environment-root").arg(environment);
    gate.args(["--expected-module-origin", "netbox_sdk/plugin_bridge.py"]);
    gate
}

/// The findings of one check of a report.
#[track_caller]
pub fn findings<'a>(report: &'a Value, check: &str) -> &'a Vec<Value> {
    let checks = report["checks"].as_array().unwrap();
    let found = checks.iter().find(|entry| entry["id"] == check).unwrap_or_else(|| panic!("no check {check}"));
    found["findings"].as_array().unwrap()
}

/// The ids of all checks with that status, in report order.
pub fn with_status<'a>(report: &'a Value, status: &str) -> Vec<&'a str> {
    let checks = report["checks"].as_array().unwrap();
    checks.iter().filter(|entry| entry["status"] == status).map(|entry| entry["id"].as_str().unwrap()).collect()
}
