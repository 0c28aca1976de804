//! The rules for commits, and the way from an annotated tag to what it names.

use super::{Message, shown};

/// Digits of an id.
const HEX: usize = 40;

/// The links of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// The tree.
    pub tree: gix::ObjectId,
    /// The parents, in order; a repeated one is there as often.
    pub parents: Vec<gix::ObjectId>,
}

/// A broken rule: git stops at the first of a commit.
type Judgement = Result<(), (&'static str, String)>;

/// Parses a commit and judges it: at most one message.
///
/// None when the tree or a parent cannot be read; then there is a message. `parent` lines that do not follow the tree directly
/// are no links, in git neither. Linear in the bytes.
pub fn commit(data: &[u8], messages: &mut Vec<Message>) -> Option<Commit> {
    if let Err((id, detail)) = judge(data) {
        messages.push(Message { id, detail });
    }
    let (tree, mut rest) = link(data, b"tree ")?;
    let mut parents = Vec::new();
    while rest.starts_with(b"parent ") {
        let (parent, after) = link(rest, b"parent ")?;
        parents.push(parent);
        rest = after;
    }
    Some(Commit { tree, parents })
}

/// The target of an annotated tag and the kind it claims. None unless the tag begins with its three mandatory lines.
pub fn tag(data: &[u8]) -> Option<(gix::ObjectId, gix::objs::Kind)> {
    headers(data).ok()?;
    let (target, rest) = link(data, b"object ")?;
    let (kind, rest) = split_line(rest.strip_prefix(b"type ")?)?;
    let (name, _) = split_line(rest.strip_prefix(b"tag ")?)?;
    let kind = gix::objs::Kind::from_bytes(kind).ok()?;
    (!name.is_empty()).then_some((target, kind))
}

/// One header line that holds an id, and what follows it.
fn link<'a>(data: &'a [u8], word: &[u8]) -> Option<(gix::ObjectId, &'a [u8])> {
    let (hex, rest) = data.strip_prefix(word)?.split_at_checked(HEX)?;
    // Upper-case digits are digits, to git too.
    Some((gix::ObjectId::from_hex(hex).ok()?, rest.strip_prefix(b"\n")?))
}

/// A line without its newline, and what follows.
fn split_line(data: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = data.iter().position(|&byte| byte == b'\n')?;
    Some((&data[..end], &data[end + 1..]))
}

fn judge(data: &[u8]) -> Judgement {
    headers(data)?;
    if !data.starts_with(b"tree ") {
        return Err(("missingTree", "the first line is not a tree line".into()));
    }
    let (_, mut rest) = link(data, b"tree ").ok_or_else(|| bad_id("badTreeSha1", "tree", data))?;
    while rest.starts_with(b"parent ") {
        (_, rest) = link(rest, b"parent ").ok_or_else(|| bad_id("badParentSha1", "parent", rest))?;
    }
    let mut authors = 0;
    while let Some(line) = rest.strip_prefix(b"author ") {
        authors += 1;
        rest = ident(line, "author")?;
    }
    match authors {
        0 => return Err(("missingAuthor", "no author line follows the tree and the parents".into())),
        1 => {}
        _ => return Err(("multipleAuthors", format!("there are {authors} author lines"))),
    }
    let Some(line) = rest.strip_prefix(b"committer ") else {
        return Err(("missingCommitter", "no committer line follows the author".into()));
    };
    ident(line, "committer")?;
    match data.iter().position(|&byte| byte == 0) {
        Some(at) => Err(("nulInCommit", format!("byte {at} is a NUL"))),
        None => Ok(()),
    }
}

fn bad_id(id: &'static str, what: &str, rest: &[u8]) -> (&'static str, String) {
    let line = split_line(rest).map_or(rest, |(line, _)| line);
    (id, format!("the {what} line {} does not hold 40 hexadecimal digits and nothing else", shown(line)))
}

/// No NUL before the blank line; without a blank line all of the object is header, and ends in a newline.
fn headers(data: &[u8]) -> Judgement {
    let end = data.windows(2).position(|pair| pair == b"\n\n");
    match data[..end.unwrap_or(data.len())].iter().position(|&byte| byte == 0) {
        Some(at) => Err(("nulInHeader", format!("byte {at}, in the header, is a NUL"))),
        None if end.is_none() && data.last() != Some(&b'\n') => {
            Err(("unterminatedHeader", "the header does not end in a newline".into()))
        }
        None => Ok(()),
    }
}

