//! What is installed, held against what the commit says of it: its `uv.lock`, if it has one, and the requirements in its
//! `pyproject.toml` (PEP 508, PEP 621).

use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

use pep440_rs::Version;
use pep508_rs::{MarkerEnvironment, MarkerEnvironmentBuilder, PackageName, Requirement, VerbatimUrl, VersionOrUrl};
use serde::Deserialize;

use super::Distribution;
use crate::check::{Check, Finding, Ledger, limited};
use crate::graph::VerifiedGraph;

const LOCK: &str = "uv.lock";
const PROJECT: &str = "pyproject.toml";
const CURE: &str = "in the SDK's checkout: `uv sync --frozen --no-install-project`";

/// What makers of environments put there by themselves. No lock names them unless something requires them.
const SEEDED: &[&str] = &["pip", "setuptools", "wheel"];

/// `uv.lock`, version 1, as far as it matters here.
#[derive(Debug, Deserialize)]
struct File {
    version: u32,
    #[serde(default)]
    package: Vec<Locked>,
}

#[derive(Debug, Deserialize)]
struct Locked {
    name: PackageName,
    version: Option<Version>,
    #[serde(default)]
    wheels: Vec<Wheel>,
}

#[derive(Debug, Deserialize)]
struct Wheel {
    hash: Option<String>,
}

/// The wheels that a lock names: their SHA-256, hexadecimal, by distribution and version.
#[derive(Debug, Default)]
pub(super) struct Lock(BTreeMap<PackageName, BTreeMap<Version, BTreeSet<String>>>);

impl Lock {
    fn parse(text: &str) -> Result<Self, String> {
        let file: File = toml::from_str(text).map_err(|error| error.message().to_owned())?;
        if file.version != 1 {
            return Err(format!("a lock of version {}", file.version));
        }
        let mut lock = Lock::default();
        for Locked { name, version, wheels } in file.package {
            let versions = lock.0.entry(name).or_default();
            // A package without one is the project itself, or a folder beside it.
            let Some(version) = version else { continue };
            let digests = wheels.iter().filter_map(|wheel| wheel.hash.as_deref()?.strip_prefix("sha256:"));
            versions.entry(version).or_default().extend(digests.map(str::to_owned));
        }
        Ok(lock)
    }

    /// The wheels this distribution may have been installed from.
    pub(super) fn wheels(&self, installed: &Distribution) -> Option<&BTreeSet<String>> {
        self.0.get(&name(installed)?)?.get(&version(installed)?)
    }
}

fn name(installed: &Distribution) -> Option<PackageName> {
    PackageName::new(installed.name.clone()).ok()
}

fn version(installed: &Distribution) -> Option<Version> {
    Version::from_str(&installed.version).ok()
}

#[derive(Debug, Default, Deserialize)]
struct Project {
    #[serde(default)]
    project: Metadata,
}

#[derive(Debug, Default, Deserialize)]
struct Metadata {
    name: Option<PackageName>,
    #[serde(default)]
    dependencies: Vec<String>,
}

/// Records the check of the lock and the requirements. The lock, if there is one that could be read.
pub(super) fn verify(
    graph: &VerifiedGraph,
    python: &str,
    installed: &[Distribution],
    ledger: &mut Ledger,
) -> Option<Lock> {
    let mut findings = Vec::new();
    let mut read = |path: &'static str| -> Option<String> {
        let content = match graph.entry(path) {
            Ok(None) => return None,
            Ok(Some(entry)) => graph.blob(entry.id),
            Err(error) => Err(error),
        };
        match content {
            Ok(content) => Some(String::from_utf8_lossy(&content).into_owned()),
            Err(error) => {
                let hint = "run the gate again; if it stays, the file is larger than --limit-file-bytes";
                let finding = Finding::new(path, "a file that can be read", error.to_string(), hint);
                ledger.undecided(Check::EnvironmentLock, finding);
                None
            }
        }
    };
    let (lock, project) = (read(LOCK), read(PROJECT));
    let project: Project = match project.as_deref().map(toml::from_str).transpose() {
        Ok(project) => project.unwrap_or_default(),
        Err(error) => {
            let hint = "certify a commit whose pyproject.toml is valid (PEP 621)";
            findings.push(Finding::new(PROJECT, "a project's metadata", error.message(), hint));
            Project::default()
        }
    };
    findings.extend(unmet(&project.project.dependencies, python, installed));
    let lock = match lock.as_deref().map(Lock::parse).transpose() {
        Ok(lock) => lock,
        Err(why) => {
            let hint = "lock the commit with a released uv, or use a gate that reads this version";
            ledger.undecided(Check::EnvironmentLock, Finding::new(LOCK, "a lock of version 1", why, hint));
            None
        }
    };
    if let Some(lock) = &lock {
        findings.extend(unlocked(lock, project.project.name.as_ref(), installed));
    }
    ledger.record(Check::EnvironmentLock, limited(findings));
    lock
}

