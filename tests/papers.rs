//! What the papers tell people to type is what is run here, and what they point to is there.

use std::path::Path;
use std::process::Command;

use paired_sdk_gate::check::Check;

const README: &str = include_str!("../README.md");
const CONTRIBUTING: &str = include_str!("../.github/CONTRIBUTING.md");
const OPERATING: &str = include_str!("../.github/OPERATING.md");
const CI: &str = include_str!("../.ci/run");

/// How the commands for an installed program begin. `real::papers` runs each of them.
pub const PROGRAM: &str = "paired-sdk-gate ";
/// How one begins that builds the program first; the tests have it built.
const BUILT: &str = "cargo run --release --locked -- ";

const DEMO: &str = "cargo run --release --locked -- demo";
const INSTALL: &str = "cargo install --path . --locked";
const TESTS: &str = "cargo nextest run --locked";
/// Runs the tests, and so is run by none: a test of `ci` says that the workflow runs it.
const EVERYTHING: &str = "bash .ci/run";
/// Runs until it is interrupted: a test of `serve` starts it and ends it.
const SERVE: &str = "cargo run --release --locked -- producer serve";

/// The blocks of that kind, lines that end in a backslash joined with the next.
fn blocks(markdown: &str, kind: &str) -> Vec<String> {
    let (mut blocks, fence) = (Vec::new(), format!("```{kind}"));
    let mut lines = markdown.lines();
    while lines.by_ref().any(|line| line.trim_end() == fence) {
        let block: Vec<_> = lines.by_ref().take_while(|line| line.trim_end() != "```").collect();
        blocks.push(block.join("\n").replace("\\\n", ""));
    }
    blocks
}

fn commands_of(markdown: &str) -> Vec<String> {
    blocks(markdown, "sh").iter().flat_map(|block| block.lines()).map(str::to_owned).collect()
}

/// Every command of the README.
pub fn commands() -> Vec<String> {
    commands_of(README)
}

/// A command of a transcript, and the lines it answers with; `…` stands for any lines, and at the end of one for its rest.
#[derive(Debug, PartialEq)]
pub struct Step {
    pub command: String,
    pub told: Vec<String>,
}

fn steps_of(markdown: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for line in blocks(markdown, "console").iter().flat_map(|block| block.lines()) {
        match line.strip_prefix("$ ") {
            Some(command) => steps.push(Step { command: command.to_owned(), told: Vec::new() }),
            None => steps.last_mut().expect("a block begins with a command").told.push(line.to_owned()),
        }
    }
    steps
}

/// The transcript of the operator's guide.
#[cfg(not(feature = "offline"))]
pub fn transcript() -> Vec<Step> {
    steps_of(OPERATING)
}

impl Step {
    /// The first line that the output does not have at its place.
    pub fn contradicted_by(&self, output: &str) -> Option<String> {
        let (mut lines, mut skip) = (output.lines(), false);
        for told in &self.told {
            if told == "…" {
                skip = true;
                continue;
            }
            let fits = |line: &str| told.strip_suffix('…').map_or(line == told, |start| line.starts_with(start));
            let found = if skip { lines.any(fits) } else { lines.next().is_some_and(fits) };
            if !found {
                return Some(told.clone());
            }
            skip = false;
        }
        lines.next().filter(|_| !skip).map(str::to_owned)
    }
}

#[test]
fn commands_are_those_in_blocks_marked_as_shell() {
    let markdown = "a\n```sh\none\ntwo \\\n  more\n```\n```json\n{}\n```\n```sh\nthree\n```\n";
    assert_eq!(commands_of(markdown), ["one", "two   more", "three"]);
}

#[test]
fn a_transcript_is_held_against_every_line_it_shows() {
    let steps = steps_of(
        "```console\n$ one \\\n  more\na\n…\nb …\n$ two\n```\n```sh\nthree\n```\n```console\n$ four\n…\n```\n",
    );
    let commands: Vec<_> = steps.iter().map(|step| step.command.as_str()).collect();
    assert_eq!(commands, ["one   more", "two", "four"]);
    for good in ["a\nb 1\n", "a\nx\ny\nb 1\n"] {
        assert_eq!(steps[0].contradicted_by(good), None, "{good:?}");
    }
    for (bad, line) in [("", "a"), ("x\na\nb 1\n", "a"), ("a\nx\n", "b …"), ("a\nb 1\nx\n", "x"), ("a 1\nb 1\n", "a")]
    {
        assert_eq!(steps[0].contradicted_by(bad).as_deref(), Some(line), "{bad:?}");
    }
    assert_eq!((steps[1].contradicted_by(""), steps[1].contradicted_by("x\n").as_deref()), (None, Some("x")));
    assert_eq!((steps[2].contradicted_by(""), steps[2].contradicted_by("x\ny\n")), (None, None));
}

