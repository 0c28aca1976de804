//! The arguments.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::contract::Contract;
use crate::identity::{CommitId, ExpectedIdentity, IdentityError, ModuleOrigin, ReleaseVersion};
use crate::inventory::ReleaseFile;
use crate::limits::Limits;

/// Decides whether one exact commit of netbox-sdk may be exposed to AI agents.
#[derive(Debug, Parser)]
#[command(name = "paired-sdk-gate", version, max_term_width = 100, disable_help_subcommand = true)]
#[command(
    after_help = "Exit codes: 0 yes, 1 refused, 2 wrong usage, 3 could not decide, 4 record not written, 70 internal \
                        error, 130/143 interrupted."
)]
pub(super) struct Arguments {
    #[command(flatten)]
    pub(super) global: Global,
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(super) struct Global {
    /// What standard output carries; with `json` it is exactly one object, and text goes to standard error
    #[arg(long, global = true, value_enum, default_value_t = Format::Human)]
    pub(super) format: Format,
    /// Write the JSON report to this file too
    #[arg(long, global = true, value_name = "FILE")]
    pub(super) report: Option<PathBuf>,
    /// When to colour; `auto` means on a terminal, unless NO_COLOR is set
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto)]
    pub(super) color: Color,
    /// Say only what the verdict is
    #[arg(long, short, global = true, conflicts_with = "verbose")]
    pub(super) quiet: bool,
    /// Name each stage on standard error as it starts
    #[arg(long, short, global = true)]
    pub(super) verbose: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// Text for people
    Human,
    /// The report, version 1
    #[value(alias = "json-v1")]
    Json,
    /// Text for people, and annotations and a summary for a forge
    Github,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Prove an SDK commit; write nothing
    Verify(Verify),
    /// Prove an SDK commit, then let the activation record say so
    Activate(Activate),
    /// Verify the git half only and leave the package in a new folder; no Python is started
    Snapshot(Snapshot),
    /// Put an activation record back to blocked
    Block(Block),
    /// Say what an activation record says
    Status(Status),
    /// Say whether the contract accepts arguments, a response or a manifest, with every reason why not
    Validate(Validate),
    /// Print the contract's manifest, or hold another one against it
    Manifest(Manifest),
    /// Hold together what a producer's repository commits: record, constants, snapshot, workflows
    Check(super::check::Check),
    /// Print the workflow that proves an identity
    Ci(super::check::Ci),
    /// Drive the SDK's MCP server, as an agent would, against a producer on loopback
    Pair(super::pair::Pair),
    /// Be the producer, on loopback, to try an SDK or an agent by hand
    Producer(super::producer::Arguments),
    /// Re-check a saved report, and a record against it
    Audit(super::audit::Audit),
    /// Say whether a run would find what it needs, without running any of it
    Doctor(super::doctor::Doctor),
    /// Say what a check or a drift means, how it comes about and what to do
    Explain(super::help::Explain),
    /// Print completions for a shell
    Completions(super::help::Completions),
    /// Print the manual page
    Man,
    /// Show it all on an embedded SDK, in a temporary folder
    Demo,
    /// Print the JSON Schema of a document this program writes
    Schema(Schema),
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Identity")]
pub(super) struct Identity {
    /// The top of the SDK's git checkout
    #[arg(long, value_name = "DIR")]
    pub(super) sdk_root: PathBuf,
    /// The full commit id: 40 lower-case hexadecimal digits
    #[arg(long, value_name = "SHA")]
    pub(super) expected_commit: CommitId,
    /// The exact released version that commit declares
    #[arg(long, value_name = "VERSION")]
    pub(super) expected_version: ReleaseVersion,
    /// The absolute root of the virtual environment the SDK runs in
    #[arg(long, value_name = "DIR", value_parser = absolute)]
    pub(super) expected_environment_root: PathBuf,
    /// The module under test: netbox_sdk/plugin_bridge.py
    #[arg(long, value_name = "PATH", value_parser = module_origin)]
    pub(super) expected_module_origin: ModuleOrigin,
}

