//! The private copy of the package, written from verified blobs.
//!
//! Never the working tree's files: what the probe imports is what the commit holds. Each blob is hashed once more on its way, by
//! another SHA-1 implementation than the graph's, and with SHA-256 for the report.

use std::fs::{OpenOptions, Permissions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use crate::check::{Check, Finding, Halt, Ledger, Stage};
use crate::digest::{git_blob, hex, sha256};
use crate::fs::{FileError, NO_ROOM, RepoPath, private_folder, sha256_file};
use crate::graph::VerifiedGraph;
use crate::identity::ReleaseVersion;
use crate::inventory::{FileMode, PackageFile, VerifiedInventory};
use crate::parallel;

/// One file of the private copy.
#[derive(Clone, Debug)]
pub struct SnapshotFile {
    /// Its path in the commit, also its path below the copy's root.
    pub path: RepoPath,
    /// Its mode in the commit.
    pub mode: FileMode,
    /// Its size in bytes.
    pub size: u64,
    /// The id of its blob, hexadecimal.
    pub git_sha1: String,
    /// SHA-256 of its content, hexadecimal.
    pub sha256: String,
}

/// A private copy of the verified package. Removed when dropped, unless it was handed over with [`Snapshot::hand_over`].
#[derive(Debug)]
pub struct Snapshot {
    graph: VerifiedGraph,
    version: Option<ReleaseVersion>,
    folder: tempfile::TempDir,
    files: Vec<SnapshotFile>,
}

/// What stops a copy from being made.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// A file could not be written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The run has to stop.
    #[error(transparent)]
    Stop(#[from] crate::limits::Stop),
}

impl Snapshot {
    /// The graph it came from.
    pub fn graph(&self) -> &VerifiedGraph {
        &self.graph
    }

    /// The version that was expected and found.
    pub fn version(&self) -> Option<&ReleaseVersion> {
        self.version.as_ref()
    }

    /// The folder that holds the package's folder; absolute.
    pub fn root(&self) -> &Path {
        self.folder.path()
    }

    /// The files, sorted by path.
    pub fn files(&self) -> &[SnapshotFile] {
        &self.files
    }

    /// SHA-256, hexadecimal, over one line per file in path order: mode, blank, SHA-256 of the content, blank, path, line feed.
    pub fn package_digest(&self) -> String {
        let line = |file: &SnapshotFile| format!("{} {} {}\n", file.mode.as_str(), file.sha256, file.path);
        sha256(self.files.iter().map(line).collect::<String>().as_bytes())
    }

    /// Hashes every file of the copy again, from disk.
    ///
    /// Returns what changed: files with other content, missing ones, and ones that were not written by us.
    pub fn changes(&self) -> Vec<Finding> {
        let hint = "the SDK wrote to its own source while it ran: do not expose it, report it to its maintainers";
        let mut findings = Vec::new();
        let mut known: std::collections::BTreeMap<_, _> =
            self.files.iter().map(|file| (file.path.below(self.root()), file)).collect();
        let mut present = Vec::new();
        for entry in walkdir::WalkDir::new(self.root()).min_depth(1).sort_by_file_name() {
            match entry {
                Ok(entry) if entry.file_type().is_dir() => {}
                Ok(entry) => {
                    let file = known.remove(entry.path());
                    present.push((entry.into_path(), file));
                }
                Err(error) => {
                    findings.push(Finding::new("private copy", "a readable folder", error.to_string(), hint));
                }
            }
        }
        let changed = parallel::map(&present, |(path, file)| {
            let subject = || path.strip_prefix(self.root()).unwrap_or(path).display().to_string();
            let Some(file) = file else {
                return Some(Finding::new(subject(), "no such file", "a file that appeared", hint));
            };
            let now = sha256_file(path, file.size).ok().flatten().map(|digest| hex(&digest));
            (now.as_deref() != Some(&file.sha256)).then(|| {
                let actual = now.map_or("no readable regular file".into(), |now| format!("sha256 {now}"));
                Finding::new(subject(), format!("sha256 {}", file.sha256), actual, hint)
            })
        });
        findings.extend(changed.into_iter().flatten());
        let missing = known.into_values();
        findings.extend(missing.map(|file| Finding::new(file.path.as_str(), "a file", "no such file", hint)));
        findings
    }

    /// Moves the copy to `target`, which must not exist and must lie in the folder the copy was written in.
    ///
    /// # Errors
    /// The system's; the copy is removed then.
    pub fn hand_over(self, target: &Path) -> Result<(), FileError> {
        // Without this rename(2) would quietly replace an empty folder.
        std::fs::DirBuilder::new().mode(0o755).create(target).map_err(FileError::new("create", target))?;
        let moved = std::fs::set_permissions(self.root(), Permissions::from_mode(0o755))
            .and_then(|()| std::fs::rename(self.root(), target));
        match moved {
            Ok(()) => {
                let _ = self.folder.keep();
                Ok(())
            }
            Err(source) => {
                let _ = std::fs::remove_dir(target);
                Err(FileError { operation: "move the snapshot to", path: target.to_owned(), source })
            }
        }
    }
}

/// Writes the package into a fresh folder in `parent`, then asks once more where HEAD is.
///
/// # Errors
/// [`Halt`] unless every check of the snapshot stage passed.
pub fn write(inventory: VerifiedInventory, parent: &Path, ledger: &mut Ledger) -> Result<Snapshot, Halt> {
    let (graph, version, files) = inventory.into_parts();
    let written = materialise(&graph, &files, parent);
    record_head(&graph, ledger);
    let (folder, files, findings) = written.map_err(|error| {
        let finding = Finding::new("private copy", "every file written", error.to_string(), NO_ROOM);
        ledger.give_up(Check::SnapshotDigest, finding)
    })?;
    ledger.record(Check::SnapshotDigest, findings);
    ledger.close(Stage::Snapshot)?;
    Ok(Snapshot { graph, version, folder, files })
}

fn record_head(graph: &VerifiedGraph, ledger: &mut Ledger) {
    let expected = graph.commit();
    let hint = "leave the checkout alone while the gate runs, then run it again";
    match graph.head() {
        Ok(head) if head == expected.object_id() => ledger.record(Check::SnapshotHead, vec![]),
        Ok(head) => {
            let finding = Finding::new("HEAD", expected.to_string(), head.to_string(), hint);
            ledger.record(Check::SnapshotHead, vec![finding]);
        }
        Err(error) => {
            ledger.undecided(Check::SnapshotHead, Finding::new("HEAD", expected.to_string(), error.to_string(), hint));
        }
    }
}

type Materialised = (tempfile::TempDir, Vec<SnapshotFile>, Vec<Finding>);

fn materialise(graph: &VerifiedGraph, files: &[PackageFile], parent: &Path) -> Result<Materialised, SnapshotError> {
    let folder = private_folder(parent)?;
    let written = parallel::map(files, |file| {
        graph.budget().check()?;
        write_file(&file.path.below(folder.path()), file.mode, &file.content)?;
        graph.budget().tally().copied.add(1);
        Ok(SnapshotFile {
            path: file.path.clone(),
            mode: file.mode,
            size: file.content.len() as u64,
            git_sha1: git_blob(&file.content),
            sha256: sha256(&file.content),
        })
    });
    let written = written.into_iter().collect::<Result<Vec<_>, SnapshotError>>()?;
    let hint = "this should not happen: two SHA-1 implementations disagree; report it with the repository";
    let differ = |(written, file): (&SnapshotFile, &PackageFile)| {
        let id = file.id.to_string();
        let same = written.git_sha1 == id;
        (!same).then(|| Finding::new(file.path.as_str(), format!("blob {id}"), &written.git_sha1, hint))
    };
    let findings = written.iter().zip(files).filter_map(differ).collect();
    Ok((folder, written, findings))
}

fn write_file(path: &Path, mode: FileMode, content: &[u8]) -> Result<(), FileError> {
    if let Some(parent) = path.parent() {
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true).mode(0o755).create(parent).map_err(FileError::new("create the folder", parent))?;
    }
    let bits = if mode == FileMode::Executable { 0o555 } else { 0o444 };
    let mut options = OpenOptions::new();
    let file = options.write(true).create_new(true).mode(bits).open(path);
    let mut file = file.map_err(FileError::new("create", path))?;
    file.write_all(content).map_err(FileError::new("write", path))?;
    // The mode given above is subject to the caller's umask.
    file.set_permissions(Permissions::from_mode(bits)).map_err(FileError::new("set the mode of", path))
}
