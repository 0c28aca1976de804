//! The contract as a judge: a text in, and whether the contract accepts it, with every reason why not.
//!
//! Independent of any SDK. The text itself is judged, not what a parser made of it: numbers on their exact value, repeated
//! members and `NaN` as what they are. The time it takes is linear in the length of the text.

use std::collections::HashSet;
use std::sync::OnceLock;

use super::json::{Json, JsonError};
use super::manifest::Manifest;
use super::reason::{Reason, Reasons, Step, quoted, shown};
use super::schema::Schema;
use super::vectors::{Question, Verdict};

/// The longest text that is judged, in bytes.
pub const MAX_BYTES: usize = 1 << 20;

/// What the contract says of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// Why it is refused: the first [`super::reason::MOST_REASONS`] reasons. None is an accepted text.
    pub reasons: Vec<Reason>,
    /// How many more reasons there were.
    pub left_off: usize,
}

impl Judgement {
    /// Accepted or refused.
    pub fn verdict(&self) -> Verdict {
        if self.reasons.is_empty() { Verdict::Accept } else { Verdict::Reject }
    }

    fn of(reasons: Reasons<'_>) -> Self {
        let (reasons, left_off) = reasons.finish();
        Judgement { reasons, left_off }
    }
}

/// Judges arguments and responses by the schemas of one manifest, and manifests by the rules of bridge v1.
#[derive(Clone, Debug)]
pub struct Oracle {
    manifest: Manifest,
}

impl Oracle {
    /// The oracle of the published contract.
    pub fn bridge_v1() -> &'static Oracle {
        static ORACLE: OnceLock<Oracle> = OnceLock::new();
        ORACLE.get_or_init(|| Oracle { manifest: Manifest::bridge_v1() })
    }

    /// The oracle of another manifest.
    ///
    /// # Errors
    /// The manifest breaks the rules of bridge v1.
    pub fn new(manifest: &str) -> Result<Oracle, Judgement> {
        let mut read = None;
        let judgement = judge_with(manifest, |value, reasons| read = Manifest::read(value, reasons));
        match read {
            Some(manifest) if judgement.reasons.is_empty() => Ok(Oracle { manifest }),
            _ => Err(judgement),
        }
    }

    /// Its manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Judges bytes, which have to be UTF-8.
    pub fn judge_bytes(&self, question: &Question, bytes: &[u8]) -> Judgement {
        match std::str::from_utf8(bytes) {
            Ok(text) => self.judge(question, text),
            Err(error) => {
                let mut reasons = Reasons::default();
                reasons.add("json", "UTF-8", format!("another byte at {}", error.valid_up_to()));
                Judgement::of(reasons)
            }
        }
    }

    /// Judges a text that is put to one of the SDK's functions.
    ///
    /// Whether a `schedule_at` lies in the future is the server's to decide, not the contract's.
    pub fn judge(&self, question: &Question, text: &str) -> Judgement {
        let (tool, arguments) = match question {
            Question::Arguments { tool } => (tool, true),
            Question::Response { tool } => (tool, false),
            Question::Manifest => return judge_with(text, |value, reasons| drop(Manifest::read(value, reasons))),
        };
        judge_with(text, |value, reasons| match self.manifest.tool(tool) {
            None => reasons.add("tool", "a tool of the manifest", quoted(tool)),
            Some(tool) if arguments => tool.input.check(value, reasons),
            // A tool that declares nothing of its answers admits every one.
            Some(tool) => tool.output.iter().for_each(|schema| schema.check(value, reasons)),
        })
    }
}

impl Schema {
    /// Reads a schema of the bridge-v1 subset.
    ///
    /// # Errors
    /// It is outside the subset, or no schema.
    pub fn parse(text: &str) -> Result<Schema, Judgement> {
        let mut read = Schema::Bool(false);
        let judgement = judge_with(text, |value, reasons| read = Schema::read(value, reasons));
        if judgement.reasons.is_empty() { Ok(read) } else { Err(judgement) }
    }

    /// Judges a text by the schema alone.
    pub fn judge(&self, text: &str) -> Judgement {
        judge_with(text, |value, reasons| self.check(value, reasons))
    }
}

/// Judges the text as JSON, then its value by `rules`.
fn judge_with(text: &str, rules: impl for<'v> FnOnce(&'v Json, &mut Reasons<'v>)) -> Judgement {
    let value = match read(text) {
        Ok(value) => value,
        Err((rule, expected, found)) => {
            let mut reasons = Reasons::default();
            reasons.add(rule, expected, found);
            return Judgement::of(reasons);
        }
    };
    let mut reasons = Reasons::default();
    interoperable(&value, &mut reasons);
    rules(&value, &mut reasons);
    Judgement::of(reasons)
}

fn read(text: &str) -> Result<Json, (&'static str, String, String)> {
    if text.len() > MAX_BYTES {
        return Err(("size", format!("at most {MAX_BYTES} bytes"), text.len().to_string()));
    }
    Json::parse(text).map_err(|JsonError { expected, offset }| {
        let found = text.get(offset..).filter(|rest| !rest.is_empty()).map_or("the end".to_owned(), quoted);
        ("json", format!("{expected} at byte {offset}"), found)
    })
}

/// Every reader sees the same: no member twice, and no number that JSON does not have.
fn interoperable<'a>(value: &'a Json, reasons: &mut Reasons<'a>) {
    match value {
        Json::Number(token) if !token.ends_with(|c: char| c.is_ascii_digit()) => {
            reasons.add("json", "a number that JSON has", shown(value));
        }
        Json::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                reasons.at(Step::Index(index), |reasons| interoperable(item, reasons));
            }
        }
        Json::Object(members) => {
            let mut seen = HashSet::new();
            for (index, (name, value)) in members.iter().enumerate() {
                let repeated = if members.len() < 8 {
                    members[..index].iter().any(|(earlier, _)| earlier == name)
                } else {
                    !seen.insert(name)
                };
                reasons.at(Step::Name(name), |reasons| {
                    if repeated {
                        reasons.add(
                            "repeated-member",
                            "each member once, as readers differ on which one counts",
                            "another",
                        );
                    }
                    interoperable(value, reasons);
                });
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests;
