//! Where the Python reference gate judges a checkout otherwise than we do, case by case, each with its reason.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Seek, Write};
use std::process::Command;

use serde::Deserialize;

use super::{Case, Expected, cases, parallel};
use crate::support::registry::producer;

/// The committed table.
#[derive(Deserialize)]
struct Table {
    difference: Vec<Difference>,
}

/// Cases that differ for the same reason.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Difference {
    reason: String,
    /// What the reference does, and we do not.
    reference: Says,
    /// Only root can make such a checkout.
    #[serde(default)]
    root: bool,
    cases: Vec<String>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Says {
    Accepts,
    Refuses,
}

/// A variable of the caller's is one of the process, and the reference drops all of them.
fn is_comparable(case: &Case) -> bool {
    !case.name.starts_with("variables: ")
}

#[test]
fn the_reference_differs_where_the_table_says_and_nowhere_else() {
    let cases: Vec<Case> = cases().into_iter().filter(is_comparable).collect();
    let checkouts = parallel::map(&cases, Case::make);
    let places: Vec<_> = checkouts.iter().map(|it| (it.root(), &it.commit)).collect();
    let mut input = tempfile::tempfile().unwrap();
    input.write_all(&serde_json::to_vec(&places).unwrap()).unwrap();
    input.rewind().unwrap();
    let mut python = Command::new("python3");
    python.arg("-I").arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus/reference.py"));
    python.arg(producer().join("tests/validate_paired_netbox_sdk_bridge.py"));
    let output = python.stdin(input).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said: Vec<Option<String>> = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(said.len(), cases.len());

    let mut found = BTreeMap::new();
    for (case, said) in cases.iter().zip(said) {
        match (&case.expected, said) {
            (Expected::Sound, Some(why)) => drop(found.insert(case.name.clone(), (Says::Refuses, why))),
            (Expected::Refused(..) | Expected::Undecided(..), None) => {
                found.insert(case.name.clone(), (Says::Accepts, String::new()));
            }
            _ => {}
        }
    }
    let table: Table = toml::from_str(include_str!("reference.toml")).unwrap();
    let root = rustix::process::geteuid().is_root();
    let mut listed = BTreeMap::new();
    for difference in table.difference.iter().filter(|difference| root || !difference.root) {
        assert!(difference.reason.ends_with('.'), "{}", difference.reason);
        for name in &difference.cases {
            assert_eq!(listed.insert(name.clone(), difference.reference), None, "{name} is listed twice");
        }
    }
    let agrees = |name: &&String| found.get(*name).map(|(says, _)| *says) == listed.get(*name).copied();
    let names: BTreeSet<&String> = found.keys().chain(listed.keys()).collect();
    let tell = |name: &String| format!("{name:?}: found {:?}, listed {:?}", found.get(name), listed.get(name));
    let wrong: Vec<_> = names.into_iter().filter(|name| !agrees(name)).map(tell).collect();
    assert!(wrong.is_empty(), "{} of {} cases:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}
