//! Why an input is refused: the place, the rule, what it asks for and what was found.

use std::fmt;

use super::json::Json;

/// How many reasons are kept; the rest is counted.
pub const MOST_REASONS: usize = 100;

/// How much of a found value is shown, in characters.
const SHOWN: usize = 60;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Reason {
    /// The place: a JSON pointer (RFC 6901), empty for the whole input.
    pub pointer: String,
    /// The rule: a keyword of the schema, or the name of another rule.
    pub rule: &'static str,
    /// What the rule asks for.
    pub expected: String,
    /// What is there.
    pub found: String,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.pointer.is_empty() { "(the whole input)" } else { &self.pointer };
        write!(f, "{place}: expected {}, found {} ({})", self.expected, self.found, self.rule)
    }
}

/// One step of a path.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step<'a> {
    Name(&'a str),
    Index(usize),
}

/// Gathers reasons while the path is walked; a pointer is written only where something is wrong.
#[derive(Debug, Default)]
pub(super) struct Reasons<'a> {
    path: Vec<Step<'a>>,
    list: Vec<Reason>,
    left_off: usize,
}

impl<'a> Reasons<'a> {
    /// Does `work` one step further down.
    pub(super) fn at<T>(&mut self, step: Step<'a>, work: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(step);
        let result = work(self);
        self.path.pop();
        result
    }

    pub(super) fn add(&mut self, rule: &'static str, expected: impl Into<String>, found: impl Into<String>) {
        if self.list.len() == MOST_REASONS {
            self.left_off += 1;
            return;
        }
        let (expected, found) = (expected.into(), found.into());
        self.list.push(Reason { pointer: pointer(&self.path), rule, expected, found });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The reasons, and how many more there were.
    pub(super) fn finish(self) -> (Vec<Reason>, usize) {
        (self.list, self.left_off)
    }
}

pub(super) fn pointer(path: &[Step<'_>]) -> String {
    path.iter().fold(String::new(), |pointer, step| match step {
        Step::Name(name) => pointer + "/" + &name.replace('~', "~0").replace('/', "~1"),
        Step::Index(index) => format!("{pointer}/{index}"),
    })
}

/// A value in a sentence: short, and without what a terminal would act on.
pub(super) fn shown(value: &Json) -> String {
    match value {
        Json::Array(items) => format!("an array of {}", items.len()),
        Json::Object(members) => format!("an object of {}", members.len()),
        Json::String(text) => quoted(text),
        Json::Number(token) => shortened(token),
        scalar => scalar.to_string(),
    }
}

/// A text in quotation marks, shortened.
pub(super) fn quoted(text: &str) -> String {
    let short = shortened(text);
    format!("{short:?}")
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
