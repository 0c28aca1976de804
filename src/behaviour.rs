//! The SDK, run and judged from outside its process.
//!
//! A process imports what the SDK builds upon, which it can do before there is a private copy, and forks twice: the two probes.
//! They import the private copy and answer the contract's vectors in different orders. A probe reports what a call did; the verdict
//! is reached here, from complete transcripts. No probe learns an expected verdict, the expected version or the commit.

mod channel;
mod client;
mod compiler;
mod facts;
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

use serde_json::{Map, Value, json};

use crate::check::{Check, Finding, Halt, Ledger, Stage, limited};
use crate::contract::advisory::Advisory;
use crate::contract::json::Json;
use crate::contract::manifest::{Difference, differences};
use crate::contract::shrink::shrink;
use crate::contract::{Contract, Oracle, Question, Reason, Vector, Verdict};
use crate::environment::{Environment, LockedEnvironment};
use crate::limits::{Budget, Limits};

pub use channel::Fault;
pub use client::{Client, Clients, Launch, Launched, Surroundings};
pub use compiler::Compiler;
use facts::{Answer, EndFacts, Import, InterpreterFacts};
pub(crate) use judge::check_of;
use probe::{DRIVER, Probe, Probes};
use residue::Residue;
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

/// One probe's whole dialogue, as far as it went.
#[derive(Debug, Default)]
struct Transcript {
    import: Option<Import>,
    /// By vector; `None` where no answer came.
    answers: Vec<Option<Answer>>,
    /// The vector asked last.
    last: Option<usize>,
    /// The smallest inputs like some fresh ones that were answered wrong, by vector.
    smallest: BTreeMap<usize, String>,
    end: Option<EndFacts>,
    /// Whether the probe could be confined further.
    confined: bool,
    /// What the probe had about it at the end, as seen from outside.
    residue: Option<std::io::Result<Vec<Residue>>>,
    fault: Option<Fault>,
}

/// What came before the probes, and their transcripts.
#[derive(Debug, Default)]
struct Interview {
    sandbox: Option<Sandbox>,
    interpreter: Option<InterpreterFacts>,
    /// Why there are no transcripts.
    fault: Option<Fault>,
    transcripts: [Transcript; 2],
}

/// What is asked of both probes.
struct Questions<'a> {
    environment: &'a LockedEnvironment,
    compiler: &'a Compiler,
    terms: Terms<'a>,
    series: &'a Series,
}

