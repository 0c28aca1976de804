//! The virtual environment that lends the probe its interpreter and the SDK's dependencies.
//!
//! Looked at from outside: nothing of it runs here. What only a running interpreter can tell is asked by the probe.

mod installed;
mod lock;
mod wheels;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::check::{Check, Finding, Halt, Ledger, Stage};
use crate::digest::sha256;
use crate::fs::{FileError, read_file};
use crate::graph::VerifiedGraph;
use crate::identity::ExpectedIdentity;
use crate::limits::Budget;
use crate::snapshot::Snapshot;

pub use installed::{Distribution, Evidence};

/// The oldest CPython the gate runs: 3.11 is the first with `-P` and a frozen standard-library start-up.
pub const OLDEST_PYTHON: (u32, u32) = (3, 11);

/// `pyvenv.cfg` and `METADATA`-sized files are far below this.
const SMALL_FILE: u64 = 1 << 20;
/// An interpreter with everything linked in is far below this.
const INTERPRETER: u64 = 512 << 20;

/// A virtual environment that passed every check of its stage.
#[derive(Debug)]
pub struct Environment {
    expected: PathBuf,
    root: PathBuf,
    interpreter: PathBuf,
    interpreter_sha256: String,
    /// The installations that the interpreter's own files may be in, without links.
    bases: Vec<PathBuf>,
    python: (u32, u32),
    /// The same with all that `pyvenv.cfg` says.
    python_full: String,
    site: Vec<PathBuf>,
    distributions: Vec<Distribution>,
}

impl Environment {
    /// The root, absolute and without links.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// `bin/python` below the root, not resolved: an environment is entered by that path.
    pub fn interpreter(&self) -> &Path {
        &self.interpreter
    }

    /// The folders that the interpreter needs to run in this environment, its system's libraries left out: itself, its standard
    /// library, and what is installed here.
    pub(crate) fn readable(&self) -> Vec<PathBuf> {
        let of = |base: &PathBuf| ["bin", "lib", "lib64"].map(|name| base.join(name));
        self.bases.iter().flat_map(of).chain([self.root.clone()]).collect()
    }

    /// SHA-256 of the binary `bin/python` leads to, hexadecimal.
    pub fn interpreter_sha256(&self) -> &str {
        &self.interpreter_sha256
    }

    /// The minor version `pyvenv.cfg` names.
    pub fn python(&self) -> (u32, u32) {
        self.python
    }

    /// The site-packages folders, absolute, in import order.
    pub fn site(&self) -> &[PathBuf] {
        &self.site
    }

    /// What is installed, sorted by name.
    pub fn distributions(&self) -> &[Distribution] {
        &self.distributions
    }
}

/// What a look at an environment came to. It needs nothing of the SDK, so it can be had while git is verified.
#[derive(Debug)]
pub struct Examination {
    environment: Option<Arc<Environment>>,
    ledger: Ledger,
}

impl Examination {
    /// The environment, if every check of its stage passed.
    pub fn environment(&self) -> Option<&Arc<Environment>> {
        self.environment.as_ref()
    }
}

/// A virtual environment fit to run the probe, and the package it will run.
#[derive(Debug)]
pub struct LockedEnvironment {
    snapshot: Snapshot,
    identity: ExpectedIdentity,
    environment: Arc<Environment>,
    distributions: Vec<Distribution>,
}

impl LockedEnvironment {
    /// The private copy the probe imports.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// The whole identity, whose commit and version the private copy has.
    pub fn identity(&self) -> &ExpectedIdentity {
        &self.identity
    }

    /// What is installed in it, sorted by name, with what the commit says of it.
    pub fn distributions(&self) -> &[Distribution] {
        &self.distributions
    }

    /// The environment itself.
    pub fn environment(&self) -> &Arc<Environment> {
        &self.environment
    }
}

/// Joins the private copy with the environment that was examined for this identity, and holds what is installed against the commit's
/// lock and, where they lie in `wheelhouse`, the wheels that the lock names.
///
/// # Errors
/// [`Halt`] unless every check of the environment stage passed.
pub fn verify(
    snapshot: Snapshot,
    examination: Examination,
    identity: &ExpectedIdentity,
    wheelhouse: Option<&Path>,
    ledger: &mut Ledger,
) -> Result<LockedEnvironment, Halt> {
    let Examination { environment, ledger: examined } = examination;
    ledger.adopt(Stage::Environment, examined);
    // What was made for anything else must not lend its proof to this identity.
    let copied = snapshot.graph().commit() == identity.commit() && snapshot.version() == Some(identity.version());
    if !copied || environment.as_ref().is_some_and(|found| found.expected != identity.environment_root()) {
        let actual = "a copy or an environment of another identity";
        let finding = Finding::new("private copy", identity.commit().to_string(), actual, "report this as a bug");
        return Err(ledger.give_up(Check::EnvironmentRoot, finding));
    }
    let (environment, distributions) = lock(snapshot.graph(), environment, wheelhouse, ledger)?;
    Ok(LockedEnvironment { snapshot, identity: identity.clone(), environment, distributions })
}

