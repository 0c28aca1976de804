//! What the README tells people to type is what is run here.

use std::process::Command;

const README: &str = include_str!("../README.md");
const CI: &str = include_str!("../.ci/run");

/// How the commands for an installed program begin. `real::readme` runs each of them.
pub const PROGRAM: &str = "paired-sdk-gate ";
/// How one begins that builds the program first; the tests have it built.
const BUILT: &str = "cargo run --release --locked -- ";

const DEMO: &str = "cargo run --release --locked -- demo";
const TESTS: &str = "cargo nextest run --locked";
/// Runs until it is interrupted: a test of `serve` starts it and ends it.
const SERVE: &str = "cargo run --release --locked -- producer serve";

/// The commands of the blocks marked `sh`, lines that end in a backslash joined with the next.
fn commands_of(markdown: &str) -> Vec<String> {
    let mut commands = Vec::new();
    let mut lines = markdown.lines();
    while lines.by_ref().any(|line| line.trim_end() == "```sh") {
        let block: Vec<_> = lines.by_ref().take_while(|line| line.trim_end() != "```").collect();
        commands.extend(block.join("\n").replace("\\\n", "").lines().map(str::to_owned));
    }
    commands
}

/// Every command of the README.
pub fn commands() -> Vec<String> {
    commands_of(README)
}

#[test]
fn commands_are_those_in_blocks_marked_as_shell() {
    let markdown = "a\n```sh\none\ntwo \\\n  more\n```\n```json\n{}\n```\n```sh\nthree\n```\n";
    assert_eq!(commands_of(markdown), ["one", "two   more", "three"]);
}

#[test]
fn the_first_two_commands_are_the_demo_and_the_tests() {
    assert_eq!(commands()[..2], [DEMO, TESTS]);
}

/// A command that no test runs could be wrong without anybody noticing.
#[test]
fn every_command_is_run() {
    for command in commands() {
        if command == SERVE {
            continue;
        }
        if let Some(arguments) = command.strip_prefix(BUILT) {
            let gate = Command::new(env!("CARGO_BIN_EXE_paired-sdk-gate")).args(arguments.split(' ')).output().unwrap();
            assert_eq!(gate.status.code(), Some(0), "{command}: {}", String::from_utf8_lossy(&gate.stderr));
        } else {
            let run_elsewhere = command == TESTS || command.starts_with(PROGRAM);
            assert!(run_elsewhere, "no test runs this command of the README: {command}");
        }
    }
}

#[test]
fn ci_runs_exactly_the_test_command_of_the_readme() {
    let tests: Vec<_> = CI.lines().filter(|line| line.starts_with("cargo ") && line.contains("test")).collect();
    assert_eq!(tests, [TESTS]);
}
