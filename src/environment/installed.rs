//! What is installed: every file held against the RECORD of its distribution (binary distribution format, PEP 376 and 427).

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use crate::check::{Check, Finding, Ledger, limited};
use crate::fs::{FileError, read_file, sha256_file};
use crate::limits::Budget;
use crate::parallel;
use crate::wheel::{Listed, parse_record, record_digest};

/// One installed distribution.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, schemars::JsonSchema)]
pub struct Distribution {
    /// Its name, as the folder of its metadata spells it.
    pub name: String,
    /// Its version.
    pub version: String,
    /// How many files its RECORD lists.
    pub files: u64,
    /// What its files were held against.
    pub record: Evidence,
    /// The rows of its RECORD.
    #[serde(skip)]
    pub(super) rows: Listed,
}

/// What stands behind an installed distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Evidence {
    /// Its files are what its RECORD says; where the RECORD came from is not known.
    SelfConsistent,
    /// Its files are what its RECORD says, and that is what the RECORD of the wheel says whose SHA-256 the commit's `uv.lock` names.
    Anchored,
}

#[cfg(test)]
impl Distribution {
    pub(super) fn for_tests(name: &str, version: &str) -> Self {
        let (name, version) = (name.to_owned(), version.to_owned());
        Distribution { name, version, files: 0, record: Evidence::SelfConsistent, rows: Listed::new() }
    }
}

/// Bytes of the largest installed file that is read: shared libraries stay far below.
const LARGEST: u64 = 1 << 30;

/// The same by absolute path, of all distributions.
type Files = BTreeMap<PathBuf, Option<String>>;

/// Records the two checks of what is installed; the distributions, sorted by name.
pub(super) fn verify(
    root: &Path,
    site: &[PathBuf],
    cure: &str,
    budget: &Budget,
    ledger: &mut Ledger,
) -> Vec<Distribution> {
    let mut findings = Findings { cure, records: Vec::new(), owned: Vec::new() };
    let mut distributions = Vec::new();
    let mut listed = Files::new();
    let mut present = Vec::new();
    for folder in site {
        match walk(folder, &mut findings) {
            Ok(files) => present.extend(files),
            Err(error) => {
                let finding = Finding::new("site-packages", "a readable folder", error.to_string(), cure);
                ledger.undecided(Check::EnvironmentOwned, finding);
            }
        }
        match read_records(root, folder, &mut listed, &mut findings) {
            Ok(found) => distributions.extend(found),
            Err(error) => {
                let finding = Finding::new("site-packages", "readable RECORD files", error.to_string(), cure);
                ledger.undecided(Check::EnvironmentRecords, finding);
            }
        }
    }
    for path in present {
        if !listed.contains_key(&path) && !is_cached_bytecode(&path) && !is_leftover(&path) {
            findings.unowned(root, &path, "a file that no RECORD lists");
        }
    }
    if let Err(stop) = compare(root, listed.into_iter().collect(), budget, &mut findings) {
        let hint = "run the gate again, with more time if it ran out: --limit-seconds";
        ledger.undecided(
            Check::EnvironmentRecords,
            Finding::new("site-packages", "every file compared", stop.to_string(), hint),
        );
    }
    ledger.record(Check::EnvironmentRecords, limited(sorted(findings.records)));
    ledger.record(Check::EnvironmentOwned, limited(sorted(findings.owned)));
    distributions.sort();
    distributions
}

struct Findings<'a> {
    cure: &'a str,
    records: Vec<Finding>,
    owned: Vec<Finding>,
}

impl Findings<'_> {
    fn record(&mut self, subject: impl Into<String>, expected: impl Into<String>, actual: impl Into<String>) {
        self.records.push(Finding::new(subject, expected, actual, self.cure));
    }

    fn unowned(&mut self, root: &Path, path: &Path, what: &str) {
        let hint = format!("find out where it comes from and remove it, or {}", self.cure);
        self.owned.push(Finding::new(relative(root, path), "only files of installed distributions", what, hint));
    }
}

fn sorted(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.sort_by(|a, b| a.subject.cmp(&b.subject));
    findings
}

fn relative(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}

/// Every file of a site-packages folder; links and special files are findings at once.
fn walk(folder: &Path, findings: &mut Findings<'_>) -> Result<Vec<PathBuf>, walkdir::Error> {
    let mut files = Vec::new();
    let root = folder.ancestors().nth(3).unwrap_or(folder);
    for entry in walkdir::WalkDir::new(folder).min_depth(1) {
        let entry = entry?;
        if entry.file_type().is_file() {
            files.push(entry.into_path());
        } else if !entry.file_type().is_dir() {
            let what = if entry.file_type().is_symlink() { "a symbolic link" } else { "a fifo, socket or device" };
            findings.unowned(root, entry.path(), what);
        }
    }
    Ok(files)
}

/// Bytecode in a `__pycache__` folder, with the tag that keeps it from being imported by name. It is never read: the probes
/// compile what they load from here.
pub(super) fn is_cached_bytecode(path: &Path) -> bool {
    let cached = path.parent().and_then(Path::file_name) == Some(OsStr::new("__pycache__"));
    let tagged = path.file_stem().is_some_and(|stem| Path::new(stem).extension().is_some());
    cached && tagged && path.extension() == Some(OsStr::new("pyc"))
}

/// What `virtualenv` leaves beside the distributions it seeds: the names of their files, none of which Python can import.
fn is_leftover(path: &Path) -> bool {
    path.extension() == Some(OsStr::new("virtualenv"))
}

