//! JSON: what is read is written and read back, and `serde_json` sees the same value, or refuses for a reason that is known.
#![no_main]

use libfuzzer_sys::fuzz_target;
use paired_sdk_gate::contract::json::{Json, MAX_DEPTH};
use serde_json::Value;

fuzz_target!(|text: &str| {
    let theirs = serde_json::from_str::<Value>(text);
    match Json::parse(text) {
        Ok(value) => {
            let written = value.to_string();
            assert_eq!(Json::parse(&written), Ok(value.clone()));
            assert!(depth(&value) <= MAX_DEPTH);
            match theirs {
                Ok(theirs) => assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), theirs),
                Err(why) => {
                    let why = why.to_string();
                    let known = why.contains("out of range") || why.contains("recursion limit") || has_words(&value);
                    assert!(known, "{why}");
                }
            }
        }
        Err(error) => {
            assert!(error.offset <= text.len());
            assert!(theirs.is_err(), "{error}");
        }
    }
});

/// Levels of arrays and objects around the innermost value.
fn depth(value: &Json) -> usize {
    match value {
        Json::Array(items) => items.iter().map(|item| depth(item) + 1).max().unwrap_or(0),
        Json::Object(members) => members.iter().map(|(_, item)| depth(item) + 1).max().unwrap_or(0),
        _ => 0,
    }
}

/// `NaN` and the like.
fn has_words(value: &Json) -> bool {
    match value {
        Json::Number(token) => token.contains(['N', 'I']),
        Json::Array(items) => items.iter().any(has_words),
        Json::Object(members) => members.iter().any(|(_, item)| has_words(item)),
        _ => false,
    }
}
