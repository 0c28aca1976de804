//! One pack and its index. Only what the index says about offsets is used, and every object read is hashed.

use std::fs::File;
use std::io::{self, BufRead, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use gix::objs::Kind;
use gix::odb::pack::data::entry::Header;

use super::error::ObjectError;
use super::files::{self, GitFileError, Links};
use super::table::{Raw, Table, raw};

/// Bytes of an id, and of a pack's trailer.
const ID: u64 = 20;
/// Bytes of a pack's header.
const HEADER: u64 = 12;
/// The longest header of an entry: a size, and the id or distance of a base.
const ENTRY_HEADER: u64 = 32;

/// A pack whose index was read, before its objects have their places in the table.
pub(super) struct Opened {
    file: File,
    path: PathBuf,
    end: u64,
    /// Sorted.
    ids: Vec<Raw>,
    /// Offset of each entry and the place of its id, in the order of the offsets.
    entries: Vec<(u64, u32)>,
}

/// A pack. Entries are in the order of their offsets.
pub(super) struct Pack {
    file: File,
    pub path: PathBuf,
    /// Where the trailer begins.
    end: u64,
    /// Offset and object of each entry.
    entries: Vec<(u64, u32)>,
    /// Positions in `entries`, in the order of their objects.
    by_object: Vec<u32>,
}

/// What an entry needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Base {
    /// Nothing: it is an object of this kind.
    Whole(Kind),
    /// Another entry of the same pack, by position.
    Delta(u32),
}

/// The header of an entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub base: Base,
    /// Inflated bytes of what is stored: the object or the delta.
    pub size: u64,
    /// Where the zlib stream begins.
    data: u64,
}

impl Opened {
    /// Reads the index and checks that it belongs to the pack beside it. `most` bounds the objects.
    pub(super) fn open(index: &Path, most: u64) -> Result<Self, GitFileError> {
        let path = index.with_extension("pack");
        let limit = most.saturating_mul(48).saturating_add(4096);
        let bytes = files::read(index, Links::Follow, limit)?;
        let wrong = |what: String| GitFileError::malformed(index, what);
        let parsed = gix::odb::pack::index::File::from_data(bytes, index.to_owned(), gix::hash::Kind::Sha1)
            .map_err(|error| wrong(format!("is no pack index: {error}")))?;
        parsed
            .verify_checksum(&mut gix::progress::Discard, &std::sync::atomic::AtomicBool::new(false))
            .map_err(|_| wrong("does not hash to its own checksum".to_owned()))?;
        let (file, length) = files::open(&path, Links::Follow)?;
        let end = length
            .checked_sub(ID)
            .filter(|&end| end >= HEADER)
            .ok_or_else(|| GitFileError::malformed(&path, "is shorter than an empty pack"))?;
        check_frame(&file, &path, end, parsed.num_objects(), &parsed.pack_checksum())?;
        let ids: Vec<Raw> = (0..parsed.num_objects()).map(|place| raw(parsed.oid_at_index(place))).collect();
        if !ids.is_sorted() {
            return Err(wrong("is not sorted by object id".to_owned()));
        }
        let mut entries: Vec<(u64, u32)> =
            (0..parsed.num_objects()).map(|place| (parsed.pack_offset_at_index(place), place)).collect();
        drop(parsed);
        entries.sort_unstable();
        let apart = entries.windows(2).all(|pair| pair[0].0 < pair[1].0);
        let inside =
            entries.first().is_none_or(|first| first.0 >= HEADER) && entries.last().is_none_or(|last| last.0 < end);
        if !apart || !inside {
            return Err(wrong("gives two objects one place, or one a place outside the pack".to_owned()));
        }
        Ok(Opened { file, path, end, ids, entries })
    }

    /// The ids it holds, sorted.
    pub(super) fn ids(&self) -> &[Raw] {
        &self.ids
    }

    /// Turns ids into objects of the table, which holds them all.
    pub(super) fn place(self, table: &Table) -> Pack {
        let objects: Vec<u32> = self.ids.iter().map(|id| table.find(id).unwrap_or(u32::MAX)).collect();
        drop(self.ids);
        let mut entries = self.entries;
        let mut by_object = vec![0; entries.len()];
        for (position, (_, place)) in entries.iter_mut().enumerate() {
            // Ids are sorted, and so are objects.
            by_object[*place as usize] = position as u32;
            *place = objects[*place as usize];
        }
        Pack { file: self.file, path: self.path, end: self.end, entries, by_object }
    }
}

/// Checks the header and the trailer against the index.
fn check_frame(file: &File, path: &Path, end: u64, objects: u32, checksum: &gix::oid) -> Result<(), GitFileError> {
    let mut header = [0; HEADER as usize];
    let mut trailer = [0; ID as usize];
    file.read_exact_at(&mut header, 0).map_err(|error| GitFileError::io("read", path, error))?;
    file.read_exact_at(&mut trailer, end).map_err(|error| GitFileError::io("read", path, error))?;
    let (_, claimed) = gix::odb::pack::data::header::decode(&header)
        .map_err(|error| GitFileError::malformed(path, format!("is no pack: {error}")))?;
    if claimed != objects {
        let reason = format!("claims {claimed} objects, its index {objects}");
        return Err(GitFileError::malformed(path, reason));
    }
    if trailer != raw(checksum) {
        return Err(GitFileError::malformed(path, "ends in another checksum than its index names"));
    }
    Ok(())
}

