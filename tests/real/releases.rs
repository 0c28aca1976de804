//! Four releases, two gates, the same verdicts; and what the report says of each.

use std::process::Command;

use paired_sdk_gate::check::TABLE;
use paired_sdk_gate::digest::sha256;
use serde_json::{Value, json};

use super::gate::{GATE, Identity, committed_package, git, run};
use crate::support::offline::without_network;
use crate::support::registry;

#[test]
fn release_0_0_10_has_no_bridge_and_both_gates_refuse_it() {
    let subject = registry::subject("0.0.10");
    let reference = registry::reference(&subject, &registry::environment("0.0.10"));
    assert_eq!(reference.status.code(), Some(1), "{}", String::from_utf8_lossy(&reference.stderr));

    let run = Identity::of(&subject).verify();
    run.assert(1, "refused");
    assert_eq!(run.checks("failed"), ["package.module"]);
    let [finding] = run.findings("package.module") else { panic!("one finding: {:#}", run.report) };
    assert_eq!(finding["subject"], "netbox_sdk/plugin_bridge.py");
    assert!(!finding["hint"].as_str().unwrap().is_empty());
    // Nothing of a refused subject is run.
    assert!(run.checks("not-run").contains(&"module.origin"));
}

#[test]
fn release_0_0_11_passes_both_gates() {
    passes("0.0.11", 70);
}

#[test]
fn release_0_0_12_passes_both_gates() {
    passes("0.0.12", 72);
}

#[test]
fn release_0_0_13_passes_both_gates() {
    passes("0.0.13", 72);
}

/// Both gates accept the release, ours without a network, and every fact of its report is what git, hashing, the interpreter and
/// the table say independently.
#[track_caller]
fn passes(version: &str, files: usize) {
    let subject = registry::subject(version);
    let reference = registry::reference(&subject, &registry::environment(version));
    assert_eq!(reference.status.code(), Some(0), "{}", String::from_utf8_lossy(&reference.stderr));

    let identity = Identity::of(&subject);
    let run = run(&mut identity.on(without_network(GATE), "verify"));
    run.assert(0, "passed");
    let ids: Vec<_> = TABLE.iter().map(|check| check.id()).collect();
    assert_eq!(run.checks("passed"), ids);

    let report = &run.report;
    assert_eq!(report["schema"], "paired-sdk-gate/report/v1");
    assert_eq!(report["tool"], json!({ "name": "paired-sdk-gate", "version": env!("CARGO_PKG_VERSION") }));
    assert_eq!(report["subject"]["commit"], subject.commit);
    assert_eq!(report["subject"]["tree"], git(&subject.repo, ["rev-parse", "HEAD^{tree}"]).trim_end());
    assert_eq!(report["subject"]["version"], version);
    assert_eq!(report["subject"]["module_origin"], "netbox_sdk/plugin_bridge.py");
    assert_eq!(report["subject"]["package"], "netbox_sdk");

    let objects = git(&subject.repo, ["cat-file", "--batch-all-objects", "--batch-check=%(objecttype)"]);
    let count = |kind: &str| objects.lines().filter(|line| *line == kind).count();
    for (member, kind) in [("commits", "commit"), ("trees", "tree"), ("blobs", "blob")] {
        assert_eq!(report["source"][member], count(kind), "{member}");
    }
    assert_eq!(report["source"]["object_format"], "sha1");
    assert_eq!(report["source"]["history"], "complete");
    assert_eq!(report["source"]["shallow_boundary"], json!([]));

    let expected = committed_package(&subject);
    assert_eq!(expected.len(), files);
    let file = |(path, (mode, size, git_sha1, sha256)): (&String, &(String, u64, String, String))| json!({ "path": path, "mode": mode, "size": size, "git_sha1": git_sha1, "sha256": sha256 });
    assert_eq!(report["package"]["files"], Value::from_iter(expected.iter().map(file)));

    let python = identity.environment.join("bin/python");
    let asked = "import sys; print(sys.implementation.name, *sys.version_info[:3])";
    let said = Command::new(&python).args(["-I", "-c", asked]).output().unwrap();
    let (implementation, version_of) = std::str::from_utf8(&said.stdout).unwrap().trim_end().split_once(' ').unwrap();
    assert_eq!(report["environment"]["implementation"], implementation);
    assert_eq!(report["environment"]["python_version"], version_of.replace(' ', "."));
    assert_eq!(report["environment"]["interpreter_sha256"], sha256(&std::fs::read(python).unwrap()));
    assert_eq!(report["module"]["name"], "netbox_sdk.plugin_bridge");
    assert_eq!(report["module"]["version"], version);
    assert_eq!(report["contract"]["name"], "proxbox-bridge-v1");
    let required = json!(["lossless-json-integer-identity", "bounded-rfc3339-normalization"]);
    assert_eq!(report["contract"]["required_contracts"], required);
    let vectors = report["vectors"].as_array().unwrap();
    assert!(vectors.iter().any(|vector| vector["expected"] == "accept"));
    assert!(vectors.iter().any(|vector| vector["expected"] == "reject"));
    let (fresh, published): (Vec<_>, Vec<_>) =
        vectors.iter().partition(|vector| vector["id"].as_str().unwrap().starts_with("generated/"));
    assert!(published.iter().all(|vector| vector["observed"] == vector["expected"]), "{published:#?}");
    assert_eq!(report["contract"]["generated"], 3000);
    // Of the fresh ones those are listed that showed a known difference, each under one advisory at least.
    let known = report["advisories"].as_array().unwrap().iter().map(|advisory| advisory["vectors"].as_u64().unwrap());
    assert!(fresh.iter().all(|vector| vector["observed"] != vector["expected"]));
    assert!(known.sum::<u64>() >= fresh.len() as u64 && !fresh.is_empty());
    assert_eq!(report["record"]["action"], "none");
}
