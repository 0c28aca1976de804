//! What needs an approval, and so cannot be written outside this crate. The rest is in `tests/activation`.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::*;
use crate::approval::Approval;
use crate::contract::Contract;
use crate::fs::replace::FileError;
use crate::identity::{ExpectedIdentity, ModuleOrigin};

mod crash;
mod race;

const BLOCKED: &str = r#"{
  "schema_version": 1,
  "state": "blocked",
  "expected_version": null,
  "expected_commit": null,
  "module_origin": "netbox_sdk/plugin_bridge.py",
  "required_contracts": [
    "lossless-json-integer-identity",
    "bounded-rfc3339-normalization"
  ],
  "reason": "Nothing was proven yet."
}
"#;

const ONE: &str = "1111111111111111111111111111111111111111";
const TWO: &str = "2222222222222222222222222222222222222222";

fn identity(version: &str, commit: &str) -> ExpectedIdentity {
    let origin = ModuleOrigin::parse("netbox_sdk/plugin_bridge.py", Contract::bridge_v1()).unwrap();
    ExpectedIdentity::new(commit.parse().unwrap(), version.parse().unwrap(), origin, "/venv".into()).unwrap()
}

fn activated(version: &str, commit: &str) -> String {
    let proven = concat!(
        "paired-sdk-gate ",
        env!("CARGO_PKG_VERSION"),
        " proved that exactly this commit and version honours the required contracts."
    );
    BLOCKED
        .replace("\"blocked\"", "\"active\"")
        .replace("version\": null", &format!("version\": \"{version}\""))
        .replace("commit\": null", &format!("commit\": \"{commit}\""))
        .replace("Nothing was proven yet.", proven)
}

fn open(path: &Path) -> Result<Target, RecordFileError> {
    Target::open(path, Contract::bridge_v1())
}

fn activate(path: &Path, version: &str, commit: &str) -> Result<Change, WriteRefused> {
    open(path).unwrap().activate(&Approval::for_tests(identity(version, commit)), false)
}

/// A blocked record in a directory of its own.
fn blocked() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("record.json");
    fs::write(&path, BLOCKED).unwrap();
    (directory, path)
}

/// All that a write can change about a file.
fn state(path: &Path) -> (String, u64, u32, i64, i64) {
    let status = fs::symlink_metadata(path).unwrap();
    (fs::read_to_string(path).unwrap(), status.ino(), status.mode(), status.mtime(), status.mtime_nsec())
}

#[track_caller]
fn assert_alone(directory: &Path) {
    let names: Vec<_> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["record.json"]);
}

#[test]
fn an_approval_makes_a_blocked_record_active_with_exactly_its_identity() {
    let (directory, path) = blocked();
    let change = activate(&path, "0.0.13", ONE).unwrap();
    assert_eq!(change.action, Action::Activated);
    assert_eq!(change.file, "record.json");
    assert_eq!(change.before, BLOCKED.as_bytes());
    assert_eq!(String::from_utf8(change.after).unwrap(), activated("0.0.13", ONE));
    assert_eq!(fs::read_to_string(&path).unwrap(), activated("0.0.13", ONE));
    assert_alone(directory.path());
    let State::Active { version, commit } = read(&path, Contract::bridge_v1()).unwrap().0.state().clone() else {
        panic!("still blocked")
    };
    assert_eq!((version.as_str(), commit.to_string().as_str()), ("0.0.13", ONE));
}

#[test]
fn the_same_identity_again_touches_nothing() {
    let (_directory, path) = blocked();
    // An older gate's reason and somebody's own spacing are no difference in identity.
    let spaced = activated("0.0.13", ONE).replace("paired-sdk-gate ", "another gate, not ").replace("\n  ", " ");
    fs::write(&path, &spaced).unwrap();
    let before = state(&path);
    let change = activate(&path, "0.0.13", ONE).unwrap();
    assert_eq!((change.action, change.diff()), (Action::Unchanged, String::new()));
    assert_eq!((&change.before, &change.after), (&spaced.into_bytes(), &change.before));
    assert_eq!(state(&path), before);
}

