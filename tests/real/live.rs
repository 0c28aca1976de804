//! The real client on the wire: what it does in every scenario, and regressions of it that show nowhere else.
//!
//! The table is `live.toml`; `live.py` is appended to the module before each of its entries. All of it is ours.

use std::fs;
use std::process::Command;

use paired_sdk_gate::contract::Contract;
use paired_sdk_gate::{pair, parallel};
use serde::Deserialize;
use serde_json::Value;

use super::gate::{GATE, Identity, Run, run};
use super::mutants::repository;
use crate::audit::forged;
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
    let mut command = Identity::of(&subject).on(Command::new(GATE), "verify");
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
        let mut denied = Identity::released(version).on(Command::new(GATE), "verify");
        let denied = run_denied(&mut denied);
        let subjects: Vec<_> = denied.told("pair.dispatch").iter().map(|(subject, _)| (*subject).to_owned()).collect();
        assert_eq!(subjects, ["dispatch.401-invalid-token", "dispatch.403-invalid-token"]);
    }
}

#[test]
fn a_saved_report_that_says_something_else_of_a_scenario_is_not_sound() {
    let report = run(Identity::released("0.0.13").on(Command::new(GATE), "verify").args(["--generated", "0"])).report;
    let faults = |change: &dyn Fn(&mut Value)| {
        let text = forged(&report.to_string(), |report| change(report));
        let faults = paired_sdk_gate::report::audit::faults(text.as_bytes(), Contract::bridge_v1());
        faults.into_iter().map(|fault| fault.id).collect::<Vec<_>>()
    };
    assert_eq!(faults(&|_| {}), [""; 0]);
    let of = |id: &str| pair::demands().iter().position(|demand| demand.id == id).unwrap();
    let (plain, known) = (of("dispatch.201"), of("dispatch.401-invalid-token"));
    let listed = |report: &mut Value| report["pair"]["scenarios"].as_array_mut().unwrap().clone();
    let twice = |report: &mut Value| {
        report["pair"]["scenarios"][plain]["requests"] = report["pair"]["scenarios"][known]["requests"].clone();
        report["pair"]["scenarios"][plain]["posts"] = 2.into();
    };
    let once = |report: &mut Value| {
        report["pair"]["scenarios"][known]["requests"].as_array_mut().unwrap().pop();
        report["pair"]["scenarios"][known]["posts"] = 1.into();
    };
    let less = |report: &mut Value| report["pair"]["scenarios"] = listed(report)[1..].into();
    let untold = |report: &mut Value| {
        report["advisories"].as_array_mut().unwrap().retain(|told| told["id"] != "second-submission");
    };
    let reworded = |report: &mut Value| {
        let told = report["advisories"].as_array_mut().unwrap();
        told.iter_mut().find(|told| told["id"] == "second-submission").unwrap()["observed"] = "nothing".into();
    };
    type Change<'a> = &'a dyn Fn(&mut Value);
    let changes: [(Change<'_>, &[&str]); 10] = [
        (&|report| report["pair"]["scenarios"][plain]["posts"] = 2.into(), &["audit.pair"]),
        (&|report| report["pair"]["scenarios"][plain]["expected"] = "request failed".into(), &["audit.pair"]),
        (&|report| report["pair"]["scenarios"][plain]["observed"] = "request failed".into(), &["audit.pair"]),
        (&|report| report["pair"]["scenarios"].as_array_mut().unwrap().swap(0, 1), &["audit.pair"]),
        (&|report| report["pair"]["sandbox"] = Value::Null, &["audit.pair"]),
        (&twice, &["audit.pair"]),
        (&less, &["audit.pair"]),
        (&once, &["audit.advisories"]),
        (&untold, &["audit.advisories"]),
        (&reworded, &["audit.advisories"]),
    ];
    for (at, (change, ids)) in changes.into_iter().enumerate() {
        assert_eq!(faults(change), ids, "change {at}");
    }
}

fn run_denied(command: &mut Command) -> Run {
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
