//! How far a run has got, for whoever watches it. No verdict depends on it.

use std::sync::atomic::{AtomicU64, Ordering};

/// What was done so far, by sort; shared by all threads of a run.
#[derive(Debug, Default)]
pub struct Tally {
    /// Objects of the repository that were read and judged.
    pub objects: Count,
    /// Files of the package that were compared with the working tree.
    pub compared: Count,
    /// Files of the private copy.
    pub copied: Count,
    /// Files of the environment that were held against their RECORD.
    pub installed: Count,
    /// Vectors that a probe answered.
    pub vectors: Count,
    /// Calls of tools that a server was asked for.
    pub calls: Count,
}

/// A number that only grows.
#[derive(Debug, Default)]
pub struct Count(AtomicU64);

impl Count {
    /// So many more.
    pub fn add(&self, more: usize) {
        self.0.fetch_add(more as u64, Ordering::Relaxed);
    }

    /// How many so far.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// So many of something, in words.
pub fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
