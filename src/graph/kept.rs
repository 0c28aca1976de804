//! Blobs that will be asked for, kept from the one time they are inflated and hashed.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use gix::ObjectId;
use gix::objs::{CommitRefIter, Kind};

use super::content::Content;
use super::listing;
use super::loose::Want;
use super::reader::Reader;
use super::store::Store;
use super::table::raw;
use crate::limits::Budget;

/// The blobs below one folder of a commit, each as soon as a good copy was seen.
///
/// A matter of speed alone: whoever finds nothing here reads the object. Bounded by `limits.package_bytes` in all and `limits.file_bytes` each.
pub(super) struct Kept {
    blobs: HashMap<u32, OnceLock<Arc<Content>>>,
    most: u64,
    room: AtomicU64,
}

impl Kept {
    /// Looks up what to keep. Where the trees on the way cannot be read that is nothing; the walk will say what is wrong with them.
    pub(super) fn below(store: &Store, commit: ObjectId, folder: &str, budget: &Budget) -> Self {
        let mut reader = Reader::new(store, budget);
        let tree = match reader.object(commit) {
            Ok((Kind::Commit, content)) => CommitRefIter::from_bytes(&content, gix::hash::Kind::Sha1).tree_id().ok(),
            _ => None,
        };
        let files = tree.and_then(|tree| listing::folder(&mut reader, tree, folder, budget).ok()).unwrap_or_default();
        let objects = files.iter().filter_map(|file| store.table.find(&raw(&file.id)));
        let limits = budget.limits();
        Kept {
            blobs: objects.map(|object| (object, OnceLock::new())).collect(),
            most: limits.file_bytes,
            room: AtomicU64::new(limits.package_bytes),
        }
    }

    /// Which blobs are to be offered.
    pub(super) fn wanted(&self, object: u32) -> Want {
        let wanted = self.blobs.get(&object).is_some_and(|blob| blob.get().is_none());
        if wanted { Want::UpTo(self.most) } else { Want::Hash }
    }

    /// Takes a blob's content, which was hashed against its id.
    pub(super) fn offer(&self, object: u32, content: Content) {
        let size = content.len() as u64;
        let fits = self.room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |room| room.checked_sub(size)).is_ok();
        if let Some(blob) = self.blobs.get(&object).filter(|_| fits) {
            // A second copy is as good as the first.
            let _ = blob.set(Arc::new(content));
        }
    }

    /// A blob's content, if it was kept.
    pub(super) fn get(&self, object: u32) -> Option<Arc<Content>> {
        self.blobs.get(&object)?.get().cloned()
    }
}
