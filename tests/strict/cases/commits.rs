//! Commits: header order, ids, people, dates, zones, NULs.

use super::{Case, Role, commit, folder, root};

/// A sound commit in which one text is replaced, once.
fn replaced(from: &str, to: &[u8]) -> Vec<u8> {
    let data = commit(folder());
    let at = data.windows(from.len()).position(|window| window == from.as_bytes()).unwrap_or_else(|| panic!("{from}"));
    [&data[..at], to, &data[at + from.len()..]].concat()
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |name: String, data: Vec<u8>, broken: &[&'static str]| {
        cases.push(Case::new(format!("commit: {name}"), Role::Commit, data, broken));
    };
    for (line, id) in AUTHORS {
        let broken: &[&'static str] = if id.is_empty() { &[] } else { &[*id] };
        let text = format!("author {line}");
        add(
            format!("author {line:?}"),
            replaced("author A U Thor <author@example.com> 1700000000 +0000", text.as_bytes()),
            broken,
        );
        let text = format!("committer {line}");
        add(
            format!("committer {line:?}"),
            replaced("committer C O Mitter <committer@example.com> 1700000000 +0000", text.as_bytes()),
            broken,
        );
    }
    let (tree, parent) = (folder().to_string(), root().to_string());
    let header = |lines: &str| format!("tree {tree}\n{lines}").into_bytes();
    let people = "author A <a@b> 1 +0000\ncommitter C <c@d> 2 +0000\n";
    let rows: Vec<(&str, Vec<u8>, &[&'static str])> = vec![
        ("sound", commit(folder()), &[]),
        ("without a body", header(people), &[]),
        ("with an empty body", header(&format!("{people}\n")), &[]),
        ("with one parent", header(&format!("parent {parent}\n{people}\nm")), &[]),
        ("with the same parent twice", header(&format!("parent {parent}\nparent {parent}\n{people}\nm")), &[]),
        (
            "ids in upper case",
            [format!("tree {}\nparent {}\n", tree.to_uppercase(), parent.to_uppercase()), people.into()]
                .concat()
                .into(),
            &[],
        ),
        ("unknown headers", header(&format!("{people}gpgsig -----\n x\nencoding latin1\nx\n\nm")), &[]),
        ("a header without a value", header(&format!("{people}x\n\nm")), &[]),
        ("a blank line of blanks", header(&format!("{people} \n\nm")), &[]),
        ("parents after the committer", header(&format!("{people}parent 0\ntree 0\n\nm")), &[]),
        ("parent after the committer, well-formed", header(&format!("{people}parent {parent}\n\nm")), &[]),
        ("a second committer", header(&format!("{people}committer x\n\nm")), &[]),
        ("not UTF-8", [header(people).as_slice(), b"\n\xff\xfe\n"].concat(), &[]),
        ("empty", vec![], &["unterminatedHeader"]),
        ("a newline", b"\n".to_vec(), &["missingTree"]),
        ("two newlines", b"\n\n".to_vec(), &["missingTree"]),
        ("text", b"hello\n".to_vec(), &["missingTree"]),
        ("a blank line first", [b"\n\n".to_vec(), commit(folder())].concat(), &["missingTree"]),
        ("no tree", replaced(&format!("tree {tree}\n"), b""), &["missingTree"]),
        ("tree without a blank", replaced("tree ", b"tree"), &["missingTree"]),
        ("tree in upper case", replaced("tree ", b"Tree "), &["missingTree"]),
        ("tree and a tab", replaced("tree ", b"tree\t"), &["missingTree"]),
        ("tree and two blanks", replaced("tree ", b"tree  "), &["badTreeSha1"]),
        ("tree id of 39 digits", replaced(&tree, &tree.as_bytes()[1..]), &["badTreeSha1"]),
        ("tree id of 41 digits", replaced(&tree, format!("{tree}0").as_bytes()), &["badTreeSha1"]),
        ("tree id and a blank", replaced(&tree, format!("{tree} ").as_bytes()), &["badTreeSha1"]),
        ("tree id and CR", replaced(&tree, format!("{tree}\r").as_bytes()), &["badTreeSha1"]),
        ("tree id with a g", replaced(&tree, format!("g{}", &tree[1..]).as_bytes()), &["badTreeSha1"]),
        ("tree id missing", replaced(&tree, b""), &["badTreeSha1"]),
        ("tree only", header(""), &["missingAuthor"]),
        ("two trees", header(&format!("tree {tree}\n{people}\n")), &["missingAuthor"]),
        ("parent id of 39 digits", header(&format!("parent {}\n{people}", &parent[1..])), &["badParentSha1"]),
        ("parent id and a blank", header(&format!("parent {parent} \n{people}")), &["badParentSha1"]),
        ("parent id missing", header(&format!("parent \n{people}")), &["badParentSha1"]),
        ("second parent bad", header(&format!("parent {parent}\nparent x\n{people}")), &["badParentSha1"]),
        ("parent without a blank", header(&format!("parent{parent}\n{people}")), &["missingAuthor"]),
        ("ends with a parent", header(&format!("parent {parent}\n")), &["missingAuthor"]),
        ("no author", header("committer C <c@d> 2 +0000\n\n"), &["missingAuthor"]),
        ("author in upper case", replaced("author ", b"Author "), &["missingAuthor"]),
        ("a header before the author", header(&format!("x y\n{people}")), &["missingAuthor"]),
        (
            "parent between",
            header(&format!("author A <a@b> 1 +0000\nparent {parent}\ncommitter C <c@d> 2 +0000\n")),
            &["missingCommitter"],
        ),
        ("two authors", header(&format!("author A <a@b> 1 +0000\n{people}")), &["multipleAuthors"]),
        (
            "two authors, the second bad",
            header("author A <a@b> 1 +0000\nauthor B\ncommitter C <c@d> 2 +0000\n"),
            &["missingEmail"],
        ),
        ("no committer", header("author A <a@b> 1 +0000\n\n"), &["missingCommitter"]),
        ("ends with the author", header("author A <a@b> 1 +0000\n"), &["missingCommitter"]),
        ("committer first", header("committer C <c@d> 2 +0000\nauthor A <a@b> 1 +0000\n"), &["missingAuthor"]),
        (
            "a header between author and committer",
            header("author A <a@b> 1 +0000\nx y\ncommitter C <c@d> 2 +0000\n"),
            &["missingCommitter"],
        ),
        ("bad author before a missing committer", header("author A\n\n"), &["missingEmail"]),
        ("no newline at the end of the header", header(people.trim_end()), &["unterminatedHeader"]),
        ("header cut in the tree", b"tree ".to_vec(), &["unterminatedHeader"]),
        ("NUL first", [b"\0".to_vec(), commit(folder())].concat(), &["nulInHeader"]),
        ("NUL in the tree line", replaced("tree ", b"tree\0"), &["nulInHeader"]),
        ("NUL in the author", replaced("A U", b"A\0U"), &["nulInHeader"]),
        ("NUL at the end of a header without a body", header(&format!("{people}\0")), &["nulInHeader"]),
        ("NUL in a later header", header(&format!("{people}x \0\n\nm")), &["nulInHeader"]),
        ("NUL in the body", replaced("A message", b"A\0message"), &["nulInCommit"]),
        ("NUL at the very end", replaced("message\n", b"message\0"), &["nulInCommit"]),
        (
            "NUL in the body and a bad author",
            replaced("A message", b"A\0message").iter().copied().filter(|&byte| byte != b'<').collect(),
            &["badName"],
        ),
        ("CRLF", String::from_utf8(commit(folder())).unwrap().replace('\n', "\r\n").into_bytes(), &["badTreeSha1"]),
    ];
    for (name, data, broken) in rows {
        add(name.to_owned(), data, broken);
    }
    cases
}

/// What may follow `author ` or `committer `, and the message it leads to.
const AUTHORS: &[(&str, &str)] = &[
    ("A <a@b> 0 +0000", ""),
    ("A <a@b> 1 -0000", ""),
    ("A <a@b> 1 +9999", ""),
    ("A <> 1 +0000", ""),
    (" <a@b> 1 +0000", ""),
    ("A  <a@b> 1 +0000", ""),
    ("A <a b@c> 1 +0000", ""),
    ("A <a@b>  1 +0000", ""),
    ("A <a@b> \t 1 +0000", ""),
    ("\u{e9} <\u{e9}@b> 1 +0000", ""),
    ("A <a@b> 9223372036854775807 +0000", ""),
    ("A <a@b> 9223372036854775808 +0000", "badDateOverflow"),
    ("A <a@b> 18446744073709551615 +0000", "badDateOverflow"),
    ("A <a@b> 18446744073709551616 +0000", "badDateOverflow"),
    ("A <a@b> 99999999999999999999999999 +0000", "badDateOverflow"),
    ("A <a@b> 99999999999999999999999999", "badDateOverflow"),
    ("<a@b> 1 +0000", "missingNameBeforeEmail"),
    ("", "missingEmail"),
    ("A", "missingEmail"),
    ("A a@b 1 +0000", "missingEmail"),
    ("A a@b> 1 +0000", "badName"),
    ("> 1 +0000", "badName"),
    ("A > <a@b> 1 +0000", "badName"),
    ("A<a@b> 1 +0000", "missingSpaceBeforeEmail"),
    ("A\t<a@b> 1 +0000", "missingSpaceBeforeEmail"),
    ("A <a@b 1 +0000", "badEmail"),
    ("A <a<b> 1 +0000", "badEmail"),
    ("A <", "badEmail"),
    ("A <a@b>1 +0000", "missingSpaceBeforeDate"),
    ("A <a@b>> 1 +0000", "missingSpaceBeforeDate"),
    ("A <a@b>", "missingSpaceBeforeDate"),
    ("A <a@b>\t1 +0000", "missingSpaceBeforeDate"),
    ("A <a@b> ", "badDate"),
    ("A <a@b> x +0000", "badDate"),
    ("A <a@b> -1 +0000", "badDate"),
    ("A <a@b> +1 +0000", "badDate"),
    ("A <a@b> \u{b}1 +0000", "badDate"),
    ("A <a@b> \u{c}1 +0000", "badDate"),
    ("A <a@b> \r1 +0000", "badDate"),
    ("A <a@b> 1", "badDate"),
    ("A <a@b> 1.5 +0000", "badDate"),
    ("A <a@b> 1\t+0000", "badDate"),
    ("A <a@b> 1+0000", "badDate"),
    ("A <a@b> 0x1 +0000", "zeroPaddedDate"),
    ("A <a@b> 01 +0000", "zeroPaddedDate"),
    ("A <a@b> 00 +0000", "zeroPaddedDate"),
    ("A <a@b> 0", "zeroPaddedDate"),
    ("A <a@b> 0\t+0000", "zeroPaddedDate"),
    ("A <a@b> 1 ", "badTimezone"),
    ("A <a@b> 1  +0000", "badTimezone"),
    ("A <a@b> 1 0000", "badTimezone"),
    ("A <a@b> 1 +000", "badTimezone"),
    ("A <a@b> 1 +00000", "badTimezone"),
    ("A <a@b> 1 +0000 ", "badTimezone"),
    ("A <a@b> 1 +0000\r", "badTimezone"),
    ("A <a@b> 1 +00:00", "badTimezone"),
    ("A <a@b> 1 +000x", "badTimezone"),
    ("A <a@b> 1 UTC", "badTimezone"),
    ("A <a@b> 1 \u{2212}0000", "badTimezone"),
];
