//! The composite action and the example workflows: what others copy has to be right.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use paired_sdk_gate::digest::sha256;
use serde_json::Value;
use tempfile::TempDir;

use crate::committed::{COMMIT, CONSTANTS, Producer, RECORD, WORKFLOW};
use crate::support::gate::{Outcome, gate};

const ACTION: &str = include_str!("../action.yml");
const SCRIPT: &str = include_str!("../.github/provide");
const GATE: &str = env!("CARGO_BIN_EXE_paired-sdk-gate");
const EXAMPLE: &str = "0123456789abcdef0123456789abcdef01234567";

/// Runs the script as the action does.
fn provide(folder: &Path, binary: &str, digest: &str) -> Output {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/.github/provide");
    let mut bash = Command::new("bash");
    bash.arg(script)
        .env("RUNNER_TEMP", folder)
        .env("GITHUB_PATH", folder.join("path"))
        .env("BINARY", binary)
        .env("SHA256", digest);
    bash.output().unwrap()
}

#[test]
fn the_action_runs_one_script_and_nothing_is_put_together_from_an_input() {
    let action: Value = serde_saphyr::from_str(ACTION).unwrap();
    let steps = action["runs"]["steps"].as_array().unwrap();
    assert_eq!((action["runs"]["using"].as_str(), steps.len()), (Some("composite"), 1));
    assert_eq!(steps[0]["run"], "bash \"$GITHUB_ACTION_PATH/.github/provide\"");
    assert!(steps[0]["uses"].is_null() && !steps[0]["run"].as_str().unwrap().contains("${{"));
    let fetching = ["curl", "wget", "git ", "http", "cargo install", "rustup", "apt-get", "pip install"];
    let found: Vec<_> = fetching.iter().filter(|word| SCRIPT.contains(**word)).collect();
    assert!(found.is_empty() && SCRIPT.contains("cargo build --release --frozen"), "{found:?}");
}

#[test]
fn a_given_program_is_used_only_if_it_is_the_one_named() {
    let folder = TempDir::new().unwrap();
    let digest = sha256(&fs::read(GATE).unwrap());
    let provided = folder.path().join("paired-sdk-gate/bin/paired-sdk-gate");
    let other = sha256(b"other");
    for wrong in ["", "abc", &digest.to_uppercase(), &other] {
        let output = provide(folder.path(), GATE, wrong);
        assert_eq!((output.status.code(), provided.exists()), (Some(1), false), "{wrong}");
        assert!(!folder.path().join("path").exists());
    }
    let output = provide(folder.path(), GATE, &digest);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let path = fs::read_to_string(folder.path().join("path")).unwrap();
    assert_eq!(path, format!("{}\n", provided.parent().unwrap().display()));
    assert_eq!(fs::read(provided).unwrap(), fs::read(GATE).unwrap());
}

#[test]
fn the_examples_are_what_the_program_prints_and_accepts() {
    for (flag, example, file) in
        [("--github", "github.yml", WORKFLOW), ("--gitea", "gitea.yml", ".gitea/workflows/paired-sdk-gate.yml")]
    {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(".github/examples").join(example);
        let committed = fs::read_to_string(&path).unwrap();
        let arguments = ["ci", flag, "--expected-version", "0.0.13", "--expected-commit", EXAMPLE];
        let action = format!("example/paired-sdk-gate@{}", "fedcba98".repeat(5));
        let printed = Outcome::of(gate().args(arguments).args(["--gate-action", &action]));
        assert_eq!(printed.stdout, committed, "write it anew: {arguments:?} --gate-action {action}");
        let producer = Producer::active();
        fs::remove_file(producer.path(WORKFLOW)).unwrap();
        producer.edit(RECORD, COMMIT, EXAMPLE);
        producer.edit(CONSTANTS, COMMIT, EXAMPLE);
        producer.write(file, committed);
        let check = Outcome::of(gate().args(["check", "--producer-root"]).arg(producer.root()));
        assert_eq!(check.code, 0, "{}", check.stdout);
    }
}
