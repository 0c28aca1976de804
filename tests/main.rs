//! One integration binary. Every file of this folder is declared here.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::exit
)]
#![allow(missing_docs)]

mod action;
mod activation;
mod audit;
mod ci;
mod cli;
mod committed;
mod contract;
mod corpus;
mod disk;
mod doctor;
mod environment;
mod fresh;
mod graph;
mod hostile;
mod house;
mod locked;
mod messages;
mod network;
mod package;
mod pair;
mod papers;
mod processes;
mod producer;
#[cfg(not(feature = "offline"))]
mod real;
mod refusals;
mod release;
mod sandbox;
mod second;
mod serve;
mod snapshot;
mod specification;
mod strict;
mod support;
mod terminal;
mod tools;
mod validate;
mod worktree;

/// The files are found on disk and must be reached from here through `mod` lines, or the compiler never sees them.
#[test]
fn every_test_file_is_declared() {
    use std::collections::BTreeSet;
    use std::path::{Path, PathBuf};

    fn reach(file: &Path, reached: &mut BTreeSet<PathBuf>) {
        reached.insert(file.to_owned());
        let folder =
            if file.ends_with("main.rs") { file.parent().unwrap().to_owned() } else { file.with_extension("") };
        for line in std::fs::read_to_string(file).unwrap().lines() {
            let declared =
                line.trim().trim_start_matches("pub ").strip_prefix("mod ").and_then(|l| l.strip_suffix(';'));
            if let Some(name) = declared {
                reach(&folder.join(name).with_extension("rs"), reached);
            }
        }
    }

    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut reached = BTreeSet::new();
    reach(&tests.join("main.rs"), &mut reached);
    let files = walkdir::WalkDir::new(&tests).into_iter().map(|entry| entry.unwrap().into_path());
    let files: BTreeSet<_> = files.filter(|path| path.extension().is_some_and(|end| end == "rs")).collect();
    let forgotten: Vec<_> = files.difference(&reached).collect();
    assert!(forgotten.is_empty(), "declare these with `mod`: {forgotten:?}");
}
