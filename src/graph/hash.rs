//! The hash of an object, computed with collision detection.

use gix::ObjectId;
use gix::objs::Kind;

use super::error::ObjectError;

/// A running hash.
pub(super) struct Hasher(gix::hash::Hasher);

impl Hasher {
    /// Begins with the header.
    pub(super) fn new(kind: Kind, size: u64) -> Self {
        let mut hasher = gix::hash::hasher(gix::hash::Kind::Sha1);
        hasher.update(&gix::objs::encode::loose_header(kind, size));
        Hasher(hasher)
    }

    pub(super) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Requires the hash to be `id`.
    pub(super) fn verify(self, id: ObjectId) -> Result<(), ObjectError> {
        match self.0.try_finalize() {
            Ok(actual) if actual == id => Ok(()),
            Ok(actual) => Err(ObjectError::Hash(actual)),
            Err(_) => Err(ObjectError::Collision),
        }
    }
}

/// Requires content to hash to `id`.
pub(super) fn verify(kind: Kind, content: &[u8], id: ObjectId) -> Result<(), ObjectError> {
    let mut hasher = Hasher::new(kind, content.len() as u64);
    hasher.update(content);
    hasher.verify(id)
}
