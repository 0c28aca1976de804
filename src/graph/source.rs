//! What was walked, for the report.

use serde::Serialize;

/// The graph that was verified, in numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Source {
    /// The hash the repository names its objects by.
    pub object_format: &'static str,
    /// Reachable commits.
    pub commits: u64,
    /// Reachable trees.
    pub trees: u64,
    /// Reachable blobs.
    pub blobs: u64,
    /// Bytes of all of them, inflated.
    pub bytes: u64,
    /// Whether the history reaches down to its root commits.
    pub history: History,
    /// The commits whose parents were left out, sorted.
    pub shallow_boundary: Vec<String>,
    /// What lies in the repository and had no influence.
    pub ignored: Ignored,
}

/// How far down the history reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum History {
    /// To the root commits.
    Complete,
    /// To a boundary of `.git/shallow`.
    Shallow,
}

/// Things that could mislead git and were passed over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Ignored {
    /// Refs below `refs/replace`.
    pub replace_refs: u64,
    /// The file `info/grafts` is there.
    pub grafts: bool,
    /// A commit-graph is there.
    pub commit_graph: bool,
    /// A multi-pack-index is there.
    pub multi_pack_index: bool,
    /// The checkout belongs to another user.
    pub foreign_owner: bool,
}
