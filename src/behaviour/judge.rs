//! From two transcripts to the rows of the behaviour stage.

mod interpreter;
mod modules;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::facts::{Answer, Did, Import, ModuleFacts, RejectionFacts};
use super::interview::{Interview, Transcript, known};
use super::residue::Residue;
use super::{Evidence, Fault, Known, Observation, Observed, Series, Terms, sandbox};
use crate::check::{Check, Finding, Ledger, limited};
use crate::contract::{Contract, Topic, Verdict};
use crate::environment::LockedEnvironment;
use interpreter::isolation;
use modules::{loaded, relative};

const REPORT_IT: &str = "keep the record blocked and report this to the SDK's maintainers";

pub(super) fn judge(
    interview: &Interview,
    environment: &LockedEnvironment,
    terms: Terms<'_>,
    series: &Series,
    evidence: &mut Evidence,
    ledger: &mut Ledger,
) {
    let Terms { contract, require_sandbox, .. } = terms;
    let transcripts = &interview.transcripts;
    isolation(interview, environment, evidence, ledger);
    evidence.sandbox = interview.sandbox.clone();
    sandbox::record(Check::ProbeConfined, interview.sandbox.as_ref(), require_sandbox, ledger);
    let imports: Vec<_> = transcripts.iter().filter_map(|transcript| transcript.import.as_ref()).collect();
    if !imports.is_empty() {
        module(&imports, environment, contract, evidence, ledger);
    }
    if transcripts.iter().all(|transcript| transcript.end.is_some()) {
        loaded(transcripts, environment, contract, evidence, ledger);
    }
    transcript(interview, series, ledger);
    residues(transcripts, ledger);
    if imports.iter().any(|import| matches!(import, Import::Loaded(_))) {
        vectors(transcripts, series, terms.deny_advisories, evidence, ledger);
    }
    ledger.record(Check::SnapshotIntact, limited(environment.snapshot().changes()));
}

/// What both probes show is told once.
fn unique(findings: Vec<Finding>) -> Vec<Finding> {
    let mut told = Vec::new();
    for finding in findings {
        if !told.contains(&finding) {
            told.push(finding);
        }
    }
    told
}

fn module(
    imports: &[&Import],
    environment: &LockedEnvironment,
    contract: &Contract,
    evidence: &mut Evidence,
    ledger: &mut Ledger,
) {
    let name = contract.module_name();
    let expected = environment.identity();
    let origin = environment.snapshot().root().join(expected.module_origin().as_str());
    let (mut origins, mut versions) = (Vec::new(), Vec::new());
    for import in imports {
        let facts = match import {
            Import::Loaded(facts) => facts,
            Import::Failed { failed } => {
                let hint = "install what the commit requires into the environment; then, if it stays, report it";
                origins.push(Finding::new(&name, "a module that imports and reads its manifest", failed, hint));
                continue;
            }
        };
        if Path::new(&facts.origin) != origin {
            let wanted = format!("loaded from the private copy, {}", expected.module_origin());
            let actual = relative(&facts.origin, environment);
            origins.push(Finding::new(&name, wanted, actual, REPORT_IT));
        }
        rejection(&facts.payload_rejection, contract.payload_rejection, &mut origins);
        rejection(&facts.manifest_rejection, contract.manifest_rejection, &mut origins);
        version(facts, expected.version().as_str(), contract, &mut versions);
        evidence.version.get_or_insert_with(|| facts.version.clone());
    }
    ledger.record(Check::ModuleOrigin, unique(origins));
    if imports.iter().all(|import| matches!(import, Import::Loaded(_))) {
        ledger.record(Check::ModuleVersion, unique(versions));
    }
}

fn version(facts: &ModuleFacts, expected: &str, contract: &Contract, findings: &mut Vec<Finding>) {
    let subject = format!("{}.__version__", contract.package);
    if facts.version != expected || !facts.version_is_str {
        let kind = if facts.version_is_str { "" } else { ", not a plain str" };
        let actual = format!("{:?}{kind}", facts.version);
        findings.push(Finding::new(
            subject,
            format!("{expected:?}"),
            actual,
            "expect the version this commit declares",
        ));
    }
}

