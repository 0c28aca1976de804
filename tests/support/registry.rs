//! The real subjects: published releases, fetched by name with pip, made into the repositories and environments the gate judges.
//!
//! Everything lands in one cache below the target folder and is made once, whichever test process comes first. The digests
//! below are those of the published files: with fixed names and dates they make every commit id the same on every machine.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use paired_sdk_gate::digest::sha256;
use tempfile::TempDir;

use super::git::{Repo, git_command};

/// One published netbox-sdk release, the digests of its files, and the commit that the recipe below makes of it.
struct Release {
    version: &'static str,
    sdist_sha256: &'static str,
    wheel_sha256: &'static str,
    commit: &'static str,
}

const RELEASES: [Release; 4] = [
    Release {
        version: "0.0.10",
        sdist_sha256: "a1107dd30afcdbd80ac6b280194df718b77109d8ba4a2c739944c68e1db7bd2a",
        wheel_sha256: "f43225502acc399ac2abe44163f93237e2e5ad2b5dd77847a0ee2367d5e2d914",
        commit: "508a5281ca1a479806a82076428bd192c6b1f3c3",
    },
    Release {
        version: "0.0.11",
        sdist_sha256: "caa3f4ddb3b2f2f2f374769597970e28207d283fdaa1d7d7252dd95fe4ed1006",
        wheel_sha256: "cfc5d02cd946876a5b45b1560ae05e67190048bdad3bcd128180d49ca2094c41",
        commit: "cd92459673ba724c006f02ce665e78b15a37a24b",
    },
    Release {
        version: "0.0.12",
        sdist_sha256: "3a568acf5020d8f50a0890682fa066c8ee3433649aa5ecad8bdf403a67ba98a9",
        wheel_sha256: "6f1f3b9d1640f29eb0b68d3cbcce92c4e433d36b42cd41f2d20ac77f90f857e5",
        commit: "85b2b839386a695f0442d24dcd24dea740df2511",
    },
    Release {
        version: "0.0.13",
        sdist_sha256: "9447bf536185d28eb687510cf7cbb4cfdd567c63917761e35fdec59a00b0cf39",
        wheel_sha256: "f4f9a52a87ddbd3bb0399ae0cc6162875c2b7b96234fea31a813aa6b5737ce7b",
        commit: "edad23ab186d5ad5475440690eccc29d49824b8a",
    },
];

/// The producer's release: its sdist carries the Python reference gate and the blocked record.
const PRODUCER: (&str, &str) = ("0.0.29.post6", "0df84166cb2a355c640c2b91b955b4ba94e2410fecd1c9ca82acdbf5797b4cb8");

/// The release of a JSON Schema library whose sdist carries the public test suite.
const SUITE: (&str, &str) = ("4.26.0", "0c26707e2efad8aa1bfc5b7ce170f3fccc2e4918ff85989ba9ffa9facb2be326");

/// A change of the recipe must not meet what an earlier one left in the cache.
const CACHE: &str = "subjects-1";

/// A git checkout of one release.
pub struct Subject {
    /// The top of the working tree.
    pub repo: PathBuf,
    /// Its HEAD, the only commit.
    pub commit: String,
    /// The version it declares.
    pub version: &'static str,
}

impl Subject {
    /// A checkout of its own, below [`scratch`], for a test that changes something. Its git directory is a copy; the files of
    /// its working tree are shared with the original, so they must be replaced and never written into ([`Repo::put`] does).
    pub fn copy_to(&self, target: &Path) -> Repo {
        link_tree(&self.repo, target);
        // git appends to some of its files.
        let git = target.join(".git");
        fs::remove_dir_all(&git).unwrap();
        run(Command::new("cp").arg("--recursive").arg(self.repo.join(".git")).arg(&git));
        Repo::open(target)
    }
}

/// A folder for one test, on the file system of the cache: what is copied from there can share its files.
pub fn scratch() -> TempDir {
    TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// An environment of its own, below [`scratch`], whose files are shared with the original: to be replaced or added to.
pub fn copy_environment(version: &str, target: &Path) {
    link_tree(&environment(version), target);
}

/// Where everything is kept.
pub fn cache() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(CACHE)
}

/// The checkout of one release. Every test shares it: look, do not touch; [`Subject::copy_to`] is there for the rest.
pub fn subject(version: &str) -> Subject {
    let release = release(version);
    let repo = once(&format!("sdk-{version}"), |dir| {
        let sdist = fetch("netbox-sdk", version, Kind::Sdist, release.sdist_sha256, dir);
        unpack(&sdist, dir);
        let repo = Repo::init(dir.join("repo"));
        assert_eq!(
            repo.commit_all(&format!("netbox-sdk {version}")),
            release.commit,
            "the recipe is not deterministic"
        );
    });
    Subject { repo: repo.join("repo"), commit: release.commit.to_owned(), version: release.version }
}

/// A virtual environment with what the release's wheel requires, and without the SDK itself. Releases that require the same
/// share one; nobody may change it.
pub fn environment(version: &str) -> PathBuf {
    environment_with(version, &[])
}

