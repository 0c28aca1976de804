//! The verified commit's files.

use std::ops::Range;

use gix::ObjectId;
use gix::bstr::{BString, ByteSlice};
use gix::objs::Kind;

use super::content::Content;
use super::error::{GraphError, ObjectError};
use super::reader::Reader;
use super::strict;
use crate::limits::Budget;

/// The longest path, in bytes, as on Linux.
const PATH_BYTES: usize = 4096;

/// One entry of the commit's tree that is not itself a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeFile {
    /// From the root of the commit, with slashes.
    pub path: BString,
    /// The octal digits of the mode as they are stored.
    pub spelled_mode: BString,
    /// The mode as git reads it: 16 bits.
    pub mode: u32,
    /// How git follows the entry.
    pub kind: strict::Kind,
    /// The object it names.
    pub id: ObjectId,
}

/// The entries of one tree, with its content.
struct Listed {
    content: Content,
    entries: Vec<strict::Entry>,
}

impl Listed {
    fn read(reader: &mut Reader<'_>, id: ObjectId) -> Result<Self, GraphError> {
        let content = match reader.object(id) {
            Ok((Kind::Tree, content)) => content,
            Ok((kind, _)) => return Err(GraphError::Tree { id, reason: format!("is a {kind}") }),
            Err(ObjectError::Exhausted(super::error::Exhausted::Stop(stop))) => return Err(stop.into()),
            Err(source) => return Err(GraphError::Object { id, source }),
        };
        let (mut entries, mut messages) = (Vec::new(), Vec::new());
        strict::tree(&content, &mut entries, &mut messages);
        match messages.first() {
            None => Ok(Listed { content, entries }),
            Some(message) => Err(GraphError::Tree { id, reason: format!("{}: {}", message.id, message.detail) }),
        }
    }

    fn bytes(&self, range: &Range<usize>) -> &[u8] {
        &self.content[range.clone()]
    }

    fn file(&self, entry: &strict::Entry, path: BString) -> TreeFile {
        let spelled_mode = self.bytes(&entry.spelled).into();
        TreeFile { path, spelled_mode, mode: entry.mode, kind: entry.kind, id: entry.id }
    }
}

/// One entry by its path, folders included.
pub(super) fn entry(reader: &mut Reader<'_>, root: ObjectId, path: &str) -> Result<Option<TreeFile>, GraphError> {
    let mut tree = root;
    let mut parts = path.split('/').peekable();
    while let Some(part) = parts.next() {
        let listed = Listed::read(reader, tree)?;
        let found = listed.entries.iter().find(|entry| listed.bytes(&entry.name) == part.as_bytes());
        match found {
            Some(entry) if parts.peek().is_none() => return Ok(Some(listed.file(entry, path.into()))),
            Some(entry) if entry.kind == strict::Kind::Tree => tree = entry.id,
            _ => return Ok(None),
        }
    }
    Ok(None)
}

/// Everything below a folder that is not a folder, sorted by path. Nothing if there is no such folder.
pub(super) fn folder(
    reader: &mut Reader<'_>,
    root: ObjectId,
    path: &str,
    budget: &Budget,
) -> Result<Vec<TreeFile>, GraphError> {
    let limit = budget.limits().package_files;
    let too_many = || GraphError::Entries { path: path.to_owned(), limit };
    let Some(top) = entry(reader, root, path)?.filter(|entry| entry.kind == strict::Kind::Tree) else {
        return Ok(Vec::new());
    };
    let mut files = Vec::new();
    let mut folders = vec![(top.id, top.path)];
    let mut visited = 0;
    while let Some((id, above)) = folders.pop() {
        budget.check()?;
        visited += 1;
        if visited > limit {
            return Err(too_many());
        }
        let listed = Listed::read(reader, id)?;
        for entry in &listed.entries {
            let mut path = above.clone();
            path.push(b'/');
            path.extend_from_slice(listed.bytes(&entry.name));
            if path.len() > PATH_BYTES {
                let start = path[..80].as_bstr();
                let reason = format!("makes a path of more than {PATH_BYTES} bytes, which begins with {start:?}");
                return Err(GraphError::Tree { id, reason });
            }
            if entry.kind == strict::Kind::Tree {
                folders.push((entry.id, path));
            } else {
                files.push(listed.file(entry, path));
            }
            if files.len() as u64 > limit || folders.len() as u64 > limit {
                return Err(too_many());
            }
        }
    }
    files.sort_unstable_by(|one, two| one.path.cmp(&two.path));
    Ok(files)
}
