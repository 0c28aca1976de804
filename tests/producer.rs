//! `check`, `ci`, `explain` and the producer's part in `activate` and `block`, as their callers see them.

use std::path::Path;
use std::process::Command;

use paired_sdk_gate::check::Check;
use paired_sdk_gate::committed;
use serde_json::{Value, json};

use crate::committed::{COMMIT, CONSTANTS, Producer, RECORD, VERSION, WORKFLOW};
use crate::support::gate::{Outcome, gate, identified};

fn check(producer: &Producer, more: &[&str]) -> Outcome {
    Outcome::of(gate().args(["check", "--producer-root"]).arg(producer.root()).args(more))
}

#[track_caller]
fn valid(outcome: &Outcome, document: &str) -> Value {
    let path = format!("{}/fixtures/{document}-v1.schema.json", env!("CARGO_MANIFEST_DIR"));
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let value = outcome.json();
    let errors: Vec<_> =
        jsonschema::validator_for(&schema).unwrap().iter_errors(&value).map(|e| e.to_string()).collect();
    assert_eq!(errors, [""; 0]);
    value
}

#[track_caller]
fn apply(producer: &Producer, patch: &Path) {
    let output = Command::new("git").arg("apply").arg(patch).current_dir(producer.root()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn consistency_is_exit_0_drift_1_and_what_cannot_be_looked_at_3() {
    let blocked = check(&Producer::blocked(), &[]);
    assert_eq!((blocked.code, blocked.stdout.as_str(), blocked.stderr.as_str()), (0, "CONSISTENT: blocked\n", ""));
    let producer = Producer::active();
    let words = format!("CONSISTENT: active: version {VERSION}, commit {COMMIT}\n");
    assert_eq!(check(&producer, &[]).stdout, words);
    let json = check(&producer, &["--format", "json"]);
    assert_eq!(json.stderr, words);
    let expected = json!({"schema": "paired-sdk-gate/check/v1", "exit_code": 0, "consistent": true, "state": "active",
        "version": VERSION, "commit": COMMIT, "drifts": []});
    assert_eq!(valid(&json, "check"), expected);

    producer.edit(CONSTANTS, "\"active\"", "\"blocked\"");
    let drift = check(&producer, &["--format", "json"]);
    assert_eq!(drift.code, 1);
    let said = valid(&drift, "check");
    assert_eq!(said["drifts"].as_array().unwrap().len(), 1);
    assert_eq!(said["drifts"][0]["id"], "constants.state");
    let text = "FAIL  constants.state\n      netbox_proxbox/api/mcp_bridge.py:6\n        \
                expected  MCP_BRIDGE_ACTIVATION_STATE = \"active\", as the record says\n        found     \"blocked\"\n        \
                next      let a patch set it: `activate` or `block` with `--producer-root` and `--patch`\nDRIFT: 1 contradiction\n";
    assert_eq!(check(&producer, &[]).stdout, text);
    assert_eq!(check(&producer, &["--quiet"]).stdout, "DRIFT: 1 contradiction\n");

    let nowhere = Outcome::of(gate().args(["check", "--producer-root", "/nowhere"]));
    assert_eq!((nowhere.code, nowhere.stdout.as_str()), (3, ""));
    let producer = Producer::active();
    std::fs::rename(producer.path(".github"), producer.path("real")).unwrap();
    std::fs::write(producer.path(".github"), "").unwrap();
    std::fs::create_dir(producer.path("w")).unwrap();
    let unreadable = check(&producer, &["--workflows", "real/workflows", "--workflows", ".github", "--format", "json"]);
    assert_eq!(
        (unreadable.code, valid(&unreadable, "check")["drifts"][0]["id"].clone()),
        (3, "file.unreadable".into())
    );
}

#[test]
fn a_forge_gets_annotations_and_a_summary() {
    let producer = Producer::active();
    producer.edit(WORKFLOW, "ref: edad", "ref: '::error::edad");
    producer.edit(WORKFLOW, "b8a\n          path", "b8a'\n          path");
    let summary = producer.path("summary.md");
    let mut command = gate();
    command.args(["check", "--format", "github", "--producer-root"]).arg(producer.root());
    let outcome = Outcome::of(command.env("GITHUB_STEP_SUMMARY", &summary));
    assert_eq!(outcome.code, 1);
    let commands: Vec<_> = outcome.stdout.lines().filter(|line| line.trim_start().starts_with("::")).collect();
    assert_eq!(commands.len(), 2, "{}", outcome.stdout);
    assert!(
        commands[0].starts_with(
            "::error file=.github/workflows/paired-sdk-gate.yml,line=21,title=checkout.ref::expected ref: "
        )
    );
    assert!(std::fs::read_to_string(summary).unwrap().ends_with("DRIFT: 2 contradictions\n```\n"));
}

#[test]
fn the_printed_workflows_are_evidence_on_both_forges() {
    for (flag, file) in [("--github", WORKFLOW), ("--gitea", ".gitea/workflows/paired-sdk-gate.yml")] {
        let producer = Producer::active();
        std::fs::remove_file(producer.path(WORKFLOW)).unwrap();
        let action = format!("example/paired-sdk-gate@{COMMIT}");
        for more in [&[][..], &["--gate-action", &action], &["--sdk-repository", "example/other"]] {
            let mut ci = gate();
            let printed = Outcome::of(
                ci.args(["ci", flag, "--expected-commit", COMMIT, "--expected-version", VERSION]).args(more),
            );
            assert_eq!(printed.code, 0, "{}", printed.stderr);
            producer.write(file, &printed.stdout);
            assert_eq!(check(&producer, &[]).code, 0, "{}", check(&producer, &[]).stdout);
        }
    }
    assert_eq!(Outcome::of(gate().args(["ci", "--expected-commit", COMMIT, "--expected-version", VERSION])).code, 2);
}

#[test]
fn without_the_workflow_nothing_is_activated_and_the_patch_brings_it() {
    let producer = Producer::blocked();
    let patch = producer.path("change.patch");
    let before = producer.read(RECORD);
    let activate = || {
        let mut activate = identified("activate", Path::new("/nowhere"), COMMIT, VERSION, "/nowhere/.venv");
        activate.arg("--producer-root").arg(producer.root()).arg("--patch").arg(&patch).args(["--format", "json"]);
        Outcome::of(&mut activate)
    };
    let refused = activate();
    assert_eq!(refused.code, 4, "{}", refused.stderr);
    let report = refused.json();
    assert!(report["checks"].as_array().unwrap().iter().all(|check| check["status"] == "not-run"), "before any vector");
    let finding = &report["record"]["refused"];
    assert_eq!(
        (&finding["subject"], &finding["actual"]),
        (&".github/workflows (workflow.absent)".into(), &"none".into())
    );
    assert_eq!(finding["hint"], format!("apply it and activate again: `git apply {}`", patch.display()));
    apply(&producer, &patch);
    assert!(producer.read(WORKFLOW).contains(&format!("--expected-commit {COMMIT}")));
    // Now the proof is tried, and there is nothing to prove.
    let report = activate().json();
    assert_eq!(
        (report["verdict"].clone(), report["checks"][0]["status"].clone()),
        ("unverifiable".into(), "error".into())
    );
    assert_eq!(producer.read(RECORD), before);
    // A drift of another kind stands in the way just so.
    producer.edit(WORKFLOW, "--expected-version 0.0.13", "--expected-version 0.0.12");
    assert_eq!(activate().code, 4);
}

#[test]
fn blocking_brings_everything_back() {
    let producer = Producer::active();
    let ci = Outcome::of(gate().args(["ci", "--github", "--expected-commit", COMMIT, "--expected-version", VERSION]));
    producer.write(WORKFLOW, ci.stdout);
    let (patch, record) = (producer.path("change.patch"), producer.read(RECORD));
    let block = |more: &[&str]| {
        let mut block = gate();
        block.args(["block", "--reason", "A wrong \"rounding\" rule.", "--format", "json", "--producer-root"]);
        Outcome::of(block.arg(producer.root()).arg("--patch").arg(&patch).args(more))
    };
    let dry = block(&["--dry-run"]);
    assert_eq!((dry.code, valid(&dry, "status")["action"].clone()), (0, "would-block".into()));
    assert!(dry.stderr.contains("-  \"state\": \"active\",\n") && producer.read(RECORD) == record);
    let said = valid(&block(&[]), "status");
    assert_eq!(
        (&said["action"], &said["state"], &said["commit"]),
        (&"blocked".into(), &"blocked".into(), &Value::Null)
    );
    assert_eq!(check(&producer, &[]).code, 1, "the constants and the workflow still say active");
    apply(&producer, &patch);
    assert_eq!(check(&producer, &[]).stdout, "CONSISTENT: blocked\n");
    assert!(!producer.path(WORKFLOW).exists());
    assert_eq!(valid(&block(&[]), "status")["action"], "unchanged");
    assert_eq!(std::fs::read_to_string(&patch).unwrap(), "");
    let alone =
        Outcome::of(gate().args(["block", "--reason", "x", "--patch", "x", "--record"]).arg(producer.path(RECORD)));
    assert_eq!(alone.code, 2, "a patch needs to know of what");
}

#[test]
fn the_status_says_all_of_it_in_json() {
    let producer = Producer::active();
    let status = || Outcome::of(gate().args(["status", "--format", "json", "--record"]).arg(producer.path(RECORD)));
    let outcome = status();
    assert_eq!((outcome.code, outcome.stderr.clone()), (0, format!("active: version {VERSION}, commit {COMMIT}\n")));
    let said = valid(&outcome, "status");
    let expected = json!({"schema": "paired-sdk-gate/status/v1", "valid": true, "state": "active", "version": VERSION,
        "commit": COMMIT, "module_origin": "netbox_sdk/plugin_bridge.py",
        "required_contracts": ["lossless-json-integer-identity", "bounded-rfc3339-normalization"],
        "reason": "Nothing was proven yet.", "sha256": said["sha256"], "action": null, "error": null, "hint": null});
    assert_eq!(said, expected);
    assert_eq!(said["sha256"].as_str().unwrap(), paired_sdk_gate::digest::sha256(producer.read(RECORD).as_bytes()));
    producer.edit(RECORD, "\"active\"", "\"open\"");
    let outcome = status();
    let said = valid(&outcome, "status");
    assert_eq!((outcome.code, &said["valid"], &said["state"]), (1, &false.into(), &Value::Null));
    assert!(said["hint"].as_str().unwrap().starts_with("bring back the committed record"));
}

#[test]
fn every_check_and_drift_is_explained() {
    let explain = |id: &str| Outcome::of(gate().args(["explain", id]));
    for check in Check::all() {
        let (fails, cure) = check.explanation();
        let told = format!(
            "{} (stage {})\n  proves  {}\n  fails   {fails}\n  cure    {cure}\n",
            check.id(),
            check.stage().name(),
            check.claim()
        );
        assert_eq!(explain(check.id()).stdout, told);
    }
    for kind in committed::TABLE {
        assert!(explain(kind.id()).stdout.starts_with(&format!(
            "{} (drift)\n  means   {}\n",
            kind.id(),
            kind.meaning()
        )));
    }
    let room = "the temporary folder can be written to and has room for what a run makes";
    let cure = "make room there, or name another folder in TMPDIR";
    assert_eq!(explain("host.room").stdout, format!("host.room (doctor)\n  proves  {room}\n  cure    {cure}\n"));
    let all = Outcome::of(gate().arg("explain")).stdout;
    assert_eq!(all.lines().count(), Check::all().count() + committed::TABLE.len() + 1);
    let unknown = explain("git.nothing");
    assert_eq!((unknown.code, unknown.stdout.as_str()), (2, ""));
}

#[test]
fn completions_and_the_manual_know_every_command() {
    let help = Outcome::of(gate().arg("--help")).stdout;
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let commands: Vec<_> = commands
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .map(|line| line.split_whitespace().next().unwrap())
        .collect();
    assert!(commands.len() >= 12, "{commands:?}");
    let manual = Outcome::of(gate().arg("man")).stdout;
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let completions = Outcome::of(gate().args(["completions", shell]));
        assert_eq!(completions.code, 0);
        assert!(commands.iter().all(|command| completions.stdout.contains(command)), "{shell}");
    }
    assert!(
        commands
            .iter()
            .all(|command| manual.contains(&format!("paired\\-sdk\\-gate\\-{}", command.replace('-', "\\-")))),
        "{manual}"
    );
}