impl Questions<'_> {
    fn interview(&self, standby: Standby) -> Interview {
        let Standby { sandbox, interpreter, probes, .. } = standby;
        let mut interview = Interview { sandbox, interpreter, ..Interview::default() };
        interview.fault = probes.and_then(|probes| self.conduct(probes, &mut interview)).err();
        interview
    }

    fn conduct(&self, mut probes: Probes<2>, interview: &mut Interview) -> Result<(), Fault> {
        let [first, second] = probes.fork(self.patience(|limits| limits.import_seconds))?;
        interview.transcripts = std::thread::scope(|scope| {
            let second = scope.spawn(|| self.transcript(second, self.series.order(1)));
            let first = self.transcript(first, self.series.order(0));
            // A panic in the other thread leaves an empty transcript, which is refused like any other.
            [first, second.join().unwrap_or_default()]
        });
        if let Some(sandbox) = &mut interview.sandbox
            && !interview.transcripts.iter().all(|transcript| transcript.confined)
        {
            sandbox.miss_later_filter();
        }
        Ok(())
    }

    fn patience(&self, of: impl Fn(&Limits) -> u64) -> Duration {
        Duration::from_secs(of(self.environment.snapshot().graph().budget().limits()))
    }

    fn transcript(&self, mut probe: Probe, order: &[usize]) -> Transcript {
        let mut transcript = Transcript { answers: vec![None; self.series.vectors().len()], ..Transcript::default() };
        transcript.fault = self.converse(&mut probe, order, &mut transcript).err();
        transcript
    }

    fn converse(&self, probe: &mut Probe, order: &[usize], transcript: &mut Transcript) -> Result<(), Fault> {
        let Terms { contract, manifest, .. } = self.terms;
        let (to_import, to_answer) = (self.patience(|it| it.import_seconds), self.patience(|it| it.answer_seconds));
        let budget = self.environment.snapshot().graph().budget();
        let pipes = probe.channel.pipes()?;
        transcript.confined = probe.confine(to_import)?;
        let question = about_module(self.environment, contract, manifest, self.compiler);
        let import = probe.channel.ask(question, to_import)?;
        let loaded = matches!(import, Import::Loaded(_));
        transcript.import = Some(import);
        if !loaded {
            return Ok(());
        }
        for &index in order {
            let vector = &self.series.vectors()[index];
            transcript.last = Some(index);
            let answer = self.ask(probe, &vector.question, &vector.input, self.series.as_document(index))?;
            transcript.answers[index] = Some(answer);
            budget.tally().vectors.add(1);
        }
        self.shrink(probe, order, transcript)?;
        transcript.end = Some(probe.channel.ask(about("end"), to_answer)?);
        transcript.residue = Some(residue::of(probe.id, probe.parent, &pipes));
        Ok(())
    }

    fn ask(&self, probe: &mut Probe, about_what: &Question, input: &str, document: bool) -> Result<Answer, Fault> {
        let mut question = about("vector");
        let (ask, tool) = match about_what {
            Question::Arguments { tool } => ("arguments", json!(tool)),
            Question::Response { tool } if document => ("document", json!(tool)),
            Question::Response { tool } => ("response", json!(tool)),
            Question::Manifest => ("manifest", Value::Null),
        };
        question.insert("ask".into(), ask.into());
        question.insert("tool".into(), tool);
        question.insert("input".into(), input.into());
        probe.channel.ask(question, self.patience(|limits| limits.answer_seconds))
    }

    /// Asks on about the first fresh vectors that were answered wrong, for smaller inputs that show the same.
    fn shrink(&self, probe: &mut Probe, order: &[usize], transcript: &mut Transcript) -> Result<(), Fault> {
        const SHRUNK: usize = 3;
        const TRIES: usize = 400;
        let oracle = Oracle::bridge_v1();
        let wrong = |vector: &Vector, answer: Option<&Answer>| {
            judge::observed(answer) != judge::demanded(vector.expected) && judge::known(vector, answer).is_empty()
        };
        let mut found: Vec<_> = order.iter().copied().filter(|&index| self.series.is_fresh(index)).collect();
        found.sort_unstable();
        found.retain(|&index| wrong(&self.series.vectors()[index], transcript.answers[index].as_ref()));
        for index in found.into_iter().take(SHRUNK) {
            let vector = &self.series.vectors()[index];
            let shown = judge::observed(transcript.answers[index].as_ref());
            let (mut left, mut fault) = (TRIES, None);
            let smallest = shrink(&vector.input, |text| {
                let verdict = oracle.judge(&vector.question, text).verdict();
                if left == 0 || fault.is_some() || verdict != vector.expected {
                    return false;
                }
                left -= 1;
                match self.ask(probe, &vector.question, text, self.series.as_document(index)) {
                    // Another mistake of the same SDK would not be what the finding says.
                    Ok(answer) => {
                        let smaller = Vector { input: text.to_owned(), ..vector.clone() };
                        judge::observed(Some(&answer)) == shown && wrong(&smaller, Some(&answer))
                    }
                    Err(error) => {
                        fault = Some(error);
                        false
                    }
                }
            });
            transcript.smallest.insert(index, smallest);
            fault.map_or(Ok(()), Err)?;
        }
        Ok(())
    }
}

/// The question that has a process import the SDK.
fn about_module(
    environment: &LockedEnvironment,
    contract: &Contract,
    manifest: &str,
    compiler: &Compiler,
) -> Map<String, Value> {
    let mut question = about("module");
    question.insert("root".into(), environment.snapshot().root().to_string_lossy().into());
    question.insert("code".into(), compiler.code().as_deref().map(Path::to_string_lossy).into());
    question.insert("package".into(), contract.package.into());
    question.insert("module".into(), contract.module_name().into());
    question.insert("manifest".into(), manifest.into());
    let names = contract.functions;
    for (role, name) in [("model", names.model), ("arguments", names.arguments), ("response", names.response)] {
        question.insert(role.into(), name.into());
    }
    question.insert("document".into(), names.document.into());
    question.insert("payload_rejection".into(), contract.payload_rejection.into());
    question.insert("manifest_rejection".into(), contract.manifest_rejection.into());
    question
}

fn about(about: &str) -> Map<String, Value> {
    Map::from_iter([("about".to_owned(), Value::from(about))])
}
