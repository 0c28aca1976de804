//! HEAD, refs, tags and shallow lists.

use std::path::PathBuf;

use paired_sdk_gate::check::Check;
use paired_sdk_gate::graph::History;

use super::{Ask, case, judge};
use crate::support::git::{Repo, git_command};

#[test]
fn head_elsewhere() {
    let case = case();
    let first = case.rev("HEAD~1");
    let judged = judge(&case.repo, &first);
    judged.refuses(Check::GitHead, "HEAD", &case.commit, &format!("git checkout --detach {first}"));
    judged.only(Check::GitHead);
}

#[test]
fn head_in_every_spelling_git_accepts() {
    let case = case();
    let commit = &case.commit;
    let spellings = [
        commit.clone(),
        format!("{commit}\n"),
        format!("{commit}\r\n"),
        commit.to_uppercase(),
        "ref: refs/heads/main\r\n".to_owned(),
        "ref:\trefs/heads/main".to_owned(),
    ];
    for head in spellings {
        case.repo.put(&case.repo.dot_git("HEAD"), &head);
        case.judge().passes();
    }
    let head = case.repo.dot_git("HEAD");
    std::fs::remove_file(&head).unwrap();
    std::os::unix::fs::symlink("refs/heads/main", &head).unwrap();
    case.judge().passes();
}

#[test]
fn head_that_says_nothing() {
    let case = case();
    let wrong = [
        ("ref: refs/heads/none\n", "\"refs/heads/none\", which does not exist"),
        ("", "holds neither an object id nor the name of a ref"),
        ("0123456789\n", "holds neither an object id nor the name of a ref"),
        ("ref: ../../outside\n", "names \"../../outside\", which is no valid ref"),
    ];
    for (head, actual) in wrong {
        case.repo.put(&case.repo.dot_git("HEAD"), head);
        case.judge().refuses(Check::GitHead, "HEAD", actual, "git checkout --detach");
    }
}

#[test]
fn a_chain_of_symbolic_refs() {
    let case = case();
    for step in 1..=5 {
        let next = if step == 5 { "main".to_owned() } else { format!("s{}", step + 1) };
        case.repo.put(&case.repo.dot_git(&format!("refs/heads/s{step}")), format!("ref: refs/heads/{next}\n"));
    }
    case.repo.put(&case.repo.dot_git("HEAD"), "ref: refs/heads/s2\n");
    case.judge().passes();
    case.repo.put(&case.repo.dot_git("HEAD"), "ref: refs/heads/s1\n");
    case.judge().refuses(Check::GitHead, "HEAD", "more than 5 symbolic refs", "git checkout");
    case.repo.put(&case.repo.dot_git("refs/heads/s1"), "ref: refs/heads/s1\n");
    case.judge().refuses(Check::GitHead, "HEAD", "more than 5 symbolic refs", "git checkout");
}

#[test]
fn packed_refs_count_and_loose_ones_win() {
    let case = case();
    case.repo.git(&["pack-refs", "--all"]);
    assert!(!case.repo.dot_git("refs/heads/main").exists());
    case.judge().passes();
    let first = case.rev("HEAD~1");
    case.repo.put(&case.repo.dot_git("refs/heads/main"), &first);
    case.judge().refuses(Check::GitHead, "HEAD", &first, "git checkout");
    case.repo.put(&case.repo.dot_git("refs/heads/main"), &case.commit);
    case.judge().passes();
    std::fs::remove_file(case.repo.dot_git("refs/heads/main")).unwrap();
    case.repo.edit(&case.repo.dot_git("packed-refs"), |bytes| bytes.truncate(bytes.len() - 1));
    case.judge().refuses(Check::GitHead, ".git/packed-refs", "is cut off", "git checkout");
}

#[test]
fn a_ref_that_is_a_fifo_does_not_hang() {
    let case = case();
    let path = case.repo.dot_git("refs/heads/main");
    std::fs::remove_file(&path).unwrap();
    super::fifo(&path);
    case.judge().refuses(Check::GitHead, ".git/refs/heads/main", "not a regular file", "git checkout");
}

#[test]
fn the_id_of_a_tag_or_a_tree() {
    let case = case();
    case.repo.git(&["tag", "-a", "-m", "x", "other"]);
    let (tag, tree) = (case.rev("other"), case.rev("HEAD^{tree}"));
    let hint = format!("`git rev-parse {tag}^{{commit}}`");
    judge(&case.repo, &tag).refuses(Check::GitHead, "--expected-commit", "the id of a tag", &hint);
    judge(&case.repo, &tree).refuses(Check::GitHead, "--expected-commit", "the id of a tree", "git rev-parse HEAD");
    case.repo.git(&["repack", "-adq"]);
    judge(&case.repo, &tag).refuses(Check::GitHead, "--expected-commit", "the id of a tag", &hint);
}

