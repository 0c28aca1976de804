//! The SDK, run and judged from outside its process.
//!
//! A process imports what the SDK builds upon, which it can do before there is a private copy, and forks twice: the two probes.
//! They import the private copy and answer the contract's vectors in different orders. A probe reports what a call did; the verdict
//! is reached here, from complete transcripts. No probe learns an expected verdict, the expected version or the commit.

mod channel;
mod compiler;
mod facts;
mod judge;
mod probe;
mod process;
mod residue;
mod sandbox;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use serde_json::{Map, Value, json};

use crate::check::{Check, Finding, Halt, Ledger, Stage};
use crate::contract::{Contract, Question, Vector, Verdict};
use crate::environment::{Environment, LockedEnvironment};
use crate::limits::{Budget, Limits};

use channel::Fault;
pub use compiler::Compiler;
use facts::{Answer, EndFacts, Import, InterpreterFacts};
use probe::{Probe, Probes};
use residue::Residue;
pub use sandbox::{Enforcement, Sandbox};

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
    /// One entry per vector, in the contract's order.
    pub observations: Vec<Observation>,
}

/// The SDK answered every required vector right, twice, and everything about the way it ran was in order.
#[derive(Debug)]
pub struct BehaviourReport {
    environment: LockedEnvironment,
}

impl BehaviourReport {
    /// The environment it ran in, and through it the whole proof.
    pub fn environment(&self) -> &LockedEnvironment {
        &self.environment
    }
}

/// A process that has imported what the SDK builds upon, or what kept it from that.
#[derive(Debug)]
pub struct Standby {
    environment: Arc<Environment>,
    sandbox: Option<Sandbox>,
    interpreter: Option<InterpreterFacts>,
    probes: Result<Probes, Fault>,
}

/// Starts the process that will fork into the probes. It knows nothing of the SDK. `temporary` is where its private folder is made.
pub fn prepare(environment: Arc<Environment>, contract: &Contract, temporary: &Path, budget: &Budget) -> Standby {
    let (mut sandbox, mut interpreter) = (None, None);
    let patience = Duration::from_secs(budget.limits().import_seconds);
    let mut start = || {
        // The last of them first: by the time the importer gets there, it finds it compiled.
        let [site, ..] = environment.site() else { return Err(Fault::Pipe(std::io::ErrorKind::NotFound.into())) };
        let last_first: Vec<_> = contract.preload.iter().rev().copied().collect();
        let compiler = Compiler::start(&environment, site, &last_first, temporary, budget);
        let mut probes = Probes::start(&environment, temporary, budget)?;
        let sandbox = sandbox.insert(probes.sandbox().clone());
        interpreter = Some(probes.control().ask(about("interpreter"), patience)?);
        if !probes.confine(patience)? {
            sandbox.miss_later_filter();
        }
        probes.preload(environment.site(), contract.preload, compiler.code().as_deref(), patience)?;
        Ok(probes)
    };
    let probes = start();
    Standby { environment, sandbox, interpreter, probes }
}

/// Starts compiling the private copy, which a process of the standby's environment can do while that one is still busy.
pub fn compile(environment: &LockedEnvironment, contract: &Contract, temporary: &Path) -> Compiler {
    let snapshot = environment.snapshot();
    let module = contract.module_name();
    let budget = snapshot.graph().budget();
    Compiler::start(environment.environment(), snapshot.root(), &[&module], temporary, budget)
}

/// What is asked, and how.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'a> {
    /// Whose vectors.
    pub contract: &'a Contract,
    /// Fixes the two orders of the vectors.
    pub seed: u64,
    /// Refuses a probe that the kernel confines less than in full.
    pub require_sandbox: bool,
}

/// Runs two probes and judges their transcripts.
///
/// # Errors
/// [`Halt`] unless every check of the behaviour stage passed; `evidence` holds what was seen either way.
pub fn verify(
    environment: LockedEnvironment,
    standby: Standby,
    compiler: &Compiler,
    terms: Terms<'_>,
    evidence: &mut Evidence,
    ledger: &mut Ledger,
) -> Result<BehaviourReport, Halt> {
    let Terms { contract, seed, require_sandbox } = terms;
    if !Arc::ptr_eq(&standby.environment, environment.environment()) {
        let actual = "a process of another environment";
        let finding = Finding::new("bin/python", "this environment's", actual, "report this as a bug");
        return Err(ledger.give_up(Check::ProbeIsolated, finding));
    }
    let vectors = contract.vectors().map_err(|error| {
        let finding = Finding::new("vectors", "the published vectors", error.to_string(), "use a released gate");
        ledger.give_up(Check::VectorsSchema, finding)
    })?;
    let orders = orders(vectors.len(), seed);
    let interview = Questions { environment: &environment, compiler, contract, vectors }.interview(&orders, standby);
    judge::judge(&interview, &environment, contract, vectors, require_sandbox, evidence, ledger);
    ledger.close(Stage::Behaviour)?;
    Ok(BehaviourReport { environment })
}

