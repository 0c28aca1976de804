//! What lies around the objects: settings, the caller's variables, the owner, and the files on disk.

use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::checkout::{Base, Checkout};
use super::{Case, Expected, refused};
use crate::support::git::id_of;

const WORKTREE: &str = "package.worktree";
const BRIDGE: &str = "netbox_sdk/plugin_bridge.py";

pub fn cases() -> Vec<Case> {
    [settings(), variables(), owners(), contents(), entries(), indexes()].into_iter().flatten().collect()
}

fn loose(name: impl Into<String>, spoil: impl Fn(&mut Checkout) + Send + Sync + 'static, expected: Expected) -> Case {
    Case::new(name, Base::Loose, spoil, expected)
}

/// HEAD's parent becomes a commit whose author has no address; the commit in between is given back.
fn malformed_history(it: &mut Checkout) -> String {
    let tree = it.rev("HEAD^{tree}");
    let text = format!("tree {tree}\nauthor A 1 +0000\ncommitter C <c@d> 1 +0000\n\nx\n");
    let below = it.repo.object("commit", text.as_bytes());
    let text = format!("tree {tree}\nparent {below}\nauthor A <a@b> 1 +0000\ncommitter C <c@d> 1 +0000\n\nx\n");
    it.commit = it.repo.object("commit", text.as_bytes());
    it.repo.put(&it.dot_git("HEAD"), format!("{}\n", it.commit));
    below
}

fn settings() -> Vec<Case> {
    let set = |it: &Checkout, key: &str, value: &str| drop(it.repo.git(&["config", key, value]));
    let broken = || Expected::Refused("git.well-formed", vec!["missingEmail: ".into()]);
    let skip = move |it: &mut Checkout| {
        let (list, below) = (it.dir.path().join("skip"), malformed_history(it));
        std::fs::write(&list, format!("{below}\n")).unwrap();
        set(it, "fsck.skipList", list.to_str().unwrap());
    };
    let ignore = move |it: &mut Checkout| {
        malformed_history(it);
        set(it, "fsck.missingEmail", "ignore");
    };
    let include = move |it: &mut Checkout| {
        malformed_history(it);
        let included = it.dir.path().join("included");
        std::fs::write(&included, "[fsck]\n\tmissingEmail = ignore\n").unwrap();
        set(it, "include.path", included.to_str().unwrap());
    };
    let mut cases = vec![
        loose("settings: a rule is broken", |it| drop(malformed_history(it)), broken()),
        loose("settings: fsck.skipList", skip, broken()),
        loose("settings: fsck.missingEmail = ignore", ignore, broken()),
        loose("settings: the same in an included file", include, broken()),
    ];
    for key in [
        "core.fsmonitor",
        "core.hooksPath",
        "core.sshCommand",
        "core.alternateRefsCommand",
        "core.pager",
        "diff.external",
        "filter.x.clean",
        "filter.x.process",
        "credential.helper",
        "include.path",
    ] {
        let trap = move |it: &mut Checkout| {
            let script = it.dir.path().join("trap");
            std::fs::write(&script, format!("#!/bin/sh\n: >{}\n", it.dir.path().join("marker").display())).unwrap();
            std::fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).unwrap();
            it.repo.write(".gitattributes", "* filter=x diff=x\n");
            set(it, key, script.to_str().unwrap());
        };
        let expected = Expected::Sound;
        cases.push(loose(format!("settings: a trap in {key}"), trap, expected));
    }
    cases
}

