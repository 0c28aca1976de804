//! Why an object could not be read, and why the walk had to stop.

use super::files::GitFileError;
use crate::limits::Stop;

/// A bound on the whole walk was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Exhausted {
    /// The clock, or a signal.
    #[error(transparent)]
    Stop(#[from] Stop),
    /// `limits.objects`.
    #[error("more than {0} objects, the limit of this run")]
    Objects(u64),
    /// `limits.inflated_bytes`.
    #[error("more than {0} inflated bytes, the limit of this run")]
    Inflated(u64),
    /// A fixed bound on the repository's own folder and its alternates.
    #[error("more than {0} folders of objects, the most this gate reads")]
    Folders(u64),
    /// A fixed bound on the packs in all of them.
    #[error("more than {0} packs, the most this gate reads")]
    Packs(u64),
    /// A fixed bound of the connectivity graph in memory.
    #[error("more than {0} links between objects, the most this gate keeps in memory")]
    Links(u64),
    /// A fixed bound on the names of absent objects.
    #[error("more than {0} absent objects are linked to")]
    Absent(u64),
}

/// One copy of an object that is not what its id promises, or cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ObjectError {
    /// No copy anywhere.
    #[error("the object is not in the repository")]
    Missing,
    /// Not a zlib stream.
    #[error("its zlib stream is damaged")]
    Zlib,
    /// The stream ends before its end mark.
    #[error("its zlib stream ends early")]
    Truncated,
    /// Something is left after the stream.
    #[error("bytes follow its zlib stream")]
    Trailing,
    /// The header and the content disagree.
    #[error("its content is longer than the {0} bytes its header claims")]
    Longer(u64),
    /// The header and the content disagree.
    #[error("its content is shorter than the {0} bytes its header claims")]
    Shorter(u64),
    /// Neither a loose object's nor a pack entry's header.
    #[error("its header is not that of an object")]
    Header,
    /// The bytes belong to another id.
    #[error("its content hashes to {0}")]
    Hash(gix::ObjectId),
    /// The bytes were crafted to share an id.
    #[error("its content is a SHA-1 collision attack")]
    Collision,
    /// A delta cannot be applied.
    #[error("its delta is malformed: {0}")]
    Delta(&'static str),
    /// A thin pack.
    #[error("its delta base is not in the same pack")]
    Base,
    /// A delta that needs itself.
    #[error("its delta chain is a circle")]
    Circle,
    /// Larger than `limits.tree_bytes` (trees, commits, tags) or than what is ever buffered.
    #[error("its {bytes} bytes exceed the limit of {limit}")]
    Limit {
        /// Its size.
        bytes: u64,
        /// The bound.
        limit: u64,
    },
    /// The file that holds it.
    #[error("{}", .0.reason())]
    File(#[from] GitFileError),
    /// The run is over.
    #[error(transparent)]
    Exhausted(#[from] Exhausted),
}

impl ObjectError {
    /// Nothing is known against the object: it could only not be read.
    pub fn is_undecided(&self) -> bool {
        match self {
            ObjectError::Limit { .. } | ObjectError::Exhausted(_) => true,
            ObjectError::File(error) => !error.is_wrong(),
            _ => false,
        }
    }
}

impl From<Stop> for ObjectError {
    fn from(stop: Stop) -> Self {
        ObjectError::Exhausted(stop.into())
    }
}

/// A question to a verified graph that could not be answered.
#[derive(Debug, thiserror::Error)]
pub enum GraphError {
    /// An object changed or vanished since it was verified, or exceeds a limit.
    #[error("object {id}: {source}")]
    Object {
        /// Which.
        id: gix::ObjectId,
        /// Why.
        source: ObjectError,
    },
    /// A tree of the commit cannot be listed without ambiguity.
    #[error("tree {id}: {reason}")]
    Tree {
        /// Which.
        id: gix::ObjectId,
        /// Why.
        reason: String,
    },
    /// More files than `limits.package_files`.
    #[error("the folder {path} holds more than {limit} entries, the limit of this run")]
    Entries {
        /// Which folder.
        path: String,
        /// The bound.
        limit: u64,
    },
    /// HEAD or a ref it leads to.
    #[error(transparent)]
    File(#[from] GitFileError),
    /// The run is over.
    #[error(transparent)]
    Stop(#[from] Stop),
}
