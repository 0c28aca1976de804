//! What a commit may hold: names and modes in the package, and trees of odd shapes anywhere.

use std::os::unix::fs::symlink;

use super::checkout::{Base, Checkout};
use super::{Case, Expected, refused};

const TREE: &str = "package.tree";
const SOURCE: &str = "package.source";

pub fn cases() -> Vec<Case> {
    [names(), modes(), sources(), shapes()].into_iter().flatten().collect()
}

fn loose(name: impl Into<String>, spoil: impl Fn(&mut Checkout) + Send + Sync + 'static, expected: Expected) -> Case {
    Case::new(name, Base::Loose, spoil, expected)
}

/// One more file is committed.
fn file(path: &'static str) -> impl Fn(&mut Checkout) + Send + Sync {
    move |it| {
        it.repo.write(path, "x\n");
        it.commit = it.repo.commit_all("more");
    }
}

fn names() -> Vec<Case> {
    let mut cases = Vec::new();
    for name in ["a b.py", "caf\u{e9}.py", "x:y", "a\\b", "a\nb", "a;b", "*"] {
        let path: &'static str = format!("netbox_sdk/{name}").leak();
        cases.push(loose(format!("name: {name:?} in the package"), file(path), refused(TREE, "component ")));
    }
    let composed = |it: &mut Checkout| {
        file("netbox_sdk/caf\u{e9}.py")(it);
        let at = |name: &str| it.root().join("netbox_sdk").join(name);
        std::fs::rename(at("caf\u{e9}.py"), at("cafe\u{301}.py")).unwrap();
    };
    let text = "differs from netbox_sdk/caf\u{e9}.py only in Unicode normalisation";
    cases.push(loose("name: the disk has another normalisation", composed, refused("package.worktree", text)));
    for path in ["netbox_sdk/con", "netbox_sdk/-x", "netbox_sdk/..x", "docs/a b", "docs/caf\u{e9}"] {
        cases.push(loose(format!("name: {path:?}"), file(path), Expected::Sound));
    }
    cases
}

/// Replaces the package's tree by one whose entry of the bridge has another mode; the disk stays as it is.
fn with_mode(mode: &'static str) -> impl Fn(&mut Checkout) + Send + Sync {
    move |it| {
        let raw = |spec: &str| gix::ObjectId::from_hex(it.rev(spec).as_bytes()).unwrap();
        let entry = crate::strict::cases::entry;
        let bridge = entry(mode, b"plugin_bridge.py", raw("HEAD:netbox_sdk/plugin_bridge.py"));
        let init = entry("100644", b"__init__.py", raw("HEAD:netbox_sdk/__init__.py"));
        let data = entry("40000", b"data", raw("HEAD:netbox_sdk/data"));
        let package = it.repo.object("tree", &[init, data, bridge].concat());
        commit_tree(it, &package);
    }
}

/// Commits a root tree that holds nothing but this package.
fn commit_tree(it: &mut Checkout, package: &str) {
    let id = gix::ObjectId::from_hex(package.as_bytes()).unwrap();
    let tree = it.repo.object("tree", &crate::strict::cases::entry("40000", b"netbox_sdk", id));
    it.commit = it.repo.git(&["commit-tree", "-m", "x", &tree]);
    it.repo.put(&it.dot_git("HEAD"), format!("{}\n", it.commit));
}

fn modes() -> Vec<Case> {
    let linked = |it: &mut Checkout| {
        symlink("plugin_bridge.py", it.root().join("netbox_sdk/alias.py")).unwrap();
        it.commit = it.repo.commit_all("link");
    };
    let submodule = |it: &mut Checkout| {
        it.repo.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{},netbox_sdk/sub", it.commit)]);
        it.repo.git(&["commit", "--quiet", "-m", "submodule"]);
        it.commit = it.rev("HEAD");
    };
    vec![
        loose("mode: a committed link in the package", linked, refused(TREE, "mode 120000")),
        loose("mode: a submodule in the package", submodule, refused(TREE, "mode 160000")),
        loose("mode: 100664 in the package", with_mode("100664"), refused(TREE, "mode 100664")),
        loose("mode: 1100644 in the package", with_mode("1100644"), refused(TREE, "mode 1100644")),
        loose(
            "mode: 100755 in the package, not on disk",
            with_mode("100755"),
            refused("package.worktree", "mode 100644"),
        ),
    ]
}

fn sources() -> Vec<Case> {
    let mut cases = Vec::new();
    for (path, what) in [
        ("netbox_sdk/fast.so", "a native module"),
        ("netbox_sdk/FAST.PYD", "a native module"),
        ("netbox_sdk/x.pyc", "bytecode"),
        ("netbox_sdk/__pycache__/x.py", "a bytecode folder"),
        ("netbox_sdk/start.pth", "a path configuration file"),
    ] {
        cases.push(loose(format!("source: {path}"), file(path), refused(SOURCE, what)));
    }
    let edit = |path: &'static str, text: &'static str| {
        move |it: &mut Checkout| {
            it.repo.write(path, text);
            it.commit = it.repo.commit_all("edited");
        }
    };
    let without = |it: &mut Checkout| {
        std::fs::remove_file(it.root().join("netbox_sdk/plugin_bridge.py")).unwrap();
        it.commit = it.repo.commit_all("without");
    };
    let gone = |it: &mut Checkout| {
        std::fs::remove_dir_all(it.root().join("netbox_sdk")).unwrap();
        it.commit = it.repo.commit_all("gone");
    };
    let init = "netbox_sdk/__init__.py";
    let project = "[project]\nversion = \"9\"\n";
    cases.extend([
        loose("source: no bridge module", without, refused("package.module", "no such file")),
        loose("source: no package", gone, refused(TREE, "no such folder")),
        loose(
            "source: a computed version",
            edit(init, "__version__ = f()\n"),
            refused("version.source", "something other"),
        ),
        loose("source: two versions", edit("pyproject.toml", project), refused("version.project", "9")),
    ]);
    cases
}

fn shapes() -> Vec<Case> {
    // Trees that hold the one below under each of these names, on top of a blob.
    let tower = |levels: usize, names: &'static [&'static str]| {
        move |it: &mut Checkout| {
            let mut id = gix::ObjectId::from_hex(it.rev("HEAD:pyproject.toml").as_bytes()).unwrap();
            let mut mode = "100644";
            for _ in 0..levels {
                let tree: Vec<u8> =
                    names.iter().flat_map(|name| crate::strict::cases::entry(mode, name.as_bytes(), id)).collect();
                let file = crate::support::git::deflate(&[format!("tree {}\0", tree.len()).as_bytes(), &tree].concat());
                id = crate::support::git::id_of("tree", &tree);
                it.repo.put_loose(&id.to_string(), file);
                mode = "40000";
            }
            let below = it.repo.git(&["commit-tree", "-m", "tower", &id.to_string()]);
            let tree = it.rev("HEAD^{tree}");
            it.commit = it.repo.git(&["commit-tree", "-m", "top", "-p", &below, &tree]);
            it.repo.put(&it.dot_git("HEAD"), format!("{}\n", it.commit));
        }
    };
    vec![
        loose("shape: a tower of 1,000 folders in the history", tower(1000, &["d"]), Expected::Sound),
        loose(
            "shape: ten billion paths in the history",
            tower(10, &["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]),
            Expected::Sound,
        ),
    ]
}
