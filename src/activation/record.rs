//! The record, schema version 1: seven members, in order, and nothing else.

use std::fmt;
use std::str::FromStr;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;

use crate::contract::Contract;
use crate::identity::{CommitId, ExpectedIdentity, IdentityError, ReleaseVersion};

const MEMBERS: [&str; 7] =
    ["schema_version", "state", "expected_version", "expected_commit", "module_origin", "required_contracts", "reason"];

/// Whether agents may be given the operations, and by which SDK.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// By none.
    Blocked,
    /// By exactly this one.
    Active {
        /// The released version.
        version: ReleaseVersion,
        /// The commit of that release.
        commit: CommitId,
    },
}

/// A well-formed activation record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    state: State,
    module_origin: String,
    required_contracts: Vec<String>,
    reason: String,
}

/// Bytes that are no activation record: where they are not, what had to be there, and what was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// Not one JSON object.
    #[error("line {line}, column {column}: expected {expected}, found {found}")]
    Json {
        /// The line, from 1.
        line: usize,
        /// The column in bytes, from 1; 0 before the first byte of a line.
        column: usize,
        /// What had to be there.
        expected: &'static str,
        /// What the parser met.
        found: String,
    },
    /// A member is missing, superfluous, in the wrong place or of another value.
    #[error("member {member}: expected {expected}, found {found}")]
    Member {
        /// The member's name.
        member: String,
        /// What had to be there.
        expected: String,
        /// What was, shortened.
        found: String,
    },
    /// A version or commit is malformed.
    #[error("member {member}: {why}")]
    Identity {
        /// The member's name.
        member: &'static str,
        /// What is wrong with it.
        why: IdentityError,
    },
}

impl RecordError {
    fn member(member: &str, expected: impl Into<String>, found: impl Into<String>) -> Self {
        RecordError::Member { member: shortened(member), expected: expected.into(), found: found.into() }
    }
}

impl Record {
    /// The largest record, in bytes.
    pub const MAX_BYTES: u64 = 64 << 10;

