//! Where a repository may lie, and what formats are read.

use paired_sdk_gate::check::{Check, Status};

use super::{Ask, case, packed_case};
use crate::support::git::{Repo, git_command};

#[test]
fn no_repository() {
    let temp = tempfile::tempdir().unwrap();
    let commit = "1".repeat(40);
    let judged = Ask::new(temp.path(), &commit).judge();
    judged.cannot_tell(Check::GitRepository, ".git", "nothing called .git", "--sdk-root");
    assert_eq!(judged.ledger.status(Check::GitObjects), Status::NotRun);
}

#[test]
fn a_folder_below_the_top_is_no_root() {
    let case = case();
    let below = case.repo.root().join("netbox_sdk");
    let judged = Ask::new(&below, &case.commit).judge();
    judged.cannot_tell(Check::GitRepository, ".git", "nothing called .git", "--sdk-root");
}

#[test]
fn bare_repositories() {
    let case = case();
    let bare = case.repo.root().parent().unwrap().join("bare.git");
    case.repo.git(&["clone", "--quiet", "--bare", ".", bare.to_str().unwrap()]);
    Ask::new(&bare, &case.commit).judge().cannot_tell(Check::GitRepository, ".git", "a bare repository", "--sdk-root");
    case.repo.git(&["config", "core.bare", "true"]);
    case.judge().cannot_tell(Check::GitRepository, ".git", "a bare repository", "--sdk-root");
}

#[test]
fn a_linked_worktree() {
    let case = case();
    let linked = case.repo.root().parent().unwrap().join("linked");
    let first = case.rev("HEAD~1");
    case.repo.git(&["worktree", "add", "--quiet", "--detach", linked.to_str().unwrap(), &first]);
    Ask::new(&linked, &first).judge().passes();
    Ask::new(&linked, &case.commit).judge().refuses(Check::GitHead, "HEAD", &first, "git checkout");
    // The same through a branch, from packed refs, of a bare repository.
    case.repo.git(&["-C", linked.to_str().unwrap(), "checkout", "--quiet", "-b", "topic"]);
    case.repo.git(&["pack-refs", "--all"]);
    case.repo.git(&["config", "core.bare", "true"]);
    Ask::new(&linked, &first).judge().passes();
    std::fs::write(linked.join(".git"), "gitdir: \n").unwrap();
    let judged = Ask::new(&linked, &first).judge();
    judged.cannot_tell(Check::GitRepository, ".git", "is not one line", "clone again");
}

#[test]
fn a_git_file_and_a_link_to_a_folder() {
    let case = case();
    let (dot_git, moved) = (case.repo.dot_git(""), case.repo.root().join("../moved"));
    std::fs::rename(&dot_git, &moved).unwrap();
    let dot_git = case.repo.root().join(".git");
    std::fs::write(&dot_git, "gitdir: ../moved\n").unwrap();
    case.judge().passes();
    std::fs::remove_file(&dot_git).unwrap();
    std::os::unix::fs::symlink("../moved", &dot_git).unwrap();
    case.judge().passes();
    std::fs::remove_file(&dot_git).unwrap();
    super::fifo(&dot_git);
    case.judge().cannot_tell(Check::GitRepository, ".git", "not a regular file", "clone again");
}

#[test]
fn formats_that_are_not_read() {
    let temp = tempfile::tempdir().unwrap();
    for (option, actual) in [
        ("--object-format=sha256", "extensions.objectformat is \"sha256\""),
        ("--ref-format=reftable", "extensions.refstorage is \"reftable\""),
    ] {
        let root = temp.path().join(&option[2..6]);
        let status = git_command(temp.path()).args(["init", "--quiet", option]).arg(&root).status().unwrap();
        assert!(status.success());
        let commit = "1".repeat(40);
        Ask::new(&root, &commit).judge().cannot_tell(Check::GitRepository, ".git/config", actual, "clone");
    }
    let case = case();
    case.repo.git(&["config", "core.repositoryFormatVersion", "1"]);
    case.judge().passes();
    case.repo.git(&["config", "extensions.worktreeConfig", "true"]);
    case.judge().passes();
    case.repo.git(&["config", "extensions.somethingNew", "true"]);
    case.judge().cannot_tell(Check::GitRepository, ".git/config", "\"extensions.somethingnew\"", "clone");
}

