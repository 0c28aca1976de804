//! What a probe has about it besides itself, seen from outside.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::process::processes;

/// One thing that a probe has and should not have.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Residue {
    /// So many threads.
    Threads(usize),
    /// So many processes of its own.
    Children(usize),
    /// A descriptor of this.
    Open(PathBuf),
    /// It runs no more, or its place was taken by another.
    Gone,
}

/// Looks at the process `id`, which was forked from `parent` and may hold these pipes, by their inodes, and `/dev/null`.
///
/// # Errors
/// `/proc` cannot be read.
pub(super) fn of(id: i32, parent: i32, pipes: &[u64]) -> io::Result<Vec<Residue>> {
    let folder = Path::new("/proc").join(id.to_string());
    let mut found = Vec::new();
    let threads = fs::read_dir(folder.join("task"))?.count();
    if threads != 1 {
        found.push(Residue::Threads(threads));
    }
    let table: Vec<_> = processes().collect();
    let children = table.iter().filter(|process| process.parent == id).count();
    if children != 0 {
        found.push(Residue::Children(children));
    }
    let mut own: Vec<_> = pipes.iter().map(|pipe| PathBuf::from(format!("pipe:[{pipe}]"))).collect();
    own.push("/dev/null".into());
    for descriptor in fs::read_dir(folder.join("fd"))? {
        let target = fs::read_link(descriptor?.path())?;
        if !own.contains(&target) {
            found.push(Residue::Open(target));
        }
    }
    if !table.iter().any(|process| process.id == id && process.parent == parent) {
        found.push(Residue::Gone);
    }
    Ok(found)
}
