//! Small repositories that want a lot of memory or time. [`super::PROMPT`] bounds the time of each.

use paired_sdk_gate::check::Check;
use paired_sdk_gate::graph::GraphError;
use paired_sdk_gate::limits::Limits;

use super::{Ask, Case, case, judge};
use crate::support::git::{PackKind, RawPack, deflate, id_of};

/// The loose blob `[project]` of a case makes room for another copy.
fn without_blob() -> (Case, gix::ObjectId) {
    let case = case();
    let id = id_of("blob", b"[project]\n");
    std::fs::remove_file(case.repo.loose_path(&id.to_string())).unwrap();
    (case, id)
}

#[test]
fn zlib_bombs() {
    let (case, id) = without_blob();
    let zeros = vec![0; 200 << 20];
    let honest = deflate(&[b"blob 209715200\0", &zeros[..]].concat());
    let lying = deflate(&[b"blob 10\0", &zeros[..]].concat());
    case.repo.put_loose(&id.to_string(), &honest);
    case.judge().refuses(Check::GitObjects, &id.to_string(), "its content hashes to", "clone");
    let limits = Limits { inflated_bytes: 100 << 20, ..Limits::default() };
    let judged = Ask { limits: limits.clone(), ..Ask::new(case.repo.root(), &case.commit) }.judge();
    judged.cannot_tell(
        Check::GitObjects,
        "the object graph",
        "more than 104857600 inflated bytes",
        "--limit-inflated-bytes",
    );
    case.repo.put_loose(&id.to_string(), &lying);
    let judged = Ask { limits, ..Ask::new(case.repo.root(), &case.commit) }.judge();
    judged.refuses(Check::GitObjects, &id.to_string(), "longer than the 10 bytes", "clone");
    std::fs::remove_file(case.repo.loose_path(&id.to_string())).unwrap();
    RawPack::default().add(id, PackKind::Blob, 10, &deflate(&zeros)).write(&case.repo);
    case.judge().refuses(Check::GitObjects, &id.to_string(), "longer than the 10 bytes", "clone");
}

#[test]
fn a_claim_of_petabytes() {
    let (case, id) = without_blob();
    case.repo.put_loose(&id.to_string(), deflate(b"blob 1125899906842624\0[project]\n"));
    case.judge().refuses(Check::GitObjects, &id.to_string(), "shorter than the 1125899906842624 bytes", "clone");
    let (case, tree) = (super::case(), "HEAD^{tree}");
    case.repo.put_loose(&case.rev(tree), deflate(b"tree 1125899906842624\0"));
    case.judge().cannot_tell(Check::GitObjects, "object", "its 1125899906842624 bytes exceed", "raise the limit");
}

#[test]
fn a_delta_that_claims_petabytes() {
    let (case, id) = without_blob();
    let base = id_of("blob", b"[project}\n");
    let huge = [&[10][..], &[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 2], &[0x90, 8]].concat();
    let mut pack = RawPack::default();
    pack.add(base, PackKind::Blob, 10, &deflate(b"[project}\n"));
    pack.add(id, PackKind::Reference(base), huge.len() as u64, &deflate(&huge));
    pack.write(&case.repo);
    case.judge().cannot_tell(
        Check::GitObjects,
        &id.to_string(),
        "its 1125899906842624 bytes exceed",
        "raise the limit",
    );
    let mut pack = RawPack::default();
    pack.add(base, PackKind::Blob, 10, &deflate(b"[project}\n"));
    pack.add(id, PackKind::Reference(base), 1 << 50, &deflate(&huge));
    std::fs::remove_dir_all(case.repo.dot_git("objects/pack")).unwrap();
    pack.write(&case.repo);
    case.judge().cannot_tell(
        Check::GitObjects,
        &id.to_string(),
        "its 1125899906842624 bytes exceed",
        "raise the limit",
    );
}

#[test]
fn a_stream_with_a_preset_dictionary() {
    let (case, id) = without_blob();
    // CMF, FLG with FDICT, a dictionary id.
    let preset = [&[0x78, 0xbb, 0, 0, 0, 1][..], &deflate(b"[project]\n")[2..]].concat();
    case.repo.put_loose(&id.to_string(), &preset);
    case.judge().refuses(Check::GitObjects, &id.to_string(), "its zlib stream is damaged", "clone");
    std::fs::remove_file(case.repo.loose_path(&id.to_string())).unwrap();
    RawPack::default().add(id, PackKind::Blob, 10, &preset).write(&case.repo);
    case.judge().refuses(Check::GitObjects, &id.to_string(), "its zlib stream is damaged", "clone");
}

