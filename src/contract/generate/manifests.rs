//! Manifests: small ones that keep the rules, with one of them put to the test. The published one would take an SDK many
//! times as long; it is drawn now and then.

use super::super::json::Json;
use super::super::manifest::{Effect, Manifest, Method};
use super::super::vectors::{Question, Topic};
use super::Draft;
use super::dice::Dice;
use super::mutate::mutate;
use super::values::{anything, near, number, string};

/// Keywords of JSON Schema, and near it, that are outside the subset.
const FOREIGN: [&str; 30] = [
    "$ref",
    "$defs",
    "$id",
    "$schema",
    "$anchor",
    "$comment",
    "$dynamicRef",
    "definitions",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "pattern",
    "patternProperties",
    "prefixItems",
    "contains",
    "minContains",
    "dependentSchemas",
    "dependentRequired",
    "dependencies",
    "unevaluatedItems",
    "unevaluatedProperties",
    "additionalItems",
    "contentEncoding",
    "contentSchema",
    "nullable",
    "Type",
];

pub(super) fn draft(dice: &mut Dice) -> Draft {
    let mut value = if dice.one_in(16) {
        Manifest::bridge_v1().to_json()
    } else {
        let count = 1 + dice.below(2);
        let tools = (0..count).map(|index| tool(dice, ["act", "look", "ask_2"][index])).collect();
        object(vec![("plugin", string("p")), ("schema_version", string("1")), ("tools", Json::Array(tools))])
    };
    test_one_rule(dice, &mut value);
    if dice.one_in(8) {
        mutate(dice, &mut value);
    }
    Draft { topic: Topic::Schema, question: Question::Manifest, value }
}

fn object(members: Vec<(&str, Json)>) -> Json {
    Json::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

fn tool(dice: &mut Dice, name: &str) -> Json {
    let method = dice.pick(&Method::ALL);
    let effect = match method {
        Method::Get | Method::Head => Effect::Read,
        Method::Delete => Effect::Destructive,
        _ => dice.pick(&[Effect::Write, Effect::Destructive]),
    };
    // What does not fit into a query is no rule of the contract, but one of the released SDKs.
    let unfit = dice.one_in(8);
    let hints = vec![
        ("readOnlyHint", Json::Bool(effect == Effect::Read)),
        ("destructiveHint", Json::Bool(effect == Effect::Destructive)),
        ("idempotentHint", Json::Bool(dice.one_in(2))),
        ("openWorldHint", Json::Bool(dice.one_in(2))),
    ];
    let mut members = vec![
        ("name", string(name)),
        ("title", string("t")),
        ("description", string("d")),
        ("method", string(method.name())),
        ("path", string(dice.pick(&["a/", "sync/schedule/", "x_1/~y/"]))),
        ("effect", string(effect.name())),
        ("annotations", object(hints)),
        ("inputSchema", closed(dice, method.reads() && !unfit)),
    ];
    if dice.one_in(2) {
        members.push(("outputSchema", closed(dice, false)));
    }
    object(members)
}

/// The schema of a closed object; of a read tool only with what fits into a query.
fn closed(dice: &mut Dice, query: bool) -> Json {
    let count = dice.below(3);
    let names = ["a", "b", "pattern"];
    let properties =
        (0..count).map(|index| (names[index], if query { scalar(dice) } else { schema(dice, 2) })).collect();
    let mut members = vec![
        ("type", string("object")),
        ("additionalProperties", Json::Bool(false)),
        ("properties", object(properties)),
    ];
    if dice.one_in(4) {
        members.push(("required", Json::Array(names[..count].iter().copied().map(string).collect())));
    }
    object(members)
}

fn scalar(dice: &mut Dice) -> Json {
    let mut members = match dice.below(5) {
        0 => vec![("type", string("string")), ("maxLength", number(9)), ("minLength", number(0))],
        1 => vec![("type", string("integer")), ("minimum", number(1)), ("maximum", number("9223372036854775807"))],
        2 => vec![("type", string("number")), ("exclusiveMinimum", number("0.5")), ("multipleOf", number("0.1"))],
        3 => vec![("type", string("string")), ("enum", Json::Array(vec![string("x"), string("y")]))],
        _ => vec![("type", Json::Array(vec![string("string"), string("null")])), ("format", string("date-time"))],
    };
    if dice.one_in(4) {
        members.push(annotation(dice));
    }
    object(members)
}

fn annotation(dice: &mut Dice) -> (&'static str, Json) {
    match dice.below(7) {
        0 => ("title", string("t")),
        1 => ("description", string("d")),
        2 => ("default", Json::Null),
        3 => ("examples", Json::Array(vec![number(7)])),
        4 => ("deprecated", Json::Bool(true)),
        5 => ("readOnly", Json::Bool(false)),
        _ => ("writeOnly", Json::Bool(false)),
    }
}

fn schema(dice: &mut Dice, depth: usize) -> Json {
    match dice.below(if depth == 0 { 4 } else { 7 }) {
        4 => object(vec![
            ("type", string("array")),
            ("items", schema(dice, depth - 1)),
            ("minItems", number(1)),
            ("maxItems", number(3)),
        ]),
        5 => object(vec![
            ("type", string("object")),
            ("properties", object(vec![("c", schema(dice, depth - 1))])),
            ("additionalProperties", schema(dice, depth - 1)),
            ("propertyNames", object(vec![("maxLength", number(5))])),
            ("minProperties", number(0)),
            ("maxProperties", number(2)),
        ]),
        6 => object(vec![("type", string("array")), ("uniqueItems", Json::Bool(true)), ("items", scalar_domain(dice))]),
        _ => scalar(dice),
    }
}

fn scalar_domain(dice: &mut Dice) -> Json {
    object(vec![("type", string(dice.pick(&["string", "integer", "number", "boolean", "null"])))])
}

/// A member of an object; put there if it is missing.
fn member<'a>(value: &'a mut Json, name: &str) -> Option<&'a mut Json> {
    let Json::Object(members) = value else { return None };
    if !members.iter().any(|(found, _)| found == name) {
        members.push((name.to_owned(), Json::Null));
    }
    members.iter_mut().find(|(found, _)| found == name).map(|(_, value)| value)
}

