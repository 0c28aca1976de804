//! What the walk has cost so far, shared by all threads.

use std::sync::atomic::{AtomicU64, Ordering};

use super::error::{Exhausted, ObjectError};
use crate::limits::Budget;

/// Counts inflated bytes and asks the budget, both now and then.
pub(super) struct Meter<'a> {
    budget: &'a Budget,
    inflated: &'a AtomicU64,
    pending: u64,
}

impl<'a> Meter<'a> {
    /// Bytes after which the shared counter and the clock are asked again.
    const STEP: u64 = 1 << 20;
    /// What an object costs however small it is.
    const OBJECT: u64 = 512;

    pub(super) fn new(budget: &'a Budget, inflated: &'a AtomicU64) -> Self {
        Meter { budget, inflated, pending: Self::STEP }
    }

    /// Accounts for one object or a part of one.
    pub(super) fn spend(&mut self, bytes: u64) -> Result<(), Exhausted> {
        self.pending = self.pending.saturating_add(bytes).saturating_add(Self::OBJECT);
        if self.pending < Self::STEP {
            return Ok(());
        }
        self.budget.check()?;
        let total = self.inflated.fetch_add(self.pending, Ordering::Relaxed).saturating_add(self.pending);
        self.pending = 0;
        let limit = self.budget.limits().inflated_bytes;
        if total > limit.saturating_add(Self::STEP) { Err(Exhausted::Inflated(limit)) } else { Ok(()) }
    }

    /// The bound on one object that is needed as a whole: trees, commits and tags always are, blobs seldom.
    pub(super) fn fits(&self, kind: gix::objs::Kind, bytes: u64) -> Result<usize, ObjectError> {
        let limits = self.budget.limits();
        let limit = match kind {
            gix::objs::Kind::Blob => self.buffer(),
            _ => limits.tree_bytes,
        };
        match usize::try_from(bytes) {
            Ok(size) if bytes <= limit => Ok(size),
            _ => Err(ObjectError::Limit { bytes, limit }),
        }
    }

    /// The bound on any one buffer.
    pub(super) fn buffer(&self) -> u64 {
        let limits = self.budget.limits();
        limits.tree_bytes.max(limits.file_bytes)
    }
}
