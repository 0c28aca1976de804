//! One workflow: where it names the gate, and what that is.

use super::drift::{Drift, Kind};
use super::evidence::{Judge, Wanted};
use super::gate::{self, Part};
use super::shell::{self, Command};
use super::yaml::{self, Document, Malformed, Node, Value, shortened};

/// A workflow's file.
#[derive(Debug)]
pub(super) struct Workflow {
    file: String,
    content: Result<Document, Malformed>,
}

/// A place that names the gate.
struct Presentation<'a> {
    line: usize,
    place: Place<'a>,
}

enum Place<'a> {
    /// A simple command of a step: the job, the step's number, its commands, the one, whether it is the reference.
    Command { job: &'a Node, step: usize, commands: Vec<Command>, at: usize, reference: bool },
    /// Anything else: what it is called, and what was found.
    Elsewhere(Kind, String),
}

impl Workflow {
    /// Reads a workflow.
    pub(super) fn read(file: &str, bytes: &[u8]) -> Self {
        let content = match std::str::from_utf8(bytes) {
            Ok(text) => yaml::parse(text),
            Err(error) => Err((1, error.to_string())),
        };
        Workflow { file: file.to_owned(), content }
    }

    fn presentations<'a>(&self, root: &'a Node) -> Vec<Presentation<'a>> {
        let mut found = Vec::new();
        for (_, job) in root.get("jobs").map(Node::members).unwrap_or_default() {
            if let Some(uses) = job.get("uses").filter(|uses| uses.text().is_some_and(gate::is_called)) {
                found.push(Presentation { line: uses.line, place: Place::Elsewhere(Kind::JobReusable, uses.shown()) });
            }
            for (step, node) in job.get("steps").map(Node::items).unwrap_or_default().iter().enumerate() {
                if let Some(run) = node.get("run") {
                    in_script(job, step, run, &mut found);
                }
            }
        }
        elsewhere(root, &mut found);
        found.sort_by_key(|presentation| presentation.line);
        found
    }

    /// Every drift, and whether the workflow is evidence for what is wanted. Where nothing is wanted, every mention is one.
    pub(super) fn drifts(&self, wanted: Option<&Wanted>) -> (Vec<Drift>, bool) {
        let document = match &self.content {
            Ok(document) => document,
            Err((line, why)) => {
                let place = (&*self.file, Some(*line));
                return (vec![Drift::new(Kind::WorkflowNotYaml, place, "one YAML document", why)], false);
            }
        };
        let presentations = self.presentations(&document.root);
        let mut drifts = Vec::new();
        let mut evidence = false;
        let Some(wanted) = wanted else {
            for Presentation { line, .. } in presentations {
                let (expected, found) = ("no step that runs the gate, as the record says blocked", "one");
                drifts.push(Drift::new(Kind::WorkflowPresented, (&self.file, Some(line)), expected, found));
            }
            return (drifts, false);
        };
        if presentations.is_empty() {
            return (drifts, false);
        }
        for Presentation { line, place } in presentations {
            let mut judge = Judge::new(&self.file, &document.root, wanted);
            match place {
                Place::Elsewhere(kind, found) => {
                    judge.add(kind, line, "the gate as a simple command of a step's `run`", found);
                }
                Place::Command { job, step, commands, at, reference } => {
                    judge.command(line, &commands, at, reference, job, step);
                    // The gate in Python is no evidence for this program, but may stand beside it.
                    evidence |= judge.drifts.is_empty() && !reference;
                }
            }
            drifts.extend(judge.drifts);
        }
        if let Some(line) = document.alias {
            let place = (&*self.file, Some(line));
            drifts.push(Drift::new(Kind::WorkflowAlias, place, "no anchor, alias or merge key", "one"));
        }
        if let Some((line, key)) = &document.duplicate {
            let place = (&*self.file, Some(*line));
            drifts.push(Drift::new(Kind::WorkflowDuplicateKey, place, format!("{key} once"), "twice"));
        }
        // The same job and trigger are judged once for each of their gates.
        let mut seen = Vec::new();
        drifts.retain(|drift| {
            !seen.contains(drift) && {
                seen.push(drift.clone());
                true
            }
        });
        (drifts.clone(), evidence && drifts.is_empty())
    }
}

fn in_script<'a>(job: &'a Node, step: usize, run: &Node, found: &mut Vec<Presentation<'a>>) {
    let text = run.text().unwrap_or_default();
    // Below `run: |` the lines are the file's own.
    let line_of = |line: usize| match &run.value {
        Value::Scalar { literal: true, .. } => run.line + line,
        _ => run.line,
    };
    match shell::commands(text) {
        Ok(commands) => {
            for (at, command) in commands.iter().enumerate() {
                let place = match gate::part(command) {
                    Part::None => continue,
                    Part::Gate { reference } => Place::Command { job, step, commands: commands.clone(), at, reference },
                    Part::OtherCommand(verb) => Place::Elsewhere(Kind::GateCommand, verb),
                    Part::Unclear => Place::Elsewhere(Kind::GateUnclear, shortened(&command.words.join(" "))),
                };
                found.push(Presentation { line: line_of(command.line), place });
            }
        }
        Err((line, beyond)) => {
            let code: Vec<_> = text.lines().filter(|line| !line.trim_start().starts_with('#')).collect();
            if gate::is_named(&code.join("\n")) {
                let (kind, what) = gate::beyond(&beyond);
                found.push(Presentation { line: line_of(line), place: Place::Elsewhere(kind, what) });
            }
        }
    }
}

/// Every other scalar that names the gate as something to run; names are only names.
fn elsewhere(node: &Node, found: &mut Vec<Presentation<'_>>) {
    match &node.value {
        Value::Scalar { text, .. } if gate::is_named(text) => {
            let place = Place::Elsewhere(Kind::GateUnclear, shortened(text.trim_end()));
            found.push(Presentation { line: node.line, place });
        }
        Value::Sequence(items) => items.iter().for_each(|item| elsewhere(item, found)),
        Value::Mapping(members) => {
            for (key, value) in members {
                match key.text() {
                    Some("name") => {}
                    Some("run") if value.text().is_some() => {}
                    _ => elsewhere(value, found),
                }
            }
        }
        _ => {}
    }
}
