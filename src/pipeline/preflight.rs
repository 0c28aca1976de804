//! What can be told before a run: no code of the SDK is run, no process started and nothing written.

use std::path::Path;

use rustix::fs::{Access, access, statvfs};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Observer, Request, Run, timed};
use crate::behaviour::{self, Sandbox};
use crate::check::{Check, Finding, Halt, Ledger, Stage};
use crate::environment::{self, Examination};
use crate::identity::ExpectedIdentity;
use crate::pipeline::Evidence;
use crate::{graph, inventory};

/// More than a run writes besides the package: scripts and compiled code, which took less than 4 MiB for netbox-sdk 0.0.13.
const BESIDES_PACKAGE: u64 = 16 << 20;

/// What this machine has to offer.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Host {
    /// What the kernel would enforce on the probes, as far as it shows without one.
    pub sandbox: Sandbox,
    /// The folder that private folders are made in.
    pub temporary: Room,
}

/// The room in a folder.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Room {
    /// The folder.
    pub path: String,
    /// Bytes that this user may still write there; none if that cannot be told.
    pub free_bytes: Option<u64>,
    /// Bytes that a run has room with: the package's, as far as it is known, and 16 MiB for what comes besides.
    pub needed_bytes: u64,
    #[serde(skip)]
    error: Option<rustix::io::Errno>,
}

impl Room {
    fn of(folder: &Path, package_bytes: u64) -> Self {
        let free = access(folder, Access::WRITE_OK | Access::EXEC_OK).and_then(|()| statvfs(folder));
        let free = free.map(|found| found.f_bavail.saturating_mul(found.f_frsize));
        Room {
            path: folder.display().to_string(),
            free_bytes: free.ok(),
            needed_bytes: package_bytes.saturating_add(BESIDES_PACKAGE),
            error: free.err(),
        }
    }

    /// Why it does not suffice, if it does not.
    pub fn finding(&self) -> Option<Finding> {
        let expected = format!("a folder to write in, with {} bytes of room", self.needed_bytes);
        let actual = match (self.free_bytes, self.error) {
            (Some(free), _) if free >= self.needed_bytes => return None,
            (Some(free), _) => format!("{free} bytes"),
            (None, error) => error.map_or("nothing known".into(), |error| error.to_string()),
        };
        Some(Finding::new(self.path.as_str(), expected, actual, "make room there, or name another folder in TMPDIR"))
    }
}

/// The stages that need a checkout, an environment and a host to look at: the graph, the inventory, the environment with its lock,
/// and what the kernel offers. The rows of the ledger beyond these stay unrecorded, so that it can approve of nothing.
pub fn preflight(request: &Request<'_>, identity: &ExpectedIdentity, observer: Observer<'_>) -> (Run, Host) {
    let mut run = Run { ledger: Ledger::new(), evidence: Evidence::default() };
    let examination = environment::examine(identity.environment_root(), &request.budget);
    // What stopped it is in the ledger.
    let package_bytes = look(request, examination, observer, &mut run).unwrap_or_default();
    let limits = request.budget.limits();
    let sandbox = behaviour::preflight(&request.temporary, limits, request.require_sandbox, &mut run.ledger);
    (run, Host { sandbox, temporary: Room::of(&request.temporary, package_bytes) })
}

/// The bytes of the package.
fn look(request: &Request<'_>, examination: Examination, observer: Observer<'_>, run: &mut Run) -> Result<u64, Halt> {
    let Request { sdk_root, commit, version, contract, allow_shallow, release_artifact, wheelhouse, budget, .. } =
        request;
    let graph = timed(Stage::Graph, observer, run, |run| {
        graph::verify(sdk_root, *commit, *version, contract.package, *allow_shallow, budget, &mut run.ledger)
    });
    // Whatever the graph came to, the environment has its say.
    let locked = timed(Stage::Environment, observer, run, |run| {
        environment::preflight(graph.as_ref().ok(), examination, *wheelhouse, &mut run.ledger)
    });
    let inventory = timed(Stage::Inventory, observer, run, |run| {
        let (release, ledger) = (&mut run.evidence.release, &mut run.ledger);
        inventory::verify(graph?, contract, None, *version, *release_artifact, release, ledger)
    })?;
    locked.map(|()| inventory.files().iter().map(|file| file.content.len() as u64).sum())
}

/// The checks that [`preflight`] decides, in table order.
pub fn decided() -> impl Iterator<Item = Check> {
    let stages = [Stage::Graph, Stage::Inventory, Stage::Environment];
    let of_stage = move |check: &Check| stages.contains(&check.stage()) || *check == Check::ProbeConfined;
    crate::check::TABLE.iter().copied().filter(of_stage)
}
