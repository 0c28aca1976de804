//! Replacing one small file: durably, and only if it is still the very file that was read.
//!
//! A file is looked at first and locked only while it is being replaced: whoever works long on what to write keeps nobody
//! else from writing, and is refused afterwards if somebody did.
//!
//! The lock is the kernel's (`flock`) on the *directory*: it survives the rename of the file in it, ends with the
//! process however that ends, and leaves nothing behind. Whoever holds it is the only one of us to write there, so the
//! temporary file has one fixed name, and what a killed run left under it is cleared away by the next.
//!
//! Everything happens relative to the directory opened first. A file system without `flock` is refused, not written to.
//! Writers that do not take the lock are noticed up to the last look before the rename. Access control lists and other
//! extended attributes of the old file are not carried over.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata, Permissions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, fchown};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD, FileType, Mode, OFlags};
use rustix::process::Uid;

mod error;
#[cfg(test)]
pub(crate) mod fault;
#[cfg(test)]
mod tests;

pub use error::{FileError, Step};

/// Where new bytes are gathered, beside the file they will replace.
const TEMPORARY: &str = ".paired-sdk-gate.tmp";

/// Bytes per write; small under test, so that a run can be cut off in mid-file.
const CHUNK: usize = if cfg!(test) { 64 } else { 1 << 16 };

/// A regular file that may be replaced, as it was when it was opened. Nothing is locked yet.
#[derive(Debug)]
#[must_use]
pub struct ReplaceableFile {
    directory: Directory,
    path: PathBuf,
    name: OsString,
    max_bytes: u64,
    seen: Seen,
}

/// An open directory. Unlocked by hand on drop: a child between fork and exec may still share the descriptor.
#[derive(Debug)]
struct Directory {
    handle: File,
    path: PathBuf,
}

/// What makes a file the same file.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    bytes: Vec<u8>,
    device: u64,
    inode: u64,
    permissions: Permissions,
    owner: u32,
    group: u32,
}

/// What a file is opened for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Read,
    Replace,
}

/// One system call, named: the only way this module reaches the file system, and where tests cut it off.
fn attempt<T, E: Into<io::Error>>(
    step: Step,
    path: &Path,
    call: impl FnOnce() -> Result<T, E>,
) -> Result<T, FileError> {
    let failed = |source| FileError::Io { step, path: path.to_owned(), source };
    #[cfg(test)]
    fault::arrive(step).map_err(failed)?;
    call().map_err(|error| failed(error.into()))
}

/// Reads a regular file of at most `max_bytes` without following a link in its last component. Takes no lock.
///
/// # Errors
/// It is missing, unreadable, larger, or no regular file.
pub fn read(path: &Path, max_bytes: u64) -> Result<Vec<u8>, FileError> {
    let (directory, name) = Directory::of(path)?;
    Ok(directory.see(path, &name, max_bytes, Purpose::Read)?.bytes)
}

impl ReplaceableFile {
    /// Reads the file: regular, not a link, under one name only, at most `max_bytes` long, writable by its mode and to
    /// this process, in a directory of which the same is true.
    ///
    /// # Errors
    /// Any of this is not so.
    pub fn open(path: &Path, max_bytes: u64) -> Result<Self, FileError> {
        let (directory, name) = Directory::of(path)?;
        directory.require_writable()?;
        let seen = directory.see(path, &name, max_bytes, Purpose::Replace)?;
        Ok(ReplaceableFile { directory, path: path.to_owned(), name, max_bytes, seen })
    }

    /// The path as given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The content as it was when the file was opened.
    pub fn bytes(&self) -> &[u8] {
        &self.seen.bytes
    }

    /// Requires that the file is still the one that was read, and makes its presence durable without changing anything:
    /// what another run renamed into place just before it was killed may not have reached the disk.
    ///
    /// # Errors
    /// It is not, another process holds the lock, or a system call failed.
    pub fn settle(self) -> Result<(), FileError> {
        self.directory.lock(&self.path)?;
        self.require_unchanged()?;
        self.directory.sync()
    }

