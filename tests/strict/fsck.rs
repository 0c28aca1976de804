//! Many objects judged at once, by us and by `git fsck --strict`.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Seek, Write};
use std::process::Stdio;

use gix::ObjectId;
use gix::objs::Kind as ObjectKind;
use paired_sdk_gate::graph::strict::{self, Entry, Kind, Message, Special};
use sha1::Digest;

use crate::support::git::{Repo, git_command};

/// The ids of the broken rules, by object; an object without any is absent.
pub type Verdicts = BTreeMap<ObjectId, BTreeSet<String>>;

/// Objects, any of them malformed.
#[derive(Default)]
pub struct Store {
    objects: BTreeMap<ObjectId, (ObjectKind, Vec<u8>)>,
}

impl Store {
    pub fn add(&mut self, kind: ObjectKind, data: Vec<u8>) -> ObjectId {
        let id = gix::objs::compute_hash(gix::hash::Kind::Sha1, kind, &data).unwrap();
        self.objects.insert(id, (kind, data));
        id
    }

    pub fn len(&self) -> usize {
        self.objects.len()
    }

    pub fn shown(&self, id: &ObjectId) -> String {
        self.objects.get(id).map_or("absent".into(), |(kind, data)| format!("{kind} {}", data.escape_ascii()))
    }

    pub fn judged_by_us(&self) -> Verdicts {
        let mut verdicts = Verdicts::new();
        let mut add = |id: ObjectId, message: &str| verdicts.entry(id).or_default().insert(message.to_owned());
        for (&id, (kind, data)) in &self.objects {
            let mut messages = Vec::new();
            match kind {
                ObjectKind::Commit => {
                    let links = strict::commit(data, &mut messages);
                    assert!(links.is_some() || !messages.is_empty(), "a commit without links has a message");
                }
                ObjectKind::Tree => {
                    let mut entries = Vec::new();
                    strict::tree(data, &mut entries, &mut messages);
                    let early = messages.iter().any(is_about_what_is_behind);
                    messages.retain(|message| !is_about_what_is_behind(message));
                    let special =
                        |entry: &Entry| strict::special(&data[entry.name.clone()]).filter(|_| !entry.is_symlink());
                    let no_blob = |entry: &&Entry| special(entry).is_some() && entry.kind != Kind::Blob;
                    assert_eq!(
                        early,
                        entries.iter().any(|entry| no_blob(&entry)),
                        "a folder or gitlink is refused at once"
                    );
                    for entry in &entries {
                        for message in self.behind(special(entry), entry.id) {
                            add(entry.id, message.id);
                        }
                    }
                }
                ObjectKind::Blob | ObjectKind::Tag => {}
            }
            for message in messages {
                add(id, message.id);
            }
        }
        verdicts
    }

    /// What a special name makes git say of the object behind it, which depends on what is in the store. We say that a folder
    /// or a gitlink is wrong, whatever is in the store.
    fn behind(&self, special: Option<Special>, id: ObjectId) -> Vec<Message> {
        type Rule = (fn(&[u8], &mut Vec<Message>), &'static str, &'static str);
        let modules: Rule = (strict::gitmodules, "gitmodulesBlob", "gitmodulesMissing");
        let attributes: Rule = (strict::gitattributes, "gitattributesBlob", "gitattributesMissing");
        let rules = match special {
            None => vec![],
            Some(Special::Gitmodules) => vec![modules],
            Some(Special::Gitattributes) => vec![attributes],
            Some(Special::Both) => vec![modules, attributes],
        };
        let mut messages = Vec::new();
        for (judge, no_blob, missing) in rules {
            match self.objects.get(&id) {
                Some((ObjectKind::Blob, data)) => judge(data, &mut messages),
                Some(_) => messages.push(Message { id: no_blob, detail: String::new() }),
                None => messages.push(Message { id: missing, detail: String::new() }),
            }
        }
        messages
    }

