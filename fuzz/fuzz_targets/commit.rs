//! Commits and tags: one message at most, links that can be read off the bytes, and agreement with gix where it reads them too.
#![no_main]

use gix::objs::{CommitRef, TagRef};
use libfuzzer_sys::fuzz_target;
use paired_sdk_gate::graph::strict;

fuzz_target!(|data: &[u8]| {
    let mut messages = Vec::new();
    let commit = strict::commit(data, &mut messages);
    assert!(messages.len() <= 1 && (commit.is_some() || messages.len() == 1));
    if let Some(commit) = &commit {
        let parents: String = commit.parents.iter().map(|parent| format!("parent {parent}\n")).collect();
        let links = format!("tree {}\n{parents}", commit.tree);
        let (written, rest) = data.split_at(links.len());
        assert!(written.eq_ignore_ascii_case(links.as_bytes()));
        assert!(!rest.starts_with(b"parent "));
    }
    if let (Some(commit), []) = (&commit, messages.as_slice()) {
        assert!(!data.contains(&0));
        // It goes on where the links end, with two lines of people, and these end in a zone.
        let rest = &data[46 + 48 * commit.parents.len()..];
        let mut lines = rest.split(|&byte| byte == b'\n');
        for word in [&b"author "[..], b"committer "] {
            let line = lines.next().unwrap();
            assert!(line.starts_with(word) && line.len() > word.len() + 10);
            let zone = &line[line.len() - 6..];
            assert!(matches!(zone, [b' ', b'+' | b'-', digits @ ..] if digits.iter().all(u8::is_ascii_digit)));
        }
        if let Ok(theirs) = CommitRef::from_bytes(data, gix::hash::Kind::Sha1) {
            assert_eq!(theirs.tree(), commit.tree);
            assert!(theirs.parents().eq(commit.parents.iter().copied()));
        }
    }
    if let Some((target, kind)) = strict::tag(data) {
        let start = format!("object {target}\ntype {kind}\ntag ");
        assert!(data[..start.len()].eq_ignore_ascii_case(start.as_bytes()));
        if let Ok(theirs) = TagRef::from_bytes(data, gix::hash::Kind::Sha1) {
            assert_eq!((theirs.target(), theirs.target_kind), (target, kind));
        }
    }
});
