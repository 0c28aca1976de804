//! Files of the git directory: regular ones only, opened without blocking, read up to a bound.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

/// A file of the git directory that could not be used.
#[derive(Debug, thiserror::Error)]
pub enum GitFileError {
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

impl GitFileError {
    pub(super) fn io(operation: &'static str, path: &Path, source: impl Into<io::Error>) -> Self {
        GitFileError::Io { operation, path: path.to_owned(), source: source.into() }
    }

    pub(super) fn malformed(path: &Path, reason: impl Into<String>) -> Self {
        GitFileError::Malformed { path: path.to_owned(), reason: reason.into() }
    }

    /// The file it is about.
    pub fn path(&self) -> &Path {
        match self {
            GitFileError::Io { path, .. }
            | GitFileError::NotRegular { path }
            | GitFileError::TooLarge { path, .. }
            | GitFileError::Malformed { path, .. } => path,
        }
    }

    /// What is wrong, without the path.
    pub fn reason(&self) -> String {
        match self {
            GitFileError::Io { operation, source, .. } => format!("cannot {operation} it: {source}"),
            GitFileError::NotRegular { .. } => "not a regular file".to_owned(),
            GitFileError::TooLarge { bytes, limit, .. } => format!("{bytes} bytes, over the limit of {limit}"),
            GitFileError::Malformed { reason, .. } => reason.clone(),
        }
    }

    /// The bytes are wrong, as opposed to out of reach.
    pub fn is_wrong(&self) -> bool {
        matches!(self, GitFileError::Malformed { .. } | GitFileError::NotRegular { .. })
    }

    /// There is nothing at that path.
    pub(super) fn is_absent(&self) -> bool {
        use io::ErrorKind::{NotADirectory, NotFound};
        matches!(self, GitFileError::Io { source, .. } if matches!(source.kind(), NotFound | NotADirectory))
    }
}

/// Whether the last component of a path may be a symbolic link.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Links {
    Follow,
    Refuse,
}

/// Opens a regular file for reading; its size. A fifo or device never blocks: it is opened and put away again.
pub(super) fn open(path: &Path, links: Links) -> Result<(File, u64), GitFileError> {
    let mut flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    if links == Links::Refuse {
        flags |= OFlags::NOFOLLOW;
    }
    let file: File = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(file) => file.into(),
        // A link where none is followed; a socket.
        Err(rustix::io::Errno::LOOP | rustix::io::Errno::NXIO) => {
            return Err(GitFileError::NotRegular { path: path.to_owned() });
        }
        Err(errno) => return Err(GitFileError::io("open", path, errno)),
    };
    let metadata = file.metadata().map_err(|error| GitFileError::io("stat", path, error))?;
    if metadata.is_file() {
        Ok((file, metadata.len()))
    } else {
        Err(GitFileError::NotRegular { path: path.to_owned() })
    }
}

/// All bytes of a regular file of at most `limit` bytes.
pub(super) fn read(path: &Path, links: Links, limit: u64) -> Result<Vec<u8>, GitFileError> {
    let mut bytes = Vec::new();
    read_into(path, links, limit, &mut bytes)?;
    Ok(bytes)
}

/// [`read`] into a buffer that is cleared first.
pub(super) fn read_into(path: &Path, links: Links, limit: u64, bytes: &mut Vec<u8>) -> Result<(), GitFileError> {
    let (file, size) = open(path, links)?;
    read_open(file, size, path, limit, bytes)
}

/// The same of a file that is open already, with its size.
pub(super) fn read_open(
    file: File,
    size: u64,
    path: &Path,
    limit: u64,
    bytes: &mut Vec<u8>,
) -> Result<(), GitFileError> {
    let too_large = |bytes| GitFileError::TooLarge { path: path.to_owned(), bytes, limit };
    if size > limit {
        return Err(too_large(size));
    }
    bytes.clear();
    bytes.reserve(usize::try_from(size).unwrap_or(0).saturating_add(1));
    // The file may grow while it is read.
    file.take(limit + 1).read_to_end(bytes).map_err(|error| GitFileError::io("read", path, error))?;
    if bytes.len() as u64 > limit { Err(too_large(bytes.len() as u64)) } else { Ok(()) }
}

/// [`read`], or None when there is nothing at that path.
pub(super) fn read_if_present(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, GitFileError> {
    match read(path, Links::Follow, limit) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.is_absent() => Ok(None),
        Err(error) => Err(error),
    }
}

/// The names in a folder, sorted; none if it does not exist. `limit` bounds their number.
pub(super) fn list(folder: &Path, limit: u64) -> Result<Vec<std::ffi::OsString>, GitFileError> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        Err(error) => return Err(GitFileError::io("list", folder, error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        names.push(entry.map_err(|error| GitFileError::io("list", folder, error))?.file_name());
        if names.len() as u64 > limit {
            return Err(GitFileError::TooLarge { path: folder.to_owned(), bytes: names.len() as u64, limit });
        }
    }
    names.sort_unstable();
    Ok(names)
}
