//! `doctor`: what it finds is what a run finds, and it finds it without running or writing anything.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::gate::{Outcome, findings, identified, with_status};
use crate::support::subject::{Subject, VERSION};

/// `doctor` or `verify` on a subject, in its own temporary folder.
fn gate_on(command: &str, subject: &Subject) -> Command {
    let mut gate = identified(command, subject.repo.root(), &subject.commit, VERSION, &subject.environment);
    gate.env("TMPDIR", subject.temporary()).args(["--format", "json"]);
    gate
}

/// What `doctor` says, which has to satisfy its schema.
#[track_caller]
fn told(outcome: &Outcome) -> Value {
    let schema = serde_json::from_str(include_str!("../fixtures/doctor-v1.schema.json")).unwrap();
    let said = outcome.json();
    let errors: Vec<_> =
        jsonschema::draft202012::new(&schema).unwrap().iter_errors(&said).map(|error| error.to_string()).collect();
    assert_eq!(errors, [""; 0]);
    assert_eq!((&said["exit_code"], &said["ready"]), (&outcome.code.into(), &(outcome.code == 0).into()));
    said
}

#[test]
fn a_sound_subject_is_ready_and_nothing_was_written() {
    let subject = Subject::new();
    let touched = || fs::metadata(subject.temporary()).unwrap().modified().unwrap();
    let before = touched();
    let outcome = Outcome::of(gate_on("doctor", &subject).arg("--require-sandbox"));
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let said = told(&outcome);
    assert_eq!(with_status(&said, "passed").len(), said["checks"].as_array().unwrap().len());
    assert_eq!(said["host"]["sandbox"], json!({"landlock": "full", "seccomp": "full", "limits": "full"}));
    assert!(outcome.stderr.ends_with("\nREADY: nothing of it was run\n"), "{}", outcome.stderr);
    assert_eq!((touched(), fs::read_dir(subject.temporary()).unwrap().count()), (before, 0));
}

/// What is broken; the check that tells, and the exit code.
type Case = (&'static str, i32, fn(&mut Subject));

const CASES: [Case; 12] = [
    ("git.repository", 3, |subject| fs::remove_dir_all(subject.repo.dot_git("")).unwrap()),
    ("git.repository", 3, |subject| {
        subject.repo.git(&["config", "core.repositoryformatversion", "1"]);
        subject.repo.git(&["config", "extensions.objectFormat", "sha256"]);
    }),
    ("git.head", 1, |subject| drop(subject.repo.commit_all("Another"))),
    ("git.history", 3, |subject| {
        subject.commit = subject.repo.commit_all("Another");
        fs::write(subject.repo.dot_git("shallow"), format!("{}\n", subject.commit)).unwrap();
    }),
    ("git.objects", 1, |subject| {
        let blob = subject.repo.git(&["rev-parse", "HEAD:netbox_sdk/__init__.py"]);
        fs::remove_file(subject.repo.dot_git(&format!("objects/{}/{}", &blob[..2], &blob[2..]))).unwrap();
    }),
    ("package.worktree", 1, |subject| subject.repo.write("netbox_sdk/more.py", "")),
    ("environment.root", 3, |subject| subject.environment = subject.dir.path().join("nothing")),
    ("environment.root", 1, |subject| fs::remove_file(subject.environment.join("pyvenv.cfg")).unwrap()),
    ("environment.interpreter", 3, |subject| fs::remove_file(subject.environment.join("bin/python")).unwrap()),
    ("environment.owned", 1, |subject| fs::write(subject.site().join("stray.py"), "").unwrap()),
    ("environment.records", 1, |subject| {
        subject.install("one", &[("one.py", "1")]);
        fs::write(subject.site().join("one.py"), "2").unwrap();
    }),
    ("environment.lock", 1, |subject| {
        subject
            .repo
            .write("pyproject.toml", "[project]\nname = \"demo\"\nversion = \"1.0.0\"\ndependencies = [\"one\"]\n");
        subject.commit = subject.repo.commit_all("Require one");
    }),
];

#[test]
fn what_a_run_would_stumble_over_is_told_in_the_same_words() {
    for (check, code, spoil) in CASES {
        let mut subject = Subject::new();
        spoil(&mut subject);
        let outcome = Outcome::of(&mut gate_on("doctor", &subject));
        assert_eq!(outcome.code, code, "{check}: {}", outcome.stderr);
        let said = told(&outcome);
        let status = if code == 1 { "failed" } else { "error" };
        assert!(with_status(&said, status).contains(&check), "{check}: {}", outcome.stderr);
        let run = Outcome::of(&mut gate_on("verify", &subject));
        assert_eq!(run.code, code, "{check}: {}", run.stderr);
        assert_eq!(findings(&said, check), findings(&run.json(), check));
        assert!(findings(&said, check).iter().all(|finding| finding["hint"] != ""), "{said}");
        let last = outcome.stderr.lines().last().unwrap();
        assert!(last.starts_with("NOT READY: ") && last.contains(check), "{last}");
    }
}

#[test]
fn the_environment_has_its_say_although_the_repository_is_broken() {
    let mut subject = Subject::new();
    fs::remove_dir_all(subject.repo.dot_git("")).unwrap();
    subject.environment = subject.dir.path().join("nothing");
    let outcome = Outcome::of(&mut gate_on("doctor", &subject));
    let said = told(&outcome);
    assert_eq!((outcome.code, with_status(&said, "error")), (3, vec!["git.repository", "environment.root"]));
    assert!(outcome.stderr.ends_with("\nNOT READY: git.repository, environment.root\n"), "{}", outcome.stderr);
}

#[test]
fn a_host_that_lacks_something_is_told() {
    let subject = Subject::new();
    let missing = subject.dir.path().join("nothing");
    let outcome = Outcome::of(gate_on("doctor", &subject).env("TMPDIR", &missing));
    assert_eq!(outcome.code, 3);
    let said = told(&outcome);
    assert_eq!(with_status(&said, "error"), ["host.room"]);
    let needed = said["host"]["temporary"]["needed_bytes"].as_u64().unwrap();
    let package: u64 = fs::read_dir(subject.repo.root().join("netbox_sdk"))
        .unwrap()
        .map(|entry| entry.unwrap().metadata().unwrap().len())
        .sum();
    assert_eq!(needed, package + (16 << 20));
    let expected = json!({
        "subject": missing.to_str(),
        "expected": format!("a folder to write in, with {needed} bytes of room"),
        "actual": "No such file or directory (os error 2)",
        "hint": "make room there, or name another folder in TMPDIR",
    });
    assert_eq!(findings(&said, "host.room"), &[expected]);

    // A limit of this process that is lower than what a probe is given.
    let gate = gate_on("doctor", &subject);
    let bounded = |more: &[&str]| {
        let mut shell = Command::new("sh");
        shell.args(["-c", "ulimit -n 100 && exec \"$0\" \"$@\""]).arg(gate.get_program()).args(gate.get_args());
        Outcome::of(shell.args(more).env_clear().env("TMPDIR", subject.temporary()))
    };
    assert_eq!(told(&bounded(&[]))["host"]["sandbox"]["limits"], "none");
    let demanded = bounded(&["--require-sandbox"]);
    let said = told(&demanded);
    assert_eq!((demanded.code, with_status(&said, "error")), (3, vec!["probe.confined"]));
    assert_eq!(findings(&said, "probe.confined")[0]["actual"], "landlock Full, seccomp Full, limits None");
}
