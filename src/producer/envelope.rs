//! Why arguments were refused, field by field, as the REST API says it.

use std::collections::BTreeMap;

use serde_json::json;

use super::TOOL;
use super::http::Reply;
use crate::contract::json::{Json, Lookup};
use crate::contract::{Judgement, Oracle};

/// Where messages stand that belong to no field.
const NO_FIELD: &str = "non_field_errors";

pub(super) fn refusal(judgement: &Judgement, text: &str) -> Reply {
    let mut errors = BTreeMap::<String, Vec<String>>::new();
    for name in missing(text) {
        errors.entry(name).or_default().push("This field is required.".into());
    }
    for reason in &judgement.reasons {
        let (field, below) = match reason.pointer.strip_prefix('/') {
            None if reason.rule == "required" => continue,
            None => (NO_FIELD.to_owned(), String::new()),
            Some(path) => {
                let (field, below) = path.split_once('/').unwrap_or((path, ""));
                let place = if below.is_empty() { String::new() } else { format!("/{below}: ") };
                (field.replace("~1", "/").replace("~0", "~"), place)
            }
        };
        let message = format!("{below}expected {}, found {}", reason.expected, reason.found);
        errors.entry(field).or_default().push(message);
    }
    Reply::json(400, &json!({ "errors": errors }))
}

/// The required members that an object lacks.
fn missing(text: &str) -> Vec<String> {
    let tool = Oracle::bridge_v1().manifest().tool(TOOL);
    let required = tool.and_then(|tool| tool.input.keywords()).and_then(|keywords| keywords.required.as_ref());
    match (Json::parse(text), required) {
        (Ok(Json::Object(members)), Some(required)) => {
            let present = Lookup::new(&members);
            required.iter().filter(|name| present.get(name).is_none()).cloned().collect()
        }
        _ => Vec::new(),
    }
}
