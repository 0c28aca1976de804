//! The program as its callers see it: arguments, streams, formats, exit codes, signals.

use std::path::Path;
use std::process::Stdio;

use rustix::process::Signal;
use serde_json::Value;

use crate::support::gate::{Outcome, findings, gate, identified, with_status};
use crate::support::subject::{Subject, VERSION};

const SHA: &str = "0123456789abcdef0123456789abcdef01234567";

/// The committed schema, compiled.
fn schema() -> jsonschema::Validator {
    let text = include_str!("../fixtures/report-v1.schema.json");
    jsonschema::validator_for(&serde_json::from_str(text).unwrap()).unwrap()
}

#[track_caller]
fn valid_report(outcome: &Outcome) -> Value {
    let report = outcome.json();
    let errors: Vec<_> = schema().iter_errors(&report).map(|error| error.to_string()).collect();
    assert_eq!(errors, Vec::<String>::new());
    assert_eq!(report["exit_code"], outcome.code);
    report
}

#[test]
fn the_committed_schema_is_the_printed_one() {
    let printed = Outcome::of(gate().args(["schema", "report"]));
    assert_eq!(printed.code, 0);
    let committed = include_str!("../fixtures/report-v1.schema.json");
    assert!(printed.stdout == committed, "write it anew: cargo run -- schema report > fixtures/report-v1.schema.json");
    // It can say no.
    assert!(!schema().is_valid(&serde_json::json!({"schema": "paired-sdk-gate/report/v1"})));
}

#[test]
fn malformed_arguments_are_told_with_their_place_and_exit_2() {
    let root = Path::new("/nowhere");
    let abbreviated = &SHA[..12];
    let upper = SHA.to_uppercase();
    for (commit, version, environment, told) in [
        (
            abbreviated,
            "0.0.13",
            "/venv",
            "--expected-commit <SHA>': expected a full commit id of 40 hexadecimal digits, found 12",
        ),
        (&*upper, "0.0.13", "/venv", "found 'A' at character 11; write the id in lower case"),
        ("main", "0.0.13", "/venv", "found 'm' at character 1"),
        (
            SHA,
            ">=0.0.11",
            "/venv",
            "--expected-version <VERSION>': expected one exact released version such as 0.0.13, found '>' at character 1",
        ),
        (SHA, "main", "/venv", "found \"main\", which is no PEP 440 version"),
        (SHA, " 0.0.13", "/venv", "found ' ' at character 1"),
        (
            SHA,
            "0.0.13",
            "venv",
            "--expected-environment-root <DIR>': expected an absolute environment root, found \"venv\"",
        ),
    ] {
        let outcome = Outcome::of(identified("verify", root, commit, version, environment).args(["--format", "json"]));
        assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{outcome:?}");
        assert!(outcome.stderr.contains(told), "{told}\n{}", outcome.stderr);
    }
    let mut other = gate();
    other.args(["verify", "--sdk-root", "/x", "--expected-commit", SHA, "--expected-version", "1"]);
    other.args(["--expected-environment-root", "/v", "--expected-module-origin", "netbox_sdk/other.py"]);
    let outcome = Outcome::of(&mut other);
    assert_eq!(outcome.code, 2);
    assert!(
        outcome
            .stderr
            .contains("expected the module origin \"netbox_sdk/plugin_bridge.py\" of contract proxbox-bridge-v1")
    );
    for arguments in [&[][..], &["verify"], &["frobnicate"], &["verify", "--sdk-root"]] {
        assert_eq!(Outcome::of(gate().args(arguments)).code, 2, "{arguments:?}");
    }
    assert_eq!(Outcome::of(gate().arg("--help")).code, 0);
    assert_eq!(
        Outcome::of(gate().arg("--version")).stdout,
        concat!("paired-sdk-gate ", env!("CARGO_PKG_VERSION"), "\n")
    );
    let unwritable = Outcome::of(identified("verify", root, SHA, "1", "/v").args(["--report", "/nowhere/report.json"]));
    assert_eq!(unwritable.code, 2);
    assert!(unwritable.stderr.starts_with("error: cannot create the report /nowhere/report.json: "));
}

