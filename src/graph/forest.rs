//! Which entry of a pack grows from which.

use super::error::{Exhausted, ObjectError};
use super::links::Ledger;
use super::pack::{Base, Pack, Window};
use super::store::Store;
use crate::limits::Budget;
use crate::parallel;

/// The delta trees of a pack, by position: the base, the first that needs it, the next that needs the same base.
///
/// Of those that need the same base, the one with most deltas above it comes last: nobody needs the base after it, so that on
/// the way to any entry no more bases have to be kept than the logarithm of the number of entries.
pub(super) struct Forest {
    pub base: Vec<u32>,
    pub child: Vec<u32>,
    pub sibling: Vec<u32>,
}

/// No position.
pub(super) const NONE: u32 = u32::MAX;
/// In place of a base: the header could not be read.
pub(super) const BROKEN: u32 = u32::MAX - 1;

impl Forest {
    /// Reads the header of every entry.
    pub(super) fn plant(store: &Store, pack: &Pack, ledger: &Ledger<'_>, budget: &Budget) -> Result<Self, Exhausted> {
        const STRETCH: usize = 4096;
        let mut base = vec![NONE; pack.len()];
        let stretches = std::sync::Mutex::new(base.chunks_mut(STRETCH).enumerate());
        let results: Vec<Result<(), Exhausted>> = parallel::run(pack.len() / STRETCH, || {
            let mut window = Window::forward();
            loop {
                let taken = stretches.lock().unwrap_or_else(std::sync::PoisonError::into_inner).next();
                let Some((index, stretch)) = taken else { return Ok(()) };
                budget.check()?;
                for (inner, base) in stretch.iter_mut().enumerate() {
                    let position = (index * STRETCH + inner) as u32;
                    *base = match pack.entry(position, &store.table, &mut window) {
                        Ok(entry) => match entry.base {
                            Base::Whole(_) => NONE,
                            Base::Delta(base) => base,
                        },
                        Err(error) => {
                            ledger.fault(pack.object(position), &error);
                            BROKEN
                        }
                    };
                }
            }
        });
        results.into_iter().collect::<Result<(), _>>()?;
        let (child, sibling) = children(&base);
        let forest = Forest { base, child, sibling };
        forest.find_circles(pack, ledger);
        Ok(forest)
    }

    /// Entries that no whole object leads to need themselves, or something that does.
    fn find_circles(&self, pack: &Pack, ledger: &Ledger<'_>) {
        let ahead = |(position, &base): (usize, &u32)| base < BROKEN && base as usize >= position;
        if !self.base.iter().enumerate().any(ahead) {
            return;
        }
        let mut reached = vec![false; self.base.len()];
        let mut stack: Vec<u32> =
            (0..self.base.len() as u32).filter(|&position| self.base[position as usize] >= BROKEN).collect();
        while let Some(position) = stack.pop() {
            reached[position as usize] = true;
            stack.extend(self.children(position));
        }
        for (position, _) in reached.iter().enumerate().filter(|(_, reached)| !**reached) {
            ledger.fault(pack.object(position as u32), &ObjectError::Circle);
        }
    }

    /// The deltas on top of an entry.
    pub(super) fn children(&self, position: u32) -> impl Iterator<Item = u32> {
        let some = |position: u32| (position != NONE).then_some(position);
        std::iter::successors(some(self.child[position as usize]), move |&child| some(self.sibling[child as usize]))
    }
}

/// The first child and the next sibling of each.
fn children(base: &[u32]) -> (Vec<u32>, Vec<u32>) {
    // Bases nearly always lie before what needs them; where they do not, the order is less good and nothing else.
    let mut size = vec![1_u32; base.len()];
    let mut heaviest = vec![NONE; base.len()];
    for position in (0..base.len()).rev() {
        let below = base[position] as usize;
        if below < base.len() {
            size[below] = size[below].saturating_add(size[position]);
            let other = heaviest[below] as usize;
            if other >= base.len() || size[other] < size[position] {
                heaviest[below] = position as u32;
            }
        }
    }
    drop(size);
    let mut child = heaviest.clone();
    let mut sibling = vec![NONE; base.len()];
    for position in (0..base.len()).rev() {
        let below = base[position] as usize;
        if below < base.len() && heaviest[below] as usize != position {
            sibling[position] = std::mem::replace(&mut child[below], position as u32);
        }
    }
    (child, sibling)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn list(child: &[u32], sibling: &[u32], of: usize) -> Vec<u32> {
        let some = |position: u32| (position != NONE).then_some(position);
        std::iter::successors(some(child[of]), |&at| some(sibling[at as usize])).collect()
    }

    #[test]
    fn the_one_with_most_above_it_comes_last() {
        // 0 ◀ 1 ◀ 2, 0 ◀ 3, 0 ◀ 4; 5 needs an entry whose header could not be read.
        let (child, sibling) = children(&[NONE, 0, 1, 0, 0, BROKEN]);
        assert_eq!(list(&child, &sibling, 0), [3, 4, 1]);
        assert_eq!(list(&child, &sibling, 1), [2]);
    }

    proptest! {
        #[test]
        fn everybody_is_the_child_of_its_base_once(base in prop::collection::vec(0_u32..24, 0..20)) {
            let (child, sibling) = children(&base);
            for of in 0..base.len() {
                let mut found = list(&child, &sibling, of);
                found.sort_unstable();
                let wanted: Vec<u32> = (0..base.len() as u32).filter(|&at| base[at as usize] as usize == of).collect();
                prop_assert_eq!(found, wanted);
            }
        }
    }
}
