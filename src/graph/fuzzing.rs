//! The readers of git's own formats, for [`crate::fuzzing`].

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;

use gix::ObjectId;
use gix::bstr::BString;
use gix::objs::Kind;

use super::content::Content;
use super::error::ObjectError;
use super::loose::{self, Want};
use super::meter::Meter;
use super::{delta as deltas, refs, store};
use crate::limits::Budget;

/// The header of a loose object: kind, size and its own length.
pub fn loose_header(bytes: &[u8]) -> Option<(Kind, u64, usize)> {
    loose::parse_header(bytes)
}

/// The file of a loose object; its content, unless it is a blob and `keep` is false.
pub fn loose_object(
    file: &[u8],
    id: ObjectId,
    keep: bool,
    budget: &Budget,
) -> Result<(Kind, u64, Vec<u8>), ObjectError> {
    let inflated = AtomicU64::new(0);
    let mut meter = Meter::new(budget, &inflated);
    let mut content = Content::default();
    let want = if keep { Want::Content } else { Want::Hash };
    let (kind, size) = loose::Reader::new().parse(&mut &file[..], id, want, &mut meter, &mut content)?;
    Ok((kind, size, content.to_vec()))
}

/// A delta against its base.
pub fn delta(base: &[u8], bytes: &[u8], limit: u64) -> Result<Vec<u8>, &'static str> {
    let mut out = Content::default();
    let delta = deltas::parse(bytes)?;
    if delta.result > limit {
        return Err("the result is over the limit");
    }
    delta.apply(base, &mut out).map(|()| out.to_vec())
}

/// Every line of a packed-refs file.
pub fn packed_refs(bytes: &[u8]) -> Result<Vec<(BString, ObjectId)>, String> {
    let mut all = Vec::new();
    refs::each_packed(bytes, |name, id| all.push((name.to_owned(), id))).map(|()| all)
}

/// A loose ref or HEAD: an id, or the name of another ref.
pub fn reference(bytes: &[u8]) -> Result<Result<ObjectId, BString>, String> {
    refs::parse_ref(bytes).map(|target| match target {
        refs::Target::Id(id) => Ok(id),
        refs::Target::Symbolic(name) => Err(name),
    })
}

/// The list of shallow commits.
pub fn shallow(bytes: &[u8]) -> Result<HashSet<ObjectId>, String> {
    refs::parse_shallow(bytes)
}

/// The list of alternates.
pub fn alternates(bytes: &[u8]) -> Result<Vec<PathBuf>, String> {
    store::parse_alternates(bytes)
}
