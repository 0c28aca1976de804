//! What was found about the repository, the package, the environment and the module, as far as one part says what another must be.

use serde_json::Value;

use super::{Fault, add, every, list, presence, status, text};
use crate::check::{Check, Stage};
use crate::contract::Contract;
use crate::digest::sha256;
use crate::environment::OLDEST_PYTHON;
use crate::inventory::{Form, ReleaseFile};

pub(super) fn faults(report: &Value, contract: &Contract, faults: &mut Vec<Fault>) {
    source(report, faults);
    package(report, faults);
    release(report, faults);
    environment(report, faults);
    module(report, contract, faults);
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_default()
}

/// There are figures exactly if the graph was verified; they hold the package and stay within the bounds.
fn source(report: &Value, faults: &mut Vec<Fault>) {
    let (source, limits) = (&report["source"], &report["limits"]);
    let verified = every(report, Stage::Graph, "passed");
    presence(faults, "audit.source", "source", source, verified);
    presence(faults, "audit.source", "tree", &report["subject"]["tree"], verified);
    if source.is_null() {
        return;
    }
    let boundary: Vec<_> = list(&source["shallow_boundary"]).iter().map(text).collect();
    let cut_off = if boundary.is_empty() { "complete" } else { "shallow" };
    let mut blobs: Vec<_> =
        list(&report["package"]["files"]).iter().map(|file| (text(&file["git_sha1"]), number(&file["size"]))).collect();
    blobs.sort_unstable();
    blobs.dedup();
    let objects = ["commits", "trees", "blobs"].map(|kind| number(&source[kind]));
    let follows = source["object_format"] == "sha1"
        && source["history"] == cut_off
        && boundary.is_sorted_by(|one, next| one < next)
        // A commit and its tree, with the package's below.
        && objects[0] >= 1
        && objects[1] >= if blobs.is_empty() { 1 } else { 2 }
        && objects[2] >= blobs.len() as u64
        && number(&source["bytes"]) >= blobs.iter().map(|(_, size)| size).sum()
        && objects.iter().sum::<u64>() <= number(&limits["objects"])
        && number(&source["bytes"]) <= number(&limits["inflated_bytes"]);
    if !follows {
        add(faults, "audit.source", "figures that hold the package and stay within the limits", source.to_string());
    }
}

/// The package's digest is that of its files, which stand in order and within the bounds.
fn package(report: &Value, faults: &mut Vec<Fault>) {
    let (files, limits) = (list(&report["package"]["files"]), &report["limits"]);
    let sizes = || files.iter().map(|file| number(&file["size"]));
    let bounded = files.len() as u64 <= number(&limits["package_files"])
        && sizes().all(|size| size <= number(&limits["file_bytes"]))
        && sizes().sum::<u64>() <= number(&limits["package_bytes"]);
    if !bounded {
        add(faults, "audit.package-files", "files within the limits", "more");
    }
    if !files.is_sorted_by(|one, next| text(&one["path"]) < text(&next["path"])) {
        add(faults, "audit.package-files", "files sorted by path, each once", "another order");
    }
    let Some(named) = report["subject"]["package_digest"].as_str() else {
        if !files.is_empty() || every(report, Stage::Snapshot, "passed") {
            add(faults, "audit.package-digest", "a digest of the files", "none");
        }
        return;
    };
    let lines =
        files.iter().map(|file| format!("{} {} {}\n", text(&file["mode"]), text(&file["sha256"]), text(&file["path"])));
    let digest = sha256(lines.collect::<String>().as_bytes());
    if digest != named {
        add(faults, "audit.package-digest", digest, named);
    }
}

/// The release artifact that was named is the one that the release checks speak of.
fn release(report: &Value, faults: &mut Vec<Fault>) {
    let archive = status(report, Check::ReleaseArchive);
    let release = &report["release"];
    let path = &report["run"]["release_artifact"];
    let given = path.as_str().and_then(|path| ReleaseFile::new(path.into()).ok());
    let named = |file: &ReleaseFile| release["artifact"] == file.form().name() && release["name"] == file.name();
    // Nothing is known of it before the inventory stage; only what could not be read has no digest.
    let follows = match &given {
        Some(file) if archive != "not-run" => named(file) && (archive == "error" || release["sha256"].is_string()),
        _ => release["artifact"] == Form::NotGiven.name() && release["name"].is_null() && release["sha256"].is_null(),
    };
    if !follows || given.is_none() != path.is_null() || release["sha256"].is_null() != release["size"].is_null() {
        let expected =
            given.map_or(Form::NotGiven.name().into(), |file| format!("{} {}", file.form().name(), file.name()));
        add(faults, "audit.release", expected, release.to_string());
    }
}

