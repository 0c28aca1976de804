//! Environments of three makers, entered by root and by a user without privileges.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::gate::{GATE, Identity, Run, run};
use crate::support::registry;

/// The gate as a user without any capability: root steps down into a user namespace, anybody else is one already.
fn unprivileged() -> Command {
    if !rustix::process::geteuid().is_root() {
        return Command::new(GATE);
    }
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-user=1000", "--map-group=1000", GATE]);
    command
}

/// Everything that the shared environment of 0.0.13 has installed, moved into another one.
fn furnish(environment: &Path) {
    let shared = registry::environment("0.0.13");
    for folder in ["bin", "lib"] {
        let mut copy = Command::new("cp");
        copy.args(["--recursive", "--no-clobber", "--no-target-directory"]);
        registry::run(copy.arg(shared.join(folder)).arg(environment.join(folder)));
    }
}

#[track_caller]
fn accepted(run: &Run) {
    run.assert(0, "passed");
    let environment = &run.report["environment"];
    println!("{}", environment["sandbox"]);
    assert_eq!(
        (&environment["sandbox"]["seccomp"], &environment["sandbox"]["limits"]),
        (&"full".into(), &"full".into())
    );
    assert_ne!(environment["sandbox"]["landlock"], "none");
    for digest in ["interpreter_sha256", "standard_library_sha256"] {
        assert_eq!(environment[digest].as_str().map(str::len), Some(64), "{digest}");
    }
}

fn made_by(make: impl FnOnce(&Path)) {
    let dir = registry::scratch();
    let environment = dir.path().join("venv");
    make(&environment);
    furnish(&environment);
    let identity = Identity { environment, ..Identity::released("0.0.13") };
    accepted(&identity.verify());
    accepted(&run(&mut identity.on(unprivileged(), "verify")));
}

#[test]
fn made_by_venv_with_its_pip() {
    made_by(|root| registry::run(Command::new("python3").args(["-I", "-m", "venv"]).arg(root)));
}

#[test]
fn made_by_virtualenv() {
    let makers = registry::makers();
    made_by(|root| registry::run(Command::new(makers.join("bin/virtualenv")).args(["--quiet"]).arg(root)));
}

#[test]
fn made_by_uv() {
    let makers = registry::makers();
    made_by(|root| {
        let mut uv = Command::new(makers.join("bin/uv"));
        uv.args(["venv", "--quiet", "--no-python-downloads", "--python"]).arg(makers.join("bin/python"));
        registry::run(uv.arg(root));
        assert!(fs::read_to_string(root.join("pyvenv.cfg")).unwrap().contains("uv ="), "uv made it");
    });
}

#[test]
fn the_other_releases_without_privileges() {
    for version in ["0.0.11", "0.0.12"] {
        accepted(&run(&mut Identity::released(version).on(unprivileged(), "verify")));
    }
}
