//! A released wheel or sdist, held against the committed package.
//!
//! What is proven is proven of the commit. This says whether what is published under its version is the same.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use pep508_rs::PackageName;
use schemars::JsonSchema;
use serde::Serialize;
use sha2::Digest;

use super::PackageFile;
use crate::archive::{ArchiveError, Format, members};
use crate::check::{Check, Finding, Ledger, limited};
use crate::contract::Contract;
use crate::digest::sha256;
use crate::fs::read_file;
use crate::identity::ReleaseVersion;
use crate::limits::Budget;
use crate::wheel::{parse_record, place, record_digest};

/// A file that is named as a wheel or an sdist is.
#[derive(Clone, Debug)]
pub struct ReleaseFile {
    path: PathBuf,
    name: String,
    form: Form,
}

impl ReleaseFile {
    /// # Errors
    /// The name is neither a wheel's nor an sdist's.
    pub fn new(path: PathBuf) -> Result<Self, &'static str> {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        let form = match name.as_str() {
            name if name.ends_with(".whl") => Form::Wheel,
            name if name.ends_with(".tar.gz") => Form::Sdist,
            _ => return Err("neither a wheel (.whl) nor an sdist (.tar.gz)"),
        };
        Ok(ReleaseFile { path, name, form })
    }

    /// As it was named.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its file name, without folders.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Which of the two it is.
    pub fn form(&self) -> Form {
        self.form
    }

    /// The distribution's name and version, as the file's name tells them.
    fn named(&self) -> Option<(&str, &str)> {
        match self.form {
            Form::Sdist => self.name.strip_suffix(".tar.gz")?.rsplit_once('-'),
            Form::Wheel => {
                let parts: Vec<_> = self.name.strip_suffix(".whl")?.split('-').collect();
                matches!(parts.len(), 5 | 6).then(|| (parts[0], parts[1]))
            }
            Form::NotGiven => None,
        }
    }
}

/// What the package was held against besides the working tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// Nothing: the release checks say nothing of a release.
    #[default]
    NotGiven,
    /// A wheel.
    Wheel,
    /// An sdist.
    Sdist,
}

impl Form {
    /// As the report has it.
    pub fn name(self) -> &'static str {
        match self {
            Form::NotGiven => "not-given",
            Form::Wheel => "wheel",
            Form::Sdist => "sdist",
        }
    }
}

/// The release artifact.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Release {
    /// Whether one was given, and which.
    pub artifact: Form,
    /// Its file name, without folders.
    pub name: Option<String>,
    /// SHA-256 of its bytes, once read.
    pub sha256: Option<String>,
    /// Its bytes, once read.
    pub size: Option<u64>,
}

const CURE: &str = "certify the commit that this artifact was built from, or do not release the artifact";

/// Records the three checks of the release artifact, and what was held against the commit.
pub(super) fn verify(
    file: Option<&ReleaseFile>,
    package: &[PackageFile],
    contract: &Contract,
    version: Option<&ReleaseVersion>,
    budget: &Budget,
    ledger: &mut Ledger,
) -> Release {
    let Some(file) = file else {
        for check in [Check::ReleaseArchive, Check::ReleasePackage, Check::ReleaseMetadata] {
            ledger.record(check, Vec::new());
        }
        return Release::default();
    };
    let mut release = Release { artifact: file.form, name: Some(file.name.clone()), ..Release::default() };
    match read(file, package, contract, budget, &mut release) {
        Ok(content) => {
            ledger.record(Check::ReleaseArchive, Vec::new());
            ledger.record(Check::ReleasePackage, limited(content.differences(package)));
            ledger.record(Check::ReleaseMetadata, limited(content.metadata(file, contract, version)));
        }
        Err(Unread::Odd(finding)) => ledger.record(Check::ReleaseArchive, vec![finding]),
        Err(Unread::Undecided(finding)) => ledger.undecided(Check::ReleaseArchive, finding),
    }
    release
}

