//! The object rules of `git fsck --strict`, on bytes: no repository, no configuration, nothing that could weaken a rule.
//!
//! Git 2.47 is the yardstick, message for message. A [`Message`] stands for an id that git rates ERROR or WARN, which are the
//! same under `--strict`; what git only rates INFO is not worth a message here. Names and meanings of the ids are documented
//! in git-fsck(1), "FSCK MESSAGES".

mod attributes;
mod commit;
pub(super) mod config;
mod modules;
mod names;
mod tree;
mod url;

use std::ops::Range;

pub use attributes::gitattributes;
pub use commit::{Commit, commit, tag};
pub use modules::gitmodules;
pub use names::{Special, special};
pub use tree::tree;

/// One rule an object breaks. An object yields each id at most once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Git's message id, such as `treeNotSorted`.
    pub id: &'static str,
    /// What is wrong and where; of several such places the first.
    pub detail: String,
}

/// How the mode of a tree entry makes git follow the link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// To another tree.
    Tree,
    /// To a blob: a file or the target of a symbolic link.
    Blob,
    /// Nowhere: a commit of another repository, and every mode of a type git does not know.
    Gitlink,
}

/// One entry of a tree. The ranges point into the tree's bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The mode as git reads it: the low 16 bits of the octal number.
    pub mode: u32,
    /// The octal digits.
    pub spelled: Range<usize>,
    /// The name, without the NUL that ends it; never empty.
    pub name: Range<usize>,
    /// The object the entry links to.
    pub id: gix::ObjectId,
    /// How the link is followed.
    pub kind: Kind,
}

impl Entry {
    /// The entry is a symbolic link, which [`Kind`] does not tell from a file.
    pub fn is_symlink(&self) -> bool {
        self.mode & tree::TYPE == tree::SYMLINK
    }
}

/// Adds a message unless its id is among those from `start` on.
fn once(messages: &mut Vec<Message>, start: usize, id: &'static str, detail: impl FnOnce() -> String) {
    if messages.iter().skip(start).all(|message| message.id != id) {
        messages.push(Message { id, detail: detail() });
    }
}

/// Bytes of the repository for people: quoted, escaped and cut short.
fn shown(bytes: &[u8]) -> String {
    use gix::bstr::ByteSlice;
    const LONGEST: usize = 80;
    match bytes.get(..LONGEST) {
        Some(start) if bytes.len() > LONGEST => format!("{:?}… ({} bytes)", start.as_bstr(), bytes.len()),
        _ => format!("{:?}", bytes.as_bstr()),
    }
}