    /// Locks the directory, which does not wait, and replaces the file. It keeps its permissions and owner; a crash at
    /// any point leaves the old or the new bytes.
    ///
    /// # Errors
    /// Another process holds the lock, the file is not the one that was read any more, or a system call failed. Nothing
    /// was then replaced, with one exception: after a failed [`Step::SyncDirectory`] the new bytes are in place; only their durability is unknown.
    pub fn replace(self, bytes: &[u8]) -> Result<(), FileError> {
        self.directory.lock(&self.path)?;
        let temporary = self.prepare(bytes)?;
        self.require_unchanged()?;
        temporary.rename_to(&self.path, &self.name)?;
        self.directory.sync()
    }

    fn prepare(&self, bytes: &[u8]) -> Result<Temporary<'_>, FileError> {
        let (temporary, mut file) = Temporary::create(&self.directory)?;
        let path = &self.directory.path.join(TEMPORARY);
        // Owner before mode: changing the owner clears mode bits.
        attempt(Step::SetOwner, path, || {
            let made = file.metadata()?;
            if (made.uid(), made.gid()) != (self.seen.owner, self.seen.group) {
                fchown(&file, Some(self.seen.owner), Some(self.seen.group))?;
            }
            io::Result::Ok(())
        })?;
        attempt(Step::SetMode, path, || file.set_permissions(self.seen.permissions.clone()))?;
        for chunk in bytes.chunks(CHUNK) {
            attempt(Step::Write, path, || file.write_all(chunk))?;
        }
        attempt(Step::SyncFile, path, || file.sync_all())?;
        Ok(temporary)
    }

    fn require_unchanged(&self) -> Result<(), FileError> {
        let changed = |how| Err(FileError::Changed { path: self.path.clone(), how });
        if !self.directory.is_still_at_its_path()? {
            return changed("its path leads to another directory");
        }
        let again = match self.directory.see(&self.path, &self.name, self.max_bytes, Purpose::Replace) {
            Err(error) if error.is_not_found() => return changed("it is gone"),
            again => again?,
        };
        if again == self.seen {
            Ok(())
        } else if again.bytes != self.seen.bytes {
            changed("it holds other bytes")
        } else if (again.device, again.inode) != (self.seen.device, self.seen.inode) {
            changed("another file of the same content took its place")
        } else {
            changed("it has another mode or owner")
        }
    }
}

impl Directory {
    /// Opens the directory a path lies in; the path's last component.
    fn of(path: &Path) -> Result<(Self, OsString), FileError> {
        let name = path.file_name().filter(|name| !name.eq_ignore_ascii_case(OsStr::new(TEMPORARY)));
        let (Some(name), Some(parent)) = (name, path.parent()) else {
            return Err(FileError::NoName { path: path.to_owned() });
        };
        let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle =
            attempt(Step::OpenDirectory, parent, || rustix::fs::openat(CWD, parent, flags, Mode::empty()))?.into();
        Ok((Directory { handle, path: parent.to_owned() }, name.to_owned()))
    }

    fn lock(&self, path: &Path) -> Result<(), FileError> {
        let tried = attempt(Step::Lock, &self.path, || match self.handle.try_lock() {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(error),
        })?;
        if tried { Ok(()) } else { Err(FileError::Locked { path: path.to_owned() }) }
    }

    fn require_writable(&self) -> Result<(), FileError> {
        let status = attempt(Step::Inspect, &self.path, || self.handle.metadata())?;
        require_write_bit(&self.path, &status)?;
        self.require_access(OsStr::new("."), &self.path, Access::WRITE_OK | Access::EXEC_OK)
    }

    /// Asks for what the mode does not say: another user's directory, a read-only file system, an immutable file.
    fn require_access(&self, name: &OsStr, path: &Path, access: Access) -> Result<(), FileError> {
        attempt(Step::AskForAccess, path, || rustix::fs::accessat(&self.handle, name, access, AtFlags::EACCESS))
    }

