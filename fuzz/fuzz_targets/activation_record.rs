//! The activation record: one that is read is written and read again as the same; `null` and an identity never mix.
#![no_main]

use libfuzzer_sys::fuzz_target;
use paired_sdk_gate::activation::{Record, State};
use paired_sdk_gate::contract::Contract;
use serde_json::Value;

fuzz_target!(|data: &[u8]| match Record::parse(data, Contract::bridge_v1()) {
    Ok(record) => {
        let written = record.to_bytes();
        // Escapes may grow, the rest only shrinks to its usual spacing.
        if written.len() as u64 <= Record::MAX_BYTES {
            assert_eq!(Record::parse(&written, Contract::bridge_v1()).as_ref(), Ok(&record));
        }
        let value: Value = serde_json::from_slice(data).unwrap();
        assert_eq!(value, serde_json::from_slice::<Value>(&written).unwrap());
        assert_eq!(value.as_object().unwrap().len(), 7);
        let identity = [value["expected_version"].as_str(), value["expected_commit"].as_str()];
        match record.state() {
            State::Blocked => assert_eq!(identity, [None, None]),
            State::Active { version, commit } => {
                assert_eq!(identity, [Some(version.as_str()), Some(commit.to_string().as_str())]);
            }
        }
    }
    Err(why) => {
        let why = why.to_string();
        assert!(!why.is_empty() && why.chars().count() < 1000, "{why}");
    }
});