/// Distributions of another version than the lock's, or that it does not name. The SDK itself may be there in any: it is not loaded.
fn unlocked(lock: &Lock, own: Option<&PackageName>, installed: &[Distribution]) -> Vec<Finding> {
    let check = |found: &Distribution| {
        let subject = found.name.clone();
        let Some((name, version)) = name(found).zip(version(found)) else {
            let actual = format!("{} {}", found.name, found.version);
            return Some(Finding::new(subject, "a name and a version of a distribution", actual, CURE));
        };
        if Some(&name) == own {
            return None;
        }
        match lock.0.get(&name) {
            None if SEEDED.contains(&name.as_ref()) => None,
            None => Some(Finding::new(subject, format!("only what {LOCK} names"), found.version.clone(), CURE)),
            Some(versions) if versions.contains_key(&version) => None,
            Some(versions) => {
                let versions: Vec<_> = versions.keys().map(Version::to_string).collect();
                let expected = format!("{}, as {LOCK} says", versions.join(" or "));
                Some(Finding::new(subject, expected, found.version.clone(), CURE))
            }
        }
    };
    installed.iter().filter_map(check).collect()
}

/// Requirements that apply to this interpreter and are not met.
fn unmet(requirements: &[String], python: &str, installed: &[Distribution]) -> Vec<Finding> {
    let expected = |text: &str| format!("{text}, as {PROJECT} requires");
    let markers = markers(python);
    let check = |text: &String| {
        let requirement = match Requirement::<VerbatimUrl>::from_str(text) {
            Ok(requirement) => requirement,
            Err(error) => {
                let hint = "certify a commit whose requirements are valid (PEP 508)";
                return Some(Finding::new(PROJECT, "requirements", format!("{text:?}: {}", error.message), hint));
            }
        };
        // Without knowing the interpreter, every requirement applies.
        if markers.as_ref().is_some_and(|markers| !requirement.evaluate_markers(markers, &[])) {
            return None;
        }
        let subject = requirement.name.to_string();
        let Some(found) = installed.iter().find(|found| name(found).as_ref() == Some(&requirement.name)) else {
            return Some(Finding::new(subject, expected(text), "not installed", CURE));
        };
        let met = match &requirement.version_or_url {
            None | Some(VersionOrUrl::Url(_)) => true,
            Some(VersionOrUrl::VersionSpecifier(wanted)) => {
                version(found).is_some_and(|version| wanted.contains(&version))
            }
        };
        (!met).then(|| Finding::new(subject, expected(text), found.version.clone(), CURE))
    };
    requirements.iter().filter_map(check).collect()
}

/// The markers of CPython of this version on this machine.
fn markers(python: &str) -> Option<MarkerEnvironment> {
    let machine = rustix::system::uname();
    let text = |field: &std::ffi::CStr| field.to_string_lossy().into_owned();
    let minor = python.split('.').take(2).collect::<Vec<_>>().join(".");
    let builder = MarkerEnvironmentBuilder {
        implementation_name: "cpython",
        implementation_version: python,
        os_name: "posix",
        platform_machine: &text(machine.machine()),
        platform_python_implementation: "CPython",
        platform_release: &text(machine.release()),
        platform_system: &text(machine.sysname()),
        platform_version: &text(machine.version()),
        python_full_version: python,
        python_version: &minor,
        sys_platform: std::env::consts::OS,
    };
    builder.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn installed(name: &str, version: &str) -> Distribution {
        Distribution::for_tests(name, version)
    }

    fn told(findings: &[Finding]) -> Vec<(&str, &str, &str)> {
        findings.iter().map(|found| (&*found.subject, &*found.expected, &*found.actual)).collect()
    }

    #[test]
    fn what_is_installed_is_what_the_lock_names() {
        let lock = "version = 1\n[[package]]\nname = \"typing-extensions\"\nversion = \"4.15.0\"\n\
                    [[package]]\nname = \"a\"\nversion = \"1.0\"\n[[package]]\nname = \"a\"\nversion = \"2.0\"\n\
                    [[package]]\nname = \"sdk\"\nsource = { editable = \".\" }\n";
        let lock = Lock::parse(lock).unwrap();
        let own = PackageName::from_str("sdk").unwrap();
        let right = [installed("Typing_Extensions", "4.15"), installed("a", "2.0"), installed("pip", "9")];
        assert_eq!(unlocked(&lock, Some(&own), &right), []);
        let wrong = [installed("a", "3.0"), installed("b", "1"), installed("sdk", "0"), installed("c", "x!")];
        assert_eq!(
            told(&unlocked(&lock, Some(&own), &wrong)),
            [
                ("a", "1.0 or 2.0, as uv.lock says", "3.0"),
                ("b", "only what uv.lock names", "1"),
                ("c", "a name and a version of a distribution", "c x!"),
            ]
        );
        assert_eq!(Lock::parse("version = 2").unwrap_err(), "a lock of version 2");
        assert!(Lock::parse("version = 1\n[[package]]\n").is_err());
    }

    #[test]
    fn the_requirements_that_apply_are_met() {
        let installed = [installed("aiohttp", "3.14.5"), installed("pyyaml", "6.0")];
        let requirements = [
            "aiohttp>=3.13.4,<4",
            "PyYAML",
            "tomli; python_version < '3.11'",
            "pywin32; sys_platform == 'win32'",
            "aiohttp==3.14.4",
            "rich>=14",
            "mcp; python_full_version >= '3.11.7'",
            "?",
        ];
        assert_eq!(
            told(&unmet(&requirements.map(str::to_owned), "3.11.7", &installed))[..3],
            [
                ("aiohttp", "aiohttp==3.14.4, as pyproject.toml requires", "3.14.5"),
                ("rich", "rich>=14, as pyproject.toml requires", "not installed"),
                ("mcp", "mcp; python_full_version >= '3.11.7', as pyproject.toml requires", "not installed"),
            ]
        );
        assert_eq!(unmet(&["?".to_owned()], "3.11.7", &[])[0].subject, "pyproject.toml");
    }
}
