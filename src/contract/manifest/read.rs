//! A manifest from its JSON. Whatever breaks a rule of bridge v1 is a reason.

use std::collections::HashSet;

use super::super::json::Json;
use super::super::reason::{Reasons, Step, quoted, shown};
use super::super::schema::{Schema, Type};
use super::{Annotations, Effect, Manifest, Method, SCHEMA_VERSION, Tool};

impl Manifest {
    /// Reads a manifest; `None` only if there are reasons.
    pub(in super::super) fn read<'a>(value: &'a Json, reasons: &mut Reasons<'a>) -> Option<Manifest> {
        let ([plugin, version, tools], []) = members(value, ["plugin", "schema_version", "tools"], [], reasons)?;
        let plugin = at("plugin", plugin, reasons, |value, reasons| text(value, usize::MAX, reasons));
        if let Some(version) = version
            && !matches!(version, Json::String(text) if text == SCHEMA_VERSION)
        {
            let expected = format!("{SCHEMA_VERSION:?}");
            reasons.at(Step::Name("schema_version"), |reasons| reasons.add("schema-version", expected, shown(version)));
        }
        let tools = at("tools", tools, reasons, read_tools);
        Some(Manifest { plugin: plugin?, tools: tools? })
    }
}

fn read_tools<'a>(value: &'a Json, reasons: &mut Reasons<'a>) -> Option<Vec<Tool>> {
    let items = match value {
        Json::Array(items) if !items.is_empty() => items,
        other => {
            reasons.add("tools", "an array of at least one tool", shown(other));
            return None;
        }
    };
    let mut names = HashSet::new();
    let mut tools = Vec::new();
    for (index, item) in items.iter().enumerate() {
        reasons.at(Step::Index(index), |reasons| {
            if let Some(tool) = read_tool(item, reasons) {
                if !names.insert(tool.name.clone()) {
                    let found = quoted(&tool.name);
                    reasons.at(Step::Name("name"), |reasons| {
                        reasons.add("unique-names", "a name no other tool has", found);
                    });
                }
                tools.push(tool);
            }
        });
    }
    (tools.len() == items.len()).then_some(tools)
}

fn read_tool<'a>(value: &'a Json, reasons: &mut Reasons<'a>) -> Option<Tool> {
    let required = ["name", "title", "description", "method", "path", "effect", "annotations", "inputSchema"];
    let ([name, title, description, method, path, effect, annotations, input], [output]) =
        members(value, required, ["outputSchema"], reasons)?;
    let name = at("name", name, reasons, |value, reasons| text(value, usize::MAX, reasons));
    let title = at("title", title, reasons, |value, reasons| text(value, 200, reasons));
    let description = at("description", description, reasons, |value, reasons| text(value, 2000, reasons));
    let method = at("method", method, reasons, |value, reasons| {
        one_of("method", value, &Method::ALL.map(|method| (method.name(), method)), reasons)
    });
    let effect = at("effect", effect, reasons, |value, reasons| {
        one_of("effect", value, &Effect::ALL.map(|effect| (effect.name(), effect)), reasons)
    });
    let path = at("path", path, reasons, read_path);
    let annotations = at("annotations", annotations, reasons, read_annotations);
    let input = at("inputSchema", input, reasons, |value, reasons| Some(closed(value, reasons)));
    // A null schema of the answers is none.
    let output = match output {
        Some(value) if *value != Json::Null => {
            at("outputSchema", Some(value), reasons, |value, reasons| Some(closed(value, reasons)))
        }
        _ => None,
    };
    let (method, effect, annotations) = (method?, effect?, annotations?);
    agree(method, effect, annotations, reasons);
    Some(Tool {
        name: name?,
        title: title?,
        description: description?,
        path: path?,
        input: input?,
        method,
        effect,
        annotations,
        output,
    })
}

fn at<'a, T>(
    name: &'static str,
    value: Option<&'a Json>,
    reasons: &mut Reasons<'a>,
    read: impl FnOnce(&'a Json, &mut Reasons<'a>) -> Option<T>,
) -> Option<T> {
    reasons.at(Step::Name(name), |reasons| read(value?, reasons))
}

