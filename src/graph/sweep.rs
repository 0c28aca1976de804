//! One pass over a pack on all cores: every entry is inflated once, hashed, and its links are recorded.
//!
//! Deltas are resolved from their bases outward, depth first, so that a base is at hand for all that need it. What a
//! thread holds is bounded: beyond that, bases are let go and made again when their turn comes.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use gix::objs::Kind;

use super::content::Content;
use super::delta;
use super::error::{Exhausted, ObjectError};
use super::forest::{BROKEN, Forest, NONE};
use super::hash::{self, Hasher};
use super::inflate::Inflater;
use super::kept::Kept;
use super::links::{Ledger, Links, Part};
use super::meter::Meter;
use super::pack::{Base, Entry, Pack, Window};
use super::store::Store;
use crate::limits::Budget;
use crate::parallel;
use crate::tally::Tally;

/// Bytes of bases one thread keeps for entries to come.
const HELD: usize = 48 << 20;

/// Reads all packs.
pub(super) fn packs(
    store: &Store,
    ledger: &Ledger<'_>,
    kept: &Kept,
    links: &mut Links,
    budget: &Budget,
) -> Result<(), Exhausted> {
    for pack in &store.packs {
        let forest = Forest::plant(store, pack, ledger, budget)?;
        let next = AtomicUsize::new(0);
        let stop = AtomicBool::new(false);
        let parts: Vec<Result<Part, Exhausted>> = parallel::run(pack.len(), || {
            let mut worker = Worker::new(store, pack, &forest, ledger, kept, budget);
            let result = worker.run(&next, &stop, budget.tally());
            if result.is_err() {
                stop.store(true, Ordering::Relaxed);
            }
            result.map(|()| worker.part)
        });
        for part in parts {
            links.add(part?);
        }
    }
    Ok(())
}

/// An entry whose deltas are being resolved.
struct Frame {
    position: u32,
    next: u32,
    /// Empty once it was let go.
    content: Option<Content>,
}

struct Worker<'a> {
    store: &'a Store,
    pack: &'a Pack,
    forest: &'a Forest,
    ledger: &'a Ledger<'a>,
    kept: &'a Kept,
    meter: Meter<'a>,
    part: Part,
    inflater: Inflater,
    /// For whole objects, which come in order, and for deltas, which do not.
    forward: Window,
    scattered: Window,
    delta: Content,
    spare: Vec<Content>,
    held: usize,
}

impl<'a> Worker<'a> {
    fn new(
        store: &'a Store,
        pack: &'a Pack,
        forest: &'a Forest,
        ledger: &'a Ledger<'a>,
        kept: &'a Kept,
        budget: &'a Budget,
    ) -> Self {
        Worker {
            store,
            pack,
            forest,
            ledger,
            kept,
            meter: Meter::new(budget, &store.inflated),
            part: Part::default(),
            inflater: Inflater::new(),
            forward: Window::forward(),
            scattered: Window::scattered(),
            delta: Content::default(),
            spare: Vec::new(),
            held: 0,
        }
    }

    fn run(&mut self, next: &AtomicUsize, stop: &AtomicBool, tally: &Tally) -> Result<(), Exhausted> {
        let stretch = (self.pack.len() / 256).clamp(1, 1024);
        while !stop.load(Ordering::Relaxed) {
            let start = next.fetch_add(stretch, Ordering::Relaxed);
            if start >= self.pack.len() {
                break;
            }
            let end = (start + stretch).min(self.pack.len());
            for position in start..end {
                if self.forest.base[position] == NONE {
                    self.tree(position as u32)?;
                } else if self.forest.base[position] == BROKEN {
                    self.give_up_below(position as u32, &ObjectError::Base)?;
                }
            }
            tally.objects.add(end - start);
        }
        Ok(())
    }