/// What [`verify`] decides, without a private copy; without a graph, what was examined.
///
/// # Errors
/// [`Halt`] unless every check of the environment stage passed.
pub fn preflight(
    graph: Option<&VerifiedGraph>,
    examination: Examination,
    wheelhouse: Option<&Path>,
    ledger: &mut Ledger,
) -> Result<(), Halt> {
    ledger.adopt(Stage::Environment, examination.ledger);
    match graph {
        Some(graph) => lock(graph, examination.environment, wheelhouse, ledger).map(|_| ()),
        None => ledger.close(Stage::Environment),
    }
}

/// Holds what was examined against the commit and closes the stage.
fn lock(
    graph: &VerifiedGraph,
    environment: Option<Arc<Environment>>,
    wheelhouse: Option<&Path>,
    ledger: &mut Ledger,
) -> Result<(Arc<Environment>, Vec<Distribution>), Halt> {
    ledger.require(EXAMINED)?;
    let environment = environment.ok_or_else(|| {
        let finding = Finding::new("environment root", "an environment", "none", "report this as a bug");
        ledger.give_up(Check::EnvironmentRoot, finding)
    })?;
    let mut distributions = environment.distributions.clone();
    let lock = lock::verify(graph, &environment.python_full, &distributions, ledger);
    wheels::verify(wheelhouse, lock.as_ref(), &mut distributions, ledger);
    ledger.close(Stage::Environment)?;
    Ok((environment, distributions))
}

/// The checks of this stage that need nothing of the commit.
const EXAMINED: &[Check] =
    &[Check::EnvironmentRoot, Check::EnvironmentInterpreter, Check::EnvironmentRecords, Check::EnvironmentOwned];

/// Examines the environment at that root. Nothing of it is run.
pub fn examine(root: &Path, budget: &Budget) -> Examination {
    let mut ledger = Ledger::new();
    let environment = look(root, budget, &mut ledger).ok().map(Arc::new);
    Examination { environment, ledger }
}

fn look(expected: &Path, budget: &Budget, ledger: &mut Ledger) -> Result<Environment, Halt> {
    let cure = Cure(expected);
    let (root, config) = open(expected).map_err(|error| {
        let finding = |actual| Finding::new("environment root", "a virtual environment", actual, cure.to_string());
        if error.is_not_found() && expected.is_dir() {
            ledger.refuse(Check::EnvironmentRoot, finding("a folder without pyvenv.cfg".into()))
        } else {
            ledger.give_up(Check::EnvironmentRoot, finding(error.to_string()))
        }
    })?;

    let mut findings = Vec::new();
    match config.get("include-system-site-packages").map(String::as_str) {
        Some("false") => {}
        other => findings.push(Finding::new(
            "pyvenv.cfg",
            "include-system-site-packages = false",
            other.map_or("no such line".into(), |value| format!("include-system-site-packages = {value}")),
            cure.to_string(),
        )),
    }
    let python = python_version(&config);
    let site = python.map(|python| site_folders(&root, python)).unwrap_or_default();
    if python.is_some() && site.is_empty() {
        let (major, minor) = python.unwrap_or_default();
        let subject = format!("lib/python{major}.{minor}/site-packages");
        findings.push(Finding::new(subject, "a folder", "no such folder", cure.to_string()));
    }
    ledger.record(Check::EnvironmentRoot, findings);

    let interpreter = root.join("bin/python");
    let (binary, interpreter_sha256) = record_interpreter(&interpreter, &config, python, &cure, ledger)?;
    // `bin/python3.11` lies in `bin` of the installation it belongs to, or is a copy of what is there; pyvenv.cfg names that folder.
    let home = config.get("home").and_then(|home| Path::new(home).canonicalize().ok());
    let installation = |bin: &Path| bin.parent().map(Path::to_owned);
    let bases = [binary.parent().and_then(installation), home.as_deref().and_then(installation)];
    let bases = bases.into_iter().flatten().collect();
    let distributions = installed::verify(&root, &site, &cure.to_string(), budget, ledger);
    ledger.require(EXAMINED)?;
    let python_full = python_full_version(&config).unwrap_or_default();
    let python = python.unwrap_or_default();
    let expected = expected.to_owned();
    Ok(Environment { expected, root, interpreter, interpreter_sha256, bases, python, python_full, site, distributions })
}

/// The commands that make a right environment.
struct Cure<'a>(&'a Path);

impl std::fmt::Display for Cure<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let root = self.0.display();
        write!(f, "in the SDK's checkout: `UV_PROJECT_ENVIRONMENT={root} uv sync --frozen --no-install-project`, ")?;
        write!(f, "or `python3 -m venv {root}` and install the SDK's requirements with its pip")
    }
}