/// The members of a closed object: those that must be there, and those that may.
#[allow(clippy::type_complexity)]
fn members<'a, const N: usize, const M: usize>(
    value: &'a Json,
    required: [&'static str; N],
    optional: [&'static str; M],
    reasons: &mut Reasons<'a>,
) -> Option<([Option<&'a Json>; N], [Option<&'a Json>; M])> {
    let Json::Object(members) = value else {
        reasons.add("type", "object", shown(value));
        return None;
    };
    let find = |name: &str| members.iter().find(|(found, _)| found == name).map(|(_, value)| value);
    let found = required.map(find);
    for (name, _) in required.iter().zip(found).filter(|(_, value)| value.is_none()) {
        reasons.add("required", format!("the member {name:?}"), "none");
    }
    for (name, value) in members {
        if !required.contains(&name.as_str()) && !optional.contains(&name.as_str()) {
            reasons.at(Step::Name(name), |reasons| reasons.add("additionalProperties", "no such member", shown(value)));
        }
    }
    Some((found, optional.map(find)))
}

fn text(value: &Json, most: usize, reasons: &mut Reasons<'_>) -> Option<String> {
    let Json::String(text) = value else {
        reasons.add("type", "string", shown(value));
        return None;
    };
    let length = text.chars().count();
    if length == 0 {
        reasons.add("minLength", "at least 1 characters", "0");
    }
    if length > most {
        reasons.add("maxLength", format!("at most {most} characters"), length.to_string());
    }
    Some(text.clone())
}

fn one_of<T: Copy>(rule: &'static str, value: &Json, all: &[(&str, T)], reasons: &mut Reasons<'_>) -> Option<T> {
    if let Json::String(text) = value
        && let Some((_, found)) = all.iter().find(|(name, _)| name == text)
    {
        return Some(*found);
    }
    let names: Vec<_> = all.iter().map(|(name, _)| *name).collect();
    reasons.add(rule, format!("one of {}", names.join(", ")), shown(value));
    None
}

/// Relative, below the plugin's root, and spelt in the one way that nobody reads differently.
fn read_path(value: &Json, reasons: &mut Reasons<'_>) -> Option<String> {
    let Json::String(path) = value else {
        reasons.add("type", "string", shown(value));
        return None;
    };
    let foreign = path.chars().find(|c| !(c.is_ascii_alphanumeric() || "._~/-".contains(*c)));
    if let Some(c) = foreign {
        reasons.add("path", "only letters and digits of ASCII and the characters . _ ~ / -", format!("{c:?}"));
    }
    match path.strip_suffix('/') {
        None => reasons.add("path", "a path that ends in a slash", quoted(path)),
        Some(segments) => {
            if let Some(segment) = segments.split('/').find(|segment| matches!(*segment, "" | "." | "..")) {
                reasons.add("path", "a relative path without empty, . and .. segments", quoted(segment));
            }
        }
    }
    Some(path.clone())
}

fn read_annotations<'a>(value: &'a Json, reasons: &mut Reasons<'a>) -> Option<Annotations> {
    let names = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];
    let (hints, []) = members(value, names, [], reasons)?;
    let mut flags = [None; 4];
    for ((name, hint), flag) in names.into_iter().zip(hints).zip(&mut flags) {
        *flag = at(name, hint, reasons, |value, reasons| match value {
            Json::Bool(flag) => Some(*flag),
            other => {
                reasons.add("type", "boolean", shown(other));
                None
            }
        });
    }
    let [read_only, destructive, idempotent, open_world] = flags;
    Some(Annotations {
        read_only: read_only?,
        destructive: destructive?,
        idempotent: idempotent?,
        open_world: open_world?,
    })
}

/// Method, effect and hints say the same.
fn agree(method: Method, effect: Effect, annotations: Annotations, reasons: &mut Reasons<'_>) {
    let (method_name, effect_name) = (method.name(), effect.name());
    if (effect == Effect::Read) != method.reads() {
        let expected =
            if method.reads() { "\"read\" with this method" } else { "another than \"read\" with this method" };
        let found = format!("{effect_name:?} with {method_name}");
        reasons.at(Step::Name("effect"), |reasons| reasons.add("effect", expected, found));
    }
    if method == Method::Delete && effect != Effect::Destructive {
        let found = format!("{effect_name:?} with {method_name}");
        reasons.at(Step::Name("effect"), |reasons| reasons.add("effect", "\"destructive\" with DELETE", found));
    }
    let mut hint = |name, hint: bool, expected: bool| {
        if hint != expected {
            let words = format!("{expected} with the effect {effect_name:?}");
            let place = [Step::Name("annotations"), Step::Name(name)];
            let [outer, inner] = place;
            reasons
                .at(outer, |reasons| reasons.at(inner, |reasons| reasons.add("annotations", words, hint.to_string())));
        }
    };
    hint("readOnlyHint", annotations.read_only, effect == Effect::Read);
    hint("destructiveHint", annotations.destructive, effect == Effect::Destructive);
}

/// A schema that at its top is a closed object's.
fn closed<'a>(value: &'a Json, reasons: &mut Reasons<'a>) -> Schema {
    let schema = Schema::read(value, reasons);
    let keywords = schema.keywords();
    let object = keywords.is_some_and(|keywords| keywords.types == [Type::Object] && !keywords.types_listed);
    if !object {
        reasons.add("closed", "\"type\": \"object\"", "another schema");
    }
    if keywords.and_then(|keywords| keywords.additional_properties.as_ref()) != Some(&Schema::Bool(false)) {
        reasons.add("closed", "\"additionalProperties\": false", "another schema");
    }
    schema
}