#[test]
fn the_first_two_commands_are_the_demo_and_the_tests() {
    assert_eq!(commands()[..2], [DEMO, TESTS]);
}

/// A command that no test runs could be wrong without anybody noticing.
#[test]
fn every_command_is_run() {
    for command in [README, CONTRIBUTING].into_iter().flat_map(commands_of) {
        if command == SERVE {
            continue;
        }
        if let Some(arguments) = command.strip_prefix(BUILT) {
            let gate = Command::new(env!("CARGO_BIN_EXE_paired-sdk-gate")).args(arguments.split(' ')).output().unwrap();
            assert_eq!(gate.status.code(), Some(0), "{command}: {}", String::from_utf8_lossy(&gate.stderr));
        } else if command == INSTALL {
            installed();
        } else {
            let run_elsewhere = [TESTS, EVERYTHING].contains(&command.as_str()) || command.starts_with(PROGRAM);
            assert!(run_elsewhere, "no test runs this command: {command}");
        }
    }
}

/// Installs the program as the tests were built, which is done already.
fn installed() {
    let place = tempfile::tempdir().unwrap();
    let mut install = Command::new("sh");
    install.args(["-euc", &format!("{INSTALL} --debug --offline --root \"$0\"")]).arg(place.path());
    let output = install.current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let version = Command::new(place.path().join("bin/paired-sdk-gate")).arg("--version").output().unwrap();
    assert_eq!(
        String::from_utf8(version.stdout).unwrap(),
        concat!("paired-sdk-gate ", env!("CARGO_PKG_VERSION"), "\n")
    );
}

#[test]
fn ci_runs_exactly_the_test_command_of_the_readme() {
    let tests: Vec<_> = CI.lines().filter(|line| line.starts_with("cargo ") && line.contains("test")).collect();
    assert_eq!(tests, [TESTS]);
}

/// The papers, each in its folder; commands are only where they are run.
#[test]
fn no_other_paper_has_commands_and_every_link_leads_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text =
        |path: &Path| std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let slug = |heading: &str| {
        let plain = heading.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
        plain.chars().filter(|c| c.is_alphanumeric() || *c == '-').collect::<String>()
    };
    let names = ["CHANGELOG", "CONTRIBUTING", "OPERATING", "SECURITY"].map(|name| format!(".github/{name}.md"));
    for paper in names.iter().map(String::as_str).chain(["README.md"]) {
        let markdown = text(&root.join(paper));
        assert_eq!(steps_of(&markdown).is_empty(), paper != ".github/OPERATING.md", "{paper}");
        assert_eq!(
            commands_of(&markdown).is_empty(),
            !matches!(paper, "README.md" | ".github/CONTRIBUTING.md"),
            "{paper}"
        );
        for link in markdown.split("](").skip(1).map(|rest| rest.split_once(')').unwrap().0) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = root.join(paper).parent().unwrap().join(file);
            let target = if file.is_empty() { root.join(paper) } else { target };
            assert!(target.exists(), "{paper} links to {link}");
            let found =
                anchor.is_empty() || text(&target).lines().any(|line| line.starts_with('#') && slug(line) == anchor);
            assert!(found, "{paper} links to {link}, which has no such heading");
        }
    }
}

#[test]
fn the_operators_guide_says_what_each_refusal_means() {
    let section = OPERATING.split("\n## ").find(|section| section.starts_with("What a refusal means")).unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` |"));
    let named: Vec<_> = rows.flat_map(|(ids, _)| ids.split("` `")).collect();
    for check in Check::all() {
        let times = named.iter().filter(|id| **id == check.id()).count();
        assert_eq!(times, 1, "{} stands {times} times in the guide's table", check.id());
    }
    let unknown: Vec<_> = named.iter().filter(|id| Check::from_id(id).is_none()).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}
