//! Single objects by id, out of whatever copy is good. Every copy is hashed before anybody sees it.

use std::path::PathBuf;

use gix::ObjectId;
use gix::objs::Kind;

use super::content::Content;
use super::error::ObjectError;
use super::hash;
use super::inflate::Inflater;
use super::loose::{self, Want};
use super::meter::Meter;
use super::pack::{Base, Pack, Window};
use super::store::Store;
use super::sweep::PackReader;
use super::table::raw;
use crate::limits::Budget;

/// Reads objects, keeping its buffers.
pub(super) struct Reader<'a> {
    store: &'a Store,
    meter: Meter<'a>,
    loose: loose::Reader,
    inflater: Inflater,
    window: Window,
}

/// Where a copy lies.
enum Copy<'a> {
    Loose(PathBuf),
    Packed(&'a Pack, u32),
}

impl<'a> Reader<'a> {
    pub(super) fn new(store: &'a Store, budget: &'a Budget) -> Self {
        Reader {
            store,
            meter: Meter::new(budget, &store.inflated),
            loose: loose::Reader::new(),
            inflater: Inflater::new(),
            window: Window::scattered(),
        }
    }

    fn copies(&self, object: u32) -> Vec<Copy<'a>> {
        let packed = self.store.packs.iter().filter_map(|pack| Some(Copy::Packed(pack, pack.find(object)?)));
        self.store.loose_copies(object).map(Copy::Loose).chain(packed).collect()
    }

    fn read(&mut self, copy: &Copy<'_>, id: ObjectId, want: Want, content: &mut Content) -> Result<Kind, ObjectError> {
        let (pack, position) = match copy {
            Copy::Loose(path) => {
                return self.loose.read(path, id, want, &mut self.meter, content).map(|(kind, _)| kind);
            }
            Copy::Packed(pack, position) => (pack, *position),
        };
        self.window.clear();
        let mut reader = PackReader { inflater: &mut self.inflater, window: &mut self.window };
        if want == Want::Hash {
            let entry = pack.entry(position, &self.store.table, reader.window)?;
            if entry.base == Base::Whole(Kind::Blob) {
                reader.hash(pack, position, &entry, &mut self.meter, id)?;
                return Ok(Kind::Blob);
            }
        }
        let kind = reader.read(self.store, pack, position, &mut self.meter, content)?;
        hash::verify(kind, content, id)?;
        Ok(kind)
    }

    /// An object's kind and content, from the first copy that is good.
    pub(super) fn object(&mut self, id: ObjectId) -> Result<(Kind, Content), ObjectError> {
        let object = self.store.table.find(&raw(&id)).ok_or(ObjectError::Missing)?;
        let mut last = ObjectError::Missing;
        for copy in self.copies(object) {
            let mut content = Content::default();
            match self.read(&copy, id, Want::Content, &mut content) {
                Ok(kind) => return Ok((kind, content)),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// The copies of an object that are not good: the file, and why.
    pub(super) fn faults(&mut self, object: u32) -> Vec<(PathBuf, ObjectError)> {
        let id = self.store.table.id(object);
        let mut faults = Vec::new();
        let mut content = Content::default();
        for copy in self.copies(object) {
            if let Err(error) = self.read(&copy, id, Want::Hash, &mut content) {
                let path = match copy {
                    Copy::Loose(path) => path,
                    Copy::Packed(pack, _) => pack.path.clone(),
                };
                faults.push((path, error));
            }
        }
        faults
    }
}
