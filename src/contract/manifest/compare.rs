//! Two manifests held side by side, prose left out.
//!
//! Prose is a `title` or `description` that is a string, where such a member is a keyword or a descriptor's member: not
//! below `properties`, whose members are names, and not inside a value such as a `default`.

use super::super::json::{Json, Lookup};
use super::super::reason::{Step, pointer, shown};

/// One place where two manifests differ.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Difference {
    /// The place: a JSON pointer.
    pub pointer: String,
    /// What the contract has there.
    pub expected: String,
    /// What the other one has.
    pub found: String,
}

/// What the members of an object are.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// Keywords, or a descriptor's members.
    Keywords,
    /// Names of properties.
    Names,
    /// Data.
    Value,
}

impl Place {
    fn below(self, name: &str) -> Place {
        match (self, name) {
            (Place::Keywords, "properties") => Place::Names,
            (Place::Keywords, "const" | "default" | "enum" | "examples") | (Place::Value, _) => Place::Value,
            _ => Place::Keywords,
        }
    }

    fn is_prose(self, name: &str, value: &Json) -> bool {
        self == Place::Keywords && matches!(name, "title" | "description") && matches!(value, Json::String(_))
    }
}

/// Every place where `found` differs from `expected`, in the order of `expected`; prose and the order of members do not
/// count, a number's spelling does: 1 and 1.0 differ.
pub fn differences(expected: &Json, found: &Json) -> Vec<Difference> {
    let mut differences = Vec::new();
    compare(Some(expected), Some(found), Place::Keywords, &mut Vec::new(), &mut differences);
    differences
}

fn compare<'a>(
    expected: Option<&'a Json>,
    found: Option<&'a Json>,
    place: Place,
    path: &mut Vec<Step<'a>>,
    differences: &mut Vec<Difference>,
) {
    match (expected, found) {
        (Some(Json::Array(expected)), Some(Json::Array(found))) => {
            for index in 0..expected.len().max(found.len()) {
                path.push(Step::Index(index));
                compare(expected.get(index), found.get(index), place, path, differences);
                path.pop();
            }
        }
        (Some(Json::Object(expected)), Some(Json::Object(found))) => {
            let (ours, theirs) = (Lookup::new(expected), Lookup::new(found));
            let only_there = found.iter().filter(|(name, _)| ours.get(name).is_none());
            for (name, value) in expected.iter().chain(only_there) {
                if place.is_prose(name, value) && theirs.get(name).is_none_or(|other| place.is_prose(name, other)) {
                    continue;
                }
                path.push(Step::Name(name));
                compare(ours.get(name), theirs.get(name), place.below(name), path, differences);
                path.pop();
            }
        }
        (expected, found) if expected == found => {}
        (expected, found) => {
            let words = |value: Option<&Json>| value.map_or("nothing".to_owned(), shown);
            let (expected, found) = (words(expected), words(found));
            differences.push(Difference { pointer: pointer(path), expected, found });
        }
    }
}

/// What of a manifest carries the contract: everything but prose, members sorted, numbers as written.
pub fn contract_part(manifest: &Json) -> Json {
    fn part(value: &Json, place: Place) -> Json {
        match value {
            Json::Array(items) => Json::Array(items.iter().map(|item| part(item, place)).collect()),
            Json::Object(members) => {
                let kept = members.iter().filter(|(name, value)| !place.is_prose(name, value));
                let mut kept: Vec<_> =
                    kept.map(|(name, value)| (name.clone(), part(value, place.below(name)))).collect();
                kept.sort_by(|left, right| left.0.cmp(&right.0));
                Json::Object(kept)
            }
            scalar => scalar.clone(),
        }
    }
    part(manifest, Place::Keywords)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(left: &str, right: &str) -> Vec<String> {
        let differences = differences(&Json::parse(left).unwrap(), &Json::parse(right).unwrap());
        differences.into_iter().map(|d| format!("{} {} {}", d.pointer, d.expected, d.found)).collect()
    }

    #[test]
    fn every_place_is_named_and_prose_is_none() {
        let left = r#"{"title":"a","x":[1,2],"properties":{"title":{"type":"string","description":"a"}}}"#;
        let right = r#"{"properties":{"title":{"description":"b","type":"string"}},"x":[1,2],"title":"b"}"#;
        assert_eq!(told(left, right), [""; 0]);
        assert_eq!(told(r#"{"title":"a"}"#, r#"{"description":"b"}"#), [""; 0]);
        assert_eq!(
            told(left, r#"{"x":[1.0,2,3],"properties":{"title":{"type":null},"a/b~":true}}"#),
            [
                "/x/0 1 1.0",
                "/x/2 nothing 3",
                "/properties/title/type \"string\" null",
                "/properties/a~1b~0 nothing true",
            ]
        );
        assert_eq!(told(r#"{"title":"a"}"#, r#"{"title":1}"#), ["/title \"a\" 1"]);
        assert_eq!(
            told(r#"{"properties":{"title":"a"}}"#, r#"{"properties":{"title":"b"}}"#),
            ["/properties/title \"a\" \"b\""]
        );
        assert_eq!(told(r#"{"const":{"title":"a"}}"#, r#"{"const":{"title":"b"}}"#), ["/const/title \"a\" \"b\""]);
        assert_eq!(told("[]", "{}"), [" an array of 0 an object of 0"]);
    }

    #[test]
    fn the_contract_part_is_what_is_compared() {
        let text = r#"{"title":"a","b":1.0,"a":{"default":{"title":"x"},"description":"d"},"properties":{"title":{"title":"t"}}}"#;
        let part = contract_part(&Json::parse(text).unwrap()).to_string();
        assert_eq!(part, r#"{"a":{"default":{"title":"x"}},"b":1.0,"properties":{"title":{}}}"#);
    }
}