fn variables() -> Vec<Case> {
    let nowhere = "/nonexistent";
    let list: [(&'static str, &'static [(&'static str, &'static str)]); 9] = [
        ("GIT_DIR", &[("GIT_DIR", "/nonexistent")]),
        ("GIT_WORK_TREE", &[("GIT_WORK_TREE", "/")]),
        ("GIT_COMMON_DIR", &[("GIT_COMMON_DIR", "/nonexistent")]),
        ("GIT_OBJECT_DIRECTORY", &[("GIT_OBJECT_DIRECTORY", "/nonexistent")]),
        ("GIT_ALTERNATE_OBJECT_DIRECTORIES", &[("GIT_ALTERNATE_OBJECT_DIRECTORIES", "/dev/zero")]),
        ("GIT_SHALLOW_FILE", &[("GIT_SHALLOW_FILE", "/dev/zero")]),
        ("GIT_GRAFT_FILE", &[("GIT_GRAFT_FILE", "/dev/zero")]),
        ("GIT_INDEX_FILE", &[("GIT_INDEX_FILE", "/dev/zero")]),
        (
            "GIT_CONFIG_COUNT",
            &[("GIT_CONFIG_COUNT", "1"), ("GIT_CONFIG_KEY_0", "core.bare"), ("GIT_CONFIG_VALUE_0", "true")],
        ),
    ];
    let mut cases: Vec<_> = list
        .into_iter()
        .map(|(name, variables)| {
            let spoil = move |it: &mut Checkout| {
                it.variables = variables.iter().map(|&(name, value)| (name, value.to_owned())).collect();
            };
            loose(format!("variables: {name}"), spoil, Expected::Sound)
        })
        .collect();
    let borrowed = move |it: &mut Checkout| {
        let aside = it.dir.path().join("objects");
        std::fs::rename(it.dot_git("objects"), &aside).unwrap();
        std::fs::create_dir(it.dot_git("objects")).unwrap();
        it.variables = vec![("GIT_OBJECT_DIRECTORY", aside.display().to_string()), ("GIT_TRACE", nowhere.into())];
    };
    let expected = refused("git.objects", "no such object in the repository");
    cases.push(loose("variables: the objects are only where one says", borrowed, expected));
    cases
}

/// Another user's checkout can only be made by root.
fn owners() -> Vec<Case> {
    if !rustix::process::geteuid().is_root() {
        return Vec::new();
    }
    let given = |it: &mut Checkout| {
        for entry in walkdir::WalkDir::new(it.root()) {
            chown(entry.unwrap().path(), Some(4242), Some(4242)).unwrap();
        }
    };
    vec![loose("owner: another user", given, Expected::Sound)]
}

fn on_disk(text: &'static str) -> impl Fn(&mut Checkout) + Send + Sync {
    move |it| it.repo.write(BRIDGE, text)
}

fn contents() -> Vec<Case> {
    let mode = |mode: u32| {
        move |it: &mut Checkout| {
            std::fs::set_permissions(it.root().join(BRIDGE), PermissionsExt::from_mode(mode)).unwrap();
        }
    };
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 3\n";
    let differs = |text: &str| refused(WORKTREE, text);
    vec![
        loose("disk: other content", on_disk("two = 3\n$Id$\n"), differs("different from byte 6 on")),
        loose("disk: an empty file", on_disk(""), differs("other content, 0 bytes")),
        loose("disk: line endings", on_disk("two = 2\r\n$Id$\r\n"), differs("the same lines with other line endings")),
        loose("disk: an expanded ident", on_disk("two = 2\n$Id: 012 $\n"), differs("an expanded $Id$")),
        loose("disk: an LFS pointer", on_disk(pointer), differs("a Git LFS pointer instead of the content")),
        loose("disk: executable", mode(0o755), differs("mode 100755")),
        loose("disk: executable for others only", mode(0o645), Expected::Sound),
        loose("disk: read-only", mode(0o400), Expected::Sound),
    ]
}

