//! The contract an SDK is held to: whose package it is, what its functions are called, the manifest and the vectors.
//!
//! Everything the stages know of netbox-sdk they know from here; another package is another [`Contract`].

pub mod advisory;
pub mod datetime;
pub mod demo;
pub mod generate;
pub mod json;
pub mod manifest;
mod normalise;
pub mod number;
pub mod oracle;
pub mod patch;
pub mod reason;
pub mod schema;
pub mod shrink;
pub mod vectors;

use crate::digest::sha256;

pub use demo::{DEMO_SDK, DEMO_VERSION, DEMO_WRONG_ROUNDING};
pub use generate::generate;
pub use manifest::Manifest;
pub use oracle::{Judgement, Oracle};
pub use reason::Reason;
pub use vectors::{Question, Topic, Vector, VectorError, VectorFile, Verdict};

static MANIFEST: &str = include_str!("../fixtures/bridge_v1/manifest.json");
static VECTORS: VectorFile = VectorFile::new(include_str!("../fixtures/bridge_v1/vectors.toml"), MANIFEST);

/// A contract. Data only: the stages read it, none of them names a package of its own.
#[derive(Clone, Debug)]
pub struct Contract {
    /// Its name in reports.
    pub name: &'static str,
    /// The top-level Python package, also the folder of the inventory.
    pub package: &'static str,
    /// The module under test, a path inside the commit.
    pub module_origin: &'static str,
    /// Modules that must be loaded, and loaded from the environment.
    pub dependencies: &'static [&'static str],
    /// Modules of the environment that the SDK builds upon, imported once before the probes part. A matter of speed alone.
    pub preload: &'static [&'static str],
    /// What the module's functions are called.
    pub functions: Functions,
    /// `module:name` of the exception class, exactly, with which the bridge's functions reject a payload.
    pub payload_rejection: &'static str,
    /// `module:name` of the exception class, exactly, with which the manifest model rejects a manifest.
    pub manifest_rejection: &'static str,
    /// What the SDK's client is called.
    pub client: Client,
    /// The SDK's MCP server.
    pub server: Server,
    /// The contracts an activation record must list, in its order.
    pub required_contracts: &'static [&'static str],
    manifest: &'static str,
    vectors: &'static VectorFile,
}

/// The names, in the module under test, of what the probes call.
#[derive(Clone, Copy, Debug)]
pub struct Functions {
    /// The model of a manifest, with `model_validate`; what it returns has `tools`, and each of those a `name`.
    pub model: &'static str,
    /// Takes a tool and its arguments.
    pub arguments: &'static str,
    /// Takes a tool and its response.
    pub response: &'static str,
    /// Reads a response from its text; an SDK need not offer it.
    pub document: &'static str,
}

/// What makes a call of a tool, each as `module:name`.
#[derive(Clone, Copy, Debug)]
pub struct Client {
    /// The class of the client's settings: `base_url`, `token_key`, `token_secret`, `timeout` in seconds.
    pub config: &'static str,
    /// The class of the client, with `request_bounded` and `close`.
    pub client: &'static str,
    /// The coroutine that finds a plugin's tools.
    pub discover: &'static str,
    /// What puts a tool's path below its plugin's root.
    pub request_path: &'static str,
    /// What makes a reading tool's arguments a query.
    pub query: &'static str,
}

