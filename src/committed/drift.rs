//! The closed table of drifts: the ways in which what a producer commits can contradict itself.

use serde::Serialize;

macro_rules! drifts {
    ($($variant:ident = $id:literal: $meaning:literal;)+) => {
        /// One kind of drift. Its row gives it a stable id and a meaning.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Kind { $(#[doc = $meaning] $variant,)+ }

        /// Every kind.
        pub const TABLE: &[Kind] = &[$(Kind::$variant,)+];

        impl Kind {
            /// The stable id, `place.matter`.
            pub fn id(self) -> &'static str { match self { $(Kind::$variant => $id,)+ } }
            /// What it means, and why that is a contradiction.
            pub fn meaning(self) -> &'static str { match self { $(Kind::$variant => $meaning,)+ } }
        }
    };
}

drifts! {
    RecordMissing = "record.missing": "there is no activation record, so nothing says whether agents may be given the operations";
    RecordInvalid = "record.invalid": "the activation record is not one: what it says must not be believed, so it counts as neither state";
    ConstantsMissing = "constants.missing": "the module whose constants decide at run time is not there, or does not assign one of them";
    ConstantsNotPython = "constants.not-python": "the module whose constants decide at run time cannot be parsed";
    ConstantsRebound = "constants.rebound": "a constant is bound more than once or otherwise than by one plain assignment, so its text does not tell its value";
    ConstantsNotLiteral = "constants.not-literal": "a constant is computed; only a literal can be read without running the producer's code";
    ConstantsSchemaVersion = "constants.schema-version": "the schema version that the running plugin shows is not the record's";
    ConstantsState = "constants.state": "the running plugin is active where the record says blocked, or the other way round";
    ConstantsVersion = "constants.version": "the running plugin expects another SDK version than the record";
    ConstantsCommit = "constants.commit": "the running plugin expects another SDK commit than the record";
    ConstantsModuleOrigin = "constants.module-origin": "the running plugin expects another module than the record";
    ConstantsContracts = "constants.required-contracts": "the running plugin requires other contracts than the record";
    ConstantsReason = "constants.reason": "the running plugin gives another reason than the record";
    SnapshotMissing = "snapshot.missing": "there is no committed snapshot of the manifest to hold against the contract";
    SnapshotNotManifest = "snapshot.not-manifest": "the committed snapshot is no manifest of the bridge's schema version";
    SnapshotDiffers = "snapshot.differs": "the committed snapshot says something else than the contract that SDKs are proven against";
    WorkflowNotYaml = "workflow.not-yaml": "a workflow cannot be parsed, so nobody can say what it runs";
    WorkflowAlias = "workflow.alias": "a workflow that runs the gate uses YAML anchors, aliases or merge keys, which forges resolve differently or not at all";
    WorkflowDuplicateKey = "workflow.duplicate-key": "a workflow that runs the gate has a key twice; readers differ in which one counts";
    WorkflowTrigger = "workflow.trigger": "the workflow does not run on every push to the default branch or on every pull request";
    WorkflowPresented = "workflow.presented": "the record says blocked, and committed CI presents the gate as active evidence";
    WorkflowAbsent = "workflow.absent": "the record says active, and no committed workflow proves it";
    JobCondition = "job.condition": "the job has a condition and may be skipped; a skipped job is green";
    JobFailureIgnored = "job.failure-ignored": "the job's failure does not fail the workflow";
    JobMatrix = "job.matrix": "the job is multiplied by a matrix, which may be empty or leave this identity out";
    JobReusable = "job.reusable": "the job calls another workflow, so what it runs is not said here";
    JobNeeds = "job.needs": "the job waits for one that may be skipped or is not there, and is then skipped with it";
    JobContainer = "job.container": "the job runs in an image that is not pinned by its digest";
    StepCondition = "step.condition": "a step that the proof needs has a condition and may be skipped";
    StepFailureIgnored = "step.failure-ignored": "the failure of a step that the proof needs does not fail the job";
    StepShell = "step.shell": "the step's shell goes on after a command that failed, or is none this reader knows";
    StepEnvironment = "step.environment": "an environment variable is set that can put another program, folder or environment in the place of the one named";
    ActionUnpinned = "action.unpinned": "an action of the job is not pinned by a full commit id, so its code can change after the review";
    GateUnclear = "gate.unclear": "the gate is mentioned in a way that does not plainly run it: hidden in a string, a pipe, a condition or another command";
    GateFailureIgnored = "gate.failure-ignored": "the gate's exit code is thrown away";
    GateCommand = "gate.command": "the gate is run with another command than `verify`";
    GateExpression = "gate.expression": "an argument is filled in by the forge, and so can be chosen by whoever proposes a change";
    GateVariable = "gate.variable": "an argument comes from a variable and is not in the step itself";
    GateFlag = "gate.flag": "a flag is unknown or weakens the proof";
    GateFlagMissing = "gate.flag-missing": "one of the five parts of the identity is not given";
    GateFlagRepeated = "gate.flag-repeated": "one of the five parts of the identity is given twice";
    GateCommit = "gate.commit": "the gate is run for another commit than the record names";
    GateVersion = "gate.version": "the gate is run for another version than the record names";
    GateModuleOrigin = "gate.module-origin": "the gate is run for another module than the record names";
    GateSdkRoot = "gate.sdk-root": "the gate looks at another folder than the one checked out";
    GateEnvironmentRoot = "gate.environment-root": "the gate uses another environment than the one installed";
    CheckoutMissing = "checkout.missing": "no step before the gate checks out the SDK";
    CheckoutRef = "checkout.ref": "the SDK is checked out at a branch, a tag, an expression or another commit than the record names";
    CheckoutRepository = "checkout.repository": "the checkout does not name the SDK's repository literally";
    CheckoutDepth = "checkout.depth": "the checkout is not complete: the gate needs the whole history and every file";
    InstallMissing = "install.missing": "no step before the gate installs what the SDK needs";
    InstallUnlocked = "install.unlocked": "the installation may resolve to other files than the lock names";
    Unreadable = "file.unreadable": "a file could not be read, so nothing can be said of it";
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
        cure: impl Into<String>,
    ) -> Self {
        let (expected, found, cure) = (expected.into(), found.into(), cure.into());
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
        }
        assert_eq!(Kind::from_id("gate.nothing"), None);
    }
}
