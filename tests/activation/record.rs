//! What is an activation record, and what is not.

use paired_sdk_gate::activation::{Record, RecordError, State};
use paired_sdk_gate::contract::Contract;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{ACTIVE, BLOCKED};

fn parse(text: impl AsRef<[u8]>) -> Result<Record, RecordError> {
    Record::parse(text.as_ref(), Contract::bridge_v1())
}

#[track_caller]
fn refused(text: impl AsRef<[u8]>) -> String {
    parse(text).expect_err("accepted").to_string()
}

/// The members of a record as JSON tokens, to be mutated one at a time.
fn members(record: &str) -> Vec<(String, String)> {
    let names = [
        "schema_version",
        "state",
        "expected_version",
        "expected_commit",
        "module_origin",
        "required_contracts",
        "reason",
    ];
    let values: Value = serde_json::from_str(record).unwrap();
    names.map(|name| (json!(name).to_string(), values[name].to_string())).to_vec()
}

fn object(members: &[(String, String)]) -> String {
    let members: Vec<_> = members.iter().map(|(name, value)| format!("{name}:{value}")).collect();
    format!("{{{}}}", members.join(","))
}

fn named(record: &RecordError) -> &str {
    match record {
        RecordError::Json { .. } => panic!("no member: {record}"),
        RecordError::Member { member, .. } => member,
        RecordError::Identity { member, .. } => member,
    }
}

#[test]
fn the_published_form_is_read_and_written_byte_for_byte() {
    let blocked = parse(BLOCKED).unwrap();
    assert_eq!(blocked.state(), &State::Blocked);
    assert_eq!(blocked.reason(), "Nothing was proven yet.");
    assert_eq!(String::from_utf8(blocked.to_bytes()).unwrap(), BLOCKED);

    let active = parse(ACTIVE).unwrap();
    let (version, commit) = ("1.0rc1".parse().unwrap(), "0123456789abcdef0123456789abcdef01234567".parse().unwrap());
    assert_eq!(active.state(), &State::Active { version, commit });
    assert_eq!(active.reason(), "Says \"so\" — \\ in any words.");
    assert_eq!(String::from_utf8(active.to_bytes()).unwrap(), ACTIVE);
}

