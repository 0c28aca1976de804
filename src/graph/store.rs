//! All places where objects are kept: the repository's own folder and its alternates, their packs and loose objects.
//!
//! Commit-graphs, multi-pack-indexes, bitmaps and reverse indexes lie beside them. They are never opened.

use std::collections::HashSet;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;

use super::error::{Exhausted, ObjectError};
use super::files::{self, GitFileError};
use super::pack::{Opened, Pack};
use super::table::{Raw, Table};
use crate::limits::Budget;

/// Alternates of alternates, as deep as git goes.
const DEPTH: usize = 6;
/// Folders of objects, the repository's own included.
const FOLDERS: usize = 64;
/// Packs in all folders.
const PACKS: usize = 10_000;
/// The longest list of alternates.
const ALTERNATES_BYTES: u64 = 1 << 20;

/// Every object that is there, not yet read.
pub(super) struct Store {
    folders: Vec<PathBuf>,
    pub packs: Vec<Pack>,
    /// Object and folder of each loose copy, sorted.
    loose: Vec<(u32, u8)>,
    pub table: Table,
    /// Some pack was fetched from a partial clone's remote.
    pub promisor: bool,
    /// What was inflated in this run so far, with a fixed charge for each object.
    pub inflated: AtomicU64,
}

impl Store {
    /// Lists the objects. Packs that cannot be read are left out and named in `unreadable`.
    pub(super) fn open(
        objects: &Path,
        budget: &Budget,
        unreadable: &mut Vec<GitFileError>,
    ) -> Result<Self, ObjectError> {
        let folders = folders(objects)?;
        let most = budget.limits().objects.min(Table::MOST);
        let mut opened = Vec::new();
        let mut ids: Vec<Raw> = Vec::new();
        let mut promisor = false;
        let mut loose = Vec::new();
        for (index, folder) in folders.iter().enumerate() {
            for name in files::list(&folder.join("pack"), most)? {
                budget.check()?;
                promisor |= name.as_bytes().ends_with(b".promisor");
                let path = folder.join("pack").join(&name);
                // Git takes no notice of an index without its pack.
                if !name.as_bytes().ends_with(b".idx") || std::fs::metadata(path.with_extension("pack")).is_err() {
                    continue;
                }
                match Opened::open(&path, most) {
                    Ok(pack) => opened.push(pack),
                    Err(error) => unreadable.push(error),
                }
                let total: usize = opened.iter().map(|pack: &Opened| pack.ids().len()).sum();
                if total as u64 > most {
                    return Err(Exhausted::Objects(most).into());
                }
                if opened.len() > PACKS {
                    return Err(Exhausted::Packs(PACKS as u64).into());
                }
            }
            list_loose(folder, budget, &mut |id| {
                loose.push((id, index as u8));
                if loose.len() as u64 > most { Err(Exhausted::Objects(most)) } else { Ok(()) }
            })?;
        }
        let total: usize = opened.iter().map(|pack: &Opened| pack.ids().len()).sum();
        ids.reserve_exact(total + loose.len());
        opened.iter().for_each(|pack| ids.extend_from_slice(pack.ids()));
        ids.extend(loose.iter().map(|entry| entry.0));
        if ids.len() as u64 > most {
            return Err(Exhausted::Objects(most).into());
        }
        let table = Table::new(ids);
        let mut loose: Vec<(u32, u8)> =
            loose.iter().filter_map(|(id, folder)| Some((table.find(id)?, *folder))).collect();
        loose.sort_unstable();
        let packs = opened.into_iter().map(|pack| pack.place(&table)).collect();
        Ok(Store { folders, packs, loose, table, promisor, inflated: AtomicU64::new(0) })
    }

    /// The loose copies of an object.
    pub(super) fn loose_copies(&self, object: u32) -> impl Iterator<Item = PathBuf> {
        let start = self.loose.partition_point(|entry| entry.0 < object);
        let copies = self.loose[start..].iter().take_while(move |entry| entry.0 == object);
        copies.map(move |entry| super::loose::path(&self.folders[usize::from(entry.1)], self.table.id(object)))
    }

    /// Whether an object has a loose copy.
    pub(super) fn is_loose(&self, object: u32) -> bool {
        self.loose.binary_search_by_key(&object, |entry| entry.0).is_ok()
    }
}

