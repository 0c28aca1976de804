//! The report as JSON, version 1. Separate from the internal types, so that they can change and it does not.
//!
//! Deterministic: two runs on the same inputs with the same seed differ only inside `run`.

mod build;
mod digest;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::Verdict;
use crate::behaviour::{ModuleKind, Observed, Sandbox};
use crate::check::{Finding, Stage, Status};
use crate::environment::Distribution;
use crate::graph::Source;
use crate::inventory::Release;
use crate::limits::Limits;

pub use build::Circumstances;
pub use digest::digest_of;

/// The value of `schema`.
pub const SCHEMA: &str = "paired-sdk-gate/report/v1";

/// One report.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Report {
    /// Always `paired-sdk-gate/report/v1`.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: &'static str,
    /// The program that wrote it.
    pub tool: Tool,
    /// The command that was run.
    pub command: Command,
    /// The conclusion.
    pub verdict: Verdict,
    /// The exit code of the process.
    pub exit_code: u8,
    /// What was to be proven.
    pub subject: Subject,
    /// The repository, once its graph was verified.
    pub source: Option<Source>,
    /// The package's files, once they were copied.
    pub package: Package,
    /// The release artifact that the package was held against, if one was given.
    pub release: Release,
    /// The environment.
    pub environment: Environment,
    /// The loaded module.
    pub module: Module,
    /// The contract it was held to.
    pub contract: ContractFacts,
    /// The bounds in force.
    pub limits: Limits,
    /// Every check, in table order.
    pub checks: Vec<CheckResult>,
    /// Every vector asked, in the contract's order.
    pub vectors: Vec<VectorResult>,
    /// What the client did in every scenario, in table order.
    pub pair: Pair,
    /// Divergences that the required contracts do not cover.
    pub advisories: Vec<Advisory>,
    /// What happened to the activation record.
    pub record: Record,
    /// All that differs from run to run.
    pub run: RunFacts,
}

/// The program.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Tool {
    /// `paired-sdk-gate`
    pub name: &'static str,
    /// Its version.
    pub version: &'static str,
}

/// The command that was run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Command {
    /// Everything but the record.
    Verify,
    /// Everything, and then the record.
    Activate,
    /// Only the stages that need no Python.
    Snapshot,
}

/// What was to be proven.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Subject {
    /// The expected commit.
    pub commit: String,
    /// Its tree, once read.
    pub tree: Option<String>,
    /// The expected version; only `snapshot` may have none.
    pub version: Option<String>,
    /// The module under test.
    pub module_origin: String,
    /// The package.
    pub package: String,
    /// SHA-256 over the package's files, once copied: one line each in path order, `<mode> <sha256> <path>\n`.
    pub package_digest: Option<String>,
}

/// The client against the producer.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Pair {
    /// What the kernel enforced on the client's process, once it was started.
    pub sandbox: Option<Sandbox>,
    /// The scenarios, in table order.
    pub scenarios: Vec<ScenarioResult>,
}

/// One scenario.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct ScenarioResult {
    /// Its stable id.
    pub id: &'static str,
    /// What was sent, in order: method and target of each request.
    pub requests: Vec<String>,
    /// How many of them were submissions.
    pub posts: u64,
    /// How the call had to end.
    pub expected: String,
    /// How it ended.
    pub observed: String,
}

/// The package's files.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Package {
    /// Sorted by path.
    pub files: Vec<PackageFile>,
}

/// One file of the package.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct PackageFile {
    /// In the commit.
    pub path: String,
    /// `100644` or `100755`.
    pub mode: &'static str,
    /// Bytes.
    pub size: u64,
    /// Blob id.
    pub git_sha1: String,
    /// SHA-256 of the content.
    pub sha256: String,
}

/// The environment.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Environment {
    /// `sys.implementation.name`, once a probe ran.
    pub implementation: Option<String>,
    /// `major.minor.micro`, once a probe ran.
    pub python_version: Option<String>,
    /// Of the binary `bin/python` leads to.
    pub interpreter_sha256: Option<String>,
    /// Over the files of the standard library's modules that the probes loaded, one line each in path order: `<sha256> <path>\n`.
    /// It tells one standard library from another; it does not say which is right.
    pub standard_library_sha256: Option<String>,
    /// Sorted by name.
    pub distributions: Vec<Distribution>,
    /// What the kernel enforced on the probes, once they ran.
    pub sandbox: Option<Sandbox>,
}