fn module_origin(text: &str) -> Result<ModuleOrigin, IdentityError> {
    ModuleOrigin::parse(text, Contract::bridge_v1())
}

/// So many vectors are held in memory: a bound far above what an hour answers.
const MOST_GENERATED: usize = 10_000_000;

fn generated(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(count) if count <= MOST_GENERATED => Ok(count),
        _ => Err(format!("not a whole number from 0 to {MOST_GENERATED}")),
    }
}

pub(super) fn release_file(path: &str) -> Result<ReleaseFile, &'static str> {
    ReleaseFile::new(path.into())
}

fn absolute(text: &str) -> Result<PathBuf, IdentityError> {
    ExpectedIdentity::absolute(text.into())
}

impl Identity {
    pub(super) fn expected(&self) -> Result<ExpectedIdentity, IdentityError> {
        ExpectedIdentity::new(
            self.expected_commit,
            self.expected_version.clone(),
            self.expected_module_origin.clone(),
            self.expected_environment_root.clone(),
        )
    }
}

#[derive(Debug, Args)]
pub(super) struct Verify {
    #[command(flatten)]
    pub(super) identity: Identity,
    /// Accept a history that a shallow clone cut off
    #[arg(long)]
    pub(super) allow_shallow: bool,
    /// The manifest to give the SDK: the producer's real one, which may differ from the contract's in prose alone
    #[arg(long, value_name = "FILE")]
    pub(super) manifest: Option<PathBuf>,
    /// Repeat the fresh vectors and the orders of an earlier run, whose report names its seed
    #[arg(long, value_name = "N")]
    pub(super) seed: Option<u64>,
    /// How many fresh vectors to ask beside the published ones
    #[arg(long, value_name = "N", default_value_t = crate::behaviour::GENERATED, value_parser = generated)]
    pub(super) generated: usize,
    /// Let the differences that released SDKs are known for refuse, too
    #[arg(long)]
    pub(super) deny_advisories: bool,
    /// Decide nothing unless the kernel confines the SDK's process in full
    #[arg(long)]
    pub(super) require_sandbox: bool,
    /// Hold what is installed against the wheels here whose digests the commit's uv.lock names
    #[arg(long, value_name = "DIR")]
    pub(super) wheelhouse: Option<PathBuf>,
    /// Hold a released wheel (.whl) or sdist (.tar.gz) against the commit: files, names, versions and digests
    #[arg(long, value_name = "FILE", value_parser = release_file)]
    pub(super) release_artifact: Option<ReleaseFile>,
    /// Write what was concluded to this file as an unsigned in-toto statement
    #[arg(long, value_name = "FILE")]
    pub(super) attestation: Option<PathBuf>,
    #[command(flatten)]
    pub(super) limits: LimitFlags,
}

#[derive(Debug, Args)]
pub(super) struct Activate {
    #[command(flatten)]
    pub(super) verify: Verify,
    /// The activation record to write; below --producer-root, if that is given
    #[arg(long, value_name = "FILE", required_unless_present = "producer_root")]
    pub(super) record: Option<PathBuf>,
    /// Show what would be written, and write nothing
    #[arg(long)]
    pub(super) dry_run: bool,
    #[command(flatten)]
    pub(super) producer: super::check::Producer,
}

#[derive(Debug, Args)]
pub(super) struct Snapshot {
    /// The top of the SDK's git checkout
    #[arg(long, value_name = "DIR")]
    pub(super) sdk_root: PathBuf,
    /// The full commit id: 40 lower-case hexadecimal digits
    #[arg(long, value_name = "SHA")]
    pub(super) expected_commit: CommitId,
    /// The exact released version that commit must declare, if you know it
    #[arg(long, value_name = "VERSION")]
    pub(super) expected_version: Option<ReleaseVersion>,
    /// The folder to leave the package in; it must not exist
    #[arg(long, value_name = "NEWDIR")]
    pub(super) out: PathBuf,
    /// Accept a history that a shallow clone cut off
    #[arg(long)]
    pub(super) allow_shallow: bool,
    #[command(flatten)]
    pub(super) limits: LimitFlags,
}

