//! The committed package, held against the working tree.
//!
//! What counts is the commit: the package's entries are read from its tree and its blobs, and the files on disk must equal them
//! in paths, bytes and modes. The index, filters and attributes prove nothing and are never consulted.

mod release;
mod version;
mod worktree;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use gix::ObjectId;

use crate::check::{Check, Finding, Halt, Ledger, Stage};
use crate::contract::Contract;
use crate::fs::{RepoPath, lossy};
use crate::graph::{Content, GraphError, ObjectError, TreeFile, VerifiedGraph};
use crate::identity::ReleaseVersion;
use crate::limits::Limits;
use crate::parallel;

pub use release::{Form, Release, ReleaseFile};
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub use version::literal;

/// The two modes a package file may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileMode {
    /// `100644`
    Regular,
    /// `100755`
    Executable,
}

impl FileMode {
    fn parse(spelled: &[u8]) -> Option<FileMode> {
        match spelled {
            b"100644" => Some(FileMode::Regular),
            b"100755" => Some(FileMode::Executable),
            _ => None,
        }
    }

    /// As git spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            FileMode::Regular => "100644",
            FileMode::Executable => "100755",
        }
    }
}

/// One committed file of the package.
#[derive(Clone, Debug)]
pub struct PackageFile {
    /// Its path in the commit, the package folder included.
    pub path: RepoPath,
    /// Its mode.
    pub mode: FileMode,
    /// Its blob.
    pub id: ObjectId,
    /// The blob's content, hashed against `id` by the graph.
    pub content: Arc<Content>,
}

/// The package of the expected commit, complete and equal to the working tree's.
#[derive(Debug)]
pub struct VerifiedInventory {
    graph: VerifiedGraph,
    version: Option<ReleaseVersion>,
    files: Vec<PackageFile>,
}

impl VerifiedInventory {
    /// The graph it was read from.
    pub fn graph(&self) -> &VerifiedGraph {
        &self.graph
    }

    /// The files, sorted by path.
    pub fn files(&self) -> &[PackageFile] {
        &self.files
    }

    /// The version that was expected and found.
    pub fn version(&self) -> Option<&ReleaseVersion> {
        self.version.as_ref()
    }

    pub(crate) fn into_parts(self) -> (VerifiedGraph, Option<ReleaseVersion>, Vec<PackageFile>) {
        (self.graph, self.version, self.files)
    }
}

const PROJECT_FILE: &str = "pyproject.toml";

/// Reads the package from the graph and compares it with the disk, and with the release artifact if there is one.
///
/// Without an expected `version` (only `snapshot` has none) the commit must still declare one, and only one. A package `beside` the
/// contract's is held to the same and comes with it.
///
/// # Errors
/// [`Halt`] unless every check of the inventory stage passed.
pub fn verify(
    graph: VerifiedGraph,
    contract: &Contract,
    beside: Option<&str>,
    version: Option<&ReleaseVersion>,
    artifact: Option<&ReleaseFile>,
    release: &mut Release,
    ledger: &mut Ledger,
) -> Result<VerifiedInventory, Halt> {
    let mut files = package(&graph, contract.package, ledger);
    if let Some(files) = &files {
        record_module(files, contract, ledger);
        version::record(files, &graph, contract, version, ledger);
        *release = release::verify(artifact, files, contract, version, graph.budget(), ledger);
    }
    if let (Some(files), Some(beside)) = (&mut files, beside) {
        files.extend(package(&graph, beside, ledger).unwrap_or_default());
        files.sort_by(|one, other| one.path.as_str().cmp(other.path.as_str()));
    }
    ledger.close(Stage::Inventory)?;
    Ok(VerifiedInventory { graph, version: version.cloned(), files: files.unwrap_or_default() })
}

/// The files of one package, held against the disk, if they can be read at all.
fn package(graph: &VerifiedGraph, package: &str, ledger: &mut Ledger) -> Option<Vec<PackageFile>> {
    let mut odd = BTreeSet::new();
    let files = committed(graph, package, &mut odd, ledger)?;
    record_sources(&files, ledger);
    worktree::compare(graph, package, &files, &odd, ledger);
    Some(files)
}

/// Why the package could not be read as a whole, each of which leaves it undecided.
#[derive(Debug, thiserror::Error)]
enum Unread {
    #[error("{source}")]
    Blob { path: RepoPath, source: GraphError },
    #[error("more than {0} bytes")]
    TooLarge(u64),
    #[error(transparent)]
    Tree(GraphError),
}

impl Unread {
    fn finding(self, package: &str, limits: &Limits) -> Finding {
        let raise = |flag: &str| format!("raise the bound with {flag} if this size is intended");
        let again = "run the gate again, with more time if it ran out (--limit-seconds); if it stays, the repository is \
                     changing under it";
        let (subject, actual) = (package.to_owned(), self.to_string());
        match self {
            Unread::Tree(GraphError::Entries { limit, .. }) => {
                Finding::new(subject, format!("at most {limit} files"), "more", raise("--limit-package-files"))
            }
            Unread::Tree(_) => Finding::new(subject, "a readable tree", actual, again),
            Unread::TooLarge(_) => {
                let expected = format!("at most {} bytes in all", limits.package_bytes);
                Finding::new(subject, expected, actual, raise("--limit-package-bytes"))
            }
            Unread::Blob { path, source: GraphError::Object { source: ObjectError::Limit { .. }, .. } } => {
                let expected = format!("at most {} bytes", limits.file_bytes);
                Finding::new(path.as_str(), expected, actual, raise("--limit-file-bytes"))
            }
            Unread::Blob { path, .. } => Finding::new(path.as_str(), "a readable blob", actual, again),
        }
    }
}

