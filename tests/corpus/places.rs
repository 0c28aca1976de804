//! Where the repository lies, what format it has, and what HEAD, refs and the shallow file say.

use super::checkout::{Base, Checkout, copy};
use super::{Case, Expected, refused, undecided};

const HEAD: &str = "git.head";
const REPOSITORY: &str = "git.repository";
const HISTORY: &str = "git.history";

pub fn cases() -> Vec<Case> {
    [heads(), histories(), formats(), layouts()].into_iter().flatten().collect()
}

fn loose(name: &str, spoil: impl Fn(&mut Checkout) + Send + Sync + 'static, expected: Expected) -> Case {
    Case::new(name, Base::Loose, spoil, expected)
}

/// HEAD is a file of that text, in which `ID` stands for the commit's id.
fn head(name: &str, text: &'static str, expected: Expected) -> Case {
    let spoil = move |it: &mut Checkout| it.repo.put(&it.dot_git("HEAD"), text.replace("ID", &it.commit));
    loose(&format!("HEAD: {name}"), spoil, expected)
}

fn heads() -> Vec<Case> {
    let upper = |it: &mut Checkout| it.repo.put(&it.dot_git("HEAD"), it.commit.to_uppercase());
    let linked = |it: &mut Checkout| {
        std::fs::remove_file(it.dot_git("HEAD")).unwrap();
        std::os::unix::fs::symlink("refs/heads/main", it.dot_git("HEAD")).unwrap();
    };
    let fifo = |path: &'static str| {
        move |it: &mut Checkout| {
            let _ = std::fs::remove_file(it.dot_git(path));
            crate::graph::fifo(&it.dot_git(path));
        }
    };
    let chain = |steps: usize| {
        move |it: &mut Checkout| {
            for step in 1..=steps {
                let next = if step == steps { "main".into() } else { format!("s{}", step + 1) };
                it.repo.put(&it.dot_git(&format!("refs/heads/s{step}")), format!("ref: refs/heads/{next}\n"));
            }
            it.repo.put(&it.dot_git("HEAD"), "ref: refs/heads/s1\n");
        }
    };
    let packed = |it: &mut Checkout| drop(it.repo.git(&["pack-refs", "--all"]));
    let packed_cut = |it: &mut Checkout| {
        it.repo.git(&["pack-refs", "--all"]);
        it.repo.edit(&it.dot_git("packed-refs"), |bytes| bytes.truncate(bytes.len() - 1));
    };
    vec![
        head("detached", "ID\n", Expected::Sound),
        head("detached, without a line feed", "ID", Expected::Sound),
        head("detached, CRLF", "ID\r\n", Expected::Sound),
        head("a branch, CRLF", "ref: refs/heads/main\r\n", Expected::Sound),
        head("a branch after a tab", "ref:\trefs/heads/main", Expected::Sound),
        head("a branch that is not there", "ref: refs/heads/none\n", refused(HEAD, "which does not exist")),
        head("outside refs", "ref: ../../outside\n", refused(HEAD, "which is no valid ref")),
        head("empty", "", refused(HEAD, "neither an object id nor the name of a ref")),
        head("half an id", "0123456789\n", refused(HEAD, "neither an object id nor the name of a ref")),
        loose("HEAD: upper case", upper, Expected::Sound),
        loose("HEAD: a symbolic link", linked, Expected::Sound),
        loose("HEAD: a fifo", fifo("HEAD"), refused(HEAD, "not a regular file")),
        loose("HEAD: a branch that is a fifo", fifo("refs/heads/main"), refused(HEAD, "not a regular file")),
        loose("HEAD: a chain of 4 symbolic refs", chain(3), Expected::Sound),
        loose("HEAD: a chain of 6 symbolic refs", chain(5), refused(HEAD, "more than 5 symbolic refs")),
        loose("HEAD: elsewhere", |it| it.commit = it.rev("HEAD~1"), refused(HEAD, "HEAD: ")),
        loose("HEAD: a packed branch", packed, Expected::Sound),
        loose("HEAD: packed refs cut off", packed_cut, refused(HEAD, "is cut off")),
        loose("expected: the id of a tree", |it| it.commit = it.rev("HEAD^{tree}"), refused(HEAD, "the id of a tree")),
    ]
}

