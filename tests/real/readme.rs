//! The README's commands for a real subject, typed as they stand there with the placeholders filled in.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::gate::{GATE, Identity};
use crate::readme::{PROGRAM, commands};
use crate::support::registry;

#[test]
fn every_command_of_the_readme_runs_on_0_0_13() {
    let identity = Identity::released("0.0.13");
    let folder = tempfile::TempDir::new().unwrap();
    let record = folder.path().join("tests/fixtures/netbox_sdk_bridge_activation.json");
    for part in ["tests/fixtures", "netbox_proxbox/api", ".github", ".gitea"] {
        let target = folder.path().join(part);
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        registry::run(Command::new("cp").arg("--recursive").arg(registry::producer().join(part)).arg(target));
    }
    let blocked = fs::read(&record).unwrap();

    let ours: Vec<_> = commands().into_iter().filter(|command| command.starts_with(PROGRAM)).collect();
    let verbs: Vec<_> = ours.iter().map(|command| command.split_whitespace().nth(1).unwrap()).collect();
    assert_eq!(verbs, ["verify", "activate", "check", "ci"]);
    for command in ours {
        // The longer path first: it begins with the shorter.
        let filled = command
            .replace("/path/to/netbox-sdk/.venv", identity.environment.to_str().unwrap())
            .replace("/path/to/netbox-sdk", identity.repo.to_str().unwrap())
            .replace("<full-lowercase-commit-sha>", &identity.commit)
            .replace("<exact-released-version>", &identity.version);
        assert!(!filled.contains(['<', '>']) && !filled.contains("/path/to"), "a placeholder nobody fills: {filled}");
        let mut shell = Command::new("sh");
        let path =
            [Path::new(GATE).parent().unwrap().as_os_str(), &std::env::var_os("PATH").unwrap()].join(":".as_ref());
        let output = shell.args(["-euc", &filled]).current_dir(folder.path()).env("PATH", path).output().unwrap();
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
