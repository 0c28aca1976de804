//! Files, read without following links and without blocking, and private folders that vanish.

pub mod replace;

use std::ffi::{CStr, CString};
use std::fmt;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use sha2::Digest;

/// A path inside a commit whose components are plain: `[A-Za-z0-9_.-]+`, neither `.` nor `..`, joined by `/`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RepoPath(String);

impl RepoPath {
    /// Checks the bytes of a path.
    ///
    /// # Errors
    /// The first component that is not plain, as text.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let plain = |part: &&[u8]| {
            !matches!(*part, b"" | b"." | b"..")
                && part.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-'))
        };
        match bytes.split(|&b| b == b'/').find(|part| !plain(part)) {
            Some(part) => Err(format!("component {:?}", lossy(part))),
            None => Ok(RepoPath(lossy(bytes))),
        }
    }

    /// The path with `/` between components.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The path below `root`.
    pub fn below(&self, root: &Path) -> PathBuf {
        root.join(&self.0)
    }
}

impl fmt::Display for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What to do when a private folder's disk is full.
pub const NO_ROOM: &str = "make room in the temporary folder, or name another with TMPDIR";

/// Bytes as text for people; what is not UTF-8 is replaced.
pub fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A failed file operation: which, on what, and why.
#[derive(Debug, thiserror::Error)]
#[error("cannot {operation} {}: {source}", path.display())]
pub struct FileError {
    /// What was tried, as a verb.
    pub operation: &'static str,
    /// On which file or folder.
    pub path: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

impl FileError {
    /// For use in `map_err`.
    pub fn new<E: Into<io::Error>>(operation: &'static str, path: &Path) -> impl FnOnce(E) -> FileError {
        move |source| FileError { operation, path: path.to_owned(), source: source.into() }
    }

    /// Nothing is there.
    pub fn is_not_found(&self) -> bool {
        self.source.kind() == io::ErrorKind::NotFound
    }

    /// The disk, or this user's share of it, is full.
    pub fn is_out_of_room(&self) -> bool {
        matches!(self.source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
    }
}

/// What an entry of a folder is, without following it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Symlink,
    /// A fifo, socket or device.
    Special,
}

impl EntryKind {
    /// For people, with an article.
    pub fn describe(self) -> &'static str {
        match self {
            EntryKind::File => "a regular file",
            EntryKind::Folder => "a folder",
            EntryKind::Symlink => "a symbolic link",
            EntryKind::Special => "a fifo, socket or device",
        }
    }
}

impl From<FileType> for EntryKind {
    fn from(kind: FileType) -> Self {
        match kind {
            FileType::RegularFile => EntryKind::File,
            FileType::Directory => EntryKind::Folder,
            FileType::Symlink => EntryKind::Symlink,
            _ => EntryKind::Special,
        }
    }
}

/// An open folder. Everything below it is reached one component at a time and never through a link.
#[derive(Debug)]
pub struct Folder {
    fd: OwnedFd,
    path: PathBuf,
}

/// A regular file's content, read whole.
#[derive(Debug)]
pub struct FileContent {
    /// The bytes; complete unless `exceeds` is set.
    pub bytes: Vec<u8>,
    /// Its owner may execute it (what git looks at).
    pub executable: bool,
    /// The file is larger than the bound; `bytes` is only its start.
    pub exceeds: bool,
}

/// An open regular file.
#[derive(Debug)]
pub struct RegularFile {
    file: std::fs::File,
    path: PathBuf,
    size: u64,
    /// Its owner may execute it (what git looks at).
    pub executable: bool,
}

impl RegularFile {
    /// Hands on its bytes piece by piece, so that no file is held as a whole; whether that were all, which is false once there are more than
    /// `limit`.
    ///
    /// # Errors
    /// The system's, with the path.
    pub fn pieces(&mut self, limit: u64, mut take: impl FnMut(&[u8])) -> Result<bool, FileError> {
        let mut buffer = [0; 16 << 10];
        let mut left = limit;
        loop {
            match self.file.read(&mut buffer) {
                Ok(0) => return Ok(true),
                Ok(read) => {
                    let Some(rest) = left.checked_sub(read as u64) else { return Ok(false) };
                    left = rest;
                    take(&buffer[..read]);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(FileError::new("read", &self.path)(error)),
            }
        }
    }
}

const LOOK: OFlags = OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC).union(OFlags::NONBLOCK);

