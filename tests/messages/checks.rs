//! Each check that fails, with every scene in which it says something else.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use serde_json::Value;

use super::hold;
use super::subject::{BRIDGE, INIT, Scene};
use crate::pair;
use crate::support::artifact;
use crate::support::half;
use crate::tools;

type Play = (&'static str, fn(&mut Scene));

/// Every part of every finding is there.
fn complete(name: &str, report: &str) {
    let report: Value = serde_json::from_str(report).unwrap();
    for check in report["checks"].as_array().unwrap() {
        let findings = check["findings"].as_array().unwrap();
        let open = ["failed", "error"].iter().any(|status| check["status"] == *status);
        assert_eq!(open, !findings.is_empty(), "{name}: {check}");
        for finding in findings {
            for part in ["subject", "expected", "actual", "hint"] {
                assert!(!finding[part].as_str().unwrap().trim().is_empty(), "{name}: no {part} in {finding}");
            }
            assert_ne!(finding["expected"], finding["actual"], "{name}");
        }
    }
}

fn play(stage: &str, scenes: &[Play]) {
    play_with(stage, Scene::new, "verify", scenes);
}

fn play_with(stage: &str, start: fn() -> Scene, verb: &str, scenes: &[Play]) {
    let mut text = String::new();
    for (name, change) in scenes {
        let mut scene = start();
        change(&mut scene);
        let (said, report) = scene.play(verb);
        complete(name, &report);
        text += &format!("### {name}\n{said}\n");
    }
    hold(stage, &text);
}

#[test]
fn graph() {
    play(
        "graph",
        &[
            ("no repository", |scene| fs::remove_dir_all(scene.subject.repo.dot_git("")).unwrap()),
            ("an unknown extension", |scene| {
                scene.subject.repo.git(&["config", "core.repositoryformatversion", "1"]);
                scene.subject.repo.git(&["config", "extensions.unheard", "true"]);
            }),
            ("another commit", |scene| {
                let expected = scene.subject.commit.clone();
                scene.commit("README", |_| "more".into());
                scene.subject.commit = expected;
            }),
            ("a shallow clone", |scene| {
                let commit = &scene.subject.commit;
                scene.subject.repo.write(".git/shallow", format!("{commit}\n"));
            }),
            ("a missing blob", |scene| {
                let blob = scene.subject.repo.git(&["rev-parse", &format!("HEAD:{INIT}")]);
                fs::remove_file(scene.subject.repo.loose_path(&blob)).unwrap();
            }),
            ("a damaged blob", |scene| {
                let blob = scene.subject.repo.git(&["rev-parse", &format!("HEAD:{INIT}")]);
                scene.subject.repo.put_loose(&blob, crate::support::git::deflate(b"blob 3\0abc"));
            }),
            ("a tree that git refuses", |scene| {
                let repo = &scene.subject.repo;
                let blob = repo.git(&["rev-parse", &format!("HEAD:{INIT}")]);
                let id = gix::ObjectId::from_hex(blob.as_bytes()).unwrap();
                let bad = repo.object("tree", &[b"100644 .git\0", id.as_bytes()].concat());
                let tree = repo.git(&["rev-parse", "HEAD^{tree}"]);
                let old = repo.git(&["commit-tree", "-m", "bad", &bad]);
                scene.subject.commit = repo.git(&["commit-tree", "-m", "good", "-p", &old, &tree]);
                repo.git(&["update-ref", "HEAD", &scene.subject.commit]);
            }),
            ("a tag elsewhere", |scene| {
                scene.subject.repo.git(&["tag", "v1.0.0", "HEAD~1"]);
            }),
            ("too many objects", |scene| scene.with(&["--limit-objects", "3"])),
            ("no time", |scene| scene.with(&["--limit-seconds", "0"])),
        ],
    );
}

#[test]
fn inventory() {
    play(
        "inventory",
        &[
            ("a symbolic link in the commit", |scene| {
                symlink("plugin_bridge.py", scene.subject.repo.root().join("netbox_sdk/alias.py")).unwrap();
                scene.subject.commit = scene.subject.repo.commit_all("link");
            }),
            ("no bridge", |scene| {
                fs::remove_file(scene.subject.repo.root().join(BRIDGE)).unwrap();
                scene.subject.commit = scene.subject.repo.commit_all("remove");
            }),
            ("native code", |scene| scene.commit("netbox_sdk/fast.so", |_| "x".into())),
            ("a file changed on disk", |scene| scene.subject.repo.write(INIT, "__version__ = \"9.9.9\"\n")),
            ("a file more on disk", |scene| scene.subject.repo.write("netbox_sdk/helper.py", "")),
            ("a file less on disk", |scene| fs::remove_file(scene.subject.repo.root().join(BRIDGE)).unwrap()),
            ("other line endings on disk", |scene| {
                let text = fs::read_to_string(scene.subject.repo.root().join(INIT)).unwrap();
                scene.subject.repo.write(INIT, text.replace('\n', "\r\n"));
            }),
            ("another version", |scene| scene.commit(INIT, |text| text.replace("1.0.0", "1.0.1"))),
            ("a computed version", |scene| scene.commit(INIT, |_| "__version__ = str(1)\n".into())),
            ("another version of the project", |scene| {
                scene.commit("pyproject.toml", |text| text.replace("1.0.0", "1.0.1"))
            }),
            ("an artifact that is no archive", |scene| artifact(scene, b"no archive")),
            ("an artifact with another package", |scene| {
                let info = "netbox_sdk-1.0.0.dist-info";
                let metadata = b"Metadata-Version: 2.4\nName: netbox-sdk\nVersion: 1.0.0\n\n".to_vec();
                let mut files = vec![("netbox_sdk/__init__.py".to_owned(), b"other".to_vec())];
                files.push((format!("{info}/METADATA"), metadata));
                artifact::sign(&mut files, info);
                artifact(scene, &artifact::wheel(&files));
            }),
            ("an artifact of another version", |scene| {
                let mut files = vec![(
                    "netbox_sdk-1.0.0.dist-info/METADATA".to_owned(),
                    b"Name: netbox-sdk\nVersion: 2.0\n\n".to_vec(),
                )];
                artifact::sign(&mut files, "netbox_sdk-1.0.0.dist-info");
                artifact(scene, &artifact::wheel(&files));
            }),
        ],
    );
}

fn artifact(scene: &mut Scene, bytes: &[u8]) {
    let path = scene.subject.dir.path().join("netbox_sdk-1.0.0-py3-none-any.whl");
    fs::write(&path, bytes).unwrap();
    scene.with(&["--release-artifact", path.to_str().unwrap()]);
}

/// The checks that only a race or a defect can fail are asked in this process, and said in the program's form.
#[test]
fn snapshot() {
    let scene = Scene::new();
    let said = |id: &str, claim: &str, findings: &[paired_sdk_gate::check::Finding]| {
        let mut text = format!("FAIL  {id:<24} {claim}\n");
        for found in findings {
            let (expected, actual, hint) = (&found.expected, &found.actual, &found.hint);
            text += &format!(
                "      {}\n        expected  {expected}\n        found     {actual}\n        next      {hint}\n",
                found.subject
            );
        }
        text
    };
    let moved = |stage| {
        if stage == paired_sdk_gate::check::Stage::Snapshot {
            scene.subject.repo.git(&["update-ref", "HEAD", "HEAD~1"]);
        }
    };
    let commit = &scene.subject.commit;
    let (run, copy) =
        half::interruptible(scene.subject.repo.root(), commit, &scene.temporary, Default::default(), &moved);
    assert!(copy.is_none());
    let entry = &run.ledger.entries()[paired_sdk_gate::check::Check::SnapshotHead as usize];
    let mut text =
        format!("### HEAD moves during the run\n{}", said("snapshot.head", entry.check.claim(), &entry.findings));

    scene.subject.repo.git(&["update-ref", "HEAD", commit]);
    let (_, copy) = half::snapshot(scene.subject.repo.root(), commit, &scene.temporary);
    let copy = copy.unwrap();
    fs::set_permissions(copy.root().join(INIT), PermissionsExt::from_mode(0o644)).unwrap();
    fs::write(copy.root().join(INIT), "").unwrap();
    let check = paired_sdk_gate::check::Check::SnapshotIntact;
    text += &format!("\n### a copy that changes\n{}", said(check.id(), check.claim(), &copy.changes()));
    drop(copy);

    let mut scene = Scene::new();
    scene.temporary = scene.subject.dir.path().join("nowhere");
    let (told, report) = scene.play("verify");
    complete("no temporary folder", &report);
    hold("snapshot", &format!("{text}\n### no temporary folder\n{told}"));
}

#[test]
fn environment() {
    play(
        "environment",
        &[
            ("no environment", |scene| scene.subject.environment = Path::new("/nowhere").to_owned()),
            ("no virtual environment", |scene| fs::remove_file(scene.subject.environment.join("pyvenv.cfg")).unwrap()),
            ("the system's packages, too", |scene| {
                let config = scene.subject.environment.join("pyvenv.cfg");
                let text = fs::read_to_string(&config).unwrap();
                fs::write(config, text.replace("packages = false", "packages = true")).unwrap();
            }),
            ("no interpreter", |scene| fs::remove_file(scene.subject.environment.join("bin/python")).unwrap()),
            ("a changed module", |scene| fs::write(scene.subject.site().join("jsonschema/__init__.py"), "1").unwrap()),
            ("no RECORD", |scene| {
                fs::remove_file(scene.subject.site().join("jsonschema-1.0.dist-info/RECORD")).unwrap()
            }),
            ("a stray module", |scene| fs::write(scene.subject.site().join("sitecustomize.py"), "").unwrap()),
            ("a requirement that is not met", |scene| {
                scene.commit("pyproject.toml", |text| text.replace("dependencies = []", "dependencies = [\"attrs\"]"));
            }),
            ("a lock that names another version", |scene| {
                let lock = "version = 1\n[[package]]\nname = \"jsonschema\"\nversion = \"2.0\"\n[[package]]\nname = \"pydantic\"\nversion = \"1.0\"\n";
                scene.commit("uv.lock", |_| lock.into());
            }),
            ("an installed file that differs from its wheel", |scene| {
                let wheels = scene.subject.dir.path().join("wheels");
                fs::create_dir(&wheels).unwrap();
                let mut files = vec![("jsonschema/__init__.py".to_owned(), b"1".to_vec())];
                artifact::sign(&mut files, "jsonschema-1.0.dist-info");
                let wheel = artifact::wheel(&files);
                let digest = paired_sdk_gate::digest::sha256(&wheel);
                fs::write(wheels.join("jsonschema-1.0-py3-none-any.whl"), wheel).unwrap();
                let lock = format!(
                    "version = 1\n[[package]]\nname = \"jsonschema\"\nversion = \"1.0\"\n\
                     wheels = [{{ url = \"b\", hash = \"sha256:{digest}\" }}]\n[[package]]\nname = \"pydantic\"\nversion = \"1.0\"\n"
                );
                scene.commit("uv.lock", |_| lock);
                scene.with(&["--wheelhouse", wheels.to_str().unwrap()]);
            }),
            ("no wheelhouse", |scene| scene.with(&["--wheelhouse", "/nowhere"])),
        ],
    );
}

#[test]
fn probe() {
    play(
        "probe",
        &[
            ("an interpreter that is none", |scene| {
                let python = scene.subject.environment.join("bin/python");
                fs::remove_file(&python).unwrap();
                fs::write(&python, "#!/bin/sh\necho no interpreter at all >&2\n").unwrap();
                fs::set_permissions(&python, fs::Permissions::from_mode(0o755)).unwrap();
            }),
            ("a kernel that confines less", |scene| {
                scene.before = "ulimit -n 100;";
                scene.with(&["--require-sandbox"]);
            }),
            ("a process that ends", |scene| scene.hostile("probe.transcript--aborts")),
            ("a module that never ends", |scene| {
                scene.append("while True: pass");
                scene.with(&["--limit-import-seconds", "1"]);
            }),
            ("a thread that stays", |scene| scene.hostile("probe.residue--thread")),
            ("answers that depend on the order", |scene| {
                scene.append(
                "_calls = []\n_honest = validate_plugin_tool_response\n\n\ndef validate_plugin_tool_response(tool, response):\n    \
                 _calls.append(None)\n    if len(_calls) > 2:\n        _honest(tool, response)",
            );
            }),
        ],
    );
}

/// Has the kernel know no rules about ports, which the client's process alone is given.
const NO_PORTS: &str = r#"exec python3 -c '
import ctypes, os, sys
def step(code, value, yes=0, no=0):
    return code.to_bytes(2, "little") + bytes([yes, no]) + value.to_bytes(4, "little")
load, equal, answer = 0x20, 0x15, 0x06
number, rule = 0, 24
landlock_add_rule, net_port, unknown = 445, 2, 0x50000 | 22
program = step(load, number) + step(equal, landlock_add_rule, no=3) + step(load, rule) + step(equal, net_port, no=1)
program += step(answer, unknown) + step(answer, 0x7fff0000)
class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]
prctl = ctypes.CDLL(None, use_errno=True).prctl
no_new_privileges, set_seccomp, filter_mode = 38, 22, 2
zero = ctypes.c_ulong(0)
done = prctl(no_new_privileges, ctypes.c_ulong(1), zero, zero, zero)
done |= prctl(set_seccomp, ctypes.c_ulong(filter_mode), ctypes.byref(Program(len(program) // 8, program)))
os.execv(sys.argv[1], sys.argv[1:]) if done == 0 else sys.exit("no filter")
' "$0" "$@";"#;

#[test]
fn pair() {
    play(
        "pair",
        &[
            ("a kernel that confines the client less", |scene| {
                scene.before = NO_PORTS;
                scene.with(&["--require-sandbox"]);
            }),
            ("a client that cannot be imported", |scene| {
                scene.commit("netbox_sdk/config.py", |_| pair::MISSING.into())
            }),
            ("a link that leads astray", |scene| scene.client(pair::UNPINNED)),
            ("a submission repeated", |scene| scene.client(&pair::wrapped(pair::AGAIN))),
            ("numbers rounded", |scene| scene.client(&pair::wrapped(pair::HALVED))),
            ("a credential in the address", |scene| scene.client(&pair::wrapped(pair::LEAK))),
            ("a request elsewhere", |scene| scene.client(&pair::wrapped(pair::ELSEWHERE))),
        ],
    );
}

#[test]
fn tools() {
    play_with(
        "tools",
        tools::scene,
        "pair",
        &[
            ("a kernel that confines the server less", |scene| {
                scene.before = NO_PORTS;
                scene.with(&["--require-sandbox"]);
            }),
            ("an environment without the server's extra", |scene| {
                fs::remove_dir_all(scene.subject.site().join("mcp")).unwrap();
                fs::remove_dir_all(scene.subject.site().join("mcp-1.0.dist-info")).unwrap();
            }),
            ("a server that cannot be imported", |scene| tools::append(scene, pair::MISSING)),
            ("a submission without consent", |scene| tools::append(scene, tools::UNGUARDED)),
            ("an error told as a success", |scene| tools::append(scene, tools::SWALLOWED)),
            ("a secret in the log", |scene| tools::append(scene, tools::LEAKED)),
            ("a tool of a plugin as one of its own", |scene| tools::append(scene, tools::OFFERED)),
            ("two answers", |scene| tools::append(scene, tools::TWICE)),
            ("numbers rounded", |scene| tools::append(scene, tools::ROUNDED)),
            ("a link that leads astray", |scene| scene.client(pair::UNPINNED)),
        ],
    );
}

#[test]
fn module() {
    play(
        "module",
        &[
            ("a module that cannot be imported", |scene| scene.append("raise RuntimeError('not today')")),
            ("a version that changes", |scene| {
                scene.commit(INIT, |text| format!("{text}globals()['__version__'] = '1.0.0+x'\n"))
            }),
            ("no validators", |scene| {
                scene.commit(BRIDGE, |text| text.replace("import jsonschema, pydantic\n", ""));
                for part in ["jsonschema", "jsonschema-1.0.dist-info"] {
                    fs::remove_dir_all(scene.subject.site().join(part)).unwrap();
                }
            }),
            ("a module from elsewhere", |scene| scene.hostile("module.loaded--two-origins")),
        ],
    );
}

#[test]
fn vectors() {
    play(
        "vectors",
        &[
            ("another manifest", |scene| {
                let path = scene.subject.dir.path().join("manifest.json");
                let text = paired_sdk_gate::contract::Contract::bridge_v1().manifest();
                fs::write(&path, text.replace("\"effect\": \"read\"", "\"effect\": \"destructive\"")).unwrap();
                scene.with(&["--manifest", path.to_str().unwrap()]);
            }),
            ("integers rounded", |scene| {
                let (from, to) = paired_sdk_gate::contract::DEMO_WRONG_ROUNDING;
                scene.commit(BRIDGE, |text| text.replace(from, to));
            }),
            ("leap seconds anywhere", |scene| {
                scene.commit(BRIDGE, |text| text.replace("if second < 60:", "if second <= 60:"))
            }),
            ("required members forgotten", |scene| {
                scene.commit(BRIDGE, |text| text.replace("\"required\"", "\"forgotten\""))
            }),
            ("an error of another class", |scene| {
                scene.append("def validate_plugin_tool_response(tool, response):\n    raise ValueError('no')");
            }),
        ],
    );
}
