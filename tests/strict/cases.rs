//! The corpus of well-formed and malformed objects: one name, one object, the rules it breaks.

mod commits;
mod contents;
mod trees;

use gix::ObjectId;
use gix::objs::Kind;

/// What the object under test is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    Tree,
    Commit,
    /// A blob, and the name in a tree that makes it special.
    Blob(&'static str),
}

/// One object and what `git fsck --strict` says about it.
#[derive(Clone, Debug)]
pub struct Case {
    /// Unique; says what was done to a sound object.
    pub name: String,
    pub role: Role,
    pub data: Vec<u8>,
    /// The ids of the ERROR and WARN messages that git reports on this very object.
    pub broken: Vec<&'static str>,
}

impl Case {
    fn new(name: impl Into<String>, role: Role, data: impl Into<Vec<u8>>, broken: &[&'static str]) -> Self {
        Case { name: name.into(), role, data: data.into(), broken: broken.to_vec() }
    }

    /// The object under test first, then what links to it, a commit last. Add [`foundation`] for all that it links to.
    pub fn objects(&self) -> Vec<(Kind, Vec<u8>)> {
        let mut objects = Vec::new();
        let mut above = |kind, data: Vec<u8>| {
            objects.push((kind, data));
            id(kind, &objects[objects.len() - 1].1)
        };
        let tree = match self.role {
            Role::Commit => {
                above(Kind::Commit, self.data.clone());
                return objects;
            }
            Role::Tree => above(Kind::Tree, self.data.clone()),
            Role::Blob(name) => {
                let blob = above(Kind::Blob, self.data.clone());
                above(Kind::Tree, entry("100644", name.as_bytes(), blob))
            }
        };
        above(Kind::Commit, commit(tree));
        objects
    }
}

/// Every case.
pub fn cases() -> Vec<Case> {
    [trees::cases(), commits::cases(), contents::cases()].concat()
}

/// The sound objects that the cases link to.
pub fn foundation() -> Vec<(Kind, Vec<u8>)> {
    let blob = (Kind::Blob, b"x\n".to_vec());
    let folder = (Kind::Tree, entry("100644", b"x", id(blob.0, &blob.1)));
    let root = (Kind::Commit, commit(id(folder.0, &folder.1)));
    vec![blob, folder, (Kind::Tree, Vec::new()), root]
}

/// Ids of [`foundation`]: a blob, a tree, a commit.
pub fn blob() -> ObjectId {
    id(Kind::Blob, &foundation()[0].1)
}

pub fn folder() -> ObjectId {
    id(Kind::Tree, &foundation()[1].1)
}

pub fn root() -> ObjectId {
    id(Kind::Commit, &foundation()[3].1)
}

pub fn id(kind: Kind, data: &[u8]) -> ObjectId {
    gix::objs::compute_hash(gix::hash::Kind::Sha1, kind, data).unwrap()
}

/// The bytes of one tree entry.
pub fn entry(mode: &str, name: &[u8], id: ObjectId) -> Vec<u8> {
    [mode.as_bytes(), b" ", name, b"\0", id.as_slice()].concat()
}

/// A sound commit of that tree.
pub fn commit(tree: ObjectId) -> Vec<u8> {
    let author = "author A U Thor <author@example.com> 1700000000 +0000";
    let committer = "committer C O Mitter <committer@example.com> 1700000000 +0000";
    format!("tree {tree}\n{author}\n{committer}\n\nA message\n").into_bytes()
}
