//! The published blocked record, made active by the real 0.0.13 and by nothing else.

use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, SystemTime};

use paired_sdk_gate::check::TABLE;
use paired_sdk_gate::digest::sha256;
use tempfile::TempDir;

use super::gate::{GATE, Identity, Run, run};
use crate::support::{mounts, registry};

/// The record that 0.0.13 earns.
fn active() -> String {
    let Identity { commit, .. } = Identity::released("0.0.13");
    let tool = env!("CARGO_PKG_VERSION");
    format!(
        r#"{{
  "schema_version": 1,
  "state": "active",
  "expected_version": "0.0.13",
  "expected_commit": "{commit}",
  "module_origin": "netbox_sdk/plugin_bridge.py",
  "required_contracts": [
    "lossless-json-integer-identity",
    "bounded-rfc3339-normalization"
  ],
  "reason": "paired-sdk-gate {tool} proved that exactly this commit and version honours the required contracts."
}}
"#
    )
}

/// A copy of a record, alone in a folder and long unmodified: any write shows.
struct Copy {
    dir: TempDir,
    path: PathBuf,
}

impl Copy {
    fn of(bytes: &[u8]) -> Self {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("netbox_sdk_bridge_activation.json");
        fs::write(&path, bytes).unwrap();
        let copy = Copy { dir, path };
        copy.age();
        copy
    }

    fn blocked() -> Self {
        Copy::of(&fs::read(registry::blocked_record()).unwrap())
    }

    fn age(&self) {
        let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        File::options().write(true).open(&self.path).unwrap().set_modified(long_ago).unwrap();
    }

    /// Runs `act` and requires that it left the file, its inode and its time alone, and put nothing beside it.
    #[track_caller]
    fn untouched_by(&self, act: impl FnOnce() -> Run) -> Run {
        let state = || {
            let metadata = fs::symlink_metadata(&self.path).unwrap();
            let names: Vec<_> =
                fs::read_dir(self.dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            let facts = (metadata.ino(), metadata.mode(), metadata.mtime(), metadata.mtime_nsec());
            (fs::read(&self.path).unwrap(), facts, names)
        };
        let before = state();
        let run = act();
        assert_eq!(state(), before, "{}", run.stderr);
        run
    }
}

#[test]
fn the_proof_of_0_0_13_makes_the_record_active_with_exactly_its_identity() {
    let record = Copy::blocked();
    let before = sha256(&fs::read(&record.path).unwrap());
    let identity = Identity::released("0.0.13");

    let dry = record.untouched_by(|| identity.activate(&record.path, &["--dry-run"]));
    dry.assert(0, "passed");
    assert_eq!(dry.report["record"]["action"], "would-activate");

    let first = identity.activate(&record.path, &[]);
    first.assert(0, "passed");
    let after = fs::read_to_string(&record.path).unwrap();
    assert_eq!(after, active());
    assert_eq!(first.report["record"]["action"], "activated");
    assert_eq!(first.report["record"]["before_sha256"], before);
    assert_eq!(first.report["record"]["after_sha256"], sha256(after.as_bytes()));

    record.age();
    let second = record.untouched_by(|| identity.activate(&record.path, &[]));
    second.assert(0, "passed");
    assert_eq!(second.report["record"]["action"], "unchanged");
}

#[test]
fn a_record_active_for_one_release_is_not_given_to_another() {
    let record = Copy::of(active().as_bytes());
    let run = record.untouched_by(|| Identity::released("0.0.12").activate(&record.path, &[]));
    run.assert(4, "write-refused");
    assert_eq!(run.checks("not-run").len(), TABLE.len(), "refused before anything is proven");
    assert_eq!(run.report["record"]["action"], "none");
    assert!(run.stderr.contains("paired-sdk-gate block --record"), "{}", run.stderr);
}

#[test]
fn what_is_not_proven_leaves_the_record_blocked() {
    let record = Copy::blocked();
    let refuses = |identity: &Identity, checks: &[&str]| {
        record.untouched_by(|| identity.activate(&record.path, &[])).refused_by(checks);
    };
    let released = || Identity::released("0.0.13");
    let older = Identity::released("0.0.12");

    refuses(&Identity::released("0.0.10"), &["package.module"]);
    refuses(&Identity { commit: older.commit, ..released() }, &["git.head", "git.objects"]);
    refuses(&Identity { version: older.version, ..released() }, &["version.source", "version.project"]);
    let empty = TempDir::new().unwrap();
    refuses(&Identity { environment: empty.path().to_owned(), ..released() }, &["environment.root"]);

    let checkout = registry::scratch();
    let copy = registry::subject("0.0.13").copy_to(&checkout.path().join("sdk"));
    let module = copy.root().join("netbox_sdk/plugin_bridge.py");
    copy.put(&module, fs::read_to_string(&module).unwrap() + "# touched\n");
    refuses(&Identity { repo: copy.root().to_owned(), ..released() }, &["package.worktree"]);
}

#[test]
fn a_malformed_identity_is_a_usage_error_and_leaves_the_record_blocked() {
    let record = Copy::blocked();
    let released = Identity::released("0.0.13");
    for (commit, version) in [
        (&released.commit[..12], "0.0.13"),
        ("main", "0.0.13"),
        (&released.commit, ">=0.0.11"),
        (&released.commit, "main"),
    ] {
        let identity =
            Identity { commit: commit.to_owned(), version: version.to_owned(), ..Identity::released("0.0.13") };
        let run = record.untouched_by(|| identity.activate(&record.path, &[]));
        assert_eq!(run.code, Some(2), "{commit} {version}: {}", run.stderr);
        assert!(run.report.is_null(), "a usage error speaks on stderr alone");
    }
}

#[test]
fn a_record_that_must_not_be_written_is_refused_and_stays() {
    let identity = Identity::released("0.0.13");
    let odd = fs::read_to_string(registry::blocked_record()).unwrap().replace("\"blocked\"", "\"open\"");
    let record = Copy::of(odd.as_bytes());
    record.untouched_by(|| identity.activate(&record.path, &[])).assert(4, "write-refused");

    let record = Copy::blocked();
    let elsewhere = TempDir::new().unwrap();
    let link = elsewhere.path().join("record.json");
    symlink(&record.path, &link).unwrap();
    record.untouched_by(|| identity.activate(&link, &[])).assert(4, "write-refused");
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());

