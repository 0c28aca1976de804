//! A schema as JSON, its keywords in one order.

use super::super::json::Json;
use super::super::number::Number;
use super::{Keywords, Schema};

impl Schema {
    /// The schema as JSON.
    pub fn to_json(&self) -> Json {
        match self {
            Schema::Bool(value) => Json::Bool(*value),
            Schema::Keywords(keywords) => keywords.to_json(),
        }
    }
}

impl Keywords {
    fn to_json(&self) -> Json {
        let types = || self.types.iter().map(|kind| string(kind.name())).collect();
        let type_member = match &self.types[..] {
            [] => None,
            [kind] if !self.types_listed => Some(string(kind.name())),
            _ => Some(Json::Array(types())),
        };
        let flag = |flag: Option<bool>| flag.map(Json::Bool);
        let size = |size: Option<u64>| size.map(|size| Json::Number(size.to_string()));
        let bound = |bound: &Option<Number>| bound.as_ref().map(|bound| Json::Number(bound.to_string()));
        let schema = |schema: &Option<Schema>| schema.as_ref().map(Schema::to_json);
        let text = |text: &Option<String>| text.as_deref().map(string);
        let members = [
            ("type", type_member),
            ("title", text(&self.title)),
            ("description", text(&self.description)),
            ("default", self.default.clone()),
            ("examples", self.examples.clone().map(Json::Array)),
            ("deprecated", flag(self.deprecated)),
            ("readOnly", flag(self.read_only)),
            ("writeOnly", flag(self.write_only)),
            ("enum", self.enumeration.clone().map(Json::Array)),
            ("const", self.constant.clone()),
            ("format", self.date_time.then(|| string("date-time"))),
            ("minimum", bound(&self.minimum)),
            ("maximum", bound(&self.maximum)),
            ("exclusiveMinimum", bound(&self.exclusive_minimum)),
            ("exclusiveMaximum", bound(&self.exclusive_maximum)),
            ("multipleOf", bound(&self.multiple_of)),
            ("minLength", size(self.min_length)),
            ("maxLength", size(self.max_length)),
            ("minItems", size(self.min_items)),
            ("maxItems", size(self.max_items)),
            ("uniqueItems", flag(self.unique_items)),
            ("items", schema(&self.items)),
            ("additionalProperties", schema(&self.additional_properties)),
            (
                "required",
                self.required.as_ref().map(|names| names.iter().map(|name| string(name)).collect()).map(Json::Array),
            ),
            ("minProperties", size(self.min_properties)),
            ("maxProperties", size(self.max_properties)),
            ("propertyNames", schema(&self.property_names)),
            (
                "properties",
                self.properties.as_ref().map(|properties| {
                    Json::Object(properties.iter().map(|(name, schema)| (name.to_owned(), schema.to_json())).collect())
                }),
            ),
        ];
        let present = members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        Json::Object(present.collect())
    }
}

fn string(text: &str) -> Json {
    Json::String(text.to_owned())
}
