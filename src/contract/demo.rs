//! The embedded SDK of the demonstration, and the mistake the demonstration plants in it.

/// Its files: path inside the commit, and text.
pub const DEMO_SDK: &[(&str, &str)] = &[
    ("pyproject.toml", include_str!("../../fixtures/demo_sdk/pyproject.toml")),
    ("netbox_sdk/__init__.py", include_str!("../../fixtures/demo_sdk/netbox_sdk/__init__.py")),
    ("netbox_sdk/client.py", include_str!("../../fixtures/demo_sdk/netbox_sdk/client.py")),
    ("netbox_sdk/plugin_bridge.py", include_str!("../../fixtures/demo_sdk/netbox_sdk/plugin_bridge.py")),
];

/// The version it declares.
pub const DEMO_VERSION: &str = "1.0.0";

/// A text of `netbox_sdk/plugin_bridge.py` that occurs once, and what to put in its place so that numbers with a
/// point or an exponent pass as integers however large they are: the rounding mistake the integer rule is there to
/// find.
pub const DEMO_WRONG_ROUNDING: (&str, &str) = ("LARGEST_EXACT = 2**53 - 1", "LARGEST_EXACT = 2**1023");
