//! The stage: every check of the graph, recorded in order.

use std::collections::HashSet;
use std::path::Path;

use gix::ObjectId;
use gix::bstr::BStr;
use gix::objs::Kind;

use super::error::{Exhausted, ObjectError};
use super::explain::{self, Explainer, relative};
use super::files::GitFileError;
use super::gitdir::{Format, GitDir, Unsuitable};
use super::kept::Kept;
use super::links::{Ledger as Objects, Links, Role};
use super::reader::Reader;
use super::refs::Resolved;
use super::source::{History, Ignored, Source};
use super::store::Store;
use super::table::raw;
use super::walk::{Outcome, Problem, Walk};
use super::{VerifiedGraph, strict, sweep};
use crate::check::{Check, Finding, Halt, Ledger, Stage};
use crate::identity::{CommitId, ReleaseVersion};
use crate::limits::Budget;

/// Verifies the graph below the expected commit and records the checks of [`Stage::Graph`].
///
/// `sdk_root` is the top of a checkout. The blobs below the commit's `folder`, which are asked for later, are kept in memory as far as the bounds on the package allow. Without a `version` (only `snapshot` has none) no tag is looked up. A shallow history is undecided unless `allow_shallow`.
///
/// # Errors
/// [`Halt`] unless every check passed; the ledger knows why.
pub fn verify(
    sdk_root: &Path,
    commit: CommitId,
    version: Option<&ReleaseVersion>,
    folder: &str,
    allow_shallow: bool,
    budget: &Budget,
    ledger: &mut Ledger,
) -> Result<VerifiedGraph, Halt> {
    let graph = Run { root: sdk_root, commit, version, folder, allow_shallow, budget, ledger }.all()?;
    ledger.close(Stage::Graph)?;
    Ok(graph)
}

struct Run<'a> {
    root: &'a Path,
    commit: CommitId,
    version: Option<&'a ReleaseVersion>,
    folder: &'a str,
    allow_shallow: bool,
    budget: &'a Budget,
    ledger: &'a mut Ledger,
}

