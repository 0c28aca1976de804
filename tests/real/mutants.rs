//! Small regressions of the real SDK: how many the gate notices, and how many the reference gate does.
//!
//! The table is `mutants.toml`; `mutants.py` is appended to the module before each of its entries. All of it is ours.

use std::fs;
use std::path::Path;

use paired_sdk_gate::parallel;

use super::gate::Identity;
use crate::support::git::Repo;
use crate::support::registry::{self, Subject};

const VERSION: &str = "0.0.13";
const BRIDGE: &str = "netbox_sdk/plugin_bridge.py";

struct Mutant {
    name: String,
    code: String,
    /// The table says why it may go unnoticed.
    may_pass: bool,
}

fn table() -> Vec<Mutant> {
    let text = include_str!("mutants.toml");
    let table: toml::Table = text.parse().unwrap();
    let unnoticed = table["unnoticed"].as_table().unwrap();
    let groups = table.iter().filter(|(group, _)| *group != "unnoticed");
    let mut mutants = Vec::new();
    for (group, entries) in groups {
        for (name, code) in entries.as_table().unwrap() {
            let name = format!("{group}/{name}");
            let may_pass = unnoticed.contains_key(&name);
            mutants.push(Mutant { name, code: code.as_str().unwrap().to_owned(), may_pass });
        }
    }
    let listed = mutants.iter().filter(|mutant| mutant.may_pass).count();
    assert_eq!(listed, unnoticed.len(), "every entry of [unnoticed] names a mutant");
    assert!(listed * 20 <= mutants.len(), "at least 95 of 100 have to be refused");
    mutants
}

/// A repository of the modules that the bridge needs, with this after that module's own text. What is left out, many megabytes of
/// generated models, it does not import.
pub fn repository(folder: &Path, module: &str, appended: &str) -> Subject {
    let original = registry::subject(VERSION);
    let repo = Repo::init(folder.join("repo"));
    let package = original.repo.join("netbox_sdk");
    for entry in walkdir::WalkDir::new(&package) {
        let entry = entry.unwrap();
        let path = entry.path().strip_prefix(&original.repo).unwrap().to_str().unwrap();
        let generated =
            ["models", "typed_versions"].iter().any(|name| path.starts_with(&format!("netbox_sdk/{name}/")));
        if entry.file_type().is_file() && path.ends_with(".py") && !generated {
            let mut text = fs::read(entry.path()).unwrap();
            if path == module {
                text.extend_from_slice(appended.as_bytes());
            }
            repo.put(&folder.join("repo").join(path), &text);
        }
    }
    let commit = repo.commit_all("a mutant");
    Subject { repo: folder.join("repo"), commit, version: VERSION }
}

fn source(mutant: &Mutant) -> String {
    format!("{}\n\n{}\n", include_str!("mutants.py"), mutant.code)
}

/// The names of the mutants that the gate lets pass, each of which must be listed as one that may.
fn survivors(mutants: &[&Mutant], seed: u64) -> Vec<String> {
    let verdicts = parallel::map(mutants, |mutant| {
        let folder = registry::scratch();
        let subject = repository(folder.path(), BRIDGE, &source(mutant));
        let mut command = Identity::of(&subject).on(std::process::Command::new(super::gate::GATE), "verify");
        let run = super::gate::run(command.args(["--seed", &seed.to_string()]));
        let failed = run.checks("failed");
        match run.code {
            Some(0) => Some(mutant.name.clone()),
            Some(1) if failed.iter().all(|id| id.starts_with("vectors.")) => None,
            // A mutant that does not even load says nothing about the vectors.
            code => panic!("{}: exit {code:?}, {failed:?}: {:#}", mutant.name, run.report["checks"]),
        }
    });
    let survivors: Vec<_> = verdicts.into_iter().flatten().collect();
    let listed = |name: &String| mutants.iter().any(|mutant| mutant.name == *name && mutant.may_pass);
    assert!(survivors.iter().all(listed), "{survivors:#?}");
    survivors
}

#[test]
fn the_helpers_alone_change_nothing() {
    let folder = registry::scratch();
    let subject = repository(folder.path(), BRIDGE, include_str!("mutants.py"));
    Identity::of(&subject).verify().assert(0, "passed");
}

/// A part of the table, so that it stays quick: all of it is asked for by name, below.
#[test]
fn regressions_are_refused() {
    let table = table();
    let some: Vec<_> = table.iter().step_by(9).collect();
    survivors(&some, 1);
}

/// The whole table with one seed, and its score.
fn score(seed: u64) {
    let table = table();
    let all: Vec<_> = table.iter().collect();
    let survivors = survivors(&all, seed);
    println!("seed {seed}: {} of {} refused; passed: {survivors:?}", all.len() - survivors.len(), all.len());
}

macro_rules! scores {
    ($($name:ident = $seed:literal;)+) => {
        $(
            #[test]
            #[ignore = "minutes: cargo nextest run --release --run-ignored only mutation_score --no-capture"]
            fn $name() {
                score($seed);
            }
        )+
    };
}

scores! {
    mutation_score_with_seed_1 = 1;
    mutation_score_with_seed_2 = 2;
    mutation_score_with_seed_3 = 3;
    mutation_score_with_seed_4 = 4;
    mutation_score_with_seed_5 = 5;
}

#[test]
#[ignore = "minutes: as above"]
fn mutation_score_of_the_reference() {
    let environment = registry::environment(VERSION);
    let table = table();
    let refused = parallel::map(&table, |mutant| {
        let folder = registry::scratch();
        registry::reference(&repository(folder.path(), BRIDGE, &source(mutant)), &environment).status.code() != Some(0)
    });
    println!("the reference refused {} of {}", refused.iter().filter(|&&refused| refused).count(), table.len());
}
