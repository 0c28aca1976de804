//! The real 0.0.13 under a manifest of other words or contents, with its known differences denied, and thousands of fresh
//! vectors of every release.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use paired_sdk_gate::contract::Contract;
use paired_sdk_gate::contract::advisory::ADVISORIES;
use paired_sdk_gate::digest::sha256;

use super::gate::{GATE, Identity, Run, run};
use crate::support::registry;

#[test]
fn a_manifest_in_other_words_passes_and_one_of_other_contents_does_not() {
    let dir = registry::scratch();
    let identity = Identity::released("0.0.13");
    let given = |from: &str, to: &str| {
        let text = Contract::bridge_v1().manifest().replace(from, to);
        assert_ne!(text, Contract::bridge_v1().manifest());
        let file = dir.path().join("manifest.json");
        std::fs::write(&file, &text).unwrap();
        let run = run(identity.on(Command::new(GATE), "verify").arg("--manifest").arg(&file));
        assert_eq!(run.report["contract"]["manifest_sha256"], sha256(text.as_bytes()));
        run
    };
    given("Proxbox jobs", "Other words").assert(0, "passed");
    let run = given("\"maxLength\": 200", "\"maxLength\": 201");
    let place = "manifest /tools/1/inputSchema/properties/job_name/maxLength";
    assert_eq!(run.refused_by(&["contract.manifest"]), [(place, "201")]);
    assert!(run.checks("not-run").contains(&"module.origin"));
}

#[test]
fn denied_advisories_refuse_with_every_vector_that_showed_one() {
    let identity = Identity::released("0.0.13");
    let verify = |more: &[&str]| run(identity.on(Command::new(GATE), "verify").args(["--seed", "3"]).args(more));
    let (tolerated, denied) = (verify(&[]), verify(&["--deny-advisories"]));
    tolerated.assert(0, "passed");
    denied.assert(1, "refused");
    // The scenarios come after the vectors, and these were refused.
    let vectors = |run: &Run| {
        let advisories = run.report["advisories"].as_array().unwrap().iter();
        advisories.filter(|advisory| advisory["id"] != "second-submission").cloned().collect::<Vec<_>>()
    };
    assert_eq!(denied.report["advisories"].as_array(), Some(&vectors(&tolerated)));
    let listed: BTreeSet<_> = denied.report["vectors"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|vector| vector["observed"] != vector["expected"])
        .map(|vector| vector["id"].as_str().unwrap())
        .collect();
    let checks = ["vectors.integer", "vectors.date-time", "vectors.schema"];
    assert!(denied.checks("failed").iter().all(|id| checks.contains(id)), "{:?}", denied.checks("failed"));
    let told = checks.iter().flat_map(|check| denied.told(check));
    let found: BTreeSet<_> = told.map(|(subject, _)| subject.split(' ').next().unwrap()).collect();
    assert_eq!(found, listed);
    assert!(!found.is_empty() && found.iter().all(|id| id.starts_with("generated/")));
}

/// How many runs of how many vectors it takes to ask each release 100,000.
const SEEDS: u64 = 20;
const EACH: u64 = 5_000;

#[test]
#[ignore = "a minute or two: cargo nextest run --run-ignored only a_hundred_thousand"]
fn a_hundred_thousand_of_0_0_11() {
    only_listed_advisories("0.0.11");
}

#[test]
#[ignore = "a minute or two: cargo nextest run --run-ignored only a_hundred_thousand"]
fn a_hundred_thousand_of_0_0_12() {
    only_listed_advisories("0.0.12");
}

#[test]
#[ignore = "a minute or two: cargo nextest run --run-ignored only a_hundred_thousand"]
fn a_hundred_thousand_of_0_0_13() {
    only_listed_advisories("0.0.13");
}

/// Every run passes, and together they show each advisory of the list.
fn only_listed_advisories(version: &str) {
    let identity = Identity::released(version);
    let mut seen: BTreeMap<String, u64> = BTreeMap::new();
    for seed in 1..=SEEDS {
        let mut gate = identity.on(Command::new(GATE), "verify");
        let run = run(gate.args(["--seed", &seed.to_string(), "--generated", &EACH.to_string()]));
        run.assert(0, "passed");
        assert_eq!(run.report["contract"]["generated"], EACH);
        for advisory in run.report["advisories"].as_array().unwrap() {
            let id = advisory["id"].as_str().unwrap().to_owned();
            *seen.entry(id).or_default() += advisory["vectors"].as_u64().unwrap();
        }
    }
    println!("{version}: {} vectors of {SEEDS} seeds; {seen:?}", SEEDS * EACH);
    let seen: BTreeSet<_> = seen.keys().map(String::as_str).collect();
    assert_eq!(seen, ADVISORIES.iter().map(|advisory| advisory.id).collect());
}