/// The same with what some extras of the release require, too.
pub fn environment_with(version: &str, extras: &[&str]) -> PathBuf {
    let release = release(version);
    let wheel = once(&format!("wheel-{version}"), |dir| {
        let wheel = fetch("netbox-sdk", version, Kind::Wheel, release.wheel_sha256, dir);
        run(Command::new("python3").args(["-m", "zipfile", "-e"]).arg(&wheel).arg(dir));
    });
    let metadata = fs::read_to_string(wheel.join(format!("netbox_sdk-{version}.dist-info/METADATA"))).unwrap();
    let requirements = requirements(&metadata, extras);
    let digest = sha256(requirements.join("\n").as_bytes());
    once(&format!("venv-{}", &digest[..12]), |dir| {
        // Without pip inside: only what the SDK asked for is there to be loaded.
        run(Command::new("python3").args(["-m", "venv", "--without-pip"]).arg(dir));
        let python = dir.join("bin/python");
        pip(Command::new("python3").args(["-m", "pip", "--python"]).arg(python).arg("install").args(&requirements));
    })
}

/// An environment with `uv` and `virtualenv`, the other makers of environments.
pub fn makers() -> PathBuf {
    tools(&["uv", "virtualenv"])
}

/// A virtual environment with some packages, for a test that asks somebody else's opinion.
pub fn tools(requirements: &[&str]) -> PathBuf {
    let digest = sha256(requirements.join("\n").as_bytes());
    once(&format!("tools-{}", &digest[..12]), |dir| {
        run(Command::new("python3").args(["-m", "venv", "--without-pip"]).arg(dir));
        let python = dir.join("bin/python");
        pip(Command::new("python3").args(["-m", "pip", "--python"]).arg(python).arg("install").args(requirements));
    })
}

/// The producer's sdist, unpacked.
pub fn producer() -> PathBuf {
    let (version, sha256) = PRODUCER;
    let dir = once(&format!("producer-{version}"), |dir| {
        unpack(&fetch("netbox-proxbox", version, Kind::Sdist, sha256, dir), dir);
    });
    dir.join("repo")
}

/// An environment in which the producer's serializers run, without NetBox.
pub fn producer_environment() -> PathBuf {
    once("producer-environment-1", |dir| {
        run(Command::new("python3").args(["-m", "venv", "--without-pip"]).arg(dir));
        let python = dir.join("bin/python");
        let versions = ["Django==5.2.19", "djangorestframework==3.16.1"];
        pip(Command::new("python3").args(["-m", "pip", "--python"]).arg(python).arg("install").args(versions));
    })
}

/// The public JSON-Schema-Test-Suite, as an sdist carries it: a folder of files for draft 2020-12.
pub fn schema_suite() -> PathBuf {
    let (version, sha256) = SUITE;
    let dir = once(&format!("suite-{version}"), |dir| {
        unpack(&fetch("jsonschema", version, Kind::Sdist, sha256, dir), dir);
    });
    dir.join("repo/json/tests/draft2020-12")
}

/// The blocked activation record, as the producer published it.
pub fn blocked_record() -> PathBuf {
    producer().join("tests/fixtures/netbox_sdk_bridge_activation.json")
}

/// Runs the Python reference gate. It starts `/usr/bin/git`, which refuses a checkout owned by another user; ours are made by
/// the user who runs the tests.
pub fn reference(subject: &Subject, environment: &Path) -> Output {
    let gate = producer().join("tests/validate_paired_netbox_sdk_bridge.py");
    let mut command = Command::new(environment.join("bin/python"));
    command.arg("-I").arg(gate).arg("--sdk-root").arg(&subject.repo);
    command.args(["--expected-commit", &subject.commit, "--expected-version", subject.version]);
    command.arg("--expected-environment-root").arg(environment);
    command.args(["--expected-module-origin", "netbox_sdk/plugin_bridge.py"]);
    command.output().unwrap()
}

/// The unconditional requirements of a wheel's metadata, in its order, and those of these extras; those of others are left out.
fn requirements(metadata: &str, extras: &[&str]) -> Vec<String> {
    let headers = metadata.lines().take_while(|line| !line.is_empty());
    let required = headers.filter_map(|line| line.strip_prefix("Requires-Dist: "));
    let wanted = |requirement: &str| match requirement.split_once("; extra == ") {
        Some((wanted, extra)) => extras.contains(&extra.trim_matches('"')).then(|| wanted.to_owned()),
        None => Some(requirement.to_owned()),
    };
    required.filter_map(wanted).collect()
}

fn release(version: &str) -> &'static Release {
    RELEASES.iter().find(|release| release.version == version).expect("a release of the table")
}

