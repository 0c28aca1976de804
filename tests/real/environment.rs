//! The environment of the real 0.0.13: what is refused, down to one byte, and what lies in it without a say.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::gate::Identity;
use crate::support::registry;
use crate::support::subject::make_environment;

/// An environment of its own for 0.0.13, and the identity with it.
fn copied() -> (TempDir, PathBuf, Identity) {
    let dir = registry::scratch();
    let environment = dir.path().join("venv");
    registry::copy_environment("0.0.13", &environment);
    let site = site(&environment);
    (dir, site, Identity { environment, ..Identity::released("0.0.13") })
}

fn site(environment: &Path) -> PathBuf {
    let python = fs::read_dir(environment.join("lib")).unwrap().next().unwrap().unwrap().path();
    python.join("site-packages")
}

/// As findings name it: relative to the root.
fn named(site: &Path, environment: &Path, path: &str) -> String {
    site.join(path).strip_prefix(environment).unwrap().display().to_string()
}

#[test]
fn a_root_that_is_no_environment_of_its_own() {
    let dir = TempDir::new().unwrap();
    let with = |environment: &Path| Identity { environment: environment.to_owned(), ..Identity::released("0.0.13") };
    let run = with(dir.path()).verify();
    assert_eq!(run.refused_by(&["environment.root"]), [("environment root", "a folder without pyvenv.cfg")]);
    let cure = run.findings("environment.root")[0]["hint"].as_str().unwrap();
    let command = format!("UV_PROJECT_ENVIRONMENT={} uv sync --frozen --no-install-project", dir.path().display());
    assert!(cure.contains(&command), "{cure}");

    let system = dir.path().join("system");
    make_environment(&system, &["--system-site-packages"]);
    let run = with(&system).verify();
    assert_eq!(run.refused_by(&["environment.root"]), [("pyvenv.cfg", "include-system-site-packages = true")]);
}

#[test]
fn one_changed_byte_of_an_installed_file_is_refused_with_its_path() {
    let (_dir, site, identity) = copied();
    let native = fs::read_dir(site.join("pydantic_core")).unwrap().map(|entry| entry.unwrap().file_name());
    let native = native.map(|name| name.into_string().unwrap()).find(|name| name.ends_with(".so")).unwrap();
    let files = ["jsonschema/validators.py".into(), "pydantic/main.py".into(), format!("pydantic_core/{native}")];
    for file in &files {
        let file = site.join(file);
        let mut bytes = fs::read(&file).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        fs::remove_file(&file).unwrap();
        fs::write(&file, bytes).unwrap();
    }
    let run = identity.verify();
    run.refused_by(&["environment.records"]);
    let named: Vec<_> = files.iter().map(|file| named(&site, &identity.environment, file)).collect();
    let told = run.told("environment.records");
    assert_eq!(told.iter().map(|(subject, _)| *subject).collect::<Vec<_>>(), named);
    assert!(run.checks("not-run").contains(&"module.origin"), "nothing is run in it");
}

#[test]
fn a_stray_path_file_is_refused_with_its_path() {
    let (_dir, site, identity) = copied();
    fs::write(site.join("stray.pth"), "import os; os._exit(0)\n").unwrap();
    let stray = named(&site, &identity.environment, "stray.pth");
    assert_eq!(identity.verify().refused_by(&["environment.owned"]), [(&*stray, "a file that no RECORD lists")]);
}

