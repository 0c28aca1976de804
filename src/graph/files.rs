//! Files of the git directory: regular ones only, opened without blocking, read up to a bound.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

/// A file of the git directory that could not be used.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The system refused.
    #[error("cannot {operation} {}: {source}", path.display())]
    Io {
        /// What was tried.
        operation: &'static str,
        /// On what.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// A folder, fifo, socket, device or, where links are not followed, a symbolic link.
    #[error("{} is not a regular file", path.display())]
    NotRegular {
        /// Which.
        path: PathBuf,
    },
    /// It is larger than anything this gate reads.
    #[error("{} has {bytes} bytes, over the limit of {limit}", path.display())]
    TooLarge {
        /// Which.
        path: PathBuf,
        /// Its size.
        bytes: u64,
        /// The bound.
        limit: u64,
    },
    /// Its content is not what it has to be.
    #[error("{} {reason}", path.display())]
    Malformed {
        /// Which.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
}

impl FileError {
    pub(super) fn io(operation: &'static str, path: &Path, source: impl Into<io::Error>) -> Self {
        FileError::Io { operation, path: path.to_owned(), source: source.into() }
    }

    pub(super) fn malformed(path: &Path, reason: impl Into<String>) -> Self {
        FileError::Malformed { path: path.to_owned(), reason: reason.into() }
    }

    /// The file it is about.
    pub fn path(&self) -> &Path {
        match self {
            FileError::Io { path, .. }
            | FileError::NotRegular { path }
            | FileError::TooLarge { path, .. }
            | FileError::Malformed { path, .. } => path,
        }
    }

    /// What is wrong, without the path.
    pub fn reason(&self) -> String {
        match self {
            FileError::Io { operation, source, .. } => format!("cannot {operation} it: {source}"),
            FileError::NotRegular { .. } => "not a regular file".to_owned(),
            FileError::TooLarge { bytes, limit, .. } => format!("{bytes} bytes, over the limit of {limit}"),
            FileError::Malformed { reason, .. } => reason.clone(),
        }
    }

    /// The bytes are wrong, as opposed to out of reach.
    pub fn is_wrong(&self) -> bool {
        matches!(self, FileError::Malformed { .. } | FileError::NotRegular { .. })
    }

    /// There is nothing at that path.
    pub(super) fn is_absent(&self) -> bool {
        use io::ErrorKind::{NotADirectory, NotFound};
        matches!(self, FileError::Io { source, .. } if matches!(source.kind(), NotFound | NotADirectory))
    }
}

/// Whether the last component of a path may be a symbolic link.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Links {
    Follow,
    Refuse,
}

/// Opens a regular file for reading; its size. A fifo or device never blocks: it is opened and put away again.
pub(super) fn open(path: &Path, links: Links) -> Result<(File, u64), FileError> {
    let mut flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    if links == Links::Refuse {
        flags |= OFlags::NOFOLLOW;
    }
    let file: File = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(file) => file.into(),
        // A link where none is followed; a socket.
        Err(rustix::io::Errno::LOOP | rustix::io::Errno::NXIO) => {
            return Err(FileError::NotRegular { path: path.to_owned() });
        }
        Err(errno) => return Err(FileError::io("open", path, errno)),
    };
    let metadata = file.metadata().map_err(|error| FileError::io("stat", path, error))?;
    if metadata.is_file() { Ok((file, metadata.len())) } else { Err(FileError::NotRegular { path: path.to_owned() }) }
}

/// All bytes of a regular file of at most `limit` bytes.
pub(super) fn read(path: &Path, links: Links, limit: u64) -> Result<Vec<u8>, FileError> {
    let mut bytes = Vec::new();
    read_into(path, links, limit, &mut bytes)?;
    Ok(bytes)
}

/// [`read`] into a buffer that is cleared first.
pub(super) fn read_into(path: &Path, links: Links, limit: u64, bytes: &mut Vec<u8>) -> Result<(), FileError> {
    let (file, size) = open(path, links)?;
    let too_large = |bytes| FileError::TooLarge { path: path.to_owned(), bytes, limit };
    if size > limit {
        return Err(too_large(size));
    }
    bytes.clear();
    bytes.reserve(usize::try_from(size).unwrap_or(0).saturating_add(1));
    // The file may grow while it is read.
    file.take(limit + 1).read_to_end(bytes).map_err(|error| FileError::io("read", path, error))?;
    if bytes.len() as u64 > limit { Err(too_large(bytes.len() as u64)) } else { Ok(()) }
}

/// [`read`], or None when there is nothing at that path.
pub(super) fn read_if_present(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, FileError> {
    match read(path, Links::Follow, limit) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.is_absent() => Ok(None),
        Err(error) => Err(error),
    }
}

/// The names in a folder, sorted; none if it does not exist. `limit` bounds their number.
pub(super) fn list(folder: &Path, limit: u64) -> Result<Vec<std::ffi::OsString>, FileError> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        Err(error) => return Err(FileError::io("list", folder, error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        names.push(entry.map_err(|error| FileError::io("list", folder, error))?.file_name());
        if names.len() as u64 > limit {
            return Err(FileError::TooLarge { path: folder.to_owned(), bytes: names.len() as u64, limit });
        }
    }
    names.sort_unstable();
    Ok(names)
}
