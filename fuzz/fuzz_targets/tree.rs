//! Trees: the entries are the bytes, each rule is reported once, and what no rule objects to is sorted, unique and readable by others.
#![no_main]

use std::collections::HashSet;

use gix::objs::TreeRefIter;
use libfuzzer_sys::fuzz_target;
use paired_sdk_gate::graph::strict::{self, Entry, Kind, Message};

fuzz_target!(|data: &[u8]| {
    let (mut entries, mut messages) = (Vec::new(), Vec::new());
    strict::tree(data, &mut entries, &mut messages);
    let broken = ids(&messages);

    // The entries are, one after the other, the beginning of the tree; all of it, unless it is damaged.
    let mut at = 0;
    for entry in &entries {
        assert_eq!(entry.spelled.start, at);
        assert_eq!(entry.name.start, entry.spelled.end + 1);
        assert_eq!(data[entry.spelled.end], b' ');
        let (name, end) = (&data[entry.name.clone()], entry.name.end);
        assert!(!name.is_empty() && !name.contains(&0) && data[end] == 0);
        at = end + 21;
        assert_eq!(&data[end + 1..at], entry.id.as_slice());
        let digits = &data[entry.spelled.clone()];
        assert!(!digits.is_empty());
        let mode = digits.iter().fold(0_u16, |mode, digit| (mode << 3) | u16::from(digit - b'0'));
        assert_eq!(entry.mode, u32::from(mode));
        let kind = match mode >> 12 {
            0o04 => Kind::Tree,
            0o10 | 0o12 => Kind::Blob,
            _ => Kind::Gitlink,
        };
        assert_eq!((entry.kind, entry.is_symlink()), (kind, mode >> 12 == 0o12));
    }
    assert_eq!(at == data.len(), !broken.contains("badTree"));

    // Judged after another tree, it is judged the same.
    let (first, second) = (entries.len(), messages.len());
    strict::tree(data, &mut entries, &mut messages);
    assert!(entries[..first] == entries[first..] && messages[..second] == messages[second..]);
    entries.truncate(first);

    if broken.is_disjoint(&["badTree", "duplicateEntries", "treeNotSorted"].into()) {
        let names: HashSet<&[u8]> = entries.iter().map(|entry| &data[entry.name.clone()]).collect();
        assert_eq!(names.len(), entries.len());
        let key = |entry: &Entry| {
            let slash: &[u8] = if entry.kind == Kind::Tree { b"/" } else { b"" };
            [&data[entry.name.clone()], slash].concat()
        };
        assert!(entries.is_sorted_by(|one, two| key(one) < key(two)));
    }
    if broken.is_empty() {
        for entry in &entries {
            let name = &data[entry.name.clone()];
            assert!(!entry.id.is_null() && data[entry.spelled.start] != b'0' && !name.contains(&b'/'));
            assert!(name != b"." && name != b".." && !name.eq_ignore_ascii_case(b".git"));
        }
        // gix misreads modes of other lengths, such as that of `10 644 a`.
        if entries.iter().all(|entry| matches!(entry.spelled.len(), 5 | 6)) {
            let theirs: Vec<_> =
                TreeRefIter::from_bytes(data, gix::hash::Kind::Sha1).collect::<Result<_, _>>().unwrap();
            let same = |(one, two): (&gix::objs::tree::EntryRef<'_>, &Entry)| {
                *one.filename == data[two.name.clone()] && one.oid == two.id
            };
            assert!(theirs.len() == entries.len() && theirs.iter().zip(&entries).all(same));
        }
    }
});

/// The rules; none is there twice.
fn ids(messages: &[Message]) -> HashSet<&'static str> {
    let ids: HashSet<_> = messages.iter().map(|message| message.id).collect();
    assert_eq!(ids.len(), messages.len());
    ids
}