/// Two different orders of `count` vectors.
fn orders(count: usize, seed: u64) -> [Vec<usize>; 2] {
    let mut rng = rand::rngs::StdRng::seed_from_u64(seed);
    let mut first: Vec<usize> = (0..count).collect();
    first.shuffle(&mut rng);
    let mut second = first.clone();
    second.shuffle(&mut rng);
    if second == first {
        second.reverse();
    }
    [first, second]
}

/// One probe's whole dialogue, as far as it went.
#[derive(Debug, Default)]
struct Transcript {
    import: Option<Import>,
    /// By vector; `None` where no answer came.
    answers: Vec<Option<Answer>>,
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
    contract: &'a Contract,
    vectors: &'a [Vector],
}

impl Questions<'_> {
    fn interview(&self, orders: &[Vec<usize>; 2], standby: Standby) -> Interview {
        let Standby { sandbox, interpreter, probes, .. } = standby;
        let mut interview = Interview { sandbox, interpreter, ..Interview::default() };
        interview.fault = probes.and_then(|probes| self.conduct(orders, probes, &mut interview)).err();
        interview
    }

    fn conduct(&self, orders: &[Vec<usize>; 2], mut probes: Probes, interview: &mut Interview) -> Result<(), Fault> {
        let [first, second] = probes.fork(self.patience(|limits| limits.import_seconds))?;
        interview.transcripts = std::thread::scope(|scope| {
            let second = scope.spawn(|| self.transcript(second, &orders[1]));
            let first = self.transcript(first, &orders[0]);
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
        let mut transcript = Transcript { answers: vec![None; self.vectors.len()], ..Transcript::default() };
        transcript.fault = self.converse(&mut probe, order, &mut transcript).err();
        transcript
    }

    fn converse(&self, probe: &mut Probe, order: &[usize], transcript: &mut Transcript) -> Result<(), Fault> {
        let contract = self.contract;
        let (to_import, to_answer) = (self.patience(|it| it.import_seconds), self.patience(|it| it.answer_seconds));
        let pipes = probe.channel.pipes()?;
        transcript.confined = probe.confine(to_import)?;
        let mut question = about("module");
        question.insert("root".into(), self.environment.snapshot().root().to_string_lossy().into());
        question.insert("code".into(), self.compiler.code().as_deref().map(Path::to_string_lossy).into());
        question.insert("package".into(), contract.package.into());
        question.insert("module".into(), contract.module_name().into());
        question.insert("manifest".into(), contract.manifest().into());
        question.insert("payload_rejection".into(), contract.payload_rejection.into());
        question.insert("manifest_rejection".into(), contract.manifest_rejection.into());
        let import = probe.channel.ask(question, to_import)?;
        let loaded = matches!(import, Import::Loaded(_));
        transcript.import = Some(import);
        if !loaded {
            return Ok(());
        }
        for &index in order {
            let vector = &self.vectors[index];
            let mut question = about("vector");
            let (ask, tool) = match &vector.question {
                Question::Arguments { tool } => ("arguments", json!(tool)),
                Question::Response { tool } => ("response", json!(tool)),
                Question::Manifest => ("manifest", Value::Null),
            };
            question.insert("ask".into(), ask.into());
            question.insert("tool".into(), tool);
            question.insert("input".into(), vector.input.as_str().into());
            transcript.answers[index] = Some(probe.channel.ask(question, to_answer)?);
        }
        transcript.end = Some(probe.channel.ask(about("end"), to_answer)?);
        transcript.residue = Some(residue::of(probe.id, probe.parent, &pipes));
        Ok(())
    }
}

fn about(about: &str) -> Map<String, Value> {
    Map::from_iter([("about".to_owned(), Value::from(about))])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn two_orders_of_the_same_vectors(count in 2usize..60, seed: u64) {
            let [first, second] = orders(count, seed);
            prop_assert_ne!(&first, &second);
            for mut order in [first.clone(), second] {
                order.sort_unstable();
                prop_assert_eq!(order, (0..count).collect::<Vec<_>>());
            }
            prop_assert_eq!(&orders(count, seed)[0], &first);
        }
    }
}
