//! The one function that orders the stages.

mod preflight;

use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvError};
use std::thread;
use std::time::{Duration, Instant};

use crate::approval::Approval;
use crate::behaviour::{self, Standby, Terms};
use crate::check::{Check, Finding, Halt, Ledger, Stage};
use crate::contract::Contract;
use crate::environment::{self, Distribution, Examination};
use crate::fs::private_folder;
use crate::graph::{self, Source};
use crate::identity::{CommitId, ExpectedIdentity, ReleaseVersion};
use crate::inventory::{self, Release, ReleaseFile};
use crate::limits::Budget;
use crate::pair::{self, tools::ToolsReport};
use crate::snapshot::{self, Snapshot, SnapshotFile};

pub use preflight::{Host, Room, decided, preflight};

/// What to verify, against what.
#[derive(Debug)]
pub struct Request<'a> {
    /// The top of the SDK's checkout.
    pub sdk_root: &'a Path,
    /// The commit it must be at.
    pub commit: CommitId,
    /// The version that commit must declare; only [`snapshot()`] may do without.
    pub version: Option<&'a ReleaseVersion>,
    /// What it must do.
    pub contract: &'a Contract,
    /// Accept a history that a shallow clone cut off.
    pub allow_shallow: bool,
    /// The text of the manifest under test; the contract's own if none is named.
    pub manifest: Option<&'a str>,
    /// Fixes the fresh vectors and the orders in which the probes are asked.
    pub seed: u64,
    /// How many fresh vectors are asked.
    pub generated: usize,
    /// Known differences refuse, too.
    pub deny_advisories: bool,
    /// Accept no probe that the kernel confines less than in full.
    pub require_sandbox: bool,
    /// A folder of wheels to hold what is installed against.
    pub wheelhouse: Option<&'a Path>,
    /// A released wheel or sdist to hold against the commit.
    pub release_artifact: Option<&'a ReleaseFile>,
    /// Where private folders are made.
    pub temporary: PathBuf,
    /// The clock, the bounds and the interrupt flag.
    pub budget: Budget,
}

impl<'a> Request<'a> {
    /// The strictest terms: nothing is accepted but what `verify` accepts without a flag.
    pub fn new(
        sdk_root: &'a Path,
        commit: CommitId,
        version: Option<&'a ReleaseVersion>,
        contract: &'a Contract,
        budget: Budget,
    ) -> Self {
        Request {
            sdk_root,
            commit,
            version,
            contract,
            allow_shallow: false,
            manifest: None,
            seed: 0,
            generated: behaviour::GENERATED,
            deny_advisories: false,
            require_sandbox: false,
            wheelhouse: None,
            release_artifact: None,
            temporary: std::env::temp_dir(),
            budget,
        }
    }
}

/// What the stages found out, as far as they got. The proof is not in here but in the [`Approval`].
#[derive(Debug, Default)]
pub struct Evidence {
    /// What the graph holds.
    pub source: Option<Source>,
    /// The commit's tree.
    pub tree: Option<String>,
    /// The package's files.
    pub files: Vec<SnapshotFile>,
    /// Their digest (see [`Snapshot::package_digest`]).
    pub package_digest: Option<String>,
    /// The release artifact, if one was held against the files.
    pub release: Release,
    /// What is installed in the environment.
    pub distributions: Vec<Distribution>,
    /// The interpreter's digest.
    pub interpreter_sha256: Option<String>,
    /// What the probes showed.
    pub behaviour: behaviour::Evidence,
    /// What the client did.
    pub pair: pair::Evidence,
    /// How long each stage took, as far as it ran.
    pub durations: Vec<(Stage, Duration)>,
}

/// A finished run.
#[derive(Debug)]
pub struct Run {
    /// The result of every check.
    pub ledger: Ledger,
    /// What was found out.
    pub evidence: Evidence,
}

/// Told when a stage begins, for progress on long work.
pub type Observer<'a> = &'a dyn Fn(Stage);

/// Runs every stage. The approval exists exactly if every check passed for this identity.
pub fn verify(request: &Request<'_>, identity: &ExpectedIdentity, observer: Observer<'_>) -> (Run, Option<Approval>) {
    let mut run = Run { ledger: Ledger::new(), evidence: Evidence::default() };
    let approval = prove(request, identity, observer, &mut run).ok();
    (run, approval)
}

