//! A release artifact, held against the commit: what is published is what was proven, or the run is refused.

use std::path::PathBuf;

use paired_sdk_gate::check::{Finding, Status};
use paired_sdk_gate::contract::DEMO_SDK;
use paired_sdk_gate::digest::sha256;
use paired_sdk_gate::inventory::{Form, Release, ReleaseFile};
use paired_sdk_gate::report::Verdict;

use crate::support::artifact::{Files, digest, sdist, sign, wheel};
use crate::support::gate::{Outcome, findings, identified};
use crate::support::subject::{Subject, VERSION, Verified};

const WHEEL: &str = "netbox_sdk-1.0.0-py3-none-any.whl";
const SDIST: &str = "netbox_sdk-1.0.0.tar.gz";
const INFO: &str = "netbox_sdk-1.0.0.dist-info";
const METADATA: &str = "Metadata-Version: 2.4\nName: netbox-sdk\nVersion: 1.0.0\n\nName: prose\n";

fn package() -> Files {
    let package = DEMO_SDK.iter().filter(|(path, _)| path.starts_with("netbox_sdk/"));
    package.map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect()
}

/// The files of a wheel as a build tool leaves them, after some change.
fn wheel_files(change: impl FnOnce(&mut Files)) -> Files {
    let mut files = package();
    files.push(("netbox_mcp/__init__.py".into(), b"another package\n".to_vec()));
    files.push((format!("{INFO}/METADATA"), METADATA.into()));
    change(&mut files);
    sign(&mut files, INFO);
    files
}

fn sdist_files() -> Files {
    let top = |(path, bytes): (String, Vec<u8>)| (format!("netbox_sdk-1.0.0/{path}"), bytes);
    let mut files: Files = package().into_iter().map(top).collect();
    files.push(("netbox_sdk-1.0.0/PKG-INFO".into(), METADATA.into()));
    files.push(("netbox_sdk-1.0.0/netbox_sdk.egg-info/PKG-INFO".into(), b"Name: another\n".to_vec()));
    files
}

/// What the gate says of an artifact of that name with these bytes.
fn judge(subject: &mut Subject, name: &str, bytes: &[u8]) -> Verified {
    let path = subject.dir.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    subject.release_artifact = Some(ReleaseFile::new(path).unwrap());
    subject.verify()
}

fn told(findings: &[Finding]) -> Vec<(&str, &str, &str)> {
    findings.iter().map(|found| (&*found.subject, &*found.expected, &*found.actual)).collect()
}

#[test]
fn an_artifact_that_is_the_commits_passes_and_one_that_was_not_given_is_said_so() {
    let mut subject = Subject::new();
    let verified = subject.verify();
    assert_eq!((verified.verdict(), verified.run.evidence.release), (Verdict::Passed, Release::default()));
    for (name, artifact, bytes) in
        [(WHEEL, Form::Wheel, wheel(&wheel_files(|_| ()))), (SDIST, Form::Sdist, sdist(&sdist_files()))]
    {
        let verified = judge(&mut subject, name, &bytes);
        assert_eq!(verified.verdict(), Verdict::Passed, "{:#?}", verified.run.ledger);
        let size = Some(bytes.len() as u64);
        let expected = Release { artifact, name: Some(name.into()), sha256: Some(sha256(&bytes)), size };
        assert_eq!(verified.run.evidence.release, expected);
    }
}

#[test]
fn every_difference_of_the_package_is_named() {
    let mut subject = Subject::new();
    let files = wheel_files(|files| {
        files[1].1.push(b'\n');
        files.remove(0);
        files.push(("netbox_sdk/more.py".into(), Vec::new()));
        files.push(("netbox_sdk/__pycache__/more.cpython-311.pyc".into(), Vec::new()));
        files.push(("netbox_sdk-1.0.0.data/platlib/netbox_sdk/fast.so".into(), Vec::new()));
        files.push(("netbox_sdk-1.0.0.data/data/lib/python3.11/site-packages/netbox_sdk/x.py".into(), Vec::new()));
        files.push(("netbox_sdk-1.0.0.data/scripts/run".into(), Vec::new()));
    });
    let verified = judge(&mut subject, WHEEL, &wheel(&files));
    assert_eq!(
        told(verified.refused_by(&["release.package"])),
        [
            (
                "netbox_sdk-1.0.0.data/data/lib/python3.11/site-packages/netbox_sdk/x.py",
                "only the commit's files",
                "one outside"
            ),
            ("netbox_sdk/__init__.py", "the commit's file", "not in the artifact"),
            ("netbox_sdk/__pycache__/more.cpython-311.pyc", "only the commit's files", "one more"),
            ("netbox_sdk/client.py", "the commit's file", "other bytes"),
            ("netbox_sdk/fast.so", "only the commit's files", "one more"),
            ("netbox_sdk/more.py", "only the commit's files", "one more"),
        ]
    );
    assert!(verified.ids(Status::NotRun).contains(&"module.origin"), "nothing of the commit was run");

    // Two files for one place: which of them is installed, the order decides.
    let twice = wheel_files(|files| {
        let (name, bytes) = files[0].clone();
        files.push((format!("netbox_sdk-1.0.0.data/purelib/{name}"), bytes));
    });
    assert_eq!(
        told(judge(&mut subject, WHEEL, &wheel(&twice)).refused_by(&["release.package"])),
        [("netbox_sdk/__init__.py", "the commit's file once", "installed more than once")]
    );
    let mut changed = sdist_files();
    changed[0].1.push(b'\n');
    assert_eq!(
        told(judge(&mut subject, SDIST, &sdist(&changed)).refused_by(&["release.package"])),
        [("netbox_sdk/__init__.py", "the commit's file", "other bytes")]
    );
}

