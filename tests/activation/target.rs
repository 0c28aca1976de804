//! The record's file: what may be blocked, read and opened. Activation needs an approval: see the crate's own tests.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use paired_sdk_gate::activation::{Action, RecordFileError, State, Target, WriteRefused, read};
use paired_sdk_gate::contract::Contract;
use tempfile::TempDir;

use super::{ACTIVE, BLOCKED};

fn record(content: &str) -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("record.json");
    fs::write(&path, content).unwrap();
    (directory, path)
}

fn open(path: &Path) -> Result<Target, RecordFileError> {
    Target::open(path, Contract::bridge_v1())
}

fn state(path: &Path) -> (String, u64, u32, i64, i64) {
    let status = fs::symlink_metadata(path).unwrap();
    (fs::read_to_string(path).unwrap(), status.ino(), status.mode(), status.mtime(), status.mtime_nsec())
}

/// What opening says and advises, with `FILE` for the path; the file is as it was.
#[track_caller]
fn refused(path: &Path) -> (String, String) {
    let before = fs::read(path).ok();
    let error = open(path).unwrap_err();
    assert_eq!(fs::read(path).ok(), before);
    let name = format!("{path:?}");
    (error.to_string().replace(&name, "FILE"), error.hint().replace(&name, "FILE"))
}

#[test]
fn any_record_can_be_blocked() {
    for content in [ACTIVE, BLOCKED] {
        let (directory, path) = record(content);
        let change = open(&path).unwrap().block("A wrong rounding rule was found.", false).unwrap();
        let after = BLOCKED.replace("Nothing was proven yet.", "A wrong rounding rule was found.");
        assert_eq!((change.action, change.before.as_slice()), (Action::Blocked, content.as_bytes()));
        assert_eq!(change.after, after.as_bytes());
        assert_eq!(fs::read_to_string(&path).unwrap(), after);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
        let (record, _) = read(&path, Contract::bridge_v1()).unwrap();
        assert_eq!((record.state(), record.reason()), (&State::Blocked, "A wrong rounding rule was found."));
    }
}

#[test]
fn blocking_again_for_the_same_reason_touches_nothing() {
    let (_directory, path) = record(&BLOCKED.replace("\n  ", "\n\t"));
    let before = state(&path);
    let change = open(&path).unwrap().block("Nothing was proven yet.", false).unwrap();
    assert_eq!((change.action, change.before == change.after, change.diff().as_str()), (Action::Unchanged, true, ""));
    assert_eq!(state(&path), before);
}

#[test]
fn a_dry_run_shows_what_blocking_would_do() {
    let (directory, path) = record(ACTIVE);
    let before = state(&path);
    let change = open(&path).unwrap().block("Nothing was proven yet.", true).unwrap();
    assert_eq!((change.action, change.after.as_slice()), (Action::WouldBlock, BLOCKED.as_bytes()));
    let diff = change.diff();
    assert!(diff.starts_with("--- a/record.json\n+++ b/record.json\n@@ -1,12 +1,12 @@\n"), "{diff}");
    let changed: Vec<_> = diff.lines().skip(3).filter(|line| !line.starts_with(' ')).collect();
    assert_eq!(
        changed,
        [
            "-  \"state\": \"active\",",
            "-  \"expected_version\": \"1.0rc1\",",
            "-  \"expected_commit\": \"0123456789abcdef0123456789abcdef01234567\",",
            "+  \"state\": \"blocked\",",
            "+  \"expected_version\": null,",
            "+  \"expected_commit\": null,",
            "-  \"reason\": \"Says \\\"so\\\" — \\\\ in any words.\"",
            "+  \"reason\": \"Nothing was proven yet.\"",
        ]
    );
    assert_eq!(state(&path), before);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[test]
fn a_reason_is_one_line_of_words() {
    let (_directory, path) = record(ACTIVE);
    let before = state(&path);
    let long = "x".repeat(Target::MAX_REASON_CHARS + 1);
    for (reason, found) in [
        ("", "a blank one"),
        (" \t\n", "a blank one"),
        ("two\nlines", "'\\n' at character 4"),
        ("two\u{2028}lines", "'\\u{2028}' at character 4"),
        ("\u{1b}[31mred", "'\\u{1b}' at character 1"),
        ("x\n", "'\\n' at character 2"),
        (" x", "blanks around it"),
        (&long, "501 characters"),
    ] {
        let error = open(&path).unwrap().block(reason, false).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("expected a reason of one line, 1 to 500 characters without blanks around it, found {found}")
        );
        assert!(matches!(error, WriteRefused::Reason { max: 500, .. }));
        assert_eq!(error.hint(), "say in one line why it is blocked: `--reason TEXT`");
    }
    assert_eq!(state(&path), before);
    let longest = "ä".repeat(Target::MAX_REASON_CHARS);
    assert_eq!(open(&path).unwrap().block(&longest, false).unwrap().action, Action::Blocked);
}

