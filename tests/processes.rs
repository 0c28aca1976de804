//! The git half starts no process, whatever the repository asks for.
//!
//! The proof is the kernel's: the command runs in a test process that put on a seccomp filter first, under which the attempt to
//! start any process or program is the end of it. The traps are there as well, and git itself walks into them.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    apply_filter_all_threads,
};
use serde_json::Value;

use crate::support::gate::{findings, identified, with_status};
use crate::support::git::{Repo, git_command};
use crate::support::subject::{Subject, VERSION};

/// What the child is to run: a word a line.
const ARGUMENTS: &str = "ARGUMENTS_IN_THE_FILTER";

/// From here on no thread of this process can start a process or a program: the kernel kills it.
fn forbid_processes() {
    let only_if = |condition: SeccompCondition| vec![SeccompRule::new(vec![condition]).unwrap()];
    let filter = |rules: Vec<(libc::c_long, Vec<SeccompRule>)>, action| {
        let rules: BTreeMap<i64, _> = rules.into_iter().collect();
        let architecture = std::env::consts::ARCH.try_into().unwrap();
        BpfProgram::try_from(SeccompFilter::new(rules, SeccompAction::Allow, action, architecture).unwrap()).unwrap()
    };
    let thread = libc::CLONE_THREAD as u64;
    // Threads are allowed: clones that share the thread group.
    let process =
        SeccompCondition::new(0, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(thread), 0).map(only_if).unwrap();
    let mut killed = vec![(libc::SYS_execve, vec![]), (libc::SYS_execveat, vec![]), (libc::SYS_clone, process)];
    #[cfg(target_arch = "x86_64")]
    killed.extend([(libc::SYS_fork, vec![]), (libc::SYS_vfork, vec![])]);
    // A filter cannot see the flags of clone3; without it the C library takes clone.
    let absent = SeccompAction::Errno(libc::ENOSYS as u32);
    apply_filter_all_threads(&filter(vec![(libc::SYS_clone3, vec![])], absent)).unwrap();
    apply_filter_all_threads(&filter(killed, SeccompAction::KillProcess)).unwrap();
}

#[test]
#[ignore = "run by the tests below, in a process of its own"]
fn child_in_the_filter() {
    let arguments = std::env::var(ARGUMENTS).unwrap();
    forbid_processes();
    std::thread::spawn(|| ()).join().expect("threads are allowed");
    match arguments.split_once('\n') {
        Some(("gate", rest)) => {
            let words = std::iter::once("paired-sdk-gate").chain(rest.lines()).map(Into::into);
            let _ = paired_sdk_gate::cli::run(words);
        }
        Some(("exec", program)) => drop(Command::new(program).exec()),
        _ => drop(Command::new(&arguments).status()),
    }
}

/// Runs that child with these lines.
fn in_the_filter(lines: &[&str], surroundings: &[(String, String)]) -> Output {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["processes::child_in_the_filter", "--exact", "--ignored", "--nocapture"]);
    child.envs(surroundings.iter().cloned()).env(ARGUMENTS, lines.join("\n")).output().unwrap()
}

/// A repository of traps, and what they leave when one of them runs.
struct Trapped {
    dir: tempfile::TempDir,
    repo: Repo,
    commit: String,
    script: String,
}

