//! A place without a network to run things in.

use std::ffi::OsStr;
use std::process::Command;

/// Brings the loopback interface up and becomes the program that its arguments name.
const WITH_LOOPBACK: &str = "import fcntl, os, socket, struct, sys
with socket.socket() as control:
    fcntl.ioctl(control, 0x8914, struct.pack('16sh', b'lo', 1))
os.execvp(sys.argv[1], sys.argv[1:])";

/// `program`, to be run in a network namespace of its own, where the only interface is a loopback that leads nowhere else.
///
/// # Panics
/// The kernel lets this user make no such namespace. The caller's claim is then untested, so it must not pass.
#[track_caller]
pub fn without_network(program: impl AsRef<OsStr>) -> Command {
    let mut command = without_loopback("python3");
    command.args(["-I", "-c", WITH_LOOPBACK]).arg(program);
    command
}

/// The same with that interface down.
#[track_caller]
pub fn without_loopback(program: impl AsRef<OsStr>) -> Command {
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