impl Pack {
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The object at a position.
    pub(super) fn object(&self, position: u32) -> u32 {
        self.entries[position as usize].1
    }

    /// The position of an object.
    pub(super) fn find(&self, object: u32) -> Option<u32> {
        let key = |&position: &u32| self.entries[position as usize].1;
        self.by_object.binary_search_by_key(&object, key).ok().map(|index| self.by_object[index])
    }

    /// Reads the header of the entry at a position.
    pub(super) fn entry(&self, position: u32, table: &Table, window: &mut Window) -> Result<Entry, ObjectError> {
        let offset = self.entries[position as usize].0;
        let end = self.entry_end(position);
        let bytes = window.piece(&self.file, offset, end.min(offset + ENTRY_HEADER)).map_err(|error| self.io(error))?;
        let entry = gix::odb::pack::data::Entry::from_bytes(bytes, offset, gix::hash::Kind::Sha1)
            .map_err(|_| ObjectError::Header)?;
        let base = match entry.header {
            Header::Commit => Base::Whole(Kind::Commit),
            Header::Tree => Base::Whole(Kind::Tree),
            Header::Blob => Base::Whole(Kind::Blob),
            Header::Tag => Base::Whole(Kind::Tag),
            Header::RefDelta { base_id } => {
                let object = table.find(&raw(&base_id)).ok_or(ObjectError::Base)?;
                Base::Delta(self.find(object).ok_or(ObjectError::Base)?)
            }
            Header::OfsDelta { base_distance } => {
                let base = offset.checked_sub(base_distance).filter(|&base| base < offset).ok_or(ObjectError::Base)?;
                let position = self.entries.binary_search_by_key(&base, |entry| entry.0);
                Base::Delta(position.map_err(|_| ObjectError::Base)? as u32)
            }
        };
        Ok(Entry { base, size: entry.decompressed_size, data: entry.data_offset })
    }

    /// The zlib stream of an entry. It has to be read to its end: [`Stream::is_done`].
    pub(super) fn stream<'a>(&'a self, position: u32, entry: &Entry, window: &'a mut Window) -> Stream<'a> {
        Stream { pack: self, window, at: entry.data, end: self.entry_end(position) }
    }

    fn entry_end(&self, position: u32) -> u64 {
        self.entries.get(position as usize + 1).map_or(self.end, |next| next.0)
    }

    fn io(&self, error: io::Error) -> ObjectError {
        GitFileError::io("read", &self.path, error).into()
    }
}

/// A stretch of a pack in memory.
pub(super) struct Window {
    start: u64,
    bytes: Vec<u8>,
    ahead: u64,
}

impl Window {
    /// The longest piece.
    const MOST: u64 = 128 << 10;

    /// For entries in the order in which they lie in the pack.
    pub(super) fn forward() -> Self {
        Window { start: 0, bytes: Vec::new(), ahead: Self::MOST }
    }

    /// For entries here and there.
    pub(super) fn scattered() -> Self {
        Window { start: 0, bytes: Vec::new(), ahead: 4 << 10 }
    }

    /// The bytes from `at` on, up to `end` if they fit.
    fn piece(&mut self, file: &File, at: u64, end: u64) -> io::Result<&[u8]> {
        let wanted = end.saturating_sub(at).min(Self::MOST);
        let have = self.start + self.bytes.len() as u64;
        if at < self.start || at + wanted > have {
            self.start = at;
            self.bytes.resize(wanted.max(self.ahead) as usize, 0);
            let mut filled = 0;
            while filled < self.bytes.len() {
                match file.read_at(&mut self.bytes[filled..], at + filled as u64) {
                    Ok(0) => break,
                    Ok(read) => filled += read,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => {
                        self.bytes.clear();
                        return Err(error);
                    }
                }
            }
            self.bytes.truncate(filled);
        }
        let from = ((at - self.start) as usize).min(self.bytes.len());
        let to = (from + wanted as usize).min(self.bytes.len());
        Ok(&self.bytes[from..to])
    }

    /// Forgets what it holds: another pack comes next.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
    }
}

/// The compressed bytes of one entry.
pub(super) struct Stream<'a> {
    pack: &'a Pack,
    window: &'a mut Window,
    at: u64,
    end: u64,
}

impl Stream<'_> {
    /// Bytes shown behind the end, without which zlib goes slowly over the last ones.
    const SLACK: u64 = 64;

    /// Everything up to the next entry belonged to the stream, and nothing after.
    pub(super) fn is_done(&self) -> Result<(), ObjectError> {
        match self.at.cmp(&self.end) {
            std::cmp::Ordering::Less => Err(ObjectError::Trailing),
            std::cmp::Ordering::Equal => Ok(()),
            std::cmp::Ordering::Greater => Err(ObjectError::Truncated),
        }
    }
}

impl Read for Stream<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let bytes = self.fill_buf()?;
        let length = bytes.len().min(out.len());
        out[..length].copy_from_slice(&bytes[..length]);
        self.consume(length);
        Ok(length)
    }
}

impl BufRead for Stream<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let end = self.end + Self::SLACK;
        self.window.piece(&self.pack.file, self.at, end.min(self.pack.end))
    }

    fn consume(&mut self, bytes: usize) {
        self.at += bytes as u64;
    }
}
