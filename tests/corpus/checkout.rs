//! One checkout of the corpus, and the git half's answer to it.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use gix::ObjectId;
use gix::objs::Kind;
use paired_sdk_gate::check::{Check, Status};
use paired_sdk_gate::report::Verdict;

use crate::strict::cases;
use crate::support::gate::{Outcome, findings, gate, with_status};
use crate::support::git::{Repo, deflate};
use crate::support::half;

/// What a checkout begins as.
pub enum Base {
    /// Two commits, all objects loose.
    Loose,
    /// The same, in one pack.
    Packed,
    /// A sound commit whose parent leads to the object of that case.
    Behind(Box<cases::Case>),
}

/// A checkout in a folder of its own.
pub struct Checkout {
    /// Everything of this case lies in here.
    pub dir: tempfile::TempDir,
    pub repo: Repo,
    /// What is expected of HEAD.
    pub commit: String,
    /// Variables of the caller.
    pub variables: Vec<(&'static str, String)>,
}

/// Check, status, and what each finding is about and says.
type Told = (&'static str, Status, Vec<String>);

const FILES: [(&str, &str); 3] = [
    ("netbox_sdk/__init__.py", "__version__ = \"1.2.3\"\n"),
    ("netbox_sdk/plugin_bridge.py", "two = 2\n$Id$\n"),
    ("netbox_sdk/data/words.txt", "a\nb\n"),
];

/// The repositories the others are copied from: git is slow to make one.
static MADE: LazyLock<[(tempfile::TempDir, String); 2]> = LazyLock::new(|| {
    [&[][..], &["repack", "-adq"]].map(|pack| {
        let dir = tempfile::tempdir().unwrap();
        let repo = Repo::init(dir.path());
        repo.write("netbox_sdk/plugin_bridge.py", "one = 1\n");
        repo.write("pyproject.toml", "[project]\n");
        repo.commit_all("first");
        FILES.iter().for_each(|(path, text)| repo.write(path, text));
        let commit = repo.commit_all("second");
        if !pack.is_empty() {
            repo.git(pack);
        }
        (dir, commit)
    })
});

impl Checkout {
    pub fn new(base: &Base) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("sdk");
        let commit = match base {
            Base::Loose | Base::Packed => {
                let (from, commit) = &MADE[usize::from(matches!(base, Base::Packed))];
                copy(from.path(), &root);
                commit.clone()
            }
            Base::Behind(case) => behind(case, &root),
        };
        Checkout { repo: Repo::open(root), dir, commit, variables: Vec::new() }
    }

    pub fn root(&self) -> &Path {
        self.repo.root()
    }

    pub fn dot_git(&self, path: &str) -> PathBuf {
        self.repo.dot_git(path)
    }

    /// The id that git gives to a spec.
    pub fn rev(&self, spec: &str) -> String {
        self.repo.git(&["rev-parse", spec])
    }

    /// Where the loose object of a spec is.
    pub fn object(&self, spec: &str) -> PathBuf {
        self.repo.loose_path(&self.rev(spec))
    }

    /// What we say.
    pub fn verdict(&self) -> (Verdict, Vec<Told>) {
        if !self.variables.is_empty() {
            return self.verdict_of_the_program();
        }
        let (run, copy) = half::snapshot(self.root(), &self.commit, self.dir.path());
        let verdict = if copy.is_some() { Verdict::Copied } else { Verdict::without_proof(&run.ledger) };
        let told = run.ledger.entries().iter().filter(|entry| !entry.findings.is_empty()).map(|entry| {
            let texts = entry.findings.iter().map(|finding| format!("{}: {}", finding.subject, finding.actual));
            (entry.check.id(), entry.status, texts.collect())
        });
        (verdict, told.collect())
    }

    /// The same from the program, whose environment is the case's.
    fn verdict_of_the_program(&self) -> (Verdict, Vec<Told>) {
        let mut gate = gate();
        gate.arg("snapshot").arg("--sdk-root").arg(self.root()).args(["--expected-commit", &self.commit]);
        gate.arg("--out").arg(self.dir.path().join("out")).args(["--format", "json"]);
        gate.envs(self.variables.iter().map(|(name, value)| (name, value)));
        let report = Outcome::of(&mut gate).json();
        let verdict = match report["verdict"].as_str() {
            Some("copied") => Verdict::Copied,
            Some("unverifiable") => Verdict::Unverifiable,
            _ => Verdict::Refused,
        };
        let failed = with_status(&report, "failed").into_iter().map(|id| {
            let texts = findings(&report, id).iter().map(|found| format!("{}: {}", found["subject"], found["actual"]));
            (Check::from_id(id).unwrap().id(), Status::Failed, texts.collect())
        });
        (verdict, failed.collect())
    }
}

/// A repository written without git: a case's objects in the history of a sound commit; that commit.
fn behind(case: &cases::Case, root: &Path) -> String {
    let mut objects = cases::foundation();
    let found = case.objects();
    let (kind, data) = found.last().unwrap();
    let parent = cases::id(*kind, data);
    objects.extend(found);
    let mut add = |kind: Kind, data: Vec<u8>| -> ObjectId {
        objects.push((kind, data));
        cases::id(kind, &objects[objects.len() - 1].1)
    };
    let mut package = Vec::new();
    for (path, text) in &FILES[..2] {
        let name = path.strip_prefix("netbox_sdk/").unwrap();
        package.extend(cases::entry("100644", name.as_bytes(), add(Kind::Blob, text.as_bytes().to_vec())));
        let file = root.join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
    let package = add(Kind::Tree, package);
    let tree = add(Kind::Tree, cases::entry("40000", b"netbox_sdk", package));
    let commit = String::from_utf8(cases::commit(tree)).unwrap();
    let head = add(Kind::Commit, commit.replacen("\nauthor", &format!("\nparent {parent}\nauthor"), 1).into());
    let repo = Repo::open(root);
    for (kind, data) in objects {
        let file = deflate(&[format!("{kind} {}\0", data.len()).as_bytes(), &data].concat());
        repo.put_loose(&cases::id(kind, &data).to_string(), file);
    }
    repo.put(&repo.dot_git("HEAD"), format!("{head}\n"));
    repo.put(&repo.dot_git("config"), "[core]\n\trepositoryformatversion = 0\n\tbare = false\n");
    std::fs::create_dir(repo.dot_git("refs")).unwrap();
    head.to_string()
}

/// Copies a folder of folders and files.
pub fn copy(from: &Path, to: &Path) {
    for entry in walkdir::WalkDir::new(from) {
        let entry = entry.unwrap();
        let target = to.join(entry.path().strip_prefix(from).unwrap());
        if entry.file_type().is_dir() {
            std::fs::create_dir_all(target).unwrap();
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}
