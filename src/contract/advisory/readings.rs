//! What the released SDKs make of an input, one difference each.

use super::super::generate::{FOREIGN_ZEROS, nodes};
use super::super::json::Json;
use super::super::reason::Reasons;
use super::super::schema::Schema;
use super::super::vectors::Question;
use super::Reading;

const SCALARS: [&str; 5] = ["string", "integer", "number", "boolean", "null"];

/// A manifest of one writing tool, whose other members these are.
macro_rules! tool {
    ($members:literal) => {
        concat!(
            r#"{"plugin":"p","schema_version":"1","tools":[{"effect":"write","annotations":{"readOnlyHint":false,"#,
            r#""destructiveHint":false,"idempotentHint":true,"openWorldHint":true},"#,
            $members,
            "}]}"
        )
    };
}
pub(super) use tool;

/// Arguments of 10,001 values: the object, two arrays, one stage and the ids.
pub(super) const MANY_IDS: &str = {
    #[allow(clippy::large_const_arrays, reason = "it is read once, by the compiler")]
    const BYTES: [u8; MANY_IDS_LENGTH] = many_ids();
    match std::str::from_utf8(&BYTES) {
        Ok(text) => text,
        Err(_) => "",
    }
};

const MANY_IDS_HEAD: &[u8] = br#"{"sync_stages":["sdn"],"proxmox_endpoint_ids":["#;
const MANY_IDS_COUNT: usize = 9_997;
const MANY_IDS_LENGTH: usize = MANY_IDS_HEAD.len() + MANY_IDS_COUNT * 6 - 1 + 2;

/// Ids of five digits each, from 10,000 on.
const fn many_ids() -> [u8; MANY_IDS_LENGTH] {
    let mut text = [b','; MANY_IDS_LENGTH];
    let mut at = 0;
    while at < MANY_IDS_HEAD.len() {
        text[at] = MANY_IDS_HEAD[at];
        at += 1;
    }
    let mut id = 10_000;
    while id < 10_000 + MANY_IDS_COUNT {
        let mut place = 10_000;
        while place > 0 {
            text[at] = b'0' + (id / place % 10) as u8;
            at += 1;
            place /= 10;
        }
        at += 1;
        id += 1;
    }
    text[at - 1] = b']';
    text[at] = b'}';
    text
}

fn changed(changed: bool) -> Reading {
    if changed { Reading::Otherwise } else { Reading::AsIs }
}

fn refused(refused: bool) -> Reading {
    if refused { Reading::Refused } else { Reading::AsIs }
}

/// Changes every node from the inside out; whether any of them changed.
fn every(value: &mut Json, change: &mut impl FnMut(&mut Json) -> bool) -> bool {
    let mut any = false;
    match value {
        Json::Array(items) => items.iter_mut().for_each(|item| any |= every(item, change)),
        Json::Object(members) => members.iter_mut().for_each(|(_, item)| any |= every(item, change)),
        _ => {}
    }
    change(value) || any
}

pub(super) fn last_member_counts(_: &Question, value: &mut Json) -> Reading {
    changed(every(value, &mut |node| {
        let Json::Object(members) = node else { return false };
        let before = members.len();
        let mut seen = std::collections::HashSet::new();
        members.reverse();
        members.retain(|(name, _)| seen.insert(name.clone()));
        members.reverse();
        members.len() < before
    }))
}

pub(super) fn rounded_to_a_double(_: &Question, value: &mut Json) -> Reading {
    changed(every(value, &mut |node| {
        let Json::Number(token) = node else { return false };
        let Some(double) = token.contains(['.', 'e', 'E']).then(|| token.parse::<f64>().ok()).flatten() else {
            return false;
        };
        let read = match double {
            _ if double.is_infinite() => if double > 0.0 { "Infinity" } else { "-Infinity" }.to_owned(),
            // The exact value of an integral double; of others the shortest spelling is as good.
            _ if double.fract() == 0.0 => format!("{double:.1}"),
            _ => format!("{double:?}"),
        };
        let other = read != *token;
        *token = read;
        other
    }))
}

pub(super) fn foreign_fraction_digits(question: &Question, value: &mut Json) -> Reading {
    if *question == Question::Manifest {
        return Reading::AsIs;
    }
    changed(every(value, &mut |node| {
        let Json::String(text) = node else { return false };
        let Some((head, fraction)) = text.split_once('.') else { return false };
        // Only within the one run of digits: what follows is read digit by digit again.
        let digits = fraction.chars().take_while(|c| c.is_ascii_digit() || is_foreign_digit(*c)).count();
        let mut other = false;
        let read = fraction.chars().enumerate().map(|(place, c)| {
            let foreign = (6..digits).contains(&place) && is_foreign_digit(c);
            other |= foreign;
            if foreign { '0' } else { c }
        });
        let read = format!("{head}.{}", read.collect::<String>());
        *text = read;
        other
    }))
}

/// A decimal digit of a script that the generator writes.
fn is_foreign_digit(c: char) -> bool {
    FOREIGN_ZEROS.iter().any(|zero| (c as u32).wrapping_sub(*zero as u32) < 10)
}

pub(super) fn payload_bounds(question: &Question, value: &mut Json) -> Reading {
    refused(*question != Question::Manifest && (nodes(value) > 10_000 || value.to_string().len() > 262_144))
}

fn depth(value: &Json) -> usize {
    match value {
        Json::Array(items) => items.iter().map(|item| 1 + depth(item)).max().unwrap_or(0),
        Json::Object(members) => members.iter().map(|(_, value)| 1 + depth(value)).max().unwrap_or(0),
        _ => 0,
    }
}

