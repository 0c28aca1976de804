//! The environment's rules one by one, each broken alone.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use paired_sdk_gate::check::{Check, Ledger, Status};
use paired_sdk_gate::contract::Contract;
use paired_sdk_gate::environment;
use paired_sdk_gate::identity::{ExpectedIdentity, ModuleOrigin};
use paired_sdk_gate::limits::{Budget, Limits};
use paired_sdk_gate::pipeline::{self, Request};
use paired_sdk_gate::report::Verdict;

use crate::support::subject::{Subject, VERSION, Verified, make_environment};

/// `(subject, found)` of each finding of one check.
fn told<'a>(verified: &'a Verified, check: &str) -> Vec<(&'a str, &'a str)> {
    verified.findings(check).iter().map(|finding| (&*finding.subject, &*finding.actual)).collect()
}

#[test]
fn the_configuration_has_to_say_what_it_is() {
    let subject = Subject::new();
    let config = subject.environment.join("pyvenv.cfg");
    let original = std::fs::read_to_string(&config).unwrap();
    let line = original.lines().find(|line| line.starts_with("include-system-site-packages")).unwrap();
    std::fs::write(&config, original.replace(line, "")).unwrap();
    assert_eq!(told(&subject.verify(), "environment.root"), [("pyvenv.cfg", "no such line")]);
    std::fs::write(&config, format!("{original}implementation = PyPy\n")).unwrap();
    let verified = subject.verify();
    let [("pyvenv.cfg", found)] = told(&verified, "environment.interpreter")[..] else {
        panic!("{:#?}", verified.run.ledger)
    };
    assert!(found.starts_with("PyPy 3."), "{found}");
    std::fs::write(&config, format!("{original}implementation = CPython\n")).unwrap();
    assert_eq!(subject.verify().verdict(), Verdict::Passed);
}

#[test]
fn an_interpreter_that_may_not_be_executed() {
    let subject = Subject::new();
    let python = subject.environment.join("bin/python");
    let binary = python.canonicalize().unwrap();
    std::fs::remove_file(&python).unwrap();
    std::fs::copy(binary, &python).unwrap();
    std::fs::set_permissions(&python, PermissionsExt::from_mode(0o644)).unwrap();
    let found = [("bin/python", "a file that may not be executed")];
    assert_eq!(told(&subject.verify(), "environment.interpreter"), found);
}

#[test]
fn what_may_lie_about_without_an_owner_and_what_may_not() {
    let subject = Subject::new();
    let site = subject.site();
    let lib = site.strip_prefix(&subject.environment).unwrap().display().to_string();
    // The mark that virtualenv leaves for each of the distributions it seeds.
    std::fs::write(site.join("pip-25.0.virtualenv"), "").unwrap();
    assert_eq!(subject.verify().verdict(), Verdict::Passed);
    // Tagged like cached bytecode, but where Python does not look for that.
    std::fs::write(site.join("one.cpython-311.pyc"), "").unwrap();
    let verified = subject.verify();
    let named = format!("{lib}/one.cpython-311.pyc");
    assert_eq!(told(&verified, "environment.owned"), [(&*named, "a file that no RECORD lists")]);
    assert_eq!(verified.ids(Status::Failed), ["environment.owned"]);
}

#[test]
fn a_distribution_is_a_folder_of_its_name_and_version_with_a_record_that_can_be_read() {
    let subject = Subject::new();
    let site = subject.site();
    let lib = site.strip_prefix(&subject.environment).unwrap().display().to_string();
    let unnamed = site.join("unnamed.dist-info");
    std::fs::create_dir(&unnamed).unwrap();
    let named = format!("{lib}/unnamed.dist-info");
    assert_eq!(told(&subject.verify(), "environment.records"), [(&*named, "another name")]);
    std::fs::remove_dir(&unnamed).unwrap();
    std::fs::create_dir_all(site.join("two-1.0.dist-info/RECORD")).unwrap();
    let verified = subject.verify();
    assert_eq!(verified.ids(Status::Error), ["environment.records"]);
    assert_eq!(verified.verdict(), Verdict::Unverifiable);
}

#[test]
fn a_file_without_a_digest_is_one_of_a_few_and_in_its_place() {
    let subject = Subject::new();
    let site = subject.site();
    let lib = site.strip_prefix(&subject.environment).unwrap().display().to_string();
    subject.install("one", &[("one/a.py", "1"), ("one/INSTALLER", ""), ("one-1.0.dist-info/METADATA", "")]);
    let record = site.join("one-1.0.dist-info/RECORD");
    let rows = std::fs::read_to_string(&record).unwrap();
    assert_eq!(subject.verify().verdict(), Verdict::Passed);
    let bare: String = rows
        .lines()
        .map(
            |row| {
                if row.starts_with("one/a.py") { row.into() } else { format!("{},,", row.split(',').next().unwrap()) }
            },
        )
        .map(|row: String| row + "\n")
        .collect();
    std::fs::write(&record, bare).unwrap();
    let names = ["one-1.0.dist-info/METADATA", "one/INSTALLER"].map(|name| format!("{lib}/{name}"));
    let expected: Vec<_> = names.iter().map(|name| (&**name, "a file listed without one")).collect();
    assert_eq!(told(&subject.verify(), "environment.records"), expected);
    // Listed with a digest, and nothing that has one.
    std::fs::create_dir(site.join("one/folder")).unwrap();
    std::fs::write(&record, format!("{rows}one/folder,sha256=x,1\n")).unwrap();
    let verified = subject.verify();
    let [(named, _)] = told(&verified, "environment.records")[..] else { panic!("{:#?}", verified.run.ledger) };
    assert_eq!(named, format!("{lib}/one/folder"));
}

