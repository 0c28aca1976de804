//! The caller's variables point at traps: the report on the real 0.0.13 is the same outside `run`, and no trap springs.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::gate::{GATE, Identity, git, run};
use crate::support::registry;

/// Folders with modules and start-up files that leave a mark when they run, and a repository of another release.
struct Traps {
    dir: tempfile::TempDir,
}

impl Traps {
    fn set() -> Self {
        let traps = Traps { dir: registry::scratch() };
        let spring =
            format!("open({:?}, 'a').write(__name__)\nraise SystemExit(3)\n", traps.mark().display().to_string());
        let user = traps.at("user/lib/python3.11/site-packages");
        for folder in [traps.at("path"), user] {
            fs::create_dir_all(folder.join("netbox_sdk")).unwrap();
            for module in ["netbox_sdk/__init__", "pydantic", "jsonschema", "json", "sitecustomize", "usercustomize"] {
                fs::write(folder.join(module).with_extension("py"), &spring).unwrap();
            }
        }
        fs::write(traps.at("startup.py"), &spring).unwrap();
        fs::create_dir(traps.at("objects")).unwrap();
        let config = "[core]\n\tfsmonitor = false\n\thooksPath = /nowhere\n[include]\n\tpath = /nowhere\n[fsck]\n\tmissingEmail = error\n";
        fs::write(traps.at("gitconfig"), config).unwrap();
        registry::subject("0.0.12").copy_to(&traps.at("other"));
        traps
    }

    fn at(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    /// What a sprung trap leaves.
    fn mark(&self) -> PathBuf {
        self.at("sprung")
    }

    fn variables(&self) -> Vec<(&'static str, OsString)> {
        let at = |path: &str| self.at(path).into_os_string();
        vec![
            ("PYTHONPATH", at("path")),
            ("PYTHONHOME", at("path")),
            ("PYTHONSTARTUP", at("startup.py")),
            ("PYTHONUSERBASE", at("user")),
            ("PYTHONWARNINGS", "error".into()),
            ("PYTHONINSPECT", "1".into()),
            ("PYTHONPYCACHEPREFIX", at("path")),
            ("VIRTUAL_ENV", at("user")),
            ("HOME", at("user")),
            ("GIT_DIR", at("other/.git")),
            ("GIT_WORK_TREE", at("other")),
            ("GIT_OBJECT_DIRECTORY", at("objects")),
            ("GIT_ALTERNATE_OBJECT_DIRECTORIES", at("other/.git/objects")),
            ("GIT_INDEX_FILE", at("other/.git/index")),
            ("GIT_CONFIG_GLOBAL", at("gitconfig")),
            ("GIT_CONFIG_SYSTEM", at("gitconfig")),
        ]
    }
}

#[test]
fn two_runs_differ_only_inside_run_whatever_the_callers_variables_say() {
    let (traps, identity) = (Traps::set(), Identity::released("0.0.13"));
    // The traps bite whoever heeds the variables.
    let import = |name: &str, value: &Path, module: &str| {
        let _ = fs::remove_file(traps.mark());
        let mut python = Command::new(identity.environment.join("bin/python"));
        let _ = python.env(name, value).args(["-B", "-c", &format!("import {module}")]).output().unwrap();
        traps.mark().exists()
    };
    assert!(import("PYTHONPATH", &traps.at("path"), "netbox_sdk"));
    let _ = fs::remove_file(traps.mark());
    let mut heeding = Command::new("git");
    heeding.args(["rev-parse", "HEAD"]).env("GIT_DIR", traps.at("other/.git")).current_dir(&identity.repo);
    let other = String::from_utf8(heeding.output().unwrap().stdout).unwrap();
    assert_ne!(other, git(&identity.repo, ["rev-parse", "HEAD"]));

    let report = |variables: Vec<(&str, OsString)>| {
        let mut gate = identity.on(Command::new(GATE), "verify");
        let mut run = run(gate.args(["--seed", "1"]).envs(variables));
        run.assert(0, "passed");
        run.report["run"].take();
        run.report
    };
    assert_eq!(report(traps.variables()), report(vec![]));
    assert!(!traps.mark().exists(), "{:?}", fs::read_to_string(traps.mark()));
}
