//! The oracle's schemas beside a second opinion: the public JSON-Schema-Test-Suite, for the keywords of the subset.

use std::collections::BTreeMap;

use paired_sdk_gate::contract::Verdict;
use paired_sdk_gate::contract::json::Json;
use paired_sdk_gate::contract::schema::Schema;

use crate::support::registry;

const FILES: [&str; 26] = [
    "additionalProperties",
    "boolean_schema",
    "const",
    "default",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "items",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "properties",
    "propertyNames",
    "required",
    "type",
    "uniqueItems",
    "optional/bignum",
    "optional/float-overflow",
    "optional/format/date-time",
];

/// Where we differ, and why.
const DIFFERENT: [(&str, &str); 2] = [
    (
        "format: \"date-time format\": \"invalid date-time string is only an annotation by default\"",
        "the contract has formats asserted, not only noted",
    ),
    (
        "optional/float-overflow: \"all integers are multiples of 0.5, if overflow is handled\": \"valid if optional overflow handling is implemented\"",
        "1e308 is no integer under the integer rule: its exponent puts it above 2^53 - 1",
    ),
];

fn member<'a>(value: &'a Json, name: &str) -> &'a Json {
    let Json::Object(members) = value else { panic!("{value}") };
    &members.iter().find(|(found, _)| found == name).unwrap_or_else(|| panic!("no {name} in {value}")).1
}

fn items(value: &Json) -> &[Json] {
    let Json::Array(items) = value else { panic!("{value}") };
    items
}

/// The schema as bridge v1 would have it: without the dialect's name, and with the type of its items where `uniqueItems` asks
/// for one and all items are of one scalar type.
fn adapted(schema: &Json, data: &Json) -> Json {
    let Json::Object(members) = schema else { return schema.clone() };
    let mut members: Vec<_> = members.iter().filter(|(name, _)| name != "$schema").cloned().collect();
    let unique = members.iter().any(|(name, value)| name == "uniqueItems" && *value == Json::Bool(true));
    if unique && let Json::Array(items) = data {
        let types = items.iter().map(|item| match item {
            Json::Null => "null",
            Json::Bool(_) => "boolean",
            Json::Number(_) => "number",
            Json::String(_) => "string",
            _ => "",
        });
        let types: std::collections::BTreeSet<_> = types.collect();
        if let (Some(name), 1) = (types.first(), types.len()) {
            let items = Json::Object(vec![("type".into(), Json::String((*name).into()))]);
            members.push(("items".into(), items));
        }
    }
    Json::Object(members)
}

#[test]
fn the_public_suite_agrees_on_every_keyword_of_the_subset_but_for_the_rules_of_the_contract() {
    let suite = registry::schema_suite();
    let mut asked: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut outside, mut different) = (0, Vec::new());
    for file in FILES {
        let text = std::fs::read_to_string(suite.join(format!("{file}.json"))).unwrap();
        for case in items(&Json::parse(&text).unwrap()) {
            for test in items(member(case, "tests")) {
                let data = member(test, "data");
                let Ok(schema) = Schema::parse(&adapted(member(case, "schema"), data).to_string()) else {
                    outside += 1;
                    continue;
                };
                *asked.entry(file).or_default() += 1;
                let accepted = schema.judge(&data.to_string()).verdict() == Verdict::Accept;
                if Json::Bool(accepted) != *member(test, "valid") {
                    different.push(format!("{file}: {}: {}", member(case, "description"), member(test, "description")));
                }
            }
        }
    }
    println!("{asked:#?}");
    // The sdist is pinned, so these are facts: every file has its part, and what is outside uses references, patterns,
    // combinators, other formats, or items of several types.
    assert_eq!((asked.len(), asked.values().sum::<usize>(), outside), (FILES.len(), 418, 214));
    let expected: Vec<_> = DIFFERENT.iter().map(|(test, _)| *test).collect();
    assert_eq!(different, expected);
}
