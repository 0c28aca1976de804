//! What the commands around a proof say: the record, the producer's repository, the contract, saved reports, explanations.

use std::fs;
use std::path::Path;
use std::process::Command;

use paired_sdk_gate::check::Check;
use paired_sdk_gate::committed;

use super::hold;
use super::subject::Scene;
use crate::committed::{CONSTANTS, Producer, RECORD};

/// A shell's view of commands: what was typed in that folder, what came on either stream, and the exit code.
fn typed(folder: &Path, commands: &[&str]) -> String {
    let mut text = String::new();
    for command in commands {
        let mut shell = Command::new("sh");
        let gate = Path::new(env!("CARGO_BIN_EXE_paired-sdk-gate")).parent().unwrap().as_os_str();
        let path = [gate, &std::env::var_os("PATH").unwrap()].join(":".as_ref());
        shell.args(["-c", &format!("{{ {command}; }} 2>&1")]).current_dir(folder).env_clear().env("PATH", path);
        let output = shell.env("TMPDIR", folder).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap().replace(folder.to_str().unwrap(), "/dir");
        text += &format!("$ {command}\n{said}[exit {}]\n\n", output.status.code().unwrap());
    }
    text
}

#[test]
fn record() {
    let producer = Producer::blocked();
    fs::write(producer.path("odd.json"), producer.read(RECORD).replace("\"blocked\"", "\"open\"")).unwrap();
    fs::copy(producer.path(RECORD), producer.path("record.json")).unwrap();
    std::os::unix::fs::symlink("record.json", producer.path("link.json")).unwrap();
    hold(
        "record",
        &typed(
            producer.root(),
            &[
                "paired-sdk-gate status --record record.json",
                "paired-sdk-gate status --record nothing.json",
                "paired-sdk-gate status --record odd.json",
                "paired-sdk-gate block --record record.json --reason 'Not understood' --dry-run",
                "paired-sdk-gate block --record record.json --reason 'Not understood'",
                "paired-sdk-gate block --record record.json --reason ' '",
                "paired-sdk-gate block --record link.json --reason 'Not understood'",
                "paired-sdk-gate block --record nothing.json --reason 'Not understood'",
                "paired-sdk-gate block --producer-root . --reason 'Not understood'",
                "paired-sdk-gate block --producer-root . --reason 'Understood' --patch block.patch",
            ],
        ),
    );
}

#[test]
fn check() {
    let producer = Producer::active();
    let mut text = typed(producer.root(), &["paired-sdk-gate check --producer-root ."]);
    producer.edit(CONSTANTS, "\"active\"", "\"blocked\"");
    producer.edit(crate::committed::WORKFLOW, "uv sync --frozen", "uv sync");
    fs::remove_file(producer.path(crate::committed::SNAPSHOT)).unwrap();
    text += &typed(
        producer.root(),
        &[
            "paired-sdk-gate check --producer-root .",
            "paired-sdk-gate check --producer-root . --quiet",
            "paired-sdk-gate check --producer-root . --format github",
            "paired-sdk-gate check --producer-root nowhere",
        ],
    );
    hold("check", &text);
}

#[test]
fn activate() {
    let producer = Producer::blocked();
    let identity = "--sdk-root sdk --expected-commit 0123456789abcdef0123456789abcdef01234567 --expected-version 0.0.13 \
                    --expected-environment-root /nowhere --expected-module-origin netbox_sdk/plugin_bridge.py";
    let commands = ["--record nothing.json", "--producer-root .", "--producer-root . --patch activation.patch"];
    let commands = commands.map(|more| format!("paired-sdk-gate activate {identity} {more}"));
    let text = typed(producer.root(), &commands.each_ref().map(String::as_str));
    hold("activate", &text.replace(identity, "<identity>"));
}

#[test]
fn contract() {
    let dir = tempfile::tempdir().unwrap();
    let manifest = paired_sdk_gate::contract::Contract::bridge_v1().manifest();
    fs::write(dir.path().join("other.json"), manifest.replace("sync/schedule/", "sync/elsewhere/")).unwrap();
    fs::write(dir.path().join("bad.json"), r#"{"sync_stages":["all"],"recurrence":{"hours":0,"days":1},"schedule_at":"2026-08-12T12:34:60Z","proxmox_endpoint_ids":[7,7.0],"more":1}"#).unwrap();
    hold(
        "contract",
        &typed(
            dir.path(),
            &[
                "echo '{\"sync_stages\":[\"sdn\"],\"recurrence\":{\"hours\":6}}' | paired-sdk-gate validate arguments --tool schedule_sync -",
                "paired-sdk-gate validate arguments --tool schedule_sync bad.json",
                "paired-sdk-gate validate arguments --tool schedule_sync bad.json --quiet",
                "paired-sdk-gate validate arguments bad.json",
                "paired-sdk-gate validate manifest other.json",
                "paired-sdk-gate validate manifest nothing.json",
                "paired-sdk-gate manifest --check other.json",
                "paired-sdk-gate manifest --check bad.json",
            ],
        ),
    );
}

#[test]
fn audit() {
    let report = Scene::new().play("verify").1;
    let forged = report.replace("\"verdict\": \"passed\"", "\"verdict\": \"refused\"");
    assert_ne!(report, forged);
    let dir = tempfile::tempdir().unwrap();
    for (name, report) in [("report.json", report), ("forged.json", forged)] {
        fs::write(dir.path().join(name), report).unwrap();
    }
    let text = typed(
        dir.path(),
        &[
            "paired-sdk-gate audit report.json",
            "paired-sdk-gate audit forged.json",
            "paired-sdk-gate audit nothing.json",
            "paired-sdk-gate audit report.json --record nothing.json",
        ],
    );
    // Two reports differ in their times, and so in their digests.
    let digest = |word: &str| if word.len() == 64 { "<digest>".to_owned() } else { word.to_owned() };
    let lines = text.lines().map(|line| line.split(' ').map(digest).collect::<Vec<_>>().join(" "));
    hold("audit", &(lines.collect::<Vec<_>>().join("\n") + "\n"));
}

#[test]
fn doctor() {
    let mut scene = Scene::new();
    scene.arguments.clear();
    let mut text = format!("### ready\n{}", scene.play("doctor").0);
    scene.subject.environment = "/nowhere".into();
    fs::remove_dir_all(scene.subject.repo.dot_git("")).unwrap();
    text += &format!("\n### nothing is there\n{}", scene.play("doctor").0);
    hold("doctor", &text);
}

#[test]
fn explain() {
    let mut commands = vec!["paired-sdk-gate explain".to_owned(), "paired-sdk-gate explain git.nothing".to_owned()];
    let ids = Check::all().map(Check::id).chain(committed::TABLE.iter().map(|kind| kind.id())).chain(["host.room"]);
    commands.extend(ids.map(|id| format!("paired-sdk-gate explain {id}")));
    let commands: Vec<_> = commands.iter().map(String::as_str).collect();
    hold("explain", &typed(tempfile::tempdir().unwrap().path(), &commands));
}

#[test]
fn usage() {
    let dir = tempfile::tempdir().unwrap();
    hold(
        "usage",
        &typed(
            dir.path(),
            &[
                "paired-sdk-gate verify",
                "paired-sdk-gate verify --expected-commit main",
                "paired-sdk-gate verify --expected-version '>=0.0.13'",
                "paired-sdk-gate verify --expected-environment-root .venv",
                "paired-sdk-gate verify --expected-module-origin os.py",
                "paired-sdk-gate audit",
                "paired-sdk-gate pair",
                "paired-sdk-gate nothing",
            ],
        ),
    );
}
