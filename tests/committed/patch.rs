//! The patches are what `git apply` takes, and lead from one consistent state to the other.

use std::fs;
use std::process::Command;

use paired_sdk_gate::activation::Record;
use paired_sdk_gate::committed::{Pairing, Patch};
use paired_sdk_gate::contract::Contract;

use super::{COMMIT, Producer, RECORD, VERSION, WORKFLOW, told};

#[track_caller]
fn apply(producer: &Producer, patch: &Patch) {
    let file = producer.path("change.patch");
    fs::write(&file, patch.text()).unwrap();
    let mut git = Command::new("git");
    let output = git.args(["apply", "--index", "change.patch"]).current_dir(producer.root()).output().unwrap();
    assert!(output.status.success(), "{}\n{}", String::from_utf8_lossy(&output.stderr), patch.text());
    fs::remove_file(file).unwrap();
}

fn git(producer: &Producer, arguments: &[&str]) {
    let status = Command::new("git").args(arguments).current_dir(producer.root()).status().unwrap();
    assert!(status.success());
}

#[test]
fn the_patches_lead_to_active_and_back() {
    let producer = Producer::blocked();
    git(&producer, &["init", "--quiet"]);
    git(&producer, &["add", "--all"]);
    let before = producer.read(super::CONSTANTS);
    let version = VERSION.parse().unwrap();
    let commit = COMMIT.parse().unwrap();
    let pairing = Pairing { version: &version, commit, repository: Pairing::REPOSITORY, action: None };

    let obstacles: Vec<_> = producer.committed().obstacles(&version, commit).iter().map(|drift| drift.id).collect();
    assert_eq!(obstacles, ["workflow.absent"]);
    let mut patch = Patch::default();
    producer.committed().workflow_patch(producer.root(), &pairing, &mut patch);
    apply(&producer, &patch);
    assert_eq!(told(&producer.committed().obstacles(&version, commit)), [""; 0]);
    assert_eq!(producer.drifts().iter().map(|drift| drift.id).collect::<Vec<_>>(), ["workflow.presented"]);

    // A record with words that need care in Python and in a diff.
    let record = Producer::active().read(RECORD).replace("proven yet.", "\\\"proven\\\" \\\\ — yet.");
    let record = Record::parse(record.as_bytes(), Contract::bridge_v1()).unwrap();
    producer.write(RECORD, record.to_bytes());
    let mut patch = Patch::default();
    producer.committed().constants_patch(&record, &mut patch);
    git(&producer, &["add", "--all"]);
    apply(&producer, &patch);
    assert_eq!(told(&producer.drifts()), [""; 0]);
    let mut nothing = Patch::default();
    producer.committed().constants_patch(&record, &mut nothing);
    producer.committed().workflow_patch(producer.root(), &pairing, &mut nothing);
    assert_eq!(nothing.text(), "");

    let mut back = Patch::default();
    producer.committed().workflow_removal(producer.root(), &record, None, &mut back);
    let blocked = Record::blocked(Contract::bridge_v1(), "Nothing was proven yet.");
    producer.committed().constants_patch(&blocked, &mut back);
    producer.write(RECORD, blocked.to_bytes());
    git(&producer, &["add", "--all"]);
    apply(&producer, &back);
    assert_eq!(told(&producer.drifts()), [""; 0]);
    assert!(!producer.path(WORKFLOW).exists());
    assert_eq!(producer.read(super::CONSTANTS), before, "to the byte");
}
