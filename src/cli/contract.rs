//! `validate` and `manifest`: the contract for people and scripts.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use super::args::{Manifest, Payload, Validate};
use super::human::printable;
use super::output::Output;
use crate::contract::json::Json;
use crate::contract::manifest::{Difference, differences};
use crate::contract::oracle::MAX_BYTES;
use crate::contract::{Contract, Judgement, Oracle, Question, Reason, manifest};
use crate::digest::sha256;

const UNREADABLE: u8 = 3;

/// What `validate` says.
#[derive(Serialize, JsonSchema)]
pub(super) struct Validation {
    /// Always `paired-sdk-gate/validation/v1`.
    schema: &'static str,
    /// `arguments`, `response` or `manifest`.
    payload: &'static str,
    /// The tool, by its name in the manifest; null for a manifest.
    tool: Option<String>,
    /// The SHA-256 of the input's bytes.
    input_sha256: String,
    /// Whether the contract accepts it.
    accepted: bool,
    /// Every reason why not, up to a hundred.
    reasons: Vec<Reason>,
    /// How many more reasons there are.
    left_off: usize,
    /// What an accepted input comes to; a number that no double holds is a string there.
    normalised: Option<Json>,
}

/// What `manifest --check` says.
#[derive(Serialize, JsonSchema)]
pub(super) struct Comparison {
    /// Always `paired-sdk-gate/manifest-check/v1`.
    schema: &'static str,
    /// The SHA-256 of the file's bytes, prose included.
    file_sha256: String,
    /// Whether the part that carries the contract is the published one.
    equal: bool,
    /// Why the file is no manifest at all, or a different reader would see another one.
    reasons: Vec<Reason>,
    /// Every place that differs.
    differences: Vec<Difference>,
}

/// The JSON Schema (draft 2020-12) that everything of this kind satisfies.
pub(super) fn json_schema<T: JsonSchema>() -> schemars::Schema {
    schemars::generate::SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>()
}

pub(super) fn validate(options: &Validate, output: &Output) -> anyhow::Result<u8> {
    let oracle = Oracle::bridge_v1();
    let question = question(options, oracle)?;
    let bytes = match read(&options.file) {
        Ok(bytes) => bytes,
        Err(error) => return Ok(unreadable(&error, output)),
    };
    let Judgement { reasons, left_off } = oracle.judge_bytes(&question, &bytes);
    let normalised = std::str::from_utf8(&bytes).ok().and_then(|text| oracle.normalised(&question, text));
    let (payload, tool) = match question {
        Question::Arguments { tool } => ("arguments", Some(tool)),
        Question::Response { tool } => ("response", Some(tool)),
        Question::Manifest => ("manifest", None),
    };
    let accepted = normalised.is_some();
    let mut text = lines(&reasons);
    match (&normalised, left_off) {
        (Some(Json::Object(_)), _) if payload == "manifest" => text += "ACCEPTED\n",
        (Some(value), _) => text += &format!("ACCEPTED: {}\n", printable(&value.to_string())),
        (None, 0) => text += &format!("REFUSED: {}\n", counted(reasons.len(), "reason")),
        (None, more) => text += &format!("REFUSED: {} and {more} more\n", counted(reasons.len(), "reason")),
    }
    let schema = "paired-sdk-gate/validation/v1";
    let input_sha256 = sha256(&bytes);
    let validation = Validation { schema, payload, tool, input_sha256, accepted, reasons, left_off, normalised };
    output.object(&(serde_json::to_string_pretty(&validation)? + "\n"));
    output.text(if output.quiet() { last_line(&text) } else { &text });
    Ok(u8::from(!accepted))
}

fn question(options: &Validate, oracle: &Oracle) -> anyhow::Result<Question> {
    let tools = || oracle.manifest().tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>().join(" or ");
    let tool = match (&options.tool, options.payload) {
        (None, Payload::Manifest) => return Ok(Question::Manifest),
        (Some(_), Payload::Manifest) => anyhow::bail!(super::Usage("--tool does not go with a manifest".into())),
        (None, _) => anyhow::bail!(super::Usage(format!("--tool is needed: {}", tools()))),
        (Some(tool), _) if oracle.manifest().tool(tool).is_none() => {
            anyhow::bail!(super::Usage(format!("--tool: expected {}, found {tool:?}", tools())))
        }
        (Some(tool), _) => tool.clone(),
    };
    Ok(if options.payload == Payload::Arguments { Question::Arguments { tool } } else { Question::Response { tool } })
}

