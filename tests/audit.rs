//! Saved reports, re-checked: whole ones are sound, every tampering is found, and the attestation says the same.

pub mod sweep;

use std::fs;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use paired_sdk_gate::contract::Contract;
use paired_sdk_gate::digest::sha256;
use paired_sdk_gate::report::Verdict;
use paired_sdk_gate::report::audit::faults;
use paired_sdk_gate::report::v1::{self, Circumstances, Command, Record, RecordAction, Report, RunFacts};

use crate::support::gate::{Outcome, gate, identified};
use crate::support::subject::{Subject, VERSION, Verified};

/// A report of the embedded SDK, which the real contract refuses.
fn refused() -> String {
    let subject = Subject::new();
    let mut verify = identified("verify", subject.repo.root(), &subject.commit, VERSION, &subject.environment);
    let outcome = Outcome::of(verify.args(["--format", "json"]));
    assert_eq!(outcome.code, 1);
    outcome.stdout
}

fn copied() -> String {
    let subject = Subject::new();
    let mut snapshot = gate();
    snapshot.arg("snapshot").arg("--sdk-root").arg(subject.repo.root()).args(["--expected-commit", &subject.commit]);
    let outcome = Outcome::of(snapshot.arg("--out").arg(subject.dir.path().join("out")).args(["--format", "json"]));
    assert_eq!(outcome.code, 0);
    outcome.stdout
}

fn unverifiable() -> String {
    let outcome = Outcome::of(
        identified("verify", "/nowhere".as_ref(), &"1".repeat(40), "1.0", "/nowhere").args(["--format", "json"]),
    );
    assert_eq!(outcome.code, 3);
    outcome.stdout
}

fn write_refused() -> String {
    let mut activate = identified("activate", "/nowhere".as_ref(), &"1".repeat(40), "1.0", "/nowhere");
    let outcome = Outcome::of(activate.args(["--format", "json", "--record", "/nowhere/record.json"]));
    assert_eq!(outcome.code, 4);
    outcome.stdout
}

fn ids(report: &str) -> Vec<&'static str> {
    ids_under(Contract::bridge_v1(), report)
}

fn ids_under(contract: &Contract, report: &str) -> Vec<&'static str> {
    faults(report.as_bytes(), contract).into_iter().map(|fault| fault.id).collect()
}

/// What a forger would do: changes the value and fills in a digest that fits.
pub fn forged(report: &str, change: impl FnOnce(&mut Value)) -> String {
    let mut value: Value = serde_json::from_str(report).unwrap();
    change(&mut value);
    let zeros = "0".repeat(64);
    value["run"]["report_sha256"] = zeros.as_str().into();
    let text = serde_json::to_string_pretty(&value).unwrap();
    let member = format!("\"report_sha256\": \"{zeros}\"");
    text.replace(&member, &format!("\"report_sha256\": \"{}\"", sha256(text.as_bytes())))
}

#[test]
fn a_report_of_each_exit_code_is_sound() {
    for report in [refused(), copied(), unverifiable(), write_refused()] {
        assert_eq!(ids(&report), [""; 0], "{report}");
        assert_eq!(ids(&forged(&report, |_| {})), [""; 0], "another writer's order of members is no fault");
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("report.json");
    let report = refused();
    fs::write(&path, &report).unwrap();
    let audit = || Outcome::of(gate().args(["audit", "--format", "json"]).arg(&path));
    let sound = audit();
    let said = sound.json();
    let expected = json!({"schema": "paired-sdk-gate/audit/v1", "exit_code": 0, "sound": true,
        "report_sha256": sha256(report.as_bytes()), "faults": []});
    assert_eq!((sound.code, said), (0, expected));
    fs::write(&path, report.replacen("refused", "passed", 1)).unwrap();
    let unsound = audit();
    assert_eq!((unsound.code, unsound.json()["faults"][0]["id"].clone()), (1, "audit.digest".into()));
    fs::remove_file(&path).unwrap();
    assert_eq!(audit().code, 3);
}

#[test]
fn a_report_of_a_release_artifact_names_the_one_that_was_given() {
    let subject = Subject::new();
    let artifact = subject.dir.path().join("netbox_sdk-1.0.0.tar.gz");
    let report = |code: i32| {
        let mut verify = identified("verify", subject.repo.root(), &subject.commit, VERSION, &subject.environment);
        let outcome = Outcome::of(verify.arg("--release-artifact").arg(&artifact).args(["--format", "json"]));
        assert_eq!(outcome.code, code, "{}", outcome.stderr);
        assert_eq!(ids(&outcome.stdout), [""; 0], "{}", outcome.stdout);
        outcome.stdout
    };
    let missing = report(3);
    fs::write(&artifact, "no archive").unwrap();
    let odd = report(1);
    type Change = fn(&mut Value);
    let cases: [(&str, Change); 6] = [
        (&odd, |report| report["release"]["artifact"] = "wheel".into()),
        (&odd, |report| report["release"]["name"] = "netbox_sdk-2.0.0.tar.gz".into()),
        (&odd, |report| report["release"]["sha256"] = Value::Null),
        (&odd, |report| report["release"]["size"] = Value::Null),
        (&odd, |report| report["run"]["release_artifact"] = Value::Null),
        (&missing, |report| report["release"]["artifact"] = "not-given".into()),
    ];
    for (at, (report, change)) in cases.into_iter().enumerate() {
        assert_eq!(ids(&forged(report, change)), ["audit.release"], "case {at}");
    }
}

/// Every pointer to a scalar of the report.
fn scalars(value: &Value, pointer: String, found: &mut Vec<String>) {
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, item)| scalars(item, format!("{pointer}/{at}"), found))
        }
        Value::Object(members) => members.iter().for_each(|(name, item)| {
            scalars(item, format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1")), found);
        }),
        _ => found.push(pointer),
    }
}

