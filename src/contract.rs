//! The contract an SDK is held to: whose package it is, what its functions are called, the manifest and the vectors.
//!
//! Everything the stages know of netbox-sdk they know from here; another package is another [`Contract`].

/// A contract. Data only: the stages read it, none of them names a package of its own.
#[derive(Debug)]
pub struct Contract {
    /// Its name in reports.
    pub name: &'static str,
    /// The top-level Python package, also the folder of the inventory.
    pub package: &'static str,
    /// The module under test, a path inside the commit.
    pub module_origin: &'static str,
    /// Modules that must be loaded, and loaded from the environment.
    pub dependencies: &'static [&'static str],
    /// `module:name` of the exception class, exactly, with which the bridge's functions reject a payload.
    pub payload_rejection: &'static str,
    /// `module:name` of the exception class, exactly, with which the manifest model rejects a manifest.
    pub manifest_rejection: &'static str,
    /// The contracts an activation record must list, in its order.
    pub required_contracts: &'static [&'static str],
}

impl Contract {
    /// The contract of the Proxbox semantic MCP bridge, schema version 1, with netbox-sdk.
    pub fn bridge_v1() -> &'static Contract {
        static BRIDGE_V1: Contract = Contract {
            name: "proxbox-bridge-v1",
            package: "netbox_sdk",
            module_origin: "netbox_sdk/plugin_bridge.py",
            dependencies: &["jsonschema", "pydantic"],
            payload_rejection: "netbox_sdk.plugin_bridge:PluginBridgeError",
            manifest_rejection: "pydantic_core._pydantic_core:ValidationError",
            required_contracts: &["lossless-json-integer-identity", "bounded-rfc3339-normalization"],
        };
        &BRIDGE_V1
    }
}
