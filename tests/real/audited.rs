//! A report of the real 0.0.13 for each exit code: it has its schema's form and passes its audit, and whoever forges a value in it is
//! seen, but where nothing in it says otherwise.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use paired_sdk_gate::contract::Contract;
use rustix::process::{Pid, Signal, kill_process};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};
use serde_json::Value;
use tempfile::TempDir;

use super::gate::{GATE, Identity, run};
use crate::activation::ACTIVE;
use crate::audit::sweep::{self, BEYOND_A_NO, BEYOND_A_PASS, BEYOND_ANY};
use crate::support::registry;

/// A folder for a report, a record and the private folders.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        let dir = registry::scratch();
        fs::create_dir(dir.path().join("tmp")).unwrap();
        Place(dir)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A blocked record.
    fn record(&self) -> PathBuf {
        let record = self.file("record.json");
        fs::copy(registry::blocked_record(), &record).unwrap();
        record
    }

    /// `verify` or `activate`, told to leave its report here.
    fn gate(&self, verb: &str) -> Command {
        self.gate_of(&Identity::released("0.0.13"), verb)
    }

    fn gate_of(&self, identity: &Identity, verb: &str) -> Command {
        let mut gate = identity.on(Command::new(GATE), verb);
        gate.arg("--report").arg(self.file("report.json")).env("TMPDIR", self.file("tmp"));
        gate
    }

    /// The report, which fits its schema and passes its audit.
    #[track_caller]
    fn report(&self, code: i32, verdict: &str) -> String {
        let file = self.file("report.json");
        let text = fs::read_to_string(&file).unwrap();
        let report: Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&report["exit_code"], &report["verdict"]), (&code.into(), &verdict.into()), "{report:#}");
        let schema = serde_json::from_str(include_str!("../../fixtures/report-v1.schema.json")).unwrap();
        let validator = jsonschema::draft202012::new(&schema).unwrap();
        let errors: Vec<_> = validator.iter_errors(&report).map(|error| error.to_string()).collect();
        assert_eq!(errors, [""; 0]);
        let audit = run(Command::new(GATE).args(["audit", "--format", "json"]).arg(&file));
        assert_eq!((audit.code, &audit.report["sound"]), (Some(0), &true.into()), "{:#}", audit.report["faults"]);
        assert_eq!(fs::read_dir(self.file("tmp")).unwrap().count(), 0, "nothing private is left");
        text
    }
}

/// The members in which a real report has more to say than one of the embedded SDK, whose reports are gone through from end to end.
const REAL: &[&str] = &[
    "/command",
    "/environment/distributions/0/",
    "/environment/i",
    "/exit_code",
    "/record",
    "/run",
    "/subject",
    "/verdict",
];

/// Nothing that is forged there goes unseen but in these places.
#[track_caller]
fn seen_but(report: &str, lists: &[&[(&str, &[&str])]]) {
    let listed = sweep::places(lists);
    let unseen = sweep::unseen(report, Contract::bridge_v1(), REAL);
    let more: Vec<_> = unseen.difference(&listed).collect();
    assert!(more.is_empty(), "{more:#?}");
}

/// What the embedded SDK's environment has none of, and why it goes unseen.
const BEYOND_INSTALLED: &[(&str, &[&str])] = &[(
    "says what is installed on a machine that is not at hand",
    &[
        "/environment/distributions/*/files",
        "/environment/distributions/*/name",
        "/environment/distributions/*/record",
        "/environment/distributions/*/version",
    ],
)];

#[test]
fn exit_0_of_verify() {
    let place = Place::new();
    run(place.gate("verify").args(["--generated", "100"])).assert(0, "passed");
    seen_but(&place.report(0, "passed"), &[BEYOND_ANY, BEYOND_A_PASS, BEYOND_INSTALLED]);
}

#[test]
fn exit_0_of_activate() {
    let place = Place::new();
    run(place.gate("activate").args(["--generated", "0", "--record"]).arg(place.record())).assert(0, "passed");
    seen_but(&place.report(0, "passed"), &[BEYOND_ANY, BEYOND_A_PASS, BEYOND_INSTALLED]);
}

#[test]
fn exit_1_for_the_inputs_and_for_the_answers() {
    let place = Place::new();
    let other = Identity { version: "0.0.12".into(), ..Identity::released("0.0.13") };
    run(&mut place.gate_of(&other, "verify")).refused_by(&["version.source", "version.project"]);
    seen_but(&place.report(1, "refused"), &[BEYOND_ANY, BEYOND_A_NO]);
    run(place.gate("verify").args(["--deny-advisories", "--generated", "100"])).assert(1, "refused");
    seen_but(&place.report(1, "refused"), &[BEYOND_ANY, BEYOND_A_NO, BEYOND_A_PASS, BEYOND_INSTALLED]);
}

