//! What the README tells people to type is what is run here.

const README: &str = include_str!("../README.md");
const CI: &str = include_str!("../.ci/run");

const DEMO: &str = "cargo run --release --locked -- demo";
const TESTS: &str = "cargo nextest run --locked";

/// The commands of the blocks marked `sh`, block by block.
fn blocks(markdown: &str) -> Vec<Vec<&str>> {
    let mut blocks = Vec::new();
    let mut lines = markdown.lines();
    while lines.by_ref().any(|line| line.trim_end() == "```sh") {
        blocks.push(lines.by_ref().take_while(|line| line.trim_end() != "```").collect());
    }
    blocks
}

#[test]
fn blocks_are_those_marked_as_shell() {
    let markdown = "a\n```sh\none\ntwo\n```\n```json\n{}\n```\n```sh\nthree\n```\n";
    assert_eq!(blocks(markdown), [vec!["one", "two"], vec!["three"]]);
}

/// The demo is run by `network::the_demo_succeeds_without_a_network`; the tests are this run.
#[test]
fn the_first_two_commands_are_the_demo_and_the_tests() {
    assert_eq!(blocks(README)[..2], [vec![DEMO], vec![TESTS]]);
}

#[test]
fn ci_runs_exactly_the_test_command_of_the_readme() {
    let tests: Vec<_> = CI.lines().filter(|line| line.starts_with("cargo ") && line.contains("test")).collect();
    assert_eq!(tests, [TESTS]);
}
