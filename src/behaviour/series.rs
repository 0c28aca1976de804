//! What is asked: the published vectors and fresh ones, and which probe is asked which of them in which order.

use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;

use crate::contract::{self, Vector};

/// One fresh vector in so many is asked of both probes; the others of one, so that there can be twice as many.
const SHARED_EVERY: usize = 8;

/// The vectors, and for each of two probes the order in which it is asked.
#[derive(Debug)]
pub struct Series {
    vectors: Vec<Vector>,
    published: usize,
    orders: [Vec<usize>; 2],
}

impl Series {
    /// The published vectors, for both probes, and `generated` fresh ones; the same for the same seed.
    pub fn new(published: &[Vector], generated: usize, seed: u64) -> Self {
        let mut vectors = published.to_vec();
        vectors.extend(contract::generate(seed, generated));
        let mut rng = StdRng::seed_from_u64(seed);
        let order = |probe: usize, rng: &mut StdRng| {
            let mut order: Vec<_> = (0..vectors.len()).filter(|&index| asks(published.len(), probe, index)).collect();
            order.shuffle(rng);
            order
        };
        let mut orders = [order(0, &mut rng), order(1, &mut rng)];
        if orders[0] == orders[1] {
            orders[1].reverse();
        }
        Series { vectors, published: published.len(), orders }
    }

    /// All of them, the published ones first.
    pub(super) fn vectors(&self) -> &[Vector] {
        &self.vectors
    }

    /// Whether that vector was drawn for this run.
    pub(super) fn is_fresh(&self, index: usize) -> bool {
        index >= self.published
    }

    /// Whether that probe is asked that vector.
    pub(super) fn asks(&self, probe: usize, index: usize) -> bool {
        asks(self.published, probe, index)
    }

    /// What that probe is asked, in its order.
    pub(super) fn order(&self, probe: usize) -> &[usize] {
        &self.orders[probe]
    }

    /// Whether a response goes to the SDK as the text of a document, for it to read itself: every other fresh one.
    pub(super) fn as_document(&self, index: usize) -> bool {
        self.is_fresh(index) && index.is_multiple_of(2)
    }
}

fn asks(published: usize, probe: usize, index: usize) -> bool {
    match index.checked_sub(published) {
        None => true,
        Some(fresh) => {
            // The turn shifts, or one of them would have all the shared ones on top, and all the manifests.
            let turn = fresh / 2 + fresh / SHARED_EVERY + probe;
            fresh.is_multiple_of(SHARED_EVERY) || turn.is_multiple_of(2)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{Contract, Question};
    use proptest::prelude::*;

    #[test]
    fn both_are_asked_the_published_ones_and_a_part_of_the_fresh_ones_and_one_the_rest() {
        let published = Contract::bridge_v1().vectors().unwrap();
        let series = Series::new(published, 800, 7);
        assert_eq!(series.vectors()[..published.len()], *published);
        assert_eq!(series.vectors().len(), published.len() + 800);
        let asked = |index| [0, 1].map(|probe| series.order(probe).contains(&index));
        for index in 0..series.vectors().len() {
            assert_eq!(asked(index), [0, 1].map(|probe| series.asks(probe, index)));
            assert!(asked(index).contains(&true));
            assert!(series.is_fresh(index) || asked(index) == [true, true]);
        }
        let shared = (published.len()..published.len() + 800).filter(|&index| asked(index) == [true, true]).count();
        assert_eq!(shared, 100);
        assert_eq!([0, 1].map(|probe| series.order(probe).len() - published.len()), [450, 450]);
        let manifest =
            |&&index: &&usize| series.is_fresh(index) && series.vectors()[index].question == Question::Manifest;
        assert_eq!([0, 1].map(|probe| series.order(probe).iter().filter(manifest).count()), [4, 4]);
        // Documents are put to both probes.
        for probe in [0, 1] {
            assert!(series.order(probe).iter().any(|&index| series.as_document(index)));
            assert!(series.order(probe).iter().any(|&index| series.is_fresh(index) && !series.as_document(index)));
        }
    }

    proptest! {
        #[test]
        fn two_orders_that_the_seed_fixes(count in 2usize..60, seed: u64) {
            let published = &Contract::bridge_v1().vectors().unwrap()[..count];
            let series = Series::new(published, 0, seed);
            prop_assert_ne!(series.order(0), series.order(1));
            for probe in [0, 1] {
                let mut order = series.order(probe).to_vec();
                order.sort_unstable();
                prop_assert_eq!(order, (0..count).collect::<Vec<_>>());
            }
            prop_assert_eq!(Series::new(published, 0, seed).orders, series.orders);
        }
    }
}