/// `Name <email> seconds zone` up to the newline; returns what follows the line.
fn ident<'a>(data: &'a [u8], who: &str) -> Result<&'a [u8], (&'static str, String)> {
    let (line, after) = split_line(data).unwrap_or((data, b""));
    let wrong = |id, what| Err((id, format!("the {who} line {} {what}", shown(line))));
    let angle = |byte: &u8| matches!(byte, b'<' | b'>');

    let (name, rest) = line.split_at(line.iter().position(angle).unwrap_or(line.len()));
    match rest.first() {
        Some(b'<') if name.is_empty() => {
            return wrong("missingNameBeforeEmail", "has no name and no blank before the address");
        }
        Some(b'<') if !name.ends_with(b" ") => {
            return wrong("missingSpaceBeforeEmail", "has no blank before the address");
        }
        Some(b'<') => {}
        Some(_) => return wrong("badName", "has a > before the address"),
        None => return wrong("missingEmail", "has no address"),
    }
    let rest = &rest[1..];
    let rest = match rest.iter().position(angle) {
        Some(end) if rest[end] == b'>' => &rest[end + 1..],
        _ => return wrong("badEmail", "has an address that does not end in >"),
    };
    let Some(rest) = rest.strip_prefix(b" ") else {
        return wrong("missingSpaceBeforeDate", "has no blank between address and date");
    };
    // More blanks and tabs are tolerated, other space is not.
    let rest = &rest[rest.iter().position(|byte| !matches!(byte, b' ' | b'\t')).unwrap_or(rest.len())..];
    let (date, zone) = rest.split_at(rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len()));
    if date.is_empty() {
        return wrong("badDate", "has no date");
    }
    // A lone 0 is the epoch; it needs its blank to be told from padding.
    if date[0] == b'0' && rest.get(1) != Some(&b' ') {
        return wrong("zeroPaddedDate", "has a date that begins with 0");
    }
    if overflows(date) {
        return wrong("badDateOverflow", "has a date beyond 2^63-1");
    }
    let Some(zone) = zone.strip_prefix(b" ") else { return wrong("badDate", "has no blank after the date") };
    match zone {
        [b'+' | b'-', digits @ ..] if digits.len() == 4 && digits.iter().all(u8::is_ascii_digit) => Ok(after),
        _ => wrong("badTimezone", "does not end in a zone of sign and four digits"),
    }
}