/// The object folders: the first, then its alternates, each once.
fn folders(objects: &Path) -> Result<Vec<PathBuf>, ObjectError> {
    let mut folders = Vec::new();
    let mut seen = HashSet::new();
    let mut queue = vec![(objects.to_owned(), 0)];
    while let Some((folder, depth)) = queue.pop() {
        // Git passes over alternates that do not exist; what they lack will be missed by name.
        let Ok(real) = folder.canonicalize() else { continue };
        if !real.is_dir() || !seen.insert(real) {
            continue;
        }
        if folders.len() == FOLDERS {
            return Err(Exhausted::Folders(FOLDERS as u64).into());
        }
        if depth < DEPTH {
            let list = folder.join("info/alternates");
            let bytes = files::read_if_present(&list, ALTERNATES_BYTES)?.unwrap_or_default();
            let next = parse_alternates(&bytes).map_err(|reason| GitFileError::malformed(&list, reason))?;
            queue.extend(next.iter().rev().map(|path| (folder.join(path), depth + 1)));
        }
        folders.push(folder);
    }
    Ok(folders)
}

/// The paths of an alternates file: one a line, `#` for comments, C-style quotes allowed.
pub(super) fn parse_alternates(bytes: &[u8]) -> Result<Vec<PathBuf>, String> {
    let mut paths = Vec::new();
    for (index, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        if line.is_empty() || line.starts_with(b"#") {
            continue;
        }
        let wrong = || format!("line {}: is no path", index + 1);
        let unquoted = if line.starts_with(b"\"") {
            let (path, used) = gix::quote::ansi_c::undo(line.into()).map_err(|_| wrong())?;
            if used != line.len() {
                return Err(wrong());
            }
            path.into_owned()
        } else {
            line.into()
        };
        if unquoted.contains(&0) {
            return Err(wrong());
        }
        paths.push(PathBuf::from(std::ffi::OsStr::from_bytes(&unquoted)));
    }
    Ok(paths)
}

/// Calls `found` with the id of every file that has the name and place of a loose object.
fn list_loose(
    folder: &Path,
    budget: &Budget,
    found: &mut impl FnMut(Raw) -> Result<(), Exhausted>,
) -> Result<(), ObjectError> {
    const MOST: u64 = 1 << 16;
    for name in files::list(folder, MOST)? {
        let Some(first) = hex::<1>(name.as_bytes()) else { continue };
        budget.check()?;
        let inside = folder.join(&name);
        let entries = match std::fs::read_dir(&inside) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => continue,
            Err(error) => return Err(GitFileError::io("list", &inside, error).into()),
        };
        for entry in entries {
            let entry = entry.map_err(|error| GitFileError::io("list", &inside, error))?;
            if let Some(rest) = hex::<19>(entry.file_name().as_bytes()) {
                let mut id = [0; 20];
                id[0] = first[0];
                id[1..].copy_from_slice(&rest);
                found(id)?;
            }
        }
    }
    Ok(())
}

/// The bytes that exactly 2·N lower-case hex digits stand for.
fn hex<const N: usize>(text: &[u8]) -> Option<[u8; N]> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    if text.len() != 2 * N {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(text.as_chunks::<2>().0) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn alternates_lists() {
        let paths = parse_alternates(b"# x\n/a b\n\n../c\n\"q\\t\"\n").unwrap();
        assert_eq!(paths, ["/a b", "../c", "q\t"].map(PathBuf::from));
        for wrong in ["\"a", "\"a\" b", "a\0"] {
            assert_eq!(parse_alternates(format!("ok\n{wrong}").as_bytes()), Err("line 2: is no path".to_owned()));
        }
    }

    #[test]
    fn only_lower_case_hex_is_a_name() {
        assert_eq!(hex::<2>(b"0aff"), Some([0x0a, 0xff]));
        for wrong in ["0aF0", "0af", "0aff0", "0ag0", ""] {
            assert_eq!(hex::<2>(wrong.as_bytes()), None);
        }
    }

    proptest! {
        #[test]
        fn any_bytes_have_an_answer(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            let _ = parse_alternates(&bytes);
        }
    }
}
