//! What `pair --mcp` says, as JSON. It approves of nothing: the record is written on a [`super::v1::Report`] alone.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::Verdict;
use super::v1::{Advisory, CheckResult, ScenarioResult, Tool};
use crate::behaviour::Sandbox;
use crate::environment::Distribution;
use crate::pipeline::{OF_TOOLS, Run};

/// The value of `schema`.
pub const SCHEMA: &str = "paired-sdk-gate/pair/v1";

/// One report. Two runs on the same inputs differ only inside `run`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Report {
    /// Always `paired-sdk-gate/pair/v1`.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: &'static str,
    /// The program that wrote it.
    pub tool: Tool,
    /// The conclusion.
    pub verdict: Verdict,
    /// The exit code of the process.
    pub exit_code: u8,
    /// What was to be proven.
    pub subject: Subject,
    /// What is installed beside it, sorted by name.
    pub distributions: Vec<Distribution>,
    /// What the kernel enforced on the server's processes, once they were started.
    pub sandbox: Option<Sandbox>,
    /// Every check of the stages that ran or were to run, in table order.
    pub checks: Vec<CheckResult>,
    /// What was sent and told in every scenario, in table order.
    pub scenarios: Vec<ScenarioResult>,
    /// Known divergences that scenarios showed; `vectors` counts these scenarios.
    pub advisories: Vec<Advisory>,
    /// All that differs from run to run.
    pub run: Facts,
}

/// What was to be proven.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Subject {
    /// The expected commit.
    pub commit: String,
    /// Its tree, once read.
    pub tree: Option<String>,
    /// The expected version.
    pub version: String,
    /// The SDK's package and its server's.
    pub packages: [String; 2],
    /// SHA-256 over the files of both, once copied: one line each in path order, `<mode> <sha256> <path>\n`.
    pub packages_digest: Option<String>,
}

/// All that differs from run to run, and the paths of this host.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Facts {
    /// RFC 3339, UTC.
    pub started_at: String,
    /// RFC 3339, UTC.
    pub finished_at: String,
    /// Milliseconds in all.
    pub duration_ms: u64,
    /// Milliseconds by stage, as far as they ran.
    pub stages: BTreeMap<&'static str, u64>,
    /// As given.
    pub sdk_root: String,
    /// As given.
    pub environment_root: String,
    /// The signal that interrupted it.
    pub interrupted_by: Option<String>,
}

impl Report {
    /// Puts a report together.
    pub fn new(run: &Run, verdict: Verdict, exit_code: u8, subject: Subject, facts: Facts) -> Self {
        let Run { ledger, evidence } = run;
        Report {
            schema: SCHEMA,
            tool: Tool::this(),
            verdict,
            exit_code,
            subject: Subject {
                tree: evidence.tree.clone(),
                packages_digest: evidence.package_digest.clone(),
                ..subject
            },
            distributions: evidence.distributions.clone(),
            sandbox: evidence.pair.sandbox.clone(),
            checks: ledger.of_stages(OF_TOOLS).map(CheckResult::from).collect(),
            scenarios: evidence.pair.played.iter().map(ScenarioResult::from).collect(),
            advisories: evidence.pair.advisories.values().map(Advisory::from).collect(),
            run: facts,
        }
    }
}
