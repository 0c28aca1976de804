//! A schema from its JSON. Whatever is outside the subset, or no schema at all, is a reason.

use std::collections::HashSet;

use super::super::json::Json;
use super::super::number::Number;
use super::super::reason::{Reasons, Step, quoted, shown};
use super::{Keywords, Schema, Type};

impl Schema {
    /// Reads a schema of the subset. What has a reason is left out of the result.
    pub(in super::super) fn read<'a>(value: &'a Json, reasons: &mut Reasons<'a>) -> Schema {
        match value {
            Json::Bool(value) => Schema::Bool(*value),
            Json::Object(members) => {
                let mut keywords = Keywords::default();
                for (name, value) in members {
                    reasons.at(Step::Name(name), |reasons| keywords.read(name, value, reasons));
                }
                keywords.require_one_scalar_domain(reasons);
                keywords.into()
            }
            other => {
                reasons.add("schema", "an object of keywords, or true or false", shown(other));
                Schema::Bool(true)
            }
        }
    }
}

impl Keywords {
    fn read<'a>(&mut self, name: &str, value: &'a Json, reasons: &mut Reasons<'a>) {
        match name {
            "type" => (self.types, self.types_listed) = types(value, reasons),
            "title" => self.title = text(value, reasons),
            "description" => self.description = text(value, reasons),
            "default" => self.default = Some(value.clone()),
            "examples" => self.examples = list(value, reasons).map(<[Json]>::to_vec),
            "deprecated" => self.deprecated = flag(value, reasons),
            "readOnly" => self.read_only = flag(value, reasons),
            "writeOnly" => self.write_only = flag(value, reasons),
            "enum" => self.enumeration = list(value, reasons).map(<[Json]>::to_vec),
            "const" => self.constant = Some(value.clone()),
            "format" => {
                self.date_time = matches!(value, Json::String(name) if name == "date-time");
                if !self.date_time {
                    reasons.add("format", "\"date-time\", the only one of bridge v1", shown(value));
                }
            }
            "minimum" => self.minimum = bound(value, reasons),
            "maximum" => self.maximum = bound(value, reasons),
            "exclusiveMinimum" => self.exclusive_minimum = bound(value, reasons),
            "exclusiveMaximum" => self.exclusive_maximum = bound(value, reasons),
            "multipleOf" => {
                self.multiple_of = bound(value, reasons);
                if let Some(divisor) = &self.multiple_of
                    && Number::from(0).is_multiple_of(divisor).is_none()
                {
                    reasons.add("schema", "a number above 0 of at most 19 significant digits", shown(value));
                }
            }
            "minLength" => self.min_length = size(value, reasons),
            "maxLength" => self.max_length = size(value, reasons),
            "minItems" => self.min_items = size(value, reasons),
            "maxItems" => self.max_items = size(value, reasons),
            "minProperties" => self.min_properties = size(value, reasons),
            "maxProperties" => self.max_properties = size(value, reasons),
            "uniqueItems" => self.unique_items = flag(value, reasons),
            "items" => self.items = Some(Schema::read(value, reasons)),
            "propertyNames" => self.property_names = Some(Schema::read(value, reasons)),
            "additionalProperties" => self.additional_properties = Some(Schema::read(value, reasons)),
            "required" => self.required = names(value, reasons),
            "properties" => {
                let Json::Object(members) = value else {
                    return reasons.add("schema", "an object of schemas", shown(value));
                };
                let schemas = members.iter().map(|(name, value)| {
                    (name.clone(), reasons.at(Step::Name(name), |reasons| Schema::read(value, reasons)))
                });
                self.properties = Some(schemas.collect());
            }
            _ => reasons.add("keyword", "a keyword of the bridge-v1 subset", quoted(name)),
        }
    }

    fn require_one_scalar_domain(&self, reasons: &mut Reasons<'_>) {
        if self.unique_items != Some(true) {
            return;
        }
        let types = self.items.as_ref().and_then(Schema::keywords).map_or(&[][..], |items| &items.types);
        if !matches!(types, [Type::Null | Type::Boolean | Type::Integer | Type::Number | Type::String]) {
            let names: Vec<_> = types.iter().map(|kind| kind.name()).collect();
            let found = if names.is_empty() { "none".into() } else { names.join(" and ") };
            reasons.add("uniqueItems", "items of one declared scalar type", found);
        }
    }
}

fn types(value: &Json, reasons: &mut Reasons<'_>) -> (Vec<Type>, bool) {
    let named = |value: &Json| match value {
        Json::String(name) => Type::ALL.into_iter().find(|kind| kind.name() == name),
        _ => None,
    };
    let found = match value {
        Json::Array(items) if (1..=Type::ALL.len()).contains(&items.len()) => items.iter().map(named).collect(),
        Json::Array(_) => None,
        single => named(single).map(|kind| vec![kind]),
    };
    let unique = |types: &Vec<Type>| types.iter().enumerate().all(|(index, kind)| !types[..index].contains(kind));
    match found.filter(unique) {
        Some(types) => (types, matches!(value, Json::Array(_))),
        None => {
            reasons.add("schema", "a type of JSON, or a list of different ones", shown(value));
            (Vec::new(), false)
        }
    }
}

fn text(value: &Json, reasons: &mut Reasons<'_>) -> Option<String> {
    let Json::String(text) = value else {
        reasons.add("schema", "a string", shown(value));
        return None;
    };
    Some(text.clone())
}

fn flag(value: &Json, reasons: &mut Reasons<'_>) -> Option<bool> {
    let Json::Bool(flag) = value else {
        reasons.add("schema", "true or false", shown(value));
        return None;
    };
    Some(*flag)
}

fn list<'a>(value: &'a Json, reasons: &mut Reasons<'_>) -> Option<&'a [Json]> {
    let Json::Array(items) = value else {
        reasons.add("schema", "an array", shown(value));
        return None;
    };
    Some(items)
}

fn names(value: &Json, reasons: &mut Reasons<'_>) -> Option<Vec<String>> {
    let name = |item: &Json| if let Json::String(name) = item { Some(name.clone()) } else { None };
    let names: Option<Vec<_>> = if let Json::Array(items) = value { items.iter().map(name).collect() } else { None };
    let names = names.filter(|names| names.iter().collect::<HashSet<_>>().len() == names.len());
    if names.is_none() {
        reasons.add("schema", "an array of different names", shown(value));
    }
    names
}

fn bound(value: &Json, reasons: &mut Reasons<'_>) -> Option<Number> {
    let number = if let Json::Number(token) = value { Number::parse(token) } else { None };
    if number.is_none() {
        reasons.add("schema", "a number", shown(value));
    }
    number
}

fn size(value: &Json, reasons: &mut Reasons<'_>) -> Option<u64> {
    let size = match value {
        Json::Number(token) => Number::parse(token).filter(|size| size.is_integral() && !size.is_negative()),
        _ => None,
    };
    if size.is_none() {
        reasons.add("schema", "an integer of at least 0", shown(value));
    }
    // No text is as long as what does not fit.
    size.map(|size| size.to_u64().unwrap_or(u64::MAX))
}