#[derive(Debug, Args)]
pub(super) struct Block {
    /// The activation record to write; below --producer-root, if that is given
    #[arg(long, value_name = "FILE", required_unless_present = "producer_root")]
    pub(super) record: Option<PathBuf>,
    /// Why, in one line; it goes into the record
    #[arg(long, value_name = "TEXT")]
    pub(super) reason: String,
    /// Show what would be written, and write nothing
    #[arg(long)]
    pub(super) dry_run: bool,
    #[command(flatten)]
    pub(super) producer: super::check::Producer,
}

#[derive(Debug, Args)]
pub(super) struct Status {
    /// The activation record to read
    #[arg(long, value_name = "FILE")]
    pub(super) record: PathBuf,
}

#[derive(Debug, Args)]
pub(super) struct Validate {
    /// What the file holds
    #[arg(value_enum)]
    pub(super) payload: Payload,
    /// The tool whose arguments or response it is
    #[arg(long, value_name = "NAME")]
    pub(super) tool: Option<String>,
    /// The JSON to judge, at most 1 MiB; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(super) file: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Payload {
    /// What a caller gives a tool
    Arguments,
    /// What the server answers
    Response,
    /// A plugin's descriptor of its tools
    Manifest,
}

#[derive(Debug, Args)]
pub(super) struct Manifest {
    /// Name every place where this manifest differs from the contract's, prose left out; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub(super) check: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct Schema {
    /// Which document
    #[arg(value_enum)]
    pub(super) document: Document,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Document {
    /// The report, version 1
    Report,
    /// What `validate` says
    Validation,
    /// What `manifest --check` says
    ManifestCheck,
    /// The activation record
    Record,
    /// The in-toto statement that --attestation leaves
    Attestation,
    /// What `audit` says
    Audit,
    /// What `status` and `block` say
    Status,
    /// What `check` says
    Check,
    /// What `doctor` says
    Doctor,
    /// What `pair --mcp` says
    Pair,
    /// What `producer serve` says
    Traffic,
}

/// Bounds on what a run may cost; reaching one is exit 3, never a pass.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits (reaching one is exit 3, never a pass)")]
pub(super) struct LimitFlags {
    /// Files in the package
    #[arg(long, value_name = "N", default_value_t = Limits::default().package_files)]
    limit_package_files: u64,
    /// Bytes of one package file
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().file_bytes)]
    limit_file_bytes: u64,
    /// Bytes of the whole package
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().package_bytes)]
    limit_package_bytes: u64,
    /// Bytes of one tree or commit
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().tree_bytes)]
    limit_tree_bytes: u64,
    /// Reachable objects
    #[arg(long, value_name = "N", default_value_t = Limits::default().objects)]
    limit_objects: u64,
    /// Inflated bytes of all objects read
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().inflated_bytes)]
    limit_inflated_bytes: u64,
    /// Seconds of the whole run
    #[arg(long, value_name = "SECONDS", default_value_t = Limits::default().seconds)]
    limit_seconds: u64,
    /// Seconds in which the SDK must be imported; more is a refusal
    #[arg(long, value_name = "SECONDS", default_value_t = Limits::default().import_seconds)]
    limit_import_seconds: u64,
    /// Seconds in which the SDK must answer one question; more is a refusal
    #[arg(long, value_name = "SECONDS", default_value_t = Limits::default().answer_seconds)]
    limit_answer_seconds: u64,
    /// Bytes of memory that one process of the SDK may map; more is denied
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().probe_bytes)]
    limit_probe_bytes: u64,
}

impl From<&LimitFlags> for Limits {
    fn from(flags: &LimitFlags) -> Self {
        Limits {
            package_files: flags.limit_package_files,
            file_bytes: flags.limit_file_bytes,
            package_bytes: flags.limit_package_bytes,
            tree_bytes: flags.limit_tree_bytes,
            objects: flags.limit_objects,
            inflated_bytes: flags.limit_inflated_bytes,
            seconds: flags.limit_seconds,
            import_seconds: flags.limit_import_seconds,
            answer_seconds: flags.limit_answer_seconds,
            probe_bytes: flags.limit_probe_bytes,
        }
    }
}
