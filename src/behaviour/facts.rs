//! What a probe answers: facts, never verdicts.

use serde::Deserialize;

/// The probe's description of its interpreter, before anything foreign is imported.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InterpreterFacts {
    pub(super) implementation: String,
    pub(super) version: [u32; 3],
    pub(super) isolated: bool,
    pub(super) site: bool,
    pub(super) executable: String,
    pub(super) base_prefix: String,
    pub(super) path: Vec<String>,
    pub(super) loaded: Vec<String>,
}

/// The probe's description of the loaded SDK, or why it could not be loaded.
#[derive(Debug, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub(super) enum Import {
    Loaded(ModuleFacts),
    Failed { failed: String },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ModuleFacts {
    pub(super) origin: String,
    pub(super) version: String,
    pub(super) version_is_str: bool,
    pub(super) payload_rejection: RejectionFacts,
    pub(super) manifest_rejection: RejectionFacts,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RejectionFacts {
    pub(super) module: String,
    pub(super) name: String,
    pub(super) exception: bool,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Answer {
    pub(super) did: Did,
    pub(super) raised: Option<String>,
    pub(super) unchanged: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Did {
    Returned,
    ReturnedAValue,
    Rejected,
    Raised,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EndFacts {
    pub(super) modules: Vec<NamedModule>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NamedModule {
    pub(super) name: String,
    pub(super) origin: Option<String>,
    pub(super) file: Option<String>,
}