/// Why there is nothing to compare.
enum Unread {
    /// The artifact is no archive that can be trusted.
    Odd(Finding),
    /// It could not be told.
    Undecided(Finding),
}

fn read<'a>(
    file: &ReleaseFile,
    package: &'a [PackageFile],
    contract: &'a Contract,
    budget: &Budget,
    release: &mut Release,
) -> Result<Content<'a>, Unread> {
    let undecided = |expected: String, actual: String, hint: &str| {
        Unread::Undecided(Finding::new(file.name.as_str(), expected, actual, hint))
    };
    let limit = budget.limits().package_bytes;
    let hint = "name the wheel or the sdist of the release, or leave out --release-artifact";
    let bytes = read_file(&file.path, limit).map_err(|error| undecided("a file".into(), error.to_string(), hint))?;
    if bytes.exceeds {
        let hint = "raise the bound with --limit-package-bytes if this size is intended";
        return Err(undecided(format!("at most {limit} bytes"), "more".into(), hint));
    }
    release.sha256 = Some(sha256(&bytes.bytes));
    release.size = Some(bytes.bytes.len() as u64);
    let mut content = Content::new(file.form, package, contract.package);
    let format = if file.form == Form::Wheel { Format::Zip } else { Format::TarGz };
    members(format, &bytes.bytes, budget, &mut |name, bytes| content.add(name, bytes)).map_err(|error| {
        let actual = error.to_string();
        let expected = "a plain archive: regular files, each there once, with relative names";
        match error {
            ArchiveError::Limit { limit, of, flag } => {
                let hint = format!("raise the bound with {flag} if this size is intended");
                undecided(format!("at most {limit} {of}"), "more".into(), &hint)
            }
            ArchiveError::Stop(_) => {
                let hint = "run the gate again, with more time if it ran out: --limit-seconds";
                undecided("every member read".into(), actual, hint)
            }
            ArchiveError::Broken(_) => Unread::Odd(Finding::new(file.name.as_str(), expected, actual, CURE)),
            ArchiveError::Odd { member, what } => {
                Unread::Odd(Finding::new(format!("{}: {member}", file.name), expected, what, CURE))
            }
        }
    })?;
    Ok(content)
}

/// What the members of an artifact came to.
struct Content<'a> {
    form: Form,
    package: &'a str,
    committed: BTreeMap<&'a str, &'a PackageFile>,
    /// Of an sdist: what its members lie in.
    tops: BTreeSet<String>,
    /// Each file's digest as a RECORD has it, by its name in the archive.
    digests: BTreeMap<String, String>,
    /// Files of the package: how often each was there, and whether it was always the commit's.
    found: BTreeMap<String, (u32, bool)>,
    /// Files that end up in a folder of the package's name by another way than import.
    stray: Vec<String>,
    /// The METADATA, RECORD and PKG-INFO files of the distribution, by name.
    own: BTreeMap<String, Vec<u8>>,
}

impl<'a> Content<'a> {
    fn new(form: Form, files: &'a [PackageFile], package: &'a str) -> Self {
        let committed = files.iter().map(|file| (file.path.as_str(), file)).collect();
        let (tops, digests, found, stray, own) = Default::default();
        Content { form, package, committed, tops, digests, found, stray, own }
    }

    fn add(&mut self, name: &str, bytes: &[u8]) {
        let place = if self.form == Form::Wheel {
            self.digests.insert(name.to_owned(), record_digest(&sha2::Sha256::digest(bytes).into()));
            place(name)
        } else {
            let (top, rest) = name.split_once('/').unwrap_or((name, ""));
            self.tops.insert(top.to_owned());
            Some(rest)
        };
        let Some(place) = place else {
            if name.split('/').any(|part| part == self.package) {
                self.stray.push(name.to_owned());
            }
            return;
        };
        if place.strip_prefix(self.package).is_some_and(|rest| rest.starts_with('/')) {
            let same = self.committed.get(place).is_some_and(|file| file.content[..] == *bytes);
            let (count, right) = self.found.entry(place.to_owned()).or_insert((0, true));
            (*count, *right) = (*count + 1, *right && same);
        }
        let metadata = match place.split_once('/') {
            Some((folder, "METADATA" | "RECORD")) => self.form == Form::Wheel && folder.ends_with(".dist-info"),
            _ => self.form == Form::Sdist && place == "PKG-INFO",
        };
        if metadata {
            self.own.insert(name.to_owned(), bytes.to_vec());
        }
    }

