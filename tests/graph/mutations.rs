//! Any change of a single byte is refused, or it changes nothing that was verified.

use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::{Ask, Case, case, packed_case};

/// The files that hold objects and refs.
fn files(folder: &Path, into: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, into);
        } else {
            into.push(path);
        }
    }
}

fn all_files(case: &Case) -> Vec<PathBuf> {
    let mut paths = vec![case.repo.dot_git("HEAD")];
    files(&case.repo.dot_git("objects"), &mut paths);
    files(&case.repo.dot_git("refs"), &mut paths);
    if case.repo.dot_git("packed-refs").exists() {
        paths.push(case.repo.dot_git("packed-refs"));
    }
    paths
}

/// Path and content of every file of the commit, and the counts; None if it was refused.
type Content = Option<(String, Vec<(String, u32, Vec<u8>)>)>;

fn content(case: &Case) -> Content {
    let graph = Ask::new(case.repo.root(), &case.commit).judge().graph?;
    let mut files = graph.folder("netbox_sdk").ok()?;
    files.extend(graph.entry("pyproject.toml").ok()?);
    let read = |file: paired_sdk_gate::graph::TreeFile| {
        Some((file.path.to_string(), file.mode, graph.blob(file.id).ok()?.to_vec()))
    };
    let files = files.into_iter().map(read).collect::<Option<_>>()?;
    Some((format!("{} {:?}", graph.tree(), graph.source()), files))
}

fn deltas() -> Case {
    let case = case();
    let lines = |from: u32| (from..from + 300).map(|n| format!("line {}\n", n * 7919)).collect::<String>();
    let mut commit = String::new();
    for step in 0..4 {
        case.repo.write("netbox_sdk/plugin_bridge.py", lines(step));
        commit = case.repo.commit_all("more");
    }
    case.repo.git(&["repack", "-adfq", "--depth=50", "--window=50"]);
    case.repo.git(&["pack-refs", "--all"]);
    Case { commit, ..case }
}

/// Changes one byte of one file, judges, and changes it back.
fn flip(
    case: &Case,
    paths: &[PathBuf],
    file: usize,
    place: usize,
    mask: u8,
    sound: &Content,
) -> Result<(), TestCaseError> {
    let path = &paths[file % paths.len()];
    let before = std::fs::read(path).unwrap();
    if before.is_empty() {
        return Ok(());
    }
    let place = place % before.len();
    case.repo.edit(path, |bytes| bytes[place] ^= mask);
    let after = content(case);
    case.repo.put(path, &before);
    prop_assert!(after.is_none() || after == *sound, "{} byte {place} mask {mask:#x}", path.display());
    Ok(())
}

#[test]
fn every_byte_counts() {
    for make in [case, packed_case, deltas] {
        let case = make();
        let paths = all_files(&case);
        let sound = content(&case);
        assert!(sound.is_some());
        let config = ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() };
        proptest!(config, |(file in any::<usize>(), place in any::<usize>(), mask in 1_u8..)| {
            flip(&case, &paths, file, place, mask, &sound)?;
        });
        assert_eq!(content(&case), sound);
    }
}

#[test]
fn every_byte_of_a_loose_object_counts() {
    let case = case();
    let id = case.rev("HEAD:pyproject.toml");
    let path = case.repo.loose_path(&id);
    let sound = content(&case);
    let length = std::fs::read(&path).unwrap().len();
    let mut refused = 0;
    for place in 0..length {
        case.repo.edit(&path, |bytes| bytes[place] ^= 0x40);
        let judged = case.judge();
        if judged.graph.is_none() {
            judged.refuses(paired_sdk_gate::check::Check::GitObjects, &id, "in .git/objects/", "clone");
            refused += 1;
        } else {
            // A window size, or the unused bits where the stream is padded to a whole byte.
            assert_eq!(content(&case), sound, "byte {place}");
        }
        case.repo.edit(&path, |bytes| bytes[place] ^= 0x40);
    }
    assert!(refused + 3 >= length, "{refused} of {length}");
}
