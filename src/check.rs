//! The closed table of checks, and the ledger every stage writes its results into.
//!
//! A check exists once, as one row below. The order of the rows is the order of the report. A stage records each of its rows
//! and then closes; closing succeeds only if every row of that stage passed, so a row nobody recorded blocks.

mod explain;

use serde::Serialize;

use crate::tally::counted;

/// The stages of the pipeline, in the order they run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// The commit, tree and blob graph.
    Graph,
    /// The package's files in the commit, and on disk.
    Inventory,
    /// The private copy written from verified blobs.
    Snapshot,
    /// The virtual environment that lends its interpreter and dependencies.
    Environment,
    /// The SDK, run and judged from outside its process.
    Behaviour,
    /// Its client, against a producer on loopback.
    Pair,
    /// Its MCP server, against a producer on loopback; no stage of `verify`.
    Tools,
}

impl Stage {
    /// Every stage of `verify`, in that order.
    pub const ALL: [Stage; 6] =
        [Stage::Graph, Stage::Inventory, Stage::Snapshot, Stage::Environment, Stage::Behaviour, Stage::Pair];

    /// The stage's name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Graph => "graph",
            Stage::Inventory => "inventory",
            Stage::Snapshot => "snapshot",
            Stage::Environment => "environment",
            Stage::Behaviour => "behaviour",
            Stage::Pair => "pair",
            Stage::Tools => "tools",
        }
    }
}

