//! The graph stage on real repositories, one mutator per attack.

mod bombs;
mod hostile;
mod mutations;
mod objects;
mod places;
mod refs;

use std::path::Path;
use std::time::{Duration, Instant};

use paired_sdk_gate::check::{Check, Finding, Ledger, Status};
use paired_sdk_gate::graph::{self, VerifiedGraph};
use paired_sdk_gate::limits::{Budget, Limits};

use crate::support::git::Repo;

/// Far more than any case needs, and far less than a hang.
const PROMPT: Duration = Duration::from_secs(20);

/// The checks of the stage.
const CHECKS: [Check; 6] = [
    Check::GitRepository,
    Check::GitHead,
    Check::GitHistory,
    Check::GitObjects,
    Check::GitWellFormed,
    Check::GitReleaseTag,
];

/// What the stage said.
struct Judged {
    graph: Option<VerifiedGraph>,
    ledger: Ledger,
}

struct Ask<'a> {
    root: &'a Path,
    commit: &'a str,
    allow_shallow: bool,
    limits: Limits,
}

impl<'a> Ask<'a> {
    fn new(root: &'a Path, commit: &'a str) -> Self {
        Ask { root, commit, allow_shallow: false, limits: Limits::default() }
    }

    #[track_caller]
    fn judge(self) -> Judged {
        let (commit, version) = (self.commit.parse().unwrap(), "1.2.3".parse().unwrap());
        let budget = Budget::start(self.limits, std::sync::Arc::default());
        let mut ledger = Ledger::new();
        let started = Instant::now();
        let graph =
            graph::verify(self.root, commit, Some(&version), "netbox_sdk", self.allow_shallow, &budget, &mut ledger)
                .ok();
        assert!(started.elapsed() < PROMPT, "took {:?}", started.elapsed());
        Judged { graph, ledger }
    }
}

#[track_caller]
fn judge(repo: &Repo, commit: &str) -> Judged {
    Ask::new(repo.root(), commit).judge()
}

impl Judged {
    /// Every check passed.
    #[track_caller]
    fn passes(self) -> VerifiedGraph {
        for check in CHECKS {
            assert_eq!(self.ledger.status(check), Status::Passed, "{}: {:#?}", check.id(), self.findings(check));
        }
        self.graph.expect("a graph")
    }

    /// This check failed, and for this reason: parts of the subject, of what was found and of the hint.
    #[track_caller]
    fn refuses(&self, check: Check, subject: &str, actual: &str, hint: &str) -> &Self {
        self.says(check, Status::Failed, subject, actual, hint)
    }

    /// This check could not be decided, and why.
    #[track_caller]
    fn cannot_tell(&self, check: Check, subject: &str, actual: &str, hint: &str) -> &Self {
        self.says(check, Status::Error, subject, actual, hint)
    }

    #[track_caller]
    fn says(&self, check: Check, status: Status, subject: &str, actual: &str, hint: &str) -> &Self {
        assert!(self.graph.is_none(), "a graph although {} is not sound", check.id());
        let findings = self.findings(check);
        assert_eq!(self.ledger.status(check), status, "{}: {findings:#?}", check.id());
        let fits = |finding: &Finding| {
            finding.subject.contains(subject) && finding.actual.contains(actual) && finding.hint.contains(hint)
        };
        assert!(findings.iter().any(fits), "no finding on {subject:?} with {actual:?} and {hint:?}: {findings:#?}");
        for finding in findings {
            assert!(!finding.subject.starts_with('/'), "{finding:#?}");
            assert!(!finding.expected.is_empty() && !finding.hint.is_empty(), "{finding:#?}");
        }
        self
    }

    /// All others passed.
    #[track_caller]
    fn only(&self, check: Check) {
        for other in CHECKS.into_iter().filter(|other| *other != check) {
            let findings = self.findings(other);
            assert_eq!(self.ledger.status(other), Status::Passed, "{}: {findings:#?}", other.id());
        }
    }

    fn findings(&self, check: Check) -> &[Finding] {
        &self.ledger.entries().iter().find(|entry| entry.check == check).unwrap().findings
    }
}

/// A repository with two commits, three blobs and a folder, in a folder that goes away with the first part.
struct Case {
    _temp: tempfile::TempDir,
    repo: Repo,
    commit: String,
}

fn case() -> Case {
    let temp = tempfile::tempdir().unwrap();
    let repo = Repo::init(temp.path().join("sdk"));
    repo.write("netbox_sdk/plugin_bridge.py", "one = 1\n");
    repo.write("pyproject.toml", "[project]\n");
    repo.commit_all("first");
    repo.write("netbox_sdk/plugin_bridge.py", "two = 2\n");
    let commit = repo.commit_all("second");
    Case { _temp: temp, repo, commit }
}

/// The same, with all objects in one pack.
fn packed_case() -> Case {
    let case = case();
    case.repo.git(&["repack", "-adq"]);
    case
}

impl Case {
    #[track_caller]
    fn judge(&self) -> Judged {
        judge(&self.repo, &self.commit)
    }

    fn rev(&self, spec: &str) -> String {
        self.repo.git(&["rev-parse", spec])
    }
}