/// A rejection class must be the contract's own, an exception, and no alias of a wider one.
fn rejection(facts: &RejectionFacts, wanted: &str, findings: &mut Vec<Finding>) {
    let found = format!("{}:{}", facts.module, facts.name);
    if found != wanted || !facts.exception {
        let kind = if facts.exception { "" } else { ", which is no ordinary exception" };
        findings.push(Finding::new("rejection class", wanted, format!("{found}{kind}"), REPORT_IT));
    }
}

fn transcript(interview: &Interview, series: &Series, ledger: &mut Ledger) {
    let expected = "one answer to every question and a last one at the end";
    let mut broken = |subject: String, fault: &Fault| match fault {
        Fault::Stop(_) | Fault::Start(_) | Fault::Pipe(_) => {
            let hint = fault.hint("run the gate again, with more time if it ran out: --limit-seconds");
            ledger.undecided(Check::ProbeTranscript, Finding::new(subject, expected, fault.to_string(), hint));
            None
        }
        fault => Some(Finding::new(subject, expected, fault.to_string(), REPORT_IT)),
    };
    let mut findings = Vec::new();
    match &interview.fault {
        Some(fault) => findings.extend(broken("before the SDK was imported".into(), fault)),
        None => {
            for (probe, name) in ["first probe", "second probe"].into_iter().enumerate() {
                let transcript = &interview.transcripts[probe];
                let answered = transcript.answers.iter().flatten().count();
                let last = transcript.fault.as_ref().and(transcript.last).map(|index| &series.vectors()[index]);
                let last = last.map(|vector| format!("; asked last: {} {}", vector.id, excerpt(&vector.input)));
                let asked = series.order(probe).len();
                let subject = format!("{name}, after {answered} of {asked} vectors{}", last.unwrap_or_default());
                findings.extend(match &transcript.fault {
                    Some(fault) => broken(subject, fault),
                    None => unfinished(transcript, subject, expected),
                });
            }
        }
    }
    ledger.record(Check::ProbeTranscript, findings);
}

fn residues(transcripts: &[Transcript; 2], ledger: &mut Ledger) {
    let (mut findings, mut whole) = (Vec::new(), true);
    for (transcript, name) in transcripts.iter().zip(["first probe", "second probe"]) {
        match &transcript.residue {
            // The dialogue did not get that far, which its own check says. What the other one left is told all the same.
            None => whole = false,
            Some(Ok(residue)) => findings.extend(residue.iter().map(|residue| {
                let (expected, actual) = match residue {
                    Residue::Threads(count) => ("one thread", format!("{count} threads")),
                    Residue::Children(count) => ("no process of its own", format!("{count} processes")),
                    Residue::Open(target) => ("no file open but its pipes", target.display().to_string()),
                    Residue::Gone => ("a process that waits for more", "none of that id".into()),
                };
                Finding::new(name, expected, actual, REPORT_IT)
            })),
            Some(Err(error)) => {
                let hint = "mount /proc where the gate runs, so that it can look at the probes";
                let finding = Finding::new(name, "a process to look at in /proc", error.to_string(), hint);
                return ledger.undecided(Check::ProbeResidue, finding);
            }
        }
    }
    if whole || !findings.is_empty() {
        ledger.record(Check::ProbeResidue, limited(findings));
    }
}

/// A dialogue may be without fault and still not whole.
fn unfinished(transcript: &Transcript, subject: String, expected: &str) -> Option<Finding> {
    match (&transcript.end, &transcript.import) {
        (Some(_), _) => None,
        (None, Some(Import::Failed { .. })) => {
            Some(Finding::new(subject, expected, "the module could not be loaded", "see module.origin"))
        }
        (None, _) => Some(Finding::new(subject, expected, "no dialogue at all", REPORT_IT)),
    }
}

fn describe(answer: Option<&Answer>) -> String {
    let Some(answer) = answer else { return "no answer".into() };
    let what = match (answer.did, &answer.raised) {
        (Did::Returned, _) => "accepted".to_owned(),
        (Did::ReturnedAValue, _) => "returned a value instead of accepting or rejecting".to_owned(),
        (Did::Rejected, _) => "rejected".to_owned(),
        (Did::Raised, class) => format!("raised {}", class.as_deref().unwrap_or("something")),
    };
    if answer.unchanged { what } else { format!("{what}, and changed its argument") }
}