/// Makes the folder `name` of the cache unless it is there already. Test processes wait for each other at a lock file; a stamp
/// written last tells a finished folder from what a killed test left.
fn once(name: &str, make: impl FnOnce(&Path)) -> PathBuf {
    let (dir, stamp) = (cache().join(name), cache().join(format!("{name}.done")));
    fs::create_dir_all(cache()).unwrap();
    let lock = File::create(cache().join(format!("{name}.lock"))).unwrap();
    lock.lock().unwrap();
    if !stamp.exists() {
        if dir.exists() {
            fs::remove_dir_all(&dir).unwrap();
        }
        fs::create_dir(&dir).unwrap();
        make(&dir);
        fs::write(stamp, "").unwrap();
    }
    dir
}

#[derive(Clone, Copy)]
enum Kind {
    Sdist,
    Wheel,
}

/// Downloads one file of one release into `dir`, and nothing it depends on.
fn fetch(package: &str, version: &str, kind: Kind, sha256_expected: &str, dir: &Path) -> PathBuf {
    let files = dir.join("files");
    let mut command = Command::new("python3");
    // The producer wants a newer Python than some of the machines have; its files are only read.
    command.args(["-m", "pip", "download", "--no-deps", "--ignore-requires-python"]);
    command.args([if matches!(kind, Kind::Sdist) { "--no-binary" } else { "--only-binary" }, package]);
    pip(command.arg("--dest").arg(&files).arg(format!("{package}=={version}")));
    let [file] = &entries(&files)[..] else { panic!("pip left more than one file in {}", files.display()) };
    let found = sha256(&fs::read(file).unwrap());
    assert_eq!(found, sha256_expected, "{package} {version} is not the published file");
    file.clone()
}

/// Unpacks an sdist; its single top folder becomes `dir/repo`.
fn unpack(sdist: &Path, dir: &Path) {
    let unpacked = dir.join("unpacked");
    fs::create_dir(&unpacked).unwrap();
    run(Command::new("tar").arg("-xzf").arg(sdist).arg("--no-same-owner").arg("-C").arg(&unpacked));
    let [top] = &entries(&unpacked)[..] else { panic!("an sdist has one top folder") };
    fs::rename(top, dir.join("repo")).unwrap();
    fs::remove_dir(unpacked).unwrap();
}

/// Asks the registry, and asks again: pip itself repeats what was refused, but not what broke off in the middle.
#[track_caller]
fn pip(command: &mut Command) {
    command.env("PIP_DISABLE_PIP_VERSION_CHECK", "1");
    let mut output = command.output().unwrap();
    for _ in 0..2 {
        if !output.status.success() {
            output = command.output().unwrap();
        }
    }
    assert!(
        output.status.success(),
        "pip could not provision a real release, which needs the package registry.\n\
         Without a network, leave these tests out: cargo nextest run --locked --features offline\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Runs a command that has to succeed.
#[track_caller]
pub fn run(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn entries(dir: &Path) -> Vec<PathBuf> {
    fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect()
}

fn link_tree(from: &Path, to: &Path) {
    run(Command::new("cp").args(["--recursive", "--link", "--no-target-directory"]).arg(from).arg(to));
}

/// The benchmark reads where things are from here. What it measures has to be what the tests run on.
#[test]
fn the_latest_release_is_provisioned_for_the_benchmark() {
    let version = "0.0.13";
    let (subject, venv, producer) = (subject(version), environment(version), producer());
    let git = |arguments: &[&str]| {
        let output = git_command(&subject.repo).args(arguments).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(git(&["rev-parse", "HEAD"]).trim_end(), subject.commit);
    assert_eq!(
        git(&["--no-optional-locks", "status", "--porcelain", "--ignored"]),
        "",
        "some test wrote into the shared checkout"
    );

    let find =
        "import importlib.util as u, sys; print([u.find_spec(n) and u.find_spec(n).origin for n in sys.argv[1:]])";
    let modules = ["jsonschema", "pydantic", "netbox_sdk", "pip"];
    let found = Command::new(venv.join("bin/python")).args(["-I", "-c", find]).args(modules).output().unwrap();
    let python = fs::read_dir(venv.join("lib")).unwrap().next().unwrap().unwrap().path().join("site-packages");
    let inside = |module| format!("'{}'", python.join(module).join("__init__.py").display());
    let expected = format!("[{}, {}, None, None]", inside("jsonschema"), inside("pydantic"));
    assert_eq!(String::from_utf8(found.stdout).unwrap().trim_end(), expected);

    let places =
        serde_json::json!({ "sdk_root": subject.repo, "version": version, "venv": venv, "producer": producer });
    fs::write(cache().join("benchmark.json"), places.to_string()).unwrap();
}

#[test]
fn only_unconditional_requirements_of_the_headers_count() {
    let metadata = "Name: x\nRequires-Dist: a>=1\nRequires-Dist: b; extra == \"e\"\nRequires-Dist: c<5,>=4\n\nRequires-Dist: prose\n";
    assert_eq!(requirements(metadata, &[]), ["a>=1", "c<5,>=4"]);
    assert_eq!(requirements(metadata, &["e"]), ["a>=1", "b", "c<5,>=4"]);
}