    fn see(&self, path: &Path, name: &OsStr, max_bytes: u64, purpose: Purpose) -> Result<Seen, FileError> {
        // Looked at before it is opened: opening a device may act on it.
        let found = attempt(Step::Inspect, path, || rustix::fs::statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW))?;
        require_regular(path, FileType::from_raw_mode(found.st_mode))?;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file: File =
            attempt(Step::Open, path, || rustix::fs::openat(&self.handle, name, flags, Mode::empty()))?.into();
        let status = attempt(Step::Inspect, path, || file.metadata())?;
        if !status.is_file() {
            return Err(FileError::Changed { path: path.to_owned(), how: "it is no regular file any more" });
        }
        if purpose == Purpose::Replace {
            require_write_bit(path, &status)?;
            require_single_name(path, &status)?;
            require_own(path, status.uid(), rustix::process::geteuid())?;
            self.require_access(name, path, Access::WRITE_OK)?;
        }
        let mut bytes = Vec::new();
        attempt(Step::Read, path, || (&file).take(max_bytes.saturating_add(1)).read_to_end(&mut bytes))?;
        if bytes.len() as u64 > max_bytes {
            return Err(FileError::TooLong { path: path.to_owned(), max_bytes });
        }
        Ok(Seen {
            bytes,
            device: status.dev(),
            inode: status.ino(),
            permissions: status.permissions(),
            owner: status.uid(),
            group: status.gid(),
        })
    }

    fn is_still_at_its_path(&self) -> Result<bool, FileError> {
        let opened = attempt(Step::Inspect, &self.path, || self.handle.metadata())?;
        match attempt(Step::Inspect, &self.path, || std::fs::metadata(&self.path)) {
            Ok(named) => Ok((opened.dev(), opened.ino()) == (named.dev(), named.ino())),
            Err(error) if error.is_not_found() => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn sync(&self) -> Result<(), FileError> {
        attempt(Step::SyncDirectory, &self.path, || self.handle.sync_all())
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        // Closing unlocks too; an error here changes nothing.
        let _ = self.handle.unlock();
    }
}

fn require_regular(path: &Path, kind: FileType) -> Result<(), FileError> {
    let kind = match kind {
        FileType::RegularFile => return Ok(()),
        FileType::Symlink => "a symbolic link",
        FileType::Directory => "a directory",
        FileType::Fifo => "a named pipe",
        FileType::Socket => "a socket",
        _ => "a device",
    };
    Err(FileError::NotRegular { path: path.to_owned(), kind })
}

/// The owner's write bit, looked at: the kernel lets root write past it, and a rename never asks for the file's.
fn require_write_bit(path: &Path, status: &Metadata) -> Result<(), FileError> {
    let mode = status.mode() & 0o7777;
    if mode & 0o200 == 0 { Err(FileError::ReadOnly { path: path.to_owned(), mode }) } else { Ok(()) }
}

fn require_single_name(path: &Path, status: &Metadata) -> Result<(), FileError> {
    match status.nlink() {
        1 => Ok(()),
        // Opened, and then another run renamed its own over it.
        0 => Err(FileError::Changed { path: path.to_owned(), how: "another file took its place" }),
        links => Err(FileError::HardLinked { path: path.to_owned(), links }),
    }
}

/// Only root can give the new file to another owner.
fn require_own(path: &Path, owner: u32, user: Uid) -> Result<(), FileError> {
    let own = user.is_root() || user.as_raw() == owner;
    if own { Ok(()) } else { Err(FileError::OtherOwner { path: path.to_owned(), owner, user: user.as_raw() }) }
}

/// The temporary file; gone when dropped, unless it was renamed.
#[must_use]
struct Temporary<'a> {
    directory: &'a Directory,
    renamed: bool,
}

impl<'a> Temporary<'a> {
    fn create(directory: &'a Directory) -> Result<(Self, File), FileError> {
        let path = &directory.path.join(TEMPORARY);
        attempt(Step::RemoveLeftover, path, || {
            match rustix::fs::unlinkat(&directory.handle, TEMPORARY, AtFlags::empty()) {
                Err(rustix::io::Errno::NOENT) => Ok(()),
                removed => removed,
            }
        })?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = attempt(Step::Create, path, || {
            rustix::fs::openat(&directory.handle, TEMPORARY, flags, Mode::RUSR | Mode::WUSR)
        })?;
        Ok((Temporary { directory, renamed: false }, file.into()))
    }

    fn rename_to(mut self, path: &Path, name: &OsStr) -> Result<(), FileError> {
        let directory = &self.directory.handle;
        attempt(Step::Rename, path, || rustix::fs::renameat(directory, TEMPORARY, directory, name))?;
        self.renamed = true;
        Ok(())
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if !self.renamed {
            // The failure that brought us here is the one to report; the next run clears a leftover away.
            let _ = rustix::fs::unlinkat(&self.directory.handle, TEMPORARY, AtFlags::empty());
        }
    }
}
