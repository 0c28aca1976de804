//! Work on all cores.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Applies `work` to every item, on as many threads as there are cores and items; the results in the items' order.
///
/// Items are taken one at a time, so that a few large ones do not leave a core idle. A panic in `work` is passed on.
pub fn map<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let parts = run(items.len(), || {
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else { return done };
            done.push((index, work(item)));
        }
    });
    let mut results: Vec<_> = parts.into_iter().flatten().collect();
    results.sort_unstable_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Runs a job on as many threads as there are cores, this one included, though never on more than `most`; what each returned.
/// A panic is passed on.
pub fn run<T: Send>(most: usize, job: impl Fn() -> T + Sync) -> Vec<T> {
    let extra = std::thread::available_parallelism().map_or(1, usize::from).min(most).saturating_sub(1);
    std::thread::scope(|scope| {
        let others: Vec<_> = (0..extra).map(|_| scope.spawn(&job)).collect();
        let own = job();
        let join = |other: std::thread::ScopedJoinHandle<'_, T>| {
            other.join().unwrap_or_else(|payload| std::panic::resume_unwind(payload))
        };
        std::iter::once(own).chain(others.into_iter().map(join)).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_once_and_in_order() {
        let items: Vec<usize> = (0..1000).collect();
        assert_eq!(map(&items, |item| item * 2), items.iter().map(|item| item * 2).collect::<Vec<_>>());
        assert_eq!(map(&[] as &[usize], |item| *item), Vec::<usize>::new());
    }

    #[test]
    #[should_panic = "the seventh"]
    fn a_panic_is_passed_on() {
        map(&(0..100).collect::<Vec<_>>(), |&item| assert!(item != 7, "the seventh"));
    }
}
