//! Whether this machine lets processes run at all while deadlines count.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

const TICK: Duration = Duration::from_millis(20);

/// A thread that only sleeps, and notices how long it is kept from waking: by a machine that is stopped, out of memory or overloaded.
#[derive(Debug)]
pub(super) struct Watch {
    end: Sender<()>,
    /// None where the system had no thread to give: then nothing is noticed.
    thread: Option<JoinHandle<Duration>>,
}

impl Watch {
    pub(super) fn start() -> Self {
        let (end, ended) = channel();
        let watch = move || {
            let mut longest = Duration::ZERO;
            loop {
                let asleep = Instant::now();
                if ended.recv_timeout(TICK) != Err(RecvTimeoutError::Timeout) {
                    return longest;
                }
                longest = longest.max(asleep.elapsed().saturating_sub(TICK));
            }
        };
        Watch { end, thread: Builder::new().name("watch".into()).spawn(watch).ok() }
    }

    /// How long at most it was kept from waking at a stretch.
    pub(super) fn finish(self) -> Duration {
        drop(self.end);
        // A watch that broke off saw nothing.
        self.thread.and_then(|thread| thread.join().ok()).unwrap_or_default()
    }
}
