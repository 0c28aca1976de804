//! Full disks, and disks of their own: what cannot be written is told, and nothing is left half-written.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use paired_sdk_gate::check::{Finding, Status};
use paired_sdk_gate::report::Verdict;
use serde_json::Value;

use crate::activation::BLOCKED;
use crate::support::gate::{Outcome, gate, identified};
use crate::support::mounts;
use crate::support::subject::{Subject, VERSION};

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_record_on_a_full_disk_stays_as_it_is() {
    if !mounts::own("disk::a_record_on_a_full_disk_stays_as_it_is") {
        return;
    }
    // Room for the record's page and no other; then for two pages, in one file.
    for (kib, files, operation) in [(4, 9, "write"), (8, 2, "create")] {
        let dir = tempfile::tempdir().unwrap();
        mounts::mount(dir.path(), kib, files);
        let record = dir.path().join("record.json");
        fs::write(&record, BLOCKED).unwrap();
        let before = fs::metadata(&record).unwrap();
        let outcome = Outcome::of(gate().args(["block", "--reason", "Another.", "--record"]).arg(&record));
        let temporary = dir.path().join(".paired-sdk-gate.tmp");
        let told = format!(
            "error: cannot {operation} the temporary file {temporary:?}: No space left on device (os error 28)\n  \
             next: make room on the file system of the file, then run again\n"
        );
        assert_eq!((outcome.code, outcome.stdout, outcome.stderr), (4, String::new(), told));
        assert_eq!(fs::read_to_string(&record).unwrap(), BLOCKED);
        let after = fs::metadata(&record).unwrap();
        assert_eq!((after.ino(), after.mtime_nsec()), (before.ino(), before.mtime_nsec()));
        assert_eq!(names(dir.path()), ["record.json"]);
    }
}

/// However little room the private folder has, it is never the SDK's fault, and `verify` looks whether anything is left.
#[test]
fn a_temporary_folder_without_room_is_no_evidence_against_the_sdk() {
    if !mounts::own("disk::a_temporary_folder_without_room_is_no_evidence_against_the_sdk") {
        return;
    }
    let subject = Subject::new();
    let (mut told, mut last) = (BTreeSet::new(), Verdict::Unverifiable);
    for kib in [4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 64, 128] {
        mounts::mount(&subject.temporary(), kib, 500);
        let verified = subject.verify();
        last = verified.verdict();
        if last == Verdict::Passed {
            break;
        }
        assert_eq!((last, verified.ids(Status::Failed)), (Verdict::Unverifiable, vec![]), "{kib} KiB");
        for id in verified.ids(Status::Error) {
            let [Finding { actual, hint, .. }] = verified.findings(id) else { panic!("{:#?}", verified.run.ledger) };
            assert!(actual.ends_with(": No space left on device (os error 28)"), "{kib} KiB: {actual}");
            assert_eq!(hint, "make room in the temporary folder, or name another with TMPDIR");
            told.insert(id);
        }
    }
    assert_eq!(last, Verdict::Passed);
    // Three processes furnish their homes at the same time; which of them is short of room, chance decides.
    assert!(told.remove("snapshot.digest"));
    let homeless = BTreeSet::from(["probe.isolated", "probe.transcript", "pair.transcript"]);
    assert!(!told.is_empty() && told.is_subset(&homeless), "{told:?}");
}

#[test]
fn what_was_asked_for_and_cannot_be_written_is_no_yes_and_not_there() {
    if !mounts::own("disk::what_was_asked_for_and_cannot_be_written_is_no_yes_and_not_there") {
        return;
    }
    let subject = Subject::new();
    let (full, out) = (subject.dir.path().join("full"), subject.dir.path().join("out"));
    fs::create_dir(&full).unwrap();
    mounts::mount(&full, 4, 9);
    fs::write(full.join("filler"), [0; 4096]).unwrap();
    let missing = full.join("asked.json");
    let report = subject.dir.path().join("report.json");
    let told = format!(
        "error: cannot write {}: No space left on device (os error 28)\n  \
         next: make room for it if there is none, then run again\n",
        missing.display()
    );

    let mut snapshot = gate();
    snapshot.arg("snapshot").arg("--sdk-root").arg(subject.repo.root()).args(["--expected-commit", &subject.commit]);
    let outcome = Outcome::of(snapshot.arg("--out").arg(&out).args(["--format", "json", "--report"]).arg(&missing));
    assert_eq!((outcome.code, outcome.stdout, outcome.stderr), (3, String::new(), told.clone()));

    // Neither of two files where only one has room.
    let mut verify = identified("verify", subject.repo.root(), &subject.commit, VERSION, "/nowhere");
    verify.arg("--report").arg(&report).arg("--attestation").arg(&missing);
    let outcome = Outcome::of(verify.args(["--format", "json"]));
    assert_eq!((outcome.code, outcome.stdout, outcome.stderr), (3, String::new(), told));
    assert!(!report.exists());
    assert_eq!(names(&full), ["filler"]);
    let left = names(subject.dir.path());
    assert_eq!(left, ["full", "out", "sdk", "tmp", "venv"]);
}

#[test]
fn a_snapshot_goes_to_another_disk_than_the_temporary_folder() {
    if !mounts::own("disk::a_snapshot_goes_to_another_disk_than_the_temporary_folder") {
        return;
    }
    let subject = Subject::new();
    mounts::mount(&subject.temporary(), 64, 99);
    let out = subject.dir.path().join("out");
    assert_ne!(fs::metadata(subject.temporary()).unwrap().dev(), fs::metadata(subject.dir.path()).unwrap().dev());
    let mut snapshot = gate();
    snapshot.arg("snapshot").arg("--sdk-root").arg(subject.repo.root()).args(["--expected-commit", &subject.commit]);
    snapshot.env("TMPDIR", subject.temporary()).arg("--out").arg(&out).args(["--format", "json"]);
    let outcome = Outcome::of(&mut snapshot);
    assert_eq!((outcome.code, &outcome.json()["verdict"]), (0, &Value::from("copied")), "{}", outcome.stderr);
    assert_eq!(names(&out), ["netbox_sdk"]);
    assert_eq!(names(&subject.temporary()), [""; 0]);
}