#[test]
fn what_is_no_record_is_not_opened_and_the_cure_is_told() {
    let (_directory, path) = record(&BLOCKED.replace("schema_version\": 1", "schema_version\": 2"));
    let told = "FILE is not an activation record: member schema_version: expected the integer 1, found 2";
    let cure = "bring back the committed record: `git checkout HEAD -- FILE`";
    assert_eq!(refused(&path), (told.into(), cure.into()));
    assert_eq!(read(&path, Contract::bridge_v1()).unwrap_err().to_string().replace(&format!("{path:?}"), "FILE"), told);

    fs::write(&path, format!("{BLOCKED}{}", " ".repeat(70_000))).unwrap();
    assert_eq!(refused(&path).0, "expected at most 65536 bytes in FILE, found more");
}

#[test]
fn a_file_that_could_not_be_replaced_is_refused_before_anything_else() {
    let (directory, path) = record(BLOCKED);
    let link = directory.path().join("link.json");
    symlink(&path, &link).unwrap();
    let cure = "give the file itself: `realpath FILE` names it".to_owned();
    assert_eq!(refused(&link), ("expected a regular file at FILE, found a symbolic link".into(), cure));
    fs::remove_file(&link).unwrap();

    let missing = ("cannot inspect FILE".into(), "check the path; `ls -l FILE` shows what is there".into());
    assert_eq!(refused(&link), missing);

    fs::hard_link(&path, &link).unwrap();
    let cure = "give it a name of its own: `cp -p FILE FILE.new && mv FILE.new FILE`".to_owned();
    let told = "expected a single name for FILE, found 2 hard links to the file".to_owned();
    assert_eq!(refused(&path), (told, cure));
    fs::remove_file(&link).unwrap();

    fs::set_permissions(&path, Permissions::from_mode(0o444)).unwrap();
    let told = "expected FILE to be writable, found mode 0444".to_owned();
    assert_eq!(refused(&path), (told, "if it is meant to change: `chmod u+w FILE`".into()));
    // It can be read all the same.
    assert_eq!(read(&path, Contract::bridge_v1()).unwrap().0.state(), &State::Blocked);
    fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();

    fs::set_permissions(directory.path(), Permissions::from_mode(0o555)).unwrap();
    assert!(refused(&path).0.ends_with("to be writable, found mode 0555"));
    fs::set_permissions(directory.path(), Permissions::from_mode(0o700)).unwrap();

    let folder =
        ("expected a regular file at FILE, found a directory".into(), "give the path of the file itself".into());
    assert_eq!(refused(directory.path()), folder);
    assert!(open(&path).is_ok());
}

#[test]
fn digests_are_those_of_the_bytes() {
    // As `sha256sum` computes them.
    let (_directory, path) = record(BLOCKED);
    let target = open(&path).unwrap();
    let before = target.before_sha256();
    assert_eq!(target.record().state(), &State::Blocked);
    let change = target.block("Another reason.", true).unwrap();
    assert_eq!(change.before_sha256(), before);
    assert_eq!(before, "38773cae2d82d16f71ef41f5b24dee77ed1d62ce168cff8151011a9982c3b09c");
    assert_eq!(change.after_sha256(), "f28b97a780b00b3bc6962f420482bb7a3c7c1f1f1820525ae2e6ca36bab12268");
}