    /// Where the package is another than the commit's.
    fn differences(&self, package: &[PackageFile]) -> Vec<Finding> {
        let missing = package.iter().filter(|file| !self.found.contains_key(file.path.as_str()));
        let mut findings: Vec<_> = missing
            .map(|file| Finding::new(file.path.as_str(), "the commit's file", "not in the artifact", CURE))
            .collect();
        for (path, &(count, right)) in &self.found {
            let (expected, actual) = match (self.committed.contains_key(path.as_str()), count, right) {
                (false, ..) => ("only the commit's files", "one more"),
                (true, 1, true) => continue,
                (true, 1, false) => ("the commit's file", "other bytes"),
                (true, ..) => ("the commit's file once", "installed more than once"),
            };
            findings.push(Finding::new(path.as_str(), expected, actual, CURE));
        }
        let stray = |name: &String| Finding::new(name.as_str(), "only the commit's files", "one outside", CURE);
        findings.extend(self.stray.iter().map(stray));
        findings.sort_by(|one, other| one.subject.cmp(&other.subject));
        findings
    }

    /// Where names, versions and digests contradict each other or what was expected.
    fn metadata(&self, file: &ReleaseFile, contract: &Contract, version: Option<&ReleaseVersion>) -> Vec<Finding> {
        let mut findings = Vec::new();
        let mut wrong = |subject: &str, expected: &str, actual: &str| {
            findings.push(Finding::new(subject, expected, actual, CURE));
        };
        let is_own = |name: &str| is_same_name(name, contract.package);
        let is_expected =
            |found: &str| version.is_none_or(|version| version.as_str() == found || version.is_respelled_as(found));
        let identity = version.map_or(contract.package.to_owned(), |version| format!("{} {version}", contract.package));
        match file.named() {
            Some((name, version)) if is_own(name) && is_expected(version) => {}
            Some((name, version)) => wrong(&file.name, &identity, &format!("{name} {version}")),
            None => wrong(&file.name, &identity, "a name without them"),
        }
        let (info, folder) = if self.form == Form::Wheel { ("METADATA", ".dist-info") } else { ("PKG-INFO", "") };
        let mut infos = self.own.iter().filter(|(name, _)| name.ends_with(&format!("/{info}")));
        let (Some((path, text)), None) = (infos.next(), infos.next()) else {
            wrong(info, "one file of that name", "none, or more than one");
            return findings;
        };
        let top = path.split_once('/').map_or("", |(top, _)| top);
        match top.strip_suffix(folder).and_then(|stem| stem.rsplit_once('-')) {
            Some((name, version)) if is_own(name) && is_expected(version) => {}
            _ => wrong(top, &format!("a folder named after {identity}"), "another name"),
        }
        for (header, right) in [("Name", &is_own as &dyn Fn(&str) -> bool), ("Version", &is_expected)] {
            match &headers(text, header)[..] {
                [value] if right(value) => {}
                values => wrong(&format!("{path}: {header}"), &identity, &format!("{values:?}")),
            }
        }
        if self.form == Form::Sdist {
            for other in self.tops.iter().filter(|other| *other != top) {
                wrong(other, &format!("everything in {top}/"), "something beside it");
            }
            return findings;
        }
        let data = format!("{}.data", top.strip_suffix(folder).unwrap_or(top));
        let folders = self.digests.keys().filter_map(|name| Some(name.split_once('/')?.0));
        let folders: BTreeSet<_> = folders.filter(|folder| folder.ends_with(".data") && *folder != data).collect();
        folders.iter().for_each(|folder| wrong(folder, &data, "a data folder of another name"));
        match self.own.get(&format!("{top}/RECORD")).map(|bytes| parse_record(bytes)) {
            None => wrong(&format!("{top}/RECORD"), "a RECORD", "none"),
            Some(Err(why)) => wrong(&format!("{top}/RECORD"), "rows of path, digest and size", &why),
            Some(Ok(rows)) => self.recorded(top, &rows, &mut wrong),
        }
        findings
    }