/// Moves the objects of a repository away and leads there by alternates, `depth` steps.
fn lend(repo: &Repo, depth: usize) {
    let base = repo.root().parent().unwrap().to_owned();
    std::fs::rename(repo.dot_git("objects"), base.join("lent0")).unwrap();
    for step in 1..=depth {
        let folder = if step == depth { repo.dot_git("objects") } else { base.join(format!("lent{step}")) };
        std::fs::create_dir_all(folder.join("info")).unwrap();
        let target = base.join(format!("lent{}", step - 1));
        std::fs::write(folder.join("info/alternates"), format!("# comment\n{}\n", target.display())).unwrap();
    }
}

#[test]
fn alternates_as_deep_as_git_goes() {
    for (depth, sound) in [(1, true), (6, true), (7, false)] {
        for case in [case(), packed_case()] {
            lend(&case.repo, depth);
            if sound {
                case.judge().passes();
            } else {
                let subject = format!("commit {}", case.commit);
                case.judge().refuses(Check::GitObjects, &subject, "no such object", "git fetch origin");
            }
        }
    }
}

#[test]
fn alternates_that_loop_or_lead_nowhere() {
    let case = case();
    lend(&case.repo, 1);
    let lent = case.repo.root().join("../lent0/info");
    std::fs::create_dir_all(&lent).unwrap();
    std::fs::write(lent.join("alternates"), "../sdk/.git/objects\n/nonexistent\n.\n").unwrap();
    case.judge().passes();
    // A relative one, quoted.
    case.repo.put(&case.repo.dot_git("objects/info/alternates"), "\"../../../lent0\"\n");
    case.judge().passes();
    case.repo.put(&case.repo.dot_git("objects/info/alternates"), "\"../../../lent0\n");
    case.judge().refuses(Check::GitObjects, ".git/objects/info/alternates", "line 1: is no path", "clone");
}

/// `count` empty folders of objects, named as alternates.
fn lend_empty(case: &super::Case, count: usize) {
    let folders = (0..count).map(|number| case.repo.root().join(format!("../lent{number}")));
    let lines = folders.map(|folder| {
        std::fs::create_dir_all(&folder).unwrap();
        format!("{}\n", folder.display())
    });
    let lines: String = lines.collect();
    case.repo.put(&case.repo.dot_git("objects/info/alternates"), lines);
}

#[test]
fn more_object_folders_than_are_read_is_no_verdict() {
    let case = case();
    lend_empty(&case, 63);
    case.judge().passes();
    lend_empty(&case, 64);
    let actual = "more than 64 folders of objects, the most this gate reads";
    case.judge().cannot_tell(Check::GitObjects, "the object graph", actual, "git repack -ad");
}

#[test]
fn alternates_that_are_a_fifo() {
    let case = case();
    let path = case.repo.dot_git("objects/info/alternates");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    super::fifo(&path);
    case.judge().refuses(Check::GitObjects, ".git/objects/info/alternates", "not a regular file", "clone");
}

#[test]
fn several_packs_and_loose_objects_together() {
    let case = packed_case();
    case.repo.write("new.py", "new\n");
    case.repo.commit_all("third");
    case.repo.git(&["repack", "-dq"]);
    case.repo.write("newer.py", "newer\n");
    let commit = case.repo.commit_all("fourth");
    let graph = super::judge(&case.repo, &commit).passes();
    assert_eq!((graph.source().commits, graph.source().blobs), (4, 5));
}

#[test]
fn caches_are_never_read() {
    let case = packed_case();
    case.repo.git(&["repack", "-adq", "--write-bitmap-index", "--write-midx"]);
    case.repo.git(&["commit-graph", "write", "--reachable"]);
    case.repo.git(&["multi-pack-index", "write"]);
    let ignored = case.judge().passes().source().ignored;
    assert!(ignored.commit_graph && ignored.multi_pack_index);
    let mut spoiled = 0;
    for folder in ["objects/pack", "objects/info"] {
        for entry in std::fs::read_dir(case.repo.dot_git(folder)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if name == "multi-pack-index"
                || name.ends_with("graph")
                || name.ends_with(".bitmap")
                || name.ends_with(".rev")
            {
                case.repo.put(&path, "nonsense");
                spoiled += 1;
            }
        }
    }
    assert!(spoiled >= 3, "{spoiled}");
    case.judge().passes();
}