    /// A whole object and all deltas that grow from it.
    fn tree(&mut self, root: u32) -> Result<(), Exhausted> {
        let (kind, content) = match self.root(root) {
            Ok(read) => read,
            Err(error) => return self.give_up(root, error),
        };
        let Some(content) = content else { return Ok(()) };
        let mut stack = Vec::new();
        self.push(&mut stack, root, content);
        while let Some(frame) = stack.last_mut() {
            let position = frame.next;
            if position == NONE {
                let content = stack.pop().and_then(|frame| frame.content);
                self.let_go(content);
                continue;
            }
            frame.next = self.forest.sibling[position as usize];
            let base = match frame.content.take() {
                Some(content) => content,
                None => match self.again(frame.position) {
                    Ok((_, content)) => content,
                    Err(error) => {
                        self.give_up(position, error)?;
                        continue;
                    }
                },
            };
            let mut content = self.spare.pop().unwrap_or_default();
            let result = self.delta(position, kind, &base, &mut content);
            // Only kept if another needs it too.
            if frame.next == NONE {
                self.let_go(Some(base));
            } else {
                frame.content = Some(base);
            }
            match result {
                Ok(()) if self.forest.child[position as usize] != NONE => self.push(&mut stack, position, content),
                Ok(()) => self.recycle(content),
                Err(error) => {
                    self.recycle(content);
                    self.give_up(position, error)?;
                }
            }
        }
        Ok(())
    }

    fn push(&mut self, stack: &mut Vec<Frame>, position: u32, content: Content) {
        self.held += content.capacity();
        let next = self.forest.child[position as usize];
        stack.push(Frame { position, next, content: Some(content) });
        let top = stack.len() - 1;
        // The lowest come again last.
        for frame in &mut stack[..top] {
            if self.held <= HELD {
                break;
            }
            if let Some(content) = frame.content.take() {
                self.held -= content.capacity();
            }
        }
    }

    fn let_go(&mut self, content: Option<Content>) {
        if let Some(content) = content {
            self.held = self.held.saturating_sub(content.capacity());
            self.recycle(content);
        }
    }

    /// Small buffers are used again.
    fn recycle(&mut self, content: Content) {
        if self.spare.len() < 16 && content.capacity() <= 1 << 20 {
            self.spare.push(content);
        }
    }

    /// Reads and records a whole object. Its content, if deltas need it.
    fn root(&mut self, position: u32) -> Result<(Kind, Option<Content>), ObjectError> {
        let entry = self.pack.entry(position, &self.store.table, &mut self.forward)?;
        let Base::Whole(kind) = entry.base else { return Err(ObjectError::Base) };
        let object = self.pack.object(position);
        let id = self.store.table.id(object);
        let needed = self.forest.child[position as usize] != NONE;
        let mut reader = PackReader { inflater: &mut self.inflater, window: &mut self.forward };
        if kind == Kind::Blob && !needed && !self.kept.wanted(object).keeps(entry.size) {
            reader.hash(self.pack, position, &entry, &mut self.meter, id)?;
            self.part.record(self.ledger, object, kind, entry.size, &[])?;
            return Ok((kind, None));
        }
        let size = self.meter.fits(kind, entry.size)?;
        let mut content = self.spare.pop().unwrap_or_default();
        reader.inflate(self.pack, position, &entry, size, &mut self.meter, &mut content)?;
        self.judge(object, kind, &mut content, needed)?;
        if needed {
            return Ok((kind, Some(content)));
        }
        self.recycle(content);
        Ok((kind, None))
    }

    /// Makes an object from its base and records it.
    fn delta(&mut self, position: u32, kind: Kind, base: &[u8], content: &mut Content) -> Result<(), ObjectError> {
        let entry = self.pack.entry(position, &self.store.table, &mut self.scattered)?;
        let size = self.meter.fits(Kind::Blob, entry.size)?;
        let mut reader = PackReader { inflater: &mut self.inflater, window: &mut self.scattered };
        reader.inflate(self.pack, position, &entry, size, &mut self.meter, &mut self.delta)?;
        let delta = delta::parse(&self.delta).map_err(ObjectError::Delta)?;
        self.meter.fits(kind, delta.result)?;
        self.meter.spend(delta.result)?;
        delta.apply(base, content).map_err(ObjectError::Delta)?;
        let needed = self.forest.child[position as usize] != NONE;
        self.judge(self.pack.object(position), kind, content, needed)
    }

    /// Hashes and records. Other content than promised is a fault of this object, but no obstacle for deltas on top.
    /// What is to be kept is taken out of `content`, unless that is `needed`.
    fn judge(&mut self, object: u32, kind: Kind, content: &mut Content, needed: bool) -> Result<(), ObjectError> {
        match hash::verify(kind, content, self.store.table.id(object)) {
            Ok(()) => {
                let size = content.len() as u64;
                self.part.record(self.ledger, object, kind, size, content)?;
                if kind == Kind::Blob && self.kept.wanted(object).keeps(size) {
                    self.kept.offer(object, if needed { content.clone() } else { std::mem::take(content) });
                }
                Ok(())
            }
            Err(error) => {
                self.ledger.fault(object, &error);
                Ok(())
            }
        }
    }

