//! Bounds on what a run may cost. Reaching one is unverifiable, never a pass.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::tally::{Tally, counted};

/// Resource bounds; the default is the documented one, and the report names those in force.
#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct Limits {
    /// Files in the package.
    pub package_files: u64,
    /// Bytes of one package file.
    pub file_bytes: u64,
    /// Bytes of the whole package.
    pub package_bytes: u64,
    /// Bytes of one tree or commit.
    pub tree_bytes: u64,
    /// Reachable objects.
    pub objects: u64,
    /// Inflated bytes of all objects read.
    pub inflated_bytes: u64,
    /// Seconds of the whole run.
    pub seconds: u64,
    /// Seconds in which a probe must have started, or imported the SDK. Reached, the SDK is refused.
    pub import_seconds: u64,
    /// Seconds in which a probe must have answered one question. Reached, the SDK is refused.
    pub answer_seconds: u64,
    /// Bytes of memory that one probe may map. The system denies it more.
    pub probe_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            package_files: 5_000,
            file_bytes: 32 << 20,
            package_bytes: 256 << 20,
            tree_bytes: 64 << 20,
            objects: 20_000_000,
            inflated_bytes: 64 << 30,
            seconds: 600,
            import_seconds: 120,
            answer_seconds: 10,
            probe_bytes: 2 << 30,
        }
    }
}

/// Why a run has to stop before it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    /// A signal asked for it.
    #[error("interrupted by a signal")]
    Interrupted,
    /// The run's time is used up.
    #[error("the time limit of {} was reached", counted(*.0, "second"))]
    TimeLimit(u64),
}

/// The limits of one run together with its clock, its interrupt flag and its tally. Cheap to clone; every long loop asks [`Budget::check`].
#[derive(Clone, Debug)]
pub struct Budget {
    limits: Arc<Limits>,
    started: Instant,
    interrupt: Arc<AtomicBool>,
    abandoned: Arc<AtomicBool>,
    tally: Arc<Tally>,
}

impl Budget {
    /// Starts the clock. `interrupt` is set by whoever wants the run to stop (the signal handler).
    pub fn start(limits: Limits, interrupt: Arc<AtomicBool>) -> Self {
        let (limits, started) = (Arc::new(limits), Instant::now());
        Budget { limits, started, interrupt, abandoned: Arc::default(), tally: Arc::default() }
    }

    /// The same budget for work on the side, which [`Budget::abandon`] ends alone.
    pub fn branch(&self) -> Budget {
        Budget { abandoned: Arc::default(), ..self.clone() }
    }

    /// Stops whoever works on this budget: nobody needs the result any more.
    pub fn abandon(&self) {
        self.abandoned.store(true, Ordering::Relaxed);
    }

    /// The bounds in force.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The flag, for libraries that poll one.
    pub fn interrupt(&self) -> &AtomicBool {
        &self.interrupt
    }

    /// What was done so far.
    pub fn tally(&self) -> &Arc<Tally> {
        &self.tally
    }

    /// Since the start.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// What is left of the time limit.
    pub fn remaining(&self) -> Duration {
        Duration::from_secs(self.limits.seconds).saturating_sub(self.elapsed())
    }

    /// # Errors
    /// The run was interrupted, or its time is used up.
    pub fn check(&self) -> Result<(), Stop> {
        if self.interrupt.load(Ordering::Relaxed) || self.abandoned.load(Ordering::Relaxed) {
            Err(Stop::Interrupted)
        } else if self.remaining().is_zero() {
            Err(Stop::TimeLimit(self.limits.seconds))
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_stops_on_the_flag_and_on_the_clock() {
        let flag = Arc::new(AtomicBool::new(false));
        let budget = Budget::start(Limits::default(), flag.clone());
        assert_eq!(budget.check(), Ok(()));
        let (side, other) = (budget.branch(), budget.branch());
        side.clone().abandon();
        assert_eq!((side.check(), other.check(), budget.check()), (Err(Stop::Interrupted), Ok(()), Ok(())));
        flag.store(true, Ordering::Relaxed);
        assert_eq!((budget.check(), other.check()), (Err(Stop::Interrupted), Err(Stop::Interrupted)));
        let spent = Budget::start(Limits { seconds: 0, ..Limits::default() }, Arc::default());
        assert_eq!(spent.check(), Err(Stop::TimeLimit(0)));
        assert_eq!(Stop::TimeLimit(0).to_string(), "the time limit of 0 seconds was reached");
        assert_eq!(Stop::TimeLimit(1).to_string(), "the time limit of 1 second was reached");
    }
}
