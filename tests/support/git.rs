//! Tiny repositories made with the system git: fixed names and dates, no configuration but our own.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A `git` that sees neither the user's configuration nor the caller's `GIT_*` variables.
pub fn git_command(dir: &Path) -> Command {
    let mut command = Command::new("git");
    command.env_clear().current_dir(dir);
    for name in ["PATH", "TMPDIR"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command.envs([
        ("HOME", "/nonexistent"),
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_AUTHOR_NAME", "A U Thor"),
        ("GIT_AUTHOR_EMAIL", "author@example.com"),
        ("GIT_AUTHOR_DATE", "1700000000 +0000"),
        ("GIT_COMMITTER_NAME", "C O Mitter"),
        ("GIT_COMMITTER_EMAIL", "committer@example.com"),
        ("GIT_COMMITTER_DATE", "1700000000 +0000"),
        ("LC_ALL", "C"),
    ]);
    command
}

/// A repository with a working tree.
pub struct Repo {
    root: PathBuf,
}

impl Repo {
    /// `git init` in `root`, which is created.
    pub fn init(root: impl Into<PathBuf>) -> Self {
        let root = root.into();
        std::fs::create_dir_all(&root).unwrap();
        let repo = Repo { root };
        repo.git(&["init", "--quiet", "--initial-branch=main", "--template="]);
        repo
    }

    /// One that is there already.
    pub fn open(root: impl Into<PathBuf>) -> Self {
        Repo { root: root.into() }
    }

    /// The top of the working tree.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Runs git, requires success, returns its trimmed output.
    #[track_caller]
    pub fn git(&self, arguments: &[&str]) -> String {
        let output = git_command(&self.root).args(arguments).output().unwrap();
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    /// Writes a file of the working tree, with its folders.
    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// Adds everything and commits; the commit id.
    pub fn commit_all(&self, message: &str) -> String {
        self.git(&["add", "--all", "--force"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", message]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// Writes an object of any content, well-formed or not; its id.
    #[track_caller]
    pub fn object(&self, kind: &str, content: &[u8]) -> String {
        let mut child = git_command(&self.root)
            .args(["hash-object", "-t", kind, "-w", "--stdin", "--literally"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(content).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }
}

/// A zlib stream.
pub fn deflate(content: &[u8]) -> Vec<u8> {
    let mut writer = gix::zlib::stream::deflate::Write::new(Vec::new(), gix::zlib::Compression::BEST_SPEED);
    writer.write_all(content).unwrap();
    writer.flush().unwrap();
    writer.into_inner()
}

/// The id of an object.
pub fn id_of(kind: &str, content: &[u8]) -> gix::ObjectId {
    let header = format!("{kind} {}\0", content.len());
    sha1(&[header.as_bytes(), content])
}

fn sha1(parts: &[&[u8]]) -> gix::ObjectId {
    use sha1::Digest;
    let mut hasher = sha1::Sha1::new();
    parts.iter().for_each(|part| hasher.update(part));
    <[u8; 20]>::from(hasher.finalize()).into()
}

impl Repo {
    /// A file of the git directory.
    pub fn dot_git(&self, path: &str) -> PathBuf {
        self.root.join(".git").join(path)
    }

    /// Where the loose object of that id is, or would be.
    pub fn loose_path(&self, id: &str) -> PathBuf {
        self.dot_git("objects").join(&id[..2]).join(&id[2..])
    }

    /// Replaces a file of the git directory, read-only or not, with its folders.
    pub fn put(&self, path: &Path, content: impl AsRef<[u8]>) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let _ = std::fs::remove_file(path);
        std::fs::write(path, content).unwrap();
    }

    /// Writes a loose object under any id, whatever the bytes of its file.
    pub fn put_loose(&self, id: &str, file: impl AsRef<[u8]>) {
        self.put(&self.loose_path(id), file);
    }

    /// The one pack there is, without its extension.
    #[track_caller]
    pub fn pack(&self) -> PathBuf {
        let names = std::fs::read_dir(self.dot_git("objects/pack")).unwrap().map(|entry| entry.unwrap().path());
        let packs: Vec<_> = names.filter(|path| path.extension().is_some_and(|end| end == "pack")).collect();
        assert_eq!(packs.len(), 1);
        packs[0].with_extension("")
    }

    /// Changes one file in place.
    pub fn edit(&self, path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
        let mut bytes = std::fs::read(path).unwrap();
        change(&mut bytes);
        self.put(path, bytes);
    }
}

/// A pack made by hand, sound or not, with an index that describes it as it is.
#[derive(Default)]
pub struct RawPack {
    entries: Vec<(gix::ObjectId, Vec<u8>)>,
}

/// How an entry of a pack begins.
pub enum PackKind {
    Tree,
    Blob,
    /// Bytes back to the base.
    Offset(u64),
    Reference(gix::ObjectId),
}

impl RawPack {
    /// Adds an entry; `stream` is what follows the header.
    pub fn add(&mut self, id: gix::ObjectId, kind: PackKind, size: u64, stream: &[u8]) -> &mut Self {
        let number = match kind {
            PackKind::Tree => 2,
            PackKind::Blob => 3,
            PackKind::Offset(_) => 6,
            PackKind::Reference(_) => 7,
        };
        let mut bytes = vec![(number << 4) | (size & 0x0f) as u8];
        let mut rest = size >> 4;
        while rest > 0 {
            *bytes.last_mut().unwrap() |= 0x80;
            bytes.push((rest & 0x7f) as u8);
            rest >>= 7;
        }
        match kind {
            PackKind::Offset(mut distance) => {
                let mut digits = vec![(distance & 0x7f) as u8];
                while distance > 0x7f {
                    distance = (distance >> 7) - 1;
                    digits.insert(0, 0x80 | (distance & 0x7f) as u8);
                }
                bytes.extend(digits);
            }
            PackKind::Reference(id) => bytes.extend_from_slice(id.as_bytes()),
            _ => {}
        }
        bytes.extend_from_slice(stream);
        self.entries.push((id, bytes));
        self
    }

    /// The length of the entry added last.
    pub fn last_length(&self) -> u64 {
        self.entries.last().unwrap().1.len() as u64
    }

    /// Writes the pack and its index into a repository.
    pub fn write(&self, repo: &Repo) {
        let count = (self.entries.len() as u32).to_be_bytes();
        let mut pack = [&b"PACK\0\0\0\x02"[..], &count].concat();
        let mut rows = Vec::new();
        for (id, bytes) in &self.entries {
            rows.push((*id, pack.len() as u32));
            pack.extend_from_slice(bytes);
        }
        let trailer = sha1(&[&pack]);
        pack.extend_from_slice(trailer.as_bytes());
        rows.sort();
        let mut index = b"\xfftOc\0\0\0\x02".to_vec();
        for first in 0..=255_u8 {
            let upto = rows.iter().filter(|(id, _)| id.as_bytes()[0] <= first).count() as u32;
            index.extend(upto.to_be_bytes());
        }
        rows.iter().for_each(|(id, _)| index.extend_from_slice(id.as_bytes()));
        rows.iter().for_each(|_| index.extend([0; 4]));
        rows.iter().for_each(|(_, offset)| index.extend(offset.to_be_bytes()));
        index.extend_from_slice(trailer.as_bytes());
        let own = sha1(&[&index]);
        index.extend_from_slice(own.as_bytes());
        let base = repo.dot_git("objects/pack").join(format!("pack-{trailer}"));
        repo.put(&base.with_extension("pack"), pack);
        repo.put(&base.with_extension("idx"), index);
    }
}