fn entries() -> Vec<Case> {
    let instead = |make: fn(&Path)| {
        move |it: &mut Checkout| {
            let path = it.root().join(BRIDGE);
            std::fs::rename(&path, it.dir.path().join("aside.py")).unwrap();
            make(&path);
        }
    };
    let moved = |from: &'static str, to: &'static str| {
        move |it: &mut Checkout| std::fs::rename(it.root().join(from), it.root().join(to)).unwrap()
    };
    let more = |path: &'static str| move |it: &mut Checkout| it.repo.write(path, "more\n");
    let ignored = |it: &mut Checkout| {
        it.repo.write(".git/info/exclude", "*\n");
        it.repo.write("netbox_sdk/more.py", "more\n");
    };
    let gone = |path: &'static str| {
        move |it: &mut Checkout| {
            let path = it.root().join(path);
            if path.is_dir() { std::fs::remove_dir_all(path).unwrap() } else { std::fs::remove_file(path).unwrap() }
        }
    };
    let linked_cache = |it: &mut Checkout| symlink("/", it.root().join("netbox_sdk/__pycache__")).unwrap();
    let deep = |it: &mut Checkout| it.repo.write(&format!("netbox_sdk/{}x", "d/".repeat(300)), "x");
    let differs = |text: &str| refused(WORKTREE, text);
    let untracked = || differs("a file the commit does not have");
    let mut cases = vec![
        loose(
            "disk: a link to the same content",
            instead(|path| symlink("../../aside.py", path).unwrap()),
            differs("a symbolic link"),
        ),
        loose("disk: a fifo", instead(crate::graph::fifo), differs("a fifo, socket or device")),
        loose(
            "disk: a socket",
            instead(|path| drop(std::os::unix::net::UnixListener::bind(path).unwrap())),
            differs("a fifo, socket or device"),
        ),
        loose("disk: a folder for a file", instead(|path| std::fs::create_dir(path).unwrap()), differs("no such file")),
        loose("disk: no such file", gone(BRIDGE), differs("plugin_bridge.py: no such file")),
        loose("disk: no such folder", gone("netbox_sdk/data"), differs("netbox_sdk/data/: no such folder")),
        loose("disk: no package", gone("netbox_sdk"), differs("is this a bare, sparse or unfinished checkout")),
        loose("disk: a link to the package", moved("netbox_sdk", "aside"), differs("nothing; is this")),
        loose(
            "disk: the package in other letters",
            moved("netbox_sdk", "NetBox_SDK"),
            differs("which differs in letter case"),
        ),
        loose(
            "disk: a file in other letters",
            moved(BRIDGE, "netbox_sdk/Plugin_Bridge.py"),
            differs("only in letter case"),
        ),
        loose("disk: an untracked file", more("netbox_sdk/more.py"), untracked()),
        loose("disk: an untracked file that is ignored", ignored, untracked()),
        loose("disk: an untracked file outside", more("more.py"), Expected::Sound),
        loose("disk: bytecode in its folder", more("netbox_sdk/__pycache__/x.pyc"), Expected::Sound),
        loose("disk: bytecode outside its folder", more("netbox_sdk/x.pyc"), untracked()),
        loose("disk: the bytecode folder is a file", more("netbox_sdk/__pycache__"), untracked()),
        loose("disk: the bytecode folder is a link", linked_cache, differs("a symbolic link")),
        loose("disk: an untracked tower", deep, differs("a folder nested too deeply")),
    ];
    if device(&tempfile::tempdir().unwrap().path().join("probe")) {
        let node = |it: &mut Checkout| assert!(device(&it.root().join("netbox_sdk/node")));
        cases.push(loose("disk: a device node", node, differs("a fifo, socket or device")));
        let node = |it: &mut Checkout| {
            let path = it.object("HEAD:pyproject.toml");
            std::fs::remove_file(&path).unwrap();
            assert!(device(&path));
        };
        cases.push(loose("loose: a device node", node, refused("git.objects", "not a regular file")));
    }
    cases
}

/// Makes a node of the null device, where that is allowed.
fn device(path: &Path) -> bool {
    mknodat(CWD, path, FileType::CharacterDevice, Mode::from_raw_mode(0o666), rustix::fs::makedev(1, 3)).is_ok()
}

fn indexes() -> Vec<Case> {
    let flag = |flag: &'static str| {
        move |it: &mut Checkout| {
            it.repo.git(&["update-index", flag, BRIDGE]);
            it.repo.write(BRIDGE, "three = 3\n");
        }
    };
    let text = |path: &'static str, text: &'static str| move |it: &mut Checkout| it.repo.put(&it.dot_git(path), text);
    let staged = |it: &mut Checkout| {
        let blob = it.repo.object("blob", b"three = 3\n");
        assert_eq!(blob, id_of("blob", b"three = 3\n").to_string());
        it.repo.git(&["update-index", "--cacheinfo", &format!("100644,{blob},{BRIDGE}")]);
    };
    let sparse = |it: &mut Checkout| {
        it.repo.write("other/file", "x\n");
        it.commit = it.repo.commit_all("more");
        it.repo.git(&["sparse-checkout", "set", "other"]);
    };
    let differs = || refused(WORKTREE, "other content, 10 bytes");
    vec![
        loose("index: assume-unchanged", flag("--assume-unchanged"), differs()),
        loose("index: skip-worktree", flag("--skip-worktree"), differs()),
        loose("index: other content is staged", staged, Expected::Sound),
        loose("index: a stale lock", text("index.lock", ""), Expected::Sound),
        loose("index: nonsense", text("index", "nonsense"), Expected::Sound),
        loose("index: a sparse checkout without the package", sparse, refused(WORKTREE, "sparse")),
    ]
}