/// A wheel that would end any interpreter that imports the package or runs `site`; installed as pip installs.
const MAKE_BROKEN_WHEEL: &str = r#"
import base64, hashlib, sys, zipfile
files = {
    "netbox_sdk/__init__.py": "import os; os._exit(0)\n",
    "netbox_sdk/plugin_bridge.py": "",
    "__editable__.netbox_sdk.pth": "import os; os._exit(0)\n",
    "sitecustomize.py": "import os; os._exit(0)\n",
    "netbox_sdk-0.0.13.dist-info/METADATA": "Metadata-Version: 2.1\nName: netbox-sdk\nVersion: 0.0.13\n",
    "netbox_sdk-0.0.13.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
}
record = "netbox_sdk-0.0.13.dist-info/RECORD"
digest = lambda text: base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")
rows = [f"{name},sha256={digest(text)},{len(text)}\n" for name, text in files.items()]
files[record] = "".join(rows) + record + ",,\n"
with zipfile.ZipFile(sys.argv[1], "w") as wheel:
    for name, text in files.items():
        wheel.writestr(name, text)
"#;

#[test]
fn a_broken_sdk_installed_beside_the_snapshot_has_no_say() {
    let (dir, site, identity) = copied();
    let wheel = dir.path().join("netbox_sdk-0.0.13-py3-none-any.whl");
    registry::run(Command::new("python3").args(["-I", "-c", MAKE_BROKEN_WHEEL]).arg(&wheel));
    let python = identity.environment.join("bin/python");
    let mut install = Command::new("python3");
    install.args(["-I", "-m", "pip", "--disable-pip-version-check", "--python"]).arg(&python);
    registry::run(install.args(["install", "--no-index", "--no-deps", "--no-compile"]).arg(&wheel));

    // It bites: an interpreter that runs `site` ends at once, whatever it was told to do.
    let bitten = Command::new(&python).args(["-I", "-c", "print('alive')"]).output().unwrap();
    assert_eq!((bitten.status.code(), &*bitten.stdout), (Some(0), &b""[..]));

    let run = identity.verify();
    run.assert(0, "passed");
    let installed = run.report["environment"]["distributions"].as_array().unwrap();
    assert!(installed.iter().any(|found| found["name"] == "netbox_sdk" && found["version"] == "0.0.13"));
    let loaded = run.report["module"]["loaded"].as_array().unwrap();
    let own: Vec<_> =
        loaded.iter().filter(|module| module["name"].as_str().unwrap().starts_with("netbox_sdk")).collect();
    assert!(own.len() > 1 && own.iter().all(|module| module["kind"] == "snapshot"), "{own:#?}");
    assert!(site.join("netbox_sdk/__init__.py").exists());
}

/// Compiles `evil` to where Python looks for the bytecode of `source`, marked so that it is taken without a look at that.
const POISON: &str = "import importlib.util as u, py_compile as p, sys; \
                      p.compile(sys.argv[1], u.cache_from_source(sys.argv[2]), \
                      invalidation_mode=p.PycInvalidationMode.UNCHECKED_HASH)";

#[test]
fn bytecode_that_lies_about_its_source_is_never_run() {
    let (dir, site, identity) = copied();
    let evil = dir.path().join("evil.py");
    fs::write(&evil, "import os; os._exit(0)\n").unwrap();
    let python = identity.environment.join("bin/python");
    let poison = |source: &Path| {
        fs::create_dir_all(source.with_file_name("__pycache__")).unwrap();
        registry::run(Command::new(&python).args(["-I", "-c", POISON]).arg(&evil).arg(source));
    };
    for module in ["__init__", "validators", "_keywords"] {
        poison(&site.join("jsonschema").join(module).with_extension("py"));
    }
    // It bites: whoever imports it ends at once and without a word.
    let bitten = Command::new(&python).args(["-I", "-c", "import jsonschema; print('alive')"]).output().unwrap();
    assert_eq!((bitten.status.code(), &*bitten.stdout), (Some(0), &b""[..]));
    identity.verify().assert(0, "passed");

    // In the checkout, too: what the probes import is a copy of the commit, and bytecode is not of it.
    let repo = registry::subject("0.0.13").copy_to(&dir.path().join("sdk"));
    let repo = repo.root().to_owned();
    poison(&repo.join("netbox_sdk/plugin_bridge.py"));
    poison(&repo.join("netbox_sdk/__init__.py"));
    Identity { repo, ..identity }.verify().assert(0, "passed");
}
