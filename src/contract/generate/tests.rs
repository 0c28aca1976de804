use std::collections::{BTreeMap, HashSet};

use super::*;
use crate::contract::Verdict;

#[test]
fn the_same_seed_gives_the_same_vectors_and_a_longer_series_begins_with_the_shorter() {
    let vectors = generate(7, 2000);
    assert_eq!(vectors, generate(7, 2000));
    assert_eq!(vectors[..500], generate(7, 500)[..]);
    let inputs: HashSet<_> = vectors.iter().map(|vector| &vector.input).collect();
    let other = generate(8, 2000);
    let shared = other.iter().filter(|vector| inputs.contains(&vector.input)).count();
    assert!(shared < 200, "{shared} of two seeds are the same");
    let ids: HashSet<_> = vectors.iter().map(|vector| &vector.id).collect();
    assert_eq!(ids.len(), 2000);
    assert_eq!(vectors[0].id.replace(char::is_alphabetic, ""), "//000000");
}

#[test]
fn both_verdicts_of_every_question_and_topic_are_well_mixed() {
    let mut counts: BTreeMap<(String, &str), [usize; 2]> = BTreeMap::new();
    for vector in generate(1, 40_000) {
        let place = usize::from(vector.expected == Verdict::Reject);
        counts.entry((format!("{:?}", vector.question), vector.topic.name())).or_default()[place] += 1;
    }
    for ((question, topic), [accepted, refused]) in &counts {
        let all = accepted + refused;
        assert!(*accepted * 8 > all && *refused * 8 > all && all >= 100, "{question} {topic}: {accepted} of {all}");
    }
    let integer_and_schema = 3 * 2 + 2;
    let date_time = 2;
    assert_eq!(counts.len(), integer_and_schema + date_time, "{counts:#?}");
}

/// What tells two implementations apart is the one rule that only one of them has.
#[test]
fn every_rule_alone_refuses_some_vector() {
    let mut alone: BTreeMap<&str, usize> = BTreeMap::new();
    for vector in generate(2, 100_000) {
        let judgement = Oracle::bridge_v1().judge(&vector.question, &vector.input);
        if let [reason] = &judgement.reasons[..] {
            *alone.entry(reason.rule).or_default() += 1;
        }
    }
    let rules: Vec<_> = alone.keys().copied().collect();
    let expected = [
        "additionalProperties",
        "annotations",
        "closed",
        "const",
        "date-time",
        "effect",
        "enum",
        "format",
        "integer",
        "keyword",
        "maxLength",
        "maxProperties",
        "maximum",
        "method",
        "minItems",
        "minLength",
        "minProperties",
        "minimum",
        "path",
        "repeated-member",
        "required",
        "schema",
        "schema-version",
        "tools",
        "type",
        "unique-names",
        "uniqueItems",
    ];
    assert_eq!(rules, expected);
    let rare: Vec<_> = alone.iter().filter(|(_, count)| **count < 3).collect();
    assert!(rare.is_empty(), "{rare:?}");
}