/// The decimal number is larger than what a signed 64-bit time holds.
fn overflows(digits: &[u8]) -> bool {
    let add = |sum: i64, &digit: &u8| sum.checked_mul(10)?.checked_add(i64::from(digit - b'0'));
    digits.iter().try_fold(0, add).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ID: &str = "0123456789abcdef0123456789abcdef01234567";
    const PEOPLE: &str = "author A <a@b> 1 +0000\ncommitter C <c@d> 2 -0130\n";

    fn sound() -> String {
        format!("tree {ID}\nparent {ID}\n{PEOPLE}\nmessage\n")
    }

    #[track_caller]
    fn breaks(data: impl AsRef<[u8]>, id: &'static str, detail: &str) {
        let mut messages = Vec::new();
        commit(data.as_ref(), &mut messages);
        assert_eq!(messages, [Message { id, detail: detail.into() }]);
    }

    fn links(data: &str) -> Option<Commit> {
        commit(data.as_bytes(), &mut Vec::new())
    }

    #[test]
    fn sound_commits_have_no_message() {
        for data in [
            sound(),
            sound().replace(ID, &ID.to_uppercase()),
            format!("tree {ID}\n{PEOPLE}"),
            sound().replace("-0130", "-0130\nencoding x\nno-value\ntree x\nparent x"),
            sound().replace(" 1 +", " 9223372036854775807 +").replace("<a@b> ", "<a@b> \t "),
            sound().replace(" 1 +", " 0 +"),
        ] {
            let mut messages = Vec::new();
            assert!(commit(data.as_bytes(), &mut messages).is_some());
            assert_eq!(messages, [], "{data}");
        }
    }

    #[test]
    fn links_are_those_git_follows() {
        let id: gix::ObjectId = ID.parse().unwrap();
        let twice = sound().replace("parent", &format!("parent {ID}\nparent"));
        assert_eq!(links(&twice), Some(Commit { tree: id, parents: vec![id, id] }));
        assert_eq!(links(&format!("tree {ID}\n{PEOPLE}parent {ID}\n")), Some(Commit { tree: id, parents: vec![] }));
        assert_eq!(links(&sound().replace("author", "writer")), Some(Commit { tree: id, parents: vec![id] }));
        for broken in [
            "",
            "tree",
            &sound()[..44],
            &sound().replace("tree ", "tree g"),
            &sound().replace("parent ", "parent g"),
            &sound()[1..],
        ] {
            assert_eq!(links(broken), None, "{broken:?}");
        }
    }

    #[test]
    fn each_header_rule_has_its_message() {
        breaks("", "unterminatedHeader", "the header does not end in a newline");
        breaks(sound().trim_end().replace("\n\n", "\n"), "unterminatedHeader", "the header does not end in a newline");
        breaks(sound().replace("author", "auth\0r"), "nulInHeader", "byte 98, in the header, is a NUL");
        breaks(sound().replace("message", "mess\0ge"), "nulInCommit", "byte 148 is a NUL");
        breaks(&sound()[1..], "missingTree", "the first line is not a tree line");
        let line = r#"the tree line "tree x" does not hold 40 hexadecimal digits and nothing else"#;
        breaks("tree x\n", "badTreeSha1", line);
        let line = r#"the parent line "parent " does not hold 40 hexadecimal digits and nothing else"#;
        breaks(sound().replace(&format!("parent {ID}"), "parent "), "badParentSha1", line);
        breaks(sound().replace("author", "writer"), "missingAuthor", "no author line follows the tree and the parents");
        breaks(sound().replace("committer", "author"), "multipleAuthors", "there are 2 author lines");
        breaks(sound().replace("committer", "writer"), "missingCommitter", "no committer line follows the author");
    }

    #[test]
    fn each_rule_about_people_has_its_message() {
        for (line, id, what) in [
            ("<a@b> 1 +0000", "missingNameBeforeEmail", "has no name and no blank before the address"),
            ("A<a@b> 1 +0000", "missingSpaceBeforeEmail", "has no blank before the address"),
            ("A> <a@b> 1 +0000", "badName", "has a > before the address"),
            ("A", "missingEmail", "has no address"),
            ("A <a@b 1 +0000", "badEmail", "has an address that does not end in >"),
            ("A <a<b> 1 +0000", "badEmail", "has an address that does not end in >"),
            ("A <a@b>1 +0000", "missingSpaceBeforeDate", "has no blank between address and date"),
            ("A <a@b> x +0000", "badDate", "has no date"),
            ("A <a@b> 1+0000", "badDate", "has no blank after the date"),
            ("A <a@b> 01 +0000", "zeroPaddedDate", "has a date that begins with 0"),
            ("A <a@b> 9223372036854775808 +0000", "badDateOverflow", "has a date beyond 2^63-1"),
            ("A <a@b> 1 +000", "badTimezone", "does not end in a zone of sign and four digits"),
        ] {
            for (who, there) in [("author", "A <a@b> 1 +0000"), ("committer", "C <c@d> 2 -0130")] {
                breaks(sound().replace(there, line), id, &format!("the {who} line {line:?} {what}"));
            }
        }
        breaks(sound().replace("> 1", "> \u{b}1"), "badDate", "the author line \"A <a@b> \\x0b1 +0000\" has no date");
    }

    #[test]
    fn a_tag_is_peeled_if_its_three_lines_are_sound() {
        let tag_of = |kind: &str| format!("object {ID}\ntype {kind}\ntag v1\ntagger A <a@b> 1 +0000\n\nm\n");
        let id: gix::ObjectId = ID.parse().unwrap();
        assert_eq!(tag(tag_of("commit").as_bytes()), Some((id, gix::objs::Kind::Commit)));
        assert_eq!(tag(tag_of("tag").as_bytes()), Some((id, gix::objs::Kind::Tag)));
        let sound = tag_of("commit");
        for broken in [
            tag_of("Commit"),
            tag_of(""),
            sound.replace("object ", "object  "),
            sound.replace("type ", "kind "),
            sound.replace("tag v1", "tag "),
            sound.replace("\ntag v1", ""),
            sound.replace("tag v1", "tag v\0"),
            sound[..60].to_owned(),
        ] {
            assert_eq!(tag(broken.as_bytes()), None, "{broken:?}");
        }
    }

    proptest! {
        #[test]
        fn one_damaged_byte_gives_at_most_one_message(at in 0..152_usize, byte in any::<u8>()) {
            let mut data = sound().into_bytes();
            prop_assert_eq!(data.len(), 152);
            data[at] = byte;
            let mut messages = Vec::new();
            let links = commit(&data, &mut messages);
            prop_assert!(messages.len() <= 1);
            prop_assert!(links.is_some() || messages.len() == 1);
        }

        #[test]
        fn arbitrary_bytes_are_judged(start in 0..152_usize, tail in proptest::collection::vec(any::<u8>(), 0..80)) {
            let data = [&sound().as_bytes()[..start], &tail].concat();
            let mut messages = Vec::new();
            let links = commit(&data, &mut messages);
            prop_assert!(links.is_some() || messages.len() == 1);
            tag(&data);
        }
    }
}
