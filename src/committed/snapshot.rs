//! The committed snapshot of the manifest: what the contract says, in everything but its prose.

use super::drift::{Drift, Kind};
use super::yaml::{self, Node, shortened};
use crate::contract::json::Json;
use crate::contract::manifest::{Difference, Manifest, differences};

/// Every difference, with its line.
pub(super) fn drifts(file: &str, bytes: &[u8]) -> Vec<Drift> {
    let parsed = std::str::from_utf8(bytes).map_err(|error| error.to_string());
    let parsed = parsed.and_then(|text| Json::parse(text).map(|json| (text, json)).map_err(|error| error.to_string()));
    let (text, found) = match parsed {
        Ok(parsed) => parsed,
        Err(why) => {
            let expected = "a manifest in JSON";
            return vec![Drift::new(Kind::SnapshotNotManifest, (file, None), expected, shortened(&why))];
        }
    };
    // JSON is YAML as well, and that reader knows the lines.
    let lines = yaml::parse(text).ok();
    let drift = |Difference { pointer, expected, found }: Difference| {
        let line = lines.as_ref().and_then(|document| line_at(&document.root, &pointer));
        let (expected, found) = (format!("{pointer} {expected}"), format!("{pointer} {found}"));
        Drift::new(Kind::SnapshotDiffers, (file, line), expected, found)
    };
    differences(&Manifest::bridge_v1().to_json(), &found).into_iter().map(drift).collect()
}

/// The line of the value a pointer names, or of the nearest one around it.
fn line_at(root: &Node, pointer: &str) -> Option<usize> {
    let mut node = root;
    for step in pointer.split('/').skip(1) {
        let name = step.replace("~1", "/").replace("~0", "~");
        let next = node.get(&name).or_else(|| name.parse().ok().and_then(|at: usize| node.items().get(at)));
        match next {
            Some(next) => node = next,
            None => break,
        }
    }
    Some(node.line)
}
