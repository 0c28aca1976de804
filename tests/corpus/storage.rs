//! How objects are kept: loose, in packs, in alternates, with caches beside them.

use std::path::Path;

use super::checkout::{Base, Checkout};
use super::{Case, Expected, refused, undecided};
use crate::support::git::{PackKind, RawPack, Repo, deflate, id_of};

const OBJECTS: &str = "git.objects";
const BLOB: &str = "HEAD:pyproject.toml";

/// What stands in for a file, and what makes it.
type Instead = (&'static str, fn(&Path));

/// What is done to which file of a pack, and what is said of it.
type Damage = (&'static str, &'static str, fn(&mut Vec<u8>), &'static str);

pub fn cases() -> Vec<Case> {
    [loose(), absent(), packs(), alternates(), caches()].into_iter().flatten().collect()
}

/// The loose blob is another file.
fn blob_file(name: &str, file: Vec<u8>, message: &str) -> Case {
    let spoil = move |it: &mut Checkout| it.repo.put_loose(&it.rev(BLOB), &file);
    Case::new(format!("loose: {name}"), Base::Loose, spoil, refused(OBJECTS, message))
}

fn loose() -> Vec<Case> {
    let stream = deflate(b"blob 10\0[project]\n");
    let plain = |name: &str, content: &[u8], message: &str| blob_file(name, deflate(content), message);
    let mut cases = vec![
        plain("other content", b"blob 10\0[project}\n", "its content hashes to"),
        plain("another kind", b"tree 10\0[project]\n", "its content hashes to"),
        plain("longer than its header says", b"blob 10\0[project]\nmore", "longer than the 10 bytes"),
        plain("shorter than its header says", b"blob 11\0[project]\n", "shorter than the 11 bytes"),
        plain("a size with a leading zero", b"blob 010\0[project]\n", "its header is not that of an object"),
        plain("a size with a sign", b"blob +10\0[project]\n", "its header is not that of an object"),
        plain("an unknown kind", b"blub 10\0[project]\n", "its header is not that of an object"),
        plain("no header", b"[project]\n", "its header is not that of an object"),
        blob_file("a byte after the stream", [&stream[..], b"x"].concat(), "bytes follow its zlib stream"),
        blob_file("two streams", [&stream[..], &stream].concat(), "bytes follow its zlib stream"),
        blob_file("cut off", stream[..stream.len() - 1].to_vec(), "its zlib stream ends early"),
        blob_file("an empty file", Vec::new(), "its zlib stream ends early"),
        blob_file("no zlib stream", b"not zlib at all".to_vec(), "its zlib stream is damaged"),
        // A preset dictionary (RFC 1950, FDICT) that nobody has.
        blob_file("a preset dictionary", vec![0x78, 0xbb, 1, 2, 3, 4, 3, 0], "its zlib stream is damaged"),
    ];
    let instead: [Instead; 5] = [
        ("a folder", |path| std::fs::create_dir(path).unwrap()),
        ("a fifo", crate::graph::fifo),
        ("a socket", |path| drop(std::os::unix::net::UnixListener::bind(path).unwrap())),
        ("a link to nothing", |path| std::os::unix::fs::symlink("nothing", path).unwrap()),
        ("a link to a device", |path| std::os::unix::fs::symlink("/dev/zero", path).unwrap()),
    ];
    for (what, make) in instead {
        let spoil = move |it: &mut Checkout| {
            let path = it.object(BLOB);
            std::fs::remove_file(&path).unwrap();
            make(&path);
        };
        cases.push(Case::new(format!("loose: {what}"), Base::Loose, spoil, refused(OBJECTS, "not a regular file")));
    }
    let twice = |it: &mut Checkout| it.repo.put_loose(&it.rev(BLOB), deflate(b"blob 10\0[project}\n"));
    cases.push(Case::new(
        "loose: bad, beside a good one in a pack",
        Base::Packed,
        twice,
        refused(OBJECTS, "hashes to"),
    ));
    let unreachable: [(&str, &[u8]); 3] =
        [("damaged", b"blob 1\0"), ("malformed", b"tree 3\0abc"), ("of an unknown kind", b"blub 0\0")];
    for (what, content) in unreachable {
        let spoil = move |it: &mut Checkout| {
            let (kind, data) = if what == "malformed" { ("tree", &content[7..]) } else { ("blob", &b"y"[..]) };
            it.repo.put_loose(&id_of(kind, data).to_string(), deflate(content));
        };
        cases.push(Case::new(format!("unreachable: {what}"), Base::Loose, spoil, Expected::Sound));
    }
    let stray = |it: &mut Checkout| {
        it.repo.put(&it.dot_git("objects/00/tmp_obj_123456"), "half written");
        it.repo.put(&it.dot_git("objects/pack/tmp_pack_123456"), "half written");
    };
    cases.push(Case::new("unreachable: temporary files of a killed git", Base::Loose, stray, Expected::Sound));
    cases
}

fn absent() -> Vec<Case> {
    let mut cases = Vec::new();
    for (what, spec) in [
        ("the commit", "HEAD"),
        ("its parent", "HEAD~1"),
        ("its tree", "HEAD^{tree}"),
        ("a tree of its parent", "HEAD~1:netbox_sdk"),
        ("a blob", BLOB),
        ("a blob of its parent", "HEAD~1:netbox_sdk/plugin_bridge.py"),
    ] {
        let gone = move |it: &mut Checkout| std::fs::remove_file(it.object(spec)).unwrap();
        let message = "no such object in the repository";
        cases.push(Case::new(format!("absent: {what}"), Base::Loose, gone, refused(OBJECTS, message)));
    }
    let promised = |it: &mut Checkout| {
        let origin = it.dir.path().join("origin");
        std::fs::rename(it.root(), &origin).unwrap();
        let url = format!("file://{}", origin.display());
        let origin = Repo::open(origin);
        origin.git(&["config", "uploadpack.allowFilter", "true"]);
        origin.git(&["clone", "--quiet", "--filter=blob:none", &url, it.root().to_str().unwrap()]);
    };
    cases.push(Case::new(
        "absent: a blob that a remote has promised",
        Base::Loose,
        promised,
        refused(OBJECTS, "no such"),
    ));
    let graft = |it: &mut Checkout| {
        std::fs::remove_file(it.object("HEAD~1")).unwrap();
        it.repo.put(&it.dot_git("info/grafts"), format!("{}\n", it.commit));
    };
    cases.push(Case::new(
        "absent: a parent that a graft hides",
        Base::Loose,
        graft,
        refused(OBJECTS, "no such object"),
    ));
    cases
}

/// Changes a file of the one pack.
fn edited(extension: &'static str, change: fn(&mut Vec<u8>)) -> impl Fn(&mut Checkout) + Send + Sync {
    move |it| it.repo.edit(&it.repo.pack().with_extension(extension), change)
}

fn packs() -> Vec<Case> {
    let damage: [Damage; 9] = [
        ("another trailer", "pack", |bytes| *bytes.last_mut().unwrap() ^= 1, "ends in another checksum"),
        ("bytes behind the trailer", "pack", |bytes| bytes.push(0), "ends in another checksum"),
        ("cut off", "pack", |bytes| bytes.truncate(bytes.len() - 30), "ends in another checksum"),
        ("empty", "pack", Vec::clear, "is shorter than an empty pack"),
        ("no signature", "pack", |bytes| bytes[0] = b'K', "is no pack"),
        ("another count", "pack", |bytes| bytes[11] += 1, "its index"),
        ("a byte of an object", "pack", |bytes| bytes[30] ^= 0x10, "its "),
        ("an index with another checksum", "idx", |bytes| *bytes.last_mut().unwrap() ^= 1, "does not hash to"),
        ("an index cut off", "idx", |bytes| bytes.truncate(100), "is no pack index"),
    ];
    let mut cases = Vec::new();
    for (what, extension, change, message) in damage {
        let spoil = edited(extension, change);
        cases.push(Case::new(format!("pack: {what}"), Base::Packed, spoil, refused(OBJECTS, message)));
    }
    for extension in ["pack", "idx"] {
        let gone = move |it: &mut Checkout| std::fs::remove_file(it.repo.pack().with_extension(extension)).unwrap();
        let name = format!("pack: no {extension}");
        cases.push(Case::new(name, Base::Packed, gone, refused(OBJECTS, "no such object")));
        let fifo = move |it: &mut Checkout| {
            let path = it.repo.pack().with_extension(extension);
            std::fs::remove_file(&path).unwrap();
            crate::graph::fifo(&path);
        };
        let name = format!("pack: a fifo as {extension}");
        cases.push(Case::new(name, Base::Packed, fifo, refused(OBJECTS, "not a regular file")));
    }
    let thin = |it: &mut Checkout| {
        let id = id_of("blob", b"[project]\n");
        std::fs::remove_file(it.repo.loose_path(&id.to_string())).unwrap();
        // Copies all of a base that is here, but not in this pack.
        let base = id_of("blob", b"a\nb\n");
        let delta = [&[4, 10, 10][..], b"[project]\n"].concat();
        RawPack::default().add(id, PackKind::Reference(base), delta.len() as u64, &deflate(&delta)).write(&it.repo);
    };
    cases.push(Case::new(
        "pack: a base in no pack",
        Base::Loose,
        thin,
        refused(OBJECTS, "base is not in the same pack"),
    ));
    let several = |it: &mut Checkout| {
        it.repo.write("more", "more\n");
        it.commit = it.repo.commit_all("third");
        it.repo.git(&["repack", "-dq"]);
        it.repo.write("most", "most\n");
        it.commit = it.repo.commit_all("fourth");
    };
    cases.push(Case::new("pack: two of them and loose objects", Base::Packed, several, Expected::Sound));
    let kept = |it: &mut Checkout| it.repo.put(&it.repo.pack().with_extension("keep"), "");
    cases.push(Case::new("pack: kept", Base::Packed, kept, Expected::Sound));
    cases.push(Case::new("pack: all in one", Base::Packed, |_| (), Expected::Sound));
    cases.push(Case::new("loose: all of them", Base::Loose, |_| (), Expected::Sound));
    cases
}

/// Moves the objects away and leads there by so many steps of alternates.
fn lent(steps: usize) -> impl Fn(&mut Checkout) + Send + Sync {
    move |it| {
        let place = |step: usize| it.dir.path().join(format!("lent{step}"));
        std::fs::rename(it.dot_git("objects"), place(0)).unwrap();
        for step in 1..=steps {
            let folder = if step == steps { it.dot_git("objects") } else { place(step) };
            it.repo.put(&folder.join("info/alternates"), format!("{}\n", place(step - 1).display()));
        }
    }
}

fn alternates() -> Vec<Case> {
    let list = |text: String| move |it: &mut Checkout| it.repo.put(&it.dot_git("objects/info/alternates"), &text);
    let fifo = |it: &mut Checkout| {
        std::fs::create_dir_all(it.dot_git("objects/info")).unwrap();
        crate::graph::fifo(&it.dot_git("objects/info/alternates"));
    };
    let many = |it: &mut Checkout| {
        let place = |number: usize| it.dir.path().join(format!("lent{number}"));
        (0..70).for_each(|number| std::fs::create_dir(place(number)).unwrap());
        let text: String = (0..70).map(|number| format!("{}\n", place(number).display())).collect();
        it.repo.put(&it.dot_git("objects/info/alternates"), text);
    };
    vec![
        Case::new("alternates: one", Base::Loose, lent(1), Expected::Sound),
        Case::new("alternates: a pack, six steps away", Base::Packed, lent(6), Expected::Sound),
        Case::new("alternates: seven steps away", Base::Loose, lent(7), refused(OBJECTS, "no such object")),
        Case::new("alternates: itself", Base::Loose, list(".\n".into()), Expected::Sound),
        Case::new("alternates: a place that is not there", Base::Loose, list("/nonexistent\n".into()), Expected::Sound),
        Case::new(
            "alternates: a quote without an end",
            Base::Loose,
            list("\"x\n".into()),
            refused(OBJECTS, "is no path"),
        ),
        Case::new("alternates: a fifo", Base::Loose, fifo, refused(OBJECTS, "not a regular file")),
        Case::new("alternates: seventy", Base::Loose, many, undecided(OBJECTS, "more than 64 folders of objects")),
    ]
}

fn caches() -> Vec<Case> {
    let spoilt = |path: &'static str| {
        move |it: &mut Checkout| {
            it.repo.git(&["commit-graph", "write", "--reachable"]);
            it.repo.git(&["repack", "-adqb"]);
            it.repo.git(&["multi-pack-index", "write"]);
            let path = match path.strip_prefix('.') {
                Some(extension) => it.repo.pack().with_extension(extension),
                None => it.dot_git(path),
            };
            assert!(path.exists());
            it.repo.put(&path, "nonsense");
        }
    };
    let places = ["objects/info/commit-graph", "objects/pack/multi-pack-index", ".bitmap", ".rev"];
    let case = |place| Case::new(format!("cache: nonsense in {place}"), Base::Loose, spoilt(place), Expected::Sound);
    places.map(case).into()
}
