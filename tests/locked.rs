//! What the commit says of the environment: its lock, its requirements, and the wheels its lock names.

use std::io::Write;
use std::path::Path;

use paired_sdk_gate::check::Finding;
use paired_sdk_gate::environment::Evidence;
use paired_sdk_gate::report::Verdict;
use sha2::{Digest, Sha256};

use crate::support::subject::{Subject, Verified};

const PROJECT: &str = "[project]\nname = \"demo-netbox-sdk\"\nversion = \"1.0.0\"\n";

/// A wheel of the distribution `one`, version 1.0, in a folder of its own; its SHA-256.
fn make_wheel(folder: &Path) -> String {
    let digest = data_encoding::BASE64URL_NOPAD.encode(&Sha256::digest("1"));
    let record =
        format!("one/a.py,sha256={digest},1\none-1.0.data/scripts/run,sha256={digest},1\none-1.0.dist-info/RECORD,,\n");
    let mut wheel = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, text) in
        [("one/a.py", "1"), ("one-1.0.data/scripts/run", "1"), ("one-1.0.dist-info/RECORD", record.as_str())]
    {
        wheel.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        wheel.write_all(text.as_bytes()).unwrap();
    }
    let bytes = wheel.finish().unwrap().into_inner();
    std::fs::create_dir(folder).unwrap();
    std::fs::write(folder.join("one-1.0-py3-none-any.whl"), &bytes).unwrap();
    Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn lock(version: &str, sha256: &str) -> String {
    format!(
        "version = 1\nrevision = 3\n\n[[package]]\nname = \"demo-netbox-sdk\"\nversion = \"1.0.0\"\n\
         source = {{ editable = \".\" }}\n\n[[package]]\nname = \"one\"\nversion = \"{version}\"\n\
         source = {{ registry = \"a\" }}\nwheels = [{{ url = \"b\", hash = \"sha256:{sha256}\", size = 1 }}]\n"
    )
}

fn told(findings: &[Finding]) -> Vec<(&str, &str, &str)> {
    findings.iter().map(|found| (&*found.subject, &*found.expected, &*found.actual)).collect()
}

fn evidence(verified: &Verified) -> Vec<Evidence> {
    verified.run.evidence.distributions.iter().map(|found| found.record).collect()
}

#[test]
fn the_chain_from_the_commit_to_an_installed_file() {
    let dir = tempfile::tempdir().unwrap();
    let wheels = dir.path().join("wheels");
    let digest = make_wheel(&wheels);
    let mut subject = Subject::edited(|repo| repo.write("uv.lock", lock("1.0", &digest)));
    subject.install("one", &[("one/a.py", "1")]);
    // Nothing but the lock: the RECORD speaks for itself.
    let verified = subject.verify();
    assert_eq!((verified.verdict(), evidence(&verified)), (Verdict::Passed, vec![Evidence::SelfConsistent]));

    subject.wheelhouse = Some(wheels.clone());
    let verified = subject.verify();
    assert_eq!((verified.verdict(), evidence(&verified)), (Verdict::Passed, vec![Evidence::Anchored]));

    // A file and its RECORD, both rewritten: consistent, and not what the wheel has.
    subject.install("one", &[("one/a.py", "2")]);
    let one = "sha256=a4ayc_80_OGda4BO_1o_V0etpOqiLx1JwB5S3beHW0s";
    let two = "sha256=1HNeOiZeFu7gP1lxi5tdAwGcB9i2xR-Q2jpmbuwTqzU";
    assert_eq!(told(subject.verify().refused_by(&["environment.wheels"])), [("one 1.0: one/a.py", one, two)]);
    subject.install("one", &[("one/a.py", "1"), ("one/more.py", ""), ("one/__pycache__/a.cpython-311.pyc", "")]);
    assert_eq!(
        told(subject.verify().refused_by(&["environment.wheels"])),
        [("one 1.0: one/more.py", "only files of the wheel", "one more")]
    );
    std::fs::remove_dir_all(subject.site().join("one")).unwrap();
    subject.install("one", &[("other.py", "1")]);
    assert_eq!(
        told(subject.verify().refused_by(&["environment.wheels"])),
        [
            ("one 1.0: one/a.py", one, "not in the installed RECORD"),
            ("one 1.0: other.py", "only files of the wheel", "one more")
        ]
    );

    // A wheel that the lock does not name anchors nothing.
    std::fs::remove_file(subject.site().join("other.py")).unwrap();
    subject.install("one", &[("one/a.py", "1")]);
    let wheel = wheels.join("one-1.0-py3-none-any.whl");
    std::fs::write(&wheel, [std::fs::read(&wheel).unwrap(), b"more".to_vec()].concat()).unwrap();
    let verified = subject.verify();
    assert_eq!((verified.verdict(), evidence(&verified)), (Verdict::Passed, vec![Evidence::SelfConsistent]));
}

#[test]
fn what_is_installed_is_what_the_commit_locks_and_requires() {
    let subject = Subject::edited(|repo| {
        repo.write("uv.lock", lock("2.0", "00"));
        repo.write("pyproject.toml", format!("{PROJECT}dependencies = [\"one<2\", \"three; python_version < '3'\"]\n"));
    });
    subject.install("one", &[]);
    subject.install("two", &[]);
    subject.install("demo-netbox-sdk", &[]);
    let verified = subject.verify();
    let findings = verified.refused_by(&["environment.lock"]);
    assert_eq!(told(findings), [("one", "2.0, as uv.lock says", "1.0"), ("two", "only what uv.lock names", "1.0")]);
    assert!(findings[0].hint.contains("`uv sync --frozen --no-install-project`"));

    // Without a lock the requirements are still held against what is there.
    let subject = Subject::edited(|repo| {
        repo.write("pyproject.toml", format!("{PROJECT}dependencies = [\"one>=2\", \"four\"]\n"));
    });
    subject.install("one", &[]);
    subject.install("two", &[]);
    assert_eq!(
        told(subject.verify().refused_by(&["environment.lock"])),
        [
            ("one", "one>=2, as pyproject.toml requires", "1.0"),
            ("four", "four, as pyproject.toml requires", "not installed")
        ]
    );
    let unknown = Subject::edited(|repo| repo.write("uv.lock", "version = 7\n"));
    assert_eq!(unknown.verify().findings("environment.lock")[0].actual, "a lock of version 7");
}
