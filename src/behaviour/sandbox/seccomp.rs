//! Which system calls are answered.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};

use crate::digest::hex;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;
type Failure = Box<dyn std::error::Error>;

/// System calls that are of no use to a library under examination, and of much use to one that wants out.
const FORBIDDEN: &[libc::c_long] = &[
    // Other machines and other processes.
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_setsid,
    // Other surroundings.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_unshare,
    libc::SYS_setns,
    // Metadata of files, which Landlock leaves to their owner.
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    452, // fchmodat2
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    463, // setxattrat
    466, // removexattrat
    469, // file_setattr
    libc::SYS_utimensat,
    libc::SYS_mknodat,
    libc::SYS_open_by_handle_at,
    // What outlives a process.
    libc::SYS_shmget,
    libc::SYS_semget,
    libc::SYS_msgget,
    libc::SYS_mq_open,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    // More than its share.
    libc::SYS_setrlimit,
    libc::SYS_setpriority,
    libc::SYS_sched_setscheduler,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setattr,
    libc::SYS_mlockall,
    // The kernel itself.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_adjtimex,
    libc::SYS_clock_adjtime,
    libc::SYS_acct,
    libc::SYS_syslog,
];

/// The same under the names that only this architecture has.
#[cfg(target_arch = "x86_64")]
const FORBIDDEN_HERE: &[libc::c_long] = &[
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_futimesat,
    libc::SYS_mknod,
    libc::SYS_iopl,
    libc::SYS_ioperm,
];
#[cfg(not(target_arch = "x86_64"))]
const FORBIDDEN_HERE: &[libc::c_long] = &[];

#[cfg(target_arch = "x86_64")]
const FORKING: &[libc::c_long] = &[libc::SYS_fork, libc::SYS_vfork];
#[cfg(not(target_arch = "x86_64"))]
const FORKING: &[libc::c_long] = &[];

const NEW_NAMESPACES: i32 = libc::CLONE_NEWUSER
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP;

/// What speaks to a server. Which server is out of a filter's sight.
const CONNECTING: &[libc::c_long] = &[libc::SYS_socket, libc::SYS_connect];

/// Puts the first filter on the calling thread. `connects` leaves it streams over IPv4, and nothing but those.
pub(super) fn restrict(connects: bool) -> Result<(), Failure> {
    let mut rules: Rules = [FORBIDDEN, FORBIDDEN_HERE].concat().into_iter().map(|call| (call, Vec::new())).collect();
    if connects {
        let other_family = rule(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, libc::AF_INET.unsigned_abs().into())?;
        let stream = u64::from(libc::SOCK_STREAM.unsigned_abs());
        let other_kinds = (0..=0xf).filter(|&kind| kind != stream);
        let other_kinds = other_kinds.map(|kind| rule(1, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(0xf), kind));
        let denied = std::iter::once(Ok(other_family)).chain(other_kinds);
        rules.insert(libc::SYS_socket, denied.collect::<Result<_, _>>()?);
    } else {
        rules.extend(CONNECTING.iter().map(|&call| (call, Vec::new())));
    }
    // Any namespace flag set: one rule per flag, since a masked comparison asks for all bits of its mask.
    let flags = (0..31).map(|bit| 1u64 << bit).filter(|flag| u64::from(NEW_NAMESPACES.cast_unsigned()) & flag != 0);
    let namespaces = flags.map(|flag| rule(0, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(flag), flag));
    rules.insert(libc::SYS_clone, namespaces.collect::<Result<_, _>>()?);
    // Reading a limit stays free; root could raise one.
    rules.insert(libc::SYS_prlimit64, vec![rule(2, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0)?]);
    // Who is not dumpable cannot be looked at from outside.
    let dumpable = libc::PR_SET_DUMPABLE.cast_unsigned().into();
    rules.insert(libc::SYS_prctl, vec![rule(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, dumpable)?]);
    seccompiler::apply_filter(&program(rules, libc::EPERM)?)?;
    // Its flags lie behind a pointer, out of a filter's sight. Told that it does not exist, libraries fall back on clone.
    Ok(seccompiler::apply_filter(&program([(libc::SYS_clone3, Vec::new())].into(), libc::ENOSYS)?)?)
}

/// What a process can do without once it runs.
#[derive(Clone, Copy, Debug)]
pub(in crate::behaviour) enum Later {
    /// It has become the program it is, in a process group of its own: it may start no other program and join no other group.
    Started,
    /// It has this id, and has been forked: it may start no process, and send signals to none but itself.
    Forked(u32),
}

impl Later {
    /// The filter as the system takes it, hexadecimal.
    pub(in crate::behaviour) fn filter(self) -> Result<String, Failure> {
        let mut rules = Rules::new();
        match self {
            Later::Started => {
                rules.extend([libc::SYS_execve, libc::SYS_execveat, libc::SYS_setpgid].map(|call| (call, Vec::new())));
            }
            Later::Forked(id) => {
                rules.extend(FORKING.iter().chain(&[libc::SYS_tkill]).map(|&call| (call, Vec::new())));
                let thread = libc::CLONE_THREAD.cast_unsigned().into();
                let other = rule(0, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(thread), 0)?;
                rules.insert(libc::SYS_clone, vec![other]);
                for call in [libc::SYS_kill, libc::SYS_tgkill, libc::SYS_rt_sigqueueinfo, libc::SYS_rt_tgsigqueueinfo] {
                    rules.insert(call, vec![rule(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, id.into())?]);
                }
            }
        }
        let instructions = program(rules, libc::EPERM)?;
        let bytes = instructions.iter().flat_map(|step| {
            let [a, b] = step.code.to_ne_bytes();
            let [c, d, e, f] = step.k.to_ne_bytes();
            [a, b, step.jt, step.jf, c, d, e, f]
        });
        Ok(hex(&bytes.collect::<Vec<_>>()))
    }
}

fn rule(argument: u8, length: SeccompCmpArgLen, how: SeccompCmpOp, value: u64) -> Result<SeccompRule, Failure> {
    Ok(SeccompRule::new(vec![SeccompCondition::new(argument, length, how, value)?])?)
}

fn program(mut rules: Rules, errno: i32) -> Result<BpfProgram, Failure> {
    if cfg!(target_arch = "x86_64") {
        // The same calls once more under the numbers of the x32 interface, where a kernel has it.
        let again: Vec<_> = rules.iter().map(|(call, rules)| (call | 0x4000_0000, rules.clone())).collect();
        rules.extend(again);
    }
    let denied = SeccompAction::Errno(errno.cast_unsigned());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, denied, std::env::consts::ARCH.try_into()?)?;
    Ok(filter.try_into()?)
}
