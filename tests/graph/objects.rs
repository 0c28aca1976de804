//! Objects that are absent, damaged, of another kind or there twice; loose and packed.

use paired_sdk_gate::check::Check;
use paired_sdk_gate::limits::Limits;

use super::{Ask, case, judge, packed_case};
use crate::support::git::{PackKind, RawPack, deflate, id_of};

#[test]
fn every_absent_object_is_named_with_who_links_to_it() {
    let case = case();
    let links = [
        ("HEAD~1", "commit", format!("a parent of commit {}", case.commit)),
        ("HEAD^{tree}", "tree", format!("the tree of commit {}", case.commit)),
        ("HEAD:netbox_sdk", "tree", format!("an entry of tree {}", case.rev("HEAD^{tree}"))),
        ("HEAD:netbox_sdk/plugin_bridge.py", "blob", format!("an entry of tree {}", case.rev("HEAD:netbox_sdk"))),
        ("HEAD~1:netbox_sdk/plugin_bridge.py", "blob", format!("an entry of tree {}", case.rev("HEAD~1:netbox_sdk"))),
    ];
    for (spec, kind, linked) in links {
        let id = case.rev(spec);
        let path = case.repo.loose_path(&id);
        let aside = path.with_extension("aside");
        std::fs::rename(&path, &aside).unwrap();
        let judged = case.judge();
        judged.refuses(Check::GitObjects, &format!("{kind} {id}"), "no such object in the repository", "git fetch");
        let expected = &judged.findings(Check::GitObjects)[0].expected;
        assert_eq!(*expected, format!("present, as {linked}"));
        std::fs::rename(&aside, &path).unwrap();
    }
    case.judge().passes();
}

#[test]
fn the_expected_commit_itself_is_absent() {
    let case = case();
    std::fs::remove_file(case.repo.loose_path(&case.commit)).unwrap();
    let subject = format!("commit {}", case.commit);
    case.judge().refuses(Check::GitObjects, &subject, "no such object", &format!("git fetch origin {}", case.commit));
}

#[test]
fn many_absent_objects_are_counted() {
    let case = case();
    for number in 0..30 {
        case.repo.write(&format!("data/{number}"), format!("{number}\n"));
    }
    let commit = case.repo.commit_all("many");
    for number in 0..30 {
        let id = case.repo.git(&["rev-parse", &format!("HEAD:data/{number}")]);
        std::fs::remove_file(case.repo.loose_path(&id)).unwrap();
    }
    let judged = judge(&case.repo, &commit);
    judged.refuses(Check::GitObjects, "other objects", "and 10 more", "the findings above");
    assert_eq!(judged.findings(Check::GitObjects).len(), 21);
}

#[test]
fn damaged_loose_files() {
    let case = case();
    let id = case.rev("HEAD:pyproject.toml");
    let good = b"blob 10\0[project]\n";
    let other = id_of("blob", b"[project}\n");
    let stream = deflate(good);
    let mut long = deflate(b"blob 10\0[project]\nmore");
    let cases: Vec<(Vec<u8>, String)> = vec![
        (deflate(b"blob 10\0[project}\n"), format!("its content hashes to {other}")),
        (deflate(b"tree 10\0[project]\n"), "its content hashes to".to_owned()),
        ([&stream[..], b"x"].concat(), "bytes follow its zlib stream".to_owned()),
        ([&stream[..], &stream].concat(), "bytes follow its zlib stream".to_owned()),
        (stream[..stream.len() - 1].to_vec(), "its zlib stream ends early".to_owned()),
        (Vec::new(), "its zlib stream ends early".to_owned()),
        (b"not zlib at all".to_vec(), "its zlib stream is damaged".to_owned()),
        (std::mem::take(&mut long), "longer than the 10 bytes".to_owned()),
        (deflate(b"blob 11\0[project]\n"), "shorter than the 11 bytes".to_owned()),
        (deflate(b"blob 010\0[project]\n"), "its header is not that of an object".to_owned()),
        (deflate(b"blub 10\0[project]\n"), "its header is not that of an object".to_owned()),
        (deflate(b"blob 10"), "its header is not that of an object".to_owned()),
    ];
    for (file, actual) in cases {
        case.repo.put_loose(&id, &file);
        let judged = case.judge();
        judged.refuses(Check::GitObjects, &id, &actual, "clone it again");
        judged.refuses(Check::GitObjects, &id, &format!("in .git/objects/{}/{}", &id[..2], &id[2..]), "clone");
        judged.only(Check::GitObjects);
    }
    case.repo.put_loose(&id, &stream);
    case.judge().passes();
}