pub(super) fn manifest(options: &Manifest, output: &Output) -> anyhow::Result<u8> {
    let generated = manifest::Manifest::bridge_v1().to_json();
    let Some(file) = &options.check else {
        output.document(&format!("{generated:#}\n"));
        return Ok(0);
    };
    let bytes = match read(file) {
        Ok(bytes) => bytes,
        Err(error) => return Ok(unreadable(&error, output)),
    };
    // A file that differs may still be a manifest, and one that is none may still be told where it differs.
    let reasons = Oracle::bridge_v1().judge_bytes(&Question::Manifest, &bytes).reasons;
    let value = std::str::from_utf8(&bytes).ok().and_then(|text| Json::parse(text).ok());
    let differences = value.map(|value| differences(&generated, &value)).unwrap_or_default();
    let equal = reasons.is_empty() && differences.is_empty();
    let mut text = lines(&reasons);
    for Difference { pointer, expected, found } in &differences {
        text += &format!("{}: expected {}, found {}\n", printable(pointer), printable(expected), printable(found));
    }
    let places = counted(differences.len(), "difference");
    let next = "next: `paired-sdk-gate manifest` prints the contract's; take each place from there\n";
    text += &match (equal, reasons.len()) {
        (true, _) => format!("EQUAL to {} but for its prose\n", Contract::bridge_v1().name),
        (false, 0) => format!("{next}DIFFERENT: {places}\n"),
        (false, count) => {
            format!("{next}DIFFERENT: {places}, and no manifest of bridge v1: {}\n", counted(count, "reason"))
        }
    };
    let schema = "paired-sdk-gate/manifest-check/v1";
    let comparison = Comparison { schema, file_sha256: sha256(&bytes), equal, reasons, differences };
    output.object(&(serde_json::to_string_pretty(&comparison)? + "\n"));
    output.text(if output.quiet() { last_line(&text) } else { &text });
    Ok(u8::from(!equal))
}

fn lines(reasons: &[Reason]) -> String {
    reasons.iter().map(|reason| printable(&reason.to_string()) + "\n").collect()
}

fn last_line(text: &str) -> &str {
    text.split_inclusive('\n').next_back().unwrap_or_default()
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// At most what the oracle judges; `-` is standard input.
fn read(file: &Path) -> Result<Vec<u8>, String> {
    let name = file.display();
    let mut bytes = Vec::new();
    let most = u64::try_from(MAX_BYTES).unwrap_or(u64::MAX);
    let read = if file == Path::new("-") {
        std::io::stdin().lock().take(most + 1).read_to_end(&mut bytes)
    } else {
        File::open(file).and_then(|file| file.take(most + 1).read_to_end(&mut bytes))
    };
    read.map_err(|error| format!("cannot read {name}: {error}"))?;
    if bytes.len() > MAX_BYTES { Err(format!("{name} is longer than {MAX_BYTES} bytes")) } else { Ok(bytes) }
}

fn unreadable(error: &str, output: &Output) -> u8 {
    output.error(&format!("{error}\n  next: name a file with one JSON document, or `-` for standard input"));
    UNREADABLE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::Verdict;

    #[test]
    fn a_verdict_and_the_words_for_it_agree() {
        let question = Question::Arguments { tool: "schedule_sync".into() };
        for bytes in [&b"\xff"[..], b"{}", br#"{"sync_stages":["sdn"]}"#] {
            let accepted = Oracle::bridge_v1().judge_bytes(&question, bytes).verdict() == Verdict::Accept;
            let text = std::str::from_utf8(bytes).unwrap_or_default();
            assert_eq!(Oracle::bridge_v1().normalised(&question, text).is_some(), accepted);
        }
        assert_eq!((last_line("a\nb\n"), last_line("")), ("b\n", ""));
    }
}
