//! An independent in-toto library reads the statement that the real 0.0.13 earns.

use std::fs;
use std::process::Command;

use serde_json::Value;

use super::gate::{GATE, Identity, run};
use crate::support::registry;

const READ: &str = r#"
import sys, json
from google.protobuf import json_format
from in_toto_attestation.v1.statement import Statement
from in_toto_attestation.predicates.test_result.v0 import test_result_pb2

data = json.load(open(sys.argv[1]))
statement = Statement.copy_from_pb(json_format.ParseDict(data, Statement([], "", {}).pb))
statement.validate()
result = json_format.ParseDict(data["predicate"], test_result_pb2.TestResult())
subject = statement.pb.subject[0]
print(json.dumps([statement.pb.type, statement.pb.predicate_type, dict(subject.digest), result.result, len(result.passed_tests), len(result.configuration)]))
"#;

#[test]
fn an_independent_library_accepts_the_attestation_and_an_audit_the_report() {
    let scratch = registry::scratch();
    let (file, report) = (scratch.path().join("statement.json"), scratch.path().join("report.json"));
    let identity = Identity::released("0.0.13");
    let mut verify = identity.on(Command::new(GATE), "verify");
    run(verify.arg("--attestation").arg(&file).arg("--report").arg(&report)).assert(0, "passed");

    let python = registry::tools(&["in-toto-attestation==0.9.3"]).join("bin/python");
    let read = |path: &std::path::Path| Command::new(&python).args(["-I", "-c", READ]).arg(path).output().unwrap();
    let output = read(&file);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    let expected = serde_json::json!(["https://in-toto.io/Statement/v1", "https://in-toto.io/attestation/test-result/v0.1",
        {"gitCommit": identity.commit}, "PASSED", paired_sdk_gate::check::TABLE.len(), 3]);
    assert_eq!(told, expected);
    // It can say no.
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("https://in-toto.io/Statement/v1", "https://in-toto.io/Statement/v0.9")).unwrap();
    assert!(!read(&file).status.success());

    let audit = |more: &[&str]| run(Command::new(GATE).args(["audit", "--format", "json"]).arg(&report).args(more));
    assert_eq!(audit(&[]).code, Some(0));
    let blocked = registry::blocked_record();
    let against = audit(&["--record", blocked.to_str().unwrap()]);
    assert_eq!((against.code, &against.report["faults"][0]["id"]), (Some(1), &"audit.record-state".into()));
    // A record made active by the same identity is supported; by another, not.
    let record = scratch.path().join("record.json");
    fs::copy(&blocked, &record).unwrap();
    identity.activate(&record, &["--report", report.to_str().unwrap()]).assert(0, "passed");
    assert_eq!(audit(&["--record", record.to_str().unwrap()]).code, Some(0));
    let other = fs::read_to_string(&record).unwrap().replace("\"0.0.13\"", "\"0.0.12\"");
    fs::write(&record, other).unwrap();
    let against = audit(&["--record", record.to_str().unwrap()]);
    let ids: Vec<_> =
        against.report["faults"].as_array().unwrap().iter().map(|fault| fault["id"].as_str().unwrap()).collect();
    assert_eq!((against.code, ids), (Some(1), vec!["audit.record-identity", "audit.record-digest"]));
}
