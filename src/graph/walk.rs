//! Connectivity: from one commit through every link, in memory. Loose objects are read as they are reached.

use std::collections::HashSet;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use gix::ObjectId;
use gix::objs::Kind;

use super::content::Content;
use super::error::{Exhausted, ObjectError};
use super::kept::Kept;
use super::links::{Ledger, Link, Links, Part, Role, State};
use super::loose;
use super::meter::Meter;
use super::store::Store;
use super::table::raw;
use crate::limits::Budget;
use crate::parallel;

/// Something wrong with an object that is reachable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Problem {
    /// Nothing of that id is in the store.
    Absent(Link),
    /// It is there, but not as what the link says.
    Kind(Link, Kind),
    /// A copy is damaged.
    Bad(u32),
    /// A copy could not be judged.
    Undecided(u32),
    /// It breaks a rule.
    Malformed(u32),
    /// It breaks the rule for its name.
    Special(Link),
}

/// The first problems of each sort, and what was counted.
#[derive(Default)]
pub(super) struct Outcome {
    /// Each with the object that links there; None for the root.
    pub problems: Vec<(Problem, Option<u32>)>,
    /// Problems in all, the ones above included.
    pub count: [u64; 6],
    pub commits: u64,
    pub trees: u64,
    pub blobs: u64,
    pub bytes: u64,
    /// Boundary commits that were reached and do have parents.
    pub boundary: Vec<ObjectId>,
    /// Blobs whose names call for a content rule.
    pub special: Vec<(Link, u32)>,
}

impl Problem {
    pub(super) fn sort(self) -> usize {
        match self {
            Problem::Absent(_) => 0,
            Problem::Kind(..) => 1,
            Problem::Bad(_) => 2,
            Problem::Undecided(_) => 3,
            Problem::Malformed(_) => 4,
            Problem::Special(_) => 5,
        }
    }
}

impl Outcome {
    /// Problems of one sort that are kept.
    pub(super) const KEPT: u64 = 20;

    pub(super) fn add(&mut self, problem: Problem, from: Option<u32>) {
        let count = &mut self.count[problem.sort()];
        *count += 1;
        if *count <= Self::KEPT {
            self.problems.push((problem, from));
        }
    }
}

/// A set of numbers that are dense and few.
#[derive(Default)]
struct Bits(Vec<u64>);

impl Bits {
    /// Whether it is new.
    fn insert(&mut self, number: u32) -> bool {
        let (word, bit) = (number as usize / 64, 1_u64 << (number % 64));
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        let new = self.0[word] & bit == 0;
        self.0[word] |= bit;
        new
    }

    fn contains(&self, number: u32) -> bool {
        self.0.get(number as usize / 64).is_some_and(|word| word & (1 << (number % 64)) != 0)
    }
}

pub(super) struct Walk<'a> {
    pub store: &'a Store,
    pub ledger: &'a Ledger<'a>,
    pub links: &'a mut Links,
    pub kept: &'a Kept,
    pub budget: &'a Budget,
    /// Commits whose parents do not count.
    pub boundary: &'a HashSet<ObjectId>,
}