/// What ran is named, and of a version that runs.
fn environment(report: &Value, faults: &mut Vec<Fault>) {
    let environment = &report["environment"];
    let names: Vec<_> = list(&environment["distributions"]).iter().map(|found| text(&found["name"])).collect();
    if !names.is_sorted_by(|one, next| one < next) {
        add(faults, "audit.environment", "distributions sorted by name, each once", names.join(", "));
    }
    let examined = every(report, Stage::Environment, "passed");
    presence(faults, "audit.environment", "interpreter_sha256", &environment["interpreter_sha256"], examined);
    if !examined && !names.is_empty() {
        add(faults, "audit.environment", "distributions of an environment that passed", names.join(", "));
    }
    // It said what it is, or it did not start.
    let asked = matches!(status(report, Check::ProbeIsolated), "passed" | "failed");
    for member in ["implementation", "python_version"] {
        presence(faults, "audit.environment", member, &environment[member], asked);
    }
    presence(faults, "audit.run", "base prefix", &report["run"]["base_prefix"], asked);
    let ended = status(report, Check::ModuleLoaded) != "not-run";
    presence(faults, "audit.environment", "standard_library_sha256", &environment["standard_library_sha256"], ended);
    if asked || status(report, Check::ProbeConfined) == "not-run" {
        presence(faults, "audit.environment", "sandbox", &environment["sandbox"], asked);
    }
    let isolated = status(report, Check::ProbeIsolated) == "passed";
    let version: Vec<u32> = text(&environment["python_version"]).split('.').flat_map(str::parse).collect();
    let runs = matches!(version[..], [major, minor, _] if (major, minor) >= OLDEST_PYTHON);
    if isolated && !(runs && environment["implementation"] == "cpython") {
        let (major, minor) = OLDEST_PYTHON;
        let found = format!("{} {}", environment["implementation"], environment["python_version"]);
        add(faults, "audit.environment", format!("cpython {major}.{minor} or later"), found);
    }
}

/// The package's modules are the private copy's, and nobody else's are.
fn module(report: &Value, contract: &Contract, faults: &mut Vec<Fault>) {
    let (module, subject) = (&report["module"], &report["subject"]);
    if module["name"] != contract.module_name() {
        add(faults, "audit.module", contract.module_name(), text(&module["name"]));
    }
    if status(report, Check::ModuleVersion) == "passed" && module["version"] != subject["version"] {
        add(faults, "audit.module", subject["version"].to_string(), module["version"].to_string());
    }
    match status(report, Check::ModuleLoaded) {
        "passed" => loaded(report, contract, faults),
        "not-run" if !list(&module["loaded"]).is_empty() => {
            add(faults, "audit.loaded", "modules of a probe that got to its end", "some without");
        }
        _ => {}
    }
}

fn loaded(report: &Value, contract: &Contract, faults: &mut Vec<Fault>) {
    let loaded = list(&report["module"]["loaded"]);
    let key = |module: &Value| (text(&module["name"]).to_owned(), text(&module["origin"]).to_owned());
    if !loaded.is_sorted_by(|one, next| key(one) < key(next)) {
        add(faults, "audit.loaded", "modules sorted by name, each once", "another order");
    }
    let files: Vec<_> = list(&report["package"]["files"]).iter().map(|file| text(&file["path"])).collect();
    let right = |module: &&Value| {
        let (name, origin) = (text(&module["name"]), text(&module["origin"]));
        let own =
            name == contract.package || name.strip_prefix(contract.package).is_some_and(|rest| rest.starts_with('.'));
        let path = name.replace('.', "/");
        let source = [format!("{path}.py"), format!("{path}/__init__.py")].iter().any(|path| path == origin);
        match text(&module["kind"]) {
            "snapshot" => own && source && files.contains(&origin),
            "elsewhere" => false,
            _ => !own,
        }
    };
    if let Some(odd) = loaded.iter().find(|module| !right(module)) {
        add(faults, "audit.loaded", "the package's modules from its files, and no others", odd.to_string());
    }
    let from = |name: &str, kind: &str| loaded.iter().any(|module| module["name"] == name && module["kind"] == kind);
    let module_name = contract.module_name();
    let own = [contract.package, module_name.as_str()].map(|name| (name, "snapshot"));
    let found = status(report, Check::ModuleDependencies) == "passed";
    let dependencies = contract.dependencies.iter().filter(|_| found).map(|&name| (name, "environment"));
    if let Some((name, kind)) = own.into_iter().chain(dependencies).find(|(name, kind)| !from(name, kind)) {
        add(faults, "audit.loaded", format!("{name} from {kind}"), "none");
    }
}
