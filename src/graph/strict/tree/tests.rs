use super::*;
use proptest::prelude::*;

const SOME: [u8; ID] = [7; ID];

fn entry(mode: &str, name: impl AsRef<[u8]>, id: [u8; ID]) -> Vec<u8> {
    [mode.as_bytes(), b" ", name.as_ref(), b"\0", &id].concat()
}

/// Files, and folders where the name ends in a slash.
fn listing(names: &[&str]) -> Vec<u8> {
    let one = |name: &&str| match name.strip_suffix('/') {
        Some(name) => entry("40000", name, SOME),
        None => entry("100644", name, SOME),
    };
    names.iter().map(one).collect::<Vec<_>>().concat()
}

fn judged(data: &[u8]) -> Vec<(&'static str, String)> {
    let mut messages = Vec::new();
    tree(data, &mut Vec::new(), &mut messages);
    messages.into_iter().map(|message| (message.id, message.detail)).collect()
}

#[track_caller]
fn breaks(data: &[u8], id: &'static str, detail: &str) {
    assert_eq!(judged(data), [(id, detail.to_owned())]);
}

#[test]
fn entries_are_read_as_git_reads_them() {
    let data = [
        entry("1100755", "a", [1; ID]),
        entry("120000", "b", [2; ID]),
        entry("40755", "c", SOME),
        entry("60644", "d", SOME),
    ]
    .concat();
    let (mut entries, mut messages) = (Vec::new(), Vec::new());
    tree(&data, &mut entries, &mut messages);
    assert_eq!(messages, []);
    let seen: Vec<_> = entries
        .iter()
        .map(|entry| (entry.mode, &data[entry.spelled.clone()], &data[entry.name.clone()], entry.kind))
        .collect();
    let expected: [(u32, &[u8], &[u8], Kind); 4] = [
        (0o100_755, b"1100755", b"a", Kind::Blob),
        (0o120_000, b"120000", b"b", Kind::Blob),
        (0o040_755, b"40755", b"c", Kind::Tree),
        (0o060_644, b"60644", b"d", Kind::Gitlink),
    ];
    assert_eq!(seen, expected);
    assert_eq!((entries[0].id, entries[1].id), (gix::ObjectId::from([1; ID]), gix::ObjectId::from([2; ID])));
    assert_eq!(entries.iter().map(Entry::is_symlink).collect::<Vec<_>>(), [false, true, false, false]);
}

#[test]
fn results_are_appended_and_trees_do_not_mix() {
    let (mut entries, mut messages) = (Vec::new(), Vec::new());
    for _ in 0..2 {
        tree(&listing(&["b", "a"]), &mut entries, &mut messages);
    }
    assert_eq!(entries.len(), 4);
    assert_eq!(messages.iter().map(|message| message.id).collect::<Vec<_>>(), ["treeNotSorted"; 2]);
}

#[test]
fn sound_trees_have_no_message() {
    for names in [
        &[][..],
        &["a"],
        &["a", "a.b", "a0"],
        &["a.b", "a/", "a0"],
        &["a-", "a/", "aa"],
        &["B", "a", "\u{e9}"],
        &["...", "git"],
    ] {
        assert_eq!(judged(&listing(names)), [], "{names:?}");
    }
    assert_eq!(judged(&entry("100664", "m", SOME)), [], "only INFO");
    assert_eq!(judged(&entry("120000", ".gitattributes", SOME)), [], "only INFO");
}