impl Trapped {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let repo = Repo::init(dir.path().join("sdk"));
        repo.write("netbox_sdk/__init__.py", "__version__ = \"1.2.3\"\n");
        repo.write("netbox_sdk/plugin_bridge.py", "one = 1\n");
        repo.write(".gitattributes", "* filter=trap diff=trap merge=trap\n");
        let commit = repo.commit_all("first");
        let traps = dir.path().join("traps");
        std::fs::create_dir(&traps).unwrap();
        let script = traps.join("git").display().to_string();
        let trapped = Trapped { dir, repo, commit, script };
        for name in ["git", "ssh", "sh", "python3", "git-remote-ext", "git-lfs", "less"] {
            executable(&traps.join(name), &format!("#!/bin/sh\n: >>{}\n", trapped.marker().display()));
        }
        trapped.configure();
        trapped
    }

    fn marker(&self) -> PathBuf {
        self.dir.path().join("marker")
    }

    /// Every setting, hook and file that makes git run something.
    fn configure(&self) {
        let (script, repo) = (&self.script, &self.repo);
        let plain = "core.fsmonitor core.pager core.editor core.sshCommand core.askPass core.gitProxy credential.helper \
            core.alternateRefsCommand diff.external diff.trap.command diff.trap.textconv filter.trap.clean \
            filter.trap.smudge filter.trap.process merge.trap.driver gpg.program gpg.ssh.program sequence.editor \
            uploadpack.packObjectsHook remote.origin.uploadpack interactive.diffFilter pager.log pager.status \
            gc.recentObjectsHook gui.editor web.browser browser.trap.cmd difftool.trap.cmd";
        let mut config = plain.split_whitespace().map(|key| (key.to_owned(), script.clone())).collect::<Vec<_>>();
        let included = self.dir.path().join("included");
        std::fs::write(&included, format!("[core]\n\tfsmonitor = {script}\n\tsshCommand = {script}\n")).unwrap();
        let more = [
            ("alias.fsck", format!("!{script}")),
            ("include.path", included.display().to_string()),
            ("includeIf.gitdir:/.path", included.display().to_string()),
            ("core.attributesFile", included.display().to_string()),
            ("core.hooksPath", repo.dot_git("hooks").display().to_string()),
            ("filter.trap.required", "true".into()),
            ("protocol.ext.allow", "always".into()),
            ("core.repositoryFormatVersion", "1".into()),
            ("extensions.partialClone", "origin".into()),
            ("remote.origin.promisor", "true".into()),
            ("remote.origin.url", format!("ext::{script} %S")),
            ("url.ext::.insteadOf", "https:".into()),
        ];
        config.extend(more.map(|(key, value)| (key.to_owned(), value)));
        for (key, value) in &config {
            repo.git(&["config", key, value]);
        }
        let hooks = "post-checkout post-index-change pre-commit fsmonitor-watchman reference-transaction pre-auto-gc \
            post-merge post-rewrite pre-push pre-receive update proc-receive sendemail-validate";
        for hook in hooks.split_whitespace() {
            executable(&repo.dot_git(&format!("hooks/{hook}")), &std::fs::read_to_string(script).unwrap());
        }
    }

    /// Variables that make git run something, and a path on which the traps come first.
    fn surroundings(&self) -> Vec<(String, String)> {
        let names = "GIT_EXTERNAL_DIFF GIT_SSH GIT_SSH_COMMAND GIT_PAGER PAGER GIT_EDITOR EDITOR VISUAL GIT_ASKPASS \
            SSH_ASKPASS GIT_PROXY_COMMAND";
        let mut variables: Vec<_> = names.split_whitespace().map(|name| (name.into(), self.script.clone())).collect();
        let traps = Path::new(&self.script).parent().unwrap().display().to_string();
        variables.push(("PATH".into(), traps.clone()));
        variables.push(("GIT_EXEC_PATH".into(), traps));
        variables
    }

    /// The report of `snapshot` in the filter.
    #[track_caller]
    fn snapshot(&self) -> Value {
        let (report, out) = (self.dir.path().join("report.json"), self.dir.path().join("out"));
        let (report, out) = (report.display().to_string(), out.display().to_string());
        let root = self.repo.root().display().to_string();
        let lines =
            ["gate", "snapshot", "--sdk-root", &root, "--expected-commit", &self.commit, "--out", &out, "--report"];
        let output = in_the_filter(&[&lines[..], &[&report]].concat(), &self.surroundings());
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("1 passed"), "{output:?}");
        assert!(!self.marker().exists(), "a trap ran");
        serde_json::from_slice(&std::fs::read(report).unwrap()).unwrap()
    }

    /// Git runs a trap with these arguments, so the traps are good ones.
    #[track_caller]
    fn catches_git(&self, arguments: &[&str]) {
        let _ = git_command(self.repo.root()).args(arguments).output().unwrap();
        assert!(self.marker().exists(), "git {arguments:?} ran no trap");
        std::fs::remove_file(self.marker()).unwrap();
    }
}

fn executable(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
}

#[test]
fn in_the_filter_no_process_and_no_program_starts() {
    for lines in [&["/bin/true"][..], &["exec", "/bin/true"]] {
        let output = in_the_filter(lines, &[]);
        assert_eq!(output.status.signal(), Some(libc::SIGSYS), "{output:?}");
    }
}

#[test]
fn a_sound_repository_full_of_traps_is_copied_without_a_process() {
    let trapped = Trapped::new();
    let report = trapped.snapshot();
    assert_eq!(report["verdict"], "copied", "{report:#}");
    let copied = std::fs::read(trapped.dir.path().join("out/netbox_sdk/plugin_bridge.py")).unwrap();
    assert_eq!(copied, b"one = 1\n");
    trapped.catches_git(&["status"]);
    trapped.catches_git(&["-c", "core.fsmonitor=false", "checkout", "HEAD", "--", "netbox_sdk"]);
    trapped.catches_git(&["fetch"]);
}

#[test]
fn what_differs_or_is_absent_tempts_nothing_to_run() {
    let trapped = Trapped::new();
    let absent = trapped.repo.git(&["-c", "core.fsmonitor=false", "rev-parse", "HEAD:netbox_sdk/__init__.py"]);
    std::fs::remove_file(trapped.repo.loose_path(&absent)).unwrap();
    let report = trapped.snapshot();
    assert_eq!((&report["verdict"], with_status(&report, "failed")), (&"refused".into(), vec!["git.objects"]));
    assert_eq!(findings(&report, "git.objects")[0]["subject"], format!("blob {absent}"));
    trapped.catches_git(&["cat-file", "-p", &absent]);

    let trapped = Trapped::new();
    trapped.repo.write("netbox_sdk/plugin_bridge.py", "one = 1\r\n");
    let report = trapped.snapshot();
    assert_eq!((&report["verdict"], with_status(&report, "failed")), (&"refused".into(), vec!["package.worktree"]));
    trapped.catches_git(&["diff"]);
}

#[test]
fn doctor_looks_at_repository_and_environment_without_a_process() {
    let subject = Subject::new();
    let gate = identified("doctor", subject.repo.root(), &subject.commit, VERSION, &subject.environment);
    let words: Vec<_> = ["gate"].into_iter().chain(gate.get_args().map(|word| word.to_str().unwrap())).collect();
    let output = in_the_filter(&words, &[]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("\nREADY: nothing of it was run\n"), "{output:?}");
}