    let missing = elsewhere.path().join("missing.json");
    identity.activate(&missing, &[]).assert(4, "write-refused");
    assert!(!missing.exists());
}

#[test]
fn the_status_of_a_record_is_what_it_says() {
    let status = |record: &Copy| {
        let mut command = Command::new(GATE);
        record.untouched_by(|| run(command.args(["status", "--format", "json", "--record"]).arg(&record.path)))
    };
    for (record, state) in [(Copy::blocked(), "blocked"), (Copy::of(active().as_bytes()), "active")] {
        let run = status(&record);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        assert!(run.report.to_string().contains(&format!("\"{state}\"")), "{}", run.report);
    }
}

#[test]
fn private_folders_may_lie_on_another_disk_than_the_record_which_stays_if_its_own_is_full() {
    if !mounts::own(
        "real::activation::private_folders_may_lie_on_another_disk_than_the_record_which_stays_if_its_own_is_full",
    ) {
        return;
    }
    let dir = registry::scratch();
    let [temporary, full] = ["tmp", "full"].map(|name| dir.path().join(name));
    [&temporary, &full].into_iter().for_each(|folder| fs::create_dir(folder).unwrap());
    mounts::mount(&temporary, 256 << 10, 9999);
    mounts::mount(&full, 4, 9);
    let identity = Identity::released("0.0.13");
    let activate = |record: &PathBuf| {
        let mut activate = identity.on(Command::new(GATE), "activate");
        activate.args(["--generated", "0", "--record"]).arg(record).env("TMPDIR", &temporary);
        let outcome = run(&mut activate);
        assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0);
        outcome
    };

    let record = Copy::blocked();
    let disk = |path: &PathBuf| fs::metadata(path).unwrap().dev();
    assert_ne!(disk(&record.path), disk(&temporary));
    activate(&record.path).assert(0, "passed");
    assert_eq!(fs::read_to_string(&record.path).unwrap(), active());

    // Room for the record and for nothing else.
    let record = full.join("record.json");
    fs::copy(registry::blocked_record(), &record).unwrap();
    let outcome = activate(&record);
    outcome.assert(4, "write-refused");
    assert_eq!(outcome.checks("passed").len(), TABLE.len(), "the proof stands");
    let told = outcome.report["record"]["refused"]["actual"].as_str().unwrap();
    assert!(told.ends_with("No space left on device (os error 28)"), "{told}");
    assert_eq!(fs::read(&record).unwrap(), fs::read(registry::blocked_record()).unwrap());
    assert_eq!(fs::read_dir(&full).unwrap().count(), 1);
}
