//! Environments of three makers, entered by root and by a user without privileges.

use std::fs;
use std::os::unix::fs::PermissionsExt;
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

/// The first interpreter that any user may run and that the shared environment's packages were installed for.
fn public_python() -> &'static str {
    let wanted =
        fs::read_dir(registry::environment("0.0.13").join("lib")).unwrap().next().unwrap().unwrap().file_name();
    let fits = |python: &&str| {
        let asked = "import sys; print('python%d.%d' % sys.version_info[:2])";
        let said = Command::new(python).args(["-I", "-c", asked]).output();
        said.is_ok_and(|said| String::from_utf8_lossy(&said.stdout).trim_end() == wanted)
    };
    ["/usr/bin/python3", "python3"].into_iter().find(fits).unwrap()
}

/// A user of its own, without a capability and not the owner of anything: root becomes that user, anybody else is one already.
/// Everything lies where such a user may read.
#[test]
fn an_ordinary_user_of_the_system_with_environments_of_all_three_makers() {
    let dir = tempfile::tempdir().unwrap();
    let open = |path: &Path, mode| fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    open(dir.path(), 0o755);
    let (gate, repo, room) = (dir.path().join("gate"), dir.path().join("sdk"), dir.path().join("room"));
    fs::copy(GATE, &gate).unwrap();
    let released = Identity::released("0.0.13");
    registry::run(Command::new("cp").arg("--recursive").arg(&released.repo).arg(&repo));
    fs::create_dir(&room).unwrap();
    open(&room, 0o777);
    let (python, makers) = (public_python(), registry::makers().join("bin"));
    let mut venv = Command::new(python);
    venv.args(["-I", "-m", "venv", "--without-pip"]);
    let mut virtualenv = Command::new(makers.join("virtualenv"));
    virtualenv.args(["--quiet", "--python", python]);
    let mut uv = Command::new(makers.join("uv"));
    uv.args(["venv", "--quiet", "--no-python-downloads", "--python", python]);
    for (name, mut maker) in [("venv", venv), ("virtualenv", virtualenv), ("uv", uv)] {
        let environment = dir.path().join(name);
        registry::run(maker.arg(&environment));
        furnish(&environment);
        let mut user = Command::new(&gate);
        if rustix::process::geteuid().is_root() {
            user = Command::new("setpriv");
            user.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(&gate);
        }
        user.env("TMPDIR", &room);
        let identity = Identity { environment, repo: repo.clone(), ..Identity::released("0.0.13") };
        accepted(&run(&mut identity.on(user, "verify")));
        assert_eq!(fs::read_dir(&room).unwrap().count(), 0, "{name}");
    }
}