    /// Reads a record strictly; only the white space between its tokens is free.
    ///
    /// # Errors
    /// Over [`Record::MAX_BYTES`], not one JSON object in UTF-8 without a byte order mark, any member missing, unknown,
    /// repeated, out of order, of another type or value, or half an identity.
    pub fn parse(bytes: &[u8], contract: &Contract) -> Result<Record, RecordError> {
        let [schema_version, state, version, commit, origin, contracts, reason] = values(members(bytes)?)?;
        require("schema_version", "the integer 1", &schema_version, |value| value.as_u64() == Some(1))?;
        let state = match state.as_str() {
            Some("blocked") => {
                require("expected_version", "null, as the state is blocked", &version, Value::is_null)?;
                require("expected_commit", "null, as the state is blocked", &commit, Value::is_null)?;
                State::Blocked
            }
            Some("active") => State::Active {
                version: identity("expected_version", "a version, as the state is active", &version)?,
                commit: identity("expected_commit", "a commit id, as the state is active", &commit)?,
            },
            _ => return Err(RecordError::member("state", r#""blocked" or "active""#, shown(&state))),
        };
        require("module_origin", &format!("{:?}", contract.module_origin), &origin, |value| {
            value.as_str() == Some(contract.module_origin)
        })?;
        let required = Value::from(contract.required_contracts);
        require("required_contracts", &required.to_string(), &contracts, |value| *value == required)?;
        let Value::String(reason) = reason else {
            return Err(RecordError::member("reason", "a string", shown(&reason)));
        };
        Ok(Record::new(state, contract.module_origin, contract, reason))
    }

    /// The record that exposes nothing.
    pub fn blocked(contract: &Contract, reason: &str) -> Self {
        Record::new(State::Blocked, contract.module_origin, contract, reason.to_owned())
    }

    /// The record that exposes this identity.
    pub(super) fn active(contract: &Contract, identity: &ExpectedIdentity) -> Self {
        let state = State::Active { version: identity.version().clone(), commit: identity.commit() };
        let reason = concat!(
            "paired-sdk-gate ",
            env!("CARGO_PKG_VERSION"),
            " proved that exactly this commit and version honours the required contracts."
        );
        Record::new(state, identity.module_origin().as_str(), contract, reason.to_owned())
    }

    fn new(state: State, module_origin: &str, contract: &Contract, reason: String) -> Self {
        let required_contracts = contract.required_contracts.iter().map(|&name| name.to_owned()).collect();
        Record { state, module_origin: module_origin.to_owned(), required_contracts, reason }
    }

    /// Blocked, or active with an identity.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Why, in words.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// The values of the seven members, in their order.
    pub fn values(&self) -> [Value; 7] {
        let (state, version, commit) = match &self.state {
            State::Blocked => ("blocked", Value::Null, Value::Null),
            State::Active { version, commit } => ("active", version.as_str().into(), commit.to_string().into()),
        };
        let contracts = self.required_contracts.clone().into();
        [
            1.into(),
            state.into(),
            version,
            commit,
            self.module_origin.clone().into(),
            contracts,
            self.reason.clone().into(),
        ]
    }

    /// The contracts it requires.
    pub fn required_contracts(&self) -> &[String] {
        &self.required_contracts
    }

    /// The module whose behaviour it stands for.
    pub fn module_origin(&self) -> &str {
        &self.module_origin
    }

    /// The record as it is published: two-space indent and a final newline.
    pub fn to_bytes(&self) -> Vec<u8> {
        let values = self.values().map(|value| match value {
            Value::Array(items) => {
                let items: Vec<_> = items.iter().map(|item| format!("    {item}")).collect();
                format!("[\n{}\n  ]", items.join(",\n"))
            }
            value => value.to_string(),
        });
        let members = MEMBERS.iter().zip(values).map(|(name, value)| format!("  \"{name}\": {value}"));
        format!("{{\n{}\n}}\n", members.collect::<Vec<_>>().join(",\n")).into_bytes()
    }
}

/// The members of one JSON object as they stand, repetitions included.
struct Members(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AsTheyStand;
        impl<'de> Visitor<'de> for AsTheyStand {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::with_capacity(MEMBERS.len());
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(AsTheyStand)
    }
}

fn members(bytes: &[u8]) -> Result<Vec<(String, Value)>, RecordError> {
    let expected = "one JSON object";
    let json = |line, column, found| Err(RecordError::Json { line, column, expected, found });
    if bytes.len() as u64 > Record::MAX_BYTES {
        return json(1, 1, format!("{} bytes where at most {} are allowed", bytes.len(), Record::MAX_BYTES));
    }
    if bytes.starts_with(b"\xef\xbb\xbf") {
        return json(1, 1, "a byte order mark".into());
    }
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let (sound, rest) = bytes.split_at(error.valid_up_to());
            let line = sound.iter().filter(|&&byte| byte == b'\n').count() + 1;
            let column = sound.iter().rev().take_while(|&&byte| byte != b'\n').count() + 1;
            return json(line, column, format!("byte {:#04x}, which is not UTF-8", rest.first().unwrap_or(&0)));
        }
    };
    match serde_json::from_str::<Members>(text) {
        Ok(Members(members)) => Ok(members),
        Err(error) => {
            let (line, column) = (error.line(), error.column());
            let message = error.to_string();
            let place = format!(" at line {line} column {column}");
            json(line, column, shortened(message.strip_suffix(&place).unwrap_or(&message)))
        }
    }
}

/// The seven values, provided that the names are the seven names in order.
fn values(members: Vec<(String, Value)>) -> Result<[Value; 7], RecordError> {
    for (at, &expected) in MEMBERS.iter().enumerate() {
        let found = match members.get(at) {
            Some((name, _)) if name == expected => continue,
            Some((name, _)) => member_found(&members[..at], name),
            None => "the end of the record".to_owned(),
        };
        return Err(RecordError::member(expected, format!("it as member {} of the record", at + 1), found));
    }
    if let Some((name, _)) = members.get(MEMBERS.len()) {
        let found = member_found(&members[..MEMBERS.len()], name);
        return Err(RecordError::member(name, "the end of the record", found));
    }
    let mut values = members.into_iter().map(|(_, value)| value);
    Ok(MEMBERS.map(|_| values.next().unwrap_or_default()))
}

fn member_found(earlier: &[(String, Value)], name: &str) -> String {
    let again = if earlier.iter().any(|(earlier, _)| earlier == name) { " once more" } else { "" };
    format!("member {}{again}", shortened(name))
}

fn require(member: &str, expected: &str, value: &Value, holds: impl FnOnce(&Value) -> bool) -> Result<(), RecordError> {
    if holds(value) { Ok(()) } else { Err(RecordError::member(member, expected, shown(value))) }
}

fn identity<T: FromStr<Err = IdentityError>>(
    member: &'static str,
    expected: &str,
    value: &Value,
) -> Result<T, RecordError> {
    let text = value.as_str().ok_or_else(|| RecordError::member(member, expected, shown(value)))?;
    text.parse().map_err(|why| RecordError::Identity { member, why })
}

/// A value as JSON, short enough for a message.
fn shown(value: &Value) -> String {
    shortened(&value.to_string())
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(120) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
