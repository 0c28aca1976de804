//! The published releases of netbox-sdk, beside the Python reference gate.

use crate::support::registry;

#[test]
fn the_reference_gate_refuses_the_release_without_the_bridge_and_accepts_the_others() {
    for version in ["0.0.10", "0.0.11", "0.0.12", "0.0.13"] {
        let output = registry::reference(&registry::subject(version), &registry::environment(version));
        println!("{version} {:?} {}", output.status, String::from_utf8_lossy(&output.stderr));
    }
}
