//! Chance, from a seed.

use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};

pub(super) struct Dice(StdRng);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Dice(StdRng::seed_from_u64(seed))
    }

    /// From 0 to `end`, without `end`; 0 if that is 0.
    pub(super) fn below(&mut self, end: usize) -> usize {
        if end == 0 { 0 } else { self.0.random_range(0..end) }
    }

    pub(super) fn within(&mut self, least: i64, most: i64) -> i64 {
        self.0.random_range(least..=most.max(least))
    }

    pub(super) fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    /// One of some; there has to be one.
    pub(super) fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        items.shuffle(&mut self.0);
    }
}
