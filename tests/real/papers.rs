//! The papers' commands for a real subject, typed as they stand there with the placeholders filled in.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

use super::gate::{GATE, Identity};
use crate::papers::{PROGRAM, commands, transcript};
use crate::support::registry;

/// The published producer's checkout, as far as it matters, beside the release.
struct Desk {
    folder: TempDir,
    fillings: [(&'static str, String); 4],
}

impl Desk {
    fn new() -> Self {
        let Identity { repo, commit, version, environment } = Identity::released("0.0.13");
        let path = |path: PathBuf| path.to_str().unwrap().to_owned();
        let folder = TempDir::new().unwrap();
        for part in ["tests/fixtures", "netbox_proxbox/api", ".github", ".gitea"] {
            let target = folder.path().join(part);
            fs::create_dir_all(target.parent().unwrap()).unwrap();
            registry::run(Command::new("cp").arg("--recursive").arg(registry::producer().join(part)).arg(target));
        }
        // The longer path first: it begins with the shorter.
        let fillings = [
            ("/path/to/netbox-sdk/.venv", path(environment)),
            ("/path/to/netbox-sdk", path(repo)),
            ("<full-lowercase-commit-sha>", commit),
            ("<exact-released-version>", version),
        ];
        Desk { folder, fillings }
    }

    fn filled(&self, text: &str) -> String {
        let filled = self.fillings.iter().fold(text.to_owned(), |text, (name, value)| text.replace(name, value));
        assert!(!filled.contains(['<', '>']) && !filled.contains("/path/to"), "a placeholder nobody fills: {filled}");
        filled
    }

    fn type_in(&self, command: &str) -> Output {
        let mut shell = Command::new("sh");
        let path =
            [Path::new(GATE).parent().unwrap().as_os_str(), &std::env::var_os("PATH").unwrap()].join(":".as_ref());
        shell.args(["-euc", command]).current_dir(self.folder.path()).env("PATH", path).output().unwrap()
    }
}

#[test]
fn every_command_of_the_readme_runs_on_0_0_13() {
    let desk = Desk::new();
    let record = desk.folder.path().join("tests/fixtures/netbox_sdk_bridge_activation.json");
    let blocked = fs::read(&record).unwrap();

    let ours: Vec<_> = commands().into_iter().filter(|command| command.starts_with(PROGRAM)).collect();
    let verbs: Vec<_> = ours.iter().map(|command| command.split_whitespace().nth(1).unwrap()).collect();
    assert_eq!(verbs, ["verify", "activate", "check", "ci"]);
    for command in ours {
        let filled = desk.filled(&command);
        let output = desk.type_in(&filled);
        let stdout = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(0), "{filled}\n{stdout}{}", String::from_utf8_lossy(&output.stderr));
        let (line, told) = match filled.split_whitespace().nth(1) {
            Some("check") => (stdout.lines().last(), "CONSISTENT: blocked"),
            Some("ci") => (stdout.lines().next(), "# Proves on every change "),
            _ => (stdout.lines().last(), "PASSED: netbox_sdk 0.0.13 at "),
        };
        assert!(line.unwrap().starts_with(told), "{stdout}");
    }
    assert_eq!(fs::read(&record).unwrap(), blocked, "the README's activation is a dry run");
}

#[test]
fn the_operators_guide_is_what_happens_with_0_0_13() {
    let desk = Desk::new();
    let transcript = transcript();
    let verbs: Vec<_> = transcript.iter().map(|step| step.command.split_whitespace().nth(1).unwrap()).collect();
    let expected = [
        "doctor", "verify", "audit", "activate", "apply", "activate", "activate", "apply", "check", "block", "apply",
        "check",
    ];
    assert_eq!(verbs, expected);
    for mut step in transcript {
        step.told.iter_mut().for_each(|line| *line = desk.filled(line));
        let output = desk.type_in(&desk.filled(&step.command));
        let (stdout, stderr) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        let refused = step.told.last().is_some_and(|line| line.starts_with("WRITE-REFUSED: "));
        assert_eq!(output.status.code(), Some(if refused { 4 } else { 0 }), "{}\n{stdout}{stderr}", step.command);
        assert_eq!(step.contradicted_by(&stdout), None, "{}\n{stdout}", step.command);
    }
}
