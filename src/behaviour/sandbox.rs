//! What the kernel keeps a probe from doing. Linux only: Landlock, seccomp and resource limits, each as far as it is there.
//!
//! A sandbox is put on a thread and inherited by the process it starts, so no code runs between fork and exec. What a process needs
//! only to come into being is taken from it by a second filter, which it puts on itself before anything foreign is imported. The
//! verdict does not hang on any of this; it keeps what is judged from harming the judge's host, and from reading what it must not know.

mod landlock;
mod seccomp;

use std::io;
use std::path::{Path, PathBuf};

use ::landlock::RulesetStatus;
use rustix::process::{Pid, Resource, Rlimit, prlimit};

use crate::limits::Limits;

pub(super) use seccomp::Later;

/// What was enforced on the probes.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Sandbox {
    /// Landlock: no write outside the private folder, no read outside the interpreter, the environment and the private copy, no TCP
    /// but to the gate's own ports, no signal to another process.
    pub landlock: Enforcement,
    /// seccomp: no other program, no new process, no socket but the client's streams, no tracing or reading of other processes, no change of ownership,
    /// permissions or limits, no mount, no new namespace, no way out of the process group.
    pub seccomp: Enforcement,
    /// Limits on memory, file size, open files, core dumps and processor time.
    pub limits: Enforcement,
}

impl Sandbox {
    /// All of it, in full.
    pub fn is_complete(&self) -> bool {
        [self.landlock, self.seccomp, self.limits].iter().all(|&part| part == Enforcement::Full)
    }

    /// A second filter could not be put on.
    pub(super) fn miss_later_filter(&mut self) {
        if self.seccomp == Enforcement::Full {
            self.seccomp = Enforcement::Partial;
        }
    }
}

/// How far a part of the sandbox is enforced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Enforcement {
    /// All that was asked of it.
    Full,
    /// What this kernel knows of it.
    Partial,
    /// Nothing.
    None,
}

/// Confines the calling thread for good, and whatever it starts. Only below `writable` may files be written, only below that,
/// `readable` and the system's libraries may they be read. To these TCP ports alone may it connect, of whatever address.
pub(super) fn confine(writable: &Path, readable: &[PathBuf], ports: &[u16]) -> Sandbox {
    let landlock = match landlock::restrict(writable, readable, ports) {
        Ok(RulesetStatus::FullyEnforced) => Enforcement::Full,
        Ok(RulesetStatus::PartiallyEnforced) => Enforcement::Partial,
        Ok(RulesetStatus::NotEnforced) | Err(_) => Enforcement::None,
    };
    let seccomp = if seccomp::restrict(!ports.is_empty()).is_ok() { Enforcement::Full } else { Enforcement::None };
    Sandbox { landlock, seccomp, limits: Enforcement::None }
}

/// Bounds what a started probe may use up. How many processes it starts is not bounded here, where root would be exempt, but by the
/// filter that lets it start none.
///
/// # Errors
/// The system's.
pub(super) fn limit(probe: Pid, limits: &Limits) -> io::Result<()> {
    let bounds = [
        (Resource::As, limits.probe_bytes),
        (Resource::Fsize, 64 << 20),
        (Resource::Nofile, 256),
        (Resource::Core, 0),
        (Resource::Cpu, limits.seconds.max(1)),
    ];
    for (resource, bound) in bounds {
        prlimit(Some(probe), resource, Rlimit { current: Some(bound), maximum: Some(bound) })?;
    }
    Ok(())
}
