//! Where a checkout keeps its repository, and whether that is of a format this gate reads.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use gix::bstr::ByteSlice;

use super::files::{self, GitFileError};
use super::strict::config;

/// The longest `.git` file, `commondir` or other one-line file.
const LINE_BYTES: u64 = 64 << 10;
/// The longest configuration.
const CONFIG_BYTES: u64 = 4 << 20;

/// The folders of a repository.
#[derive(Clone, Debug)]
pub(super) struct GitDir {
    /// HEAD and what else belongs to this working tree alone.
    pub git: PathBuf,
    /// Objects and refs; the same folder unless this is a linked worktree.
    pub common: PathBuf,
}

/// Why there is no repository that can be judged.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unsuitable {
    #[error("nothing called .git")]
    Absent,
    #[error("a bare repository: there is no working tree")]
    Bare,
    #[error("{0}")]
    Format(String),
    #[error("{} {}", .0.path().display(), .0.reason())]
    File(#[from] GitFileError),
}

impl GitDir {
    /// Finds the repository of the checkout whose top is `root`. Folders above are not searched, variables not asked.
    pub(super) fn find(root: &Path) -> Result<Self, Unsuitable> {
        let dot_git = root.join(".git");
        let metadata = match std::fs::metadata(&dot_git) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let bare = root.join("HEAD").is_file() && root.join("objects").is_dir();
                return Err(if bare { Unsuitable::Bare } else { Unsuitable::Absent });
            }
            Err(error) => return Err(GitFileError::io("stat", &dot_git, error).into()),
        };
        let git = if metadata.is_dir() {
            dot_git
        } else {
            let bytes = files::read(&dot_git, files::Links::Follow, LINE_BYTES)?;
            let target =
                gitfile(&bytes).ok_or_else(|| GitFileError::malformed(&dot_git, "is not one line `gitdir: <path>`"))?;
            root.join(path(target))
        };
        let common_file = git.join("commondir");
        let common = match files::read_if_present(&common_file, LINE_BYTES)? {
            None => git.clone(),
            Some(bytes) => {
                let target = line(&bytes).ok_or_else(|| GitFileError::malformed(&common_file, "is not one path"))?;
                git.join(path(target))
            }
        };
        if !common.join("objects").is_dir() {
            return Err(GitFileError::malformed(&common, "holds no `objects` folder").into());
        }
        Ok(GitDir { git, common })
    }

    /// Reads the configuration for facts about the format, and for nothing else: no setting here can switch off a check.
    pub(super) fn format(&self) -> Result<Format, Unsuitable> {
        let config = files::read_if_present(&self.common.join("config"), CONFIG_BYTES)?.unwrap_or_default();
        let format = Format::parse(&config).map_err(Unsuitable::Format)?;
        // A linked worktree may well belong to a bare repository.
        if format.bare && self.git == self.common { Err(Unsuitable::Bare) } else { Ok(format) }
    }
}

/// What the configuration says about the format.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Format {
    bare: bool,
    /// A partial clone: absent objects were promised by a remote.
    pub promisor: bool,
}

impl Format {
    /// An error says what this gate does not read.
    fn parse(bytes: &[u8]) -> Result<Self, String> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let mut format = Format::default();
        let mut version = Some(0);
        let mut unreadable = None;
        let mut unknown = None;
        let parsed =
            config::variables(bytes, |config::Variable { section, key, value, .. }| match &*full_name(section, key) {
                "core.repositoryformatversion" => {
                    version = value.and_then(|value| value.to_str().ok()?.parse::<u64>().ok())
                }
                "core.bare" => format.bare = value.is_none_or(is_true),
                "extensions.partialclone" => format.promisor = true,
                // What git ignores, or what changes nothing this gate reads.
                "extensions.noop"
                | "extensions.noop-v1"
                | "extensions.preciousobjects"
                | "extensions.worktreeconfig"
                | "extensions.relativeworktrees" => {}
                "extensions.objectformat" if value == Some(b"sha1") => {}
                "extensions.refstorage" if value == Some(b"files") => {}
                "extensions.objectformat" | "extensions.refstorage" | "extensions.compatobjectformat" => {
                    let value = value.unwrap_or_default().as_bstr().to_string();
                    unreadable = Some(format!("a repository whose {} is {value:?}", full_name(section, key)));
                }
                other if other.starts_with("extensions.") => unknown = Some(format!("a repository with {other:?}")),
                other if other.starts_with("remote.") && other.ends_with(".promisor") => {
                    format.promisor |= value.is_none_or(is_true);
                }
                _ => {}
            });
        match (unreadable, unknown, version) {
            (Some(what), ..) => Err(what),
            // Git too ignores extensions it does not know in a repository of version 0.
            (None, Some(what), Some(1)) => Err(what),
            // What is behind the place where git gives up could be anything.
            (None, _, Some(0 | 1)) if !parsed => Err("a repository whose settings cannot be parsed".to_owned()),
            (None, _, Some(0 | 1)) => Ok(format),
            (None, _, Some(version)) => Err(format!("a repository of format version {version}")),
            (None, _, None) => Err("a repository whose format version is not a number".to_owned()),
        }
    }
}