type Config = BTreeMap<String, String>;

fn open(expected: &Path) -> Result<(PathBuf, Config), FileError> {
    let root = expected.canonicalize().map_err(FileError::new("find the folder", expected))?;
    let config = read_file(&root.join("pyvenv.cfg"), SMALL_FILE)?;
    Ok((root, parse_config(&String::from_utf8_lossy(&config.bytes))))
}

/// `key = value` lines, as CPython's `getpath` and `site` read them: keys are lower-cased, both sides trimmed, the last one wins.
fn parse_config(text: &str) -> Config {
    let pair = |line: &str| {
        let (key, value) = line.split_once('=')?;
        Some((key.trim().to_ascii_lowercase(), value.trim().to_owned()))
    };
    text.lines().filter_map(pair).collect()
}

/// `version` (venv, `3.11.7`) or `version_info` (virtualenv and uv, `3.11.7` or `3.11.7.final.0`).
fn python_version(config: &Config) -> Option<(u32, u32)> {
    let text = python_full_version(config)?;
    let mut parts = text.split('.').map(|part| part.parse().ok());
    Some((parts.next()??, parts.next()??))
}

/// The same with the patch release.
fn python_full_version(config: &Config) -> Option<String> {
    let text = config.get("version_info").or_else(|| config.get("version"))?;
    Some(text.split('.').take(3).collect::<Vec<_>>().join("."))
}

fn record_interpreter(
    interpreter: &Path,
    config: &Config,
    python: Option<(u32, u32)>,
    cure: &Cure<'_>,
    ledger: &mut Ledger,
) -> Result<(PathBuf, String), Halt> {
    let mut findings = Vec::new();
    let (major, minor) = OLDEST_PYTHON;
    let wanted = format!("CPython {major}.{minor} or later");
    let implementation = config.get("implementation");
    if implementation.is_some_and(|name| name != "CPython") || python.is_none_or(|python| python < OLDEST_PYTHON) {
        let actual = match (implementation, python) {
            (_, None) => "pyvenv.cfg names no version".to_owned(),
            (name, Some((major, minor))) => format!("{} {major}.{minor}", name.map_or("Python", |name| name.as_str())),
        };
        findings.push(Finding::new("pyvenv.cfg", wanted, actual, cure.to_string()));
    }
    // The link is followed on purpose: a virtual environment's python usually is one.
    let binary = interpreter
        .canonicalize()
        .map_err(FileError::new("find the interpreter", interpreter))
        .and_then(|path| Ok((read_file(&path, INTERPRETER)?, path)));
    let (binary, path) = binary.map_err(|error| {
        let finding = Finding::new("bin/python", "an interpreter", error.to_string(), cure.to_string());
        ledger.give_up(Check::EnvironmentInterpreter, finding)
    })?;
    if !binary.executable {
        let actual = "a file that may not be executed";
        findings.push(Finding::new("bin/python", "an executable file", actual, cure.to_string()));
    }
    ledger.record(Check::EnvironmentInterpreter, findings);
    Ok((path, sha256(&binary.bytes)))
}

/// `lib/pythonX.Y/site-packages`, and the same below `lib64` where that is a folder of its own and not a link to `lib`.
fn site_folders(root: &Path, (major, minor): (u32, u32)) -> Vec<PathBuf> {
    let folder = |lib: &str| root.join(lib).join(format!("python{major}.{minor}/site-packages"));
    let real = |folder: &PathBuf| folder.canonicalize().is_ok_and(|real| real == *folder && real.is_dir());
    ["lib", "lib64"].map(folder).into_iter().filter(real).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_three_makers_of_environments_are_read() {
        let venv = "home = /usr/bin\ninclude-system-site-packages = false\nversion = 3.11.7\n";
        let virtualenv = "home = /usr/bin\nimplementation = CPython\nversion_info = 3.12.1.final.0\nversion = 3.12.1\n";
        let uv = "home=/usr/bin\nimplementation = CPython\nuv = 0.9\nversion_info = 3.13.0\nInclude-System-Site-Packages = false";
        assert_eq!(python_version(&parse_config(venv)), Some((3, 11)));
        assert_eq!(python_version(&parse_config(virtualenv)), Some((3, 12)));
        assert_eq!(python_version(&parse_config(uv)), Some((3, 13)));
        assert_eq!(parse_config(uv)["include-system-site-packages"], "false");
        assert_eq!(python_version(&parse_config("version = three")), None);
        assert_eq!(python_version(&parse_config("version = 3")), None);
    }

    proptest! {
        #[test]
        fn any_text_is_read_as_pairs(text in "\\PC{0,80}") {
            let config = parse_config(&text);
            let _ = python_version(&config);
            prop_assert!(config.keys().all(|key| key.trim() == key));
        }
    }
}
