//! The record's file: opened and checked, then replaced or left alone.

use std::path::{Path, PathBuf};

use crate::approval::Approval;
use crate::contract::Contract;
use crate::fs::replace::{self, FileError, ReplaceableFile};
use crate::identity::{CommitId, ExpectedIdentity, ReleaseVersion};

use super::change::{Action, Change};
use super::record::{Record, RecordError, State};
use crate::digest::sha256;

/// A record's file that may be written, as it was when it was opened. It is locked only while it is written, so that
/// others can block it while an identity is being proven.
#[derive(Debug)]
#[must_use]
pub struct Target {
    file: ReplaceableFile,
    contract: &'static Contract,
    record: Record,
}

/// The file is not one whose record could be read, or could be changed.
#[derive(Debug, thiserror::Error)]
pub enum RecordFileError {
    /// The file itself stands in the way.
    #[error(transparent)]
    File(#[from] FileError),
    /// Its content is no activation record.
    #[error("{path:?} is not an activation record: {why}")]
    Record {
        /// The path as given.
        path: PathBuf,
        /// The place, what was expected and what was found.
        why: RecordError,
    },
}

impl RecordFileError {
    fn record(path: &Path, why: RecordError) -> Self {
        RecordFileError::Record { path: path.to_owned(), why }
    }

    /// What to do next.
    pub fn hint(&self) -> String {
        match self {
            RecordFileError::File(error) => error.hint(),
            RecordFileError::Record { path, .. } => {
                format!("bring back the committed record: `git checkout HEAD -- {path:?}`")
            }
        }
    }
}

/// The record was not written.
#[derive(Debug, thiserror::Error)]
pub enum WriteRefused {
    /// It exposes another SDK. Only [`Target::block`] ends that.
    #[error("{path:?} is active with version {version}, commit {commit}: another identity than {wanted}")]
    OtherIdentity {
        /// The record's file.
        path: PathBuf,
        /// The version it names.
        version: ReleaseVersion,
        /// The commit it names.
        commit: CommitId,
        /// Version and commit that were to be written.
        wanted: String,
    },
    /// The reason for blocking cannot stand in a record.
    #[error("expected a reason of one line, 1 to {max} characters without blanks around it, found {found}")]
    Reason {
        /// The longest reason, in characters.
        max: usize,
        /// What is wrong with the one given.
        found: String,
    },
    /// What was about to be written is no record of this contract.
    #[error("refusing to write what would not be a record: {0}")]
    NoRecord(RecordError),
    /// The file changed since it was opened, or could not be replaced.
    #[error(transparent)]
    File(#[from] FileError),
}

impl WriteRefused {
    /// What to do next.
    pub fn hint(&self) -> String {
        match self {
            WriteRefused::OtherIdentity { path, .. } => {
                format!("to end that one: `paired-sdk-gate block --record {path:?} --reason TEXT`, then activate again")
            }
            WriteRefused::Reason { .. } => "say in one line why it is blocked: `--reason TEXT`".into(),
            WriteRefused::NoRecord(_) => "verify under the contract that the record belongs to".into(),
            WriteRefused::File(error) => error.hint(),
        }
    }
}

/// Reads a record and the bytes it was read from. Its file need not be writable.
///
/// # Errors
/// The file is missing, a symbolic link, not regular or unreadable, or holds no record of this contract.
pub fn read(path: &Path, contract: &Contract) -> Result<(Record, Vec<u8>), RecordFileError> {
    let bytes = replace::read(path, Record::MAX_BYTES)?;
    let record = Record::parse(&bytes, contract).map_err(|why| RecordFileError::record(path, why))?;
    Ok((record, bytes))
}

impl Target {
    /// The longest reason [`Target::block`] writes, in characters.
    pub const MAX_REASON_CHARS: usize = 500;

    /// Opens and checks the file, as [`ReplaceableFile::open`] does, and reads its record.
    ///
    /// # Errors
    /// The file could not be replaced or holds no record of this contract.
    pub fn open(path: &Path, contract: &'static Contract) -> Result<Target, RecordFileError> {
        let file = ReplaceableFile::open(path, Record::MAX_BYTES)?;
        let record = Record::parse(file.bytes(), contract).map_err(|why| RecordFileError::record(path, why))?;
        Ok(Target { file, contract, record })
    }

    /// The record as it was when the file was opened.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// SHA-256 of the bytes that were read, in lower-case hex.
    pub fn before_sha256(&self) -> String {
        sha256(self.file.bytes())
    }

    /// Tells, before anything is proven, whether a proof of this identity could be written down.
    ///
    /// # Errors
    /// The record is active with another identity.
    pub fn admits(&self, identity: &ExpectedIdentity) -> Result<(), WriteRefused> {
        match self.record.state() {
            State::Active { version, commit } if (version, *commit) != (identity.version(), identity.commit()) => {
                Err(WriteRefused::OtherIdentity {
                    path: self.file.path().to_owned(),
                    version: version.clone(),
                    commit: *commit,
                    wanted: format!("version {}, commit {}", identity.version(), identity.commit()),
                })
            }
            _ => Ok(()),
        }
    }

    /// Makes the record say `active` with the approved identity; if it says so already it is not touched.
    ///
    /// # Errors
    /// It is active with another identity, its file changed since it was opened, or could not be replaced.
    pub fn activate(self, approval: &Approval, dry_run: bool) -> Result<Change, WriteRefused> {
        let identity = approval.identity();
        self.admits(identity)?;
        let unchanged = matches!(self.record.state(), State::Active { .. });
        let next = Record::active(self.contract, identity);
        self.write(next, unchanged, dry_run, Action::Activated, Action::WouldActivate)
    }

    /// Makes the record say `blocked` for this reason, whatever it said before; if it says just that it is not touched.
    ///
    /// # Errors
    /// The reason is blank, not one line or too long; the file changed since it was opened, or could not be replaced.
    pub fn block(self, reason: &str, dry_run: bool) -> Result<Change, WriteRefused> {
        check_reason(reason)?;
        let next = Record::blocked(self.contract, reason);
        let unchanged = next == self.record;
        self.write(next, unchanged, dry_run, Action::Blocked, Action::WouldBlock)
    }

    fn write(
        self,
        next: Record,
        unchanged: bool,
        dry_run: bool,
        done: Action,
        would: Action,
    ) -> Result<Change, WriteRefused> {
        let before = self.file.bytes().to_owned();
        let file = self.file.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
        if unchanged {
            if !dry_run {
                self.file.settle()?;
            }
            return Ok(Change { action: Action::Unchanged, file, after: before.clone(), before });
        }
        let after = next.to_bytes();
        Record::parse(&after, self.contract).map_err(WriteRefused::NoRecord)?;
        if dry_run {
            return Ok(Change { action: would, file, before, after });
        }
        self.file.replace(&after)?;
        Ok(Change { action: done, file, before, after })
    }
}

fn check_reason(reason: &str) -> Result<(), WriteRefused> {
    let max = Target::MAX_REASON_CHARS;
    let wrong = |found: String| Err(WriteRefused::Reason { max, found });
    let breaks = |&(_, c): &(usize, char)| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    if reason.trim().is_empty() {
        return wrong("a blank one".into());
    }
    if let Some((at, c)) = reason.chars().enumerate().find(breaks) {
        return wrong(format!("{c:?} at character {}", at + 1));
    }
    if reason.trim() != reason {
        return wrong("blanks around it".into());
    }
    match reason.chars().count() {
        length if length > max => wrong(format!("{length} characters")),
        _ => Ok(()),
    }
}
