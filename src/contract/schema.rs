//! The subset of JSON Schema (draft 2020-12) that a bridge-v1 manifest may use, typed: read, written and evaluated here.
//!
//! `date-time` and `integer` follow the contract's own rules ([`super::datetime`], [`super::number`]); equality and
//! bounds are exact.

mod evaluate;
mod read;
mod write;

use super::json::Json;
use super::number::Number;

/// A schema.
#[derive(Clone, Debug, PartialEq)]
pub enum Schema {
    /// `true` lets everything through, `false` nothing.
    Bool(bool),
    /// An object of keywords.
    Keywords(Box<Keywords>),
}

/// A type of JSON Schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Type {
    Null,
    Boolean,
    Integer,
    Number,
    String,
    Array,
    Object,
}

impl Type {
    const ALL: [Type; 7] =
        [Type::Null, Type::Boolean, Type::Integer, Type::Number, Type::String, Type::Array, Type::Object];

    /// Its name in a schema.
    pub fn name(self) -> &'static str {
        match self {
            Type::Null => "null",
            Type::Boolean => "boolean",
            Type::Integer => "integer",
            Type::Number => "number",
            Type::String => "string",
            Type::Array => "array",
            Type::Object => "object",
        }
    }
}

/// The keywords of a schema; each is absent unless said.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs)]
pub struct Keywords {
    /// One type, or a list; empty for none.
    pub types: Vec<Type>,
    /// `type` is written as a list.
    pub types_listed: bool,
    pub title: Option<String>,
    pub description: Option<String>,
    pub default: Option<Json>,
    pub examples: Option<Vec<Json>>,
    pub deprecated: Option<bool>,
    pub read_only: Option<bool>,
    pub write_only: Option<bool>,
    pub enumeration: Option<Vec<Json>>,
    pub constant: Option<Json>,
    /// `format` is `date-time`.
    pub date_time: bool,
    pub minimum: Option<Number>,
    pub maximum: Option<Number>,
    pub exclusive_minimum: Option<Number>,
    pub exclusive_maximum: Option<Number>,
    pub multiple_of: Option<Number>,
    pub min_length: Option<u64>,
    pub max_length: Option<u64>,
    pub min_items: Option<u64>,
    pub max_items: Option<u64>,
    pub unique_items: Option<bool>,
    pub items: Option<Schema>,
    pub additional_properties: Option<Schema>,
    pub required: Option<Vec<String>>,
    pub min_properties: Option<u64>,
    pub max_properties: Option<u64>,
    pub property_names: Option<Schema>,
    pub properties: Option<Properties>,
}

/// The properties of an object, in the order they were written, found by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Properties {
    list: Vec<(String, Schema)>,
    index: std::collections::HashMap<String, usize>,
}

impl Properties {
    fn get(&self, name: &str) -> Option<&Schema> {
        // A handful is looked through sooner than hashed.
        if self.list.len() < 8 {
            return self.list.iter().find(|(known, _)| known == name).map(|(_, schema)| schema);
        }
        self.index.get(name).map(|&index| &self.list[index].1)
    }

    /// Names and schemas, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Schema)> {
        self.list.iter().map(|(name, schema)| (name.as_str(), schema))
    }
}

impl FromIterator<(String, Schema)> for Properties {
    fn from_iter<T: IntoIterator<Item = (String, Schema)>>(properties: T) -> Self {
        let list: Vec<_> = properties.into_iter().collect();
        let index = list.iter().enumerate().map(|(index, (name, _))| (name.clone(), index)).collect();
        Properties { list, index }
    }
}

impl Schema {
    /// The keywords, if there are any.
    pub fn keywords(&self) -> Option<&Keywords> {
        match self {
            Schema::Keywords(keywords) => Some(keywords),
            Schema::Bool(_) => None,
        }
    }
}

impl Keywords {
    /// The schema that a member of that name is held against.
    pub(super) fn schema_of(&self, name: &str) -> Option<&Schema> {
        let named = self.properties.as_ref().and_then(|properties| properties.get(name));
        named.or(self.additional_properties.as_ref())
    }
}

impl From<Keywords> for Schema {
    fn from(keywords: Keywords) -> Self {
        Schema::Keywords(Box::new(keywords))
    }
}

#[cfg(test)]
mod tests;