fn histories() -> Vec<Case> {
    let shallow = |it: &mut Checkout| {
        std::fs::remove_file(it.object("HEAD~1")).unwrap();
        it.repo.put(&it.dot_git("shallow"), format!("{}\n", it.commit));
    };
    let text = |text: &'static str| move |it: &mut Checkout| it.repo.put(&it.dot_git("shallow"), text);
    let root = |it: &mut Checkout| it.repo.put(&it.dot_git("shallow"), it.rev("HEAD~1") + "\n");
    let fifo = |it: &mut Checkout| crate::graph::fifo(&it.dot_git("shallow"));
    let replaced = |it: &mut Checkout| drop(it.repo.git(&["replace", "HEAD", "HEAD~1"]));
    vec![
        loose("history: shallow", shallow, undecided(HISTORY, "the parents of 1 commits were left out")),
        loose("history: a boundary that cuts nothing off", root, Expected::Sound),
        loose("history: a shallow file of no ids", text("none\n"), refused(HISTORY, "line 1: is no object id")),
        loose("history: a shallow file that is a fifo", fifo, refused(HISTORY, "not a regular file")),
        loose("history: HEAD is replaced by its parent", replaced, Expected::Sound),
    ]
}

/// Made anew with other arguments of `git init`, and committed.
fn anew(arguments: &'static [&'static str]) -> impl Fn(&mut Checkout) + Send + Sync {
    move |it| {
        std::fs::remove_dir_all(it.dot_git("")).unwrap();
        it.repo.git(&[&["init", "--quiet", "--template=", "--initial-branch=main"], arguments].concat());
        let head = it.repo.commit_all("again");
        if head.len() == 40 {
            it.commit = head;
        }
    }
}

fn setting(key: &'static str, value: &'static str) -> impl Fn(&mut Checkout) + Send + Sync {
    move |it| drop(it.repo.git(&["config", key, value]))
}

fn formats() -> Vec<Case> {
    let version = |version: &'static str, key: &'static str, value: &'static str| {
        move |it: &mut Checkout| {
            it.repo.git(&["config", key, value]);
            it.repo.git(&["config", "core.repositoryFormatVersion", version]);
        }
    };
    let config = |text: &'static [u8]| {
        move |it: &mut Checkout| it.repo.edit(&it.dot_git("config"), |bytes| bytes.extend_from_slice(text))
    };
    let fifo = |it: &mut Checkout| {
        std::fs::remove_file(it.dot_git("config")).unwrap();
        crate::graph::fifo(&it.dot_git("config"));
    };
    vec![
        loose("format: SHA-256", anew(&["--object-format=sha256"]), undecided(REPOSITORY, "sha256")),
        loose("format: reftable", anew(&["--ref-format=reftable"]), undecided(REPOSITORY, "reftable")),
        loose("format: version 1", version("1", "x.y", "z"), Expected::Sound),
        loose("format: version 2", version("2", "x.y", "z"), undecided(REPOSITORY, "2")),
        loose(
            "format: an unknown extension",
            version("1", "extensions.new", "1"),
            undecided(REPOSITORY, "extensions.new"),
        ),
        loose("format: settings for a worktree", version("1", "extensions.worktreeConfig", "true"), Expected::Sound),
        loose("format: core.bare", setting("core.bare", "true"), undecided(REPOSITORY, "a bare repository")),
        loose("format: core.worktree elsewhere", setting("core.worktree", "/nonexistent"), Expected::Sound),
        loose(
            "format: settings that do not parse",
            config(b"[core\n"),
            undecided(REPOSITORY, "a repository whose settings cannot be parsed"),
        ),
        loose("format: settings in a fifo", fifo, undecided(REPOSITORY, "not a regular file")),
    ]
}

fn layouts() -> Vec<Case> {
    let bare = |it: &mut Checkout| {
        for entry in std::fs::read_dir(it.dot_git("")).unwrap() {
            let entry = entry.unwrap();
            std::fs::rename(entry.path(), it.root().join(entry.file_name())).unwrap();
        }
        std::fs::remove_dir(it.dot_git("")).unwrap();
    };
    let worktree = |it: &mut Checkout| {
        let main = it.dir.path().join("main");
        std::fs::rename(it.root(), &main).unwrap();
        let root = it.root().display().to_string();
        crate::support::git::Repo::open(main).git(&["worktree", "add", "--quiet", "--detach", &root]);
    };
    let aside = |link: bool| {
        move |it: &mut Checkout| {
            let aside = it.dir.path().join("aside");
            copy(&it.dot_git(""), &aside);
            std::fs::remove_dir_all(it.dot_git("")).unwrap();
            let dot_git = it.root().join(".git");
            if link {
                std::os::unix::fs::symlink(&aside, dot_git).unwrap();
            } else {
                std::fs::write(dot_git, format!("gitdir: {}\n", aside.display())).unwrap();
            }
        }
    };
    let none = |it: &mut Checkout| std::fs::remove_dir_all(it.dot_git("")).unwrap();
    vec![
        loose("layout: no repository", none, undecided(REPOSITORY, "nothing called .git")),
        loose("layout: bare", bare, undecided(REPOSITORY, "a bare repository")),
        loose("layout: a linked worktree", worktree, Expected::Sound),
        loose("layout: a .git file", aside(false), Expected::Sound),
        loose("layout: .git is a link", aside(true), Expected::Sound),
    ]
}
