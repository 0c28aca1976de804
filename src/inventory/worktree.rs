//! The package on disk, compared with the commit byte for byte.

use std::collections::BTreeMap;
use std::ffi::CStr;

use super::{FileMode, PackageFile};
use crate::check::{Check, Finding, Ledger, limited};
use crate::fs::{EntryKind, FileContent, FileError, Folder, lossy};
use crate::graph::VerifiedGraph;
use crate::parallel;

/// Records [`Check::PackageWorktree`].
pub(super) fn compare(graph: &VerifiedGraph, package: &str, files: &[PackageFile], ledger: &mut Ledger) {
    let committed = files.iter().map(|file| (file.path.as_str(), file)).collect();
    let mut walk = Walk { graph, committed, findings: Vec::new() };
    match walk.package(package) {
        Ok(()) => {
            walk.report_missing();
            ledger.record(Check::PackageWorktree, limited(walk.findings));
        }
        Err(Broken::File(error)) => {
            let hint = "make the checkout readable for the user who runs the gate, then run it again";
            let finding = Finding::new(package, "a readable working tree", error.to_string(), hint);
            ledger.undecided(Check::PackageWorktree, finding);
        }
        Err(Broken::Stop(stop)) => {
            let hint = "run the gate again, with more time if it ran out: --limit-seconds";
            let finding = Finding::new(package, "a complete comparison", stop.to_string(), hint);
            ledger.undecided(Check::PackageWorktree, finding);
        }
    }
}

#[derive(Debug, thiserror::Error)]
enum Broken {
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Stop(#[from] crate::limits::Stop),
}

/// Folders deeper than this cannot be in the commit, whose paths are bounded by the system's longest.
const MAX_DEPTH: usize = 256;

struct Walk<'a> {
    graph: &'a VerifiedGraph,
    /// What has not been met on disk yet.
    committed: BTreeMap<&'a str, &'a PackageFile>,
    findings: Vec<Finding>,
}

impl Walk<'_> {
    fn package(&mut self, package: &str) -> Result<(), Broken> {
        let root = Folder::open(self.graph.root())?;
        let entries = root.entries()?;
        let Some((name, kind)) = entries.iter().find(|(name, _)| name.to_bytes() == package.as_bytes()) else {
            let hint = self.restore(package);
            let actual = match entries.iter().find(|(name, _)| name.to_bytes().eq_ignore_ascii_case(package.as_bytes()))
            {
                Some((name, _)) => format!("only {:?}, which differs in letter case", lossy(name.to_bytes())),
                None => "nothing; is this a bare, sparse or unfinished checkout?".into(),
            };
            self.findings.push(Finding::new(format!("{package}/"), "a folder on disk", actual, hint));
            self.committed.clear();
            return Ok(());
        };
        if *kind != EntryKind::Folder {
            let hint = self.restore(package);
            self.findings.push(Finding::new(package, "a folder on disk", kind.describe(), hint));
            self.committed.clear();
            return Ok(());
        }
        self.folder(&root.folder(name)?, package, 0)
    }

    fn folder(&mut self, folder: &Folder, path: &str, depth: usize) -> Result<(), Broken> {
        self.graph.budget().check()?;
        let mut files = Vec::new();
        for (name, kind) in folder.entries()? {
            let below = format!("{path}/{}", lossy(name.to_bytes()));
            match kind {
                EntryKind::Folder if name.to_bytes() == b"__pycache__" => {}
                EntryKind::Folder if depth == MAX_DEPTH => self.untracked(&below, "a folder nested too deeply"),
                EntryKind::Folder => {
                    self.folder(&folder.folder(&name)?, &below, depth + 1)?;
                }
                EntryKind::File => match self.committed.remove(below.as_str()) {
                    Some(committed) => files.push((name, below, committed)),
                    None => self.untracked(&below, "a file"),
                },
                EntryKind::Symlink | EntryKind::Special => self.not_a_file(&below, kind),
            }
        }
        for differences in parallel::map(&files, |(name, path, committed)| self.file(folder, name, path, committed)) {
            self.findings.extend(differences?);
        }
        Ok(())
    }

    fn file(&self, folder: &Folder, name: &CStr, path: &str, committed: &PackageFile) -> Result<Vec<Finding>, Broken> {
        self.graph.budget().check()?;
        let mut findings = Vec::new();
        let on_disk = folder.file(name, committed.content.len() as u64)?;
        if on_disk.exceeds || on_disk.bytes != *committed.content {
            // Read on, within the bound, so that the cause can be told.
            let limit = self.graph.budget().limits().file_bytes;
            let on_disk = folder.file(name, limit)?;
            let finding = Finding::new(
                path,
                format!("the committed content, {} bytes", committed.content.len()),
                cause(&committed.content, &on_disk),
                self.restore(path),
            );
            findings.push(finding);
        }
        let mode = if on_disk.executable { FileMode::Executable } else { FileMode::Regular };
        if mode != committed.mode {
            let (expected, actual) = (committed.mode.as_str(), mode.as_str());
            let sign = if committed.mode == FileMode::Executable { '+' } else { '-' };
            let hint = format!("chmod u{sign}x {path}");
            findings.push(Finding::new(path, format!("mode {expected}"), format!("mode {actual}"), hint));
        }
        Ok(findings)
    }

    fn not_a_file(&mut self, path: &str, kind: EntryKind) {
        let tracked = self.committed.remove(path).is_some();
        let (expected, hint) = if tracked {
            ("a regular file on disk", self.restore(path))
        } else {
            ("nothing that is not committed", remove(path))
        };
        self.findings.push(Finding::new(path, expected, kind.describe(), hint));
    }

    fn untracked(&mut self, path: &str, what: &str) {
        let similar = self.committed.keys().find(|known| known.eq_ignore_ascii_case(path));
        let actual = match similar {
            Some(known) => format!("{what} that differs from {known} only in letter case"),
            None => format!("{what} the commit does not have, ignored by git or not"),
        };
        self.findings.push(Finding::new(path, "nothing that is not committed", actual, remove(path)));
    }

    fn report_missing(&mut self) {
        for path in std::mem::take(&mut self.committed).into_keys() {
            let hint = self.restore(path);
            self.findings.push(Finding::new(path, "a file on disk", "no such file", hint));
        }
    }

    fn restore(&self, path: &str) -> String {
        format!("git restore --source=HEAD --staged --worktree -- {path}")
    }
}

