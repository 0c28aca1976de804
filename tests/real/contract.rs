//! The real SDK's functions, asked fresh vectors directly: every difference from the contract is one that an advisory explains.

use std::collections::BTreeMap;

use paired_sdk_gate::contract::advisory::{ADVISORIES, advisories, released};
use paired_sdk_gate::contract::{Contract, Question, Verdict, generate};

use crate::contract::ask;
use crate::support::registry;

const SEEDS: u64 = 20;
const EACH: usize = 2_000;

#[test]
fn the_latest_release_answers_fresh_vectors_as_the_contract_and_its_advisories_say() {
    let (subject, python) = (registry::subject("0.0.13"), registry::environment("0.0.13").join("bin/python"));
    let contract = Contract::bridge_v1();
    let mut vectors = Vec::new();
    for seed in 0..SEEDS {
        for mut vector in generate(seed, EACH) {
            vector.id = format!("{seed}/{}", vector.id);
            vectors.push(vector);
        }
    }
    let questions: Vec<_> = vectors
        .iter()
        .map(|vector| match &vector.question {
            Question::Arguments { tool } => (vector.id.clone(), "arguments", tool.as_str(), vector.input.as_str()),
            Question::Response { tool } => (vector.id.clone(), "response", tool.as_str(), vector.input.as_str()),
            Question::Manifest => (vector.id.clone(), "manifest", "", vector.input.as_str()),
        })
        .collect();
    let answers = ask(&python, &subject.repo, &questions);
    assert_eq!(answers.len(), vectors.len());

    let mut found: BTreeMap<&str, usize> = BTreeMap::new();
    let mut unexplained = Vec::new();
    for vector in &vectors {
        let word = |verdict| match (verdict, &vector.question) {
            (Verdict::Accept, _) => "accept",
            (Verdict::Reject, Question::Manifest) => contract.manifest_rejection,
            (Verdict::Reject, _) => contract.payload_rejection,
        };
        let said = &answers[&vector.id];
        let model = released(&vector.question, &vector.input);
        if model != vector.expected {
            let explanations = advisories(&vector.question, &vector.input);
            assert!(!explanations.is_empty(), "{}", vector.input);
            for advisory in explanations {
                *found.entry(advisory.id).or_default() += 1;
            }
        }
        if said != word(model) {
            unexplained.push(format!("{}: {said} {}", vector.id, vector.input));
        }
    }
    println!("{found:#?}");
    assert_eq!(unexplained, [""; 0]);
    let mut listed: Vec<_> = ADVISORIES.iter().map(|advisory| advisory.id).collect();
    listed.sort_unstable();
    assert_eq!(found.into_keys().collect::<Vec<_>>(), listed);
}

#[test]
fn the_latest_release_shows_every_advisory_on_its_smallest_input() {
    let (subject, python) = (registry::subject("0.0.13"), registry::environment("0.0.13").join("bin/python"));
    let tools: Vec<_> = ADVISORIES.iter().map(|advisory| advisory.question()).collect();
    let questions: Vec<_> = ADVISORIES
        .iter()
        .zip(&tools)
        .map(|(advisory, question)| match question {
            Question::Arguments { tool } => {
                (advisory.id.to_owned(), "arguments", tool.as_str(), advisory.smallest_input)
            }
            Question::Response { tool } => (advisory.id.to_owned(), "response", tool.as_str(), advisory.smallest_input),
            Question::Manifest => (advisory.id.to_owned(), "manifest", "", advisory.smallest_input),
        })
        .collect();
    let answers = ask(&python, &subject.repo, &questions);
    for advisory in &ADVISORIES {
        let accepted = released(&advisory.question(), advisory.smallest_input) == Verdict::Accept;
        assert_eq!(answers[advisory.id] == "accept", accepted, "{}: {}", advisory.id, answers[advisory.id]);
    }
}