#[test]
fn deltas_that_need_themselves() {
    let (case, id) = without_blob();
    let delta = deflate(&[10, 10, 0x90, 10]);
    let mut one = RawPack::default();
    one.add(id, PackKind::Reference(id), 4, &delta);
    let other = id_of("blob", b"other");
    let mut two = RawPack::default();
    two.add(id, PackKind::Reference(other), 4, &delta);
    two.add(other, PackKind::Reference(id), 4, &delta);
    for pack in [one, two] {
        pack.write(&case.repo);
        case.judge().refuses(Check::GitObjects, &id.to_string(), "its delta chain is a circle", "clone");
        // A good copy elsewhere is no excuse.
        case.repo.put_loose(&id.to_string(), deflate(b"blob 10\0[project]\n"));
        case.judge().refuses(Check::GitObjects, &id.to_string(), "its delta chain is a circle", "clone");
        std::fs::remove_file(case.repo.loose_path(&id.to_string())).unwrap();
        std::fs::remove_dir_all(case.repo.dot_git("objects/pack")).unwrap();
    }
}

/// A delta that adds a letter to a base of that length.
fn longer(length: usize, letter: u8) -> Vec<u8> {
    let number = |mut value: usize| {
        let mut bytes = Vec::new();
        while value > 0x7f {
            bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        bytes.push(value as u8);
        bytes
    };
    // One copy takes at most 16 MiB less one byte.
    let copy = [0xf0, length as u8, (length >> 8) as u8, (length >> 16) as u8];
    [number(length), number(length + 1), copy.to_vec(), vec![1, letter]].concat()
}

/// A pack of one chain of deltas, each a byte longer than its base, ending in a content of `links` bytes on top of `size`.
fn chain(links: usize, size: usize) -> (RawPack, Vec<u8>) {
    let mut content = vec![b'x'; size];
    let mut pack = RawPack::default();
    pack.add(id_of("blob", &content), PackKind::Blob, size as u64, &deflate(&content));
    for link in 0..links {
        let letter = b'a' + (link % 26) as u8;
        let delta = longer(content.len(), letter);
        content.push(letter);
        let distance = pack.last_length();
        pack.add(id_of("blob", &content), PackKind::Offset(distance), delta.len() as u64, &deflate(&delta));
    }
    (pack, content)
}

#[test]
fn a_chain_of_4200_deltas() {
    let case = case();
    let (pack, content) = chain(4200, 1000);
    pack.write(&case.repo);
    case.repo.write("data", &content);
    let commit = case.repo.commit_all("chain");
    let id = id_of("blob", &content);
    let _ = std::fs::remove_file(case.repo.loose_path(&id.to_string()));
    let graph = judge(&case.repo, &commit).passes();
    assert_eq!(graph.blob(id).unwrap()[..], content);
}

/// Bytes this process has held at most.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
}

/// A chain, and on every link of it a second delta: each base is needed again once the chain is done.
fn branching_chain(links: usize, size: usize) -> RawPack {
    let (mut pack, content) = chain(links, size);
    for link in 0..links {
        let base = &content[..size + link];
        let leaf = format!("leaf {link:06}");
        let digits = [base.len() & 0x7f | 0x80, base.len() >> 7 & 0x7f | 0x80, base.len() >> 14 & 0x7f | 0x80];
        let digits = digits.map(|digit| digit as u8);
        let delta = [&digits[..], &[(base.len() >> 21) as u8, 11, 11], leaf.as_bytes()].concat();
        let kind = PackKind::Reference(id_of("blob", base));
        pack.add(id_of("blob", leaf.as_bytes()), kind, delta.len() as u64, &deflate(&delta));
    }
    pack
}

/// A binary tree of deltas: at the top, a base is kept for each level below. The id of the last leaf too.
fn spreading(levels: usize, size: usize) -> (RawPack, gix::ObjectId) {
    let (mut pack, mut content) = (RawPack::default(), vec![b'x'; size]);
    let root = id_of("blob", &content);
    pack.add(root, PackKind::Blob, size as u64, &deflate(&content));
    let mut level = vec![(Vec::new(), root)];
    for _ in 0..levels {
        let mut above = Vec::new();
        for (letters, base) in level {
            for letter in *b"ab" {
                let letters = [&letters[..], &[letter]].concat();
                content.truncate(size);
                content.extend_from_slice(&letters);
                let (id, delta) = (id_of("blob", &content), longer(content.len() - 1, letter));
                pack.add(id, PackKind::Reference(base), delta.len() as u64, &deflate(&delta));
                above.push((letters, id));
            }
        }
        level = above;
    }
    (pack, level.last().unwrap().1)
}

