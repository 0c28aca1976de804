//! A value held against a schema.

use std::collections::HashSet;
use std::fmt::Write;

use super::super::datetime::DateTime;
use super::super::json::{Json, Lookup};
use super::super::number::{self, Number};
use super::super::reason::{Reasons, Step, quoted, shown};
use super::{Keywords, Schema, Type};

impl Schema {
    /// Adds a reason for everything in `value` that breaks the schema. Linear in the size of the value.
    pub(in super::super) fn check<'a>(&self, value: &'a Json, reasons: &mut Reasons<'a>) {
        match self {
            Schema::Bool(true) => {}
            Schema::Bool(false) => reasons.add("false", "nothing", shown(value)),
            Schema::Keywords(keywords) => keywords.check(value, reasons),
        }
    }
}

impl Type {
    fn admits(self, value: &Json) -> bool {
        match (self, value) {
            (Type::Integer, Json::Number(token)) => number::is_integer(token),
            (Type::Number, Json::Number(token)) => Number::parse(token).is_some(),
            (Type::Null, Json::Null)
            | (Type::Boolean, Json::Bool(_))
            | (Type::String, Json::String(_))
            | (Type::Array, Json::Array(_))
            | (Type::Object, Json::Object(_)) => true,
            _ => false,
        }
    }
}

impl Keywords {
    fn check<'a>(&self, value: &'a Json, reasons: &mut Reasons<'a>) {
        if !self.types.is_empty() && !self.types.iter().any(|kind| kind.admits(value)) {
            let number = matches!(value, Json::Number(_)) && self.types.contains(&Type::Integer);
            let names: Vec<_> = self.types.iter().map(|kind| kind.name()).collect();
            // A number where an integer belongs broke the integer rule.
            reasons.add(if number { "integer" } else { "type" }, names.join(" or "), shown(value));
        }
        if let Some(constant) = &self.constant
            && !same(constant, value)
        {
            reasons.add("const", shown(constant), shown(value));
        }
        if let Some(choices) = &self.enumeration
            && !choices.iter().any(|choice| same(choice, value))
        {
            let names: Vec<_> = choices.iter().map(shown).collect();
            reasons.add("enum", format!("one of {}", names.join(", ")), shown(value));
        }
        match value {
            Json::Number(token) => self.check_number(token, reasons),
            Json::String(text) => self.check_string(text, reasons),
            Json::Array(items) => self.check_array(items, reasons),
            Json::Object(members) => self.check_object(members, reasons),
            Json::Null | Json::Bool(_) => {}
        }
    }

    fn check_number(&self, token: &str, reasons: &mut Reasons<'_>) {
        let bounds = [
            ("minimum", "at least", &self.minimum, [true, true, false]),
            ("maximum", "at most", &self.maximum, [false, true, true]),
            ("exclusiveMinimum", "more than", &self.exclusive_minimum, [true, false, false]),
            ("exclusiveMaximum", "less than", &self.exclusive_maximum, [false, false, true]),
        ];
        if bounds.iter().all(|(_, _, bound, _)| bound.is_none()) && self.multiple_of.is_none() {
            return;
        }
        let Some(value) = Number::parse(token) else { return };
        let found = || shown(&Json::Number(token.to_owned()));
        for (rule, words, bound, [above, equal, below]) in bounds {
            let Some(bound) = bound else { continue };
            let holds = match value.cmp(bound) {
                std::cmp::Ordering::Greater => above,
                std::cmp::Ordering::Equal => equal,
                std::cmp::Ordering::Less => below,
            };
            if !holds {
                reasons.add(rule, format!("{words} {bound}"), found());
            }
        }
        if let Some(divisor) = &self.multiple_of
            && value.is_multiple_of(divisor) != Some(true)
        {
            reasons.add("multipleOf", format!("a multiple of {divisor}"), found());
        }
    }

    fn check_string(&self, text: &str, reasons: &mut Reasons<'_>) {
        if self.min_length.is_some() || self.max_length.is_some() {
            let length = text.chars().count();
            count(reasons, ("minLength", self.min_length), ("maxLength", self.max_length), length, "characters");
        }
        if self.date_time
            && let Err(error) = DateTime::parse(text)
        {
            reasons.add("date-time", format!("a date-time ({error})"), quoted(text));
        }
    }

    fn check_array<'a>(&self, items: &'a [Json], reasons: &mut Reasons<'a>) {
        count(reasons, ("minItems", self.min_items), ("maxItems", self.max_items), items.len(), "items");
        if self.unique_items == Some(true) {
            let mut seen = HashSet::with_capacity(items.len());
            for (index, item) in items.iter().enumerate() {
                if !seen.insert(canonical(item)) {
                    reasons.at(Step::Index(index), |reasons| {
                        reasons.add("uniqueItems", "a value that is not there already", shown(item));
                    });
                }
            }
        }
        if let Some(schema) = &self.items {
            for (index, item) in items.iter().enumerate() {
                reasons.at(Step::Index(index), |reasons| schema.check(item, reasons));
            }
        }
    }

    fn check_object<'a>(&self, members: &'a [(String, Json)], reasons: &mut Reasons<'a>) {
        let bounds = [("minProperties", self.min_properties), ("maxProperties", self.max_properties)];
        count(reasons, bounds[0], bounds[1], members.len(), "members");
        if let Some(required) = &self.required {
            let present = Lookup::new(members);
            for name in required.iter().filter(|name| present.get(name).is_none()) {
                reasons.add("required", format!("the member {}", quoted(name)), "none");
            }
        }
        for (name, value) in members {
            reasons.at(Step::Name(name), |reasons| {
                if let Some(names) = &self.property_names
                    && !names.admits(&Json::String(name.clone()))
                {
                    reasons.add("propertyNames", "a name that the schema of names admits", quoted(name));
                }
                match self.schema_of(name) {
                    Some(Schema::Bool(false)) => reasons.add("additionalProperties", "no such member", shown(value)),
                    Some(schema) => schema.check(value, reasons),
                    None => {}
                }
            });
        }
    }
}

