//! Where every loaded module came from.

use std::collections::BTreeSet;
use std::path::Path;

use super::super::facts::NamedModule;
use super::super::interview::Transcript;
use super::super::{Evidence, LoadedModule, ModuleKind};
use super::REPORT_IT;
use crate::check::{Check, Finding, Ledger, limited};
use crate::contract::Contract;
use crate::digest::{hex, sha256};
use crate::environment::LockedEnvironment;
use crate::fs::sha256_file;
use crate::parallel;

const INSTALL_IT: &str =
    "install what the commit requires into the environment: `uv sync --frozen --no-install-project`, or pip";

/// Bytes of the largest module of a standard library that is digested.
const LARGEST_MODULE: u64 = 64 << 20;

pub(super) fn loaded(
    transcripts: &[Transcript; 2],
    environment: &LockedEnvironment,
    contract: &Contract,
    evidence: &mut Evidence,
    ledger: &mut Ledger,
) {
    let base = evidence.interpreter.as_ref().map(|interpreter| interpreter.base_prefix.clone()).unwrap_or_default();
    let ends = transcripts.iter().filter_map(|transcript| transcript.end.as_ref());
    let modules: BTreeSet<_> =
        ends.flat_map(|end| &end.modules).map(|module| classify(module, environment, &base)).collect();
    let own = |name: &str| name == contract.package || name.starts_with(&format!("{}.", contract.package));
    let mut findings = Vec::new();
    for module in &modules {
        let right = match module.kind {
            ModuleKind::Elsewhere => false,
            ModuleKind::Snapshot => own(&module.name),
            _ => !own(&module.name),
        };
        if !right {
            let expected = if own(&module.name) {
                "the private copy"
            } else {
                "the environment, the standard library or the interpreter"
            };
            let actual = match words(module.kind) {
                Some(place) => format!("{} of {place}", module.origin),
                None => module.origin.clone(),
            };
            findings.push(Finding::new(&module.name, format!("loaded from {expected}"), actual, REPORT_IT));
        }
    }
    // An empty list has nothing wrong in it.
    for name in [contract.package.to_owned(), contract.module_name()] {
        if !modules.iter().any(|module| module.name == name) {
            findings.push(Finding::new(name, "loaded from the private copy", "not loaded", REPORT_IT));
        }
    }
    ledger.record(Check::ModuleLoaded, limited(findings));

    let from = |name: &str| modules.iter().find(|module| module.name == name);
    let absent = contract.dependencies.iter().filter_map(|&name| match from(name) {
        Some(module) if module.kind == ModuleKind::Environment => None,
        found => {
            let actual = found.map_or("not loaded".into(), |module| module.origin.clone());
            Some(Finding::new(name, "loaded from the environment", actual, INSTALL_IT))
        }
    });
    let absent = absent.collect();
    ledger.record(Check::ModuleDependencies, absent);
    if let Some(interpreter) = &mut evidence.interpreter {
        interpreter.standard_library_sha256 = Some(standard_library(Path::new(&base), &modules));
    }
    evidence.loaded = modules.into_iter().collect();
}

/// What identifies the part of the standard library that took part. Its bytecode, which is what runs, is not looked at.
fn standard_library(base: &Path, modules: &BTreeSet<LoadedModule>) -> String {
    let own = modules.iter().filter(|module| module.kind == ModuleKind::StandardLibrary);
    let paths: BTreeSet<_> = own.map(|module| module.origin.as_str()).collect();
    let lines = parallel::map(&paths.into_iter().collect::<Vec<_>>(), |path| {
        let digest = |file: &Path| sha256_file(file, LARGEST_MODULE).ok().flatten();
        let file = base.join(path);
        // The interpreter and its files are reached by links on some systems.
        let digest = digest(&file).or_else(|| digest(&file.canonicalize().ok()?));
        format!("{} {path}\n", digest.map_or("unreadable".into(), |digest| hex(&digest)))
    });
    sha256(lines.concat().as_bytes())
}

fn classify(module: &NamedModule, environment: &LockedEnvironment, base: &str) -> LoadedModule {
    let named = |kind, origin: &str| LoadedModule { name: module.name.clone(), origin: origin.to_owned(), kind };
    let origin = module.origin.as_deref();
    match (module.file.as_deref(), origin) {
        _ if module.name == "__main__" => named(ModuleKind::Probe, "driver"),
        (_, Some("built-in" | "frozen")) => named(ModuleKind::BuiltIn, origin.unwrap_or_default()),
        (None, None) => named(ModuleKind::InMemory, "memory"),
        (Some(file), Some(origin)) if file != origin => named(ModuleKind::Elsewhere, &format!("{file} or {origin}")),
        (Some(path), _) | (None, Some(path)) => {
            let (kind, origin) = place(path, environment, base);
            named(kind, &origin)
        }
    }
}

/// What is there, unless that is none of the places there are.
fn words(kind: ModuleKind) -> Option<&'static str> {
    Some(match kind {
        ModuleKind::Snapshot => "the private copy",
        ModuleKind::Environment => "the environment",
        ModuleKind::StandardLibrary => "the standard library",
        ModuleKind::BuiltIn => "the interpreter",
        ModuleKind::InMemory => "the process",
        ModuleKind::Probe => "the probe",
        ModuleKind::Elsewhere => return None,
    })
}

fn place(path: &str, environment: &LockedEnvironment, base: &str) -> (ModuleKind, String) {
    let dotted = path.split('/').any(|part| part == "..");
    let below = |root: &Path| Path::new(path).strip_prefix(root).ok().filter(|_| !dotted);
    let text = |path: &Path| path.to_string_lossy().into_owned();
    if let Some(rest) = below(environment.snapshot().root()) {
        return (ModuleKind::Snapshot, text(rest));
    }
    if let Some(rest) = environment.environment().site().iter().find_map(|site| below(site)) {
        return (ModuleKind::Environment, text(rest));
    }
    match below(Path::new(base)) {
        Some(rest) if !base.is_empty() && !path.contains("site-packages") && !path.contains("dist-packages") => {
            (ModuleKind::StandardLibrary, text(rest))
        }
        _ => (ModuleKind::Elsewhere, path.to_owned()),
    }
}

pub(super) fn relative(path: &str, environment: &LockedEnvironment) -> String {
    match place(path, environment, "") {
        (ModuleKind::Environment, rest) => format!("{rest} of the environment"),
        (_, rest) => rest,
    }
}
