//! A saved report, held against its schema, against itself and against a record. Nothing is proven anew: an audit says
//! that a report is whole and consistent, not that its writer told the truth. Who wrote it, a signature has to say.

mod conclusion;
mod evidence;
mod pair;
mod vectors;

use std::sync::LazyLock;

use jsonschema::{ValidationError, Validator};
use serde::Serialize;
use serde_json::Value;

use super::v1;
use crate::activation::{Record, State};
use crate::check::{Check, Stage, TABLE};
use crate::contract::Contract;
use crate::digest::sha256;

/// The largest report, in bytes.
pub const MAX_BYTES: u64 = 64 << 20;

static SCHEMA: LazyLock<Result<Validator, ValidationError<'static>>> =
    LazyLock::new(|| jsonschema::validator_for(&v1::json_schema().to_value()));

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

/// Every fault of a report on that contract, at most one of each kind but the schema's; none means it is whole and consistent.
pub fn faults(bytes: &[u8], contract: &Contract) -> Vec<Fault> {
    let mut faults = Vec::new();
    let report: Value = match serde_json::from_slice(bytes) {
        Ok(report) => report,
        Err(error) => {
            add(&mut faults, "audit.json", "one JSON object", error.to_string());
            return faults;
        }
    };
    match &*SCHEMA {
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
        conclusion::faults(&report, &mut faults);
        evidence::faults(&report, contract, &mut faults);
        vectors::faults(&report, contract, &mut faults);
        pair::faults(&report, &mut faults);
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

/// The rows of a stage are all of that status.
fn every(report: &Value, stage: Stage, status: &str) -> bool {
    TABLE.iter().filter(|check| check.stage() == stage).all(|&check| self::status(report, check) == status)
}

/// What became of a check; the rows stand in the order of the table.
fn status(report: &Value, check: Check) -> &str {
    text(&report["checks"][check as usize]["status"])
}

/// A member that is there exactly if it has to be.
fn presence(faults: &mut Vec<Fault>, id: &'static str, member: &str, value: &Value, wanted: bool) {
    if value.is_null() == wanted {
        let words = |there| format!("{} {member}", if there { "a" } else { "no" });
        add(faults, id, words(wanted), words(!wanted));
    }
}