#[test]
fn a_refusal_says_the_same_in_every_format() {
    // The embedded SDK does not meet the real contract: its environment has no jsonschema and no pydantic.
    let subject = Subject::new();
    let report_file = subject.dir.path().join("report.json");
    let run = |format: &str| {
        let mut verify = identified("verify", subject.repo.root(), &subject.commit, VERSION, &subject.environment);
        Outcome::of(verify.args(["--seed", "5", "--format", format]).arg("--report").arg(&report_file))
    };
    let json = run("json");
    assert_eq!(json.code, 1, "{}", json.stderr);
    let mut report = valid_report(&json);
    assert_eq!(report["verdict"], "refused");
    assert_eq!(std::fs::read_to_string(&report_file).unwrap(), json.stdout);
    assert_eq!(with_status(&report, "failed"), ["module.origin", "probe.transcript"]);
    let actual = &findings(&report, "module.origin")[0]["actual"];
    assert_eq!(actual, "KeyError: 'pydantic_core._pydantic_core'");

    let human = run("human");
    assert_eq!(human.code, 1);
    assert_eq!(human.stderr, "");
    let last = format!("REFUSED: netbox_sdk {VERSION} at {}; failed: module.origin, probe.transcript", subject.commit);
    assert_eq!(human.stdout.lines().last().unwrap(), last);
    assert!(human.stdout.contains("        found     KeyError: 'pydantic_core._pydantic_core'\n"));
    assert!(!human.stdout.contains('\u{1b}'), "no colour in a pipe");
    assert_eq!(json.stderr, human.stdout, "with JSON on standard output the text goes to standard error");

    let mut again = valid_report(&run("json-v1"));
    for report in [&mut report, &mut again] {
        let run = report.as_object_mut().unwrap().remove("run").unwrap();
        assert!(run["started_at"].as_str().unwrap().ends_with('Z'));
    }
    assert_eq!(report, again, "two runs differ only inside `run`");

    let mut quiet = identified("verify", subject.repo.root(), &subject.commit, VERSION, &subject.environment);
    assert_eq!(Outcome::of(quiet.arg("--quiet")).stdout, format!("{last}\n"));
    let mut coloured = identified("verify", subject.repo.root(), &subject.commit, VERSION, &subject.environment);
    assert!(Outcome::of(coloured.args(["--color", "always"])).stdout.contains('\u{1b}'));
}

#[test]
fn what_cannot_be_decided_is_exit_3() {
    let subject = Subject::new();
    let mut verify = identified("verify", subject.repo.root(), &subject.commit, VERSION, "/nowhere");
    let outcome = Outcome::of(verify.args(["--format", "json"]));
    assert_eq!(outcome.code, 3);
    let report = valid_report(&outcome);
    assert_eq!(report["verdict"], "unverifiable");
    assert_eq!(with_status(&report, "error"), ["environment.root"]);

    let mut limited = identified("verify", subject.repo.root(), &subject.commit, VERSION, &subject.environment);
    let outcome = Outcome::of(limited.args(["--limit-package-files", "1", "--format", "json"]));
    assert_eq!(outcome.code, 3);
    let report = valid_report(&outcome);
    assert_eq!(with_status(&report, "error"), ["package.tree"]);
    let finding = &findings(&report, "package.tree")[0];
    assert_eq!((&finding["expected"], &finding["actual"]), (&"at most 1 files".into(), &"more".into()));
    assert!(finding["hint"].as_str().unwrap().contains("--limit-package-files"));
}

#[test]
fn a_record_that_cannot_be_written_is_exit_4_before_any_check_runs() {
    let subject = Subject::new();
    let record = subject.dir.path().join("missing.json");
    let mut activate = identified("activate", subject.repo.root(), &subject.commit, VERSION, &subject.environment);
    let outcome = Outcome::of(activate.args(["--format", "json"]).arg("--record").arg(&record));
    assert_eq!(outcome.code, 4);
    let report = valid_report(&outcome);
    assert_eq!(report["verdict"], "write-refused");
    assert_eq!(with_status(&report, "not-run").len(), report["checks"].as_array().unwrap().len());
    assert_eq!(report["record"]["action"], "none");
    assert_eq!(report["record"]["refused"]["subject"], record.display().to_string());
    assert!(!record.exists());
}