#[test]
fn a_project_that_cannot_be_read_and_a_wheelhouse_that_is_not_there() {
    let mut subject = Subject::edited(|repo| repo.write("uv.lock", "version = 1\n"));
    subject.wheelhouse = Some(subject.dir.path().join("nowhere"));
    assert_eq!(subject.verify().ids(Status::Error), ["environment.wheels"]);
    // A wheel that the lock names and that is none.
    let wheels = subject.dir.path().join("wheels");
    std::fs::create_dir(&wheels).unwrap();
    std::fs::write(wheels.join("one-1.0-py3-none-any.whl"), "no archive").unwrap();
    let digest = paired_sdk_gate::digest::sha256(b"no archive");
    let lock = format!(
        "version = 1\n[[package]]\nname = \"one\"\nversion = \"1.0\"\nwheels = [{{ hash = \"sha256:{digest}\" }}]\n"
    );
    let mut broken = Subject::within(&subject.environment, |repo| repo.write("uv.lock", lock));
    broken.wheelhouse = Some(wheels);
    broken.install("one", &[("one/a.py", "1")]);
    let verified = broken.verify();
    assert_eq!(verified.refused_by(&["environment.wheels"])[0].subject, "one 1.0: RECORD");
}

#[test]
fn a_project_whose_requirements_are_no_list() {
    let project = format!("[project]\nname = \"sdk\"\nversion = {VERSION:?}\ndependencies = \"aiohttp\"\n");
    let subject = Subject::edited(|repo| repo.write("pyproject.toml", project));
    let found = "invalid type: string \"aiohttp\", expected a sequence";
    let verified = subject.verify();
    assert_eq!(told(&verified, "environment.lock"), [("pyproject.toml", found)]);
    assert_eq!(verified.ids(Status::Failed), ["environment.lock"]);
}

#[test]
fn a_comparison_that_was_interrupted_proves_nothing() {
    let subject = Subject::new();
    subject.install("one", &[("one/a.py", "1")]);
    let budget = Budget::start(Limits::default(), Arc::new(AtomicBool::new(true)));
    let examination = environment::examine(&subject.environment, &budget);
    assert!(examination.environment().is_none());
    let mut ledger = Ledger::new();
    assert!(environment::preflight(None, examination, None, &mut ledger).is_err());
    let wrong: Vec<_> = ledger.entries().iter().filter(|entry| !entry.findings.is_empty()).collect();
    let [entry] = wrong[..] else { panic!("{ledger:#?}") };
    assert_eq!((entry.check, entry.status), (Check::EnvironmentRecords, Status::Error));
    assert_eq!(entry.findings[0].actual, "interrupted by a signal");
}

#[test]
fn what_was_made_for_another_identity_lends_no_proof() {
    let subject = Subject::new();
    let contract = Contract::demo();
    let identity = |version: &str, environment: &Path| {
        let origin = ModuleOrigin::parse(contract.module_origin, contract).unwrap();
        ExpectedIdentity::new(subject.commit.parse().unwrap(), version.parse().unwrap(), origin, environment.into())
            .unwrap()
    };
    let other = subject.dir.path().join("other");
    make_environment(&other, &[]);
    let own = &subject.environment;
    // The copy is of VERSION, the environment that was examined the subject's own.
    for (expected, status) in [
        (identity(VERSION, own), Status::Passed),
        (identity(VERSION, &other), Status::Error),
        (identity("9.9.9", own), Status::Error),
    ] {
        let budget = Budget::start(Limits::default(), Arc::default());
        let version = VERSION.parse().unwrap();
        let request = Request::new(subject.repo.root(), expected.commit(), Some(&version), contract, budget.clone());
        let (run, copy) = pipeline::snapshot(&request, &subject.temporary(), &|_| ());
        let mut ledger = run.ledger;
        let examined = environment::examine(own, &budget);
        let locked = environment::verify(copy.unwrap(), examined, &expected, None, &mut ledger);
        assert_eq!(locked.is_ok(), status == Status::Passed);
        assert_eq!(ledger.status(Check::EnvironmentRoot), status, "{ledger:#?}");
    }
}