#[test]
fn every_tampering_of_any_field_is_refused() {
    let report = unverifiable();
    let value: Value = serde_json::from_str(&report).unwrap();
    let mut pointers = Vec::new();
    scalars(&value, String::new(), &mut pointers);
    assert!(pointers.len() > 150, "{}", pointers.len());
    for pointer in &pointers {
        let mut tampered = value.clone();
        let place = tampered.pointer_mut(pointer).unwrap();
        *place = match &*place {
            Value::String(text) => format!("{text}x").into(),
            Value::Number(number) => (number.as_u64().unwrap() + 1).into(),
            Value::Bool(truth) => (!truth).into(),
            _ => "x".into(),
        };
        let text = serde_json::to_string_pretty(&tampered).unwrap() + "\n";
        assert!(!ids(&text).is_empty(), "{pointer}");
    }
    let mut runner = TestRunner::new(Config { cases: 256, failure_persistence: None, ..Config::default() });
    let flip = (0..report.len(), 1..=0x7f_u8);
    runner
        .run(&flip, |(at, change)| {
            let mut bytes = report.clone().into_bytes();
            bytes[at] ^= change;
            prop_assert!(!faults(&bytes, Contract::bridge_v1()).is_empty(), "byte {}", at);
            Ok(())
        })
        .unwrap();
}

#[test]
fn what_contradicts_itself_is_refused_even_with_a_fitting_digest() {
    type Change = fn(&mut Value);
    let (refused, copied, unverifiable, write_refused) = (refused(), copied(), unverifiable(), write_refused());
    let cases: [(&str, &str, Change); 22] = [
        ("audit.verdict", &refused, |report| report["verdict"] = "unverifiable".into()),
        ("audit.verdict", &unverifiable, |report| report["verdict"] = "refused".into()),
        ("audit.verdict", &copied, |report| report["command"] = "verify".into()),
        ("audit.verdict", &write_refused, |report| report["record"]["refused"] = Value::Null),
        ("audit.exit-code", &refused, |report| report["exit_code"] = 0.into()),
        ("audit.exit-code", &unverifiable, |report| report["exit_code"] = 130.into()),
        ("audit.exit-code", &unverifiable, |report| report["run"]["interrupted_by"] = "SIGTERM".into()),
        ("audit.checks", &refused, |report| report["checks"][0]["id"] = "git.other".into()),
        ("audit.checks", &refused, |report| report["checks"][0]["claim"] = "anything".into()),
        ("audit.checks", &refused, |report| report["checks"][0]["stage"] = "snapshot".into()),
        ("audit.checks", &refused, |report| drop(report["checks"].as_array_mut().unwrap().pop())),
        ("audit.checks", &refused, |report| report["checks"].as_array_mut().unwrap().swap(0, 1)),
        ("audit.findings", &refused, |report| report["checks"][0]["status"] = "failed".into()),
        ("audit.findings", &unverifiable, |report| report["checks"][0]["findings"] = json!([])),
        ("audit.package-digest", &copied, |report| report["package"]["files"][0]["sha256"] = "0".repeat(64).into()),
        ("audit.package-digest", &copied, |report| report["subject"]["package_digest"] = Value::Null),
        ("audit.package-files", &copied, |report| report["package"]["files"].as_array_mut().unwrap().swap(0, 1)),
        ("audit.record-action", &write_refused, |report| report["record"]["after_sha256"] = "0".repeat(64).into()),
        ("audit.contract", &copied, |report| report["contract"]["vectors_sha256"] = "0".repeat(64).into()),
        ("audit.contract", &copied, |report| report["contract"]["name"] = "another".into()),
        ("audit.contract", &copied, |report| report["subject"]["module_origin"] = "netbox_sdk/other.py".into()),
        ("audit.schema", &copied, |report| report["more"] = 1.into()),
    ];
    for (id, report, change) in cases {
        let found = ids(&forged(report, change));
        assert!(found.contains(&id), "{id}: {found:?}");
    }
    // The whole way: a refusal dressed up as a pass.
    let dressed = forged(&refused, |report| {
        report["verdict"] = "passed".into();
        report["exit_code"] = 0.into();
        for check in report["checks"].as_array_mut().unwrap() {
            check["status"] = "passed".into();
            check["findings"] = json!([]);
        }
        report["vectors"] = json!([]);
    });
    assert_eq!(
        ids(&dressed),
        ["audit.times", "audit.environment", "audit.module", "audit.loaded", "audit.vectors", "audit.pair"]
    );
    assert_eq!(ids("{"), ["audit.json"]);
}