    pub fn judged_by_git(&self) -> Verdicts {
        let dir = tempfile::tempdir().unwrap();
        let repo = Repo::init(dir.path().join("repo"));
        let feed = |arguments: &[&str], data: &[u8]| {
            let mut input = tempfile::tempfile().unwrap();
            input.write_all(data).unwrap();
            input.rewind().unwrap();
            git_command(repo.root()).args(arguments).stdin(Stdio::from(input)).output().unwrap()
        };
        let packed = feed(&["-c", "core.fsync=none", "index-pack", "--stdin"], &self.pack());
        assert!(packed.status.success(), "{}", String::from_utf8_lossy(&packed.stderr));
        let fsck = ["fsck", "--strict", "--no-dangling", "--no-reflogs"];
        let output = git_command(repo.root()).args(fsck).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text);
        let mut verdicts = Verdicts::new();
        let mut add = |id: ObjectId, message: &str| verdicts.entry(id).or_default().insert(message.to_owned());
        for line in text.lines() {
            if let Some(line) = line.strip_prefix("error in ") {
                let (_kind, line) = line.split_once(' ').unwrap();
                let (id, line) = line.split_once(": ").unwrap();
                if let Some((message, _)) = line.split_once(": ") {
                    add(ObjectId::from_hex(id.as_bytes()).unwrap(), message);
                }
            } else if let Some((id, _)) = line.split_once(": object corrupt or missing") {
                // The walk gives up before the rules are asked; `hash-object` asks them without a walk.
                let id = ObjectId::from_hex(id.strip_prefix("error: ").unwrap().as_bytes()).unwrap();
                let (kind, data) = &self.objects[&id];
                let output = feed(&["hash-object", "-t", &kind.to_string(), "--stdin"], data);
                let text = String::from_utf8_lossy(&output.stderr);
                let message =
                    |line: &str| Some(line.strip_prefix("error: object fails fsck: ")?.split(':').next()?.to_owned());
                add(id, &text.lines().find_map(message).unwrap_or_else(|| panic!("{kind} {id}: {text}")));
            }
        }
        verdicts
    }

    /// All objects in one pack, stored without compression.
    fn pack(&self) -> Vec<u8> {
        let count = u32::try_from(self.objects.len()).unwrap();
        let mut pack = [b"PACK".as_slice(), &2_u32.to_be_bytes(), &count.to_be_bytes()].concat();
        for (kind, data) in self.objects.values() {
            let number = match kind {
                ObjectKind::Commit => 1,
                ObjectKind::Tree => 2,
                ObjectKind::Blob => 3,
                ObjectKind::Tag => 4,
            };
            // The size: four bits beside the kind, then seven at a time, lowest first.
            let mut size = data.len() >> 4;
            let mut byte = number << 4 | (data.len() & 15);
            while size > 0 {
                pack.push(u8::try_from(byte | 0x80).unwrap());
                byte = size & 0x7f;
                size >>= 7;
            }
            pack.push(u8::try_from(byte).unwrap());
            pack.extend(stored(data));
        }
        let checksum = sha1::Sha1::digest(&pack);
        pack.extend(checksum);
        pack
    }
}

/// A zlib stream of stored blocks (RFC 1950, RFC 1951).
fn stored(data: &[u8]) -> Vec<u8> {
    let mut stream = vec![0x78, 0x01];
    let mut rest = data;
    loop {
        let (block, after) = rest.split_at(rest.len().min(usize::from(u16::MAX)));
        let length = u16::try_from(block.len()).unwrap();
        stream.push(u8::from(after.is_empty()));
        stream.extend([length.to_le_bytes(), (!length).to_le_bytes()].concat());
        stream.extend(block);
        rest = after;
        if rest.is_empty() {
            break;
        }
    }
    let (a, b) = data.iter().fold((1_u32, 0_u32), |(a, b), &byte| {
        let a = (a + u32::from(byte)) % 65_521;
        (a, (a + b) % 65_521)
    });
    stream.extend((b << 16 | a).to_be_bytes());
    stream
}

/// Reported by us on the tree, by git on the entry's object.
fn is_about_what_is_behind(message: &Message) -> bool {
    ["gitmodulesBlob", "gitmodulesMissing", "gitattributesBlob", "gitattributesMissing"].contains(&message.id)
}
