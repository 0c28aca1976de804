//! Tiny repositories made with the system git: fixed names and dates, no configuration but our own.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A `git` that sees neither the user's configuration nor the caller's `GIT_*` variables.
pub fn git_command(dir: &Path) -> Command {
    let mut command = Command::new("git");
    command.env_clear().current_dir(dir);
    for name in ["PATH", "TMPDIR"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command.envs([
        ("HOME", "/nonexistent"),
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_AUTHOR_NAME", "A U Thor"),
        ("GIT_AUTHOR_EMAIL", "author@example.com"),
        ("GIT_AUTHOR_DATE", "1700000000 +0000"),
        ("GIT_COMMITTER_NAME", "C O Mitter"),
        ("GIT_COMMITTER_EMAIL", "committer@example.com"),
        ("GIT_COMMITTER_DATE", "1700000000 +0000"),
        ("LC_ALL", "C"),
    ]);
    command
}

/// A repository with a working tree.
pub struct Repo {
    root: PathBuf,
}

impl Repo {
    /// `git init` in `root`, which is created.
    pub fn init(root: impl Into<PathBuf>) -> Self {
        let root = root.into();
        std::fs::create_dir_all(&root).unwrap();
        let repo = Repo { root };
        repo.git(&["init", "--quiet", "--initial-branch=main", "--template="]);
        repo
    }

    /// The top of the working tree.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Runs git, requires success, returns its trimmed output.
    #[track_caller]
    pub fn git(&self, arguments: &[&str]) -> String {
        let output = git_command(&self.root).args(arguments).output().unwrap();
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    /// Writes a file of the working tree, with its folders.
    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// Adds everything and commits; the commit id.
    pub fn commit_all(&self, message: &str) -> String {
        self.git(&["add", "--all", "--force"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", message]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// Writes an object of any content, well-formed or not; its id.
    #[track_caller]
    pub fn object(&self, kind: &str, content: &[u8]) -> String {
        let mut child = git_command(&self.root)
            .args(["hash-object", "-t", kind, "-w", "--stdin", "--literally"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(content).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }
}