#[test]
fn exit_3_for_a_kernel_that_confines_too_little() {
    let place = Place::new();
    let mut gate = place.gate("verify");
    gate.args(["--require-sandbox", "--generated", "0"]);
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -n 100 && exec \"$0\" \"$@\""]).arg(gate.get_program()).args(gate.get_args());
    let outcome = run(shell.env("TMPDIR", place.file("tmp")));
    outcome.assert(3, "unverifiable");
    assert_eq!(outcome.checks("error"), ["probe.confined"]);
    seen_but(&place.report(3, "unverifiable"), &[BEYOND_ANY, BEYOND_A_NO, BEYOND_A_PASS, BEYOND_INSTALLED]);
}

/// Starts it, waits until it says that it is at that stage, and does something.
fn at(stage: &str, gate: &mut Command, act: impl FnOnce(Pid)) -> Option<i32> {
    let mut child = gate.arg("--verbose").stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut told = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while line.trim_end() != format!("{stage}…") {
        line.clear();
        assert_ne!(told.read_line(&mut line).unwrap(), 0, "it never got to {stage}");
    }
    act(Pid::from_child(&child));
    told.read_to_end(&mut Vec::new()).unwrap();
    child.wait().unwrap().code()
}

#[test]
fn exit_4_before_a_proof_and_after_one() {
    let place = Place::new();
    let record = place.record();
    fs::write(&record, ACTIVE).unwrap();
    run(place.gate("activate").arg("--record").arg(&record)).assert(4, "write-refused");
    seen_but(&place.report(4, "write-refused"), &[BEYOND_ANY, BEYOND_A_NO, BEYOND_A_PASS]);

    let record = place.record();
    let mut activate = place.gate("activate");
    activate.args(["--generated", "0", "--record"]).arg(&record);
    let changed = fs::read_to_string(&record).unwrap().replace("No released", "Still no released");
    let code = at("graph", &mut activate, |_| fs::write(&record, &changed).unwrap());
    assert_eq!((code, fs::read_to_string(&record).unwrap()), (Some(4), changed));
    seen_but(&place.report(4, "write-refused"), &[BEYOND_ANY, BEYOND_A_NO, BEYOND_A_PASS, BEYOND_INSTALLED]);
}

#[test]
fn exit_130_and_143() {
    for (stage, signal, name, code) in
        [("behaviour", Signal::INT, "SIGINT", 130), ("graph", Signal::TERM, "SIGTERM", 143)]
    {
        let place = Place::new();
        // More than it gets to answer.
        let mut gate = place.gate("verify");
        gate.args(["--generated", "100000"]);
        assert_eq!(at(stage, &mut gate, |id| kill_process(id, signal).unwrap()), Some(code));
        let report = place.report(code, "unverifiable");
        assert!(report.contains(&format!("\"interrupted_by\": \"{name}\"")), "{report}");
        seen_but(&report, &[BEYOND_ANY, BEYOND_A_NO, BEYOND_INSTALLED]);
    }
}

const ARGUMENTS: &str = "ARGUMENTS_WITHOUT_THREADS";

/// From here on nothing in this process starts a thread.
fn forbid_threads() {
    let filter = |calls: Vec<(libc::c_long, Vec<SeccompRule>)>, error: i32| {
        let calls: BTreeMap<i64, _> = calls.into_iter().collect();
        let (action, architecture) = (SeccompAction::Errno(error as u32), std::env::consts::ARCH.try_into().unwrap());
        BpfProgram::try_from(SeccompFilter::new(calls, SeccompAction::Allow, action, architecture).unwrap()).unwrap()
    };
    let thread = libc::CLONE_THREAD as u64;
    let thread = SeccompCondition::new(0, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(thread), thread).unwrap();
    let thread = vec![SeccompRule::new(vec![thread]).unwrap()];
    // A filter cannot see the flags of clone3; without it the C library takes clone.
    seccompiler::apply_filter(&filter(vec![(libc::SYS_clone3, vec![])], libc::ENOSYS)).unwrap();
    seccompiler::apply_filter(&filter(vec![(libc::SYS_clone, thread)], libc::EAGAIN)).unwrap();
}

#[test]
#[ignore = "run by the test below, in a process of its own"]
fn child_without_threads() {
    let arguments = std::env::var(ARGUMENTS).unwrap();
    forbid_threads();
    panic!("{}", Command::new(GATE).args(arguments.lines()).exec());
}

#[test]
fn exit_70() {
    let place = Place::new();
    let gate = place.gate("verify");
    let arguments: Vec<_> = gate.get_args().map(|argument| argument.to_str().unwrap()).collect();
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args([
        &format!("{}::child_without_threads", module_path!().split_once("::").unwrap().1),
        "--exact",
        "--ignored",
    ]);
    let output = child
        .args(["--nocapture"])
        .env("TMPDIR", place.file("tmp"))
        .env(ARGUMENTS, arguments.join("\n"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(70), "{output:?}");
    seen_but(&place.report(70, "unverifiable"), &[BEYOND_ANY, BEYOND_A_NO]);
}