fn member<'a>(value: &'a mut Json, name: &str) -> Option<&'a mut Json> {
    let Json::Object(members) = value else { return None };
    members.iter_mut().find(|(found, _)| found == name).map(|(_, value)| value)
}

fn tools<'a>(question: &Question, manifest: &'a mut Json) -> &'a mut [Json] {
    match (question, member(manifest, "tools")) {
        (Question::Manifest, Some(Json::Array(tools))) => tools,
        _ => &mut [],
    }
}

pub(super) fn member_names_of_python(question: &Question, value: &mut Json) -> Reading {
    let mut other = false;
    let mut rename = |object: &mut Json, names: &[(&str, &str)]| {
        let Json::Object(members) = object else { return };
        for (python, published) in names {
            if !members.iter().any(|(name, _)| name == published) {
                for member in members.iter_mut().filter(|(name, _)| name == python) {
                    member.0 = (*published).to_owned();
                    other = true;
                }
            }
        }
    };
    for tool in tools(question, value) {
        rename(tool, &[("input_schema", "inputSchema"), ("output_schema", "outputSchema")]);
        if let Some(hints) = member(tool, "annotations") {
            let hint_names = [
                ("read_only_hint", "readOnlyHint"),
                ("destructive_hint", "destructiveHint"),
                ("idempotent_hint", "idempotentHint"),
                ("open_world_hint", "openWorldHint"),
            ];
            rename(hints, &hint_names);
        }
    }
    changed(other)
}

pub(super) fn trimmed_strings(question: &Question, value: &mut Json) -> Reading {
    let mut other = false;
    let mut trim = |value: Option<&mut Json>| {
        if let Some(Json::String(text)) = value
            && text.trim() != text
        {
            *text = text.trim().to_owned();
            other = true;
        }
    };
    if *question == Question::Manifest {
        trim(member(value, "plugin"));
    }
    for tool in tools(question, value) {
        for name in ["name", "title", "description", "path", "method"] {
            trim(member(tool, name));
        }
    }
    changed(other)
}

pub(super) fn method_case(question: &Question, value: &mut Json) -> Reading {
    let mut other = false;
    for tool in tools(question, value) {
        if let Some(Json::String(method)) = member(tool, "method") {
            let upper = method.to_uppercase();
            other |= upper != *method;
            *method = upper;
        }
    }
    changed(other)
}

pub(super) fn open_output_schema(question: &Question, value: &mut Json) -> Reading {
    let mut other = false;
    for tool in tools(question, value) {
        if let Some(schema @ Json::Object(_)) = member(tool, "outputSchema") {
            let mut reasons = Reasons::default();
            Schema::read(schema, &mut reasons);
            if reasons.is_empty() {
                let closed = Json::Object(vec![
                    ("type".into(), Json::String("object".into())),
                    ("additionalProperties".into(), Json::Bool(false)),
                ]);
                other |= *schema != closed;
                *schema = closed;
            }
        }
    }
    changed(other)
}

pub(super) fn descriptor_bounds(question: &Question, value: &mut Json) -> Reading {
    let identifier = |value: Option<&mut Json>, first: fn(u8) -> bool, rest: &[u8]| match value {
        Some(Json::String(name)) => {
            let lower = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
            let plain = |byte: u8| lower(byte) || rest.contains(&byte);
            name.len() <= 64 && name.bytes().next().is_some_and(first) && name.bytes().all(plain)
        }
        _ => true,
    };
    if *question != Question::Manifest {
        return Reading::AsIs;
    }
    let plugin = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let mut outside = !identifier(member(value, "plugin"), plugin, b"_-");
    let tools = tools(question, value);
    outside |= tools.len() > 64;
    for tool in tools {
        outside |= !identifier(member(tool, "name"), |byte| byte.is_ascii_lowercase(), b"_");
        outside |= matches!(member(tool, "path"), Some(Json::String(path)) if path.chars().count() > 1024);
        for name in ["inputSchema", "outputSchema"] {
            if let Some(schema) = member(tool, name) {
                outside |= depth(schema) > 16 || nodes(schema) > 2048 || schema.to_string().len() > 65_536;
            }
        }
    }
    refused(outside)
}

pub(super) fn query_encodable(question: &Question, value: &mut Json) -> Reading {
    let mut outside = false;
    for tool in tools(question, value) {
        if matches!(member(tool, "method"), Some(Json::String(method)) if method == "GET" || method == "HEAD")
            && let Some(properties) = member(tool, "inputSchema").and_then(|schema| member(schema, "properties"))
        {
            outside |= match properties {
                Json::Object(members) => !members.iter_mut().all(|(_, schema)| fits_a_query(schema)),
                _ => true,
            };
        }
    }
    refused(outside)
}

fn fits_a_query(schema: &mut Json) -> bool {
    let types = declared(schema);
    if !types.is_empty() && types.iter().all(|name| SCALARS.contains(&name.as_str())) {
        return true;
    }
    let array = types.iter().any(|name| name == "array") && types.iter().all(|name| name == "array" || name == "null");
    let items = member(schema, "items").map(declared).unwrap_or_default();
    array && !items.is_empty() && items.iter().all(|name| SCALARS.contains(&name.as_str()))
}

fn declared(schema: &mut Json) -> Vec<String> {
    let name = |value: &Json| if let Json::String(name) = value { Some(name.clone()) } else { None };
    match member(schema, "type") {
        Some(Json::Array(types)) => types.iter().map(name).collect::<Option<_>>().unwrap_or_default(),
        Some(single) => name(single).into_iter().collect(),
        None => Vec::new(),
    }
}
