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
