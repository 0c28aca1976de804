//! Which entry of a pack grows from which.

use super::error::{Exhausted, ObjectError};
use super::links::Ledger;
use super::pack::{Base, Pack, Window};
use super::store::Store;
use crate::limits::Budget;

/// The delta trees of a pack, by position: the base, the first that needs it, the next that needs the same base.
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
        let results: Vec<Result<(), Exhausted>> = super::threads(pack.len() / STRETCH, || {
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
        let mut child = vec![NONE; base.len()];
        let mut sibling = vec![NONE; base.len()];
        for position in (0..base.len()).rev() {
            let base = base[position] as usize;
            if base < child.len() {
                sibling[position] = std::mem::replace(&mut child[base], position as u32);
            }
        }
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
