//! The record as a JSON Schema. Stricter than a schema can be is [`Record::parse`](super::Record::parse): no member twice
//! or out of order, no byte order mark.

use schemars::JsonSchema;

/// An activation record, schema version 1.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, tag = "state", rename_all = "kebab-case")]
#[allow(dead_code)] // Only its schema is wanted.
enum Record {
    /// No SDK is exposed.
    Blocked {
        #[schemars(extend("const" = 1))]
        schema_version: u8,
        expected_version: (),
        expected_commit: (),
        #[schemars(extend("const" = "netbox_sdk/plugin_bridge.py"))]
        module_origin: String,
        required_contracts: Contracts,
        reason: String,
    },
    /// Exactly this one is.
    Active {
        #[schemars(extend("const" = 1))]
        schema_version: u8,
        /// One exact release (PEP 440), as spelled.
        #[schemars(length(min = 1, max = 100))]
        expected_version: String,
        #[schemars(regex(pattern = "^[0-9a-f]{40}$"))]
        expected_commit: String,
        #[schemars(extend("const" = "netbox_sdk/plugin_bridge.py"))]
        module_origin: String,
        required_contracts: Contracts,
        reason: String,
    },
}

/// Both, in this order.
#[derive(JsonSchema)]
#[schemars(extend("const" = ["lossless-json-integer-identity", "bounded-rfc3339-normalization"]))]
#[allow(dead_code)]
struct Contracts(Vec<String>);

/// The JSON Schema (draft 2020-12) that every record satisfies.
pub fn json_schema() -> schemars::Schema {
    schemars::generate::SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<Record>()
}

#[cfg(test)]
mod tests {
    use crate::activation::Record;
    use crate::contract::Contract;
    use serde_json::{Value, json};

    #[test]
    fn the_schema_accepts_what_is_written_and_refuses_what_is_none() {
        let schema = super::json_schema().to_value();
        let validator = jsonschema::validator_for(&schema).unwrap();
        let blocked = Record::blocked(Contract::bridge_v1(), "Not yet.").to_bytes();
        let blocked: Value = serde_json::from_slice(&blocked).unwrap();
        assert!(validator.is_valid(&blocked));
        let mut active = blocked.clone();
        active["state"] = "active".into();
        assert!(!validator.is_valid(&active), "without an identity");
        active["expected_version"] = "0.0.13".into();
        active["expected_commit"] = "1".repeat(40).into();
        assert!(validator.is_valid(&active));
        for (member, value) in [
            ("schema_version", json!(2)),
            ("state", json!("open")),
            ("expected_version", Value::Null),
            ("expected_commit", json!("A".repeat(40))),
            ("module_origin", json!("other.py")),
            ("required_contracts", json!(["bounded-rfc3339-normalization", "lossless-json-integer-identity"])),
            ("reason", json!(1)),
            ("more", json!(1)),
        ] {
            let mut wrong = active.clone();
            wrong[member] = value;
            assert!(!validator.is_valid(&wrong), "{member}");
        }
    }
}
