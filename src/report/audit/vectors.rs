//! The contract, what was asked, and the known differences that came of it.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Fault, add, list, pair, presence, status, text};
use crate::behaviour::check_of;
use crate::contract::advisory::{ADVISORIES, Advisory, advisories};
use crate::contract::{self, Contract, Question, Vector, Verdict};

/// Of a longer series of fresh vectors no more are drawn again: known differences beyond are faults.
const MOST_GENERATED: usize = 1_000_000;

pub(super) fn faults(report: &Value, contract: &Contract, faults: &mut Vec<Fault>) {
    named(report, contract, faults);
    let listed = list(&report["vectors"]);
    let published = contract.vectors().unwrap_or_default();
    // Drawing them takes longer than all else, and where none is listed none is needed.
    let fresh = if listed.len() > published.len() { fresh(report) } else { BTreeMap::new() };
    vectors(report, published, listed, &fresh, faults);
    told(report, listed, &fresh, faults);
}

/// It is that contract with its own vectors.
fn named(report: &Value, contract: &Contract, faults: &mut Vec<Fault>) {
    let facts = &report["contract"];
    let required: Vec<_> = contract.required_contracts.iter().map(|&name| Value::from(name)).collect();
    for (member, wanted) in [
        ("name", contract.name.into()),
        // The manifest's digest covers prose, which the contract leaves to the producer.
        ("vectors_sha256", Value::from(contract.vectors_sha256())),
        ("required_contracts", required.into()),
    ] {
        if facts[member] != wanted {
            add(faults, "audit.contract", format!("{member} {wanted}"), facts[member].to_string());
        }
    }
    let subject = &report["subject"];
    if subject["module_origin"] != contract.module_origin || subject["package"] != contract.package {
        add(faults, "audit.contract", contract.module_origin, text(&subject["module_origin"]));
    }
}

/// Either nothing was asked, as no module was there to ask, or every published vector, and then the fresh ones that were answered
/// otherwise than demanded. Where a check passed, its vectors were answered right, but for known differences of fresh ones.
fn vectors(
    report: &Value,
    published: &[Vector],
    listed: &[Value],
    fresh: &BTreeMap<String, (usize, Vector)>,
    faults: &mut Vec<Fault>,
) {
    presence(faults, "audit.module", "version of the loaded package", &report["module"]["version"], !listed.is_empty());
    if listed.is_empty() {
        if report["verdict"] == "passed" {
            add(faults, "audit.vectors", "vectors behind a pass", "none");
        }
        return;
    }
    let (first, rest) = listed.split_at(published.len().min(listed.len()));
    let drawn: Vec<_> = rest.iter().map(|found| fresh.get(text(&found["id"]))).collect();
    let in_order = drawn.iter().flatten().is_sorted_by(|one, next| one.0 < next.0);
    if first.len() < published.len() || drawn.iter().any(Option::is_none) || !in_order {
        return add(faults, "audit.vectors", "the published vectors, and fresh ones of this seed", "others");
    }
    let asked = published.iter().chain(drawn.into_iter().flatten().map(|(_, vector)| vector));
    for (index, (vector, found)) in asked.zip(listed).enumerate() {
        let (is_fresh, right) = (index >= published.len(), found["observed"] == found["expected"]);
        let passed = status(report, check_of(vector.topic)) == "passed";
        let answered = if is_fresh { !right && (!passed || is_known(report, vector, found)) } else { right || !passed };
        if !is_listed_as(vector, found) || !answered {
            let expected = format!("{} {}", vector.id, vector.expected.name());
            return add(faults, "audit.vectors", expected, found.to_string());
        }
    }
}

fn is_listed_as(vector: &Vector, found: &Value) -> bool {
    let kind = match vector.question {
        Question::Arguments { .. } => "arguments",
        Question::Response { .. } => "response",
        Question::Manifest => "manifest",
    };
    found["id"] == *vector.id
        && found["contract"] == vector.topic.name()
        && found["kind"] == kind
        && found["expected"] == vector.expected.name()
}

/// The fresh vectors of that run, drawn once more, by id with their place.
fn fresh(report: &Value) -> BTreeMap<String, (usize, Vector)> {
    let (Some(seed), Some(count)) = (report["contract"]["seed"].as_u64(), report["contract"]["generated"].as_u64())
    else {
        return BTreeMap::new();
    };
    let count = usize::try_from(count).unwrap_or(usize::MAX).min(MOST_GENERATED);
    let drawn = contract::generate(seed, count).into_iter().enumerate();
    drawn.map(|(index, vector)| (vector.id.clone(), (index, vector))).collect()
}

/// Answered in a way that advisories of the report explain.
fn is_known(report: &Value, vector: &Vector, found: &Value) -> bool {
    let is_reported = |advisory: &&Advisory| list(&report["advisories"]).iter().any(|told| told["id"] == advisory.id);
    let known = known(vector, found);
    !known.is_empty() && known.iter().all(is_reported)
}

/// The known differences that an answer falls under; no crash is known.
fn known(vector: &Vector, found: &Value) -> Vec<&'static Advisory> {
    let answered = [Verdict::Accept.name(), Verdict::Reject.name()].iter().any(|verdict| found["observed"] == *verdict);
    if answered { advisories(&vector.question, &vector.input) } else { Vec::new() }
}

/// Each advisory is one of this program's, in its words, with as many vectors as are listed for it.
fn told(report: &Value, listed: &[Value], fresh: &BTreeMap<String, (usize, Vector)>, faults: &mut Vec<Fault>) {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for found in listed {
        let known = fresh.get(text(&found["id"])).map(|(_, vector)| known(vector, found));
        known.into_iter().flatten().for_each(|advisory| *counts.entry(advisory.id).or_default() += 1);
    }
    let right = |told: &&Value| {
        ADVISORIES.iter().any(|advisory| {
            told["id"] == advisory.id
                && told["specification"] == advisory.specification
                && told["observed"] == advisory.reason
                && told["smallest_input"] == advisory.smallest_input
        })
    };
    // The client's come last.
    let advisories = list(&report["advisories"]);
    let (advisories, _) = advisories.split_at(advisories.iter().take_while(|told| !pair::is_known(told)).count());
    if let Some(odd) = advisories.iter().find(|told| !right(told)) {
        return add(faults, "audit.advisories", "advisories of this program, in its words", odd.to_string());
    }
    let reported: Vec<_> = advisories.iter().map(|told| (text(&told["id"]), told["vectors"].as_u64())).collect();
    let wanted: Vec<_> = counts.into_iter().map(|(id, count)| (id, Some(count))).collect();
    // What the two probes disagree on is listed as the first one answered.
    if reported != wanted && status(report, crate::check::Check::ProbeAgreement) == "passed" {
        add(faults, "audit.advisories", format!("{wanted:?}"), format!("{reported:?}"));
    }
}