macro_rules! checks {
    ($($(#[$about:meta])* $table:ident {$($variant:ident = $id:literal in $stage:ident: $claim:literal;)+})+) => {
        /// One check. Its row in the table gives it a stage, a stable id and a claim.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Check { $($(#[doc = $claim] $variant,)+)+ }

        $($(#[$about])* pub const $table: &[Check] = &[$(Check::$variant,)+];)+

        impl Check {
            /// The stable id, `area.subject`.
            pub fn id(self) -> &'static str { match self { $($(Check::$variant => $id,)+)+ } }
            /// The stage that records this check.
            pub fn stage(self) -> Stage { match self { $($(Check::$variant => Stage::$stage,)+)+ } }
            /// What a pass means, in one line.
            pub fn claim(self) -> &'static str { match self { $($(Check::$variant => $claim,)+)+ } }
        }
    };
}

checks! {
    /// The checks of `verify`, in report order.
    TABLE {
        GitRepository = "git.repository" in Graph: "the SDK root is the top of a git checkout in a format this gate reads";
        GitHead = "git.head" in Graph: "HEAD is exactly the expected commit";
        GitHistory = "git.history" in Graph: "the history is complete down to its root commits";
        GitObjects = "git.objects" in Graph: "every reachable object is present, of the linked kind, and hashes to its id";
        GitWellFormed = "git.well-formed" in Graph: "every reachable object is one that `git fsck --strict` accepts";
        GitReleaseTag = "git.release-tag" in Graph: "a tag named after the version, if there is one, peels to the commit";
        PackageTree = "package.tree" in Inventory: "the committed package holds only regular files with plain names";
        PackageModule = "package.module" in Inventory: "the bridge module is one of the committed files";
        PackageSource = "package.source" in Inventory: "the committed package is Python source and data: no native code, bytecode or path files";
        PackageWorktree = "package.worktree" in Inventory: "the package on disk equals the commit in paths, bytes and modes";
        VersionSource = "version.source" in Inventory: "`__version__` is one string literal in the commit and equals the expected version";
        VersionProject = "version.project" in Inventory: "a static version in pyproject.toml, if there is one, equals the expected version";
        ReleaseArchive = "release.archive" in Inventory: "a release artifact, if one was given, is a plain archive: regular files, each there once";
        ReleasePackage = "release.package" in Inventory: "a release artifact, if one was given, holds the commit's package, path for path and byte for byte";
        ReleaseMetadata = "release.metadata" in Inventory: "a release artifact, if one was given, has the expected name and version, and its RECORD every file's digest";
        SnapshotDigest = "snapshot.digest" in Snapshot: "every blob, hashed once more on its way to the private copy, matches its id";
        SnapshotHead = "snapshot.head" in Snapshot: "HEAD was still the expected commit when the private copy was complete";
        EnvironmentRoot = "environment.root" in Environment: "the environment root is a virtual environment without system site packages";
        EnvironmentInterpreter = "environment.interpreter" in Environment: "its interpreter is an executable CPython 3.11 or later";
        EnvironmentRecords = "environment.records" in Environment: "every installed file is the one that its distribution's RECORD lists";
        EnvironmentOwned = "environment.owned" in Environment: "every file in site-packages belongs to an installed distribution";
        EnvironmentLock = "environment.lock" in Environment: "what is installed is what the commit's uv.lock names, if it has one, and what its pyproject.toml requires";
        EnvironmentWheels = "environment.wheels" in Environment: "whatever has its locked wheel in --wheelhouse, if one was named, is installed as that wheel has it";
        ProbeIsolated = "probe.isolated" in Behaviour: "the probe runs that interpreter isolated: no site, no user site, no environment, no ambient path";
        ProbeConfined = "probe.confined" in Behaviour: "the kernel confines the probe, in full where that was required";
        ModuleOrigin = "module.origin" in Behaviour: "the bridge module was loaded from the private copy";
        ModuleVersion = "module.version" in Behaviour: "the loaded package declares the expected version, as a plain string";
        ModuleDependencies = "module.dependencies" in Behaviour: "the validators the SDK relies on were loaded from the environment";
        ModuleLoaded = "module.loaded" in Behaviour: "every loaded module comes from the private copy, the environment or the standard library";
        ProbeTranscript = "probe.transcript" in Behaviour: "every question got exactly one answer, in time, and the probe was alive at the end";
        ProbeResidue = "probe.residue" in Behaviour: "at the end the probe had one thread, no process of its own and no file open";
        ContractManifest = "contract.manifest" in Behaviour: "the manifest the SDK was given is the published one in everything but prose";
        VectorsInteger = "vectors.integer" in Behaviour: "integers keep their exact identity: lossless-json-integer-identity";
        VectorsDateTime = "vectors.date-time" in Behaviour: "date-times follow the exact rule: bounded-rfc3339-normalization";
        VectorsSchema = "vectors.schema" in Behaviour: "payloads and manifests are held to the published schema";
        ProbeAgreement = "probe.agreement" in Behaviour: "two probes, asked in different orders, gave the same verdicts";
        SnapshotIntact = "snapshot.intact" in Behaviour: "the private copy was unchanged after the probes ended";
        PairConfined = "pair.confined" in Pair: "the kernel confines the client's process to the gate's own ports, in full where that was required";
        PairTranscript = "pair.transcript" in Pair: "the client was imported, and every call ended in time";
        PairDiscovery = "pair.discovery" in Pair: "tools are found by the advertised links alone, and by none that leads astray";
        PairDispatch = "pair.dispatch" in Pair: "whatever is answered, a tool's target is asked once, and a refusal or a doubtful outcome is no success";
        PairNumbers = "pair.numbers" in Pair: "what is submitted is what was asked, number by number, and nothing the contract refuses";
        PairElsewhere = "pair.elsewhere" in Pair: "nothing is sent anywhere else, and the credential in its header alone";
    }
    /// The checks of the SDK's MCP server, in report order. `pair --mcp` decides them beside those of git and the environment.
    TOOLS {
        McpConfined = "mcp.confined" in Tools: "the kernel confines the server's processes to the gate's own ports, in full where that was required";
        McpOrigin = "mcp.origin" in Tools: "the server was loaded from the private copy, which was unchanged at the end";
        McpTranscript = "mcp.transcript" in Tools: "every message was answered once and in time, and nothing else was said";
        McpSurface = "mcp.surface" in Tools: "a plugin's tools are listed and called through the generic ones, and none is a tool of its own";
        McpGate = "mcp.gate" in Tools: "while mutations are not allowed, and in a dry run, nothing is submitted";
        McpDiscovery = "mcp.discovery" in Tools: "tools are found by the advertised links alone, and by none that leads astray";
        McpDispatch = "mcp.dispatch" in Tools: "a tool's target is asked once, and a refusal or a doubtful outcome is told as an error";
        McpNumbers = "mcp.numbers" in Tools: "what is submitted is what the agent asked, number by number, and nothing the contract refuses";
        McpCredentials = "mcp.credentials" in Tools: "the credential goes to the producer in its header, and into no message, log or file";
    }
}

impl Check {
    /// Every check there is, those of `verify` first.
    pub fn all() -> impl Iterator<Item = Check> {
        TABLE.iter().chain(TOOLS).copied()
    }

    /// The check of that id, if there is one.
    pub fn from_id(id: &str) -> Option<Check> {
        Check::all().find(|check| check.id() == id)
    }
}

/// One reason why a check did not pass. All four parts are for people; `subject` is a path, an object or a vector id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Finding {
    /// What the finding is about; paths are relative to the subject.
    pub subject: String,
    /// What had to be there.
    pub expected: String,
    /// What was there.
    pub actual: String,
    /// What to do next: a command where there is one.
    pub hint: String,
}

impl Finding {
    /// A finding; every part is mandatory, the hint too. Parts are cut at 1,000 bytes: what is quoted in them may be a stranger's.
    pub fn new(
        subject: impl Into<String>,
        expected: impl Into<String>,
        actual: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Finding {
            subject: cut(subject.into()),
            expected: cut(expected.into()),
            actual: cut(actual.into()),
            hint: cut(hint.into()),
        }
    }
}

/// The beginning of a text that is too long to be read, and how long it was.
fn cut(mut text: String) -> String {
    const MOST: usize = 1000;
    let length = text.len();
    if length > MOST {
        text.truncate(text.floor_char_boundary(MOST));
        text.push_str(&format!("… (cut off, {length} bytes in all)"));
    }
    text
}

/// The first twenty findings; how many more there are, in one that says so.
pub fn limited(mut findings: Vec<Finding>) -> Vec<Finding> {
    const LISTED: usize = 20;
    let more = findings.len().saturating_sub(LISTED);
    if more > 0 {
        findings.truncate(LISTED);
        findings.push(Finding::new(
            "and more",
            "none",
            counted(more as u64, "further finding"),
            "start with the first",
        ));
    }
    findings
}

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Proven.
    Passed,
    /// Evidence against.
    Failed,
    /// Could not be decided.
    Error,
    /// Its stage was not reached, or ended before the check was decided.
    NotRun,
}

/// The result of one check.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Which check.
    pub check: Check,
    /// How it ended.
    pub status: Status,
    /// Why it did not pass; empty exactly when it passed or never ran.
    pub findings: Vec<Finding>,
}

/// A stage did not close: something was found, could not be told, or was not looked at. The ledger knows which.
#[derive(Debug)]
#[must_use]
pub struct Halt(());

/// The results of all checks, in table order.
#[derive(Debug)]
pub struct Ledger {
    entries: Vec<Entry>,
}

impl Default for Ledger {
    fn default() -> Self {
        Self::new()
    }
}

impl Ledger {
    /// A ledger in which nothing has run.
    pub fn new() -> Self {
        let entry = |check| Entry { check, status: Status::NotRun, findings: Vec::new() };
        Ledger { entries: Check::all().map(entry).collect() }
    }

    /// The results of [`TABLE`] so far, in its order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries[..TABLE.len()]
    }

    /// The results of these stages so far.
    pub fn of_stages(&self, stages: &[Stage]) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| stages.contains(&entry.check.stage()))
    }

    /// The status of one check.
    pub fn status(&self, check: Check) -> Status {
        self.entries[check as usize].status
    }

    /// Every check of [`TABLE`] passed.
    pub fn all_passed(&self) -> bool {
        self.entries().iter().all(|entry| entry.status == Status::Passed)
    }

    /// Some check failed: there is evidence against the subject.
    pub fn any_failed(&self) -> bool {
        self.entries.iter().any(|entry| entry.status == Status::Failed)
    }

    /// Records that the subject was right (`findings` empty) or wrong.
    ///
    /// Results add up and never improve: a failed check stays failed, and one that errored cannot pass any more.
    pub fn record(&mut self, check: Check, findings: Vec<Finding>) {
        let status = if findings.is_empty() { Status::Passed } else { Status::Failed };
        self.add(check, status, findings);
    }

    /// Records that the check could not be decided.
    pub fn undecided(&mut self, check: Check, finding: Finding) {
        self.add(check, Status::Error, vec![finding]);
    }

    /// Records that the check could not be decided, and that its stage cannot go on.
    pub fn give_up(&mut self, check: Check, finding: Finding) -> Halt {
        self.undecided(check, finding);
        Halt(())
    }

    /// Records that the subject was wrong, so that its stage cannot go on.
    pub fn refuse(&mut self, check: Check, finding: Finding) -> Halt {
        self.record(check, vec![finding]);
        Halt(())
    }

    fn add(&mut self, check: Check, status: Status, findings: Vec<Finding>) {
        let entry = &mut self.entries[check as usize];
        entry.status = match (entry.status, status) {
            (Status::Failed, _) | (_, Status::Failed) => Status::Failed,
            (Status::Error, _) | (_, Status::Error) => Status::Error,
            _ => Status::Passed,
        };
        entry.findings.extend(findings);
    }

    /// Takes over what another ledger says of one stage.
    pub fn adopt(&mut self, stage: Stage, other: Ledger) {
        for Entry { check, status, findings } in other.entries {
            if check.stage() == stage && status != Status::NotRun {
                self.add(check, status, findings);
            }
        }
    }

    /// Goes on within a stage.
    ///
    /// # Errors
    /// [`Halt`] unless these checks passed.
    pub fn require(&self, checks: &[Check]) -> Result<(), Halt> {
        if checks.iter().all(|&check| self.status(check) == Status::Passed) { Ok(()) } else { Err(Halt(())) }
    }

    /// Closes a stage.
    ///
    /// # Errors
    /// [`Halt`] unless every row of that stage passed.
    pub fn close(&mut self, stage: Stage) -> Result<(), Halt> {
        let rows: Vec<_> = Check::all().filter(|check| check.stage() == stage).collect();
        self.require(&rows)
    }
}

#[cfg(test)]
mod tests;