#[test]
fn names_versions_and_digests_agree() {
    let mut subject = Subject::new();
    let mut refused = |name: &str, files: &Files, expected: &[(&str, &str, &str)]| {
        let bytes = if name.ends_with(".whl") { wheel(files) } else { sdist(files) };
        assert_eq!(told(judge(&mut subject, name, &bytes).refused_by(&["release.metadata"])), expected, "{name}");
    };
    let identity = "netbox_sdk 1.0.0";
    let sound = wheel_files(|_| ());
    refused(
        "netbox_sdk-1.0.1-py3-none-any.whl",
        &sound,
        &[("netbox_sdk-1.0.1-py3-none-any.whl", identity, "netbox_sdk 1.0.1")],
    );
    refused("a-1.0.0-py3-none-any.whl", &sound, &[("a-1.0.0-py3-none-any.whl", identity, "a 1.0.0")]);
    refused("netbox_sdk.whl", &sound, &[("netbox_sdk.whl", identity, "a name without them")]);
    refused("netbox_sdk-1.0.1.tar.gz", &sdist_files(), &[("netbox_sdk-1.0.1.tar.gz", identity, "netbox_sdk 1.0.1")]);

    let metadata = |text: &'static str| {
        wheel_files(|files| {
            let metadata = files.iter_mut().find(|(name, _)| name.ends_with("METADATA")).unwrap();
            metadata.1 = text.into();
        })
    };
    let (name, version) = (format!("{INFO}/METADATA: Name"), format!("{INFO}/METADATA: Version"));
    refused(
        WHEEL,
        &metadata("Name: other\nVersion: 1.0.1\n"),
        &[(&name, identity, "[\"other\"]"), (&version, identity, "[\"1.0.1\"]")],
    );
    refused(
        WHEEL,
        &metadata("Name: netbox-sdk\nVersion: 1.0.0\nVersion: 1.0.0\n"),
        &[(&version, identity, "[\"1.0.0\", \"1.0.0\"]")],
    );
    refused(WHEEL, &metadata("Name: NetBox.SDK\n\nVersion: 1.0.0\n"), &[(&version, identity, "[]")]);
    let mut two = sound.clone();
    two.insert(0, ("other-2.dist-info/METADATA".into(), METADATA.into()));
    sign(&mut two, INFO);
    refused(WHEEL, &two, &[("METADATA", "one file of that name", "none, or more than one")]);
    let mut renamed: Files =
        sound.iter().map(|(name, bytes)| (name.replace(INFO, "x-1.dist-info"), bytes.clone())).collect();
    sign(&mut renamed, "x-1.dist-info");
    refused(WHEEL, &renamed, &[("x-1.dist-info", "a folder named after netbox_sdk 1.0.0", "another name")]);
    let data = wheel_files(|files| files.push(("other-1.data/purelib/a.py".into(), Vec::new())));
    refused(WHEEL, &data, &[("other-1.data", "netbox_sdk-1.0.0.data", "a data folder of another name")]);

    let record = |change: &dyn Fn(String) -> String| {
        let mut files = sound.clone();
        let record = files.last_mut().unwrap();
        record.1 = change(String::from_utf8(record.1.clone()).unwrap()).into();
        files
    };
    let own = format!("{INFO}/RECORD");
    let other = "netbox_mcp/__init__.py";
    let right = digest(b"another package\n");
    let wrong = digest(b"");
    refused(WHEEL, &record(&|rows| rows.replace(&right, &wrong)), &[(other, &wrong, &right)]);
    refused(WHEEL, &record(&|rows| rows.replace(&right, "")), &[(other, "a digest in RECORD", &right)]);
    refused(
        WHEEL,
        &record(&|rows| rows.replace(other, "gone.py")),
        &[("gone.py", "the file that RECORD lists", "not in the artifact"), (other, "a row in RECORD", "none")],
    );
    refused(WHEEL, &record(&|rows| format!("{rows}{own},,\n")), &[(&own, "one row in RECORD", "more than one")]);
    refused(
        WHEEL,
        &record(&|rows| rows.replace("sha256=", "md5=")),
        &[(
            &own,
            "rows of path, digest and size",
            &format!(
                "row 1 has the digest {:?}, which is not SHA-256",
                digest(&package()[0].1).replace("sha256=", "md5=")
            ),
        )],
    );
    let mut none = sound.clone();
    none.pop();
    refused(WHEEL, &none, &[(&own, "a RECORD", "none")]);

    let mut beside = sdist_files();
    beside.push(("other/a.py".into(), Vec::new()));
    refused(SDIST, &beside, &[("other", "everything in netbox_sdk-1.0.0/", "something beside it")]);
    let mut none = sdist_files();
    none.retain(|(name, _)| name != "netbox_sdk-1.0.0/PKG-INFO");
    refused(SDIST, &none, &[("PKG-INFO", "one file of that name", "none, or more than one")]);
}

