//! A saved report, held against its schema, against itself and against a record. Nothing is proven anew: an audit says
//! that a report is whole and consistent, not that its writer told the truth. Who wrote it, a signature has to say.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::v1;
use crate::activation::{Record, State};
use crate::check::{Check, Stage, TABLE};
use crate::contract::advisory::{Advisory, advisories};
use crate::contract::{self, Contract, Vector, Verdict};
use crate::digest::sha256;
use crate::inventory::{Form, ReleaseFile};

/// The largest report, in bytes.
pub const MAX_BYTES: u64 = 64 << 20;

/// Of a longer series of fresh vectors no more are drawn again: known differences beyond are faults.
const MOST_GENERATED: usize = 1_000_000;

/// One thing that is not as it has to be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Fault {
    /// Stable.
    pub id: &'static str,
    /// What had to be there.
    pub expected: String,
    /// What was there.
    pub found: String,
}

/// Every fault of a report, at most one of each kind but the schema's; none means it is whole and consistent.
pub fn faults(bytes: &[u8]) -> Vec<Fault> {
    let mut faults = Vec::new();
    let report: Value = match serde_json::from_slice(bytes) {
        Ok(report) => report,
        Err(error) => {
            add(&mut faults, "audit.json", "one JSON object", error.to_string());
            return faults;
        }
    };
    let schema = v1::json_schema().to_value();
    match jsonschema::validator_for(&schema) {
        Ok(validator) => {
            for error in validator.iter_errors(&report).take(20) {
                add(&mut faults, "audit.schema", "a report of version 1", error.to_string());
            }
        }
        Err(error) => add(&mut faults, "audit.schema", "a usable schema", error.to_string()),
    }
    let digest = v1::digest_of(bytes);
    let named = text(&report["run"]["report_sha256"]);
    if digest.as_deref() != Some(named) {
        add(&mut faults, "audit.digest", digest.unwrap_or("a digest in the report".into()), named);
    }
    if faults.is_empty() {
        checks(&report, &mut faults);
        verdict(&report, &mut faults);
        package(&report, &mut faults);
        release(&report, &mut faults);
        vectors(&report, &mut faults);
        contract(&report, &mut faults);
    }
    faults
}

/// What a record says that the report does not.
pub fn record_faults(report: &[u8], record: &Record, bytes: &[u8]) -> Vec<Fault> {
    let mut faults = Vec::new();
    let Ok(report) = serde_json::from_slice::<Value>(report) else { return faults };
    let subject = &report["subject"];
    match record.state() {
        State::Blocked => add(&mut faults, "audit.record-state", "an active record", "blocked"),
        State::Active { version, commit } => {
            let proven = (text(&subject["version"]), text(&subject["commit"]));
            let named = (version.as_str(), &*commit.to_string());
            if proven != named {
                let words = |(version, commit)| format!("version {version}, commit {commit}");
                add(&mut faults, "audit.record-identity", words(proven), words(named));
            }
            if report["verdict"] != "passed" {
                add(&mut faults, "audit.record-verdict", "a report that passed", text(&report["verdict"]));
            }
        }
    }
    let written = matches!(text(&report["record"]["action"]), "activated" | "unchanged");
    if let (true, Some(after)) = (written, report["record"]["after_sha256"].as_str())
        && after != sha256(bytes)
    {
        add(&mut faults, "audit.record-digest", after, sha256(bytes));
    }
    faults
}

