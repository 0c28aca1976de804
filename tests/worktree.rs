//! Ways in which the disk differs from the commit: each is told by its cause, and the commands that come with it cure it.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use paired_sdk_gate::check::{Check, Finding};

use crate::support::git::{Repo, git_command};
use crate::support::half;

const BRIDGE: &str = "netbox_sdk/plugin_bridge.py";

struct Checkout {
    dir: tempfile::TempDir,
    repo: Repo,
}

impl Checkout {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let repo = Repo::init(dir.path().join("sdk"));
        repo.write("netbox_sdk/__init__.py", "__version__ = \"1.2.3\"\n");
        repo.write(BRIDGE, "# $Id$\none = 1\n");
        repo.write("netbox_sdk/data/words.txt", "a\nb\n");
        repo.write("netbox_sdk/data/more/words.txt", "c\n");
        repo.write("other/file", "x\n");
        repo.commit_all("first");
        Checkout { dir, repo }
    }

    /// What differs; None if nothing does, and nothing else is wrong.
    #[track_caller]
    fn differences(&self) -> Option<Vec<Finding>> {
        let (copied, findings) = self.compare();
        assert_eq!(copied, findings.is_empty(), "{findings:#?}");
        (!findings.is_empty()).then_some(findings)
    }

    /// Whether the package was copied, and what differs.
    fn compare(&self) -> (bool, Vec<Finding>) {
        let commit = self.repo.git(&["rev-parse", "HEAD"]);
        let (run, copy) = half::snapshot(self.repo.root(), &commit, self.dir.path());
        let entry = run.ledger.entries().iter().find(|entry| entry.check == Check::PackageWorktree).unwrap();
        (copy.is_some(), entry.findings.clone())
    }

    /// Runs a hint as an operator would: what follows the advice, in a shell, at the top of the checkout.
    #[track_caller]
    fn follow(&self, hint: &str) {
        let command = hint.rsplit_once(": ").map_or(hint, |(_, command)| command);
        let surroundings = git_command(self.repo.root());
        let mut shell = Command::new("sh");
        shell.env_clear().envs(surroundings.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let output = shell.args(["-c", command]).current_dir(self.repo.root()).output().unwrap();
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

/// What was done, the difference that is told, and its cure.
type Row = (fn(&Repo), &'static str, &'static str, &'static str);

const ROWS: &[Row] = &[
    (
        |repo| {
            repo.git(&["config", "core.autocrlf", "true"]);
            std::fs::remove_file(repo.root().join(BRIDGE)).unwrap();
            repo.git(&["checkout", "--", BRIDGE]);
        },
        BRIDGE,
        "the same lines with other line endings (core.autocrlf or an eol attribute)",
        "git cat-file blob HEAD:netbox_sdk/plugin_bridge.py >netbox_sdk/plugin_bridge.py",
    ),
    (
        |repo| {
            repo.write(".git/info/attributes", "*.py ident\n");
            std::fs::remove_file(repo.root().join(BRIDGE)).unwrap();
            repo.git(&["checkout", "--", BRIDGE]);
        },
        BRIDGE,
        "the same content with an expanded $Id$ (an ident attribute)",
        "git cat-file blob HEAD:netbox_sdk/plugin_bridge.py >netbox_sdk/plugin_bridge.py",
    ),
    (
        |repo| repo.write(BRIDGE, "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 3\n"),
        BRIDGE,
        "a Git LFS pointer instead of the content",
        "git cat-file blob HEAD:netbox_sdk/plugin_bridge.py >netbox_sdk/plugin_bridge.py",
    ),
    (
        |repo| {
            repo.git(&["update-index", "--assume-unchanged", BRIDGE]);
            repo.write(BRIDGE, "# $Id$\ntwo = 1\n");
        },
        BRIDGE,
        "other content, 15 bytes, different from byte 7 on",
        "git cat-file blob HEAD:netbox_sdk/plugin_bridge.py >netbox_sdk/plugin_bridge.py",
    ),
    (
        |repo| std::fs::set_permissions(repo.root().join(BRIDGE), PermissionsExt::from_mode(0o755)).unwrap(),
        BRIDGE,
        "mode 100755",
        "chmod u-x netbox_sdk/plugin_bridge.py",
    ),
    (
        |repo| drop(repo.git(&["sparse-checkout", "set", "--no-cone", "/*", "!/netbox_sdk/data/"])),
        "netbox_sdk/data/",
        "no such folder; a sparse checkout leaves folders out",
        "git sparse-checkout disable && git restore --source=HEAD --staged --worktree -- netbox_sdk/data",
    ),
    (
        |repo| drop(repo.git(&["sparse-checkout", "set", "other"])),
        "netbox_sdk/",
        "nothing; is this a bare, sparse or unfinished checkout?",
        "git sparse-checkout disable && git restore --source=HEAD --staged --worktree -- netbox_sdk",
    ),
    (
        |repo| std::fs::remove_dir_all(repo.root().join("netbox_sdk/data/more")).unwrap(),
        "netbox_sdk/data/more/",
        "no such folder; a sparse checkout leaves folders out",
        "git sparse-checkout disable && git restore --source=HEAD --staged --worktree -- netbox_sdk/data/more",
    ),
    (
        |repo| std::fs::remove_file(repo.root().join(BRIDGE)).unwrap(),
        BRIDGE,
        "no such file",
        "git restore --source=HEAD --staged --worktree -- netbox_sdk/plugin_bridge.py",
    ),
    (
        |repo| rename(repo.root(), BRIDGE, "netbox_sdk/Plugin_Bridge.py"),
        "netbox_sdk/Plugin_Bridge.py",
        "a file that differs from netbox_sdk/plugin_bridge.py only in letter case",
        "look at it, then remove it: git --literal-pathspecs clean -ffdx -- netbox_sdk/Plugin_Bridge.py",
    ),
    (
        |repo| {
            std::fs::remove_file(repo.root().join(BRIDGE)).unwrap();
            symlink("../other/file", repo.root().join(BRIDGE)).unwrap();
        },
        BRIDGE,
        "a symbolic link",
        "rm -- netbox_sdk/plugin_bridge.py && git restore --source=HEAD --staged --worktree -- netbox_sdk/plugin_bridge.py",
    ),
    (
        |repo| {
            repo.write(".git/info/exclude", "*\n");
            repo.write("netbox_sdk/it's * hidden", "x");
            repo.write("netbox_sdk/deep/x.py", "x");
        },
        "netbox_sdk/it's * hidden",
        "a file the commit does not have, ignored by git or not",
        r"look at it, then remove it: git --literal-pathspecs clean -ffdx -- 'netbox_sdk/it'\''s * hidden'",
    ),
];

fn rename(root: &Path, from: &str, to: &str) {
    std::fs::rename(root.join(from), root.join(to)).unwrap();
}

#[test]
fn every_difference_is_explained_and_its_commands_cure_it() {
    for (spoil, subject, actual, hint) in ROWS {
        let checkout = Checkout::new();
        assert_eq!(checkout.differences(), None);
        spoil(&checkout.repo);
        let found = checkout.differences().unwrap_or_else(|| panic!("{actual}: nothing found"));
        let told: Vec<_> = found.iter().map(|it| (&*it.subject, &*it.actual, &*it.hint)).collect();
        assert!(told.contains(&(*subject, *actual, *hint)), "{actual}: {found:#?}");
        found.iter().for_each(|finding| checkout.follow(&finding.hint));
        assert_eq!(checkout.differences(), None, "{actual}: not cured");
    }
}

/// In the package such a name is refused anyway; on the way there, its other spelling is not called a stranger.
#[test]
fn another_normalisation_of_a_name_is_told_as_that() {
    let checkout = Checkout::new();
    checkout.repo.write("netbox_sdk/caf\u{e9}.py", "x\n");
    checkout.repo.commit_all("composed");
    assert_eq!(checkout.compare(), (false, Vec::new()));
    rename(checkout.repo.root(), "netbox_sdk/caf\u{e9}.py", "netbox_sdk/cafe\u{301}.py");
    let (_, found) = checkout.compare();
    let actual = "a file that differs from netbox_sdk/caf\u{e9}.py only in Unicode normalisation";
    assert_eq!(found.iter().map(|it| &*it.actual).collect::<Vec<_>>(), [actual]);
}
