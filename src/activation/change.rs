//! What a write did, or would do.

use serde::Serialize;
use similar::TextDiff;

use crate::digest::sha256;

/// What became of the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// It says `active` now.
    Activated,
    /// It says `blocked` now.
    Blocked,
    /// It said so already and was not touched.
    Unchanged,
    /// A dry run: it would say `active`.
    WouldActivate,
    /// A dry run: it would say `blocked`.
    WouldBlock,
}

/// A change to the record's file, made or only shown.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Change {
    /// What was done.
    pub action: Action,
    /// The name of the file, without its directory.
    pub file: String,
    /// The bytes that were read.
    pub before: Vec<u8>,
    /// The bytes that are, or would be, in their place; the same if unchanged.
    pub after: Vec<u8>,
}

impl Change {
    /// SHA-256 of the bytes before, in lower-case hex.
    pub fn before_sha256(&self) -> String {
        sha256(&self.before)
    }

    /// SHA-256 of the bytes after, in lower-case hex.
    pub fn after_sha256(&self) -> String {
        sha256(&self.after)
    }

    /// The change as a unified diff; empty if nothing changes.
    pub fn diff(&self) -> String {
        // Both are records, so both are UTF-8.
        let (before, after) = (String::from_utf8_lossy(&self.before), String::from_utf8_lossy(&self.after));
        let (old, new) = (format!("a/{}", self.file), format!("b/{}", self.file));
        TextDiff::from_lines(&before, &after).unified_diff().header(&old, &new).to_string()
    }
}
