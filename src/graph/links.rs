//! What every object turned out to be and what it links to, in a few bytes each.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use gix::ObjectId;
use gix::objs::Kind;

use super::error::{Exhausted, ObjectError};
use super::strict::{self, Special};
use super::table::{Raw, Table, raw};

/// Links kept in memory: 512 MiB of them.
const MOST_LINKS: u64 = 1 << 27;
/// Absent objects that are linked to.
const MOST_ABSENT: usize = 1 << 20;

/// As what an object is linked to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Role {
    Tree,
    Blob,
    Commit,
    /// A blob with a name that calls for a content rule.
    Modules,
    Attributes,
    Both,
}

const ROLES: [Role; 6] = [Role::Tree, Role::Blob, Role::Commit, Role::Modules, Role::Attributes, Role::Both];

impl Role {
    pub(super) fn kind(self) -> Kind {
        match self {
            Role::Tree => Kind::Tree,
            Role::Commit => Kind::Commit,
            Role::Blob | Role::Modules | Role::Attributes | Role::Both => Kind::Blob,
        }
    }
}

/// An object of the table, or beyond its end an absent one, with a role in the upper three bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Link(u32);

impl Link {
    const BITS: u32 = 29;

    pub(super) fn new(object: u32, role: Role) -> Self {
        Link(object | (role as u32) << Self::BITS)
    }

    pub(super) fn object(self) -> u32 {
        self.0 & ((1 << Self::BITS) - 1)
    }

    pub(super) fn role(self) -> Role {
        ROLES[(self.0 >> Self::BITS) as usize % ROLES.len()]
    }
}

/// What is known about one object, as bits that only ever get set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct State(u8);

impl State {
    /// The kind, plus one, once a copy was verified.
    const KIND: u8 = 0b111;
    /// Some copy is damaged.
    pub(super) const BAD: u8 = 1 << 3;
    /// Some copy could not be judged.
    pub(super) const UNDECIDED: u8 = 1 << 4;
    /// The content breaks a rule.
    pub(super) const MALFORMED: u8 = 1 << 5;

    pub(super) fn has(self, bit: u8) -> bool {
        self.0 & bit != 0
    }

    /// The kind, if a copy was verified.
    pub(super) fn kind(self) -> Option<Kind> {
        match self.0 & Self::KIND {
            1 => Some(Kind::Commit),
            2 => Some(Kind::Tree),
            3 => Some(Kind::Blob),
            4 => Some(Kind::Tag),
            _ => None,
        }
    }
}

fn kind_bits(kind: Kind) -> u8 {
    match kind {
        Kind::Commit => 1,
        Kind::Tree => 2,
        Kind::Blob => 3,
        Kind::Tag => 4,
    }
}

/// The states of all objects, and the absent ones; written by all threads.
pub(super) struct Ledger<'a> {
    table: &'a Table,
    states: Vec<AtomicU8>,
    absent: Mutex<HashMap<Raw, u32>>,
    links: AtomicU64,
}

impl<'a> Ledger<'a> {
    pub(super) fn new(table: &'a Table) -> Self {
        let states = std::iter::repeat_with(|| AtomicU8::new(0)).take(table.len()).collect();
        Ledger { table, states, absent: Mutex::default(), links: AtomicU64::new(0) }
    }

    pub(super) fn state(&self, object: u32) -> State {
        State(self.states.get(object as usize).map_or(0, |state| state.load(Ordering::Relaxed)))
    }

    /// Notes that a copy of an object is damaged or could not be judged.
    pub(super) fn fault(&self, object: u32, error: &ObjectError) {
        self.set(object, if error.is_undecided() { State::UNDECIDED } else { State::BAD });
    }

    fn set(&self, object: u32, bits: u8) -> u8 {
        self.states.get(object as usize).map_or(0, |state| state.fetch_or(bits, Ordering::Relaxed))
    }

    /// The number that stands for an id in links.
    fn number(&self, id: ObjectId) -> Result<u32, Exhausted> {
        let id = raw(&id);
        if let Some(object) = self.table.find(&id) {
            return Ok(object);
        }
        let mut absent = self.absent.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let next = self.table.len() + absent.len();
        if absent.len() >= MOST_ABSENT || next as u64 >= Table::MOST {
            return Err(Exhausted::Absent(MOST_ABSENT as u64));
        }
        Ok(*absent.entry(id).or_insert(next as u32))
    }

    /// The id behind a number.
    pub(super) fn id(&self, number: u32) -> ObjectId {
        if (number as usize) < self.table.len() {
            return self.table.id(number);
        }
        let absent = self.absent.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let found = absent.iter().find(|(_, other)| **other == number);
        found.map_or(ObjectId::null(gix::hash::Kind::Sha1), |(id, _)| (*id).into())
    }
}

