//! The closed table of drifts: the ways in which what a producer commits can contradict itself.

use serde::Serialize;

macro_rules! drifts {
    ($($variant:ident = $id:literal: $meaning:literal, $cure:literal;)+) => {
        /// One kind of drift. Its row gives it a stable id, a meaning and a cure.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Kind { $(#[doc = $meaning] $variant,)+ }

        /// Every kind.
        pub const TABLE: &[Kind] = &[$(Kind::$variant,)+];

        impl Kind {
            /// The stable id, `place.matter`.
            pub fn id(self) -> &'static str { match self { $(Kind::$variant => $id,)+ } }
            /// What it means, and why that is a contradiction.
            pub fn meaning(self) -> &'static str { match self { $(Kind::$variant => $meaning,)+ } }
            /// What to do about it in that file.
            pub fn cure(self, file: &str) -> String { match self { $(Kind::$variant => $cure,)+ }.replace("{file}", file) }
        }
    };
}

drifts! {
    RecordMissing = "record.missing":
        "there is no activation record, so nothing says whether agents may be given the operations",
        "bring it back, `git checkout HEAD -- {file}`, or say where it is with --record";
    RecordInvalid = "record.invalid":
        "the activation record is not one: what it says must not be believed, so it counts as neither state",
        "bring back the committed record: `git checkout HEAD -- {file}`";
    ConstantsMissing = "constants.missing":
        "the module whose constants decide at run time is not there, or does not assign one of them",
        "bring the module back or say where it is with --constants, and assign each constant once";
    ConstantsNotPython = "constants.not-python":
        "the module whose constants decide at run time cannot be parsed",
        "bring back the committed module: `git checkout HEAD -- {file}`";
    ConstantsRebound = "constants.rebound":
        "a constant is bound more than once or otherwise than by one plain assignment, so its text does not tell its value",
        "leave the one plain assignment at the top level, and import by name";
    ConstantsNotLiteral = "constants.not-literal":
        "a constant is computed; only a literal can be read without running the producer's code",
        "write the value itself: a string, None, an integer or a list of strings";
    ConstantsSchemaVersion = "constants.schema-version":
        "the schema version that the running plugin shows is not the record's",
        "let a patch set it: `activate` or `block` with `--producer-root` and `--patch`";
    ConstantsState = "constants.state":
        "the running plugin is active where the record says blocked, or the other way round",
        "let a patch set it: `activate` or `block` with `--producer-root` and `--patch`";
    ConstantsVersion = "constants.version":
        "the running plugin expects another SDK version than the record",
        "let a patch set it: `activate` or `block` with `--producer-root` and `--patch`";
    ConstantsCommit = "constants.commit":
        "the running plugin expects another SDK commit than the record",
        "let a patch set it: `activate` or `block` with `--producer-root` and `--patch`";
    ConstantsModuleOrigin = "constants.module-origin":
        "the running plugin expects another module than the record",
        "let a patch set it: `activate` or `block` with `--producer-root` and `--patch`";
    ConstantsContracts = "constants.required-contracts":
        "the running plugin requires other contracts than the record",
        "let a patch set it: `activate` or `block` with `--producer-root` and `--patch`";
    ConstantsReason = "constants.reason":
        "the running plugin gives another reason than the record",
        "let a patch set it: `activate` or `block` with `--producer-root` and `--patch`";
    SnapshotMissing = "snapshot.missing":
        "there is no committed snapshot of the manifest to hold against the contract",
        "bring it back, `git checkout HEAD -- {file}`, or say where it is with --snapshot";
    SnapshotNotManifest = "snapshot.not-manifest":
        "the committed snapshot is no manifest of the bridge's schema version",
        "bring back the committed snapshot: `git checkout HEAD -- {file}`";
    SnapshotDiffers = "snapshot.differs":
        "the committed snapshot says something else than the contract that SDKs are proven against",
        "`paired-sdk-gate manifest` prints the contract: bring back the committed snapshot, or agree on a new contract";
    WorkflowNotYaml = "workflow.not-yaml":
        "a workflow cannot be parsed, so nobody can say what it runs",
        "correct the file; a forge would not run it either";
    WorkflowAlias = "workflow.alias":
        "a workflow that runs the gate uses YAML anchors, aliases or merge keys, which forges resolve differently or not at all",
        "write out what the alias stands for";
    WorkflowDuplicateKey = "workflow.duplicate-key":
        "a workflow that runs the gate has a key twice; readers differ in which one counts",
        "leave the one that is meant";
    WorkflowTrigger = "workflow.trigger":
        "the workflow does not run on every push to the default branch or on every pull request",
        "let `on` name `pull_request`, or `push` for the default branch, and no paths";
    WorkflowPresented = "workflow.presented":
        "the record says blocked, and committed CI presents the gate as active evidence",
        "take the step out, or activate the record with the identity that it proves";
    WorkflowAbsent = "workflow.absent":
        "the record says active, and no committed workflow proves it",
        "add one: `activate --patch FILE` writes it, `paired-sdk-gate ci` prints it";
    JobCondition = "job.condition":
        "the job has a condition and may be skipped; a skipped job is green",
        "take `if` from the job, or run the gate in a job without one";
    JobFailureIgnored = "job.failure-ignored":
        "the job's failure does not fail the workflow",
        "take `continue-on-error` from the job";
    JobMatrix = "job.matrix":
        "the job is multiplied by a matrix, which may be empty or leave this identity out",
        "run the gate in a job of its own, without `strategy`";
    JobReusable = "job.reusable":
        "the job calls another workflow, so what it runs is not said here",
        "run the gate in a step of this workflow's own";
    JobNeeds = "job.needs":
        "the job waits for one that may be skipped or is not there, and is then skipped with it",
        "let the job need nothing, or only jobs that always run";
    JobContainer = "job.container":
        "the job runs in an image that is not pinned by its digest",
        "pin the image, NAME@sha256:DIGEST, or leave the job on the runner itself";
    StepCondition = "step.condition":
        "a step that the proof needs has a condition and may be skipped",
        "take `if` from the step";
    StepFailureIgnored = "step.failure-ignored":
        "the failure of a step that the proof needs does not fail the job",
        "take `continue-on-error` from the step";
    StepShell = "step.shell":
        "the step's shell goes on after a command that failed, or is none this reader knows",
        "write `shell: bash`, or nothing";
    StepEnvironment = "step.environment":
        "an environment variable is set that can put another program, folder or environment in the place of the one named",
        "take the variable out; the five flags say what the gate is to look at";
    ActionUnpinned = "action.unpinned":
        "an action of the job is not pinned by a full commit id, so its code can change after the review",
        "write the action's full commit id after `@`, and its version as a comment";
    GateUnclear = "gate.unclear":
        "the gate is mentioned in a way that does not plainly run it: hidden in a string, a pipe, a condition or another command",
        "give the gate a step of its own, whose `run` is that one command";
    GateFailureIgnored = "gate.failure-ignored":
        "the gate's exit code is thrown away",
        "let the step end with the gate's exit code";
    GateCommand = "gate.command":
        "the gate is run with another command than `verify`",
        "run `paired-sdk-gate verify`";
    GateExpression = "gate.expression":
        "an argument is filled in by the forge, and so can be chosen by whoever proposes a change",
        "write the value out in the step";
    GateVariable = "gate.variable":
        "an argument comes from a variable and is not in the step itself",
        "write the value out in the step; paths may start with $GITHUB_WORKSPACE";
    GateFlag = "gate.flag":
        "a flag is unknown or weakens the proof",
        "take the flag out; `paired-sdk-gate verify --help` says what each one does";
    GateFlagMissing = "gate.flag-missing":
        "one of the five parts of the identity is not given",
        "give all five: --sdk-root, --expected-commit, --expected-version, --expected-environment-root and --expected-module-origin";
    GateFlagRepeated = "gate.flag-repeated":
        "one of the five parts of the identity is given twice",
        "leave the one that is meant";
    GateCommit = "gate.commit":
        "the gate is run for another commit than the record names",
        "write the record's value into the step, or activate the record with what the step proves";
    GateVersion = "gate.version":
        "the gate is run for another version than the record names",
        "write the record's value into the step, or activate the record with what the step proves";
    GateModuleOrigin = "gate.module-origin":
        "the gate is run for another module than the record names",
        "write the record's value into the step, or activate the record with what the step proves";
    GateSdkRoot = "gate.sdk-root":
        "the gate looks at another folder than the one checked out",
        "name the folder that a step before it checks the SDK out to";
    GateEnvironmentRoot = "gate.environment-root":
        "the gate uses another environment than the one installed",
        "name the environment that a step before it installs into, starting with $GITHUB_WORKSPACE";
    CheckoutMissing = "checkout.missing":
        "no step before the gate checks out the SDK",
        "add a step before the gate that checks the SDK out, with `repository`, `ref`, `path` and `fetch-depth: 0`";
    CheckoutRef = "checkout.ref":
        "the SDK is checked out at a branch, a tag, an expression or another commit than the record names",
        "write the record's full commit id as `ref`";
    CheckoutRepository = "checkout.repository":
        "the checkout does not name the SDK's repository literally",
        "write the SDK's repository as `repository: OWNER/NAME`";
    CheckoutDepth = "checkout.depth":
        "the checkout is not complete: the gate needs the whole history and every file",
        "write `fetch-depth: 0`, and neither `filter` nor `sparse-checkout`";
    InstallMissing = "install.missing":
        "no step before the gate installs what the SDK needs",
        "add a step before the gate that runs `uv sync --frozen --no-install-project` in the SDK's checkout";
    InstallUnlocked = "install.unlocked":
        "the installation may resolve to other files than the lock names",
        "install with `uv sync --frozen --no-install-project`, or with `pip install --require-hashes`";
    Unreadable = "file.unreadable":
        "a file could not be read, so nothing can be said of it",
        "look at it with `ls -l`, then run again";
}

