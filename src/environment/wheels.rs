//! The chain from the commit to an installed file: the commit's `uv.lock` names the SHA-256 of a wheel, the wheel's RECORD the SHA-256
//! of each of its files, and the installed RECORD has to say the same.

use std::collections::BTreeMap;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

use super::installed::{Distribution, Evidence, is_cached_bytecode};
use super::lock::Lock;
use crate::check::{Check, Finding, Ledger, limited};
use crate::digest::hex;
use crate::fs::{FileError, read_file, sha256_file};
use crate::parallel;
use crate::wheel::{Listed, parse_record, place};

/// Bytes of the largest wheel that is read.
const LARGEST: u64 = 1 << 30;
/// Bytes of the largest RECORD that is unpacked.
const LARGEST_RECORD: u64 = 64 << 20;

const CURE: &str =
    "install from the wheels that the commit's uv.lock names: `uv sync --frozen --no-install-project --reinstall`";

/// Records the check of the wheels, and marks what is anchored in the commit.
pub(super) fn verify(
    wheelhouse: Option<&Path>,
    lock: Option<&Lock>,
    installed: &mut [Distribution],
    ledger: &mut Ledger,
) {
    let Some(wheelhouse) = wheelhouse else {
        return ledger.record(Check::EnvironmentWheels, Vec::new());
    };
    let wheels = match find(wheelhouse) {
        Ok(wheels) => wheels,
        Err(error) => {
            let hint = "name a folder with the wheels, or leave out --wheelhouse";
            let finding = Finding::new("wheelhouse", "a folder of wheels", error.to_string(), hint);
            return ledger.undecided(Check::EnvironmentWheels, finding);
        }
    };
    // A folder that was named has to be there, also where no lock names what to look for in it.
    let Some(lock) = lock else {
        return ledger.record(Check::EnvironmentWheels, Vec::new());
    };
    let mut findings = Vec::new();
    for distribution in installed {
        let Some(digests) = lock.wheels(distribution) else { continue };
        let Some(wheel) = digests.iter().find_map(|digest| wheels.get(digest)) else { continue };
        let differences = differences(wheel, &distribution.rows);
        if differences.is_empty() {
            distribution.record = Evidence::Anchored;
        }
        findings.extend(differences.into_iter().map(|(file, expected, actual)| {
            Finding::new(format!("{} {}: {file}", distribution.name, distribution.version), expected, actual, CURE)
        }));
    }
    ledger.record(Check::EnvironmentWheels, limited(findings));
}

/// The wheels of a folder by their digest.
fn find(folder: &Path) -> Result<BTreeMap<String, PathBuf>, FileError> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(FileError::new("list the folder", folder))? {
        let path = entry.map_err(FileError::new("list the folder", folder))?.path();
        if path.extension().is_some_and(|extension| extension == "whl") {
            paths.push(path);
        }
    }
    let digested = parallel::map(&paths, |path| Ok((sha256_file(path, LARGEST)?, path.clone())));
    let named = |(digest, path): (Option<[u8; 32]>, PathBuf)| digest.map(|digest| (hex(&digest), path));
    // One above the bound is as good as none.
    digested.into_iter().filter_map(|wheel| wheel.map(named).transpose()).collect()
}

/// File, expected and found, where the installed RECORD says something else than the wheel's.
fn differences(wheel: &Path, installed: &[(String, Option<String>)]) -> Vec<(String, String, String)> {
    let rows = match record(wheel) {
        Ok(rows) => rows,
        Err(why) => return vec![("RECORD".into(), "a wheel with a RECORD".into(), why)],
    };
    let mut listed: BTreeMap<&str, &Option<String>> = installed.iter().map(|(path, at)| (path.as_str(), at)).collect();
    let mut differences = Vec::new();
    for (path, digest) in &rows {
        let Some(place) = place(path) else { continue };
        let found = listed.remove(place);
        if digest.is_some() && found != Some(digest) {
            let text = |digest: Option<&String>| digest.map_or("no digest".into(), |digest| format!("sha256={digest}"));
            let actual = found.map_or("not in the installed RECORD".into(), |found| text(found.as_ref()));
            differences.push((place.to_owned(), text(digest.as_ref()), actual));
        }
    }
    // What an installer adds by itself: notes in its own folder, programs and what goes with them, bytecode that is never read.
    let added = |path: &str| {
        let note = path.split_once(".dist-info/").is_some_and(|(folder, name)| {
            let notes = ["INSTALLER", "RECORD", "REQUESTED", "direct_url.json", "uv_build.json", "uv_cache.json"];
            !folder.contains('/') && notes.contains(&name)
        });
        note || path.starts_with("../../../") || is_cached_bytecode(Path::new(path))
    };
    let more = listed.into_keys().filter(|path| !added(path));
    differences.extend(more.map(|path| (path.to_owned(), "only files of the wheel".into(), "one more".into())));
    differences
}

/// The rows of the only RECORD of a wheel.
fn record(wheel: &Path) -> Result<Listed, String> {
    let content = read_file(wheel, LARGEST).map_err(|error| error.to_string())?;
    let mut archive = zip::ZipArchive::new(Cursor::new(content.bytes)).map_err(|error| error.to_string())?;
    let own = |name: &str| name.strip_suffix(".dist-info/RECORD").is_some_and(|folder| !folder.contains('/'));
    let names: Vec<_> = archive.file_names().filter_map(|name| Some(name.ok()?.into_owned())).collect();
    let records: Vec<_> = names.iter().filter(|name| own(name)).collect();
    let [name] = records[..] else { return Err(format!("{} RECORD files", records.len())) };
    let mut bytes = Vec::new();
    let file = archive.by_name(name).map_err(|error| error.to_string())?;
    file.take(LARGEST_RECORD).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    parse_record(&bytes)
}
