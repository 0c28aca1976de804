//! The published producer, from blocked to active and back, with the real 0.0.13.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use super::gate::{GATE, Identity, Run, run};
use crate::support::{mounts, registry};

/// A copy of the producer's sdist of its own.
struct Producer {
    dir: TempDir,
}

impl Producer {
    fn new() -> Self {
        let dir = registry::scratch();
        let root = dir.path().join("producer");
        registry::run(Command::new("cp").arg("--recursive").arg(registry::producer()).arg(&root));
        Producer { dir }
    }

    fn root(&self) -> std::path::PathBuf {
        self.dir.path().join("producer")
    }

    fn patch(&self) -> std::path::PathBuf {
        self.dir.path().join("change.patch")
    }

    fn check(&self) -> Run {
        run(Command::new(GATE).args(["check", "--format", "json", "--producer-root"]).arg(self.root()))
    }

    fn activate(&self) -> Run {
        run(&mut self.activation(&self.patch()))
    }

    fn activation(&self, patch: &Path) -> Command {
        let mut activate = Identity::released("0.0.13").on(Command::new(GATE), "activate");
        activate.arg("--producer-root").arg(self.root()).arg("--patch").arg(patch);
        activate
    }

    fn apply(&self) {
        self.apply_from(&self.patch());
    }

    fn apply_from(&self, patch: &Path) {
        // The scratch folder lies inside a repository that is not the producer's.
        let mut git = Command::new("git");
        git.arg("apply").arg(patch).current_dir(self.root()).env("GIT_CEILING_DIRECTORIES", self.dir.path());
        registry::run(&mut git);
    }

    /// What the plugin itself would say when it runs.
    fn is_active(&self) -> String {
        let program = "import sys, importlib.util as u\n\
                       s = u.spec_from_file_location('bridge', sys.argv[1]); m = u.module_from_spec(s); s.loader.exec_module(m)\n\
                       print(m.mcp_bridge_is_active())";
        let module = self.root().join("netbox_proxbox/api/mcp_bridge.py");
        let output = Command::new("python3").args(["-I", "-B", "-c", program]).arg(module).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn read(&self, file: impl AsRef<Path>) -> String {
        fs::read_to_string(self.root().join(file)).unwrap()
    }
}

#[test]
fn two_activations_and_two_patches_make_the_published_producer_active_and_one_block_brings_it_back() {
    let producer = Producer::new();
    let check = producer.check();
    assert_eq!(
        (check.code, &check.report["state"], &check.report["consistent"]),
        (Some(0), &"blocked".into(), &true.into()),
        "{:#}",
        check.report
    );
    assert_eq!(producer.is_active(), "False");
    let constants = producer.read("netbox_proxbox/api/mcp_bridge.py");

    let first = producer.activate();
    first.assert(4, "write-refused");
    assert!(first.checks("passed").is_empty(), "refused before any vector");
    producer.apply();
    let second = producer.activate();
    second.assert(0, "passed");
    assert_eq!(second.report["record"]["action"], "activated");
    assert_eq!(producer.check().code, Some(1), "the constants do not say so yet");
    producer.apply();

    let check = producer.check();
    assert_eq!((check.code, &check.report["state"]), (Some(0), &"active".into()), "{:#}", check.report);
    assert_eq!(check.report["commit"], registry::subject("0.0.13").commit);
    assert_eq!(producer.is_active(), "True");
    let third = producer.activate();
    third.assert(0, "passed");
    assert_eq!(
        (third.report["record"]["action"].clone(), fs::read_to_string(producer.patch()).unwrap()),
        ("unchanged".into(), String::new())
    );

    let reason = "No released netbox-sdk version has passed the immutable paired bridge gate yet.";
    let mut block = Command::new(GATE);
    block.args(["block", "--format", "json", "--reason", reason, "--producer-root"]).arg(producer.root());
    assert_eq!(run(block.arg("--patch").arg(producer.patch())).code, Some(0));
    producer.apply();
    let check = producer.check();
    assert_eq!((check.code, &check.report["state"]), (Some(0), &"blocked".into()), "{:#}", check.report);
    assert_eq!(producer.is_active(), "False");
    assert_eq!(producer.read("netbox_proxbox/api/mcp_bridge.py"), constants, "to the byte");
    let record = "tests/fixtures/netbox_sdk_bridge_activation.json";
    assert_eq!(producer.read(record), fs::read_to_string(registry::blocked_record()).unwrap(), "to the byte");
}

#[test]
fn an_activation_whose_patch_has_no_room_is_no_yes_and_the_next_one_leaves_it() {
    if !mounts::own("real::pairing::an_activation_whose_patch_has_no_room_is_no_yes_and_the_next_one_leaves_it") {
        return;
    }
    let producer = Producer::new();
    producer.activate().assert(4, "write-refused");
    producer.apply();
    let (full, report) = (producer.dir.path().join("full"), producer.dir.path().join("report.json"));
    fs::create_dir(&full).unwrap();
    mounts::mount(&full, 4, 9);
    fs::write(full.join("filler"), [0; 4096]).unwrap();
    let patch = full.join("change.patch");
    let mut activation = producer.activation(&patch);
    activation.args(["--generated", "0", "--report"]).arg(&report);

    // The record has changed by then, which the next run says.
    let outcome = run(&mut activation);
    let told = format!(
        "error: cannot write {}: No space left on device (os error 28)\n  \
         next: make room for it if there is none, then run again\n",
        patch.display()
    );
    assert_eq!((outcome.code, outcome.report, outcome.stderr), (Some(3), Value::Null, told));
    assert_eq!((patch.exists(), report.exists(), fs::read_dir(&full).unwrap().count()), (false, false, 1));
    assert!(producer.read("tests/fixtures/netbox_sdk_bridge_activation.json").contains("\"active\""));

    fs::remove_file(full.join("filler")).unwrap();
    let outcome = run(&mut activation);
    outcome.assert(0, "passed");
    assert_eq!(outcome.report["record"]["action"], "unchanged");
    assert!(report.exists());
    producer.apply_from(&patch);
    let check = producer.check();
    assert_eq!((check.code, &check.report["state"]), (Some(0), &"active".into()), "{:#}", check.report);
}
