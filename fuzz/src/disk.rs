//! A plan written as a checkout: loose objects, one pack with its index, HEAD; then damaged as planned.

use std::collections::HashSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use gix::ObjectId;
use gix::objs::Kind;
use gix::zlib::Compression;

use crate::{Damage, Object, Plan, Storage};

/// A folder that is a checkout, again and again.
pub struct Checkout {
    root: tempfile::TempDir,
}

impl Checkout {
    /// An empty one.
    pub fn new() -> std::io::Result<Self> {
        let root = tempfile::tempdir()?;
        fs::create_dir_all(root.path().join(".git/objects/pack"))?;
        fs::create_dir_all(root.path().join(".git/refs"))?;
        Ok(Checkout { root })
    }

    /// The top of it.
    pub fn root(&self) -> &Path {
        self.root.path()
    }

    /// Replaces what there is; whether the damage changed anything.
    pub fn write(&self, plan: &Plan, head: ObjectId) -> std::io::Result<bool> {
        let git = self.root().join(".git");
        fs::remove_dir_all(git.join("objects"))?;
        fs::create_dir_all(git.join("objects/pack"))?;
        let mut damaged = false;
        let mut head = format!("{head}\n").into_bytes();
        if plan.damage == Damage::Head {
            damaged |= flip(&mut head, plan);
        }
        fs::write(git.join("HEAD"), head)?;
        let commits = plan.objects.iter().filter(|object| plan.shallow && object.kind == Kind::Commit);
        fs::write(git.join("shallow"), commits.map(|commit| format!("{}\n", commit.id)).collect::<String>())?;
        damaged |= write_loose(&git, plan)?;
        if let Some((mut pack, mut index)) = packed(&plan.objects) {
            match plan.damage {
                Damage::Pack { sealed } => {
                    damaged |= flip(&mut pack, plan);
                    if sealed {
                        reseal(&mut pack);
                        let trailer = pack[pack.len() - 20..].to_vec();
                        let place = index.len() - 40;
                        index[place..place + 20].copy_from_slice(&trailer);
                        reseal(&mut index);
                    }
                }
                Damage::Index { sealed } => {
                    damaged |= flip(&mut index, plan);
                    if sealed {
                        reseal(&mut index);
                    }
                }
                Damage::CutPack => damaged |= cut(&mut pack, plan),
                _ => {}
            }
            fs::write(git.join("objects/pack/pack-0.pack"), pack)?;
            fs::write(git.join("objects/pack/pack-0.idx"), index)?;
        }
        Ok(damaged)
    }
}

fn write_loose(git: &Path, plan: &Plan) -> std::io::Result<bool> {
    let loose: Vec<_> = plan.objects.iter().filter(|object| object.storage == Storage::Loose || object.twice).collect();
    let mut damaged = false;
    for (index, object) in loose.iter().enumerate() {
        let header = format!("{} {}\0", object.kind, object.content.len());
        let mut file = deflated(&[header.as_bytes(), &object.content].concat(), object.compressed);
        // The mask chooses the object too.
        if index == usize::from(plan.mask) % loose.len() {
            match plan.damage {
                Damage::Loose => damaged |= flip(&mut file, plan),
                Damage::CutLoose => damaged |= cut(&mut file, plan),
                _ => {}
            }
        }
        let hex = object.id.to_string();
        let path: PathBuf = git.join("objects").join(&hex[..2]);
        fs::create_dir_all(&path)?;
        fs::write(path.join(&hex[2..]), file)?;
    }
    Ok(damaged)
}