impl Walk<'_> {
    /// Follows every link from the commit `root`, which is an object of the table.
    pub(super) fn run(mut self, root: u32) -> Result<Outcome, Exhausted> {
        let mut outcome = Outcome::default();
        let boundary: HashSet<u32> = self.boundary.iter().filter_map(|id| self.store.table.find(&raw(id))).collect();
        let (mut seen, mut read) = (Bits::default(), Bits::default());
        let mut special = HashSet::new();
        let mut stack = vec![(Link::new(root, Role::Commit), None)];
        let mut waiting = Vec::new();
        let mut steps = 0_u64;
        loop {
            while let Some((link, from)) = stack.pop() {
                steps += 1;
                if steps.is_multiple_of(4096) {
                    self.budget.check()?;
                }
                let object = link.object();
                if !seen.contains(object) && !read.contains(object) && self.store.is_loose(object) {
                    waiting.push((link, from));
                    continue;
                }
                if self.settle(link, from, &mut seen, &boundary, &mut outcome) {
                    let (links, _) = self.links.of(object).unwrap_or((&[], 0));
                    let parents_count = !boundary.contains(&object);
                    let follow = |link: &&Link| link.role() != Role::Commit || parents_count;
                    // The last is walked first: parents wait until the trees are done.
                    stack.extend(links.iter().rev().filter(follow).map(|&link| (link, Some(object))));
                }
                if matches!(link.role(), Role::Modules | Role::Attributes | Role::Both)
                    && special.insert((object, link.role()))
                {
                    outcome.special.push((link, from.unwrap_or(object)));
                }
            }
            if waiting.is_empty() {
                return Ok(outcome);
            }
            self.read_loose(&waiting, &mut read, &boundary)?;
            waiting.reverse();
            stack.append(&mut waiting);
        }
    }

    /// Judges a link and, the first time, its object; whether that object's links are to be followed.
    fn settle(
        &self,
        link: Link,
        from: Option<u32>,
        seen: &mut Bits,
        boundary: &HashSet<u32>,
        outcome: &mut Outcome,
    ) -> bool {
        let object = link.object();
        let state = self.ledger.state(object);
        let first = seen.insert(object);
        if let Some(kind) = state.kind()
            && kind != link.role().kind()
        {
            outcome.add(Problem::Kind(link, kind), from);
        }
        if !first {
            return false;
        }
        if object as usize >= self.store.table.len() {
            outcome.add(Problem::Absent(link), from);
            return false;
        }
        if state.has(State::BAD) {
            outcome.add(Problem::Bad(object), from);
        }
        // An object without any verdict was not read: never a pass.
        if state.has(State::UNDECIDED) || (state.kind().is_none() && !state.has(State::BAD)) {
            outcome.add(Problem::Undecided(object), from);
        }
        if state.has(State::MALFORMED) {
            outcome.add(Problem::Malformed(object), from);
        }
        let Some((links, size)) = self.links.of(object) else { return false };
        outcome.bytes += size;
        match state.kind() {
            Some(Kind::Commit) => {
                outcome.commits += 1;
                if boundary.contains(&object) && links.iter().any(|link| link.role() == Role::Commit) {
                    outcome.boundary.push(self.store.table.id(object));
                }
            }
            Some(Kind::Tree) => outcome.trees += 1,
            Some(Kind::Blob) => outcome.blobs += 1,
            Some(Kind::Tag) | None => {}
        }
        true
    }

    /// Reads loose objects on all cores: these, and whatever loose ones they lead to.
    fn read_loose(
        &mut self,
        waiting: &[(Link, Option<u32>)],
        read: &mut Bits,
        boundary: &HashSet<u32>,
    ) -> Result<(), Exhausted> {
        let objects = waiting.iter().map(|(link, _)| link.object()).filter(|&object| read.insert(object)).collect();
        let queue = Queue::new(objects, read);
        let (store, ledger, kept, budget) = (self.store, self.ledger, self.kept, self.budget);
        let job = || {
            let mut reader = loose::Reader::new();
            let mut meter = Meter::new(budget, &store.inflated);
            let mut part = Part::default();
            let mut content = Content::default();
            while let Some(task) = queue.take() {
                let object = task.object;
                for path in store.loose_copies(object) {
                    let want = kept.wanted(object);
                    match reader.read(&path, store.table.id(object), want, &mut meter, &mut content) {
                        Ok((kind, size)) => {
                            part.record(ledger, object, kind, size, &content)?;
                            if kind == Kind::Blob && want.keeps(size) {
                                kept.offer(object, std::mem::take(&mut content));
                            }
                        }
                        Err(ObjectError::Exhausted(error)) => return Err(error),
                        Err(error) => ledger.fault(object, &error),
                    }
                }
                let parents_count = !boundary.contains(&object);
                let follow = |link: &&Link| link.role() != Role::Commit || parents_count;
                let links = part.links_of_last(object).iter().filter(follow).map(|link| link.object());
                task.done(links.filter(|&object| store.is_loose(object)));
                budget.tally().objects.add(1);
            }
            Ok(part)
        };
        for part in parallel::run(usize::MAX, job) {
            self.links.add(part?);
        }
        Ok(())
    }
}

/// Objects to be read, shared by all threads; each leads to more.
struct Queue<'a> {
    state: Mutex<QueueState<'a>>,
    changed: Condvar,
}

struct QueueState<'a> {
    waiting: Vec<u32>,
    /// Every object that ever was in the queue.
    known: &'a mut Bits,
    /// Tasks that may still add to the queue.
    busy: usize,
    /// A task ended before it was done.
    broken: bool,
}

/// One object that a thread reads. Dropped before it is done, it ends the work of all.
struct Task<'a, 'b> {
    queue: &'a Queue<'b>,
    object: u32,
    done: bool,
}

impl<'b> Queue<'b> {
    fn new(waiting: Vec<u32>, known: &'b mut Bits) -> Self {
        Queue { state: Mutex::new(QueueState { waiting, known, busy: 0, broken: false }), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, QueueState<'b>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next object; waits while there may be more. None when nothing is left.
    fn take(&self) -> Option<Task<'_, 'b>> {
        let mut state = self.lock();
        loop {
            if state.broken {
                return None;
            }
            if let Some(object) = state.waiting.pop() {
                state.busy += 1;
                return Some(Task { queue: self, object, done: false });
            }
            if state.busy == 0 {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Task<'_, '_> {
    /// The object was read and leads to these.
    fn done(mut self, next: impl Iterator<Item = u32>) {
        let mut state = self.queue.lock();
        let QueueState { waiting, known, .. } = &mut *state;
        waiting.extend(next.filter(|&object| known.insert(object)));
        self.done = true;
    }
}

impl Drop for Task<'_, '_> {
    fn drop(&mut self) {
        let mut state = self.queue.lock();
        state.busy -= 1;
        state.broken |= !self.done;
        drop(state);
        self.queue.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn everything_that_is_led_to_is_taken_once() {
        let mut known = Bits::default();
        known.insert(0);
        let queue = Queue::new(vec![0], &mut known);
        let taken: Vec<AtomicU32> = (0..10_000).map(|_| AtomicU32::new(0)).collect();
        parallel::run(usize::MAX, || {
            while let Some(task) = queue.take() {
                taken[task.object as usize].fetch_add(1, Ordering::Relaxed);
                let next = [2 * task.object + 1, 2 * task.object + 2, task.object / 2];
                task.done(next.into_iter().filter(|&object| object < 10_000));
            }
        });
        assert!(taken.iter().all(|count| count.load(Ordering::Relaxed) == 1));
    }

    #[test]
    fn a_task_that_is_not_done_ends_the_work_of_all() {
        let mut known = Bits::default();
        let queue = Queue::new((0..1000).collect(), &mut known);
        let taken: u32 =
            parallel::run(usize::MAX, || queue.take().map_or(0, |task| task.object / 1000 + 1)).iter().sum();
        assert!(taken >= 1 && queue.take().is_none());
    }
}