/// The package's files, as far as the tree can be read at all; records [`Check::PackageTree`]. What is no plain file is `odd`.
fn committed(
    graph: &VerifiedGraph,
    package: &str,
    odd: &mut BTreeSet<String>,
    ledger: &mut Ledger,
) -> Option<Vec<PackageFile>> {
    let mut findings = Vec::new();
    let files = graph.folder(package).map_err(Unread::Tree).and_then(|entries| {
        if entries.is_empty() {
            let hint = format!("check that --sdk-root is the SDK's checkout: `git ls-tree HEAD {package}/`");
            findings.push(Finding::new(format!("{package}/"), "a folder in the commit", "no such folder", hint));
        }
        let plain = |entry: &TreeFile| {
            let plain = plain_file(entry, &mut findings);
            if plain.is_none() {
                odd.insert(lossy(&entry.path));
            }
            plain.map(|(path, mode)| (path, mode, entry.id))
        };
        read(graph, entries.iter().filter_map(plain).collect())
    });
    match files {
        Ok(files) => {
            let readable = !files.is_empty();
            ledger.record(Check::PackageTree, findings);
            readable.then_some(files)
        }
        Err(unread) => {
            ledger.undecided(Check::PackageTree, unread.finding(package, graph.budget().limits()));
            None
        }
    }
}

/// Reads the blobs, on all cores and within the bound on the whole package.
fn read(graph: &VerifiedGraph, files: Vec<(RepoPath, FileMode, ObjectId)>) -> Result<Vec<PackageFile>, Unread> {
    let bound = graph.budget().limits().package_bytes;
    let total = AtomicU64::new(0);
    let read = parallel::map(&files, |(path, mode, id)| {
        if total.load(Ordering::Relaxed) > bound {
            return Err(Unread::TooLarge(bound));
        }
        let stop = graph.budget().check().map_err(GraphError::from);
        let content =
            stop.and_then(|()| graph.blob(*id)).map_err(|source| Unread::Blob { path: path.clone(), source })?;
        total.fetch_add(content.len() as u64, Ordering::Relaxed);
        Ok(PackageFile { path: path.clone(), mode: *mode, id: *id, content })
    });
    let read = read.into_iter().collect::<Result<_, _>>()?;
    if total.into_inner() > bound { Err(Unread::TooLarge(bound)) } else { Ok(read) }
}

fn plain_file(entry: &TreeFile, findings: &mut Vec<Finding>) -> Option<(RepoPath, FileMode)> {
    let path = RepoPath::parse(&entry.path);
    let mode = FileMode::parse(&entry.spelled_mode);
    let hint = "the package of a release holds only plain files; have it fixed upstream and certify that commit";
    if let Err(component) = &path {
        let expected = "path components of ASCII letters, digits, `_`, `.` and `-`";
        findings.push(Finding::new(lossy(&entry.path), expected, component.clone(), hint));
    }
    if mode.is_none() {
        let actual = format!("mode {}", lossy(&entry.spelled_mode));
        findings.push(Finding::new(lossy(&entry.path), "a regular file, mode 100644 or 100755", actual, hint));
    }
    Some((path.ok()?, mode?))
}

fn record_module(files: &[PackageFile], contract: &Contract, ledger: &mut Ledger) {
    let found = files.iter().any(|file| file.path.as_str() == contract.module_origin);
    let missing = || {
        let hint = "this release has no plugin bridge; certify one that has (netbox-sdk 0.0.11 is the first)";
        Finding::new(contract.module_origin, "a file of the commit", "no such file", hint)
    };
    ledger.record(Check::PackageModule, if found { vec![] } else { vec![missing()] });
}

/// Files that Python would run, or let steer an import, without their being readable source.
fn record_sources(files: &[PackageFile], ledger: &mut Ledger) {
    const OPAQUE: [(&str, &str); 9] = [
        (".so", "a native module"),
        (".pyd", "a native module"),
        (".dll", "a native library"),
        (".dylib", "a native library"),
        (".a", "a native library"),
        (".pyc", "bytecode"),
        (".pyo", "bytecode"),
        (".pth", "a path configuration file"),
        (".start", "a start-up configuration file"),
    ];
    let opaque = |path: &str| {
        let lower = path.to_ascii_lowercase();
        if lower.split('/').any(|part| part == "__pycache__") {
            return Some("a bytecode folder");
        }
        // Versioned libraries end otherwise: libx.so.1
        let versioned = lower.rsplit('/').next().is_some_and(|name| name.contains(".so."));
        let listed = OPAQUE.iter().find(|(suffix, _)| lower.ends_with(suffix));
        listed.map(|(_, what)| *what).or(versioned.then_some("a native library"))
    };
    let findings = files.iter().filter_map(|file| {
        let what = opaque(file.path.as_str())?;
        let hint = "certify a commit without it: what cannot be read cannot be proven";
        Some(Finding::new(file.path.as_str(), "Python source or data", what, hint))
    });
    let findings = findings.collect();
    ledger.record(Check::PackageSource, findings);
}
