//! From a finished run to its report.

use super::*;
use crate::contract::{self, Contract, Question};
use crate::digest::sha256;
use crate::pipeline;

/// What the report says besides what the run found out.
#[derive(Debug)]
pub struct Circumstances<'a> {
    /// The command.
    pub command: Command,
    /// The conclusion.
    pub verdict: Verdict,
    /// The exit code, where a signal or an internal error overrides the verdict's.
    pub exit_code: u8,
    /// What was to be proven.
    pub subject: Subject,
    /// Against what.
    pub contract: &'a Contract,
    /// The manifest that the SDK was to be given.
    pub manifest: &'a str,
    /// What fixed the fresh vectors and the orders.
    pub seed: u64,
    /// How many fresh vectors were to be asked.
    pub generated: usize,
    /// The bounds.
    pub limits: &'a Limits,
    /// The record.
    pub record: Record,
    /// The rest.
    pub run: RunFacts,
}

impl Report {
    /// Puts a report together.
    pub fn new(run: &pipeline::Run, about: Circumstances<'_>) -> Self {
        let pipeline::Run { ledger, evidence } = run;
        let Circumstances {
            command,
            verdict,
            exit_code,
            subject,
            contract,
            manifest,
            seed,
            generated,
            limits,
            record,
            run,
        } = about;
        let interpreter = evidence.behaviour.interpreter.as_ref();
        Report {
            schema: SCHEMA,
            tool: Tool::this(),
            command,
            verdict,
            exit_code,
            subject: Subject {
                tree: evidence.tree.clone(),
                package_digest: evidence.package_digest.clone(),
                ..subject
            },
            source: evidence.source.clone(),
            package: Package { files: evidence.files.iter().map(PackageFile::from).collect() },
            release: evidence.release.clone(),
            environment: Environment {
                implementation: interpreter.map(|interpreter| interpreter.implementation.clone()),
                python_version: interpreter.map(|interpreter| interpreter.version.clone()),
                interpreter_sha256: evidence.interpreter_sha256.clone(),
                standard_library_sha256: interpreter
                    .and_then(|interpreter| interpreter.standard_library_sha256.clone()),
                distributions: evidence.distributions.clone(),
                sandbox: evidence.behaviour.sandbox.clone(),
            },
            module: Module {
                name: contract.module_name(),
                version: evidence.behaviour.version.clone(),
                loaded: evidence.behaviour.loaded.iter().map(LoadedModule::from).collect(),
            },
            contract: ContractFacts {
                name: contract.name.to_owned(),
                manifest_sha256: sha256(manifest.as_bytes()),
                vectors_sha256: contract.vectors_sha256().to_owned(),
                required_contracts: contract.required_contracts.iter().map(|&name| name.to_owned()).collect(),
                seed,
                generated: generated as u64,
            },
            limits: limits.clone(),
            checks: ledger.entries().iter().map(CheckResult::from).collect(),
            vectors: evidence.behaviour.observations.iter().map(VectorResult::from).collect(),
            pair: Pair {
                sandbox: evidence.pair.sandbox.clone(),
                scenarios: evidence.pair.played.iter().map(ScenarioResult::from).collect(),
            },
            advisories: {
                let of_vectors = evidence.behaviour.advisories.values().map(Advisory::from);
                of_vectors.chain(evidence.pair.advisories.values().map(Advisory::from)).collect()
            },
            record,
            run,
        }
    }

    /// The JSON text, indented, with its own digest and a final line feed.
    ///
    /// # Errors
    /// Never in practice: every member is representable.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        Ok(super::digest::fill_in(&(serde_json::to_string_pretty(self)? + "\n")))
    }
}

impl Tool {
    pub(in crate::report) fn this() -> Self {
        Tool { name: env!("CARGO_PKG_NAME"), version: env!("CARGO_PKG_VERSION") }
    }
}

impl From<&crate::snapshot::SnapshotFile> for PackageFile {
    fn from(file: &crate::snapshot::SnapshotFile) -> Self {
        PackageFile {
            path: file.path.to_string(),
            mode: file.mode.as_str(),
            size: file.size,
            git_sha1: file.git_sha1.clone(),
            sha256: file.sha256.clone(),
        }
    }
}

impl From<&crate::behaviour::LoadedModule> for LoadedModule {
    fn from(module: &crate::behaviour::LoadedModule) -> Self {
        LoadedModule { name: module.name.clone(), origin: module.origin.clone(), kind: module.kind }
    }
}

impl From<&crate::check::Entry> for CheckResult {
    fn from(entry: &crate::check::Entry) -> Self {
        CheckResult {
            id: entry.check.id(),
            stage: entry.check.stage(),
            claim: entry.check.claim(),
            status: entry.status,
            findings: entry.findings.clone(),
        }
    }
}

impl From<&crate::behaviour::Known> for Advisory {
    fn from(known: &crate::behaviour::Known) -> Self {
        let advisory = known.advisory;
        Advisory {
            id: advisory.id.to_owned(),
            specification: advisory.specification.to_owned(),
            observed: advisory.reason.to_owned(),
            vectors: known.vectors as u64,
            smallest_input: advisory.smallest_input.to_owned(),
        }
    }
}

impl From<&(&crate::pair::advisory::Advisory, usize)> for Advisory {
    fn from(&(advisory, scenarios): &(&crate::pair::advisory::Advisory, usize)) -> Self {
        Advisory {
            id: advisory.id.to_owned(),
            specification: advisory.specification.to_owned(),
            observed: advisory.reason.to_owned(),
            vectors: scenarios as u64,
            smallest_input: advisory.reply.to_owned(),
        }
    }
}

impl From<&crate::pair::Played> for ScenarioResult {
    fn from(played: &crate::pair::Played) -> Self {
        ScenarioResult {
            id: played.id,
            requests: played.requests.clone(),
            posts: played.posts() as u64,
            expected: played.expected.clone(),
            observed: played.observed.clone(),
        }
    }
}

impl From<&crate::behaviour::Observation> for VectorResult {
    fn from(vector: &crate::behaviour::Observation) -> Self {
        VectorResult {
            id: vector.id.clone(),
            contract: vector.topic,
            kind: match vector.question {
                Question::Arguments { .. } => VectorKind::Arguments,
                Question::Response { .. } => VectorKind::Response,
                Question::Manifest => VectorKind::Manifest,
            },
            expected: match vector.expected {
                contract::Verdict::Accept => Observed::Accept,
                contract::Verdict::Reject => Observed::Reject,
            },
            observed: vector.observed,
        }
    }
}