fn remove(path: &str) -> String {
    format!("look at it, then remove it: git clean -ffdx -- {path}")
}

/// Why the bytes differ, where the bytes tell.
fn cause(committed: &[u8], on_disk: &FileContent) -> String {
    let bytes = &on_disk.bytes;
    let without_cr = |bytes: &[u8]| bytes.iter().copied().filter(|&b| b != b'\r').collect::<Vec<_>>();
    let pointer = |bytes: &[u8]| bytes.starts_with(b"version https://git-lfs.github.com/spec/");
    if on_disk.exceeds {
        return format!("other content, more than {} bytes", bytes.len());
    }
    if without_cr(bytes) == without_cr(committed) {
        return "the same lines with other line endings (core.autocrlf or an eol attribute)".into();
    }
    if pointer(committed) && !pointer(bytes) {
        return format!("other content, {} bytes, where the commit has a Git LFS pointer", bytes.len());
    }
    if pointer(bytes) {
        return "a Git LFS pointer instead of the content".into();
    }
    if without_ident(bytes) == without_ident(committed) {
        return "the same content with an expanded $Id$ (an ident attribute)".into();
    }
    let first = bytes.iter().zip(committed).position(|(a, b)| a != b).unwrap_or(bytes.len().min(committed.len()));
    format!("other content, {} bytes, different from byte {first} on", bytes.len())
}

/// The bytes with every expanded `$Id: …$` put back to `$Id$`.
fn without_ident(bytes: &[u8]) -> Vec<u8> {
    let mut rest = bytes;
    let mut out = Vec::with_capacity(bytes.len());
    while let Some(at) = rest.windows(4).position(|window| window == b"$Id:") {
        let line = rest[at..].iter().position(|&b| b == b'\n').map_or(rest.len(), |end| at + end);
        match rest[at + 4..line].iter().position(|&b| b == b'$') {
            Some(end) => {
                out.extend_from_slice(&rest[..at]);
                out.extend_from_slice(b"$Id$");
                rest = &rest[at + 4 + end + 1..];
            }
            None => {
                out.extend_from_slice(&rest[..at + 4]);
                rest = &rest[at + 4..];
            }
        }
    }
    out.extend_from_slice(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(committed: &str, on_disk: &str) -> String {
        cause(
            committed.as_bytes(),
            &FileContent { bytes: on_disk.as_bytes().to_vec(), executable: false, exceeds: false },
        )
    }

    #[test]
    fn the_cause_is_told_from_the_bytes() {
        assert_eq!(
            told("a\nb\n", "a\r\nb\r\n"),
            "the same lines with other line endings (core.autocrlf or an eol attribute)"
        );
        let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 3\n";
        assert_eq!(told("abc", pointer), "a Git LFS pointer instead of the content");
        assert_eq!(told(pointer, "abc"), "other content, 3 bytes, where the commit has a Git LFS pointer");
        assert_eq!(told("x $Id$ y", "x $Id: 0123 $ y"), "the same content with an expanded $Id$ (an ident attribute)");
        assert_eq!(told("x $Id$ y", "x $Id: 0123 y"), "other content, 13 bytes, different from byte 5 on");
        assert_eq!(told("abc", "abd"), "other content, 3 bytes, different from byte 2 on");
        assert_eq!(told("abc", "ab"), "other content, 2 bytes, different from byte 2 on");
    }
}