/// One verified object: where its links begin in the part, and its size.
#[derive(Clone, Copy)]
struct Found {
    object: u32,
    first: u32,
    size: u64,
}

/// What one thread found.
#[derive(Default)]
pub(super) struct Part {
    found: Vec<Found>,
    links: Vec<Link>,
    /// Scratch.
    entries: Vec<strict::Entry>,
    messages: Vec<strict::Message>,
    counted: usize,
}

impl Part {
    /// Records a verified object and judges its content. `content` is not looked at for blobs.
    pub(super) fn record(
        &mut self,
        ledger: &Ledger<'_>,
        object: u32,
        kind: Kind,
        size: u64,
        content: &[u8],
    ) -> Result<(), Exhausted> {
        if State(ledger.set(object, kind_bits(kind))).kind().is_some() {
            return Ok(());
        }
        let first = self.links.len() as u32;
        self.messages.clear();
        match kind {
            Kind::Tree => {
                self.entries.clear();
                strict::tree(content, &mut self.entries, &mut self.messages);
                for entry in &self.entries {
                    let role = match entry.kind {
                        strict::Kind::Tree => Role::Tree,
                        strict::Kind::Gitlink => continue,
                        strict::Kind::Blob if entry.is_symlink() => Role::Blob,
                        strict::Kind::Blob => match strict::special(&content[entry.name.clone()]) {
                            None => Role::Blob,
                            Some(Special::Gitmodules) => Role::Modules,
                            Some(Special::Gitattributes) => Role::Attributes,
                            Some(Special::Both) => Role::Both,
                        },
                    };
                    self.links.push(Link::new(ledger.number(entry.id)?, role));
                }
            }
            Kind::Commit => {
                if let Some(commit) = strict::commit(content, &mut self.messages) {
                    self.links.push(Link::new(ledger.number(commit.tree)?, Role::Tree));
                    for parent in commit.parents {
                        self.links.push(Link::new(ledger.number(parent)?, Role::Commit));
                    }
                }
            }
            Kind::Blob | Kind::Tag => {}
        }
        if !self.messages.is_empty() {
            ledger.set(object, State::MALFORMED);
        }
        self.found.push(Found { object, first, size });
        let new = self.links.len() - self.counted;
        if new >= 1 << 16 {
            self.counted = self.links.len();
            if ledger.links.fetch_add(new as u64, Ordering::Relaxed) > MOST_LINKS {
                return Err(Exhausted::Links(MOST_LINKS));
            }
        }
        Ok(())
    }
}

impl Part {
    /// The links of the object recorded last, if it is this one.
    pub(super) fn links_of_last(&self, object: u32) -> &[Link] {
        match self.found.last() {
            Some(found) if found.object == object => &self.links[found.first as usize..],
            _ => &[],
        }
    }
}

/// The links of all objects.
pub(super) struct Links {
    parts: Vec<Part>,
    /// For each object, its place: the part's number in `found`, counted over all parts.
    places: Vec<u32>,
}

impl Links {
    const NOWHERE: u32 = u32::MAX;

    pub(super) fn new(objects: usize) -> Self {
        Links { parts: Vec::new(), places: vec![Self::NOWHERE; objects] }
    }

    /// Adds what a thread found.
    pub(super) fn add(&mut self, mut part: Part) {
        /// Smaller parts are joined, so that there are few.
        const SMALL: usize = 1 << 14;
        part.entries = Vec::new();
        part.messages = Vec::new();
        let before: usize = self.parts.iter().map(|part| part.found.len()).sum();
        for (index, found) in part.found.iter().enumerate() {
            self.places[found.object as usize] = (before + index) as u32;
        }
        match self.parts.last_mut() {
            Some(last) if part.found.len() < SMALL => {
                let shift = last.links.len() as u32;
                last.found.extend(part.found.iter().map(|found| Found { first: found.first + shift, ..*found }));
                last.links.append(&mut part.links);
            }
            _ => self.parts.push(part),
        }
    }

    /// The links of an object and its size; None unless it was verified.
    pub(super) fn of(&self, object: u32) -> Option<(&[Link], u64)> {
        let mut place = *self.places.get(object as usize).filter(|&&place| place != Self::NOWHERE)? as usize;
        for part in &self.parts {
            if let Some(found) = part.found.get(place) {
                let end = part.found.get(place + 1).map_or(part.links.len(), |next| next.first as usize);
                return Some((&part.links[found.first as usize..end], found.size));
            }
            place -= part.found.len();
        }
        None
    }
}