impl Folder {
    /// Opens a folder by its path. The last component may not be a link.
    ///
    /// # Errors
    /// The system's, with the path.
    pub fn open(path: &Path) -> Result<Self, FileError> {
        let fd = rustix::fs::open(path, LOOK | OFlags::DIRECTORY, Mode::empty())
            .map_err(FileError::new("open the folder", path))?;
        Ok(Folder { fd, path: path.to_owned() })
    }

    /// Its path, for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The names in it with their kinds, sorted by bytes, without `.` and `..`.
    ///
    /// # Errors
    /// The system's, with the path.
    pub fn entries(&self) -> Result<Vec<(CString, EntryKind)>, FileError> {
        let mut entries = Vec::new();
        for entry in rustix::fs::Dir::read_from(&self.fd).map_err(FileError::new("list the folder", &self.path))? {
            let entry = entry.map_err(FileError::new("list the folder", &self.path))?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            let kind = match entry.file_type() {
                FileType::Unknown => self.kind(name)?,
                kind => kind.into(),
            };
            entries.push((name.to_owned(), kind));
        }
        entries.sort();
        Ok(entries)
    }

    /// What `name` is, without following it.
    ///
    /// # Errors
    /// The system's, with the path.
    pub fn kind(&self, name: &CStr) -> Result<EntryKind, FileError> {
        let stat = rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW)
            .map_err(FileError::new("look at", &self.join(name)))?;
        Ok(FileType::from_raw_mode(stat.st_mode).into())
    }

    /// The folder `name` in it.
    ///
    /// # Errors
    /// The system's, with the path; a link is an error.
    pub fn folder(&self, name: &CStr) -> Result<Folder, FileError> {
        let path = self.join(name);
        let fd = rustix::fs::openat(&self.fd, name, LOOK | OFlags::DIRECTORY, Mode::empty())
            .map_err(FileError::new("open the folder", &path))?;
        Ok(Folder { fd, path })
    }

    /// The regular file `name` in it, up to `limit` bytes.
    ///
    /// # Errors
    /// The system's, with the path; anything but a regular file is an error, and never blocks.
    pub fn file(&self, name: &CStr, limit: u64) -> Result<FileContent, FileError> {
        let RegularFile { mut file, path, size, executable } = self.open_file(name)?;
        let mut bytes = Vec::with_capacity(usize::try_from(size.min(limit)).unwrap_or(0) + 1);
        file.by_ref().take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(FileError::new("read", &path))?;
        let exceeds = bytes.len() as u64 > limit;
        Ok(FileContent { bytes, executable, exceeds })
    }

    /// The regular file `name` in it, to be read piece by piece.
    ///
    /// # Errors
    /// The system's, with the path; anything but a regular file is an error, and never blocks.
    pub fn open_file(&self, name: &CStr) -> Result<RegularFile, FileError> {
        let path = self.join(name);
        let fd = rustix::fs::openat(&self.fd, name, LOOK, Mode::empty()).map_err(FileError::new("open", &path))?;
        let stat = rustix::fs::fstat(&fd).map_err(FileError::new("look at", &path))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            let source = io::Error::new(io::ErrorKind::InvalidInput, "not a regular file");
            return Err(FileError { operation: "read", path, source });
        }
        let (size, executable) = (u64::try_from(stat.st_size).unwrap_or(0), stat.st_mode & 0o100 != 0);
        Ok(RegularFile { file: fd.into(), path, size, executable })
    }

    fn join(&self, name: &CStr) -> PathBuf {
        self.path.join(lossy(name.to_bytes()))
    }
}

/// Reads the regular file at `path`, up to `limit` bytes, without following a link in its last component.
///
/// # Errors
/// The system's, with the path; anything but a regular file is an error, and never blocks.
pub fn read_file(path: &Path, limit: u64) -> Result<FileContent, FileError> {
    let (folder, name) = placed(path)?;
    folder.file(&name, limit)
}

/// The SHA-256 of the regular file at `path`, which is opened like [`read_file`] does; none if it is larger than `limit` bytes.
///
/// # Errors
/// As of [`read_file`].
pub fn sha256_file(path: &Path, limit: u64) -> Result<Option<[u8; 32]>, FileError> {
    let (folder, name) = placed(path)?;
    let mut hasher = sha2::Sha256::new();
    let whole = folder.open_file(&name)?.pieces(limit, |piece| hasher.update(piece))?;
    Ok(whole.then(|| hasher.finalize().into()))
}