#[test]
fn a_sound_repository_passes_and_is_counted() {
    for case in [case(), packed_case()] {
        let graph = case.judge().passes();
        let source = graph.source();
        assert_eq!((source.commits, source.trees, source.blobs), (2, 4, 3));
        let listed = case.repo.git(&["rev-list", "--objects", "--disk-usage", "HEAD"]);
        assert!(source.bytes > 0 && !listed.is_empty());
        assert_eq!(source.history, graph::History::Complete);
        assert_eq!(source.ignored, graph::Ignored::default());
        assert_eq!(graph.tree().to_string(), case.rev("HEAD^{tree}"));
        assert_eq!(graph.head().unwrap().to_string(), case.commit);
    }
}

#[test]
fn files_are_listed_and_read_back() {
    let case = case();
    case.repo.write("netbox_sdk/z/deep/x.py", "x\n");
    case.repo.write("netbox_sdk/a.py", "a\n");
    let commit = case.repo.commit_all("third");
    let graph = judge(&case.repo, &commit).passes();
    let files = graph.folder("netbox_sdk").unwrap();
    let paths: Vec<String> = files.iter().map(|file| file.path.to_string()).collect();
    assert_eq!(paths, ["netbox_sdk/a.py", "netbox_sdk/plugin_bridge.py", "netbox_sdk/z/deep/x.py"]);
    assert_eq!((files[0].mode, files[0].spelled_mode.as_slice()), (0o100_644, &b"100644"[..]));
    assert_eq!(graph.blob(files[1].id).unwrap()[..], *b"two = 2\n");
    assert_eq!(graph.entry("netbox_sdk/z").unwrap().unwrap().kind, graph::strict::Kind::Tree);
    assert_eq!(graph.entry("netbox_sdk/none.py").unwrap(), None);
    assert_eq!(graph.entry("pyproject.toml/x").unwrap(), None);
    assert_eq!(graph.folder("none").unwrap(), []);
}

#[test]
fn a_blob_is_hashed_again_when_it_is_asked_for() {
    let case = case();
    let graph = case.judge().passes();
    let id = graph.entry("pyproject.toml").unwrap().unwrap().id;
    case.repo.put_loose(&id.to_string(), crate::support::git::deflate(b"blob 10\0[project}\n"));
    let error = graph.blob(id).unwrap_err().to_string();
    assert_eq!(
        error,
        format!("object {id}: its content hashes to {}", crate::support::git::id_of("blob", b"[project}\n"))
    );
}

#[test]
fn the_packages_blobs_are_kept_from_when_they_were_verified() {
    // Lines that no other file has, so that one of the two becomes a delta of the other.
    let lines = |end: &str| (0..400).map(|number| format!("line_{number} = {number}\n")).collect::<String>() + end;
    for repacked in [false, true] {
        let case = case();
        case.repo.write("netbox_sdk/long.py", lines(""));
        case.repo.write("netbox_sdk/longer.py", lines("more = 1\n"));
        let commit = case.repo.commit_all("third");
        if repacked {
            case.repo.git(&["repack", "-adfq"]);
        }
        // Room for one of the long ones and the short one.
        let limits = Limits { package_bytes: 6000, ..Limits::default() };
        let graph = judge(&case.repo, &commit).passes();
        let bounded = Ask { limits, ..Ask::new(case.repo.root(), &commit) }.judge().passes();
        let files = graph.folder("netbox_sdk").unwrap();
        let outside = graph.entry("pyproject.toml").unwrap().unwrap().id;
        for entry in walkdir::WalkDir::new(case.repo.root().join(".git/objects")) {
            let path = entry.unwrap().into_path();
            if path.is_file() {
                std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
                std::fs::write(&path, "").unwrap();
            }
        }
        let kept: Vec<_> = files.iter().map(|file| graph.blob(file.id).unwrap().to_vec()).collect();
        assert_eq!(kept, [lines("").as_bytes(), lines("more = 1\n").as_bytes(), b"two = 2\n"]);
        assert_eq!(files.iter().filter(|file| bounded.blob(file.id).is_ok()).count(), 2);
        assert!(graph.blob(outside).is_err());
    }
}

#[test]
fn limits_of_listing_and_of_blobs() {
    let case = case();
    let limits = Limits { package_files: 1, file_bytes: 7, ..Limits::default() };
    let graph = Ask { limits, ..Ask::new(case.repo.root(), &case.commit) }.judge().passes();
    let id = graph.entry("netbox_sdk/plugin_bridge.py").unwrap().unwrap().id;
    let message = format!("object {id}: its 8 bytes exceed the limit of 7");
    assert_eq!(graph.blob(id).unwrap_err().to_string(), message);
    assert_eq!(graph.folder("netbox_sdk").unwrap().len(), 1);
    case.repo.write("netbox_sdk/a.py", "a\n");
    let commit = case.repo.commit_all("third");
    let limits = Limits { package_files: 1, ..Limits::default() };
    let graph = Ask { limits, ..Ask::new(case.repo.root(), &commit) }.judge().passes();
    let message = "the folder netbox_sdk holds more than 1 entries, the limit of this run";
    assert_eq!(graph.folder("netbox_sdk").unwrap_err().to_string(), message);
}

/// Makes a fifo that nobody will ever write to.
pub fn fifo(path: &Path) {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    mknodat(CWD, path, FileType::Fifo, Mode::from_raw_mode(0o644), 0).unwrap();
}