fn add(faults: &mut Vec<Fault>, id: &'static str, expected: impl Into<String>, found: impl Into<String>) {
    faults.push(Fault { id, expected: expected.into(), found: found.into() });
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// The table is this program's, and findings stand exactly where something did not pass.
fn checks(report: &Value, faults: &mut Vec<Fault>) {
    let rows: Vec<_> = list(&report["checks"])
        .iter()
        .map(|row| (text(&row["id"]), text(&row["stage"]), text(&row["claim"])))
        .collect();
    let table: Vec<_> = TABLE.iter().map(|check| (check.id(), check.stage().name(), check.claim())).collect();
    if rows != table {
        let odd = rows.iter().zip(&table).find(|(row, wanted)| row != wanted).map(|(row, _)| row.0);
        let found = odd.map_or(format!("{} rows", rows.len()), |id| format!("{id:?}"));
        add(faults, "audit.checks", format!("the {} rows of this program's table", table.len()), found);
    }
    for row in list(&report["checks"]) {
        let explained = !list(&row["findings"]).is_empty();
        let open = matches!(text(&row["status"]), "failed" | "error");
        if explained != open {
            let found =
                format!("{} {} with {} findings", text(&row["id"]), text(&row["status"]), list(&row["findings"]).len());
            return add(
                faults,
                "audit.findings",
                "findings exactly where a check failed or could not be decided",
                found,
            );
        }
    }
}

/// The verdict follows from the checks, and the exit code from the verdict.
fn verdict(report: &Value, faults: &mut Vec<Fault>) {
    let rows = list(&report["checks"]);
    let every = |status: &str| rows.iter().all(|row| row["status"] == status);
    let failed = rows.iter().any(|row| row["status"] == "failed");
    let command = text(&report["command"]);
    let action = text(&report["record"]["action"]);
    let refused = !report["record"]["refused"].is_null();
    let git_half = [Stage::Graph, Stage::Inventory, Stage::Snapshot].map(Stage::name);
    let copied = rows
        .iter()
        .all(|row| row["status"] == if git_half.contains(&text(&row["stage"])) { "passed" } else { "not-run" });
    let interrupted = &report["run"]["interrupted_by"];
    let verdict = text(&report["verdict"]);
    let (follows, codes): (bool, &[u64]) = match verdict {
        "passed" => (
            every("passed") && command != "snapshot" && !refused && (command == "activate") == (action != "none"),
            &[0],
        ),
        "copied" => (command == "snapshot" && copied, &[0]),
        "refused" => (failed, &[1]),
        "unverifiable" => {
            let codes: &[u64] = match interrupted.as_str() {
                Some("SIGINT") => &[130],
                Some(_) => &[143],
                None => &[3, 70],
            };
            (!(failed || every("passed") || (command == "snapshot" && copied)), codes)
        }
        "write-refused" => (command == "activate" && refused && (every("passed") || every("not-run")), &[4]),
        _ => (false, &[]),
    };
    if !follows {
        add(faults, "audit.verdict", "the verdict that follows from the checks and the record", verdict);
    }
    if !report["exit_code"].as_u64().is_some_and(|code| codes.contains(&code)) {
        add(faults, "audit.exit-code", format!("one of {codes:?} for {verdict}"), report["exit_code"].to_string());
    }
    let (before, after) = (&report["record"]["before_sha256"], &report["record"]["after_sha256"]);
    let changed = before != after;
    if changed != (action == "activated") {
        add(faults, "audit.record-action", "a changed record exactly if one was activated", action);
    }
}

/// The package's digest is that of its files, which stand in order.
fn package(report: &Value, faults: &mut Vec<Fault>) {
    let files = list(&report["package"]["files"]);
    if !files.is_sorted_by(|one, next| text(&one["path"]) < text(&next["path"])) {
        add(faults, "audit.package-files", "files sorted by path, each once", "another order");
    }
    let Some(named) = report["subject"]["package_digest"].as_str() else {
        if !files.is_empty() {
            add(faults, "audit.package-digest", "a digest of the files", "none");
        }
        return;
    };
    let lines =
        files.iter().map(|file| format!("{} {} {}\n", text(&file["mode"]), text(&file["sha256"]), text(&file["path"])));
    let digest = sha256(lines.collect::<String>().as_bytes());
    if digest != named {
        add(faults, "audit.package-digest", digest, named);
    }
}

/// The release artifact that was named is the one that the release checks speak of.
fn release(report: &Value, faults: &mut Vec<Fault>) {
    let status = |check: Check| {
        let row = list(&report["checks"]).iter().find(|row| row["id"] == check.id());
        row.map_or("", |row| text(&row["status"]))
    };
    let archive = status(Check::ReleaseArchive);
    let release = &report["release"];
    let given = report["run"]["release_artifact"].as_str().and_then(|path| ReleaseFile::new(path.into()).ok());
    let named = |file: &ReleaseFile| release["artifact"] == file.form().name() && release["name"] == file.name();
    // Nothing is known of it before the inventory stage; only what could not be read has no digest.
    let follows = match &given {
        Some(file) if archive != "not-run" => named(file) && (archive == "error" || release["sha256"].is_string()),
        _ => release["artifact"] == Form::NotGiven.name() && release["name"].is_null() && release["sha256"].is_null(),
    };
    if !follows || release["sha256"].is_null() != release["size"].is_null() {
        let expected =
            given.map_or(Form::NotGiven.name().into(), |file| format!("{} {}", file.form().name(), file.name()));
        add(faults, "audit.release", expected, release.to_string());
    }
}

/// What passed was asked, and answered as it had to be.
fn vectors(report: &Value, faults: &mut Vec<Fault>) {
    let vectors = list(&report["vectors"]);
    let mut ids: Vec<_> = vectors.iter().map(|vector| text(&vector["id"])).collect();
    ids.sort_unstable();
    if let Some(pair) = ids.windows(2).find(|pair| pair[0] == pair[1]) {
        add(faults, "audit.vectors", "each vector once", format!("{} twice", pair[0]));
    }
    if report["verdict"] != "passed" {
        return;
    }
    if vectors.is_empty() {
        add(faults, "audit.vectors", "vectors behind a pass", "none");
    }
    let fresh = fresh(report);
    let wrong = |vector: &&Value| vector["expected"] != vector["observed"] && !is_known(report, &fresh, vector);
    if let Some(vector) = vectors.iter().find(wrong) {
        let found = format!("{}: {}", text(&vector["id"]), text(&vector["observed"]));
        add(faults, "audit.vectors", text(&vector["expected"]), found);
    }
}

/// The fresh vectors of that run, drawn once more.
fn fresh(report: &Value) -> BTreeMap<String, Vector> {
    let (Some(seed), Some(count)) = (report["contract"]["seed"].as_u64(), report["contract"]["generated"].as_u64())
    else {
        return BTreeMap::new();
    };
    let count = usize::try_from(count).unwrap_or(usize::MAX).min(MOST_GENERATED);
    contract::generate(seed, count).into_iter().map(|vector| (vector.id.clone(), vector)).collect()
}

/// A fresh vector of this very series, answered otherwise than demanded in a way that advisories of the report explain.
fn is_known(report: &Value, fresh: &BTreeMap<String, Vector>, listed: &Value) -> bool {
    let reported = list(&report["advisories"]);
    let is_reported = |advisory: &&Advisory| reported.iter().any(|found| found["id"] == advisory.id);
    listed["id"].as_str().and_then(|id| fresh.get(id)).is_some_and(|vector| {
        let known = advisories(&vector.question, &vector.input);
        let verdicts = [Verdict::Accept.name(), Verdict::Reject.name()];
        listed["expected"] == vector.expected.name()
            && verdicts.iter().any(|verdict| listed["observed"] == *verdict)
            && !known.is_empty()
            && known.iter().all(is_reported)
    })
}

/// The contract is one that this program knows, with its own manifest and vectors.
fn contract(report: &Value, faults: &mut Vec<Fault>) {
    let facts = &report["contract"];
    let known = [Contract::bridge_v1(), Contract::demo()];
    let Some(contract) = known.iter().find(|contract| facts["name"] == contract.name) else {
        return add(faults, "audit.contract", "a contract of this program", text(&facts["name"]));
    };
    let required: Vec<_> = contract.required_contracts.iter().map(|&name| Value::from(name)).collect();
    for (member, wanted) in [
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