    /// The content of an entry whose base was let go.
    fn again(&mut self, position: u32) -> Result<(Kind, Content), ObjectError> {
        let mut content = Content::default();
        let mut reader = PackReader { inflater: &mut self.inflater, window: &mut self.scattered };
        let kind = reader.read(self.store, self.pack, position, &mut self.meter, &mut content)?;
        self.held += content.capacity();
        Ok((kind, content))
    }

    /// An entry cannot be read, so nothing below it can.
    fn give_up(&mut self, position: u32, error: ObjectError) -> Result<(), Exhausted> {
        if let ObjectError::Exhausted(error) = error {
            return Err(error);
        }
        self.ledger.fault(self.pack.object(position), &error);
        self.give_up_below(position, &error)
    }

    fn give_up_below(&mut self, position: u32, error: &ObjectError) -> Result<(), Exhausted> {
        let mut stack = vec![position];
        while let Some(position) = stack.pop() {
            for child in self.forest.children(position) {
                self.meter.spend(0)?;
                self.ledger.fault(self.pack.object(child), error);
                stack.push(child);
            }
        }
        Ok(())
    }
}

/// Reads single entries, from the bottom of their chain of deltas up.
pub(super) struct PackReader<'a> {
    pub inflater: &'a mut Inflater,
    pub window: &'a mut Window,
}

impl PackReader<'_> {
    /// Hashes a whole blob of any size piece by piece.
    pub(super) fn hash(
        &mut self,
        pack: &Pack,
        position: u32,
        entry: &Entry,
        meter: &mut Meter<'_>,
        id: gix::ObjectId,
    ) -> Result<(), ObjectError> {
        let mut hasher = Hasher::new(Kind::Blob, entry.size);
        let mut stream = pack.stream(position, entry, self.window);
        self.inflater.reset();
        self.inflater.streamed(&mut stream, entry.size, |piece| {
            meter.spend(piece.len() as u64)?;
            hasher.update(piece);
            Ok(())
        })?;
        stream.is_done()?;
        hasher.verify(id)
    }

    /// The kind and content of an entry, not hashed yet.
    pub(super) fn read(
        &mut self,
        store: &Store,
        pack: &Pack,
        position: u32,
        meter: &mut Meter<'_>,
        content: &mut Content,
    ) -> Result<Kind, ObjectError> {
        let mut chain = vec![position];
        let mut seen = std::collections::HashSet::from([position]);
        let mut entry = pack.entry(position, &store.table, self.window)?;
        let mut lowest = position;
        while let Base::Delta(base) = entry.base {
            meter.spend(0)?;
            if !seen.insert(base) {
                return Err(ObjectError::Circle);
            }
            chain.push(base);
            lowest = base;
            entry = pack.entry(base, &store.table, self.window)?;
        }
        let Base::Whole(kind) = entry.base else { return Err(ObjectError::Base) };
        chain.pop();
        self.inflate(pack, lowest, &entry, meter.fits(kind, entry.size)?, meter, content)?;
        let (mut delta, mut result) = (Content::default(), Content::default());
        for position in chain.into_iter().rev() {
            let entry = pack.entry(position, &store.table, self.window)?;
            self.inflate(pack, position, &entry, meter.fits(Kind::Blob, entry.size)?, meter, &mut delta)?;
            let delta = delta::parse(&delta).map_err(ObjectError::Delta)?;
            meter.fits(kind, delta.result)?;
            meter.spend(delta.result)?;
            delta.apply(content, &mut result).map_err(ObjectError::Delta)?;
            std::mem::swap(content, &mut result);
        }
        Ok(kind)
    }

    fn inflate(
        &mut self,
        pack: &Pack,
        position: u32,
        entry: &Entry,
        size: usize,
        meter: &mut Meter<'_>,
        out: &mut Content,
    ) -> Result<(), ObjectError> {
        meter.spend(entry.size)?;
        let mut stream = pack.stream(position, entry, self.window);
        self.inflater.reset();
        self.inflater.exactly(&mut stream, &[], size, out)?;
        stream.is_done()
    }
}
