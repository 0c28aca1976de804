//! Every folder of `fixtures/hostile`, run: refused by exactly the checks it names, and nothing of it survives.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use paired_sdk_gate::check::Status;
use paired_sdk_gate::limits::Limits;
use paired_sdk_gate::report::Verdict;

use super::append;
use crate::support::left::survivors;
use crate::support::subject::{Subject, Verified, make_environment};

/// What a hostile SDK calls a file that it leaves where it must not.
const ESCAPE: &str = "paired-escape";

/// The same for this process alone: what a run before this one left says nothing of the SDK.
fn escape() -> String {
    format!("{ESCAPE}-{}", std::process::id())
}

struct Case {
    folder: PathBuf,
    /// The check, or what stands in its place.
    verdict: String,
    also: BTreeSet<String>,
    found: String,
    code: String,
}

impl Case {
    /// A folder of files that the case brings, if it has one.
    fn part(&self, name: &str) -> Option<PathBuf> {
        let folder = self.folder.join(name);
        folder.exists().then_some(folder)
    }
}

fn cases() -> Vec<Case> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/hostile");
    let mut folders: Vec<_> = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    let case = |folder: PathBuf| {
        let name = folder.file_name().unwrap().to_str().unwrap();
        let verdict = name.split_once("--").expect("a name of verdict and trick").0.to_owned();
        let code = fs::read_to_string(folder.join("append.py")).unwrap();
        let said = |what: &str| {
            let head = code.lines().take_while(|line| line.starts_with('#'));
            head.filter_map(|line| line.strip_prefix(&format!("# {what}: "))).next().unwrap_or_default().to_owned()
        };
        let parts: BTreeSet<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert!(
            parts.iter().all(|part| ["append.py", "netbox_sdk", "stray"].iter().any(|known| part == known)),
            "{name}"
        );
        // A folder that got lost, as one of ignored files does, would leave an SDK that tries nothing.
        let statement = |line: &str| !line.trim().is_empty() && !line.starts_with('#');
        assert!(parts.len() > 1 || code.lines().any(statement), "{name} changes nothing");
        let also = said("also").split(", ").filter(|id| !id.is_empty()).map(str::to_owned).collect();
        Case { verdict, also, found: said("found"), code, folder }
    };
    folders.into_iter().map(case).collect()
}

/// Every file and folder below these, with what it is and holds.
fn image(roots: &[&Path]) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut image = BTreeMap::new();
    for entry in roots.iter().flat_map(walkdir::WalkDir::new) {
        let entry = entry.unwrap();
        let content = match entry.file_type() {
            kind if kind.is_file() => fs::read(entry.path()).unwrap(),
            kind if kind.is_symlink() => fs::read_link(entry.path()).unwrap().into_os_string().into_encoded_bytes(),
            _ => Vec::new(),
        };
        image.insert(entry.path().to_owned(), (entry.metadata().unwrap().permissions().mode(), content));
    }
    image
}

fn escaped() -> Vec<PathBuf> {
    let folders = ["/tmp", "/var/tmp", "/dev/shm", "/"];
    folders.into_iter().map(|folder| Path::new(folder).join(escape())).filter(|path| path.exists()).collect()
}

/// The case, prepared in that environment.
fn subject(case: &Case, environment: &Path) -> Subject {
    let subject = Subject::within(environment, |repo| {
        append(repo, &case.code.replace(ESCAPE, &escape()));
        for entry in case.part("netbox_sdk").iter().flat_map(walkdir::WalkDir::new) {
            let entry = entry.unwrap();
            if entry.file_type().is_file() {
                let path = entry.path().strip_prefix(&case.folder).unwrap().to_str().unwrap();
                repo.write(path, fs::read(entry.path()).unwrap());
            }
        }
    });
    let limits = Limits { import_seconds: 8, answer_seconds: 4, probe_bytes: 512 << 20, ..Limits::default() };
    Subject { limits, ..subject }
}

fn run(case: &Case, environment: &Path) {
    let subject = subject(case, environment);
    let mut strays = Vec::new();
    for entry in case.part("stray").iter().flat_map(|folder| fs::read_dir(folder).unwrap()) {
        let entry = entry.unwrap();
        strays.push(subject.site().join(entry.file_name()));
        fs::copy(entry.path(), strays.last().unwrap()).unwrap();
    }
    let before = image(&[subject.repo.root(), environment]);

    let verified = subject.verify();

    assert_eq!(survivors(&subject.temporary()), [""; 0], "no process outlives the run");
    assert_eq!(escaped(), Vec::<PathBuf>::new(), "no file outside the private folder");
    assert!(image(&[subject.repo.root(), environment]) == before, "the checkout and the environment are as they were");
    strays.iter().for_each(|stray| fs::remove_file(stray).unwrap());
    check(case, &verified);
}

fn check(case: &Case, verified: &Verified) {
    let ledger = &verified.run.ledger;
    if ["passed", "not-proven"].contains(&&*case.verdict) {
        assert_eq!(verified.verdict(), Verdict::Passed, "{ledger:#?}");
        return;
    }
    let failed: BTreeSet<_> = verified.ids(Status::Failed).into_iter().map(str::to_owned).collect();
    let mut named = case.also.clone();
    named.insert(case.verdict.clone());
    assert_eq!(failed, named, "{ledger:#?}");
    assert_eq!((verified.verdict(), verified.verdict().exit_code()), (Verdict::Refused, 1));
    let findings = verified.findings(&case.verdict);
    let right = findings.iter().any(|finding| finding.actual.starts_with(&case.found) && !finding.hint.is_empty());
    assert!(right, "{:?} is not what was found: {findings:#?}", case.found);
}

/// Each test takes its share of the cases, so that they run side by side.
const SHARES: usize = 12;

fn share(number: usize) {
    let dir = tempfile::tempdir().unwrap();
    let environment = dir.path().join("venv");
    make_environment(&environment, &[]);
    let mut wrong = Vec::new();
    for case in cases().iter().skip(number).step_by(SHARES) {
        let name = case.folder.file_name().unwrap().to_string_lossy().into_owned();
        if std::panic::catch_unwind(|| run(case, &environment)).is_err() {
            wrong.push(name);
        }
    }
    assert_eq!(wrong, Vec::<String>::new(), "these cases did not end as they must; see above");
}

macro_rules! shares {
    ($($name:ident = $number:literal;)+) => {
        $(#[test] fn $name() { share($number); })+

        #[test]
        fn every_case_has_a_share() {
            assert_eq!([$($number),+], std::array::from_fn::<usize, SHARES, _>(|number| number));
            let cases = cases();
            let refused = cases.iter().filter(|case| !["passed", "not-proven"].contains(&&*case.verdict)).count();
            assert!(refused >= 60, "{refused}");
            for case in cases.iter().filter(|case| case.verdict.contains('.')) {
                assert!(paired_sdk_gate::check::Check::from_id(&case.verdict).is_some(), "{}", case.folder.display());
            }
        }
    };
}

shares! {
    share_0 = 0; share_1 = 1; share_2 = 2; share_3 = 3; share_4 = 4; share_5 = 5;
    share_6 = 6; share_7 = 7; share_8 = 8; share_9 = 9; share_10 = 10; share_11 = 11;
}