#[test]
fn large_deltas_are_held_in_bounded_memory() {
    for name in ["graph::bombs::child_that_holds_large_deltas", "graph::bombs::child_that_lets_bases_go"] {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap());
        let output = child.args([name, "--exact", "--ignored", "--nocapture"]).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("1 passed"), "{text}");
    }
}

#[test]
#[ignore = "run by the test above, in a process of its own whose memory is measured"]
fn child_that_lets_bases_go() {
    let case = case();
    // Together the bases of four levels are more than what is held, so that some are made again.
    let (pack, id) = spreading(4, 15_000_000);
    pack.write(&case.repo);
    let tree = [b"100644 leaf\0".as_slice(), id.as_bytes()].concat();
    let commit = commit_of(&case, &case.repo.object("tree", &tree));
    judge(&case.repo, &commit).passes();
    assert!(peak() < 150 << 20, "{} bytes", peak());
}

#[test]
#[ignore = "run by the test above, in a process of its own whose memory is measured"]
fn child_that_holds_large_deltas() {
    let case = case();
    branching_chain(80, 3_000_000).write(&case.repo);
    case.repo.write("leaf", "leaf 000000");
    let commit = case.repo.commit_all("leaf");
    let _ = std::fs::remove_file(case.repo.loose_path(&id_of("blob", b"leaf 000000").to_string()));
    // Nothing is made twice: that would be thousands of megabytes.
    let limits = Limits { inflated_bytes: 300_000_000, ..Limits::default() };
    Ask { limits, ..Ask::new(case.repo.root(), &commit) }.judge().passes();
    assert!(peak() < 150 << 20, "{} bytes", peak());
}

/// A commit of this tree, with HEAD on it.
fn commit_of(case: &Case, tree: &str) -> String {
    let people = "author A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\nx\n";
    let commit = case.repo.object("commit", format!("tree {tree}\n{people}").as_bytes());
    case.repo.put(&case.repo.dot_git("HEAD"), &commit);
    commit
}

/// A pack of trees, each of which holds the one before under these names; the last.
fn tower(case: &Case, levels: usize, names: &[&str]) -> String {
    let mut pack = RawPack::default();
    let mut id = id_of("tree", b"");
    pack.add(id, PackKind::Tree, 0, &deflate(b""));
    for _ in 0..levels {
        let entries = names.iter().map(|name| [format!("40000 {name}\0").as_bytes(), id.as_bytes()].concat());
        let content = entries.collect::<Vec<_>>().concat();
        id = id_of("tree", &content);
        pack.add(id, PackKind::Tree, content.len() as u64, &deflate(&content));
    }
    pack.write(&case.repo);
    id.to_string()
}

#[test]
fn trees_5000_levels_deep() {
    let case = case();
    let commit = commit_of(&case, &tower(&case, 5000, &["netbox_sdk"]));
    let graph = judge(&case.repo, &commit).passes();
    assert_eq!(graph.source().trees, 5001);
    assert!(matches!(graph.folder("netbox_sdk"), Err(GraphError::Tree { .. } | GraphError::Entries { .. })));
}

#[test]
fn trees_that_unfold_to_ten_billion_paths() {
    let case = case();
    let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "netbox_sdk"];
    let commit = commit_of(&case, &tower(&case, 10, &names));
    let graph = judge(&case.repo, &commit).passes();
    assert_eq!(graph.source().trees, 11);
    let message = "the folder netbox_sdk holds more than 5000 entries, the limit of this run";
    assert_eq!(graph.folder("netbox_sdk").unwrap_err().to_string(), message);
}

#[test]
fn a_wide_tree() {
    let case = case();
    let blob = id_of("blob", b"[project]\n");
    let entry = |number: u32| [format!("100644 f{number:06}\0").as_bytes(), blob.as_bytes()].concat();
    let content: Vec<u8> = (0..300_000).flat_map(entry).collect();
    let tree = case.repo.object("tree", &content);
    let commit = commit_of(&case, &tree);
    assert_eq!(judge(&case.repo, &commit).passes().source().blobs, 1);
    let absent = [b"100644 x\0", &[7; 20][..]].concat();
    let tree = case.repo.object("tree", &[content, absent].concat());
    let commit = commit_of(&case, &tree);
    judge(&case.repo, &commit).refuses(Check::GitObjects, "blob 0707", "no such object", "git fetch");
}