#[test]
fn the_attestation_says_what_the_report_says() {
    let subject = Subject::new();
    let (file, report_file) = (subject.dir.path().join("statement.json"), subject.dir.path().join("report.json"));
    let mut verify = identified("verify", subject.repo.root(), &subject.commit, VERSION, &subject.environment);
    let outcome = Outcome::of(verify.arg("--attestation").arg(&file).arg("--report").arg(&report_file));
    assert_eq!(outcome.code, 1);
    let statement: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    let schema = serde_json::from_str(include_str!("../fixtures/attestation-v1.schema.json")).unwrap();
    assert!(jsonschema::is_valid(&schema, &statement));
    assert_eq!(statement["_type"], "https://in-toto.io/Statement/v1");
    assert_eq!(statement["subject"], json!([{"name": "netbox_sdk", "digest": {"gitCommit": subject.commit}}]));
    let predicate = &statement["predicate"];
    assert_eq!(
        (&predicate["result"], &predicate["failedTests"]),
        (&"FAILED".into(), &json!(["module.origin", "probe.transcript"]))
    );
    let digest = sha256(&fs::read(report_file).unwrap());
    assert_eq!(
        predicate["configuration"][0],
        json!({"name": "paired-sdk-gate/report/v1", "digest": {"sha256": digest}})
    );
    let told: usize = ["passedTests", "warnedTests", "failedTests"]
        .iter()
        .map(|list| predicate[list].as_array().unwrap().len())
        .sum();
    assert_eq!(told, paired_sdk_gate::check::TABLE.len());
}

/// What a run of the embedded SDK under its own contract reports, with a record that was made active if `command` says so.
fn passed(command: Command) -> String {
    let subject = Subject::new();
    let Verified { run, approval } = subject.verify();
    assert!(approval.is_some());
    let contract = Contract::demo();
    let digest = |digit: &str| Some(digit.repeat(64));
    let record = match command {
        Command::Activate => {
            let (before_sha256, after_sha256) = (digest("a"), digest("b"));
            Record { action: RecordAction::Activated, before_sha256, after_sha256, refused: None }
        }
        _ => Record::none(),
    };
    let facts = RunFacts {
        started_at: "2026-01-01T00:00:00Z".into(),
        finished_at: "2026-01-01T00:01:00Z".into(),
        duration_ms: 60_000,
        stages: run.evidence.durations.iter().map(|(stage, _)| (stage.name(), 1)).collect(),
        sdk_root: subject.repo.root().display().to_string(),
        environment_root: Some(subject.environment.display().to_string()),
        record: (command == Command::Activate).then(|| "record.json".into()),
        base_prefix: run.evidence.behaviour.interpreter.as_ref().map(|found| found.base_prefix.clone()),
        ..RunFacts::default()
    };
    let about = Circumstances {
        command,
        verdict: Verdict::Passed,
        exit_code: 0,
        subject: v1::Subject {
            commit: subject.commit.clone(),
            tree: None,
            version: Some(VERSION.into()),
            module_origin: contract.module_origin.into(),
            package: contract.package.into(),
            package_digest: None,
        },
        contract,
        manifest: contract.manifest(),
        seed: 7,
        generated: 0,
        limits: &subject.limits,
        record,
        run: facts,
    };
    Report::new(&run, about).to_json().unwrap()
}

#[test]
fn a_forged_pass_is_seen_but_where_nothing_in_the_report_says_otherwise() {
    let reports = [Command::Verify, Command::Activate].map(passed);
    let demo = Contract::demo();
    for report in &reports {
        assert_eq!(ids_under(demo, report), [""; 0], "{report}");
    }
    let [verify, activate] = &reports;
    // What passed is that contract's and no other.
    assert_eq!(ids(verify), ["audit.loaded", "audit.contract"]);
    let mut unseen = sweep::unseen(verify, demo, &[""]);
    // All else is as in the other report.
    unseen.extend(sweep::unseen(activate, demo, &["/command", "/exit_code", "/record", "/run", "/verdict"]));
    assert_eq!(unseen, sweep::places(&[sweep::BEYOND_ANY, sweep::BEYOND_A_PASS]));
}

#[test]
fn a_forged_no_stays_a_no_and_is_seen_but_where_nothing_in_the_report_says_otherwise() {
    let bridge = Contract::bridge_v1();
    let mut unseen = sweep::unseen(&refused(), bridge, &[""]);
    unseen.extend(sweep::unseen(&unverifiable(), bridge, &[""]));
    unseen.extend(sweep::unseen(&write_refused(), bridge, &["/record", "/verdict", "/exit_code"]));
    assert_eq!(unseen, sweep::places(&[sweep::BEYOND_ANY, sweep::BEYOND_A_NO]));
}