#[test]
fn only_the_white_space_between_tokens_is_free() {
    for record in [BLOCKED, ACTIVE] {
        let same = parse(record).unwrap();
        for spelled in [
            object(&members(record)),
            record.replace('\n', "\r\n"),
            record.replace(": ", "\t:\n\n"),
            record.trim_end().to_owned(),
            format!("\n {record} \n"),
            record.replace("\"state\"", r#""\u0073tate""#),
        ] {
            assert_eq!(parse(&spelled).as_ref(), Ok(&same), "{spelled}");
        }
    }
}

#[test]
fn bytes_that_are_not_one_json_object_are_refused_with_their_place() {
    let line = BLOCKED.lines().count();
    for (bytes, told) in [
        (String::new(), "line 1, column 0: expected one JSON object, found EOF while parsing a value".to_owned()),
        (format!("\u{feff}{BLOCKED}"), "line 1, column 1: expected one JSON object, found a byte order mark".into()),
        (
            format!("{BLOCKED}{{}}"),
            format!("line {}, column 1: expected one JSON object, found trailing characters", line + 1),
        ),
        (
            format!("{BLOCKED}\0"),
            format!("line {}, column 1: expected one JSON object, found trailing characters", line + 1),
        ),
        (
            format!("[{BLOCKED}]"),
            "line 1, column 0: expected one JSON object, found invalid type: sequence, expected an object".into(),
        ),
        (
            "null".into(),
            "line 1, column 4: expected one JSON object, found invalid type: null, expected an object".into(),
        ),
        (
            BLOCKED.replace("null,\n  \"expected_commit", "null\n  \"expected_commit"),
            "line 5, column 3: expected one JSON object, found expected `,` or `}`".into(),
        ),
        (
            BLOCKED.replace("yet.\"\n", "yet.\",\n"),
            format!("line {line}, column 1: expected one JSON object, found trailing comma"),
        ),
        (BLOCKED.replace("1,", "NaN,"), "line 2, column 21: expected one JSON object, found expected value".into()),
        (BLOCKED.replace("1,", "01,"), "line 2, column 22: expected one JSON object, found invalid number".into()),
        (
            BLOCKED.replace("1,", "1, // one"),
            "line 2, column 24: expected one JSON object, found key must be a string".into(),
        ),
        (
            BLOCKED.replace("Nothing", r"\ud800"),
            "line 11, column 20: expected one JSON object, found unexpected end of hex escape".into(),
        ),
        (
            BLOCKED.replace("1,", &format!("{},", "[".repeat(60_000))),
            "line 2, column 147: expected one JSON object, found recursion limit exceeded".into(),
        ),
        (
            json!("x".repeat(1000)).to_string(),
            format!(
                "line 1, column 1002: expected one JSON object, found invalid type: string \"{}…",
                "x".repeat(120 - "invalid type: string \"".len())
            ),
        ),
    ] {
        assert_eq!(refused(&bytes), told, "{bytes:.200}");
    }
    let mut latin = BLOCKED.as_bytes().to_vec();
    latin[BLOCKED.find("yet").unwrap()] = 0xe9;
    assert_eq!(refused(latin), "line 11, column 33: expected one JSON object, found byte 0xe9, which is not UTF-8");
    let wide: Vec<_> = BLOCKED.encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(refused(wide), "line 1, column 2: expected one JSON object, found key must be a string");
}

#[test]
fn a_record_cut_short_is_refused_wherever_it_is_cut() {
    for record in [BLOCKED, ACTIVE] {
        for end in 0..record.len() - 1 {
            let error = parse(&record.as_bytes()[..end]).expect_err("accepted");
            assert!(matches!(error, RecordError::Json { .. }), "{end}: {error}");
        }
    }
}

#[test]
fn a_record_has_at_most_64_kib() {
    let padded = |length: usize| format!("{BLOCKED}{}", " ".repeat(length - BLOCKED.len()));
    assert!(parse(padded(65_536)).is_ok());
    assert_eq!(
        refused(padded(65_537)),
        "line 1, column 1: expected one JSON object, found 65537 bytes where at most 65536 are allowed"
    );
}

#[test]
fn every_member_has_one_type_and_its_value() {
    let contracts = r#"["lossless-json-integer-identity","bounded-rfc3339-normalization"]"#;
    let reversed = r#"["bounded-rfc3339-normalization","lossless-json-integer-identity"]"#;
    let version = "expected one exact released version such as 0.0.13, found";
    let commit = "expected a commit id of 40 lower-case hexadecimal digits, found";
    let upper = "0123456789ABCDEF0123456789abcdef01234567";
    for (record, at, value, told) in [
        (BLOCKED, 0, "1.0", "expected the integer 1, found 1.0".to_owned()),
        (BLOCKED, 0, "1e0", "expected the integer 1, found 1.0".into()),
        (BLOCKED, 0, "true", "expected the integer 1, found true".into()),
        (BLOCKED, 0, "\"1\"", "expected the integer 1, found \"1\"".into()),
        (BLOCKED, 0, "2", "expected the integer 1, found 2".into()),
        (BLOCKED, 0, "-1", "expected the integer 1, found -1".into()),
        (BLOCKED, 0, "18446744073709551617", "expected the integer 1, found 1.8446744073709552e+19".into()),
        (
            BLOCKED,
            0,
            r#"{"$serde_json::private::Number":"1"}"#,
            r#"expected the integer 1, found {"$serde_json::private::Number":"1"}"#.into(),
        ),
        (BLOCKED, 1, "\"Blocked\"", r#"expected "blocked" or "active", found "Blocked""#.into()),
        (BLOCKED, 1, "\"active \"", r#"expected "blocked" or "active", found "active ""#.into()),
        (BLOCKED, 1, "false", r#"expected "blocked" or "active", found false"#.into()),
        (BLOCKED, 2, "\"0.0.13\"", "expected null, as the state is blocked, found \"0.0.13\"".into()),
        (BLOCKED, 3, "\"\"", "expected null, as the state is blocked, found \"\"".into()),
        (ACTIVE, 2, "null", "expected a version, as the state is active, found null".into()),
        (ACTIVE, 2, "1", "expected a version, as the state is active, found 1".into()),
        (ACTIVE, 2, "\" 1.0\"", format!("{version} ' ' at character 1")),
        (ACTIVE, 2, "\"1.0\\n\"", format!("{version} '\\n' at character 4")),
        (ACTIVE, 2, "\">=1.0\"", format!("{version} '>' at character 1: a range or wildcard names no release")),
        (
            ACTIVE,
            2,
            &json!(format!("1.{}", "0".repeat(99))).to_string(),
            format!("{version} 101 characters where at most 100 are allowed"),
        ),
        (ACTIVE, 3, "null", "expected a commit id, as the state is active, found null".into()),
        (ACTIVE, 3, &json!(upper).to_string(), format!("{commit} 'A' at character 11; write the id in lower case")),
        (
            ACTIVE,
            3,
            "\"0123456\"",
            "expected a full commit id of 40 hexadecimal digits, found 7; `git rev-parse HEAD` prints it in full"
                .into(),
        ),
        (
            ACTIVE,
            4,
            "\"netbox_sdk/plugin_bridge.pyc\"",
            "expected \"netbox_sdk/plugin_bridge.py\", found \"netbox_sdk/plugin_bridge.pyc\"".into(),
        ),
        (BLOCKED, 4, "null", "expected \"netbox_sdk/plugin_bridge.py\", found null".into()),
        (BLOCKED, 5, "[]", format!("expected {contracts}, found []")),
        (
            ACTIVE,
            5,
            reversed,
            // Shown no longer than it has to be.
            format!("expected {contracts}, found {reversed}"),
        ),
        (
            BLOCKED,
            5,
            &contracts.replace(']', ",\"and-a-third-contract-that-this-gate-does-not-know-of\"]"),
            format!(
                "expected {contracts}, found {}",
                &contracts.replace(']', ",\"and-a-third-contract-that-this-gate-does-not-know-of\"]")[..120]
            ) + "…",
        ),
        (
            BLOCKED,
            5,
            "\"lossless-json-integer-identity\"",
            format!("expected {contracts}, found \"lossless-json-integer-identity\""),
        ),
        (BLOCKED, 6, "null", "expected a string, found null".into()),
        (ACTIVE, 6, "[\"why\"]", "expected a string, found [\"why\"]".into()),
    ] {
        let mut members = members(record);
        members[at].1 = value.to_owned();
        let name = members[at].0.trim_matches('"').to_owned();
        assert_eq!(refused(object(&members)), format!("member {name}: {told}"));
    }
    // Calling a blocked record active is not enough, nor the other way round.
    assert_eq!(
        refused(BLOCKED.replace("\"blocked\"", "\"active\"")),
        "member expected_version: expected a version, as the state is active, found null"
    );
    assert_eq!(
        refused(ACTIVE.replace("\"active\"", "\"blocked\"")),
        "member expected_version: expected null, as the state is blocked, found \"1.0rc1\""
    );
}

#[test]
fn every_member_is_there_once_in_its_place_and_no_other() {
    for record in [BLOCKED, ACTIVE] {
        let sound = members(record);
        assert!(parse(object(&sound)).is_ok());
        let name = |at: usize| sound[at].0.trim_matches('"');
        for at in 0..7 {
            let mut missing = sound.clone();
            missing.remove(at);
            let found = if at < 6 { format!("member {}", name(at + 1)) } else { "the end of the record".into() };
            let told = format!("member {}: expected it as member {} of the record, found {found}", name(at), at + 1);
            assert_eq!(refused(object(&missing)), told);

            let mut renamed = sound.clone();
            renamed[at].0 = format!("\"{}s\"", name(at));
            let told =
                format!("member {0}: expected it as member {1} of the record, found member {0}s", name(at), at + 1);
            assert_eq!(refused(object(&renamed)), told);

            for to in 0..=7 {
                // A second copy, of the same value, anywhere.
                let mut twice = sound.clone();
                twice.insert(to, sound[at].clone());
                let error = refused(object(&twice));
                if to > at + 1 || (to == at + 1 && at < 6) {
                    let told = format!("found member {} once more", name(at));
                    assert!(error.ends_with(&told), "{error}");
                }
                let mut foreign = sound.clone();
                foreign.insert(to, (format!("\"x{at}\""), sound[at].1.clone()));
                let told = if to < 7 {
                    format!("member {}: expected it as member {} of the record, found member x{at}", name(to), to + 1)
                } else {
                    format!("member x{at}: expected the end of the record, found member x{at}")
                };
                assert_eq!(refused(object(&foreign)), told);
            }
            for other in at + 1..7 {
                let mut swapped = sound.clone();
                swapped.swap(at, other);
                let told = format!(
                    "member {}: expected it as member {} of the record, found member {}",
                    name(at),
                    at + 1,
                    name(other)
                );
                assert_eq!(refused(object(&swapped)), told);
            }
        }
    }
    assert_eq!(
        refused("{}"),
        "member schema_version: expected it as member 1 of the record, found the end of the record"
    );
}

fn lower_hex(c: char) -> bool {
    matches!(c, '0'..='9' | 'a'..='f')
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-4i64..4).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        (-4i64..4).prop_map(|number| Value::from(number as f64)),
        "\\PC{0,40}".prop_map(Value::from),
        "[0-9a-fA-F]{38,41}".prop_map(Value::from),
        "[v0-9.a-c+*]{1,8}".prop_map(Value::from),
        prop::sample::select(vec!["active", "blocked", "lossless-json-integer-identity"]).prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map("[a-z]{0,8}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn another_value_is_refused_by_the_name_of_its_member(
        active in any::<bool>(), at in 0usize..7, value in any_json(),
    ) {
        let mut members = members(if active { ACTIVE } else { BLOCKED });
        let mut expected = members[at].0.trim_matches('"').to_owned();
        let token = value.to_string();
        prop_assume!(members[at].1 != token);
        // The few other values that are right in their place, told by rules of their own.
        let text = value.as_str();
        let right = match at {
            2 => active && text.is_some_and(|text| text.parse::<paired_sdk_gate::identity::ReleaseVersion>().is_ok()),
            3 => active && text.is_some_and(|text| text.len() == 40 && text.chars().all(lower_hex)),
            6 => text.is_some(),
            _ => false,
        };
        if at == 1 && matches!(text, Some("active" | "blocked")) {
            expected = "expected_version".into();
        }
        members[at].1 = token;
        match parse(object(&members)) {
            Ok(_) => prop_assert!(right, "accepted {}", value),
            Err(error) => {
                prop_assert!(!right, "{}", error);
                prop_assert_eq!(named(&error), expected);
            }
        }
    }

    #[test]
    fn what_is_accepted_is_written_so_that_it_reads_the_same(
        active in any::<bool>(), at in any::<prop::sample::Index>(), length in 0usize..4,
        patch in "[ -~\\n\u{e9}]{0,4}",
    ) {
        let mut bytes = if active { ACTIVE } else { BLOCKED }.as_bytes().to_vec();
        let start = at.index(bytes.len());
        let end = (start + length).min(bytes.len());
        bytes.splice(start..end, patch.bytes());
        if let Ok(record) = parse(&bytes) {
            let written = record.to_bytes();
            let again = parse(&written).unwrap();
            prop_assert_eq!(&again, &record);
            prop_assert_eq!(again.to_bytes(), written);
        }
    }

    #[test]
    fn any_reason_survives_being_written(reason in any::<String>()) {
        let mut members = members(ACTIVE);
        members[6].1 = json!(reason).to_string();
        let record = parse(object(&members)).unwrap();
        prop_assert_eq!(record.reason(), &reason);
        prop_assert_eq!(parse(record.to_bytes()).unwrap(), record);
    }

    #[test]
    fn arbitrary_bytes_are_no_record(bytes in any::<Vec<u8>>()) {
        prop_assert!(parse(bytes).is_err());
    }
}
