//! What the kernel refuses a probe, call by call, from inside.

use std::fmt::Write;

use paired_sdk_gate::report::Verdict;

use crate::hostile::append;
use crate::support::subject::{Subject, Verified};

/// Number and first argument of a call; the other arguments are all -1, with which none of them does anything.
type Call = (libc::c_long, i64);

/// Made in the SDK while it is imported. `wanted` is the error each of them has to end in.
fn call(calls: &[Call], wanted: i32) -> Verified {
    let mut code = "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\nanswered = []\n".to_owned();
    writeln!(code, "for number, first in {calls:?}:").unwrap();
    code += "    libc.syscall(ctypes.c_long(number), ctypes.c_long(first), *[ctypes.c_long(-1)] * 5)\n";
    writeln!(code, "    if ctypes.get_errno() != {wanted}:\n        answered.append(number)").unwrap();
    code += "if answered:\n    raise ImportError(f'answered: {answered}')";
    Subject::edited(|repo| append(repo, &code)).verify()
}

#[track_caller]
fn refused(calls: &[Call], wanted: i32) {
    let verified = call(calls, wanted);
    assert_eq!(verified.verdict(), Verdict::Passed, "{:#?}", verified.findings("module.origin"));
}

#[rustfmt::skip]
const NEVER: &[libc::c_long] = &[
    libc::SYS_socket, libc::SYS_connect, libc::SYS_bind, libc::SYS_listen,
    libc::SYS_ptrace, libc::SYS_process_vm_readv, libc::SYS_process_vm_writev, libc::SYS_pidfd_open,
    libc::SYS_pidfd_getfd, libc::SYS_kcmp, libc::SYS_setsid, libc::SYS_setpgid,
    libc::SYS_kill, libc::SYS_tkill, libc::SYS_tgkill, libc::SYS_rt_sigqueueinfo, libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_execve, libc::SYS_execveat,
    libc::SYS_mount, libc::SYS_umount2, libc::SYS_pivot_root, libc::SYS_chroot, libc::SYS_move_mount,
    libc::SYS_open_tree, libc::SYS_fsopen, libc::SYS_unshare, libc::SYS_setns,
    libc::SYS_fchmod, libc::SYS_fchmodat, 452, libc::SYS_fchown, libc::SYS_fchownat,
    libc::SYS_setxattr, libc::SYS_lsetxattr, libc::SYS_fsetxattr,
    libc::SYS_removexattr, libc::SYS_lremovexattr, libc::SYS_fremovexattr, 463, 466, 469,
    libc::SYS_utimensat, libc::SYS_mknodat, libc::SYS_open_by_handle_at,
    libc::SYS_shmget, libc::SYS_semget, libc::SYS_msgget, libc::SYS_mq_open,
    libc::SYS_keyctl, libc::SYS_add_key, libc::SYS_request_key,
    libc::SYS_setrlimit, libc::SYS_prlimit64, libc::SYS_setpriority, libc::SYS_sched_setscheduler,
    libc::SYS_sched_setparam, libc::SYS_sched_setattr, libc::SYS_mlockall,
    libc::SYS_bpf, libc::SYS_perf_event_open, libc::SYS_userfaultfd, libc::SYS_io_uring_setup, libc::SYS_kexec_load,
    libc::SYS_init_module, libc::SYS_finit_module, libc::SYS_delete_module, libc::SYS_reboot,
    libc::SYS_swapon, libc::SYS_swapoff, libc::SYS_sethostname, libc::SYS_setdomainname,
    libc::SYS_settimeofday, libc::SYS_clock_settime, libc::SYS_adjtimex, libc::SYS_clock_adjtime,
    libc::SYS_acct, libc::SYS_syslog,
    #[cfg(target_arch = "x86_64")] libc::SYS_chmod, #[cfg(target_arch = "x86_64")] libc::SYS_chown,
    #[cfg(target_arch = "x86_64")] libc::SYS_lchown, #[cfg(target_arch = "x86_64")] libc::SYS_utime,
    #[cfg(target_arch = "x86_64")] libc::SYS_utimes, #[cfg(target_arch = "x86_64")] libc::SYS_futimesat,
    #[cfg(target_arch = "x86_64")] libc::SYS_mknod, #[cfg(target_arch = "x86_64")] libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")] libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")] libc::SYS_fork, #[cfg(target_arch = "x86_64")] libc::SYS_vfork,
];

/// The vectors' probes get through this. The client's process imports the same module, and has a call that they do not have.
#[track_caller]
fn only_the_client_may_connect(numbers: impl Fn(libc::c_long) -> libc::c_long) {
    let calls: Vec<_> = NEVER.iter().map(|&number| (numbers(number), -1)).collect();
    let run = call(&calls, libc::EPERM);
    let found = &run.refused_by(&["pair.transcript"])[0].actual;
    assert_eq!(*found, format!("ImportError: answered: [{}]", numbers(libc::SYS_connect)));
}

#[test]
fn a_probe_gets_no_answer_to_a_call_that_reaches_beyond_it() {
    only_the_client_may_connect(|number| number);
}

#[test]
#[cfg(target_arch = "x86_64")]
fn nor_under_the_numbers_of_the_x32_interface() {
    only_the_client_may_connect(|number| number | 0x4000_0000);
}

#[test]
fn no_new_process_no_namespace_and_no_hiding() {
    let spaces = [
        libc::CLONE_NEWUSER,
        libc::CLONE_NEWNET,
        libc::CLONE_NEWNS,
        libc::CLONE_NEWPID,
        libc::CLONE_NEWIPC,
        libc::CLONE_NEWUTS,
        libc::CLONE_NEWCGROUP,
    ];
    // A thread in another namespace, which the kernel itself would call invalid; and a process of its own.
    let mut calls: Vec<Call> =
        spaces.iter().map(|&space| (libc::SYS_clone, i64::from(space | libc::CLONE_THREAD))).collect();
    calls.push((libc::SYS_clone, 0));
    calls.push((libc::SYS_prctl, libc::PR_SET_DUMPABLE.into()));
    refused(&calls, libc::EPERM);
    refused(&[(libc::SYS_clone3, -1)], libc::ENOSYS);
}

#[test]
fn a_call_that_is_answered_is_told() {
    let verified = call(&[(libc::SYS_close, -1), (libc::SYS_ptrace, -1)], libc::EPERM);
    let found = &verified.refused_by(&["module.origin", "probe.transcript"])[0].actual;
    assert_eq!(*found, format!("ImportError: answered: [{}]", libc::SYS_close));
}
