//! The activation record and its file, as far as the public interface goes.

mod record;
mod target;

pub const BLOCKED: &str = r#"{
  "schema_version": 1,
  "state": "blocked",
  "expected_version": null,
  "expected_commit": null,
  "module_origin": "netbox_sdk/plugin_bridge.py",
  "required_contracts": [
    "lossless-json-integer-identity",
    "bounded-rfc3339-normalization"
  ],
  "reason": "Nothing was proven yet."
}
"#;

pub const ACTIVE: &str = r#"{
  "schema_version": 1,
  "state": "active",
  "expected_version": "1.0rc1",
  "expected_commit": "0123456789abcdef0123456789abcdef01234567",
  "module_origin": "netbox_sdk/plugin_bridge.py",
  "required_contracts": [
    "lossless-json-integer-identity",
    "bounded-rfc3339-normalization"
  ],
  "reason": "Says \"so\" — \\ in any words."
}
"#;