#[test]
fn a_long_object_is_held_to_the_same_rules() {
    let case = case();
    let content: Vec<u8> = (0..3_000_000_u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
    case.repo.write("data.bin", &content);
    let commit = case.repo.commit_all("long");
    judge(&case.repo, &commit).passes();
    let id = case.repo.git(&["rev-parse", "HEAD:data.bin"]);
    case.repo.edit(&case.repo.loose_path(&id), |bytes| bytes.push(0));
    judge(&case.repo, &commit).refuses(Check::GitObjects, &id, "bytes follow its zlib stream", "clone");
    case.repo.edit(&case.repo.loose_path(&id), |bytes| bytes.truncate(bytes.len() - 2));
    judge(&case.repo, &commit).refuses(Check::GitObjects, &id, "its zlib stream ends early", "clone");
}

#[test]
fn loose_objects_that_are_no_files() {
    let case = case();
    let id = case.rev("HEAD:pyproject.toml");
    let path = case.repo.loose_path(&id);
    let content = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    super::fifo(&path);
    case.judge().refuses(Check::GitObjects, &id, "not a regular file", "clone");
    std::fs::remove_file(&path).unwrap();
    std::os::unix::net::UnixListener::bind(&path).unwrap();
    case.judge().refuses(Check::GitObjects, &id, "not a regular file", "clone");
    std::fs::remove_file(&path).unwrap();
    let elsewhere = case.repo.root().join("elsewhere");
    std::fs::write(&elsewhere, content).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
    case.judge().refuses(Check::GitObjects, &id, "not a regular file", "clone");
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    case.judge().refuses(Check::GitObjects, &id, "not a regular file", "clone");
}

#[test]
fn links_to_another_kind() {
    let case = case();
    let (tree, blob) = (case.rev("HEAD^{tree}"), case.rev("HEAD:pyproject.toml"));
    let raw = |id: &str| gix::ObjectId::from_hex(id.as_bytes()).unwrap().as_bytes().to_vec();
    let people = "author A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\nx\n";
    let entry = |mode: &str, id: &str| [mode.as_bytes(), b" x\0", &raw(id)].concat();
    let commit_of = |tree: &str| case.repo.object("commit", format!("tree {tree}\n{people}").as_bytes());
    let folder_as_file = commit_of(&case.repo.object("tree", &entry("100644", &tree)));
    let file_as_folder = commit_of(&case.repo.object("tree", &entry("40000", &blob)));
    let blob_as_tree = commit_of(&blob);
    let tree_as_parent = format!("tree {tree}\nparent {tree}\n{people}");
    let tree_as_parent = case.repo.object("commit", tree_as_parent.as_bytes());
    for (commit, subject, expected) in [
        (folder_as_file, format!("tree {tree}"), "a blob, as an entry of tree"),
        (file_as_folder, format!("blob {blob}"), "a tree, as an entry of tree"),
        (blob_as_tree, format!("blob {blob}"), "a tree, as the tree of commit"),
        (tree_as_parent, format!("tree {tree}"), "a commit, as a parent of commit"),
    ] {
        case.repo.put(&case.repo.dot_git("HEAD"), &commit);
        let judged = judge(&case.repo, &commit);
        judged.refuses(Check::GitObjects, &subject, "a ", "do not use it").only(Check::GitObjects);
        assert!(judged.findings(Check::GitObjects)[0].expected.starts_with(expected));
    }
    // A submodule's commit is in another repository.
    let gitlink = commit_of(&case.repo.object("tree", &entry("160000", &"1".repeat(40))));
    case.repo.put(&case.repo.dot_git("HEAD"), &gitlink);
    judge(&case.repo, &gitlink).passes();
}

#[test]
fn malformed_objects_are_named_with_gits_message() {
    let case = case();
    let blob = gix::ObjectId::from_hex(case.rev("HEAD:pyproject.toml").as_bytes()).unwrap();
    let entry = |mode: &str, name: &str| [format!("{mode} {name}\0").as_bytes(), blob.as_bytes()].concat();
    let unsorted = case.repo.object("tree", &[entry("100644", "b"), entry("100644", "a")].concat());
    let people = "author A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\nx\n";
    let commit = case.repo.object("commit", format!("tree {unsorted}\n{people}").as_bytes());
    case.repo.put(&case.repo.dot_git("HEAD"), &commit);
    // Nothing the repository says about severity counts.
    case.repo.git(&["config", "fsck.treeNotSorted", "ignore"]);
    case.repo.write("../skip", format!("{unsorted}\n"));
    case.repo.git(&["config", "fsck.skipList", "../skip"]);
    let judged = judge(&case.repo, &commit);
    judged.refuses(Check::GitWellFormed, &format!("tree {unsorted}"), "treeNotSorted: ", "release the new commit");
    judged.only(Check::GitWellFormed);
    let no_author = case.repo.object("commit", format!("tree {}\n\nx\n", case.rev("main^{tree}")).as_bytes());
    case.repo.put(&case.repo.dot_git("HEAD"), &no_author);
    judge(&case.repo, &no_author).refuses(Check::GitWellFormed, &no_author, "missingAuthor: ", "rewrite");
    // Nobody asks about what is not reachable.
    case.repo.put(&case.repo.dot_git("HEAD"), &case.commit);
    case.judge().passes();
}

#[test]
fn special_files_are_judged_by_their_content() {
    for packed in [false, true] {
        let case = case();
        case.repo.write("deep/.gitmodules", "[submodule \"a\"]\n\tpath = -x\n\turl = u\n");
        case.repo.commit_all("special");
        case.repo.git(&["rm", "-q", "deep/.gitmodules"]);
        let commit = case.repo.commit_all("gone again");
        if packed {
            case.repo.git(&["repack", "-adq"]);
        }
        let blob = case.repo.git(&["rev-parse", "HEAD~1:deep/.gitmodules"]);
        let judged = judge(&case.repo, &commit);
        judged.refuses(Check::GitWellFormed, &format!("blob {blob}"), "gitmodulesPath: ", "rewrite");
        judged.only(Check::GitWellFormed);
    }
}

#[test]
fn unreachable_damage_is_not_our_business() {
    let case = case();
    let id = case.repo.object("blob", b"unreachable\n");
    case.repo.put_loose(&id, b"nonsense");
    super::fifo(
        &case
            .repo
            .loose_path(&"1".repeat(40))
            .parent()
            .map(|folder| {
                std::fs::create_dir_all(folder).unwrap();
                folder.join("1".repeat(38))
            })
            .unwrap(),
    );
    let mut pack = RawPack::default();
    pack.add(id_of("blob", b"x"), PackKind::Blob, 1, &deflate(b"y"));
    pack.write(&case.repo);
    case.judge().passes();
}

#[test]
fn an_object_that_is_there_twice_must_be_good_twice() {
    let case = packed_case();
    let id = case.rev("HEAD:pyproject.toml");
    case.repo.put_loose(&id, deflate(b"blob 10\0[project]\n"));
    case.judge().passes();
    case.repo.put_loose(&id, deflate(b"blob 10\0[project}\n"));
    let judged = case.judge();
    judged.refuses(Check::GitObjects, &format!("blob {id}"), "its content hashes to", "clone").only(Check::GitObjects);
    std::fs::remove_file(case.repo.loose_path(&id)).unwrap();
    let mut pack = RawPack::default();
    pack.add(gix::ObjectId::from_hex(id.as_bytes()).unwrap(), PackKind::Blob, 10, &deflate(b"[project}\n"));
    pack.write(&case.repo);
    case.judge().refuses(Check::GitObjects, &format!("blob {id}"), "its content hashes to", "clone");
}

type Change<'a> = &'a dyn Fn(&mut Vec<u8>);

#[test]
fn damaged_packs() {
    for extension in ["pack", "idx"] {
        let case = packed_case();
        let path = case.repo.pack().with_extension(extension);
        let sound = std::fs::read(&path).unwrap();
        let subject = format!(".{extension}");
        let wrong: &[(Change<'_>, &str)] = if extension == "pack" {
            &[
                (&|bytes| bytes.push(0), "another checksum"),
                (&|bytes| bytes.truncate(20), "is shorter than an empty pack"),
                (&|bytes| bytes[0] = b'Q', "is no pack"),
                (&|bytes| bytes[11] += 1, "its index"),
                (&|bytes| *bytes.last_mut().unwrap() ^= 1, "another checksum"),
            ]
        } else {
            &[
                (&|bytes| *bytes.last_mut().unwrap() ^= 1, "own checksum"),
                (&|bytes| bytes[1100] ^= 1, "own checksum"),
                (&|bytes| bytes.push(0), "is no pack index"),
                (&|bytes| bytes.clear(), "is no pack index"),
            ]
        };
        for (change, actual) in wrong {
            case.repo.edit(&path, change);
            case.judge().refuses(Check::GitObjects, &subject, actual, "clone the repository again");
            case.repo.put(&path, &sound);
        }
        case.judge().passes();
        // Without its pack an index says nothing; without its index neither does a pack.
        std::fs::remove_file(&path).unwrap();
        let subject = format!("commit {}", case.commit);
        case.judge().refuses(Check::GitObjects, &subject, "no such object", "git fetch");
    }
}

#[test]
fn entries_of_a_pack_that_are_not_what_their_id_says() {
    let case = case();
    let content = b"[project]\n";
    let id = id_of("blob", content);
    std::fs::remove_file(case.repo.loose_path(&id.to_string())).unwrap();
    let stream = deflate(content);
    let base = b"[project}\n";
    let base_id = id_of("blob", base);
    let delta = deflate(&[10, 10, 0x90, 8, 2, b']', b'\n']);
    let other = deflate(&[10, 10, 0x90, 8, 2, b'?', b'\n']);
    let short = deflate(&[10, 11, 0x90, 8, 2, b']', b'\n']);
    let trailing = [&stream[..], b"?"].concat();
    let blob = |size, stream: &[u8]| {
        let mut pack = RawPack::default();
        pack.add(id, PackKind::Blob, size, stream);
        pack
    };
    let on_base = |kind: PackKind, delta: &[u8], with_base: bool| {
        let mut pack = RawPack::default();
        if with_base {
            pack.add(base_id, PackKind::Blob, 10, &deflate(base));
        }
        pack.add(id, kind, 7, delta);
        pack
    };
    let distance = {
        let mut pack = RawPack::default();
        pack.add(base_id, PackKind::Blob, 10, &deflate(base)).last_length()
    };
    for (pack, actual) in [
        (blob(10, &deflate(base)), "its content hashes to"),
        (blob(11, &stream), "shorter than the 11 bytes"),
        (blob(9, &stream), "longer than the 9 bytes"),
        (blob(10, &trailing), "bytes follow its zlib stream"),
        (blob(10, &stream[..stream.len() - 1]), "its zlib stream ends early"),
        (blob(10, b"nonsense here"), "its zlib stream is damaged"),
        (on_base(PackKind::Reference(base_id), &short, true), "its delta is malformed: the result is shorter"),
        (on_base(PackKind::Reference(base_id), &other, true), "its content hashes to"),
        (on_base(PackKind::Reference(base_id), &delta, false), "its delta base is not in the same pack"),
        (on_base(PackKind::Offset(distance + 1), &delta, true), "its delta base is not in the same pack"),
        (on_base(PackKind::Offset(1 << 40), &delta, true), "its delta base is not in the same pack"),
    ] {
        pack.write(&case.repo);
        // The base elsewhere does not help a thin pack.
        case.repo.object("blob", base);
        let judged = case.judge();
        judged.refuses(Check::GitObjects, &id.to_string(), actual, "clone").only(Check::GitObjects);
        std::fs::remove_dir_all(case.repo.dot_git("objects/pack")).unwrap();
    }
    for kind in [PackKind::Reference(base_id), PackKind::Offset(distance)] {
        on_base(kind, &delta, true).write(&case.repo);
        case.judge().passes();
        std::fs::remove_dir_all(case.repo.dot_git("objects/pack")).unwrap();
    }
}

#[test]
fn a_packed_tree_with_other_entries() {
    let case = case();
    let id = case.rev("HEAD:netbox_sdk");
    std::fs::remove_file(case.repo.loose_path(&id)).unwrap();
    let blob = id_of("blob", b"[project]\n");
    let content = [b"100644 plugin_bridge.py\0", blob.as_bytes()].concat();
    let mut pack = RawPack::default();
    let id = gix::ObjectId::from_hex(id.as_bytes()).unwrap();
    pack.add(id, PackKind::Tree, content.len() as u64, &deflate(&content));
    pack.write(&case.repo);
    let judged = case.judge();
    judged.refuses(Check::GitObjects, &id.to_string(), "its content hashes to", "clone").only(Check::GitObjects);
}

#[test]
fn a_reference_to_a_base_that_comes_later() {
    let case = case();
    let (content, base) = (b"[project]\n", b"[project}\n");
    let id = id_of("blob", content);
    std::fs::remove_file(case.repo.loose_path(&id.to_string())).unwrap();
    let mut pack = RawPack::default();
    let base_id = id_of("blob", base);
    pack.add(id, PackKind::Reference(base_id), 7, &deflate(&[10, 10, 0x90, 8, 2, b']', b'\n']));
    pack.add(base_id, PackKind::Blob, 10, &deflate(base));
    pack.write(&case.repo);
    case.judge().passes();
}

#[test]
fn unreadable_files_cannot_be_judged() {
    // The superuser reads everything.
    let case = case();
    let id = case.rev("HEAD:pyproject.toml");
    let path = case.repo.loose_path(&id);
    let locked = std::os::unix::fs::PermissionsExt::from_mode(0o000);
    std::fs::set_permissions(&path, locked).unwrap();
    if std::fs::File::open(&path).is_ok() {
        case.judge().passes();
    } else {
        case.judge().cannot_tell(Check::GitObjects, &id, "cannot open it", "readable");
    }
}

#[test]
fn reaching_a_limit_is_no_verdict() {
    for case in [case(), packed_case()] {
        let ask = |limits| Ask { limits, ..Ask::new(case.repo.root(), &case.commit) }.judge();
        let judged = ask(Limits { objects: 5, ..Limits::default() });
        judged.cannot_tell(Check::GitObjects, "the object graph", "more than 5 objects", "--limit-objects");
        let judged = ask(Limits { tree_bytes: 100, ..Limits::default() });
        judged.cannot_tell(Check::GitObjects, &case.commit, "exceed the limit of 100", "raise the limit");
        let judged = ask(Limits { seconds: 0, ..Limits::default() });
        judged.cannot_tell(Check::GitObjects, "the object graph", "the time limit of 0 seconds", "run again");
    }
}