/// The SDK's MCP server, a package of its own in the same commit.
#[derive(Clone, Copy, Debug)]
pub struct Server {
    /// The package, and the folder of its files.
    pub package: &'static str,
    /// `module:name` of what runs it on standard input and output, given a list in the place of a command line.
    pub run: &'static str,
    /// The distribution that it cannot do without, if it needs one that the SDK does not, and the SDK's extra that brings it.
    pub dependency: Option<(&'static str, &'static str)>,
    /// As [`Contract::preload`], for the server.
    pub preload: &'static [&'static str],
    /// The variable that says where NetBox is.
    pub url: &'static str,
    /// The variables with the two halves of the credential.
    pub token: [&'static str; 2],
    /// The variable and the argument that allow mutations.
    pub mutations: [&'static str; 2],
    /// The file in its home that can say how long a request may take.
    pub settings: &'static str,
    /// The tool that lists a plugin's tools, and the one that calls them.
    pub generic: [&'static str; 2],
}

impl Client {
    /// The modules all of that is in.
    pub fn modules<'a>(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let places = [self.config, self.client, self.discover, self.request_path, self.query];
        places.into_iter().filter_map(|place| place.split(':').next())
    }
}

static BRIDGE_V1: Contract = Contract {
    name: "proxbox-bridge-v1",
    package: "netbox_sdk",
    module_origin: "netbox_sdk/plugin_bridge.py",
    dependencies: &["jsonschema", "pydantic"],
    // pydantic imports most of itself only when a model is made, and that would be in both forks.
    preload: &[
        "jsonschema",
        "pydantic.types",
        "pydantic._internal._validators",
        "pydantic.type_adapter",
        "pydantic.plugin._loader",
        "aiohttp",
    ],
    functions: Functions {
        model: "PluginManifest",
        arguments: "validate_plugin_tool_arguments",
        response: "validate_plugin_tool_response",
        document: "parse_plugin_tool_response_document",
    },
    payload_rejection: "netbox_sdk.plugin_bridge:PluginBridgeError",
    manifest_rejection: "pydantic_core._pydantic_core:ValidationError",
    client: Client {
        config: "netbox_sdk.config:Config",
        client: "netbox_sdk.client:NetBoxApiClient",
        discover: "netbox_sdk.plugin_bridge:discover_plugin_manifests",
        request_path: "netbox_sdk.plugin_bridge:plugin_tool_request_path",
        query: "netbox_sdk.plugin_bridge:plugin_arguments_to_query",
    },
    server: Server {
        package: "netbox_mcp",
        run: "netbox_mcp:run",
        dependency: Some(("mcp", "mcp")),
        preload: &["jsonschema", "pydantic.type_adapter", "aiohttp", "mcp.server.fastmcp", "rich.traceback"],
        url: "NETBOX_URL",
        token: ["NETBOX_TOKEN_KEY", "NETBOX_TOKEN_SECRET"],
        mutations: ["NETBOX_MCP_ALLOW_MUTATIONS", "--allow-mutations"],
        settings: ".config/netbox-sdk/config.json",
        generic: ["plugin_list_tools", "plugin_call_tool"],
    },
    required_contracts: &["lossless-json-integer-identity", "bounded-rfc3339-normalization"],
    manifest: MANIFEST,
    vectors: &VECTORS,
};

static DEMO: Contract = Contract {
    name: "demo-bridge-v1",
    dependencies: &[],
    preload: &[],
    manifest_rejection: "netbox_sdk.plugin_bridge:PluginManifestError",
    client: Client {
        config: "netbox_sdk.client:Config",
        discover: "netbox_sdk.client:discover_plugin_manifests",
        request_path: "netbox_sdk.client:plugin_tool_request_path",
        query: "netbox_sdk.client:plugin_arguments_to_query",
        ..BRIDGE_V1.client
    },
    server: Server { dependency: None, preload: &[], ..BRIDGE_V1.server },
    ..BRIDGE_V1
};

impl Contract {
    /// The contract of the Proxbox semantic MCP bridge, schema version 1, with netbox-sdk.
    pub fn bridge_v1() -> &'static Contract {
        &BRIDGE_V1
    }

    /// The same contract with the embedded SDK, which needs nothing but the standard library and rejects manifests
    /// with a class of its own.
    pub fn demo() -> &'static Contract {
        &DEMO
    }

    /// The same contract for a module elsewhere.
    #[cfg(test)]
    pub(crate) fn for_tests(module_origin: &'static str) -> Contract {
        Contract { module_origin, ..BRIDGE_V1 }
    }

    /// The manifest, as the producer publishes it but for its prose: JSON.
    pub fn manifest(&self) -> &'static str {
        self.manifest
    }

    /// The SHA-256 of the manifest's bytes, lower-case hexadecimal.
    pub fn manifest_sha256(&self) -> String {
        sha256(self.manifest.as_bytes())
    }

    /// The published vectors, in the order of their file.
    ///
    /// # Errors
    /// The file is not in order; a test reads the embedded one, so this says that the build is broken.
    pub fn vectors(&self) -> Result<&'static [Vector], &'static VectorError> {
        self.vectors.vectors()
    }

    /// The SHA-256 of the vector file's bytes, lower-case hexadecimal. With the manifest's it fixes every vector.
    pub fn vectors_sha256(&self) -> String {
        sha256(self.vectors.text().as_bytes())
    }

    /// The module under test, as Python imports it: `netbox_sdk.plugin_bridge`.
    pub fn module_name(&self) -> String {
        self.module_origin.trim_end_matches(".py").replace('/', ".")
    }
}