/// A file's folder, opened, and its name in there.
fn placed(path: &Path) -> Result<(Folder, CString), FileError> {
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let name = path.file_name().and_then(|name| CString::new(name.as_encoded_bytes()).ok());
    let name = name.ok_or_else(|| FileError {
        operation: "read",
        path: path.to_owned(),
        source: io::Error::new(io::ErrorKind::InvalidInput, "not the name of a file"),
    })?;
    // The folder itself may be reached through links: only what is read must not be one.
    let fd = rustix::fs::open(parent, LOOK.difference(OFlags::NOFOLLOW) | OFlags::DIRECTORY, Mode::empty())
        .map_err(FileError::new("find the folder", parent))?;
    Ok((Folder { fd, path: parent.to_owned() }, name))
}

/// A fresh folder with a random neutral name, readable by its owner alone, removed when dropped.
///
/// # Errors
/// It could not be created in `parent`.
pub fn private_folder(parent: &Path) -> Result<tempfile::TempDir, FileError> {
    use std::os::unix::fs::PermissionsExt;
    tempfile::Builder::new()
        .prefix("")
        .rand_bytes(12)
        .permissions(std::fs::Permissions::from_mode(0o700))
        .tempdir_in(parent)
        .map_err(FileError::new("create a private folder in", parent))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn plain_paths_only() {
        assert_eq!(RepoPath::parse(b"netbox_sdk/a-b.c/_d").unwrap().as_str(), "netbox_sdk/a-b.c/_d");
        for (path, component) in [
            (&b"a/../b"[..], "\"..\""),
            (b"./a", "\".\""),
            (b"a//b", "\"\""),
            (b"/a", "\"\""),
            (b"a/", "\"\""),
            (b"", "\"\""),
            (b"a/b c", "\"b c\""),
            ("a/\u{e9}".as_bytes(), "\"\u{e9}\""),
            (b"a\\b", "\"a\\\\b\""),
            (b"a\0b", "\"a\\0b\""),
        ] {
            assert_eq!(RepoPath::parse(path).unwrap_err(), format!("component {component}"));
        }
    }

    proptest! {
        #[test]
        fn an_accepted_path_stays_below_its_root(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            if let Ok(path) = RepoPath::parse(&bytes) {
                let below = path.below(Path::new("/root"));
                let plain = below.components().all(|part| !matches!(part, std::path::Component::ParentDir));
                prop_assert!(plain && below.starts_with("/root"));
                prop_assert_eq!(path.as_str().as_bytes(), &bytes[..]);
            }
        }
    }

    #[test]
    fn nothing_is_followed_and_nothing_blocks() {
        let dir = private_folder(&std::env::temp_dir()).unwrap();
        assert_eq!(dir.path().metadata().unwrap().permissions().mode() & 0o777, 0o700);
        let at = |name: &str| dir.path().join(name);
        std::fs::write(at("file"), "abc").unwrap();
        std::fs::create_dir(at("sub")).unwrap();
        symlink("file", at("link")).unwrap();
        symlink("sub", at("sublink")).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, at("fifo"), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();

        let folder = Folder::open(dir.path()).unwrap();
        let kinds: Vec<_> = folder.entries().unwrap().into_iter().map(|(n, k)| (n.into_string().unwrap(), k)).collect();
        let expected = [
            ("fifo", EntryKind::Special),
            ("file", EntryKind::File),
            ("link", EntryKind::Symlink),
            ("sub", EntryKind::Folder),
            ("sublink", EntryKind::Symlink),
        ];
        assert_eq!(kinds, expected.map(|(name, kind)| (name.to_owned(), kind)));

        let file = folder.file(c"file", 3).unwrap();
        assert_eq!((file.bytes.as_slice(), file.executable, file.exceeds), (&b"abc"[..], false, false));
        assert!(folder.file(c"file", 2).unwrap().exceeds);
        assert!(sha256_file(&at("file"), 3).unwrap().is_some() && sha256_file(&at("file"), 2).unwrap().is_none());
        assert!(folder.file(c"fifo", 3).unwrap_err().to_string().ends_with("fifo: not a regular file"));
        assert!(folder.file(c"sub", 3).unwrap_err().to_string().ends_with("sub: not a regular file"));
        assert!(folder.file(c"link", 3).is_err() && read_file(&at("link"), 3).is_err());
        assert!(folder.folder(c"sublink").is_err() && Folder::open(&at("sublink")).is_err());
        assert!(folder.folder(c"sub").is_ok());
        assert!(read_file(&at("none"), 3).unwrap_err().is_not_found());
        assert_eq!(read_file(&at("file"), 3).unwrap().bytes, b"abc");
    }
}