impl Schema {
    fn admits(&self, value: &Json) -> bool {
        let mut reasons = Reasons::default();
        self.check(value, &mut reasons);
        reasons.is_empty()
    }
}

fn count(
    reasons: &mut Reasons<'_>,
    (least_rule, least): (&'static str, Option<u64>),
    (most_rule, most): (&'static str, Option<u64>),
    found: usize,
    what: &str,
) {
    let found = u64::try_from(found).unwrap_or(u64::MAX);
    if let Some(least) = least.filter(|&least| found < least) {
        reasons.add(least_rule, format!("at least {least} {what}"), found.to_string());
    }
    if let Some(most) = most.filter(|&most| found > most) {
        reasons.add(most_rule, format!("at most {most} {what}"), found.to_string());
    }
}

/// Equality of JSON Schema: numbers by value, `true` and 1 different, members in any order.
fn same(left: &Json, right: &Json) -> bool {
    match (left, right) {
        (Json::String(left), Json::String(right)) => left == right,
        (Json::Bool(left), Json::Bool(right)) => left == right,
        _ => std::mem::discriminant(left) == std::mem::discriminant(right) && canonical(left) == canonical(right),
    }
}

/// A text that two values share exactly if they are the same.
fn canonical(value: &Json) -> String {
    let mut text = String::new();
    write_canonical(value, &mut text);
    text
}

fn write_canonical(value: &Json, text: &mut String) {
    // Writing to a string cannot fail.
    let _ = match value {
        Json::Number(token) => match Number::parse(token) {
            Some(number) => write!(text, "{number}"),
            None => write!(text, "{token}"),
        },
        Json::Array(items) => {
            text.push('[');
            for item in items {
                write_canonical(item, text);
                text.push(',');
            }
            write!(text, "]")
        }
        Json::Object(members) => {
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_by(|left, right| left.0.cmp(&right.0));
            text.push('{');
            for (name, value) in sorted {
                let _ = write!(text, "{name:?}:");
                write_canonical(value, text);
                text.push(',');
            }
            write!(text, "}}")
        }
        scalar => write!(text, "{scalar}"),
    };
}