#[test]
fn an_archive_that_readers_disagree_on_is_refused_and_a_bound_decides_nothing() {
    let mut subject = Subject::new();
    let mut hostile = sdist_files();
    hostile.push(hostile[0].clone());
    let verified = judge(&mut subject, SDIST, &sdist(&hostile));
    let plain = "a plain archive: regular files, each there once, with relative names";
    let member = format!("{SDIST}: netbox_sdk-1.0.0/netbox_sdk/__init__.py");
    assert_eq!(told(verified.refused_by(&["release.archive"])), [(&*member, plain, "there twice")]);
    assert!(verified.ids(Status::NotRun).contains(&"release.package"), "nothing is said of its content");
    let verified = judge(&mut subject, WHEEL, b"PK");
    let none = "not a zip archive that ends with its directory";
    assert_eq!(told(verified.refused_by(&["release.archive"])), [(WHEEL, plain, none)]);

    let undecided = |verified: Verified, expected: &str, actual: &str| {
        assert_eq!((verified.verdict(), verified.ids(Status::Error)), (Verdict::Unverifiable, vec!["release.archive"]));
        let found = &verified.findings("release.archive")[0];
        assert_eq!((&*found.expected, &*found.actual), (expected, actual));
        found.hint.clone()
    };
    let missing = subject.dir.path().join("none.whl");
    subject.release_artifact = Some(ReleaseFile::new(missing.clone()).unwrap());
    let why = format!("cannot open {}: No such file or directory (os error 2)", missing.display());
    undecided(subject.verify(), "a file", &why);
    // Members of the package are within the bound, the artifact's are more.
    subject.limits.package_files = 3;
    let hint = undecided(judge(&mut subject, WHEEL, &wheel(&wheel_files(|_| ()))), "at most 3 members", "more");
    assert!(hint.contains("--limit-package-files"), "{hint}");
    subject.limits.package_files = 5000;
    subject.limits.package_bytes = 200_000;
    let hint = undecided(judge(&mut subject, SDIST, &[0; 200_001]), "at most 200000 bytes", "more");
    assert!(hint.contains("--limit-package-bytes"), "{hint}");
}

#[test]
fn the_command_line_takes_a_wheel_or_an_sdist_and_the_report_says_which() {
    let subject = Subject::new();
    let run = |artifact: Option<PathBuf>| {
        let mut verify = identified("verify", subject.repo.root(), &subject.commit, VERSION, &subject.environment);
        if let Some(path) = artifact {
            verify.arg("--release-artifact").arg(path);
        }
        Outcome::of(verify.args(["--format", "json"]))
    };
    let nothing = serde_json::json!({"artifact": "not-given", "name": null, "sha256": null, "size": null});
    assert_eq!(run(None).json()["release"], nothing);
    let outcome = run(Some("a.zip".into()));
    assert_eq!(outcome.code, 2);
    assert!(outcome.stderr.contains("neither a wheel (.whl) nor an sdist (.tar.gz)"), "{}", outcome.stderr);

    let path = subject.dir.path().join(SDIST);
    let bytes = sdist(&sdist_files().into_iter().skip(1).collect());
    std::fs::write(&path, &bytes).unwrap();
    let report = run(Some(path.clone())).json();
    let given = serde_json::json!({"artifact": "sdist", "name": SDIST, "sha256": sha256(&bytes), "size": bytes.len()});
    assert_eq!((&report["release"], &report["run"]["release_artifact"]), (&given, &path.to_str().unwrap().into()));
    let found = &findings(&report, "release.package")[0];
    assert_eq!(
        (&found["subject"], &found["actual"]),
        (&"netbox_sdk/__init__.py".into(), &"not in the artifact".into())
    );
}