fn set(value: &mut Json, name: &str, to: Json) {
    if let Some(place) = member(value, name) {
        *place = to;
    }
}

fn remove(value: &mut Json, name: &str) {
    if let Json::Object(members) = value {
        members.retain(|(found, _)| found != name);
    }
}

fn test_one_rule(dice: &mut Dice, manifest: &mut Json) {
    let rule = dice.below(24);
    if rule < 3 {
        return test_document(dice, manifest);
    }
    let Some(Json::Array(tools)) = member(manifest, "tools") else { return };
    let place = dice.below(tools.len());
    if rule == 3 {
        let again = tools[place].clone();
        return tools.push(again);
    }
    let tool = &mut tools[place];
    match rule {
        4..8 => set(tool, "path", string(path(dice))),
        8..11 => test_agreement(dice, tool),
        11 => test_prose(dice, tool),
        12 => match dice.below(3) {
            0 => remove(tool, dice.pick(&["name", "title", "description", "method", "path", "effect", "annotations"])),
            1 => set(tool, dice.pick(&["name", "title", "method", "path", "effect", "annotations"]), anything(dice)),
            _ => set(tool, dice.pick(&["url", "headers", "outputschema", "input_schema"]), anything(dice)),
        },
        13..15 => test_spelling(dice, tool),
        15 | 16 => test_top(dice, tool),
        _ => {
            let name = if dice.one_in(3) { "outputSchema" } else { "inputSchema" };
            let missing = matches!(member(tool, name), Some(Json::Null));
            if missing {
                set(tool, name, closed(dice, false));
            }
            if let Some(top) = member(tool, name) {
                test_schema(dice, top);
            }
        }
    }
}

fn test_document(dice: &mut Dice, manifest: &mut Json) {
    match dice.below(6) {
        0 => set(
            manifest,
            "schema_version",
            [string("2"), string("1.0"), number(1), number("1.0"), string(" 1")][dice.below(5)].clone(),
        ),
        1 => remove(manifest, dice.pick(&["plugin", "schema_version", "tools"])),
        2 => set(manifest, dice.pick(&["plugin", "tools", "schema_version"]), anything(dice)),
        3 => set(manifest, dice.pick(&["mcp", "Plugin", "version"]), anything(dice)),
        4 => set(manifest, "plugin", string(dice.pick(&["proxbox", "p-1", "p_2", " p", "p\n", "P", "p.q", "p q"]))),
        _ => {}
    }
}

fn path(dice: &mut Dice) -> String {
    let segments = ["a", "sync", "A9._~-", "...", ".a"];
    let hostile =
        ["..", ".", "", "%2e%2e", "a%2fb", "a b", "a\\b", "a?b", "a#b", "a:b", "u@h", "ä", "a\n", "\0", "a;b", "／"];
    let mut parts: Vec<_> = (0..1 + dice.below(3)).map(|_| dice.pick(&segments)).collect();
    if dice.one_in(2) {
        let place = dice.below(parts.len() + 1);
        parts.insert(place, dice.pick(&hostile));
    }
    let start = if dice.one_in(10) { dice.pick(&["/", "//", "https://h/", " "]) } else { "" };
    let end = if dice.one_in(10) { dice.pick(&["", "//", "/ ", "/\n"]) } else { "/" };
    format!("{start}{}{end}", parts.join("/"))
}

/// Method, effect and hints, each for itself.
fn test_agreement(dice: &mut Dice, tool: &mut Json) {
    let method = dice.pick(&Method::ALL);
    if dice.one_in(2) {
        set(tool, "method", string(method.name()));
        // A read tool takes what fits into a query, which is no rule of the contract.
        set(tool, "inputSchema", closed(dice, true));
    }
    if dice.one_in(2) {
        set(tool, "effect", string(dice.pick(&Effect::ALL).name()));
    }
    if dice.one_in(8) {
        set(tool, "method", string(dice.pick(&["OPTIONS", "TRACE", "CONNECT", "", "FETCH", "GET,POST"])));
    }
    if let Some(hints) = member(tool, "annotations") {
        let name = dice.pick(&["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"]);
        match dice.below(6) {
            0 => remove(hints, name),
            1 => set(hints, name, anything(dice)),
            2 => set(hints, "safeHint", Json::Bool(true)),
            3 => set(hints, name, number(dice.below(2))),
            _ => set(hints, name, Json::Bool(dice.one_in(2))),
        }
    }
}

