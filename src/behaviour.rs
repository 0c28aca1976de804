//! The SDK, run and judged from outside its process.
//!
//! A process imports what the SDK builds upon, which it can do before there is a private copy, and forks twice: the two probes.
//! They import the private copy and answer the contract's vectors in different orders. A probe reports what a call did; the verdict
//! is reached here, from complete transcripts. No probe learns an expected verdict, the expected version or the commit.

mod channel;
mod client;
mod compiler;
mod facts;
mod interview;
mod judge;
mod probe;
mod process;
mod residue;
mod sandbox;
mod series;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::check::{Check, Finding, Halt, Ledger, Stage, limited};
use crate::contract::advisory::Advisory;
use crate::contract::json::Json;
use crate::contract::manifest::{Difference, differences};
use crate::contract::{Contract, Oracle, Question, Reason, Verdict};
use crate::environment::{Environment, LockedEnvironment};
use crate::limits::Budget;

pub use channel::Fault;
pub use client::{Client, Clients, Launch, Launched, Surroundings};
pub use compiler::Compiler;
use facts::{Answer, Did, InterpreterFacts};
use interview::{Questions, about};
pub(crate) use judge::check_of;
use probe::{DRIVER, Probes};
pub(crate) use sandbox::record as record_confinement;
pub use sandbox::{Enforcement, Sandbox, preflight};
pub use series::Series;

/// How many fresh vectors are asked unless another number is wanted: what two probes answer in about a third of a second.
pub const GENERATED: usize = 3000;

/// What a call did, as the probe saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Observed {
    /// It returned as a validator that accepts does.
    Accept,
    /// It raised exactly the contract's rejection class.
    Reject,
    /// Anything else: another exception, a value where none belongs, a changed argument.
    Crash,
    /// The probe gave no answer.
    Nothing,
}

impl Observed {
    /// What a probe's answer shows, or that there is none.
    fn of(answer: Option<&Answer>) -> Self {
        match answer {
            None => Observed::Nothing,
            Some(Answer { unchanged: false, .. }) => Observed::Crash,
            Some(Answer { did: Did::Returned, .. }) => Observed::Accept,
            Some(Answer { did: Did::Rejected, .. }) => Observed::Reject,
            Some(Answer { did: Did::ReturnedAValue | Did::Raised, .. }) => Observed::Crash,
        }
    }

    /// What the contract's verdict looks like when an SDK keeps it.
    fn demanded_by(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Accept => Observed::Accept,
            Verdict::Reject => Observed::Reject,
        }
    }
}

/// One vector's outcome.
#[derive(Clone, Debug)]
pub struct Observation {
    /// The vector's id.
    pub id: String,
    /// The name of the contract it belongs to.
    pub topic: &'static str,
    /// What it asks.
    pub question: Question,
    /// The verdict of the contract.
    pub expected: Verdict,
    /// What the first probe did.
    pub observed: Observed,
}

/// Where a loaded module came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ModuleKind {
    /// The private copy.
    Snapshot,
    /// The environment's site-packages.
    Environment,
    /// The standard library of the base interpreter.
    StandardLibrary,
    /// Built into the interpreter.
    BuiltIn,
    /// Made in memory by code that is itself accounted for.
    InMemory,
    /// The probe's own driver.
    Probe,
    /// None of these.
    Elsewhere,
}

/// One loaded module.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LoadedModule {
    /// Its name in `sys.modules`.
    pub name: String,
    /// Its file, relative to the place `kind` names.
    pub origin: String,
    /// Where it came from.
    pub kind: ModuleKind,
}

/// What the running interpreter said of itself.
#[derive(Clone, Debug)]
pub struct Interpreter {
    /// `sys.implementation.name`.
    pub implementation: String,
    /// `major.minor.micro`.
    pub version: String,
    /// `sys.base_prefix`.
    pub base_prefix: String,
    /// SHA-256 over the files of the standard library's modules that the probes loaded, one line each: digest, blank, path, line feed.
    pub standard_library_sha256: Option<String>,
}

/// Everything two probes showed. Some of it stays empty if they did not get that far.
#[derive(Debug, Default)]
pub struct Evidence {
    /// The interpreter.
    pub interpreter: Option<Interpreter>,
    /// What the kernel enforced on them.
    pub sandbox: Option<Sandbox>,
    /// The version the loaded package declares.
    pub version: Option<String>,
    /// The loaded modules of both probes, sorted by name.
    pub loaded: Vec<LoadedModule>,
    /// One entry per published vector, in the contract's order, then the fresh ones that were answered otherwise than demanded.
    pub observations: Vec<Observation>,
    /// Known differences that fresh vectors showed, with how many did.
    pub advisories: BTreeMap<&'static str, Known>,
}

/// A known difference that was seen.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// Which.
    pub advisory: &'static Advisory,
    /// How many vectors showed it.
    pub vectors: usize,
}

/// The SDK answered every required vector right, twice, and everything about the way it ran was in order.
#[derive(Debug)]
pub struct BehaviourReport {
    environment: Arc<LockedEnvironment>,
}

impl BehaviourReport {
    /// The environment it ran in, and through it the whole proof.
    pub fn environment(&self) -> &Arc<LockedEnvironment> {
        &self.environment
    }
}

/// A process that has imported what the SDK builds upon, or what kept it from that.
#[derive(Debug)]
pub struct Standby {
    environment: Arc<Environment>,
    sandbox: Option<Sandbox>,
    interpreter: Option<InterpreterFacts>,
    probes: Result<Probes<2>, Fault>,
    compiler: Option<Arc<Compiler>>,
}

