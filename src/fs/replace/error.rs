//! What can stand in the way of reading or replacing a file, and what to do about it.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// One step towards the file, as an error names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Opening the directory.
    OpenDirectory,
    /// Locking the directory.
    Lock,
    /// Asking whether this process may write.
    AskForAccess,
    /// Looking at kind, mode, owner and links.
    Inspect,
    /// Opening the file.
    Open,
    /// Reading the file.
    Read,
    /// Clearing away what a killed run left.
    RemoveLeftover,
    /// Creating the temporary file.
    Create,
    /// Giving the temporary file the old owner.
    SetOwner,
    /// Giving the temporary file the old mode.
    SetMode,
    /// Writing the temporary file.
    Write,
    /// Making the temporary file durable.
    SyncFile,
    /// Putting the new file in the place of the old.
    Rename,
    /// Making the rename durable.
    SyncDirectory,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Step::OpenDirectory => "open the directory",
            Step::Lock => "lock the directory",
            Step::AskForAccess => "get write access to",
            Step::Inspect => "inspect",
            Step::Open => "open",
            Step::Read => "read",
            Step::RemoveLeftover => "remove the leftover",
            Step::Create => "create the temporary file",
            Step::SetOwner => "set the owner of the temporary file",
            Step::SetMode => "set the mode of the temporary file",
            Step::Write => "write the temporary file",
            Step::SyncFile => "flush the temporary file",
            Step::Rename => "rename the temporary file to",
            Step::SyncDirectory => "flush the directory",
        })
    }
}

/// A file could not be read or must not be replaced.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// A system call failed.
    #[error("cannot {step} {path:?}")]
    Io {
        /// What was attempted.
        step: Step,
        /// On which file or directory.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// The path ends in no file name, or in the one name that is ours.
    #[error("expected the path of a file, found {path:?}")]
    NoName {
        /// The path as given.
        path: PathBuf,
    },
    /// There is something else under that name.
    #[error("expected a regular file at {path:?}, found {kind}")]
    NotRegular {
        /// The path as given.
        path: PathBuf,
        /// What it is instead.
        kind: &'static str,
    },
    /// Replacing it would tear the names apart.
    #[error("expected a single name for {path:?}, found {links} hard links to the file")]
    HardLinked {
        /// The path as given.
        path: PathBuf,
        /// How many names the file has.
        links: u64,
    },
    /// The owner's write bit is off.
    #[error("expected {path:?} to be writable, found mode {mode:04o}")]
    ReadOnly {
        /// The file or its directory.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The new file could not be given to the old one's owner.
    #[error("expected {path:?} to belong to user {user}, who runs this, found user {owner}")]
    OtherOwner {
        /// The path as given.
        path: PathBuf,
        /// The file's owner.
        owner: u32,
        /// The effective user of this process.
        user: u32,
    },
    /// The lock is held elsewhere.
    #[error("another process is at work in the directory of {path:?}")]
    Locked {
        /// The path as given.
        path: PathBuf,
    },
    /// More than the caller's bound.
    #[error("expected at most {max_bytes} bytes in {path:?}, found more")]
    TooLong {
        /// The path as given.
        path: PathBuf,
        /// The bound.
        max_bytes: u64,
    },
    /// Somebody else wrote between reading and replacing.
    #[error("{path:?} changed since it was read: {how}")]
    Changed {
        /// The path as given.
        path: PathBuf,
        /// In which way.
        how: &'static str,
    },
}

impl FileError {
    /// A system call found nothing under the name.
    pub fn is_not_found(&self) -> bool {
        matches!(self, FileError::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }

    /// What to do next.
    pub fn hint(&self) -> String {
        match self {
            FileError::Io { step: Step::SyncDirectory, .. } => {
                "the new content is in place but may not survive a power cut; run `sync`, then look at the file".into()
            }
            FileError::Io { step: Step::Lock, .. } => {
                "put the file on a file system that offers flock, such as a local one".into()
            }
            FileError::Io { source, path, .. } => match source.kind() {
                io::ErrorKind::NotFound => format!("check the path; `ls -l {path:?}` shows what is there"),
                io::ErrorKind::PermissionDenied => {
                    "run as the owner of the file, with write access to its directory".into()
                }
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                    "make room on the file system of the file, then run again".into()
                }
                io::ErrorKind::ReadOnlyFilesystem => "remount the file system writable, or work on a copy".into(),
                _ => format!("look at `ls -ld {path:?}` and the reason given, then run again"),
            },
            FileError::NoName { .. } => "give the path of the file itself".into(),
            FileError::NotRegular { path, kind: "a symbolic link" } => {
                format!("give the file itself: `realpath {path:?}` names it")
            }
            FileError::NotRegular { .. } => "give the path of the file itself".into(),
            FileError::HardLinked { path, .. } => {
                format!("give it a name of its own: `cp -p {path:?} {path:?}.new && mv {path:?}.new {path:?}`")
            }
            FileError::ReadOnly { path, .. } => format!("if it is meant to change: `chmod u+w {path:?}`"),
            FileError::OtherOwner { owner, .. } => format!("run as user {owner}: `sudo -u '#{owner}' …`"),
            FileError::Locked { .. } => "wait until the other run ends, then run again".into(),
            FileError::TooLong { .. } => "give the right file".into(),
            FileError::Changed { .. } => "look at what was written, then run again".into(),
        }
    }
}