fn test_prose(dice: &mut Dice, tool: &mut Json) {
    let (name, most) = dice.pick(&[("title", 200), ("description", 2000)]);
    let unit = dice.pick(&["x", "ä", "😀"]);
    set(tool, name, string(unit.repeat(dice.pick(&[0, 1, most - 1, most, most + 1]))));
}

/// Strings spelt as nobody should.
fn test_spelling(dice: &mut Dice, tool: &mut Json) {
    match dice.below(5) {
        0 => {
            let name = dice.pick(&["name", "title", "description", "path", "method", "effect"]);
            if let Some(Json::String(text)) = member(tool, name) {
                *text = near(dice, text);
            }
        }
        1 => set(tool, "method", string(dice.pick(&["post", "Put", " POST", "PATCH\n"]))),
        2 => set(tool, dice.pick(&["title", "description"]), string(dice.pick(&[" ", "\n\t", "  t", "t "]))),
        3 => set(tool, "name", string(dice.pick(&["Act", "act-1", "a.b", " act", "act ", "1act", "ä", "a/b"]))),
        _ => {
            let (from, to) = dice.pick(&[("inputSchema", "input_schema"), ("annotations", "Annotations")]);
            if let Json::Object(members) = tool {
                members.iter_mut().filter(|(name, _)| name == from).for_each(|member| member.0 = to.to_owned());
            }
        }
    }
}

/// The top of a schema: a closed object.
fn test_top(dice: &mut Dice, tool: &mut Json) {
    let Some(top) = member(tool, dice.pick(&["inputSchema", "outputSchema"])) else { return };
    if *top == Json::Null {
        *top = closed(dice, false);
    }
    match dice.below(8) {
        0 => set(top, "additionalProperties", Json::Bool(true)),
        1 => remove(top, "additionalProperties"),
        2 => set(top, "additionalProperties", object(vec![("type", string("string"))])),
        3 => remove(top, "type"),
        4 => set(top, "type", string(dice.pick(&["array", "string", "Object"]))),
        5 => set(top, "type", Json::Array(vec![string("object")])),
        6 => *top = anything(dice),
        _ => {}
    }
}

/// A keyword somewhere in a schema.
fn test_schema(dice: &mut Dice, top: &mut Json) {
    let mut place = top;
    // As deep as chance leads.
    for _ in 0..dice.below(3) {
        let array = matches!(&*place, Json::Object(members) if members.iter().any(|(name, _)| name == "items"));
        let below =
            if array { member(place, "items") } else { member(place, "properties").and_then(|p| member(p, "a")) };
        let Some(below) = below else { return };
        if *below == Json::Null {
            *below = schema(dice, 1);
        }
        place = below;
    }
    let (name, value) = keyword(dice);
    set(place, name, value);
}

fn keyword(dice: &mut Dice) -> (&'static str, Json) {
    let sizes = ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"];
    let bounds = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"];
    let types = ["string", "integer", "number", "boolean", "null", "array", "object"];
    match dice.below(14) {
        0..4 => (
            dice.pick(&FOREIGN),
            [string("#"), Json::Bool(true), object(vec![]), Json::Array(vec![object(vec![])])][dice.below(4)].clone(),
        ),
        4 => (
            "format",
            [string("date-time"), string("date"), string("Date-Time"), string("email"), Json::Null][dice.below(5)]
                .clone(),
        ),
        5 => (dice.pick(&sizes), number(dice.pick(&["0", "1", "9", "-1", "1.0", "1.5", "2e0", "9007199254740992"]))),
        6 => (dice.pick(&sizes), anything(dice)),
        7 => (
            dice.pick(&bounds),
            [number("0"), number("-1.5"), number("1e3"), string("1"), Json::Bool(true)][dice.below(5)].clone(),
        ),
        8 => ("multipleOf", number(dice.pick(&["1", "0.5", "0", "-1", "0.0", "1e-3"]))),
        9 => {
            let listed = (0..dice.below(3)).map(|_| string(dice.pick(&types))).collect();
            (
                "type",
                [Json::Array(listed), string(dice.pick(&types)), string("text"), Json::Null][dice.below(4)].clone(),
            )
        }
        10 => (dice.pick(&["deprecated", "readOnly", "writeOnly", "uniqueItems"]), anything(dice)),
        11 => ("uniqueItems", Json::Bool(true)),
        12 => {
            let names = ["a", "b", "a"].iter().take(1 + dice.below(3)).copied().map(string).collect();
            ("required", [Json::Array(names), string("a"), Json::Array(vec![number(1)])][dice.below(3)].clone())
        }
        _ => (
            dice.pick(&["enum", "const", "default", "examples", "title", "items", "properties", "propertyNames"]),
            anything(dice),
        ),
    }
}
