//! What `snapshot` leaves: the commit's package byte for byte, or nothing.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use paired_sdk_gate::check::{Check, Stage, Status};
use rustix::process::{Pid, Signal, kill_process};

use crate::support::gate::{Outcome, gate};
use crate::support::git::{Repo, git_command};
use crate::support::half;

/// Every file below a folder: path, whether it is executable, content.
type Files = BTreeMap<String, (bool, Vec<u8>)>;

fn on_disk(root: &Path) -> Files {
    let entries = walkdir::WalkDir::new(root).into_iter().map(Result::unwrap);
    let files = entries.filter(|entry| !entry.file_type().is_dir()).map(|entry| {
        let metadata = entry.metadata().unwrap();
        assert!(metadata.is_file(), "{}", entry.path().display());
        let path = entry.path().strip_prefix(root).unwrap().display().to_string();
        (path, (metadata.permissions().mode() & 0o111 != 0, std::fs::read(entry.path()).unwrap()))
    });
    files.collect()
}

fn committed(repo: &Repo) -> Files {
    let listed = repo.git(&["ls-tree", "-r", "--full-tree", "HEAD", "netbox_sdk/"]);
    let files = listed.lines().map(|line| {
        let (entry, path) = line.split_once('\t').unwrap();
        let fields: Vec<_> = entry.split(' ').collect();
        let content = git_command(repo.root()).args(["cat-file", "blob", fields[2]]).output().unwrap();
        (path.to_owned(), (fields[0] == "100755", content.stdout))
    });
    files.collect()
}

/// A package of all sorts of files, whose attributes would have git change them on their way out.
fn checkout(dir: &Path) -> (Repo, String) {
    let repo = Repo::init(dir.join("sdk"));
    let bytes: Vec<u8> = (0..=255).cycle().take(200_000).collect();
    for (path, content) in [
        ("netbox_sdk/__init__.py", &b"__version__ = \"1.2.3\"\n"[..]),
        ("netbox_sdk/plugin_bridge.py", b"# $Id$\r\none = 1\r\n"),
        ("netbox_sdk/empty", b""),
        ("netbox_sdk/data/bytes.bin", &bytes),
        ("netbox_sdk/data/deep/er/tool", b"#!/bin/sh\n"),
        ("other", b"not of the package\n"),
    ] {
        repo.write(path, content);
    }
    std::fs::set_permissions(repo.root().join("netbox_sdk/data/deep/er/tool"), PermissionsExt::from_mode(0o755))
        .unwrap();
    let commit = repo.commit_all("first");
    repo.write(".git/info/attributes", "* text eol=crlf ident export-ignore export-subst\n");
    (repo, commit)
}

#[test]
fn the_copy_is_the_committed_package_byte_for_byte() {
    let dir = tempfile::tempdir().unwrap();
    let (repo, commit) = checkout(dir.path());
    let out = dir.path().join("out");
    let mut snapshot = gate();
    snapshot
        .arg("snapshot")
        .arg("--sdk-root")
        .arg(repo.root())
        .args(["--expected-commit", &commit])
        .arg("--out")
        .arg(&out);
    let outcome = Outcome::of(&mut snapshot);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    let expected = committed(&repo);
    assert_eq!(expected.len(), 5);
    assert!(on_disk(&out) == expected, "{:?}", on_disk(&out).keys());
}

#[test]
fn an_interrupted_copy_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let (repo, commit) = checkout(dir.path());
    let parent = dir.path().join("parent");
    std::fs::create_dir(&parent).unwrap();
    for last in [Stage::Graph, Stage::Inventory, Stage::Snapshot] {
        let flag = Arc::new(AtomicBool::new(false));
        let interrupt = |stage| flag.store(stage == last, Ordering::Relaxed);
        let (run, copy) = half::interruptible(repo.root(), &commit, &parent, flag.clone(), &interrupt);
        assert!(copy.is_none(), "{last:?}");
        let undecided = run.ledger.entries().iter().find(|entry| entry.status == Status::Error).unwrap();
        assert_eq!(undecided.check.stage(), last);
        assert!(undecided.findings[0].actual.contains("interrupted by a signal"), "{undecided:?}");
        assert_eq!(std::fs::read_dir(&parent).unwrap().count(), 0, "{last:?}");
    }
    let (_, copy) = half::snapshot(repo.root(), &commit, &parent);
    assert!(copy.is_some());
}

