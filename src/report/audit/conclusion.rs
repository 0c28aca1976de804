//! From the checks to the verdict, and what became of the record.

use serde_json::Value;

use super::{Fault, add, every, list, presence, status, text};
use crate::check::{Check, Stage, TABLE};

pub(super) fn faults(report: &Value, faults: &mut Vec<Fault>) {
    let (name, version) = (env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
    if report["tool"]["name"] != name || report["tool"]["version"] != version {
        add(faults, "audit.tool", format!("{name} {version}, this program"), report["tool"].to_string());
    }
    checks(report, faults);
    order(report, faults);
    verdict(report, faults);
    record(report, faults);
    run(report, faults);
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

/// The checks that were decided, but for the one that tells of a run which had no room to begin in.
fn decided(report: &Value) -> Vec<Check> {
    let decided: Vec<_> = TABLE.iter().copied().filter(|&check| status(report, check) != "not-run").collect();
    let roomless = decided == [Check::SnapshotDigest] && status(report, Check::SnapshotDigest) == "error";
    if roomless { Vec::new() } else { decided }
}

/// No stage runs before all that come before it passed.
fn order(report: &Value, faults: &mut Vec<Fault>) {
    let reached = Stage::ALL.iter().take_while(|&&stage| every(report, stage, "passed")).count();
    let early = decided(report).into_iter().find(|check| check.stage() as usize > reached);
    if let (Some(check), Some(open)) = (early, Stage::ALL.get(reached)) {
        let expected = format!("nothing decided beyond the stage {}, which did not pass", open.name());
        add(faults, "audit.order", expected, format!("{} {}", check.id(), status(report, check)));
    }
}

/// The verdict follows from the checks, and the exit code from the verdict.
fn verdict(report: &Value, faults: &mut Vec<Fault>) {
    let all = |status: &str| Stage::ALL.iter().all(|&stage| every(report, stage, status));
    let any = |status: &str| list(&report["checks"]).iter().any(|row| row["status"] == status);
    let failed = any("failed");
    let (command, action) = (text(&report["command"]), text(&report["record"]["action"]));
    let refused = !report["record"]["refused"].is_null();
    let (git_half, rest) = Stage::ALL.split_at(3);
    let copied = command == "snapshot"
        && git_half.iter().all(|&stage| every(report, stage, "passed"))
        && rest.iter().all(|&stage| every(report, stage, "not-run"));
    let interrupted = report["run"]["interrupted_by"].as_str();
    let verdict = text(&report["verdict"]);
    let (follows, codes): (bool, &[u64]) = match verdict {
        "passed" => (all("passed") && command != "snapshot" && (command == "activate") == (action != "none"), &[0]),
        "copied" => (copied, &[0]),
        "refused" => (failed, &[1]),
        "unverifiable" => {
            let codes: &[u64] = match interrupted {
                Some("SIGINT") => &[130],
                Some(_) => &[143],
                None => &[3, 70],
            };
            // Something could not be told, or an internal error lost it.
            (!failed && (any("error") || report["exit_code"] == 70), codes)
        }
        "write-refused" => (command == "activate" && (all("passed") || all("not-run")), &[4]),
        _ => (false, &[]),
    };
    if !follows || refused != (verdict == "write-refused") {
        add(faults, "audit.verdict", "the verdict that follows from the checks and the record", verdict);
    }
    if !report["exit_code"].as_u64().is_some_and(|code| codes.contains(&code)) {
        add(faults, "audit.exit-code", format!("one of {codes:?} for {verdict}"), report["exit_code"].to_string());
    }
    // An internal error loses whatever was found.
    if report["exit_code"] == 70 && !all("not-run") {
        add(faults, "audit.exit-code", "3, since a check was decided", "70");
    }
    if interrupted.is_some() && (verdict != "unverifiable" || !matches!(interrupted, Some("SIGINT" | "SIGTERM"))) {
        add(
            faults,
            "audit.interrupted",
            "SIGINT or SIGTERM, where nothing was decided",
            interrupted.unwrap_or_default(),
        );
    }
}

/// The record changed exactly if it was activated, and there is one exactly if that was the command.
fn record(report: &Value, faults: &mut Vec<Fault>) {
    let (record, action) = (&report["record"], text(&report["record"]["action"]));
    let (before, after) = (&record["before_sha256"], &record["after_sha256"]);
    let activates = report["command"] == "activate";
    // What could not even be read has no digest.
    let unread = !activates || report["verdict"] == "write-refused" && before.is_null();
    let follows = (before != after) == (action == "activated")
        && before.is_null() == after.is_null()
        && before.is_null() == unread
        && (action == "none" || report["verdict"] == "passed");
    if !follows {
        add(faults, "audit.record-action", "a changed record exactly if one was activated", record.to_string());
    }
    presence(faults, "audit.run", "record", &report["run"]["record"], activates);
}

/// What was given fits the command, and time passes forwards.
fn run(report: &Value, faults: &mut Vec<Fault>) {
    let run = &report["run"];
    let copies = report["command"] == "snapshot";
    presence(faults, "audit.run", "environment root", &run["environment_root"], !copies);
    if !copies {
        presence(faults, "audit.run", "version", &report["subject"]["version"], true);
    }
    let time = |member: &str| text(&run[member]).parse::<jiff::Timestamp>().ok();
    let ordered = time("started_at").zip(time("finished_at")).is_some_and(|(start, end)| start <= end);
    let stages = run["stages"].as_object();
    let took: u64 = stages.iter().flat_map(|stages| stages.values()).filter_map(Value::as_u64).sum();
    if !ordered || run["duration_ms"].as_u64().is_none_or(|all| took > all) {
        add(faults, "audit.times", "a start before the end, and stages within the whole", run.to_string());
    }
    let ran: Vec<_> = stages.iter().flat_map(|stages| stages.keys()).map(String::as_str).collect();
    let mut names: Vec<_> = decided(report).iter().map(|check| check.stage().name()).collect();
    names.sort_unstable();
    names.dedup();
    if ran != names {
        add(faults, "audit.times", names.join(", "), ran.join(", "));
    }
}
