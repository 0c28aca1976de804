//! Configuration and surroundings that want something to run, or another repository to be read.

use std::path::Path;

use super::{case, packed_case};

/// A script that leaves a mark.
fn trap(folder: &Path, name: &str) -> String {
    use std::os::unix::fs::PermissionsExt;
    let script = folder.join(name);
    std::fs::create_dir_all(folder).unwrap();
    std::fs::write(&script, format!("#!/bin/sh\ntouch {}/marker\n", folder.display())).unwrap();
    std::fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).unwrap();
    script.display().to_string()
}

#[test]
fn nothing_in_the_configuration_runs_or_weakens_anything() {
    let case = case();
    let traps = case.repo.root().join("../traps");
    let script = trap(&traps, "trap");
    for key in [
        "core.fsmonitor",
        "core.hooksPath",
        "core.pager",
        "core.editor",
        "core.sshCommand",
        "core.askPass",
        "core.alternateRefsCommand",
        "credential.helper",
        "diff.external",
        "filter.lfs.clean",
        "filter.lfs.smudge",
        "filter.lfs.process",
        "gpg.program",
        "uploadpack.packObjectsHook",
        "remote.origin.uploadpack",
        "include.path",
    ] {
        case.repo.git(&["config", key, &script]);
    }
    for hook in ["post-checkout", "pre-commit", "fsmonitor-watchman", "post-index-change", "reference-transaction"] {
        let hooks = case.repo.dot_git("hooks");
        std::fs::create_dir_all(&hooks).unwrap();
        std::fs::copy(&script, hooks.join(hook)).unwrap();
    }
    case.repo.write(".gitattributes", "* filter=lfs\n");
    case.repo
        .edit(&case.repo.dot_git("config"), |bytes| bytes.extend_from_slice(b"[core]\n\tworktree = /nonexistent\n"));
    let graph = case.judge().passes();
    let id = graph.entry("pyproject.toml").unwrap().unwrap().id;
    assert_eq!(graph.blob(id).unwrap()[..], *b"[project]\n");
    assert!(!traps.join("marker").exists());
    // The trap does work.
    assert!(std::process::Command::new(&script).status().unwrap().success() && traps.join("marker").exists());
}

#[test]
fn an_include_that_is_a_fifo_or_a_device_is_never_opened() {
    let case = case();
    let pipe = case.repo.root().join("../pipe");
    super::fifo(&pipe);
    case.repo.edit(&case.repo.dot_git("config"), |bytes| {
        bytes.extend_from_slice(format!("[include]\n\tpath = {}\n\tpath = /dev/zero\n", pipe.display()).as_bytes());
    });
    case.judge().passes();
}

#[test]
fn files_that_are_a_fifo_never_hang() {
    use paired_sdk_gate::check::Check;
    type Say = fn(&super::Judged) -> &super::Judged;
    let wrong: [(&str, Say); 5] = [
        ("HEAD", |judged| judged.refuses(Check::GitHead, ".git/HEAD", "not a regular file", "git checkout")),
        ("config", |judged| judged.cannot_tell(Check::GitRepository, ".git/config", "not a regular file", "clone")),
        ("commondir", |judged| {
            judged.cannot_tell(Check::GitRepository, ".git/commondir", "not a regular file", "clone")
        }),
        ("shallow", |judged| judged.refuses(Check::GitHistory, ".git/shallow", "not a regular file", "clone")),
        ("packed-refs", |judged| {
            judged.refuses(Check::GitReleaseTag, ".git/packed-refs", "not a regular file", "git rev-parse")
        }),
    ];
    for (name, say) in wrong {
        let case = case();
        let _ = std::fs::remove_file(case.repo.dot_git(name));
        super::fifo(&case.repo.dot_git(name));
        say(&case.judge());
    }
    for extension in ["pack", "idx"] {
        let case = packed_case();
        let path = case.repo.pack().with_extension(extension);
        std::fs::remove_file(&path).unwrap();
        super::fifo(&path);
        case.judge().refuses(Check::GitObjects, &format!(".{extension}"), "not a regular file", "clone");
    }
}

#[test]
fn variables_of_the_caller_have_no_influence() {
    let (case, other) = (case(), case());
    // The variables have to be those of this process: nextest runs each test in its own, and so does the next line.
    let exe = std::env::current_exe().unwrap();
    let output = std::process::Command::new(exe)
        .args(["graph::hostile::child_with_variables", "--exact", "--ignored", "--nocapture"])
        .env("GRAPH_ROOT", case.repo.root())
        .env("GRAPH_COMMIT", &case.commit)
        .env("GIT_DIR", other.repo.dot_git(""))
        .env("GIT_WORK_TREE", other.repo.root())
        .env("GIT_COMMON_DIR", "/nonexistent")
        .env("GIT_OBJECT_DIRECTORY", "/nonexistent")
        .env("GIT_ALTERNATE_OBJECT_DIRECTORIES", "/nonexistent")
        .env("GIT_CONFIG_COUNT", "1")
        .env("GIT_CONFIG_KEY_0", "core.bare")
        .env("GIT_CONFIG_VALUE_0", "true")
        .env("GIT_SHALLOW_FILE", "/dev/zero")
        .env("GIT_GRAFT_FILE", "/dev/zero")
        .env("GIT_REPLACE_REF_BASE", "refs/heads/")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn child_with_variables() {
    let (root, commit) = (std::env::var_os("GRAPH_ROOT").unwrap(), std::env::var("GRAPH_COMMIT").unwrap());
    super::Ask::new(Path::new(&root), &commit).judge().passes();
}
