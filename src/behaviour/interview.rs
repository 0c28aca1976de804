//! The dialogue with both probes, up to their complete transcripts. Nothing is judged here but which inputs are worth making smaller.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::channel::Fault;
use super::facts::{Answer, EndFacts, Import, InterpreterFacts};
use super::probe::{Probe, Probes};
use super::residue::{self, Residue};
use super::sandbox::Sandbox;
use super::{Compiler, Observed, Series, Standby, Terms};
use crate::contract::advisory::{Advisory, advisories};
use crate::contract::shrink::shrink;
use crate::contract::{Contract, Oracle, Question, Vector};
use crate::environment::LockedEnvironment;
use crate::limits::Limits;

/// One probe's whole dialogue, as far as it went.
#[derive(Debug, Default)]
pub(super) struct Transcript {
    pub(super) import: Option<Import>,
    /// By vector; `None` where no answer came.
    pub(super) answers: Vec<Option<Answer>>,
    /// The vector asked last.
    pub(super) last: Option<usize>,
    /// The smallest inputs like some fresh ones that were answered wrong, by vector.
    pub(super) smallest: BTreeMap<usize, String>,
    pub(super) end: Option<EndFacts>,
    /// Whether the probe could be confined further.
    pub(super) confined: bool,
    /// What the probe had about it at the end, as seen from outside.
    pub(super) residue: Option<std::io::Result<Vec<Residue>>>,
    pub(super) fault: Option<Fault>,
}

/// What came before the probes, and their transcripts.
#[derive(Debug, Default)]
pub(super) struct Interview {
    pub(super) sandbox: Option<Sandbox>,
    pub(super) interpreter: Option<InterpreterFacts>,
    /// Why there are no transcripts.
    pub(super) fault: Option<Fault>,
    pub(super) transcripts: [Transcript; 2],
}

/// What is asked of both probes.
pub(super) struct Questions<'a> {
    pub(super) environment: &'a LockedEnvironment,
    pub(super) compiler: &'a Compiler,
    pub(super) terms: Terms<'a>,
    pub(super) series: &'a Series,
}

impl Questions<'_> {
    /// Has the standby fork, and asks both probes everything. Their transcripts are as complete as they let them be.
    pub(super) fn interview(&self, standby: Standby) -> Interview {
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
            Observed::of(answer) != Observed::demanded_by(vector.expected) && known(vector, answer).is_empty()
        };
        let mut found: Vec<_> = order.iter().copied().filter(|&index| self.series.is_fresh(index)).collect();
        found.sort_unstable();
        found.retain(|&index| wrong(&self.series.vectors()[index], transcript.answers[index].as_ref()));
        for index in found.into_iter().take(SHRUNK) {
            let vector = &self.series.vectors()[index];
            let shown = Observed::of(transcript.answers[index].as_ref());
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
                        Observed::of(Some(&answer)) == shown && wrong(&smaller, Some(&answer))
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
pub(super) fn about_module(
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

pub(super) fn about(about: &str) -> Map<String, Value> {
    Map::from_iter([("about".to_owned(), Value::from(about))])
}

/// The known differences that this wrong answer to a fresh vector falls under. The published ones keep clear of those, and no
/// crash is known.
pub(super) fn known(vector: &Vector, answer: Option<&Answer>) -> Vec<&'static Advisory> {
    match Observed::of(answer) {
        Observed::Accept | Observed::Reject => advisories(&vector.question, &vector.input),
        Observed::Crash | Observed::Nothing => Vec::new(),
    }
}
