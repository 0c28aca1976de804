//! A place without a network to run things in.

use std::ffi::OsStr;
use std::process::Command;

/// `program`, to be run in a network namespace of its own, where the only interface is a loopback that is down.
///
/// # Panics
/// The kernel lets this user make no such namespace. The caller's claim is then untested, so it must not pass.
#[track_caller]
pub fn without_network(program: impl AsRef<OsStr>) -> Command {
    // Root may lack user namespaces (containers), an ordinary user needs one: the first that works is taken.
    let ways: [&[&str]; 2] = [&["--net"], &["--map-root-user", "--net"]];
    let works =
        |way: &&&[&str]| Command::new("unshare").args(**way).arg("true").output().is_ok_and(|o| o.status.success());
    let Some(way) = ways.iter().find(works) else {
        panic!(
            "this test needs a network namespace: run it as root, or let users make one \
             (sysctl kernel.apparmor_restrict_unprivileged_userns=0, or kernel.unprivileged_userns_clone=1)"
        )
    };
    let mut command = Command::new("unshare");
    command.args(*way).arg("--").arg(program);
    command
}
