//! `status` and `block`.

use schemars::JsonSchema;
use serde::Serialize;

use super::args::{Block, Status};
use super::human::{chain, printable};
use super::output::Output;
use crate::activation::{self, Action, State, Target};
use crate::contract::Contract;
use crate::digest::sha256;
use crate::report::Verdict;

/// What a record says.
#[derive(Default, Serialize, JsonSchema)]
pub(super) struct Statement {
    /// Always `paired-sdk-gate/status/v1`.
    schema: &'static str,
    /// The file holds a record.
    valid: bool,
    /// `blocked` or `active`.
    state: Option<&'static str>,
    /// The version it exposes.
    version: Option<String>,
    /// The commit it exposes.
    commit: Option<String>,
    /// The module it stands for.
    module_origin: Option<String>,
    /// The contracts it requires.
    required_contracts: Vec<String>,
    /// Why, in words.
    reason: Option<String>,
    /// SHA-256 of the file's bytes.
    sha256: Option<String>,
    /// What `block` did.
    action: Option<Action>,
    /// Why it is no record, or was not written.
    error: Option<String>,
    /// What to do next.
    hint: Option<String>,
}

const SCHEMA: &str = "paired-sdk-gate/status/v1";

impl Statement {
    fn of(record: &activation::Record, bytes: &[u8]) -> Self {
        let (state, version, commit) = match record.state() {
            State::Blocked => ("blocked", None, None),
            State::Active { version, commit } => ("active", Some(version.to_string()), Some(commit.to_string())),
        };
        Statement {
            schema: SCHEMA,
            valid: true,
            state: Some(state),
            version,
            commit,
            module_origin: Some(record.module_origin().to_owned()),
            required_contracts: record.required_contracts().to_vec(),
            reason: Some(record.reason().to_owned()),
            sha256: Some(sha256(bytes)),
            ..Statement::default()
        }
    }

    fn text(&self) -> String {
        match (self.state, &self.version, &self.commit) {
            (Some("active"), Some(version), Some(commit)) => {
                format!("active: version {version}, commit {commit}\n")
            }
            (Some(state), ..) => format!("{state}: {}\n", printable(self.reason.as_deref().unwrap_or_default())),
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
    let told = (Some(error.to_owned()), Some(hint.to_owned()));
    publish(&Statement { schema: SCHEMA, error: told.0, hint: told.1, ..Statement::default() }, output)?;
    output.error(&format!("{error}\n  next: {hint}"));
    Ok(verdict.exit_code())
}

pub(super) fn status(options: &Status, output: &Output) -> anyhow::Result<u8> {
    match activation::read(&options.record, Contract::bridge_v1()) {
        Ok((record, bytes)) => {
            publish(&Statement::of(&record, &bytes), output)?;
            Ok(0)
        }
        Err(error @ activation::RecordFileError::Record { .. }) => {
            refuse(&chain(&error), &error.hint(), Verdict::Refused, output)
        }
        Err(error) => refuse(&chain(&error), &error.hint(), Verdict::Unverifiable, output),
    }
}

pub(super) fn block(options: &Block, output: &Output) -> anyhow::Result<u8> {
    let contract = Contract::bridge_v1();
    let path = options.producer.record(options.record.as_deref());
    let mut patch = options.producer.open_patch()?;
    let target = match Target::open(&path, contract) {
        Ok(target) => target,
        Err(error) => return refuse(&chain(&error), &error.hint(), Verdict::WriteRefused, output),
    };
    let change = match target.block(&options.reason, options.dry_run) {
        Ok(change) => change,
        Err(error) => return refuse(&chain(&error), &error.hint(), Verdict::WriteRefused, output),
    };
    if options.dry_run {
        output.text(&change.diff());
    }
    let next = options.producer.follow(options.record.as_deref(), &change, contract, &mut patch, output)?;
    let now = if options.dry_run { &change.before } else { &change.after };
    let record = activation::Record::parse(now, contract)?;
    publish(&Statement { action: Some(change.action), ..Statement::of(&record, now) }, output)?;
    output.text(&next);
    Ok(0)
}
