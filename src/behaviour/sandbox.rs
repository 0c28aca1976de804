//! What the kernel keeps a probe from doing. Linux only: Landlock, seccomp and resource limits, each as far as it is there.
//!
//! A sandbox is put on a thread and inherited by the process it starts, so no code runs between fork and exec. None of this is
//! needed for the verdict to be right; it keeps what is judged from harming the judge's host.

use std::io;
use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetStatus, Scope,
};
use rustix::process::{Pid, Resource, Rlimit, prlimit};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};

/// What was enforced on the probes.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Sandbox {
    /// Landlock: no write outside the private folder, no TCP, no signal to another process.
    pub landlock: Enforcement,
    /// seccomp: no socket, no tracing or reading of other processes, no mount, no new namespace.
    pub seccomp: Enforcement,
    /// Limits on memory, file size, open files, core dumps and processor time.
    pub limits: Enforcement,
}

impl Sandbox {
    /// All of it, in full.
    pub fn is_complete(&self) -> bool {
        [self.landlock, self.seccomp, self.limits].iter().all(|&part| part == Enforcement::Full)
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

/// Confines the calling thread for good, and whatever it starts. Only below `writable` may files be written.
pub(super) fn confine(writable: &Path) -> Sandbox {
    let landlock = match landlock(writable) {
        Ok(RulesetStatus::FullyEnforced) => Enforcement::Full,
        Ok(RulesetStatus::PartiallyEnforced) => Enforcement::Partial,
        Ok(RulesetStatus::NotEnforced) | Err(_) => Enforcement::None,
    };
    let seccomp = if seccomp().is_ok() { Enforcement::Full } else { Enforcement::None };
    Sandbox { landlock, seccomp, limits: Enforcement::None }
}

fn landlock(writable: &Path) -> Result<RulesetStatus, Box<dyn std::error::Error>> {
    // Reading and executing stay free: the interpreter and its libraries may lie anywhere.
    let write = AccessFs::from_write(ABI::V6);
    let status = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(write)?
        .handle_access(AccessNet::from_all(ABI::V6))?
        .scope(Scope::from_all(ABI::V6))?
        .create()?
        .add_rule(PathBeneath::new(PathFd::new(writable)?, write))?
        .add_rule(PathBeneath::new(PathFd::new("/dev/null")?, write & AccessFs::from_file(ABI::V6)))?
        .restrict_self()?;
    Ok(status.ruleset)
}

/// System calls that are of no use to a library under examination, and of much use to one that wants out.
const FORBIDDEN: &[libc::c_long] = &[
    libc::SYS_socket,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_mknodat,
];

const NEW_NAMESPACES: i32 = libc::CLONE_NEWUSER
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP;

fn seccomp() -> Result<(), Box<dyn std::error::Error>> {
    let mut rules: std::collections::BTreeMap<i64, Vec<SeccompRule>> =
        FORBIDDEN.iter().map(|&call| (call, Vec::new())).collect();
    // Any namespace flag set: one rule per flag, since a masked comparison asks for all bits of its mask.
    let flags = (0..31).map(|bit| 1u64 << bit).filter(|flag| u64::from(NEW_NAMESPACES.cast_unsigned()) & flag != 0);
    let namespaces = flags.map(|flag| {
        SeccompRule::new(vec![SeccompCondition::new(0, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(flag), flag)?])
    });
    rules.insert(libc::SYS_clone, namespaces.collect::<Result<_, _>>()?);
    install(rules, libc::EPERM)?;
    // Its flags lie behind a pointer, out of a filter's sight. Told that it does not exist, libraries fall back on clone.
    install([(libc::SYS_clone3, Vec::new())].into(), libc::ENOSYS)
}

fn install(
    rules: std::collections::BTreeMap<i64, Vec<SeccompRule>>,
    errno: i32,
) -> Result<(), Box<dyn std::error::Error>> {
    let denied = SeccompAction::Errno(errno.cast_unsigned());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, denied, std::env::consts::ARCH.try_into()?)?;
    Ok(seccompiler::apply_filter(&BpfProgram::try_from(filter)?)?)
}

/// Bounds what a started probe may use up.
///
/// # Errors
/// The system's.
pub(super) fn limit(probe: Pid, seconds: u64) -> io::Result<()> {
    let bounds = [
        (Resource::As, 4 << 30),
        (Resource::Fsize, 64 << 20),
        (Resource::Nofile, 256),
        (Resource::Core, 0),
        (Resource::Cpu, seconds.max(1)),
    ];
    for (resource, bound) in bounds {
        prlimit(Some(probe), resource, Rlimit { current: Some(bound), maximum: Some(bound) })?;
    }
    Ok(())
}
