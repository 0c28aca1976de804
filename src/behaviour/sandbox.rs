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
use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};

use crate::check::{Check, Finding, Ledger};
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

/// Records for `check` whether a process was confined as far as was `required`; none if none started.
pub(crate) fn record(check: Check, sandbox: Option<&Sandbox>, required: bool, ledger: &mut Ledger) {
    if required && !sandbox.is_some_and(Sandbox::is_complete) {
        let actual = match sandbox {
            Some(Sandbox { landlock, seccomp, limits }) => {
                format!("landlock {landlock:?}, seccomp {seccomp:?}, limits {limits:?}")
            }
            None => "no process that started".into(),
        };
        let hint = "run on a kernel that offers all of it (Linux 6.12 or later), or without --require-sandbox";
        let finding = Finding::new("sandbox", "landlock, seccomp and limits in full", actual, hint);
        return ledger.undecided(check, finding);
    }
    ledger.record(check, vec![]);
}

/// What the kernel would enforce on a probe that writes in `temporary`, tried on a thread that ends. The filters that a probe puts
/// on itself are not tried, and the limits only compared with this process's own.
///
/// It is recorded as it would be of a probe.
pub fn preflight(temporary: &Path, limits: &Limits, required: bool, ledger: &mut Ledger) -> Sandbox {
    let confined = std::thread::scope(|scope| scope.spawn(|| confine(temporary, &[], &[])).join());
    let nothing = Sandbox { landlock: Enforcement::None, seccomp: Enforcement::None, limits: Enforcement::None };
    let mut sandbox = confined.unwrap_or(nothing);
    let granted = |(resource, bound)| getrlimit(resource).maximum.is_none_or(|most| most >= bound);
    if bounds(limits).into_iter().all(granted) {
        sandbox.limits = Enforcement::Full;
    }
    record(Check::ProbeConfined, Some(&sandbox), required, ledger);
    sandbox
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
    for (resource, bound) in bounds(limits) {
        prlimit(Some(probe), resource, Rlimit { current: Some(bound), maximum: Some(bound) })?;
    }
    Ok(())
}

fn bounds(limits: &Limits) -> [(Resource, u64); 5] {
    [
        (Resource::As, limits.probe_bytes),
        (Resource::Fsize, 64 << 20),
        (Resource::Nofile, 256),
        (Resource::Core, 0),
        (Resource::Cpu, limits.seconds.max(1)),
    ]
}