#[test]
fn a_signal_ends_a_hanging_run_and_leaves_nothing_behind() {
    for (signal, name, code) in [(Signal::INT, "SIGINT", 130), (Signal::TERM, "SIGTERM", 143)] {
        // In the environment, where the sandbox lets the SDK read; it finds it relative to its interpreter.
        let subject = Subject::edited(|repo| {
            let hang = "import sys\nopen(sys.executable.replace('/bin/python', '/fifo')).read()\n";
            repo.write("netbox_sdk/plugin_bridge.py", hang);
        });
        let fifo = subject.environment.join("fifo");
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        let mut verify = identified("verify", subject.repo.root(), &subject.commit, VERSION, &subject.environment);
        verify.env("TMPDIR", subject.temporary()).args(["--format", "json"]);
        let child = verify.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        // Opens once the SDK of a probe is being imported, and keeps that waiting.
        let _writer = std::fs::File::options().write(true).open(&fifo).unwrap();
        let process = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        rustix::process::kill_process(process, signal).unwrap();
        let output = child.wait_with_output().unwrap();
        let (stdout, stderr) = (String::from_utf8(output.stdout).unwrap(), String::new());
        let outcome = Outcome { code: output.status.code().unwrap(), stdout, stderr };
        assert_eq!(outcome.code, code);
        let report = valid_report(&outcome);
        assert_eq!(report["verdict"], "unverifiable");
        assert_eq!(report["run"]["interrupted_by"], name);
        assert_eq!(std::fs::read_dir(subject.temporary()).unwrap().count(), 0);
    }
}

#[test]
fn a_snapshot_is_the_committed_package_or_nothing() {
    let subject = Subject::new();
    let out = subject.dir.path().join("out");
    let snapshot = || {
        let mut command = gate();
        command.arg("snapshot").arg("--sdk-root").arg(subject.repo.root()).args(["--expected-commit", &subject.commit]);
        command.arg("--out").arg(&out).args(["--format", "json"]);
        command
    };
    let outcome = Outcome::of(&mut snapshot());
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let report = valid_report(&outcome);
    assert_eq!(report["verdict"], "copied");
    let copied = |path: &str| std::fs::read(out.join(path)).unwrap();
    for file in report["package"]["files"].as_array().unwrap() {
        let path = file["path"].as_str().unwrap();
        assert_eq!(copied(path), std::fs::read(subject.repo.root().join(path)).unwrap());
        assert_eq!(subject.repo.git(&["rev-parse", &format!("HEAD:{path}")]), file["git_sha1"].as_str().unwrap());
    }
    assert_eq!(std::fs::read_dir(&out).unwrap().count(), 1);

    let again = Outcome::of(&mut snapshot());
    assert_eq!((again.code, again.stdout.as_str()), (2, ""));
    assert!(again.stderr.contains("already exists; name a new folder"));

    std::fs::remove_dir_all(&out).unwrap();
    subject.repo.write("netbox_sdk/more.py", "");
    let refused = Outcome::of(&mut snapshot());
    assert_eq!(refused.code, 1);
    assert!(!out.exists());
    let left = std::fs::read_dir(subject.dir.path()).unwrap().count();
    assert_eq!(left, 3, "the checkout, the environment and the folder for temporary files");
}

#[test]
fn the_demo_accepts_one_and_refuses_four_whatever_the_callers_environment_says() {
    let dir = tempfile::tempdir().unwrap();
    let decoy = dir.path().join("netbox_sdk");
    std::fs::create_dir(&decoy).unwrap();
    std::fs::write(decoy.join("__init__.py"), "raise SystemExit('the decoy was imported')\n").unwrap();
    let mut demo = gate();
    demo.args(["demo", "--format", "json"]);
    demo.env("PYTHONPATH", dir.path())
        .env("PYTHONSTARTUP", decoy.join("__init__.py"))
        .env("PYTHONUSERBASE", dir.path());
    demo.env("PYTHONHOME", "/nowhere").env("GIT_DIR", "/nowhere").env("GIT_OBJECT_DIRECTORY", "/nowhere");
    demo.env("GIT_CEILING_DIRECTORIES", "/").env("PYTHONWARNINGS", "error").env("TMPDIR", dir.path());
    let outcome = Outcome::of(&mut demo);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    let cases = outcome.json()["cases"].clone();
    let told: Vec<_> =
        cases.as_array().unwrap().iter().map(|case| (&case["verdict"], &case["failed"], &case["record"])).collect();
    let told = serde_json::to_value(told).unwrap();
    let expected = serde_json::json!([
        ["passed", [], "active"],
        ["refused", ["package.worktree"], "untouched"],
        ["refused", ["package.worktree"], "untouched"],
        ["refused", ["version.source"], "untouched"],
        ["refused", ["vectors.integer", "vectors.schema"], "untouched"],
    ]);
    assert_eq!(told, expected);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "only the decoy is left");
}