fn prove(
    request: &Request<'_>,
    identity: &ExpectedIdentity,
    observer: Observer<'_>,
    run: &mut Run,
) -> Result<Approval, Halt> {
    let room = make_room(request, run)?;
    let (room, side) = (room.path(), request.budget.branch());
    thread::scope(|scope| {
        let (examined, examination) = mpsc::sync_channel(1);
        let (ready, standby) = mpsc::sync_channel(1);
        let (paired, pair) = mpsc::sync_channel(1);
        scope.spawn(|| {
            // Owned, so that they are closed when this ends in a panic, too.
            let (examined, ready, paired) = (examined, ready, paired);
            let examination = environment::examine(identity.environment_root(), &side);
            let environment = examination.environment().cloned();
            let _ = examined.send(examination);
            if let Some(environment) = environment {
                let standby = behaviour::prepare(environment.clone(), request.contract, room, &side);
                let compiler = standby.compiler();
                let _ = ready.send(standby);
                let _ = paired.send(pair::prepare(&environment, request.contract, compiler, room, &side));
            }
        });
        let outcome =
            conclude(request, identity, room, observer, run, Ahead { examination, standby, pair, side: &side });
        side.abandon();
        outcome
    })
}

/// One folder for everything of this run: the probes may read what is in it, and nothing of other runs.
fn make_room(request: &Request<'_>, run: &mut Run) -> Result<tempfile::TempDir, Halt> {
    private_folder(&request.temporary).map_err(|error| {
        let hint = "name another folder in TMPDIR, with room for the package";
        let finding = Finding::new("temporary folder", "a private folder", error.to_string(), hint);
        run.ledger.give_up(Check::SnapshotDigest, finding)
    })
}

/// The stages that [`tools()`] runs.
pub const OF_TOOLS: &[Stage] = &[Stage::Graph, Stage::Inventory, Stage::Snapshot, Stage::Environment, Stage::Tools];

/// Runs the stages up to the environment, on the SDK and its server alike, and then the server. The report exists exactly if every
/// check of these stages passed; it approves of nothing.
pub fn tools(request: &Request<'_>, identity: &ExpectedIdentity, observer: Observer<'_>) -> (Run, Option<ToolsReport>) {
    let mut run = Run { ledger: Ledger::new(), evidence: Evidence::default() };
    let report = serve(request, identity, observer, &mut run).ok();
    (run, report)
}

fn serve(
    request: &Request<'_>,
    identity: &ExpectedIdentity,
    observer: Observer<'_>,
    run: &mut Run,
) -> Result<ToolsReport, Halt> {
    let Request { contract, require_sandbox, deny_advisories, .. } = *request;
    let room = make_room(request, run)?;
    let snapshot = materialise(request, Some(contract.server.package), room.path(), observer, run)?;
    let environment = timed(Stage::Environment, observer, run, |run| {
        let examination = environment::examine(identity.environment_root(), &request.budget);
        environment::verify(snapshot, examination, identity, request.wheelhouse, &mut run.ledger)
    })?;
    run.evidence.distributions = environment.distributions().to_vec();
    run.evidence.interpreter_sha256 = Some(environment.environment().interpreter_sha256().to_owned());
    let manifest = request.manifest.unwrap_or_else(|| contract.manifest());
    let terms = Terms { contract, require_sandbox, manifest, deny_advisories };
    let report = timed(Stage::Tools, observer, run, |run| {
        let (evidence, ledger) = (&mut run.evidence.pair, &mut run.ledger);
        pair::tools::verify(Arc::new(environment), terms, room.path(), evidence, ledger)
    })?;
    OF_TOOLS.iter().try_for_each(|&stage| run.ledger.close(stage))?;
    Ok(report)
}

/// What needs nothing of the SDK, done while git is verified. None of it is looked at if git's half refuses.
struct Ahead<'a> {
    examination: Receiver<Examination>,
    standby: Receiver<Standby>,
    pair: Receiver<pair::Standby>,
    side: &'a Budget,
}