#[test]
fn another_identity_is_refused_before_and_after_the_proof() {
    let (_directory, path) = blocked();
    assert!(open(&path).unwrap().admits(&identity("0.0.13", ONE)).is_ok());
    let _ = activate(&path, "0.0.13", ONE).unwrap();
    assert!(open(&path).unwrap().admits(&identity("0.0.13", ONE)).is_ok());
    let before = state(&path);
    // Another commit, another release, and another spelling of the same release.
    for (version, commit) in [("0.0.13", TWO), ("0.0.12", ONE), ("v0.0.13", ONE)] {
        let target = open(&path).unwrap();
        let early = target.admits(&identity(version, commit)).unwrap_err();
        let late = target.activate(&Approval::for_tests(identity(version, commit)), false).unwrap_err();
        let told = format!(
            "{path:?} is active with version 0.0.13, commit {ONE}: \
             another identity than version {version}, commit {commit}"
        );
        assert_eq!((early.to_string(), late.to_string()), (told.clone(), told));
        assert!(early.hint().contains(&format!("paired-sdk-gate block --record {path:?} --reason TEXT")));
        let dry = open(&path).unwrap().activate(&Approval::for_tests(identity(version, commit)), true);
        assert!(matches!(dry, Err(WriteRefused::OtherIdentity { .. })));
        assert_eq!(state(&path), before);
    }
}

#[test]
fn a_dry_run_shows_the_change_and_makes_none() {
    let (directory, path) = blocked();
    let before = state(&path);
    let change = open(&path).unwrap().activate(&Approval::for_tests(identity("0.0.13", ONE)), true).unwrap();
    assert_eq!(change.action, Action::WouldActivate);
    assert_eq!(state(&path), before);
    assert_alone(directory.path());
    let reason = change.diff().lines().find(|line| line.starts_with("+  \"reason\"")).unwrap().to_owned();
    assert_eq!(
        change.diff(),
        format!(
            r#"--- a/record.json
+++ b/record.json
@@ -1,12 +1,12 @@
 {{
   "schema_version": 1,
-  "state": "blocked",
-  "expected_version": null,
-  "expected_commit": null,
+  "state": "active",
+  "expected_version": "0.0.13",
+  "expected_commit": "{ONE}",
   "module_origin": "netbox_sdk/plugin_bridge.py",
   "required_contracts": [
     "lossless-json-integer-identity",
     "bounded-rfc3339-normalization"
   ],
-  "reason": "Nothing was proven yet."
{reason}
 }}
"#
        )
    );
}

#[test]
fn an_approval_under_another_contract_is_not_written_down() {
    let other: &'static Contract = Box::leak(Box::new(Contract::for_tests("other_sdk/bridge.py")));
    let (_directory, path) = blocked();
    fs::write(&path, BLOCKED.replace("netbox_sdk/plugin_bridge.py", other.module_origin)).unwrap();
    let before = state(&path);
    let target = Target::open(&path, other).unwrap();
    let refused = target.activate(&Approval::for_tests(identity("0.0.13", ONE)), false).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "refusing to write what would not be a record: member module_origin: \
         expected \"other_sdk/bridge.py\", found \"netbox_sdk/plugin_bridge.py\""
    );
    assert_eq!(state(&path), before);
}

#[test]
fn a_record_that_changed_during_the_proof_is_not_overwritten() {
    let (directory, path) = blocked();
    let target = open(&path).unwrap();
    fs::write(&path, BLOCKED.replace("yet", "so far")).unwrap();
    let before = state(&path);
    let refused = target.activate(&Approval::for_tests(identity("0.0.13", ONE)), false).unwrap_err();
    assert!(matches!(&refused, WriteRefused::File(FileError::Changed { how: "it holds other bytes", .. })));
    assert_eq!(refused.hint(), "look at what was written, then run again");
    assert_eq!(state(&path), before);
    assert_alone(directory.path());
}