/// Also where the committed content ends with a piece of what is read, or is empty.
#[test]
fn nothing_may_follow_the_committed_content_on_disk() {
    let dir = tempfile::tempdir().unwrap();
    let (repo, _) = checkout(dir.path());
    repo.write(".git/info/attributes", "");
    repo.write("netbox_sdk/piece.py", "#".repeat(16 << 10));
    let commit = repo.commit_all("second");
    for (path, size) in [("netbox_sdk/empty", 0), ("netbox_sdk/piece.py", 16 << 10)] {
        let file = repo.root().join(path);
        let content = std::fs::read(&file).unwrap();
        std::fs::write(&file, [&content[..], b"\n"].concat()).unwrap();
        let (run, copy) = half::snapshot(repo.root(), &commit, dir.path());
        assert!(copy.is_none(), "{path}");
        let worktree = run.ledger.entries().iter().find(|row| row.check == Check::PackageWorktree).unwrap();
        let told: Vec<_> = worktree.findings.iter().map(|found| (&*found.subject, &*found.expected)).collect();
        assert_eq!(told, [(path, &*format!("the committed content, {size} bytes"))]);
        std::fs::write(&file, content).unwrap();
    }
}

/// What an SDK would do to its own source if the kernel let it.
#[test]
fn a_copy_that_was_changed_says_where() {
    let dir = tempfile::tempdir().unwrap();
    let (repo, commit) = checkout(dir.path());
    let (_, copy) = half::snapshot(repo.root(), &commit, dir.path());
    let copy = copy.unwrap();
    assert_eq!(copy.changes(), []);
    let package = copy.root().join("netbox_sdk");
    for folder in [&package, &package.join("data/deep/er")] {
        std::fs::set_permissions(folder, PermissionsExt::from_mode(0o700)).unwrap();
    }
    std::fs::remove_file(package.join("plugin_bridge.py")).unwrap();
    std::fs::write(package.join("plugin_bridge.py"), "# $Id$\r\ntwo = 2\r\n").unwrap();
    std::fs::remove_file(package.join("data/deep/er/tool")).unwrap();
    std::fs::write(package.join("more.py"), "").unwrap();
    let changes = copy.changes();
    let mut told: Vec<_> = changes.iter().map(|found| (&*found.subject, &*found.actual)).collect();
    told.sort_unstable();
    let other = format!("sha256 {}", paired_sdk_gate::digest::sha256(b"# $Id$\r\ntwo = 2\r\n"));
    let expected = [
        ("netbox_sdk/data/deep/er/tool", "no such file"),
        ("netbox_sdk/more.py", "a file that appeared"),
        ("netbox_sdk/plugin_bridge.py", &*other),
    ];
    assert_eq!(told, expected);
}

/// The program, stopped by the kernel while its copy was half made, and then interrupted.
#[test]
fn a_signal_during_a_copy_leaves_nothing_of_it() {
    let dir = tempfile::tempdir().unwrap();
    let repo = Repo::init(dir.path().join("sdk"));
    for module in ["__init__", "plugin_bridge"] {
        repo.write(&format!("netbox_sdk/{module}.py"), "__version__ = \"1.2.3\"\n");
    }
    for number in 0..1_500 {
        repo.write(&format!("netbox_sdk/data/{number}"), number.to_string());
    }
    let commit = repo.commit_all("first");
    let parent = dir.path().join("parent");
    std::fs::create_dir(&parent).unwrap();
    let begun = || std::fs::read_dir(&parent).unwrap().count() != 0;
    // A signal that comes too late to stop anything changes nothing: then it is tried again.
    for _ in 0..20 {
        let mut snapshot = gate();
        snapshot.arg("snapshot").arg("--sdk-root").arg(repo.root()).args(["--expected-commit", &commit, "--quiet"]);
        let mut child = snapshot.arg("--out").arg(parent.join("out")).stdout(Stdio::null()).spawn().unwrap();
        let process = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        let mut ended = None;
        while !begun() && ended.is_none() {
            ended = child.try_wait().unwrap();
        }
        if ended.is_none() {
            for signal in [Signal::STOP, Signal::INT, Signal::CONT] {
                kill_process(process, signal).unwrap();
            }
        }
        let code = child.wait().unwrap().code();
        if code == Some(130) {
            assert_eq!(std::fs::read_dir(&parent).unwrap().count(), 0, "neither the copy nor what it was made in");
            return;
        }
        assert_eq!(code, Some(0));
        std::fs::remove_dir_all(parent.join("out")).unwrap();
    }
    panic!("no signal came in time");
}
