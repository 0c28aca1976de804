//! The real client on the wire: what it does in every scenario, and regressions of it that show nowhere else.
//!
//! The table is `live.toml`; `live.py` is appended to the module before each of its entries. All of it is ours.

use std::fs;

use paired_sdk_gate::{pair, parallel};
use serde::Deserialize;
use serde_json::Value;

use super::gate::{GATE, Identity, Run, run};
use super::mutants::repository;
use crate::support::registry;

#[derive(Deserialize)]
struct Table {
    regression: Vec<Regression>,
}

#[derive(Deserialize)]
struct Regression {
    name: String,
    module: String,
    code: String,
    scenario: String,
}

fn table() -> Vec<Regression> {
    toml::from_str::<Table>(include_str!("live.toml")).unwrap().regression
}

fn verified(module: &str, appended: &str) -> Run {
    let folder = registry::scratch();
    let subject = repository(folder.path(), &format!("netbox_sdk/{module}.py"), appended);
    let mut command = Identity::of(&subject).on(std::process::Command::new(GATE), "verify");
    run(command.args(["--generated", "0", "--limit-answer-seconds", "8"]))
}

/// A part of the table, small enough for a test: each regression is refused by the scenario that it names.
fn regressions(share: usize) {
    const SHARES: usize = 5;
    let table = table();
    assert!(table.len() >= 15);
    let demands = pair::demands();
    let some: Vec<_> = table.iter().skip(share).step_by(SHARES).collect();
    parallel::map(&some, |regression| {
        let Regression { name, module, code, scenario } = regression;
        assert!(scenario == "elsewhere" || demands.iter().any(|demand| demand.id == scenario), "{name}: {scenario}");
        let run = verified(module, &format!("{}\n\n{code}\n", include_str!("live.py")));
        let failed = run.checks("failed");
        assert_eq!(run.code, Some(1), "{name}: {}", run.stderr);
        // The vectors, which ask functions, see nothing of it.
        assert!(failed.iter().all(|id| id.starts_with("pair.")), "{name}: {failed:?}");
        let named = failed.iter().flat_map(|id| run.told(id)).any(|(subject, _)| subject == scenario);
        assert!(named, "{name}: {:#}", run.report["checks"]);
    });
}

#[test]
fn regressions_on_the_wire_are_refused_1() {
    regressions(0);
}

#[test]
fn regressions_on_the_wire_are_refused_2() {
    regressions(1);
}

#[test]
fn regressions_on_the_wire_are_refused_3() {
    regressions(2);
}

#[test]
fn regressions_on_the_wire_are_refused_4() {
    regressions(3);
}

#[test]
fn regressions_on_the_wire_are_refused_5() {
    regressions(4);
}

#[test]
fn the_helpers_alone_change_nothing_on_the_wire() {
    for module in ["client", "plugin_bridge"] {
        verified(module, include_str!("live.py")).assert(0, "passed");
    }
}

/// All releases behave alike, and submit once but for the one advisory.
#[test]
fn released_clients_do_what_every_scenario_asks_for() {
    for version in ["0.0.11", "0.0.12", "0.0.13"] {
        let run = Identity::released(version).verify();
        run.assert(0, "passed");
        let scenarios = run.report["pair"]["scenarios"].as_array().unwrap();
        let demands = pair::demands();
        assert_eq!(scenarios.len(), demands.len());
        for (scenario, demand) in scenarios.iter().zip(&demands) {
            assert_eq!((&scenario["id"], &scenario["observed"]), (&demand.id.into(), &Value::from(&*demand.expected)));
            let demanded = demand.requests.iter().filter(|request| request.starts_with("POST ")).count();
            let posts = if demand.advisory.is_some() { 2 } else { demanded };
            assert_eq!(scenario["posts"], posts, "{version} {}", demand.id);
        }
        let advisories = run.report["advisories"].as_array().unwrap();
        let second = advisories.iter().find(|advisory| advisory["id"] == "second-submission").unwrap();
        assert_eq!(second["vectors"], 2);
        every_change_of_a_scenario_is_found(&run.report);
        let mut denied = Identity::released(version).on(std::process::Command::new(GATE), "verify");
        let denied = run_denied(&mut denied);
        let subjects: Vec<_> = denied.told("pair.dispatch").iter().map(|(subject, _)| (*subject).to_owned()).collect();
        assert_eq!(subjects, ["dispatch.401-invalid-token", "dispatch.403-invalid-token"]);
    }
}

/// A saved report that says something else of a scenario than the table does is no sound one.
fn every_change_of_a_scenario_is_found(report: &Value) {
    let faults = |report: &Value| {
        let faults = paired_sdk_gate::report::audit::faults(report.to_string().as_bytes());
        faults.into_iter().any(|fault| fault.id == "audit.pair")
    };
    assert!(!faults(report));
    let of = |id: &str| pair::demands().iter().position(|demand| demand.id == id).unwrap();
    let (plain, known) = (of("dispatch.201"), of("dispatch.401-invalid-token"));
    type Change = fn(&mut Value, usize, usize);
    let changes: [Change; 6] = [
        |report, plain, _| report["pair"]["scenarios"][plain]["posts"] = 2.into(),
        |report, plain, _| report["pair"]["scenarios"][plain]["observed"] = "request failed".into(),
        |report, plain, known| {
            let twice = report["pair"]["scenarios"][known]["requests"].clone();
            report["pair"]["scenarios"][plain]["requests"] = twice;
            report["pair"]["scenarios"][plain]["posts"] = 2.into();
        },
        |report, plain, _| drop(report["pair"]["scenarios"].as_array_mut().unwrap().remove(plain)),
        |report, plain, known| report["pair"]["scenarios"].as_array_mut().unwrap().swap(plain, known),
        |report, _, _| report["advisories"].as_array_mut().unwrap().retain(|it| it["id"] != "second-submission"),
    ];
    for (at, change) in changes.into_iter().enumerate() {
        let mut forged = report.clone();
        change(&mut forged, plain, known);
        assert!(faults(&forged), "change {at}");
    }
}

fn run_denied(command: &mut std::process::Command) -> Run {
    let denied = run(command.args(["--deny-advisories", "--generated", "0"]));
    denied.refused_by(&["pair.dispatch"]);
    denied
}

/// The README's table is what the scenarios count.
#[test]
fn the_readmes_counts_are_the_tables() {
    let readme = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
    let demands = pair::demands();
    for subject in ["discovery", "dispatch", "access", "numbers"] {
        let of_subject = || demands.iter().filter(|demand| demand.id.split('.').next() == Some(subject));
        let submitting = of_subject().filter(|demand| demand.requests.iter().any(|it| it.starts_with("POST "))).count();
        let row = format!("| `{subject}` | {} | {submitting} |", of_subject().count());
        assert!(readme.contains(&row), "{row}");
    }
}