/// The loaded module.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Module {
    /// Its dotted name.
    pub name: String,
    /// The version its package declared when loaded.
    pub version: Option<String>,
    /// All modules loaded at the end, sorted by name.
    pub loaded: Vec<LoadedModule>,
}

/// One loaded module.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct LoadedModule {
    /// Its name in `sys.modules`.
    pub name: String,
    /// Relative to the place `kind` names.
    pub origin: String,
    /// Where it came from.
    pub kind: ModuleKind,
}

/// The contract.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct ContractFacts {
    /// Its name.
    pub name: String,
    /// Of the manifest the SDK was given, prose included.
    pub manifest_sha256: String,
    /// Of the published vector set.
    pub vectors_sha256: String,
    /// The contracts a record must list.
    pub required_contracts: Vec<String>,
    /// What fixed the fresh vectors and the orders.
    pub seed: u64,
    /// How many fresh vectors were asked for. With the seed and this program's version it fixes them; [`Report::vectors`]
    /// has those of them that were answered otherwise than the contract demands.
    pub generated: u64,
}

/// One check.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct CheckResult {
    /// Stable.
    pub id: &'static str,
    /// Its stage.
    pub stage: Stage,
    /// What a pass means.
    pub claim: &'static str,
    /// How it ended.
    pub status: Status,
    /// Why it did not pass.
    pub findings: Vec<Finding>,
}

/// One vector.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct VectorResult {
    /// Stable.
    pub id: String,
    /// The contract it belongs to.
    pub contract: &'static str,
    /// Which function it asks.
    pub kind: VectorKind,
    /// The contract's verdict.
    pub expected: Observed,
    /// What the SDK did.
    pub observed: Observed,
}

/// Which function a vector asks.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum VectorKind {
    /// Tool arguments.
    Arguments,
    /// A tool's response.
    Response,
    /// A whole manifest.
    Manifest,
}

/// A known divergence that fresh vectors showed and that the required contracts do not cover.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Advisory {
    /// Stable.
    pub id: String,
    /// The sentence it diverges from.
    pub specification: String,
    /// What the SDK does.
    pub observed: String,
    /// How many of this run's fresh vectors showed it.
    pub vectors: u64,
    /// A smallest input that shows it.
    pub smallest_input: String,
}

/// What happened to the record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Record {
    /// What was done.
    pub action: RecordAction,
    /// SHA-256 of its bytes before, if one was named.
    pub before_sha256: Option<String>,
    /// SHA-256 of its bytes after.
    pub after_sha256: Option<String>,
    /// Why it was not written, if that is the verdict.
    pub refused: Option<Finding>,
}

impl Record {
    /// No record was named, or none was touched.
    pub fn none() -> Self {
        Record { action: RecordAction::None, before_sha256: None, after_sha256: None, refused: None }
    }
}

/// What was done to the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RecordAction {
    /// It said blocked, and says active.
    Activated,
    /// It already said active with this identity.
    Unchanged,
    /// It would have been activated (`--dry-run`).
    WouldActivate,
    /// Nothing.
    None,
}

/// All that differs from run to run, and the paths of this host.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct RunFacts {
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
    /// As given; `snapshot` has none.
    pub environment_root: Option<String>,
    /// As given.
    pub record: Option<String>,
    /// As given.
    pub release_artifact: Option<String>,
    /// `sys.base_prefix`, once a probe ran.
    pub base_prefix: Option<String>,
    /// The signal that interrupted it.
    pub interrupted_by: Option<String>,
    /// SHA-256 of the report's own text, with zeros in the place of these digits. The report's last member.
    pub report_sha256: &'static str,
}

impl Default for RunFacts {
    fn default() -> Self {
        RunFacts {
            started_at: String::new(),
            finished_at: String::new(),
            duration_ms: 0,
            stages: BTreeMap::new(),
            sdk_root: String::new(),
            environment_root: None,
            record: None,
            release_artifact: None,
            base_prefix: None,
            interrupted_by: None,
            report_sha256: digest::UNKNOWN,
        }
    }
}

/// The JSON Schema (draft 2020-12) that every report satisfies.
pub fn json_schema() -> schemars::Schema {
    schemars::generate::SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<Report>()
}
