//! Wheels and sdists, read without unpacking them: every member once, in memory, within bounds.
//!
//! Readers of archives disagree where an archive is odd: on a name that is there twice, on what only one of two directories lists,
//! on links. What any of them could read otherwise is refused here, so that what was read is what an installer unpacks.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Cursor, Read};

use crate::limits::{Budget, Stop};

/// The formats of released artifacts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A wheel (PEP 427).
    Zip,
    /// An sdist (PEP 625).
    TarGz,
}

/// Why an archive was not read to its end.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// It is none, or damaged.
    #[error("{0}")]
    Broken(String),
    /// Something in it is no plain file that is there once.
    #[error("{what}")]
    Odd {
        /// The member's name, as far as it is text.
        member: String,
        /// What is wrong with it.
        what: String,
    },
    /// A bound was reached.
    #[error("more than {limit} {of}")]
    Limit {
        /// How many were allowed.
        limit: u64,
        /// Of what.
        of: &'static str,
        /// What raises the bound.
        flag: &'static str,
    },
    /// The run has to stop.
    #[error(transparent)]
    Stop(#[from] Stop),
}

/// Visits every regular file of an archive, its name and its content, in the archive's order. Folders are passed over.
///
/// Names are UTF-8, relative and plain: no empty, `.` or `..` component, no backslash, no control character; no name occurs twice,
/// and no file stands where another one has its folder. The bounds are the package's: members, bytes of one, bytes in all.
///
/// # Errors
/// The archive is broken or odd, or a bound was reached; what was visited before counts for nothing then.
pub fn members(
    format: Format,
    bytes: &[u8],
    budget: &Budget,
    visit: &mut dyn FnMut(&str, &[u8]),
) -> Result<(), ArchiveError> {
    let mut seen = Seen { budget, names: Names::default(), bytes: 0, visit };
    match format {
        Format::Zip => zip(bytes, &mut seen),
        Format::TarGz => tar_gz(bytes, &mut seen),
    }
}

/// What was visited so far.
struct Seen<'a> {
    budget: &'a Budget,
    names: Names,
    bytes: u64,
    visit: &'a mut dyn FnMut(&str, &[u8]),
}

impl Seen<'_> {
    fn folder(&mut self, name: &[u8]) -> Result<(), ArchiveError> {
        self.count(self.names.count() + 1)?;
        self.names.folder(name.strip_suffix(b"/").unwrap_or(name))
    }

    /// Reads one file whose header says that it has so many bytes.
    fn file(&mut self, name: &[u8], size: u64, content: impl Read) -> Result<(), ArchiveError> {
        let limits = self.budget.limits();
        self.count(self.names.count() + 1)?;
        let name = self.names.file(name)?;
        let bound = limits.file_bytes;
        if size > bound {
            return Err(ArchiveError::Limit { limit: bound, of: "bytes of one member", flag: "--limit-file-bytes" });
        }
        self.bytes += size;
        within_package(self.bytes, limits.package_bytes)?;
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
        content.take(size + 1).read_to_end(&mut bytes).map_err(broken)?;
        if bytes.len() as u64 != size {
            return Err(odd(name, format!("{} bytes, where its header says {size}", bytes.len())));
        }
        self.budget.check()?;
        (self.visit)(&name, &bytes);
        Ok(())
    }

    fn count(&self, members: usize) -> Result<(), ArchiveError> {
        let limit = self.budget.limits().package_files;
        let within = members as u64 <= limit;
        if within { Ok(()) } else { Err(ArchiveError::Limit { limit, of: "members", flag: "--limit-package-files" }) }
    }
}

fn within_package(bytes: u64, limit: u64) -> Result<(), ArchiveError> {
    let flag = "--limit-package-bytes";
    if bytes > limit { Err(ArchiveError::Limit { limit, of: "bytes in all", flag }) } else { Ok(()) }
}

fn broken(error: impl std::fmt::Display) -> ArchiveError {
    ArchiveError::Broken(error.to_string())
}

fn odd(member: impl Into<String>, what: impl Into<String>) -> ArchiveError {
    ArchiveError::Odd { member: member.into(), what: what.into() }
}

/// The names of an archive: each a file or a folder, and only once a file.
#[derive(Default)]
struct Names {
    files: BTreeSet<String>,
    /// Folders, true if a member of its own says so.
    folders: BTreeMap<String, bool>,
}

impl Names {
    fn count(&self) -> usize {
        self.files.len() + self.folders.values().filter(|said| **said).count()
    }

    fn file(&mut self, name: &[u8]) -> Result<String, ArchiveError> {
        let name = plain(name)?;
        if self.folders.contains_key(name) {
            return Err(odd(name, "a file and a folder"));
        }
        self.parents(name)?;
        if self.files.insert(name.to_owned()) { Ok(name.to_owned()) } else { Err(odd(name, "there twice")) }
    }

    fn folder(&mut self, name: &[u8]) -> Result<(), ArchiveError> {
        let name = plain(name)?;
        if self.files.contains(name) {
            return Err(odd(name, "a file and a folder"));
        }
        self.parents(name)?;
        let twice = self.folders.insert(name.to_owned(), true) == Some(true);
        if twice { Err(odd(name, "there twice")) } else { Ok(()) }
    }