impl Run<'_> {
    fn all(mut self) -> Result<VerifiedGraph, Halt> {
        let (git, format) = self.repository()?;
        let head = git.head();
        let store = match self.store(&git) {
            Ok(store) => store,
            Err(halt) => {
                self.head(head, None);
                return Err(halt);
            }
        };
        let commit = self.commit.object_id();
        let boundary = match git.shallow() {
            Ok(boundary) => boundary,
            Err(error) => {
                self.file(Check::GitHistory, &error, "one commit id a line", "clone the repository again");
                HashSet::new()
            }
        };
        let Some(root) = store.table.find(&raw(&commit)) else {
            self.head(head, None);
            let subject = format!("commit {commit}");
            let hint = format!("fetch it: `git fetch origin {commit}`");
            let finding =
                Finding::new(subject, "present, as the expected commit", "no such object in the repository", hint);
            self.ledger.record(Check::GitObjects, vec![finding]);
            return Err(self.nothing_below());
        };
        let objects = Objects::new(&store.table);
        let mut links = Links::new(store.table.len());
        let kept = Kept::below(&store, commit, self.folder, self.budget);
        let outcome = sweep::packs(&store, &objects, &kept, &mut links, self.budget).and_then(|()| {
            let (links, boundary) = (&mut links, &boundary);
            Walk { store: &store, ledger: &objects, kept: &kept, links, budget: self.budget, boundary }.run(root)
        });
        let mut outcome = match outcome {
            Ok(outcome) => outcome,
            Err(error) => {
                self.head(head, None);
                return Err(self.exhausted(error));
            }
        };
        self.head(head, objects.state(root).kind());
        let mut reader = Reader::new(&store, self.budget);
        self.special(&mut outcome, &objects, &mut reader);
        let promisor = format.promisor || store.promisor;
        let explainer = Explainer { root: self.root, ledger: &objects, outcome: &outcome, promisor, commit };
        self.history(&git, &explainer);
        let found = explainer.objects(&mut reader);
        self.ledger.record(Check::GitObjects, found.wrong);
        for finding in found.undecided {
            self.ledger.undecided(Check::GitObjects, finding);
        }
        self.ledger.record(Check::GitWellFormed, explainer.well_formed(&mut reader));
        self.release_tag(&git, &mut reader);
        let tree = links.of(root).and_then(|(links, _)| links.first()).map(|link| objects.id(link.object()));
        let Some(tree) = tree else { return Err(self.nothing_below()) };
        let source = self.source(&git, outcome);
        drop(objects);
        Ok(VerifiedGraph {
            commit: self.commit,
            root: self.root.to_owned(),
            tree,
            source,
            budget: self.budget.clone(),
            git,
            store,
            kept,
        })
    }

    /// Finds the repository and requires a format this gate reads.
    fn repository(&mut self) -> Result<(GitDir, Format), Halt> {
        let found = GitDir::find(self.root).and_then(|git| git.format().map(|format| (git, format)));
        let error = match found {
            Ok(found) => {
                self.ledger.record(Check::GitRepository, Vec::new());
                return Ok(found);
            }
            Err(error) => error,
        };
        let (subject, actual, hint) = match &error {
            Unsuitable::Absent | Unsuitable::Bare => {
                (".git".to_owned(), error.to_string(), "name the top folder of a clone with `--sdk-root`")
            }
            Unsuitable::Format(_) => {
                let hint = "clone into a SHA-1 repository with files for refs: \
                            `git clone --no-local --ref-format=files <url>`";
                (".git/config".to_owned(), error.to_string(), hint)
            }
            Unsuitable::File(error) => {
                (relative(self.root, error.path()), error.reason(), "make it readable, or clone again")
            }
        };
        let expected = "the git directory of a checkout, SHA-1, format version 0 or 1, refs as files";
        Err(self.ledger.give_up(Check::GitRepository, Finding::new(subject, expected, actual, hint)))
    }

    /// Lists all objects. Packs that cannot be read decide against the subject.
    fn store(&mut self, git: &GitDir) -> Result<Store, Halt> {
        let mut unreadable = Vec::new();
        let store = Store::open(&git.common.join("objects"), self.budget, &mut unreadable);
        for error in unreadable.iter().take(Outcome::KEPT as usize) {
            self.file(Check::GitObjects, error, "a readable pack with its own index", "clone the repository again");
        }
        store.map_err(|error| match error {
            ObjectError::Exhausted(error) => self.exhausted(error),
            ObjectError::File(error) => {
                self.file(Check::GitObjects, &error, "readable", "make it readable, or clone the repository again");
                self.nothing_below()
            }
            error => {
                let hint = "clone the repository again";
                let finding = Finding::new("the objects", "readable", error.to_string(), hint);
                self.ledger.give_up(Check::GitObjects, finding)
            }
        })
    }

    /// Records a file that is wrong or out of reach.
    fn file(&mut self, check: Check, error: &GitFileError, expected: &str, hint: &str) {
        let finding = Finding::new(relative(self.root, error.path()), expected, error.reason(), hint);
        if error.is_wrong() {
            self.ledger.record(check, vec![finding]);
        } else {
            self.ledger.undecided(check, finding);
        }
    }

    /// The walk could not begin.
    fn nothing_below(&mut self) -> Halt {
        let hint = "cure the findings above first";
        let finding =
            Finding::new("the object graph", "walked", "not walked: it has no readable commit to begin with", hint);
        self.ledger.give_up(Check::GitWellFormed, finding)
    }

    fn exhausted(&mut self, error: Exhausted) -> Halt {
        let hint = match error {
            Exhausted::Stop(_) => "run again, with more time if it was the clock",
            Exhausted::Objects(_) => "raise it with --limit-objects if the repository is expected to be that large",
            Exhausted::Inflated(_) => {
                "raise it with --limit-inflated-bytes if the repository is expected to be that large"
            }
            Exhausted::Folders(_) | Exhausted::Packs(_) => {
                "make one store of it: `git repack -ad`, then remove `.git/objects/info/alternates`"
            }
            Exhausted::Links(_) | Exhausted::Absent(_) => {
                "this bound is fixed: the repository is too large for this gate"
            }
        };
        let finding = Finding::new("the object graph", "walked within the limits", error.to_string(), hint);
        self.ledger.give_up(Check::GitObjects, finding)
    }

    /// HEAD is the expected commit, and that is a commit.
    fn head(&mut self, head: Result<Resolved, GitFileError>, kind: Option<Kind>) {
        let commit = self.commit.object_id();
        if let Some(kind) = kind.filter(|&kind| kind != Kind::Commit) {
            let hint = match kind {
                Kind::Tag => format!("name what the tag points to: `git rev-parse {commit}^{{commit}}`"),
                _ => "name a commit: `git rev-parse HEAD`".to_owned(),
            };
            let (expected, actual) = ("the id of a commit", format!("the id of a {kind}"));
            let finding = Finding::new(format!("--expected-commit {commit}"), expected, actual, hint);
            self.ledger.record(Check::GitHead, vec![finding]);
            return;
        }
        let checkout = format!("`git checkout --detach {commit}`");
        let actual = match head {
            Ok(Resolved::Id(id)) if id == commit => return self.ledger.record(Check::GitHead, Vec::new()),
            Ok(Resolved::Id(id)) => id.to_string(),
            Ok(Resolved::Unborn(name)) => format!("{name:?}, which does not exist"),
            Err(error) => return self.file(Check::GitHead, &error, &commit.to_string(), &checkout),
        };
        self.ledger.record(Check::GitHead, vec![Finding::new("HEAD", commit.to_string(), actual, checkout)]);
    }

    /// Nothing was cut off, or that is allowed.
    fn history(&mut self, git: &GitDir, explainer: &Explainer<'_>) {
        let absent =
            |(problem, _): &&(Problem, _)| matches!(problem, Problem::Absent(link) if link.role() == Role::Commit);
        let mut findings = Vec::new();
        if let Some((Problem::Absent(link), _)) = explainer.outcome.problems.iter().find(absent) {
            findings.push(Finding::new(
                format!("commit {}", explainer.ledger.id(link.object())),
                "every parent present, down to the root commits",
                "no such object in the repository",
                explainer.cure_absence(),
            ));
        }
        let boundary = &explainer.outcome.boundary;
        if let (Some(first), false) = (boundary.iter().min(), self.allow_shallow) {
            let finding = Finding::new(
                relative(self.root, &git.common.join("shallow")),
                "a complete history",
                format!("a shallow one: the parents of {} commits were left out, {first} among them", boundary.len()),
                "run `git fetch --unshallow`, set `fetch-depth: 0` in CI, or accept it with `--allow-shallow`",
            );
            self.ledger.undecided(Check::GitHistory, finding);
        }
        self.ledger.record(Check::GitHistory, findings);
    }

    /// Judges the blobs whose names call for a rule of their own.
    fn special(&mut self, outcome: &mut Outcome, objects: &Objects<'_>, reader: &mut Reader<'_>) {
        let special = std::mem::take(&mut outcome.special);
        for (link, from) in special {
            let id = objects.id(link.object());
            match reader.object(id) {
                Ok((Kind::Blob, content)) => {
                    if !explain::special(link.role(), &content).is_empty() {
                        outcome.add(Problem::Special(link), Some(from));
                    }
                }
                // Another kind, damaged or absent: that is a finding already.
                Ok(_) => {}
                Err(error) if error.is_undecided() => {
                    let hint = "raise the limit if such a size is expected";
                    let finding = Finding::new(format!("blob {id}"), "readable as a whole", error.to_string(), hint);
                    self.ledger.undecided(Check::GitWellFormed, finding);
                }
                Err(_) => {}
            }
        }
    }

    /// A tag named after the version peels to the commit.
    fn release_tag(&mut self, git: &GitDir, reader: &mut Reader<'_>) {
        let commit = self.commit.object_id();
        let mut findings = Vec::new();
        let names = |version| [format!("refs/tags/v{version}"), format!("refs/tags/{version}")];
        for name in self.version.map(names).into_iter().flatten() {
            let hint =
                format!("check out the release, or name the commit of the tag: `git rev-parse {name}^{{commit}}`");
            let expected = format!("peels to {commit}");
            match git.resolve(BStr::new(&name)) {
                Ok(Resolved::Unborn(_)) => {}
                Ok(Resolved::Id(id)) => match peel(id, reader) {
                    Ok(target) if target == commit => {}
                    Ok(target) => findings.push(Finding::new(&name, expected, format!("peels to {target}"), hint)),
                    Err(error) if error.is_undecided() => {
                        let finding = Finding::new(&name, expected, error.to_string(), hint);
                        self.ledger.undecided(Check::GitReleaseTag, finding);
                    }
                    Err(error) => findings.push(Finding::new(&name, expected, error.to_string(), hint)),
                },
                Err(error) => self.file(Check::GitReleaseTag, &error, &expected, &hint),
            }
        }
        self.ledger.record(Check::GitReleaseTag, findings);
    }

    fn source(&self, git: &GitDir, outcome: Outcome) -> Source {
        use std::os::unix::fs::MetadataExt;
        let exists = |path: &str| git.common.join(path).symlink_metadata().is_ok();
        let owner = git.git.metadata().map(|metadata| metadata.uid());
        let mut shallow_boundary: Vec<String> = outcome.boundary.iter().map(ObjectId::to_string).collect();
        shallow_boundary.sort_unstable();
        Source {
            object_format: "sha1",
            commits: outcome.commits,
            trees: outcome.trees,
            blobs: outcome.blobs,
            bytes: outcome.bytes,
            history: if shallow_boundary.is_empty() { History::Complete } else { History::Shallow },
            shallow_boundary,
            ignored: Ignored {
                // Malformed packed refs that nothing was looked up in do not matter here.
                replace_refs: git.replace_refs().unwrap_or_default(),
                grafts: exists("info/grafts"),
                commit_graph: exists("objects/info/commit-graph") || exists("objects/info/commit-graphs"),
                multi_pack_index: exists("objects/pack/multi-pack-index"),
                foreign_owner: owner.is_ok_and(|owner| owner != rustix::process::geteuid().as_raw()),
            },
        }
    }
}

/// Follows annotated tags to what they name.
fn peel(mut id: ObjectId, reader: &mut Reader<'_>) -> Result<ObjectId, ObjectError> {
    /// Tags of tags of tags.
    const DEPTH: usize = 64;
    for _ in 0..DEPTH {
        match reader.object(id)? {
            (Kind::Tag, content) => (id, _) = strict::tag(&content).ok_or(ObjectError::Header)?,
            _ => return Ok(id),
        }
    }
    Err(ObjectError::Header)
}
