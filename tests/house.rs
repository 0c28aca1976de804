//! The house: a room uses the rooms below it, and none that uses it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// What each room names of the others, outside of its tests.
fn uses() -> BTreeMap<String, BTreeSet<String>> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut uses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for entry in walkdir::WalkDir::new(&source) {
        let path = entry.unwrap().into_path();
        let place = path.strip_prefix(&source).unwrap();
        let tests = ["tests.rs", "fuzzing.rs"].iter().any(|name| path.ends_with(name));
        if tests || path.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        let room = place.iter().next().unwrap().to_str().unwrap().trim_end_matches(".rs").to_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        for rest in lines.flat_map(|line| line.split("crate::").skip(1)) {
            let named: String = rest.chars().take_while(|&c| c.is_ascii_lowercase() || c == '_').collect();
            if source.join(&named).with_extension("rs").exists() && named != room {
                uses.entry(room.clone()).or_default().insert(named);
            }
        }
    }
    uses
}

#[test]
fn imports_point_down() {
    let mut left = uses();
    let told = |left: &BTreeMap<String, BTreeSet<String>>| format!("{left:#?}");
    assert!(left["cli"].contains("pipeline") && left["pipeline"].contains("graph"), "{}", told(&left));
    // Rooms that use no other that is left are taken away, until none is.
    while !left.is_empty() {
        let bottom: Vec<_> = left
            .iter()
            .filter(|(_, uses)| !uses.iter().any(|room| left.contains_key(room)))
            .map(|(room, _)| room.clone())
            .collect();
        assert!(!bottom.is_empty(), "these use each other: {}", told(&left));
        left.retain(|room, _| !bottom.contains(room));
    }
}