    fn parents(&mut self, name: &str) -> Result<(), ArchiveError> {
        for (at, _) in name.match_indices('/') {
            let parent = &name[..at];
            if self.files.contains(parent) {
                return Err(odd(parent, "a file and a folder"));
            }
            self.folders.entry(parent.to_owned()).or_insert(false);
        }
        Ok(())
    }
}

fn plain(name: &[u8]) -> Result<&str, ArchiveError> {
    let Ok(text) = std::str::from_utf8(name) else {
        return Err(odd(String::from_utf8_lossy(name), "a name that is not UTF-8"));
    };
    let wrong = |part: &str| matches!(part, "" | "." | "..");
    if text.split('/').any(wrong) || text.chars().any(|c| c == '\\' || c.is_control()) {
        return Err(odd(text, "a name that is no plain relative path"));
    }
    Ok(text)
}

fn zip(bytes: &[u8], seen: &mut Seen<'_>) -> Result<(), ArchiveError> {
    // The directory is found from the end, and readers differ in how far they look for it. One that ends the file leaves no choice.
    const END: usize = 22;
    let end = bytes.len().checked_sub(END).map(|at| &bytes[at..]).filter(|end| end.starts_with(b"PK\x05\x06"));
    let Some(end) = end else { return Err(broken("not a zip archive that ends with its directory")) };
    let before = bytes.len().checked_sub(END + 20).map(|at| &bytes[at..]);
    if before.is_some_and(|before| before.starts_with(b"PK\x06\x07")) {
        return Err(broken("a second, 64-bit directory"));
    }
    // Before the library makes room for them.
    seen.count(usize::from(u16::from_le_bytes([end[10], end[11]])))?;
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).map_err(broken)?;
    if archive.offset() != 0 {
        return Err(broken(format!("{} bytes before the archive", archive.offset())));
    }
    if archive.has_duplicate_names() {
        return Err(odd("the directory", "a member that is there twice"));
    }
    archive.validate_header_consistency().map_err(broken)?;
    for index in 0..archive.len() {
        let mut member = archive.by_index(index).map_err(broken)?;
        let name = member.name_raw().to_owned();
        let text = String::from_utf8_lossy(&name).into_owned();
        if member.name().map_err(broken)?.as_bytes() != name {
            return Err(odd(text, "a name in another encoding than UTF-8"));
        }
        // The upper half of the attributes is a mode, if the archive was made where files have one.
        const KIND: u32 = 0o170_000;
        let kind = member.unix_mode().unwrap_or_default() & KIND;
        match (name.ends_with(b"/"), kind) {
            (true, 0 | 0o040_000) if member.size() == 0 => seen.folder(&name)?,
            (false, 0 | 0o100_000) => {
                let size = member.size();
                seen.file(&name, size, &mut member)?;
            }
            (_, 0o120_000) => return Err(odd(text, "a symbolic link")),
            _ => return Err(odd(text, "neither a regular file nor a folder")),
        }
    }
    Ok(())
}

fn tar_gz(bytes: &[u8], seen: &mut Seen<'_>) -> Result<(), ArchiveError> {
    // A header and its padding are at most 1,024 bytes for a member, and as much for what extends it.
    let limits = seen.budget.limits();
    let bound = limits.package_bytes.saturating_add(limits.package_files.saturating_mul(2048));
    let mut tar = Vec::new();
    flate2::read::MultiGzDecoder::new(bytes).take(bound.saturating_add(1)).read_to_end(&mut tar).map_err(broken)?;
    within_package((tar.len() as u64).saturating_sub(bound - limits.package_bytes), limits.package_bytes)?;
    let mut archive = tar::Archive::new(&tar[..]);
    let mut end = 0;
    for member in archive.entries().map_err(broken)? {
        let mut member = member.map_err(broken)?;
        let name = member.path_bytes().into_owned();
        let text = String::from_utf8_lossy(&name).into_owned();
        for extension in member.pax_extensions().map_err(broken)?.into_iter().flatten() {
            if extension.map_err(broken)?.key_bytes().starts_with(b"GNU.sparse") {
                return Err(odd(text, "a sparse file"));
            }
        }
        let (kind, size) = (member.header().entry_type(), member.size());
        match kind {
            tar::EntryType::Directory if size == 0 => seen.folder(&name)?,
            tar::EntryType::Regular => seen.file(&name, size, &mut member)?,
            tar::EntryType::Symlink => return Err(odd(text, "a symbolic link")),
            tar::EntryType::Link => return Err(odd(text, "a hard link")),
            _ => return Err(odd(text, "neither a regular file nor a folder")),
        }
        end = member.raw_file_position().saturating_add(size.next_multiple_of(512));
    }
    let rest = usize::try_from(end).ok().and_then(|end| tar.get(end..)).unwrap_or_default();
    if rest.iter().any(|&byte| byte != 0) {
        return Err(broken("bytes after the end of the archive"));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
