//! SIGINT and SIGTERM: the first asks the run to stop and clean up, the second ends it at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use anyhow::Context;
use signal_hook::consts::{SIGINT, SIGTERM};

/// What the handlers have seen.
#[derive(Debug)]
pub(super) struct Signals {
    interrupt: Arc<AtomicBool>,
    seen: Arc<AtomicUsize>,
}

impl Signals {
    pub(super) fn install() -> anyhow::Result<Self> {
        let signals = Signals { interrupt: Arc::default(), seen: Arc::default() };
        for signal in [SIGINT, SIGTERM] {
            let number = usize::try_from(signal)?;
            // In this order: a first signal finds the flag unset and only sets it.
            signal_hook::flag::register_conditional_shutdown(signal, 128 + signal, signals.interrupt.clone())
                .and_then(|_| signal_hook::flag::register_usize(signal, signals.seen.clone(), number))
                .and_then(|_| signal_hook::flag::register(signal, signals.interrupt.clone()))
                .context("cannot install a signal handler")?;
        }
        Ok(signals)
    }

    /// Set once a signal has come.
    pub(super) fn interrupt(&self) -> Arc<AtomicBool> {
        self.interrupt.clone()
    }

    /// The signal's name and the exit code that tells of it, if one has come.
    pub(super) fn seen(&self) -> Option<(&'static str, u8)> {
        match i32::try_from(self.seen.load(Ordering::Relaxed)) {
            Ok(SIGINT) => Some(("SIGINT", 130)),
            Ok(SIGTERM) => Some(("SIGTERM", 143)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
