//! Faults for tests: a thread's next run fails, meets a meddler or dies with its whole process, at a chosen step.

use std::cell::{Cell, RefCell};
use std::io;

use super::Step;

/// What happens at the chosen step.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    /// The system call fails with this.
    Fail(rustix::io::Errno),
    /// The process is killed before the system call, as by `kill -9`.
    Kill,
    /// Somebody else gets in just before the system call.
    Meddle(fn()),
}

thread_local! {
    static STEPS: RefCell<Vec<Step>> = const { RefCell::new(Vec::new()) };
    static PLAN: Cell<Option<(usize, Fault)>> = const { Cell::new(None) };
}

/// Starts counting this thread's steps from zero; at step `at`, if given, the fault strikes.
pub(crate) fn plan(fault: Option<(usize, Fault)>) {
    STEPS.take();
    PLAN.set(fault);
}

/// The steps since [`plan`].
pub(crate) fn steps() -> Vec<Step> {
    STEPS.with_borrow(Vec::clone)
}

pub(super) fn arrive(step: Step) -> io::Result<()> {
    let at = STEPS.with_borrow_mut(|steps| {
        steps.push(step);
        steps.len() - 1
    });
    match PLAN.get() {
        Some((planned, Fault::Fail(errno))) if planned == at => Err(errno.into()),
        Some((planned, Fault::Kill)) if planned == at => die(),
        Some((planned, Fault::Meddle(meddle))) if planned == at => {
            meddle();
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Dies by a signal that nothing can catch.
pub(crate) fn die() -> ! {
    let killed = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    unreachable!("still alive after {killed:?}")
}