fn conclude(
    request: &Request<'_>,
    identity: &ExpectedIdentity,
    room: &Path,
    observer: Observer<'_>,
    run: &mut Run,
    ahead: Ahead<'_>,
) -> Result<Approval, Halt> {
    let snapshot = materialise(request, None, room, observer, run)?;
    let environment = Arc::new(timed(Stage::Environment, observer, run, |run| {
        let examination = received(ahead.examination.recv(), Check::EnvironmentRoot, run)?;
        environment::verify(snapshot, examination, identity, request.wheelhouse, &mut run.ledger)
    })?);
    run.evidence.distributions = environment.distributions().to_vec();
    run.evidence.interpreter_sha256 = Some(environment.environment().interpreter_sha256().to_owned());
    let Request { contract, seed, generated, require_sandbox, deny_advisories, .. } = *request;
    let compiler = behaviour::compile(&environment, contract, &[], room);
    let manifest = request.manifest.unwrap_or_else(|| contract.manifest());
    let terms = Terms { contract, require_sandbox, manifest, deny_advisories };
    thread::scope(|scope| {
        let Ahead { standby, pair, side, .. } = ahead;
        let (whose, compiled) = (environment.clone(), &compiler);
        let played = scope.spawn(move || Ok(pair::play(whose, pair.recv()?, compiled, contract, manifest)));
        let report = timed(Stage::Behaviour, observer, run, |run| {
            // While the process that imports ahead is still at it.
            let series = behaviour::draw(contract, generated, seed, &mut run.ledger)?;
            let standby = received(standby.recv(), Check::ProbeIsolated, run)?;
            let (evidence, ledger) = (&mut run.evidence.behaviour, &mut run.ledger);
            behaviour::verify(environment.clone(), standby, &compiler, terms, &series, evidence, ledger)
        });
        // Nobody asks any more how the scenarios go.
        let report = report.inspect_err(|_| side.abandon())?;
        let report = timed(Stage::Pair, observer, run, |run| {
            let played = played.join().unwrap_or_else(|payload| resume_unwind(payload));
            let recording = received(played, Check::PairTranscript, run)?;
            pair::verify(report, recording, terms, &mut run.evidence.pair, &mut run.ledger)
        })?;
        Approval::conclude(&report, &mut run.ledger)
    })
}

/// What the other thread sent; nothing comes only if it panicked, and then the whole run ends in that panic.
fn received<T>(sent: Result<T, RecvError>, check: Check, run: &mut Run) -> Result<T, Halt> {
    sent.map_err(|gone| {
        let finding = Finding::new("work ahead", "a result", gone.to_string(), "report this as a bug");
        run.ledger.give_up(check, finding)
    })
}

/// Runs the stages that need no Python and leaves the verified package in a fresh folder in `parent`.
pub fn snapshot(request: &Request<'_>, parent: &Path, observer: Observer<'_>) -> (Run, Option<Snapshot>) {
    let mut run = Run { ledger: Ledger::new(), evidence: Evidence::default() };
    let snapshot = materialise(request, None, parent, observer, &mut run).ok();
    (run, snapshot)
}

/// The private copy of the package, and of the one `beside` it.
fn materialise(
    request: &Request<'_>,
    beside: Option<&str>,
    parent: &Path,
    observer: Observer<'_>,
    run: &mut Run,
) -> Result<Snapshot, Halt> {
    let Request { sdk_root, commit, version, contract, allow_shallow, release_artifact, budget, .. } = request;
    let graph = timed(Stage::Graph, observer, run, |run| {
        graph::verify(sdk_root, *commit, *version, contract.package, *allow_shallow, budget, &mut run.ledger)
    })?;
    run.evidence.source = Some(graph.source().clone());
    run.evidence.tree = Some(graph.tree().to_string());
    let inventory = timed(Stage::Inventory, observer, run, |run| {
        let (release, ledger) = (&mut run.evidence.release, &mut run.ledger);
        inventory::verify(graph, contract, beside, *version, *release_artifact, release, ledger)
    })?;
    let snapshot = timed(Stage::Snapshot, observer, run, |run| snapshot::write(inventory, parent, &mut run.ledger))?;
    run.evidence.files = snapshot.files().to_vec();
    run.evidence.package_digest = Some(snapshot.package_digest());
    Ok(snapshot)
}

fn timed<T>(
    stage: Stage,
    observer: Observer<'_>,
    run: &mut Run,
    work: impl FnOnce(&mut Run) -> Result<T, Halt>,
) -> Result<T, Halt> {
    observer(stage);
    let started = Instant::now();
    let outcome = work(run);
    run.evidence.durations.push((stage, started.elapsed()));
    outcome
}
