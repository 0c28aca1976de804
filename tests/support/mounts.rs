//! Small file systems to run things on.

use std::path::Path;
use std::process::Command;

/// Set where the test of that name runs once more.
const INSIDE: &str = "PAIRED_SDK_GATE_TEST_MOUNTS";

/// Runs the test of that name once more, where it may mount and where all that it mounted ends with it. True there, false outside.
///
/// # Panics
/// The test failed there, or the kernel lets this user make no such namespace: the claim is then untested and must not pass.
#[track_caller]
pub fn own(test: &str) -> bool {
    if std::env::var_os(INSIDE).is_some() {
        return true;
    }
    let mut inside = Command::new("unshare");
    inside.args(["--map-root-user", "--mount"]).arg(std::env::current_exe().unwrap());
    let output = inside.args(["--exact", test, "--nocapture"]).env(INSIDE, "").output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && told.contains("1 passed"), "{told}{}", String::from_utf8_lossy(&output.stderr));
    false
}

/// A file system of `kib` KiB of memory, rounded up to whole pages, and at most `files` files, its root among them, at this folder.
pub fn mount(folder: &Path, kib: u64, files: u64) {
    let options = format!("size={kib}k,nr_inodes={files}");
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(folder).output().unwrap();
    assert!(mounted.status.success(), "{mounted:?}");
}
