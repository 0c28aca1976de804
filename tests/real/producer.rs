//! The oracle beside the real producer's serializer, on generated arguments: verdicts and normal forms.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use paired_sdk_gate::contract::{Oracle, Question, generate};
use serde_json::{Value, json};

use crate::support::registry;

/// How many arguments are compared.
const LEAST: usize = 20_000;

fn question() -> Question {
    Question::Arguments { tool: "schedule_sync".into() }
}

/// What the producer's serializer makes of each text; null is a refusal.
fn producer(texts: &[String]) -> Vec<Value> {
    let judge = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/producer_judge.py");
    let mut command = Command::new(registry::producer_environment().join("bin/python"));
    command.args(["-I", "-B"]).arg(judge).arg(registry::producer());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let lines: String = texts.iter().map(|text| json!(text).to_string() + "\n").collect();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(lines.as_bytes()).unwrap());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    writer.join().unwrap();
    let answers: Vec<_> = output
        .stdout
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect();
    assert_eq!(answers.len(), texts.len());
    answers
}

/// The contract's normal form as the producer can say it: an instant to the microsecond.
fn contract(text: &str) -> Value {
    let mut value = serde_json::to_value(Oracle::bridge_v1().normalised(&question(), text)).unwrap();
    if let Some(Value::String(instant)) = value.get_mut("schedule_at") {
        let (second, fraction) =
            instant.trim_end_matches('Z').split_once('.').unwrap_or((instant.trim_end_matches('Z'), ""));
        *instant = format!("{second}.{fraction:0<6.6}");
    }
    value
}

/// The text as a parser of doubles reads it, which also keeps only the last of several members of one name.
fn reread(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok()
}

/// The text with one member read otherwise.
fn with(text: &str, name: &str, change: impl Fn(&str) -> String) -> String {
    let Some(mut value) = reread(text) else { return text.to_owned() };
    if let Some(Value::String(member)) = value.get_mut(name) {
        *member = change(member);
    }
    value.to_string()
}

fn ascii(text: &str) -> String {
    let digit = |c: char| {
        let zeros = ['\u{0660}', '\u{06f0}', '\u{0966}', '\u{0e50}', '\u{ff10}', '\u{1d7ce}'].map(u32::from);
        let value = zeros.iter().map(|zero| u32::from(c).wrapping_sub(*zero)).find(|value| *value < 10);
        value.and_then(|value| char::from_digit(value, 10)).unwrap_or(c)
    };
    text.chars().map(digit).collect()
}

fn repeats(text: &str) -> bool {
    Oracle::bridge_v1().judge(&question(), text).reasons.iter().any(|reason| reason.rule == "repeated-member")
}

/// A known difference: its name, and what the producer says of a text if it is that one.
type Known = (&'static str, fn(&str) -> Option<Value>);

const KNOWN: [Known; 5] = [
    ("known: the last of repeated members counts", |text| {
        repeats(text).then(|| contract(&reread(text).map_or_else(String::new, |value| value.to_string())))
    }),
    ("known: a number that the parser rounds", |text| {
        (!repeats(text)).then(|| contract(&reread(text).map_or_else(String::new, |value| value.to_string())))
    }),
    ("known: digits of other scripts in a date-time", |text| Some(contract(&with(text, "schedule_at", ascii)))),
    ("known: a job name trimmed before it is measured", |text| {
        Some(contract(&with(text, "job_name", |name| name.trim().to_owned())))
    }),
    ("known: a job name with a NUL", |text| {
        reread(text)?["job_name"].as_str()?.trim().contains('\0').then_some(Value::Null)
    }),
];

#[test]
fn the_oracle_and_the_producers_serializer_agree_but_for_the_known_differences() {
    let vectors = generate(2026, 2 * LEAST + 10_000).into_iter().filter(|vector| vector.question == question());
    let texts: Vec<_> = vectors.map(|vector| vector.input).collect();
    assert!(texts.len() >= LEAST, "{}", texts.len());
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut unknown = Vec::new();
    for (text, theirs) in texts.iter().zip(producer(&texts)) {
        let ours = contract(text);
        if ours == theirs {
            *counts.entry(if ours.is_null() { "both refuse" } else { "both accept, alike" }).or_default() += 1;
            continue;
        }
        match KNOWN.iter().find(|(_, producer)| producer(text).as_ref() == Some(&theirs)) {
            Some((name, _)) => *counts.entry(name).or_default() += 1,
            None => unknown.push(format!("{text}\n  ours {ours}\n  theirs {theirs}")),
        }
    }
    println!("{counts:#?}");
    let shown = unknown[..unknown.len().min(20)].join("\n");
    assert!(unknown.is_empty(), "{} of {}:\n{shown}", unknown.len(), texts.len());
    // None of the known differences has gone.
    let names: Vec<_> = counts.into_keys().collect();
    let mut expected: Vec<_> =
        KNOWN.iter().map(|(name, _)| *name).chain(["both accept, alike", "both refuse"]).collect();
    expected.sort_unstable();
    assert_eq!(names, expected);
}
