//! The git half in this process: from a checkout to the private copy of its package.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use paired_sdk_gate::contract::Contract;
use paired_sdk_gate::limits::{Budget, Limits};
use paired_sdk_gate::pipeline::{self, Observer, Request, Run};
use paired_sdk_gate::snapshot::Snapshot;

/// Copies the package of a commit into a fresh folder in `parent`.
pub fn snapshot(root: &Path, commit: &str, parent: &Path) -> (Run, Option<Snapshot>) {
    interruptible(root, commit, parent, Arc::default(), &|_| ())
}

/// The same with a flag that ends it, and with somebody to tell of the stages.
pub fn interruptible(
    root: &Path,
    commit: &str,
    parent: &Path,
    interrupt: Arc<AtomicBool>,
    observer: Observer<'_>,
) -> (Run, Option<Snapshot>) {
    let budget = Budget::start(Limits::default(), interrupt);
    let request = Request {
        temporary: parent.to_owned(),
        ..Request::new(root, commit.parse().unwrap(), None, Contract::bridge_v1(), budget)
    };
    pipeline::snapshot(&request, parent, observer)
}
