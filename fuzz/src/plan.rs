//! The plan of a repository, read from bytes: every input is one.
//!
//! ```text
//! where and how to damage it     1 byte   see `Damage`; its highest bit: every commit is a shallow boundary
//! place, mask                    3 bytes
//! objects up to the end          kind 2 bits, storage 2 bits, loose copy too 1 bit, raw 1 bit, compressed 1 bit; content
//! content    raw                 2 bytes of length, bytes
//!            blob                1 byte of length, bytes
//!            tree                number of entries; each: mode, length of the name, name, target
//!            commit              target; number of parents, targets; length of what follows, what follows
//!            tag                 target
//! ```
//! A target counts back from the newest object, so that graphs hang together whatever the bytes.

use std::collections::HashSet;

use gix::ObjectId;
pub use gix::objs::Kind;

/// More would only make each run slower.
const MOST_OBJECTS: usize = 24;

const KINDS: [Kind; 4] = [Kind::Blob, Kind::Tree, Kind::Commit, Kind::Tag];
const MODES: [&str; 8] = ["100644", "40000", "100755", "120000", "160000", "40755", "1100644", "0100644"];
const PEOPLE: &[u8] = b"author A <a@b> 1 +0000\ncommitter C <c@d> 2 -0130\n\nm\n";

/// Where an object is put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    Loose,
    Whole,
    /// A delta that names its base by distance, or by id.
    OffsetDelta,
    ReferenceDelta,
}

/// One object.
#[derive(Clone, Debug)]
pub struct Object {
    pub id: ObjectId,
    pub kind: Kind,
    pub content: Vec<u8>,
    pub storage: Storage,
    /// There is a loose copy too.
    pub twice: bool,
    /// Its stream is compressed, not just stored.
    pub compressed: bool,
}

/// What is done to one file once all are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    None,
    /// A byte of the pack, with or without new checksums.
    Pack {
        sealed: bool,
    },
    /// A byte of the index, with or without a new checksum.
    Index {
        sealed: bool,
    },
    /// A byte of a loose object.
    Loose,
    /// HEAD.
    Head,
    /// The end of a loose object, or of the pack.
    CutLoose,
    CutPack,
}

const DAMAGES: [Damage; 9] = [
    Damage::None,
    Damage::Pack { sealed: false },
    Damage::Pack { sealed: true },
    Damage::Index { sealed: false },
    Damage::Index { sealed: true },
    Damage::Loose,
    Damage::Head,
    Damage::CutLoose,
    Damage::CutPack,
];

/// A repository to be.
#[derive(Clone, Debug)]
pub struct Plan {
    pub objects: Vec<Object>,
    pub damage: Damage,
    /// Where the damage is, and the bits that change.
    pub place: usize,
    pub mask: u8,
    /// All commits are named in `.git/shallow`.
    pub shallow: bool,
}

impl Plan {
    /// Reads a plan. The same object is there once.
    pub fn read(bytes: &[u8]) -> Self {
        let mut bytes = Bytes(bytes);
        let first = bytes.byte();
        let place = usize::from(u16::from_be_bytes([bytes.byte(), bytes.byte()]));
        let mask = bytes.byte();
        let damage = DAMAGES[usize::from(first & 0x7f) % DAMAGES.len()];
        let mut plan = Plan { objects: Vec::new(), damage, place, mask, shallow: first & 0x80 != 0 };
        let mut seen = HashSet::new();
        while !bytes.0.is_empty() && plan.objects.len() < MOST_OBJECTS {
            let object = bytes.object(&plan.objects);
            if seen.insert(object.id) {
                plan.objects.push(object);
            }
        }
        plan
    }

    /// The commit to be expected: the newest.
    pub fn root(&self) -> Option<ObjectId> {
        self.objects.iter().rev().find(|object| object.kind == Kind::Commit).map(|object| object.id)
    }
}

/// The bytes of a plan without damage that holds these objects as they are, each stored in its own way.
pub fn written(objects: &[(Kind, Vec<u8>)]) -> Vec<u8> {
    let mut bytes = vec![0; 4];
    for (index, (kind, content)) in objects.iter().enumerate() {
        let kind = KINDS.iter().position(|other| other == kind).unwrap_or_default() as u8;
        bytes.push(kind | (index as u8 % 4) << 2 | 0x20 | (index as u8 & 4) << 4);
        bytes.extend((content.len() as u16).to_be_bytes());
        bytes.extend_from_slice(content);
    }
    bytes
}

struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    /// 0 behind the end.
    fn byte(&mut self) -> u8 {
        self.take(1).first().copied().unwrap_or(0)
    }

    fn take(&mut self, length: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(length.min(self.0.len()));
        self.0 = rest;
        taken
    }

    fn object(&mut self, before: &[Object]) -> Object {
        let bits = self.byte();
        let kind = KINDS[usize::from(bits & 3)];
        let storage = match bits >> 2 & 3 {
            0 => Storage::Loose,
            1 => Storage::Whole,
            2 => Storage::OffsetDelta,
            _ => Storage::ReferenceDelta,
        };
        let content = if bits & 0x20 != 0 {
            let length = u16::from_be_bytes([self.byte(), self.byte()]);
            self.take(usize::from(length)).to_vec()
        } else {
            self.content(kind, before)
        };
        let id = gix::objs::compute_hash(gix::hash::Kind::Sha1, kind, &content).expect("no collision attack");
        Object { id, kind, content, storage, twice: bits & 0x10 != 0, compressed: bits & 0x40 != 0 }
    }

    fn content(&mut self, kind: Kind, before: &[Object]) -> Vec<u8> {
        let mut content = Vec::new();
        match kind {
            Kind::Blob => {
                let length = usize::from(self.byte());
                content.extend_from_slice(self.take(length));
            }
            Kind::Tree => {
                for _ in 0..self.byte() & 15 {
                    let mode = MODES[usize::from(self.byte() & 7)];
                    let length = usize::from(self.byte() & 31);
                    let name = self.take(length);
                    let id = self.target(before);
                    content.extend([mode.as_bytes(), b" ", name, b"\0", id.as_slice()].concat());
                }
            }
            Kind::Commit => {
                content.extend(format!("tree {}\n", self.target(before)).bytes());
                for _ in 0..self.byte() & 3 {
                    content.extend(format!("parent {}\n", self.target(before)).bytes());
                }
                let length = usize::from(self.byte());
                content.extend_from_slice(if length == 0 { PEOPLE } else { self.take(length) });
            }
            Kind::Tag => {
                content.extend(format!("object {}\ntype commit\ntag t\n\n", self.target(before)).bytes());
            }
        }
        content
    }

    fn target(&mut self, before: &[Object]) -> ObjectId {
        match (usize::from(self.byte()), before.len()) {
            (255, _) => ObjectId::null(gix::hash::Kind::Sha1),
            (byte @ 250..255, _) | (byte, 0) => [byte as u8; 20].into(),
            (byte, length) => before[length - 1 - byte % length].id,
        }
    }
}
