//! The published wheel and sdist of 0.0.13, held against the commit that was made of the sdist.

use std::fs;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};
use std::process::Command;

use paired_sdk_gate::digest::sha256;

use super::gate::{GATE, Identity, Run, run};
use crate::support::artifact::{Files, digest, sdist, sign, wheel};
use crate::support::registry;

const WHEEL: &str = "netbox_sdk-0.0.13-py3-none-any.whl";
const SDIST: &str = "netbox_sdk-0.0.13.tar.gz";

/// The identity of 0.0.13, its published wheel and its published sdist.
fn published() -> (Identity, PathBuf, PathBuf) {
    // Both artifacts are in the cache once these are made.
    let identity = Identity::released("0.0.13");
    let file = |folder: &str, name: &str| registry::cache().join(folder).join("files").join(name);
    (identity, file("wheel-0.0.13", WHEEL), file("sdk-0.0.13", SDIST))
}

fn verify(identity: &Identity, artifact: &Path) -> Run {
    run(identity.on(Command::new(GATE), "verify").arg("--release-artifact").arg(artifact))
}

/// The files of a wheel.
fn unpack_wheel(bytes: &[u8]) -> Files {
    let mut wheel = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
    let members = wheel.len();
    let member = |at| {
        let mut file = wheel.by_index(at).unwrap();
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).unwrap();
        (file.name().unwrap().into_owned(), bytes)
    };
    (0..members).map(member).collect()
}

/// The regular files of an sdist.
fn unpack_sdist(bytes: &[u8]) -> Files {
    let mut sdist = tar::Archive::new(flate2::read::GzDecoder::new(bytes));
    let mut files = Files::new();
    for entry in sdist.entries().unwrap() {
        let mut entry = entry.unwrap();
        if entry.header().entry_type().is_file() {
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).unwrap();
            files.push((entry.path().unwrap().to_str().unwrap().to_owned(), bytes));
        }
    }
    files
}

#[test]
fn the_published_wheel_and_sdist_are_the_commits() {
    let (identity, wheel, sdist) = published();
    for (artifact, form, name) in [(&wheel, "wheel", WHEEL), (&sdist, "sdist", SDIST)] {
        let run = verify(&identity, artifact);
        run.assert(0, "passed");
        let bytes = fs::read(artifact).unwrap();
        let (sha256, size) = (sha256(&bytes), bytes.len());
        let expected = serde_json::json!({"artifact": form, "name": name, "sha256": sha256, "size": size});
        assert_eq!(run.report["release"], expected);
    }
}

#[test]
fn one_changed_byte_is_found_even_where_the_record_was_made_to_fit() {
    let (identity, published, _) = published();
    let dir = registry::scratch();
    let path = dir.path().join(WHEEL);
    let mut files = unpack_wheel(&fs::read(published).unwrap());
    let client = files.iter_mut().find(|(name, _)| name == "netbox_sdk/client.py").unwrap();
    let listed = digest(&client.1);
    *client.1.last_mut().unwrap() ^= 1;
    let found = digest(&client.1);
    fs::write(&path, wheel(&files)).unwrap();
    let run = verify(&identity, &path);
    run.refused_by(&["release.package", "release.metadata"]);
    assert_eq!(run.told("release.package"), [("netbox_sdk/client.py", "other bytes")]);
    assert_eq!(run.told("release.metadata"), [("netbox_sdk/client.py", &*found)]);
    assert_eq!(run.findings("release.metadata")[0]["expected"], *listed);

    sign(&mut files, "netbox_sdk-0.0.13.dist-info");
    fs::write(&path, wheel(&files)).unwrap();
    let run = verify(&identity, &path);
    assert_eq!(run.refused_by(&["release.package"]), [("netbox_sdk/client.py", "other bytes")]);
}

#[test]
fn one_changed_byte_of_the_sdist_is_found() {
    let (identity, _, published) = published();
    let dir = registry::scratch();
    let path = dir.path().join(SDIST);
    let mut files = unpack_sdist(&fs::read(published).unwrap());
    let client = files.iter_mut().find(|(name, _)| name == "netbox_sdk-0.0.13/netbox_sdk/client.py").unwrap();
    *client.1.last_mut().unwrap() ^= 1;
    fs::write(&path, sdist(&files)).unwrap();
    assert_eq!(verify(&identity, &path).refused_by(&["release.package"]), [("netbox_sdk/client.py", "other bytes")]);
}

/// What is published under another version is another release, though its bridge is the same.
#[test]
fn the_artifact_of_another_version_is_refused() {
    let (identity, ..) = published();
    registry::subject("0.0.12");
    let other = registry::cache().join("sdk-0.0.12/files/netbox_sdk-0.0.12.tar.gz");
    let run = verify(&identity, &other);
    run.refused_by(&["release.package", "release.metadata"]);
    let subjects: Vec<_> = run.told("release.metadata").into_iter().map(|(subject, _)| subject).collect();
    assert_eq!(subjects, ["netbox_sdk-0.0.12.tar.gz", "netbox_sdk-0.0.12", "netbox_sdk-0.0.12/PKG-INFO: Version"]);
}
