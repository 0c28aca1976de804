//! The strict walk of the commit, tree and blob graph.
//!
//! From the expected commit every link is followed, history included: each object must be there, hash to its id, be of the
//! linked kind and be one that `git fsck --strict` accepts. Formats come from gix; decisions are made here, on bytes that were
//! hashed with collision detection. No process is started, nothing is written, and no setting of the repository matters.
//!
//! ```text
//! gitdir ─▶ refs           where the repository is, what HEAD is
//!    └────▶ store          every object there is, by id: packs, loose objects, alternates
//!             ├─▶ sweep    each pack once, on all cores      ┐ states and links,
//!             └─▶ walk     connectivity; loose objects       ┘ a few bytes an object
//!                   └─▶ explain    findings
//! ```

mod content;
mod delta;
mod error;
mod explain;
mod files;
mod forest;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod gitdir;
mod hash;
mod inflate;
mod kept;
mod links;
mod listing;
mod loose;
mod meter;
mod pack;
mod reader;
mod refs;
mod source;
mod stage;
mod store;
pub mod strict;
mod sweep;
mod table;
mod walk;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use gix::ObjectId;

pub use content::Content;
pub use error::{Exhausted, GraphError, ObjectError};
pub use files::GitFileError;
pub use listing::TreeFile;
pub use source::{History, Ignored, Source};
pub use stage::verify;

use crate::identity::CommitId;
use crate::limits::Budget;

/// A commit whose whole graph was verified. Only [`verify`] makes one.
pub struct VerifiedGraph {
    commit: CommitId,
    root: PathBuf,
    tree: ObjectId,
    source: Source,
    budget: Budget,
    git: gitdir::GitDir,
    store: store::Store,
    kept: kept::Kept,
}

impl std::fmt::Debug for VerifiedGraph {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VerifiedGraph").field("commit", &self.commit).field("root", &self.root).finish_non_exhaustive()
    }
}

impl VerifiedGraph {
    /// The commit it was walked from.
    pub fn commit(&self) -> CommitId {
        self.commit
    }

    /// The top of the checkout, as it was given.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The commit's tree.
    pub fn tree(&self) -> ObjectId {
        self.tree
    }

    /// What was walked.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The bounds of this run.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Everything below a folder of the commit that is not itself a folder: files, links, submodules; sorted by path.
    /// Empty if there is no such folder.
    ///
    /// # Errors
    /// An object changed since it was verified, or there are more than `limits.package_files` entries.
    pub fn folder(&self, path: &str) -> Result<Vec<TreeFile>, GraphError> {
        listing::folder(&mut self.reader(), self.tree, path, &self.budget)
    }

    /// One entry of the commit by its path, folders included.
    ///
    /// # Errors
    /// An object changed since it was verified.
    pub fn entry(&self, path: &str) -> Result<Option<TreeFile>, GraphError> {
        listing::entry(&mut self.reader(), self.tree, path)
    }

    /// A blob: as it was kept when it was verified, or read and hashed once more. At most `limits.file_bytes`.
    ///
    /// # Errors
    /// It is larger, no blob, or changed since it was verified.
    pub fn blob(&self, id: ObjectId) -> Result<Arc<Content>, GraphError> {
        if let Some(content) = self.store.table.find(&table::raw(&id)).and_then(|object| self.kept.get(object)) {
            return Ok(content);
        }
        let limit = self.budget.limits().file_bytes;
        let source = match self.reader().object(id) {
            Ok((gix::objs::Kind::Blob, content)) if content.len() as u64 <= limit => return Ok(content.into()),
            Ok((gix::objs::Kind::Blob, content)) => ObjectError::Limit { bytes: content.len() as u64, limit },
            Ok(_) => ObjectError::Header,
            Err(ObjectError::Exhausted(Exhausted::Stop(stop))) => return Err(stop.into()),
            Err(error) => error,
        };
        Err(GraphError::Object { id, source })
    }

    /// HEAD, resolved afresh from disk: the null id while its branch does not exist.
    ///
    /// # Errors
    /// HEAD or a ref on the way cannot be read or is malformed.
    pub fn head(&self) -> Result<ObjectId, GraphError> {
        match self.git.head()? {
            refs::Resolved::Id(id) => Ok(id),
            refs::Resolved::Unborn(_) => Ok(ObjectId::null(gix::hash::Kind::Sha1)),
        }
    }

    fn reader(&self) -> reader::Reader<'_> {
        reader::Reader::new(&self.store, &self.budget)
    }
}
