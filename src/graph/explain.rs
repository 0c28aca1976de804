//! Findings: what the walk came upon, in words and with a cure.

use std::path::Path;

use gix::ObjectId;

use super::error::ObjectError;
use super::links::{Ledger, Role};
use super::reader::Reader;
use super::strict;
use super::walk::{Outcome, Problem};
use crate::check::Finding;

/// Findings that decide against the subject, and those that only say it could not be decided.
#[derive(Default)]
pub(super) struct Findings {
    pub wrong: Vec<Finding>,
    pub undecided: Vec<Finding>,
}

pub(super) struct Explainer<'a> {
    pub root: &'a Path,
    pub ledger: &'a Ledger<'a>,
    pub outcome: &'a Outcome,
    pub promisor: bool,
    pub commit: ObjectId,
}

impl Explainer<'_> {
    /// Absent objects, other content, wrong kinds, and what could not be read.
    pub(super) fn objects(&self, reader: &mut Reader<'_>) -> Findings {
        let mut findings = Findings::default();
        for &(problem, from) in &self.outcome.problems {
            match problem {
                Problem::Absent(link) => findings.wrong.push(Finding::new(
                    format!("{} {}", link.role().kind(), self.ledger.id(link.object())),
                    format!("present, as {}", self.linked(link.role(), from)),
                    "no such object in the repository",
                    self.cure_absence(),
                )),
                Problem::Kind(link, kind) => findings.wrong.push(Finding::new(
                    format!("{kind} {}", self.ledger.id(link.object())),
                    format!("a {}, as {}", link.role().kind(), self.linked(link.role(), from)),
                    format!("a {kind}"),
                    "the commit itself is unsound: do not use it",
                )),
                Problem::Bad(object) => findings.wrong.extend(self.faulty(object, reader, false)),
                Problem::Undecided(object) => findings.undecided.extend(self.faulty(object, reader, true)),
                Problem::Malformed(_) | Problem::Special(_) => {}
            }
        }
        findings.wrong.truncate(Outcome::KEPT as usize);
        findings.undecided.truncate(Outcome::KEPT as usize);
        let [absent, kinds, bad, undecided, ..] = self.outcome.count;
        and_more(&mut findings.wrong, absent + kinds + bad, "objects");
        and_more(&mut findings.undecided, undecided, "objects");
        findings
    }

    /// Rules of `git fsck --strict` that are broken.
    pub(super) fn well_formed(&self, reader: &mut Reader<'_>) -> Vec<Finding> {
        let mut findings = Vec::new();
        for &(problem, _) in &self.outcome.problems {
            let (id, role) = match problem {
                Problem::Malformed(object) => (self.ledger.id(object), None),
                Problem::Special(link) => (self.ledger.id(link.object()), Some(link.role())),
                _ => continue,
            };
            let Ok((kind, content)) = reader.object(id) else { continue };
            let mut messages = Vec::new();
            match (role, kind) {
                (Some(role), _) => messages = special(role, &content),
                (None, gix::objs::Kind::Tree) => strict::tree(&content, &mut Vec::new(), &mut messages),
                (None, _) => drop(strict::commit(&content, &mut messages)),
            }
            findings.extend(messages.into_iter().map(|message| {
                Finding::new(
                    format!("{kind} {id}"),
                    "an object that `git fsck --strict` accepts",
                    format!("{}: {}", message.id, message.detail),
                    "rewrite the history without this object, and release the new commit",
                )
            }));
        }
        findings.truncate(Outcome::KEPT as usize);
        let [.., malformed, special] = self.outcome.count;
        and_more(&mut findings, malformed + special, "objects");
        findings
    }

    fn faulty(&self, object: u32, reader: &mut Reader<'_>, undecided: bool) -> Vec<Finding> {
        let id = self.ledger.id(object);
        let kind = self.ledger.state(object).kind();
        let subject = kind.map_or_else(|| format!("object {id}"), |kind| format!("{kind} {id}"));
        let faults = reader.faults(object).into_iter().filter(|(_, error)| error.is_undecided() == undecided);
        let mut findings: Vec<Finding> = faults
            .map(|(path, error)| {
                let hint = match error {
                    ObjectError::Limit { .. } => "raise the limit if such a size is expected",
                    ObjectError::File(_) if undecided => "make the file readable for this user",
                    _ => "the repository is damaged: clone it again",
                };
                let at = relative(self.root, &path);
                Finding::new(subject.clone(), "content that hashes to the id", format!("in {at}: {error}"), hint)
            })
            .collect();
        // The fault may be gone by now, or it was that nothing read it; the verdict stands.
        if findings.is_empty() {
            let hint = "the repository changes while it is read: run again when it is at rest";
            findings.push(Finding::new(subject, "content that hashes to the id", "it could not be read", hint));
        }
        findings
    }

    fn linked(&self, role: Role, from: Option<u32>) -> String {
        let Some(from) = from else { return "the expected commit".to_owned() };
        let id = self.ledger.id(from);
        match (role, self.ledger.state(from).kind()) {
            (Role::Commit, _) => format!("a parent of commit {id}"),
            (Role::Tree, Some(gix::objs::Kind::Commit)) => format!("the tree of commit {id}"),
            _ => format!("an entry of tree {id}"),
        }
    }

    /// What brings absent objects back.
    pub(super) fn cure_absence(&self) -> String {
        if self.promisor {
            "this is a partial clone: clone again without `--filter`, or run `git fetch --refetch --no-filter`"
                .to_owned()
        } else {
            format!("run `git fetch --refetch origin {}`, or clone again without `--depth` and `--filter`", self.commit)
        }
    }
}

/// Judges a blob by the rule its name calls for.
pub(super) fn special(role: Role, content: &[u8]) -> Vec<strict::Message> {
    let mut messages = Vec::new();
    if matches!(role, Role::Modules | Role::Both) {
        strict::gitmodules(content, &mut messages);
    }
    if matches!(role, Role::Attributes | Role::Both) {
        strict::gitattributes(content, &mut messages);
    }
    messages
}

/// Says how many were left out.
fn and_more(findings: &mut Vec<Finding>, all: u64, what: &str) {
    let shown = findings.len() as u64;
    if all > shown && shown >= Outcome::KEPT {
        let more = format!("and {} more", all - shown);
        findings.push(Finding::new(format!("other {what}"), "none", more, "the findings above show what to do"));
    }
}

/// A path for people: relative to the SDK root if it lies below.
pub(super) fn relative(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}
