//! A report's conclusion as an in-toto statement (Statement v1, predicate test-result v0.1), unsigned: signing it is for
//! cosign or the forge.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::Verdict;
use super::v1::Report;
use crate::check::Status;
use crate::digest::sha256;

const STATEMENT: &str = "https://in-toto.io/Statement/v1";
const TEST_RESULT: &str = "https://in-toto.io/attestation/test-result/v0.1";

/// One statement.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Statement {
    /// Always `https://in-toto.io/Statement/v1`.
    #[serde(rename = "_type")]
    #[schemars(extend("const" = STATEMENT))]
    kind: &'static str,
    /// The commit.
    subject: [Descriptor; 1],
    /// Always `https://in-toto.io/attestation/test-result/v0.1`.
    #[serde(rename = "predicateType")]
    #[schemars(extend("const" = TEST_RESULT))]
    predicate_type: &'static str,
    /// What was found.
    predicate: TestResult,
}

/// Something with its digests.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Descriptor {
    name: String,
    /// By algorithm, in lower-case hex.
    digest: BTreeMap<&'static str, String>,
}

/// The predicate.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
struct TestResult {
    /// A pass only if the verdict is one; what could not be decided is none.
    result: Outcome,
    /// The report, and the contract's manifest and vectors.
    configuration: Vec<Descriptor>,
    /// The ids of the checks that passed.
    passed_tests: Vec<&'static str>,
    /// The ids of the checks that were not decided.
    warned_tests: Vec<&'static str>,
    /// The ids of the checks that failed.
    failed_tests: Vec<&'static str>,
}

#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
enum Outcome {
    Passed,
    Failed,
}

impl Statement {
    /// The statement that a report supports; `text` is that report as it was written.
    pub fn new(report: &Report, text: &str) -> Self {
        let with = |statuses: &[Status]| {
            let checks = report.checks.iter().filter(|check| statuses.contains(&check.status));
            checks.map(|check| check.id).collect()
        };
        let by_sha256 =
            |name: String, digest: String| Descriptor { name, digest: BTreeMap::from([("sha256", digest)]) };
        let contract = &report.contract;
        let subject = Descriptor {
            name: report.subject.package.clone(),
            digest: BTreeMap::from([("gitCommit", report.subject.commit.clone())]),
        };
        Statement {
            kind: STATEMENT,
            subject: [subject],
            predicate_type: TEST_RESULT,
            predicate: TestResult {
                result: if report.verdict == Verdict::Passed { Outcome::Passed } else { Outcome::Failed },
                configuration: vec![
                    by_sha256(report.schema.to_owned(), sha256(text.as_bytes())),
                    by_sha256(format!("{}/manifest", contract.name), contract.manifest_sha256.clone()),
                    by_sha256(format!("{}/vectors", contract.name), contract.vectors_sha256.clone()),
                ],
                passed_tests: with(&[Status::Passed]),
                warned_tests: with(&[Status::Error, Status::NotRun]),
                failed_tests: with(&[Status::Failed]),
            },
        }
    }
}