#[test]
fn release_tags_peel_to_the_commit() {
    let case = case();
    let first = case.rev("HEAD~1");
    for name in ["v1.2.3", "1.2.3"] {
        case.repo.git(&["tag", name]);
        case.judge().passes();
        case.repo.git(&["tag", "-f", "-a", "-m", "x", name]);
        case.judge().passes();
        let packed = |repo: &Repo| repo.git(&["pack-refs", "--all"]);
        packed(&case.repo);
        case.judge().passes();
        case.repo.git(&["tag", "-f", "-a", "-m", "x", name, &first]);
        let judged = case.judge();
        let actual = format!("peels to {first}");
        judged.refuses(Check::GitReleaseTag, &format!("refs/tags/{name}"), &actual, "git rev-parse refs/tags/");
        judged.only(Check::GitReleaseTag);
        packed(&case.repo);
        case.judge().refuses(Check::GitReleaseTag, name, &actual, "git rev-parse");
        case.repo.git(&["tag", "-d", name]);
    }
    case.repo.git(&["tag", "v1.2.30", &first]);
    case.judge().passes();
    let gone = "1234567890123456789012345678901234567890";
    case.repo.put(&case.repo.dot_git("refs/tags/v1.2.3"), gone);
    case.judge().refuses(Check::GitReleaseTag, "v1.2.3", "the object is not in the repository", "git rev-parse");
}

/// A clone of the case's repository with these arguments.
fn clone(case: &super::Case, arguments: &[&str]) -> PathBuf {
    let target = case.repo.root().parent().unwrap().join("clone");
    let _ = std::fs::remove_dir_all(&target);
    let url = format!("file://{}", case.repo.root().display());
    let mut command = git_command(case.repo.root());
    case.repo.git(&["config", "uploadpack.allowFilter", "true"]);
    command.args(["clone", "--quiet"]).args(arguments).arg(url).arg(&target);
    assert!(command.status().unwrap().success());
    target
}

#[test]
fn shallow_clones() {
    let case = case();
    let root = clone(&case, &["--depth=1"]);
    let judged = Ask::new(&root, &case.commit).judge();
    let actual = format!("the parents of 1 commits were left out, {}", case.commit);
    judged.cannot_tell(Check::GitHistory, ".git/shallow", &actual, "fetch-depth: 0");
    judged.only(Check::GitHistory);
    let graph = Ask { allow_shallow: true, ..Ask::new(&root, &case.commit) }.judge().passes();
    assert_eq!(graph.source().history, History::Shallow);
    assert_eq!(graph.source().shallow_boundary, std::slice::from_ref(&case.commit));
    assert_eq!(graph.source().commits, 1);
    // Nothing but the list excuses an absent parent.
    std::fs::remove_file(root.join(".git/shallow")).unwrap();
    let first = case.rev("HEAD~1");
    let judged = Ask { allow_shallow: true, ..Ask::new(&root, &case.commit) }.judge();
    judged.refuses(Check::GitObjects, &format!("commit {first}"), "no such object", "git fetch --refetch");
    judged.refuses(Check::GitHistory, &format!("commit {first}"), "no such object", "git fetch --refetch");
    std::fs::write(root.join(".git/shallow"), "none\n").unwrap();
    let judged = Ask { allow_shallow: true, ..Ask::new(&root, &case.commit) }.judge();
    judged.refuses(Check::GitHistory, ".git/shallow", "line 1: is no object id", "clone");
}

#[test]
fn a_boundary_that_cuts_nothing_off_is_none() {
    let case = case();
    let first = case.rev("HEAD~1");
    case.repo.put(&case.repo.dot_git("shallow"), format!("{first}\n{}\n", "1".repeat(40)));
    let graph = case.judge().passes();
    assert_eq!(graph.source().history, History::Complete);
}

#[test]
fn a_partial_clone_lacks_what_was_promised() {
    let case = case();
    let root = clone(&case, &["--filter=blob:none", "--no-checkout"]);
    let judged = Ask::new(&root, &case.commit).judge();
    let blob = format!("blob {}", case.rev("HEAD:pyproject.toml"));
    judged.refuses(Check::GitObjects, &blob, "no such object", "git fetch --refetch");
    judged.refuses(Check::GitObjects, &blob, "no such object", "partial clone");
    judged.only(Check::GitObjects);
}

#[test]
fn grafts_and_replace_refs_are_ignored_and_noted() {
    let case = case();
    let first = case.rev("HEAD~1");
    case.repo.git(&["replace", &case.commit, &first]);
    case.repo.put(&case.repo.dot_git("info/grafts"), format!("{}\n", case.commit));
    let graph = case.judge().passes();
    assert_eq!(graph.source().commits, 2);
    assert_eq!(graph.source().ignored.replace_refs, 1);
    assert!(graph.source().ignored.grafts);
    // A graft is no excuse either.
    std::fs::remove_file(case.repo.loose_path(&first)).unwrap();
    case.judge().refuses(Check::GitObjects, &format!("commit {first}"), "no such object", "git fetch");
}