fn read_records(
    root: &Path,
    folder: &Path,
    listed: &mut Files,
    findings: &mut Findings<'_>,
) -> Result<Vec<Distribution>, FileError> {
    let mut distributions = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(FileError::new("list the folder", folder))? {
        let path = entry.map_err(FileError::new("list the folder", folder))?.path();
        let Some(stem) = path.file_name().and_then(OsStr::to_str).and_then(|name| name.strip_suffix(".dist-info"))
        else {
            continue;
        };
        let subject = relative(root, &path);
        let Some((name, version)) = stem.rsplit_once('-') else {
            findings.record(subject, "a folder named after a distribution and its version", "another name");
            continue;
        };
        let record = match read_file(&path.join("RECORD"), LARGEST) {
            Ok(record) => record,
            Err(error) if error.is_not_found() => {
                findings.record(subject, "a RECORD of the files it installed", "no RECORD");
                continue;
            }
            Err(error) => return Err(error),
        };
        let files = match parse_record(&record.bytes) {
            Ok(files) => files,
            Err(why) => {
                findings.record(format!("{subject}/RECORD"), "rows of path, digest and size", why);
                continue;
            }
        };
        let count = files.len() as u64;
        for (file, digest) in &files {
            match resolve(root, folder, file) {
                Some(file) => {
                    listed.insert(file, digest.clone());
                }
                None => findings.record(format!("{subject}/RECORD"), "paths inside the environment", file),
            }
        }
        let (name, version) = (name.to_owned(), version.to_owned());
        distributions.push(Distribution { name, version, files: count, record: Evidence::SelfConsistent, rows: files });
    }
    Ok(distributions)
}

/// The file a RECORD names, if it lies inside the environment.
fn resolve(root: &Path, folder: &Path, file: &str) -> Option<PathBuf> {
    let mut path = folder.to_owned();
    for part in Path::new(file).components() {
        match part {
            Component::Normal(part) => path.push(part),
            Component::ParentDir => {
                path.pop();
            }
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => path = PathBuf::from("/"),
        }
    }
    path.starts_with(root).then_some(path)
}

/// Hashes what is listed, on all cores.
fn compare(
    root: &Path,
    listed: Vec<(PathBuf, Option<String>)>,
    budget: &Budget,
    findings: &mut Findings<'_>,
) -> Result<(), crate::limits::Stop> {
    let differences = parallel::map(&listed, |(path, digest)| {
        budget.check()?;
        budget.tally().installed.add(1);
        Ok(difference(root, path, digest.as_deref()).map(|(expected, actual)| (relative(root, path), expected, actual)))
    });
    for (path, expected, actual) in differences.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten() {
        findings.record(path, expected, actual);
    }
    Ok(())
}

/// Expected and found, where the file is not what its RECORD says.
fn difference(root: &Path, path: &Path, digest: Option<&str>) -> Option<(String, String)> {
    if is_cached_bytecode(path) {
        return None;
    }
    let Some(digest) = digest else {
        // A RECORD cannot list its own digest, nor that of its signature, and need not that of a note. Some makers write the programs that nobody runs here
        // without one.
        let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
        let own = path.parent().is_some_and(|parent| parent.extension() == Some(OsStr::new("dist-info")));
        let program = path.parent() == Some(&root.join("bin"));
        let exempt =
            program || is_leftover(path) || own && matches!(name, "INSTALLER" | "RECORD" | "RECORD.jws" | "RECORD.p7s");
        // Nor do they all leave out what is not there: bytecode they did not keep, or its folder. What is in a folder is looked at itself.
        let nothing = std::fs::symlink_metadata(path).map_or(true, |found| found.is_dir());
        return (!exempt && !nothing).then(|| ("a digest in the RECORD".into(), "a file listed without one".into()));
    };
    let expected = format!("sha256={digest}");
    match sha256_file(path, LARGEST) {
        Ok(Some(found)) => {
            let found = record_digest(&found);
            (found != digest).then(|| (expected, format!("sha256={found}")))
        }
        Ok(None) => Some((expected, format!("a file of more than {LARGEST} bytes"))),
        Err(error) if error.is_not_found() => Some((expected, "no such file".into())),
        Err(error) => Some((expected, error.source.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn listed_paths_stay_inside_the_environment() {
        let (root, folder) = (Path::new("/v"), Path::new("/v/lib/python3.11/site-packages"));
        let inside = |file| resolve(root, folder, file).map(|path| path.display().to_string());
        assert_eq!(inside("a/b.py").as_deref(), Some("/v/lib/python3.11/site-packages/a/b.py"));
        assert_eq!(inside("../../../bin/x").as_deref(), Some("/v/bin/x"));
        assert_eq!(inside("../../../../etc/passwd"), None);
        assert_eq!(inside("/etc/passwd"), None);
    }

    #[test]
    fn bytecode_is_passed_over_only_where_python_cannot_import_it() {
        for (path, passed) in [
            ("a/__pycache__/b.cpython-311.pyc", true),
            ("a/__pycache__/b.pyc", false),
            ("a/b.pyc", false),
            ("a/__pycache__/b.cpython-311.so", false),
        ] {
            assert_eq!(is_cached_bytecode(Path::new(path)), passed, "{path}");
        }
    }

    proptest! {
        #[test]
        fn a_resolved_path_is_below_the_root(file in "[a-z./]{0,30}") {
            let root = Path::new("/v");
            if let Some(path) = resolve(root, Path::new("/v/lib/site-packages"), &file) {
                prop_assert!(path.starts_with(root) && !path.components().any(|part| part == Component::ParentDir));
            }
        }
    }
}
