//! The real 0.0.13, tampered with once per case: the check that refuses it, and the thing it names.

use paired_sdk_gate::contract::Contract;
use tempfile::TempDir;

use super::gate::Identity;
use crate::support::git::{Repo, deflate, id_of};
use crate::support::registry;

const BRIDGE: &str = "netbox_sdk/plugin_bridge.py";

/// A checkout of 0.0.13 to change, and the identity it has until then.
struct Tampered {
    _dir: TempDir,
    repo: Repo,
    identity: Identity,
}

impl Tampered {
    fn new() -> Self {
        let dir = registry::scratch();
        let repo = registry::subject("0.0.13").copy_to(&dir.path().join("sdk"));
        let identity = Identity { repo: repo.root().to_owned(), ..Identity::released("0.0.13") };
        Tampered { _dir: dir, repo, identity }
    }

    fn commit(&self) -> &str {
        &self.identity.commit
    }

    fn expecting(&self, commit: &str) -> Identity {
        Identity { commit: commit.to_owned(), repo: self.repo.root().to_owned(), ..Identity::released("0.0.13") }
    }
}

#[test]
fn head_is_not_the_expected_commit() {
    let tampered = Tampered::new();
    let (repo, first) = (&tampered.repo, tampered.commit());
    repo.git(&["commit", "--quiet", "--allow-empty", "--message=next"]);
    let next = repo.git(&["rev-parse", "HEAD"]);

    // The expected commit is there, one back; then HEAD is there and the expected one ahead; then it is nowhere.
    let run = tampered.identity.verify();
    assert_eq!(run.refused_by(&["git.head"]), [("HEAD", &*next)]);
    assert_eq!(run.findings("git.head")[0]["hint"], format!("`git checkout --detach {first}`"));
    repo.git(&["checkout", "--quiet", "--detach", first]);
    assert_eq!(tampered.expecting(&next).verify().refused_by(&["git.head"]), [("HEAD", first)]);
    let absent = "0123456789abcdef0123456789abcdef01234567";
    let run = tampered.expecting(absent).verify();
    assert_eq!(run.refused_by(&["git.head", "git.objects"]), [("HEAD", first)]);
    assert_eq!(run.told("git.objects"), [(&*format!("commit {absent}"), "no such object in the repository")]);
}

#[test]
fn a_tag_is_not_a_commit() {
    let tampered = Tampered::new();
    tampered.repo.git(&["tag", "--annotate", "--message=release", "v0.0.13"]);
    let tag = tampered.repo.git(&["rev-parse", "v0.0.13"]);
    let argument = format!("--expected-commit {tag}");
    let run = tampered.expecting(&tag).verify();
    let checks = ["git.head", "git.objects", "git.release-tag"];
    assert_eq!(run.refused_by(&checks), [(&*argument, "the id of a tag")]);
    // It is welcome for what it is.
    tampered.identity.verify().assert(0, "passed");
}

#[test]
fn another_version_than_the_released_one() {
    let identity = Identity { version: "0.0.12".into(), ..Identity::released("0.0.13") };
    let run = identity.verify();
    let source = [("netbox_sdk/__init__.py", "__version__ = \"0.0.13\"")];
    assert_eq!(run.refused_by(&["version.source", "version.project"]), source);
    assert_eq!(run.told("version.project"), [("pyproject.toml", "project.version = \"0.0.13\"")]);
}

#[test]
fn a_module_on_disk_that_is_not_the_committed_one() {
    let tampered = Tampered::new();
    let module = tampered.repo.root().join(BRIDGE);
    let committed = std::fs::read(&module).unwrap();
    tampered.repo.put(&module, [&committed[..], b"# one line more\n"].concat());
    let run = tampered.identity.verify();
    let (at, length) = (committed.len(), committed.len() + 16);
    let actual = format!("other content, {length} bytes, different from byte {at} on");
    assert_eq!(run.refused_by(&["package.worktree"]), [(BRIDGE, &*actual)]);
    assert!(run.checks("not-run").contains(&"module.origin"), "nothing of it is run");
}

#[test]
fn a_blob_that_is_not_in_the_repository() {
    let tampered = Tampered::new();
    // The largest file of the package: it is the large ones that partial copies leave out.
    let largest = committed_by_size(&tampered.repo).pop().unwrap().1;
    std::fs::remove_file(tampered.repo.loose_path(&largest)).unwrap();
    let run = tampered.identity.verify();
    let subject = format!("blob {largest}");
    assert_eq!(run.refused_by(&["git.objects"]), [(&*subject, "no such object in the repository")]);
    let hint = run.findings("git.objects")[0]["hint"].as_str().unwrap();
    assert!(hint.starts_with(&format!("run `git fetch --refetch origin {}`", tampered.commit())), "{hint}");
}

#[test]
fn an_object_with_the_content_of_another() {
    let tampered = Tampered::new();
    let (id, evil) = (tampered.repo.git(&["rev-parse", &format!("HEAD:{BRIDGE}")]), b"evil = True\n");
    let file = [format!("blob {}\0", evil.len()).as_bytes(), evil].concat();
    tampered.repo.put_loose(&id, deflate(&file));
    let run = tampered.identity.verify();
    let actual = format!("in .git/objects/{}/{}: its content hashes to {}", &id[..2], &id[2..], id_of("blob", evil));
    assert_eq!(run.refused_by(&["git.objects"]), [(&*format!("object {id}"), &*actual)]);
}

/// Size and id of each blob of the package, in the commit.
fn committed_by_size(repo: &Repo) -> Vec<(u64, String)> {
    let listing = repo.git(&["ls-tree", "-r", "--long", "HEAD", &format!("{}/", Contract::bridge_v1().package)]);
    let blobs = listing.lines().map(|line| {
        let fields: Vec<_> = line.split_ascii_whitespace().collect();
        (fields[3].parse().unwrap(), fields[2].to_owned())
    });
    let mut blobs: Vec<_> = blobs.collect();
    blobs.sort();
    blobs
}