/// `section.key`, or the key alone where there is no section.
fn full_name(section: &[u8], key: &[u8]) -> String {
    let dot = if section.is_empty() { "" } else { "." };
    format!("{}{dot}{}", section.as_bstr(), key.as_bstr())
}

/// Git's words for true; every number but 0 is another.
fn is_true(value: &[u8]) -> bool {
    let value = value.to_ascii_lowercase();
    !matches!(value.as_slice(), b"" | b"false" | b"no" | b"off" | b"0")
}

/// The target of a `.git` file.
fn gitfile(bytes: &[u8]) -> Option<&[u8]> {
    line(bytes.strip_prefix(b"gitdir: ")?)
}

/// One non-empty line, without its end.
fn line(bytes: &[u8]) -> Option<&[u8]> {
    let line = bytes.trim_end_with(|c| matches!(c, '\n' | '\r'));
    (!line.is_empty() && !line.contains(&b'\n') && !line.contains(&0)).then_some(line)
}

fn path(bytes: &[u8]) -> &Path {
    Path::new(std::ffi::OsStr::from_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_git_file_is_one_line() {
        assert_eq!(gitfile(b"gitdir: ../x y\n"), Some(&b"../x y"[..]));
        assert_eq!(gitfile(b"gitdir: a\r\n"), Some(&b"a"[..]));
        for wrong in [&b"gitdir: "[..], b"gitdir:a", b"gitdir: \n", b"gitdir: a\nb\n", b"gitdir: a\0b", b"", b"../x"] {
            assert_eq!(gitfile(wrong), None);
        }
    }

    #[test]
    fn format_facts() {
        let plain = Format::default();
        assert_eq!(Format::parse(b""), Ok(Format::default()));
        assert_eq!(
            Format::parse(b"[core]\n\trepositoryformatversion = 0\n\tbare = false\n[extensions]\nx = y\n"),
            Ok(plain)
        );
        let partial = Format { promisor: true, ..Format::default() };
        assert_eq!(
            Format::parse(b"[core]\nrepositoryformatversion=1\n[extensions]\npartialClone = origin\n"),
            Ok(partial)
        );
        assert_eq!(Format::parse(b"[core]\nbare\n"), Ok(Format { bare: true, ..Format::default() }));
        let wrong: [(&[u8], &str); 7] = [
            (b"[core]\nbare = false\n[core\n", "a repository whose settings cannot be parsed"),
            (b"[core]\nrepositoryformatversion=2\n", "a repository of format version 2"),
            (b"[core]\nrepositoryformatversion=x\n", "a repository whose format version is not a number"),
            (b"[core]\nrepositoryformatversion=1\n[extensions]\nnew=1\n", "a repository with \"extensions.new\""),
            (b"[extensions]\nobjectFormat = sha256\n", "a repository whose extensions.objectformat is \"sha256\""),
            (b"[extensions]\nrefStorage = reftable\n", "a repository whose extensions.refstorage is \"reftable\""),
            (b"[extensions]\nobjectFormat\n", "a repository whose extensions.objectformat is \"\""),
        ];
        for (text, message) in wrong {
            assert_eq!(Format::parse(text), Err(message.to_owned()));
        }
    }

    proptest! {
        #[test]
        fn any_bytes_have_an_answer(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = Format::parse(&bytes);
            let _ = gitfile(&bytes);
        }
    }
}