#[test]
fn each_rule_has_its_message() {
    breaks(&listing(&["b", "a"]), "treeNotSorted", r#"the entry "a" comes after "b""#);
    breaks(&listing(&["a/", "a.b"]), "treeNotSorted", r#"the entry "a.b" comes after "a""#);
    breaks(&listing(&["a", "a"]), "duplicateEntries", r#"the name "a" is there twice"#);
    breaks(&listing(&["a", "a.b", "a.b.c", "a/"]), "duplicateEntries", r#"the name "a" is there twice"#);
    breaks(&entry("100644", "a", [0; ID]), "nullSha1", r#"the entry "a" links to the null id"#);
    breaks(&entry("0100644", "a", SOME), "zeroPaddedFilemode", r#"the entry "a" has a mode that begins with 0"#);
    breaks(&entry("100644", "a/b", SOME), "fullPathname", r#"the entry "a/b" is a path, not a name"#);
    breaks(&entry("100644", ".", SOME), "hasDot", r#"the entry "." is the folder itself"#);
    breaks(&entry("100644", "..", SOME), "hasDotdot", r#"the entry ".." is the folder above"#);
    breaks(
        &entry("40000", "GIT~1", SOME),
        "hasDotgit",
        r#"the entry "GIT~1" is git's own folder, on some file system"#,
    );
    breaks(&entry("120000", ".gitmodules", SOME), "gitmodulesSymlink", r#"the entry ".gitmodules" is a symbolic link"#);
    breaks(&entry("40000", ".gitmodules", SOME), "gitmodulesBlob", r#"the entry ".gitmodules" is a folder"#);
    breaks(&entry("40000", ".gitattributes", SOME), "gitattributesBlob", r#"the entry ".gitattributes" is a folder"#);
    let gitlink = |name: &str| format!("the entry {name:?} is a commit of another repository");
    breaks(&entry("160000", ".gitmodules", SOME), "gitmodulesMissing", &gitlink(".gitmodules"));
    breaks(&entry("160000", ".gitattributes", SOME), "gitattributesMissing", &gitlink(".gitattributes"));
    assert_eq!(judged(&entry("100644", "n".repeat(4096), SOME)), []);
    let detail = format!("the entry \"{}\"… (4097 bytes) has a name of more than 4096 bytes", "n".repeat(80));
    breaks(&entry("100644", "n".repeat(4097), SOME), "largePathname", &detail);
}

#[test]
fn damage_is_told_apart() {
    let sound = listing(&["a"]);
    for (tail, what) in [
        (&[&[b'1', 0][..], &SOME].concat()[..], "the entry at byte 29 is cut off"),
        (b"1", "the entry at byte 0 comes before an end that is cut off"),
        (&entry("100644", "b", SOME)[..28], "the entry at byte 0 comes before an end that is cut off"),
        (&entry("100844", "b", SOME), "the entry at byte 29 has no octal mode"),
        (&entry("", "bcd", SOME), "the entry at byte 29 has no octal mode"),
        (&entry("100644", "", SOME), "the entry at byte 29 has an empty name"),
    ] {
        let mut entries = Vec::new();
        let mut messages = Vec::new();
        tree(&[&sound, tail].concat(), &mut entries, &mut messages);
        assert_eq!(messages, [Message { id: "badTree", detail: what.into() }]);
        assert_eq!(entries.len(), usize::from(what.contains("29")), "{what}");
    }
    breaks(b"100644 a\0short", "badTree", "the entry at byte 0 is cut off");
}

#[test]
fn the_last_entry_before_damage_is_not_compared() {
    let ids = |data: &[u8]| judged(data).into_iter().map(|(id, _)| id).collect::<Vec<_>>();
    assert_eq!(ids(&[listing(&["b", "a"]), b"x".to_vec()].concat()), ["badTree"]);
    let bad_mode = entry("8", "z", SOME);
    assert_eq!(ids(&[listing(&["b", "a"]), bad_mode.clone()].concat()), ["badTree"]);
    assert_eq!(ids(&[listing(&["c", "b", "a"]), bad_mode].concat()), ["treeNotSorted", "badTree"]);
}

#[test]
fn an_id_is_reported_once_however_many_entries_break_the_rule() {
    let names: Vec<String> = (0..50_000).rev().map(|number| format!("{number:06}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    breaks(&listing(&names), "treeNotSorted", r#"the entry "049998" comes after "049999""#);
}

/// Bytes that are often nearly a tree.
fn nearly_a_tree() -> impl Strategy<Value = Vec<u8>> {
    let mode = prop_oneof![Just("100644"), Just("40000"), Just("120000"), Just("0"), Just("8"), Just("")];
    let name =
        prop_oneof!["[a-c.\\-/]{0,3}".prop_map(String::into_bytes), proptest::collection::vec(any::<u8>(), 0..4)];
    let entries = proptest::collection::vec((mode, name).prop_map(|(mode, name)| entry(mode, name, SOME)), 0..8);
    (entries, proptest::collection::vec(any::<u8>(), 0..3))
        .prop_map(|(entries, tail)| [entries.concat(), tail].concat())
}

proptest! {
    #[test]
    fn entries_cover_what_was_parsed_and_ids_are_unique(data in nearly_a_tree()) {
        let (mut entries, mut messages) = (Vec::new(), Vec::new());
        tree(&data, &mut entries, &mut messages);
        let mut at = 0;
        for entry in &entries {
            prop_assert_eq!(entry.spelled.start, at);
            prop_assert_eq!(entry.spelled.end + 1, entry.name.start);
            prop_assert!(!entry.name.is_empty() && !data[entry.name.clone()].contains(&0));
            at = entry.name.end + 1 + ID;
            prop_assert_eq!(entry.id.as_slice(), &data[at - ID..at]);
        }
        prop_assert_eq!(at == data.len(), messages.iter().all(|message| message.id != "badTree"));
        let mut ids: Vec<_> = messages.iter().map(|message| message.id).collect();
        ids.sort_unstable();
        ids.dedup();
        prop_assert_eq!(ids.len(), messages.len());
    }

    #[test]
    fn arbitrary_bytes_are_judged(data in proptest::collection::vec(any::<u8>(), 1..100)) {
        let mut entries = Vec::new();
        tree(&data, &mut entries, &mut Vec::new());
        prop_assert!(entries.len() * 23 <= data.len());
    }

    #[test]
    fn sorted_unique_names_are_sound(names in proptest::collection::btree_set("[a-c][a-c!\\-.0]{0,3}/?", 0..12)) {
        // A folder is compared with its slash, as it is spelled here.
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut unique: Vec<_> = names.iter().map(|name| name.trim_end_matches('/')).collect();
        unique.sort();
        unique.dedup();
        let expected: &[&str] = if unique.len() == names.len() { &[] } else { &["duplicateEntries"] };
        prop_assert_eq!(judged(&listing(&names)).into_iter().map(|(id, _)| id).collect::<Vec<_>>(), expected);
    }
}
