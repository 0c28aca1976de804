//! Work on all cores.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Applies `work` to every item, on as many threads as there are cores and items; the results in the items' order.
///
/// Items are taken one at a time, so that a few large ones do not leave a core idle. A panic in `work` is passed on.
pub fn map<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let run = || {
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else { return done };
            done.push((index, work(item)));
        }
    };
    let extra = std::thread::available_parallelism().map_or(1, usize::from).min(items.len()).saturating_sub(1);
    let mut results = std::thread::scope(|scope| {
        let others: Vec<_> = (0..extra).map(|_| scope.spawn(run)).collect();
        let mut results = run();
        for other in others {
            results.extend(other.join().unwrap_or_else(|payload| std::panic::resume_unwind(payload)));
        }
        results
    });
    results.sort_unstable_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
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
