//! Many objects judged at once, by us and by `git fsck --strict`.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::process::Stdio;

use gix::ObjectId;
use gix::objs::Kind as ObjectKind;
use paired_sdk_gate::graph::strict::{self, Entry, Kind, Message, Special};

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
        repo.git(&["config", "core.fsync", "none"]);
        for kind in [ObjectKind::Blob, ObjectKind::Tree, ObjectKind::Commit] {
            self.write(&repo, kind);
        }
        let output =
            git_command(repo.root()).args(["fsck", "--strict", "--no-dangling", "--no-reflogs"]).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text);
        let mut verdicts = Verdicts::new();
        let mut add = |id: &str, message: &str| {
            verdicts.entry(ObjectId::from_hex(id.as_bytes()).unwrap()).or_default().insert(message.to_owned());
        };
        for line in text.lines() {
            if let Some(line) = line.strip_prefix("error in ") {
                let (_kind, line) = line.split_once(' ').unwrap();
                let (id, line) = line.split_once(": ").unwrap();
                if let Some((message, _)) = line.split_once(": ") {
                    add(id, message);
                }
            } else if let Some((id, _)) = line.split_once(": object could not be parsed") {
                // The walk gives up before the rules are asked; the same rules can be asked without a walk.
                let id = id.strip_prefix("error: ").unwrap();
                add(id, &self.rules_alone(&repo, id));
            }
        }
        verdicts
    }

    fn write(&self, repo: &Repo, kind: ObjectKind) {
        let dir = repo.root().join(kind.to_string());
        std::fs::create_dir(&dir).unwrap();
        let mut paths = String::new();
        for (id, (_, data)) in self.objects.iter().filter(|(_, (other, _))| *other == kind) {
            let path = dir.join(id.to_string());
            std::fs::write(&path, data).unwrap();
            paths += &format!("{}\n", path.display());
        }
        let mut child = git_command(repo.root())
            .args(["hash-object", "-t", &kind.to_string(), "-w", "--literally", "--no-filters", "--stdin-paths"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        // The output is far smaller than a pipe only when there are few objects: write from another thread.
        let mut stdin = child.stdin.take().unwrap();
        let writer = std::thread::spawn(move || stdin.write_all(paths.as_bytes()).unwrap());
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        assert!(output.status.success());
        let written = String::from_utf8(output.stdout).unwrap();
        assert!(written.lines().all(|id| self.objects.contains_key(&ObjectId::from_hex(id.as_bytes()).unwrap())));
    }

    /// `hash-object` without `--literally` refuses with the message of the first broken rule.
    fn rules_alone(&self, repo: &Repo, id: &str) -> String {
        let (kind, _) = self.objects[&ObjectId::from_hex(id.as_bytes()).unwrap()];
        let path = repo.root().join(kind.to_string()).join(id);
        let output = git_command(repo.root())
            .args(["hash-object", "-t", &kind.to_string(), "--no-filters"])
            .arg(path)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let message = text.lines().find_map(|line| line.strip_prefix("error: object fails fsck: ")?.split(':').next());
        message.unwrap_or_else(|| panic!("{kind} {id}: {text}")).to_owned()
    }
}

/// Reported by us on the tree, by git on the entry's object.
fn is_about_what_is_behind(message: &Message) -> bool {
    ["gitmodulesBlob", "gitmodulesMissing", "gitattributesBlob", "gitattributesMissing"].contains(&message.id)
}
