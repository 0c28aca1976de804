//! What a producer commits, held together: sound spellings are accepted, every drift is refused by its own name.

mod drift;
mod patch;
mod sound;

use std::fs;
use std::path::{Path, PathBuf};

use paired_sdk_gate::committed::{Committed, Drift, Forge, Pairing, Places};
use paired_sdk_gate::contract::Contract;
use tempfile::TempDir;

use crate::activation::BLOCKED;

pub const COMMIT: &str = "edad23ab186d5ad5475440690eccc29d49824b8a";
pub const VERSION: &str = "0.0.13";
pub const RECORD: &str = "tests/fixtures/netbox_sdk_bridge_activation.json";
pub const CONSTANTS: &str = "netbox_proxbox/api/mcp_bridge.py";
pub const SNAPSHOT: &str = "tests/fixtures/proxbox_bridge_v1.json";
pub const WORKFLOW: &str = ".github/workflows/paired-sdk-gate.yml";

const BLOCKED_CONSTANTS: &str = r#""""A bridge."""

from typing import Any

MCP_BRIDGE_ACTIVATION_SCHEMA_VERSION = 1
MCP_BRIDGE_ACTIVATION_STATE = "blocked"
MCP_BRIDGE_EXPECTED_SDK_VERSION: str | None = None
MCP_BRIDGE_EXPECTED_SDK_COMMIT: str | None = None
MCP_BRIDGE_EXPECTED_MODULE_ORIGIN = "netbox_sdk/plugin_bridge.py"
MCP_BRIDGE_REQUIRED_CONTRACTS = [
    "lossless-json-integer-identity",
    "bounded-rfc3339-normalization",
]
MCP_BRIDGE_BLOCK_REASON = (
    "Nothing was proven yet."
)


def record() -> dict[str, Any]:
    return {"state": MCP_BRIDGE_ACTIVATION_STATE, "contracts": list(MCP_BRIDGE_REQUIRED_CONTRACTS)}
"#;

/// A producer's repository, small.
pub struct Producer {
    dir: TempDir,
}

impl Producer {
    /// Blocked and consistent.
    pub fn blocked() -> Self {
        let producer = Producer { dir: tempfile::tempdir().unwrap() };
        producer.write(RECORD, BLOCKED);
        producer.write(CONSTANTS, BLOCKED_CONSTANTS);
        producer.write(SNAPSHOT, Contract::bridge_v1().manifest());
        producer.write(".github/workflows/ci.yml", "on: push\njobs:\n  lint:\n    steps:\n      - run: ruff check .\n");
        producer
    }

    /// Active and consistent, with the workflow that the program prints.
    pub fn active() -> Self {
        let producer = Producer::blocked();
        for file in [RECORD, CONSTANTS] {
            let text = producer.read(file).replace("\"blocked\"", "\"active\"");
            let text = text.replace("expected_version\": null", &format!("expected_version\": \"{VERSION}\""));
            let text = text.replace("expected_commit\": null", &format!("expected_commit\": \"{COMMIT}\""));
            let text = text.replace("VERSION: str | None = None", &format!("VERSION: str | None = \"{VERSION}\""));
            let text = text.replace("COMMIT: str | None = None", &format!("COMMIT: str | None = \"{COMMIT}\""));
            producer.write(file, text);
        }
        producer.write(WORKFLOW, workflow());
        producer
    }

    pub fn root(&self) -> &Path {
        self.dir.path()
    }

    pub fn path(&self, file: &str) -> PathBuf {
        self.root().join(file)
    }

    pub fn read(&self, file: &str) -> String {
        fs::read_to_string(self.path(file)).unwrap()
    }

    pub fn write(&self, file: &str, text: impl AsRef<[u8]>) {
        fs::create_dir_all(self.path(file).parent().unwrap()).unwrap();
        fs::write(self.path(file), text).unwrap();
    }

    /// Replaces what must be there.
    #[track_caller]
    pub fn edit(&self, file: &str, from: &str, to: &str) {
        let text = self.read(file);
        assert!(text.contains(from), "{from:?} is not in {file}");
        self.write(file, text.replacen(from, to, 1));
    }

    pub fn committed(&self) -> Committed {
        Committed::read(self.root(), &Places::default(), Contract::bridge_v1())
    }

    pub fn drifts(&self) -> Vec<Drift> {
        self.committed().drifts()
    }
}

/// The workflow as the program prints it.
pub fn workflow() -> String {
    let version = VERSION.parse().unwrap();
    let pairing =
        Pairing { version: &version, commit: COMMIT.parse().unwrap(), repository: "example/netbox-sdk", action: None };
    pairing.workflow(Forge::Github, Contract::bridge_v1())
}

/// The drifts in words, one a line.
pub fn told(drifts: &[Drift]) -> Vec<String> {
    let line = |drift: &Drift| drift.line.map_or(String::new(), |line| format!(":{line}"));
    drifts
        .iter()
        .map(|drift| {
            format!("{} {}{} expected {}, found {}", drift.id, drift.file, line(drift), drift.expected, drift.found)
        })
        .collect()
}

#[test]
fn a_consistent_producer_drifts_nowhere_in_either_state() {
    assert_eq!(told(&Producer::blocked().drifts()), [""; 0]);
    assert_eq!(told(&Producer::active().drifts()), [""; 0]);
}