    /// The RECORD lists every file once, with its digest; only itself and its signatures without.
    fn recorded(&self, top: &str, rows: &[(String, Option<String>)], wrong: &mut impl FnMut(&str, &str, &str)) {
        let signed = ["RECORD", "RECORD.jws", "RECORD.p7s"].map(|name| format!("{top}/{name}"));
        let mut rest: BTreeMap<_, _> = self.digests.iter().filter(|(name, _)| !signed.contains(name)).collect();
        let mut listed = BTreeSet::new();
        for (path, digest) in rows {
            if !listed.insert(path) {
                wrong(path, "one row in RECORD", "more than one");
            } else if let Some(found) = rest.remove(path) {
                let expected = digest.as_ref().map_or("a digest in RECORD".into(), |digest| format!("sha256={digest}"));
                if digest.as_ref() != Some(found) {
                    wrong(path, &expected, &format!("sha256={found}"));
                }
            } else if !signed.contains(path) {
                wrong(path, "the file that RECORD lists", "not in the artifact");
            }
        }
        rest.into_keys().for_each(|path| wrong(path, "a row in RECORD", "none"));
    }
}

/// Two spellings of one distribution's name (PEP 503).
fn is_same_name(one: &str, other: &str) -> bool {
    PackageName::from_str(one).is_ok_and(|one| PackageName::from_str(other).is_ok_and(|other| one == other))
}

/// The values of one header of core metadata, whose names have no case.
fn headers<'a>(text: &'a [u8], name: &str) -> Vec<&'a str> {
    let text = std::str::from_utf8(text).unwrap_or_default();
    let lines = text.lines().take_while(|line| !line.is_empty());
    let pairs = lines.filter_map(|line| line.split_once(':'));
    pairs.filter(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_name_tells_form_name_and_version() {
        let named = |name: &str| {
            let file = ReleaseFile::new(PathBuf::from("/a").join(name)).unwrap();
            (file.form, file.named().map(|(name, version)| (name.to_owned(), version.to_owned())))
        };
        let pair = |name: &str, version: &str| Some((name.to_owned(), version.to_owned()));
        assert_eq!(named("netbox_sdk-0.0.13-py3-none-any.whl"), (Form::Wheel, pair("netbox_sdk", "0.0.13")));
        assert_eq!(named("a-1-2-py3-none-any.whl"), (Form::Wheel, pair("a", "1")));
        assert_eq!(named("netbox-sdk-0.0.13.tar.gz"), (Form::Sdist, pair("netbox-sdk", "0.0.13")));
        assert_eq!((named("a.whl"), named("a.tar.gz")), ((Form::Wheel, None), (Form::Sdist, None)));
        assert!(ReleaseFile::new("a.zip".into()).is_err() && ReleaseFile::new("/".into()).is_err());
    }

    #[test]
    fn headers_end_at_the_first_empty_line() {
        let text = b"Metadata-Version: 2.1\nname: a\nVersion: 1\n Name: folded\n\nName: prose\n";
        assert_eq!(headers(text, "Name"), ["a"]);
        assert_eq!(headers(text, "Version"), ["1"]);
        assert!(headers(b"Name: \xff\n", "Name").is_empty());
        assert!(is_same_name("NetBox.sdk", "netbox_sdk") && !is_same_name("netbox", "netbox_sdk"));
    }
}