impl Kind {
    /// The kind of that id, if there is one.
    pub fn from_id(id: &str) -> Option<Kind> {
        TABLE.iter().copied().find(|kind| kind.id() == id)
    }
}

/// One contradiction, with its place and cure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Drift {
    /// Stable; `paired-sdk-gate explain ID` says what it means.
    pub id: &'static str,
    /// Relative to the producer's root.
    pub file: String,
    /// From 1; null if there is no line to point at.
    pub line: Option<usize>,
    /// What had to be there.
    pub expected: String,
    /// What was there.
    pub found: String,
    /// What to do.
    pub cure: String,
}

impl Drift {
    pub(super) fn new(
        kind: Kind,
        (file, line): (&str, Option<usize>),
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        let (expected, found, cure) = (expected.into(), found.into(), kind.cure(file));
        Drift { id: kind.id(), file: file.to_owned(), line, expected, found, cure }
    }

    /// Nothing was found out, neither for nor against.
    pub fn undecided(&self) -> bool {
        self.id == Kind::Unreadable.id()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_unique_and_lead_back() {
        for (index, &kind) in TABLE.iter().enumerate() {
            assert_eq!(kind as usize, index);
            assert_eq!(Kind::from_id(kind.id()), Some(kind), "{} twice", kind.id());
            assert_eq!(crate::check::Check::from_id(kind.id()), None, "{} is a check's", kind.id());
            assert!(!kind.cure("f").contains('{'), "{} has a cure for a place that nobody fills in", kind.id());
        }
        assert_eq!(Kind::from_id("gate.nothing"), None);
    }
}