/// A pack and its index.
fn packed(objects: &[Object]) -> Option<(Vec<u8>, Vec<u8>)> {
    let mut pack = b"PACK\0\0\0\x02\0\0\0\0".to_vec();
    let mut rows: Vec<(ObjectId, u32)> = Vec::new();
    let mut before: Vec<(&Object, usize)> = Vec::new();
    for object in objects.iter().filter(|object| object.storage != Storage::Loose) {
        let at = pack.len();
        let number = match object.kind {
            Kind::Commit => 1,
            Kind::Tree => 2,
            Kind::Blob => 3,
            Kind::Tag => 4,
        };
        let base = before.iter().rev().find(|(base, _)| base.kind == object.kind);
        let stored = match (object.storage, base) {
            (Storage::OffsetDelta, Some((base, place))) => {
                let delta = delta(&base.content, &object.content);
                entry_header(&mut pack, 6, delta.len());
                distance(&mut pack, at - place);
                delta
            }
            (Storage::ReferenceDelta, Some((base, _))) => {
                let delta = delta(&base.content, &object.content);
                entry_header(&mut pack, 7, delta.len());
                pack.extend_from_slice(base.id.as_slice());
                delta
            }
            _ => {
                entry_header(&mut pack, number, object.content.len());
                object.content.clone()
            }
        };
        pack.extend(deflated(&stored, object.compressed));
        rows.push((object.id, at as u32));
        before.push((object, at));
    }
    if rows.is_empty() {
        return None;
    }
    pack[8..12].copy_from_slice(&(rows.len() as u32).to_be_bytes());
    pack.extend([0; 20]);
    reseal(&mut pack);
    rows.sort();
    debug_assert_eq!(rows.iter().map(|row| row.0).collect::<HashSet<_>>().len(), rows.len());
    let mut index = b"\xfftOc\0\0\0\x02".to_vec();
    for first in 0..=255 {
        index.extend((rows.iter().filter(|(id, _)| id.as_slice()[0] <= first).count() as u32).to_be_bytes());
    }
    rows.iter().for_each(|(id, _)| index.extend_from_slice(id.as_slice()));
    // Nobody looks at the CRCs.
    rows.iter().for_each(|_| index.extend([0; 4]));
    rows.iter().for_each(|(_, offset)| index.extend(offset.to_be_bytes()));
    index.extend_from_slice(&pack[pack.len() - 20..]);
    index.extend([0; 20]);
    reseal(&mut index);
    Some((pack, index))
}

fn entry_header(pack: &mut Vec<u8>, kind: u8, size: usize) {
    let mut byte = kind << 4 | (size & 15) as u8;
    let mut rest = size >> 4;
    while rest > 0 {
        pack.push(byte | 0x80);
        byte = (rest & 0x7f) as u8;
        rest >>= 7;
    }
    pack.push(byte);
}

fn distance(pack: &mut Vec<u8>, mut back: usize) {
    let mut digits = vec![(back & 0x7f) as u8];
    while back > 0x7f {
        back = (back >> 7) - 1;
        digits.push(0x80 | (back & 0x7f) as u8);
    }
    pack.extend(digits.iter().rev());
}

/// Copies what both begin with, inserts the rest.
fn delta(base: &[u8], result: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for mut size in [base.len(), result.len()] {
        while size > 0x7f {
            bytes.push(0x80 | (size & 0x7f) as u8);
            size >>= 7;
        }
        bytes.push(size as u8);
    }
    let same = base.iter().zip(result).take_while(|(one, two)| one == two).count().min(0xffff);
    if same > 0 {
        bytes.extend([0xb0, (same & 0xff) as u8, (same >> 8) as u8]);
    }
    for piece in result[same..].chunks(127) {
        bytes.push(piece.len() as u8);
        bytes.extend_from_slice(piece);
    }
    bytes
}

/// Ends a pack or an index with its own hash.
fn reseal(file: &mut [u8]) {
    let (body, trailer) = file.split_at_mut(file.len() - 20);
    let mut hasher = gix::hash::hasher(gix::hash::Kind::Sha1);
    hasher.update(body);
    trailer.copy_from_slice(hasher.try_finalize().expect("no collision attack").as_slice());
}

fn flip(file: &mut [u8], plan: &Plan) -> bool {
    let place = plan.place % file.len();
    file[place] ^= plan.mask;
    plan.mask != 0
}

fn cut(file: &mut Vec<u8>, plan: &Plan) -> bool {
    file.truncate(plan.place % file.len());
    true
}

fn deflated(content: &[u8], compressed: bool) -> Vec<u8> {
    let level = if compressed { Compression::BEST_SPEED } else { Compression::NONE };
    let mut writer = gix::zlib::stream::deflate::Write::new(Vec::new(), level);
    writer.write_all(content).and_then(|()| writer.flush()).expect("writes to memory");
    writer.into_inner()
}