impl Standby {
    /// What compiled the environment's modules, for another process that imports them.
    pub fn compiler(&self) -> Option<Arc<Compiler>> {
        self.compiler.clone()
    }
}

/// Starts the process that will fork into the probes. It knows nothing of the SDK. `temporary` is where its private folder is made.
pub fn prepare(environment: Arc<Environment>, contract: &Contract, temporary: &Path, budget: &Budget) -> Standby {
    let (mut sandbox, mut interpreter, mut kept) = (None, None, None);
    let patience = Duration::from_secs(budget.limits().import_seconds);
    let mut start = || {
        let compiler = kept.insert(Arc::new(compile_ahead(&environment, contract.preload, temporary, budget)));
        let mut probes = Probes::start(&environment, DRIVER, temporary, budget, &[], |_, _| Ok(()))?;
        let sandbox = sandbox.insert(probes.sandbox().clone());
        interpreter = Some(probes.control().ask(about("interpreter"), patience)?);
        if !probes.confine(patience)? {
            sandbox.miss_later_filter();
        }
        probes.preload(environment.site(), contract.preload, compiler.code().as_deref(), patience)?;
        Ok(probes)
    };
    let probes = start();
    Standby { environment, sandbox, interpreter, probes, compiler: kept }
}

/// Starts compiling the private copy, which a process of the standby's environment can do while that one is still busy. `more` are
/// modules that are imported besides the bridge and the client.
pub fn compile(environment: &LockedEnvironment, contract: &Contract, more: &[&str], temporary: &Path) -> Compiler {
    let snapshot = environment.snapshot();
    let module = contract.module_name();
    let modules: Vec<&str> = contract.client.modules().chain([module.as_str()]).chain(more.iter().copied()).collect();
    let budget = snapshot.graph().budget();
    Compiler::start(environment.environment(), snapshot.root(), &modules, temporary, budget)
}

/// Starts compiling modules of the environment for a process that will import them in this order: the last first, so that the two
/// meet.
pub fn compile_ahead(environment: &Environment, modules: &[&str], temporary: &Path, budget: &Budget) -> Compiler {
    let last_first: Vec<_> = modules.iter().rev().copied().collect();
    let site = environment.site().first().map_or(Path::new(""), |site| site);
    Compiler::start(environment, site, &last_first, temporary, budget)
}

/// Draws what is asked.
///
/// # Errors
/// [`Halt`] if the published vectors cannot be read.
pub fn draw(contract: &Contract, generated: usize, seed: u64, ledger: &mut Ledger) -> Result<Series, Halt> {
    let vectors = contract.vectors().map_err(|error| {
        let finding = Finding::new("vectors", "the published vectors", error.to_string(), "use a released gate");
        ledger.give_up(Check::VectorsSchema, finding)
    })?;
    Ok(Series::new(vectors, generated, seed))
}

/// How it is asked.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'a> {
    /// Whose vectors.
    pub contract: &'a Contract,
    /// Refuses a probe that the kernel confines less than in full.
    pub require_sandbox: bool,
    /// The text of the manifest that the SDK is given.
    pub manifest: &'a str,
    /// Counts known differences as wrong, too.
    pub deny_advisories: bool,
}

/// Runs two probes over the series and judges their transcripts.
///
/// # Errors
/// [`Halt`] unless every check of the behaviour stage passed; `evidence` holds what was seen either way.
pub fn verify(
    environment: Arc<LockedEnvironment>,
    standby: Standby,
    compiler: &Compiler,
    terms: Terms<'_>,
    series: &Series,
    evidence: &mut Evidence,
    ledger: &mut Ledger,
) -> Result<BehaviourReport, Halt> {
    if !Arc::ptr_eq(&standby.environment, environment.environment()) {
        let actual = "a process of another environment";
        let finding = Finding::new("bin/python", "this environment's", actual, "report this as a bug");
        return Err(ledger.give_up(Check::ProbeIsolated, finding));
    }
    manifest(terms, ledger)?;
    let interview = Questions { environment: &environment, compiler, terms, series }.interview(standby);
    judge::judge(&interview, &environment, terms, series, evidence, ledger);
    ledger.close(Stage::Behaviour)?;
    Ok(BehaviourReport { environment })
}

/// The vectors certify the published manifest and no other: a manifest under test may differ from it in prose alone.
fn manifest(terms: Terms<'_>, ledger: &mut Ledger) -> Result<(), Halt> {
    let hint = "compare it yourself: `paired-sdk-gate manifest --check FILE`; certify with the manifest the contract publishes";
    let finding = |place: &str, expected, found| Finding::new(format!("manifest {place}"), expected, found, hint);
    let findings = match (Json::parse(terms.contract.manifest()), Json::parse(terms.manifest)) {
        (_, Err(error)) => vec![finding("", "a JSON document".into(), error.to_string())],
        (Err(error), _) => vec![finding("", "the embedded manifest".into(), error.to_string())],
        (Ok(published), Ok(given)) => {
            let differences = differences(&published, &given).into_iter();
            let reasons = Oracle::bridge_v1().judge(&Question::Manifest, terms.manifest).reasons;
            let of_reason = |reason: Reason| finding(&reason.pointer, reason.expected, reason.found);
            let of_difference = |it: Difference| finding(&it.pointer, it.expected, it.found);
            differences.map(of_difference).chain(reasons.into_iter().map(of_reason)).collect()
        }
    };
    let differs = !findings.is_empty();
    ledger.record(Check::ContractManifest, limited(findings));
    if differs { ledger.close(Stage::Behaviour) } else { Ok(()) }
}