fn vectors(
    transcripts: &[Transcript; 2],
    series: &Series,
    deny_advisories: bool,
    evidence: &mut Evidence,
    ledger: &mut Ledger,
) {
    let mut findings: BTreeMap<Check, Vec<Finding>> = BTreeMap::new();
    let mut verdicts: BTreeMap<Check, BTreeSet<Verdict>> = BTreeMap::new();
    let mut disagreements = Vec::new();
    // What a dialogue that broke off did not get to is told once, by its own check. What it got to is judged.
    let whole = transcripts.iter().all(|transcript| transcript.fault.is_none());
    for (index, vector) in series.vectors().iter().enumerate() {
        let asked = (0..2).filter(|&probe| series.asks(probe, index));
        let answers: Vec<_> = asked
            .map(|probe| (&transcripts[probe], transcripts[probe].answers.get(index).and_then(Option::as_ref)))
            .collect();
        let check = check_of(vector.topic);
        let demanded = Observed::demanded_by(vector.expected);
        let wrong = answers.iter().find(|(_, answer)| (whole || answer.is_some()) && Observed::of(*answer) != demanded);
        match wrong {
            None => {
                verdicts.entry(check).or_default().insert(vector.expected);
            }
            Some((transcript, answer)) => {
                let known = if series.is_fresh(index) { known(vector, *answer) } else { vec![] };
                for &advisory in &known {
                    evidence.advisories.entry(advisory.id).or_insert(Known { advisory, vectors: 0 }).vectors += 1;
                }
                if known.is_empty() || deny_advisories {
                    let wanted = if vector.expected == Verdict::Accept { "accepted" } else { "rejected" };
                    let input = transcript.smallest.get(&index).unwrap_or(&vector.input);
                    let subject = format!("{} {}", vector.id, excerpt(input));
                    findings.entry(check).or_default().push(Finding::new(
                        subject,
                        wanted,
                        describe(*answer),
                        REPORT_IT,
                    ));
                }
            }
        }
        if let [(_, Some(first)), (_, Some(second))] = answers[..]
            && Observed::of(Some(first)) != Observed::of(Some(second))
        {
            let (one, two) = (describe(Some(first)), describe(Some(second)));
            disagreements.push(Finding::new(&vector.id, format!("{one}, as the first probe said"), two, REPORT_IT));
        }
        if !series.is_fresh(index) || wrong.is_some() {
            evidence.observations.push(Observation {
                id: vector.id.clone(),
                topic: vector.topic.name(),
                question: vector.question.clone(),
                expected: vector.expected,
                observed: answers.first().map_or(Observed::Nothing, |(_, answer)| Observed::of(*answer)),
            });
        }
    }
    for check in [Check::VectorsInteger, Check::VectorsDateTime, Check::VectorsSchema] {
        let mut found = findings.remove(&check).unwrap_or_default();
        if !whole && found.is_empty() {
            continue;
        }
        // No vectors prove nothing, and neither do vectors of one kind only.
        if found.is_empty() && verdicts.get(&check).is_none_or(|verdicts| verdicts.len() < 2) {
            let hint = "this gate was built without them: use a released one";
            found.push(Finding::new("vectors", "accepted and rejected ones", "none of one kind", hint));
        }
        ledger.record(check, limited(found));
    }
    if whole || !disagreements.is_empty() {
        ledger.record(Check::ProbeAgreement, limited(disagreements));
    }
}

/// The check that holds the answers to vectors of that topic.
pub(crate) fn check_of(topic: Topic) -> Check {
    match topic {
        Topic::Integer => Check::VectorsInteger,
        Topic::DateTime => Check::VectorsDateTime,
        Topic::Schema => Check::VectorsSchema,
    }
}

fn excerpt(input: &str) -> String {
    let start: String = input.chars().take(160).collect();
    if start.len() < input.len() { format!("{start}…") } else { start }
}
