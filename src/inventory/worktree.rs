//! The package on disk, compared with the commit byte for byte.

mod cause;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CStr;

use super::{FileMode, PackageFile};
use crate::check::{Check, Finding, Ledger, limited};
use crate::fs::{EntryKind, FileError, Folder, lossy};
use crate::graph::VerifiedGraph;
use crate::parallel;

/// Records [`Check::PackageWorktree`]. `odd` are committed paths that are refused already, whatever is on disk.
pub(super) fn compare(
    graph: &VerifiedGraph,
    package: &str,
    files: &[PackageFile],
    odd: &BTreeSet<String>,
    ledger: &mut Ledger,
) {
    let committed = files.iter().map(|file| (file.path.as_str(), file)).collect();
    let mut walk = Walk { graph, committed, odd, folders: BTreeSet::new(), findings: Vec::new() };
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
    odd: &'a BTreeSet<String>,
    /// The folders that are on disk.
    folders: BTreeSet<String>,
    findings: Vec<Finding>,
}

impl Walk<'_> {
    fn package(&mut self, package: &str) -> Result<(), Broken> {
        let root = Folder::open(self.graph.root())?;
        let entries = root.entries()?;
        let Some((name, kind)) = entries.iter().find(|(name, _)| name.to_bytes() == package.as_bytes()) else {
            let hint = cause::restore_folder(package);
            let mut names = entries.iter().map(|(name, _)| lossy(name.to_bytes()));
            let similar = names.find_map(|name| cause::name(package, &name).map(|how| (name, how)));
            let actual = match similar {
                Some((name, how)) => format!("only {name:?}, which differs {how}"),
                None => "nothing; is this a bare, sparse or unfinished checkout?".into(),
            };
            self.findings.push(Finding::new(format!("{package}/"), "a folder on disk", actual, hint));
            self.committed.clear();
            return Ok(());
        };
        if *kind != EntryKind::Folder {
            let hint = format!("move it away, then: {}", cause::restore(package));
            self.findings.push(Finding::new(package, "a folder on disk", kind.describe(), hint));
            self.committed.clear();
            return Ok(());
        }
        self.folder(&root.folder(name)?, package, 0)
    }

    fn folder(&mut self, folder: &Folder, path: &str, depth: usize) -> Result<(), Broken> {
        self.graph.budget().check()?;
        let mut files = Vec::new();
        self.folders.insert(path.to_owned());
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
        self.graph.budget().tally().compared.add(1);
        let mut findings = Vec::new();
        let mut on_disk = folder.open_file(name)?;
        let mut rest = Some(&committed.content[..]);
        let whole = on_disk.pieces(committed.content.len() as u64, |piece| {
            rest = rest.and_then(|rest| rest.strip_prefix(piece));
        })?;
        if !whole || rest.is_none_or(|rest| !rest.is_empty()) {
            // Read on, within the bound, so that the cause can be told.
            let limit = self.graph.budget().limits().file_bytes;
            let found = folder.file(name, limit)?;
            let finding = Finding::new(
                path,
                format!("the committed content, {} bytes", committed.content.len()),
                cause::content(&committed.content, &found),
                cause::rewrite(path),
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
        if self.odd.contains(path) {
            return;
        }
        let tracked = self.committed.remove(path).is_some();
        let (expected, hint) = if tracked {
            ("a regular file on disk", format!("rm -- {path} && {}", cause::restore(path)))
        } else {
            ("nothing that is not committed", cause::remove(path))
        };
        self.findings.push(Finding::new(path, expected, kind.describe(), hint));
    }

    fn untracked(&mut self, path: &str, what: &str) {
        if self.odd.contains(path) {
            return;
        }
        let mut known = self.committed.keys().copied().chain(self.odd.iter().map(String::as_str));
        let actual = match known.find_map(|known| cause::name(known, path).map(|how| (known, how))) {
            Some((known, how)) => format!("{what} that differs from {known} only {how}"),
            None => format!("{what} the commit does not have, ignored by git or not"),
        };
        self.findings.push(Finding::new(path, "nothing that is not committed", actual, cause::remove(path)));
    }

    fn report_missing(&mut self) {
        let mut absent: BTreeMap<&str, usize> = BTreeMap::new();
        for path in std::mem::take(&mut self.committed).into_keys() {
            let above = path.match_indices('/').map(|(end, _)| &path[..end]);
            match above.into_iter().find(|&folder| !self.folders.contains(folder)) {
                Some(folder) => *absent.entry(folder).or_default() += 1,
                None => self.findings.push(Finding::new(path, "a file on disk", "no such file", cause::restore(path))),
            }
        }
        for (folder, files) in absent {
            let expected = format!("a folder on disk, with {files} committed files");
            let actual = "no such folder; a sparse checkout leaves folders out";
            self.findings.push(Finding::new(format!("{folder}/"), expected, actual, cause::restore_folder(folder)));
        }
    }
}
