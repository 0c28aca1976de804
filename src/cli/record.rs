//! `status` and `block`.

use serde::Serialize;

use super::args::{Block, Status};
use super::output::Output;
use crate::activation::{self, Action, State, Target};
use crate::contract::Contract;
use crate::report::Verdict;

/// What a record says, as JSON.
#[derive(Serialize)]
struct Statement {
    schema: &'static str,
    valid: bool,
    state: Option<&'static str>,
    version: Option<String>,
    commit: Option<String>,
    reason: Option<String>,
    action: Option<&'static str>,
    error: Option<String>,
}

impl Statement {
    fn of(record: &activation::Record) -> Self {
        let (state, version, commit) = match record.state() {
            State::Blocked => ("blocked", None, None),
            State::Active { version, commit } => ("active", Some(version.to_string()), Some(commit.to_string())),
        };
        let reason = Some(record.reason().to_owned());
        let schema = "paired-sdk-gate/status/v1";
        Statement { schema, valid: true, state: Some(state), version, commit, reason, action: None, error: None }
    }

    fn invalid(error: String) -> Self {
        let schema = "paired-sdk-gate/status/v1";
        let nothing = (None, None, None, None);
        let (state, version, commit, reason) = nothing;
        Statement { schema, valid: false, state, version, commit, reason, action: None, error: Some(error) }
    }

    fn text(&self) -> String {
        match (self.state, &self.version, &self.commit) {
            (Some("active"), Some(version), Some(commit)) => {
                format!("active: version {version}, commit {commit}\n")
            }
            (Some(state), ..) => format!("{state}: {}\n", self.reason.as_deref().unwrap_or_default()),
            (None, ..) => String::new(),
        }
    }
}

fn publish(statement: &Statement, output: &Output) -> anyhow::Result<()> {
    output.object(&(serde_json::to_string_pretty(statement)? + "\n"));
    output.text(&statement.text());
    Ok(())
}

fn refuse(error: &str, hint: &str, verdict: Verdict, output: &Output) -> anyhow::Result<u8> {
    publish(&Statement::invalid(error.to_owned()), output)?;
    output.error(&format!("{error}\n  next: {hint}"));
    Ok(verdict.exit_code())
}

pub(super) fn status(options: &Status, output: &Output) -> anyhow::Result<u8> {
    match activation::read(&options.record, Contract::bridge_v1()) {
        Ok(record) => {
            publish(&Statement::of(&record), output)?;
            Ok(0)
        }
        Err(error @ activation::RecordFileError::Record { .. }) => {
            refuse(&error.to_string(), &error.hint(), Verdict::Refused, output)
        }
        Err(error) => refuse(&error.to_string(), &error.hint(), Verdict::Unverifiable, output),
    }
}

pub(super) fn block(options: &Block, output: &Output) -> anyhow::Result<u8> {
    let contract = Contract::bridge_v1();
    let target = match Target::open(&options.record, contract) {
        Ok(target) => target,
        Err(error) => return refuse(&error.to_string(), &error.hint(), Verdict::WriteRefused, output),
    };
    let change = match target.block(&options.reason, options.dry_run) {
        Ok(change) => change,
        Err(error) => return refuse(&error.to_string(), &error.hint(), Verdict::WriteRefused, output),
    };
    if options.dry_run {
        output.text(&change.diff());
    }
    let action = match change.action {
        Action::Blocked => "blocked",
        Action::Unchanged => "unchanged",
        Action::WouldBlock => "would-block",
        Action::Activated => "activated",
        Action::WouldActivate => "would-activate",
    };
    let now = if options.dry_run { &change.before } else { &change.after };
    let record = activation::Record::parse(now, contract)?;
    publish(&Statement { action: Some(action), ..Statement::of(&record) }, output)?;
    Ok(0)
}
