//! The rules for trees.

use std::ops::Range;

use gix::bstr::ByteSlice;

use super::names::{is_dotgit, may_begin_special};
use super::{Entry, Kind, Message, Special, once, shown, special};

/// The bits of a mode that tell the type.
pub(super) const TYPE: u32 = 0o170_000;
pub(super) const SYMLINK: u32 = 0o120_000;
const FOLDER: u32 = 0o040_000;
const FILE: u32 = 0o100_000;

/// The raw bytes of an id behind each name.
const ID: usize = 20;

/// The longest name, in bytes.
const LONGEST_NAME: usize = 4096;

/// Parses a tree and judges it.
///
/// Appends the entries that can be parsed, the last one before the damage included, and one message per broken rule. Unlike
/// git, which reports a folder called `.gitmodules` on the object behind the entry, it is reported on the tree; and a gitlink
/// of that name is always `gitmodulesMissing`, whether or not some object of that id happens to be in the store. The content
/// behind other [`special`] names, symbolic links apart, is for the caller to pass to the rule of that name.
///
/// Linear in the bytes; allocates only for the two vectors and, in trees with file names that begin alike, for a stack of them.
pub fn tree(data: &[u8], entries: &mut Vec<Entry>, messages: &mut Vec<Message>) {
    let start = messages.len();
    let first = entries.len();
    let mut files = Vec::new();
    let mut at = 0;
    let mut next = parse_next(data, at);
    while let Some(parsed) = next {
        let (entry, end) = match parsed {
            Ok(parsed) => parsed,
            Err(what) => {
                once(messages, start, "badTree", || format!("the entry at byte {at} {what}"));
                break;
            }
        };
        at = end;
        next = parse_next(data, at);
        judge_alone(data, &entry, start, messages);
        // Git reads one entry ahead, and compares neighbours only once that went well.
        if let Some(before) = entries[first..].last()
            && !matches!(next, Some(Err(_)))
        {
            judge_order(data, before, &entry, &mut files, start, messages);
        }
        entries.push(entry);
    }
}

/// An entry and where it ends, or what is wrong with it.
type Parsed = Result<(Entry, usize), &'static str>;

fn parse_next(data: &[u8], at: usize) -> Option<Parsed> {
    (at < data.len()).then(|| parse(data, at))
}

fn parse(data: &[u8], at: usize) -> Parsed {
    // Git first looks for the NUL before the very last id: without it no entry is read at all.
    let last_id = data.len().checked_sub(ID).filter(|&last_id| last_id >= at + 3).ok_or("is cut off")?;
    if data[last_id - 1] != 0 {
        return Err("comes before an end that is cut off");
    }
    let mut mode = 0_u16;
    let mut space = at;
    loop {
        match data[space] {
            b' ' if space > at => break,
            digit @ b'0'..=b'7' => mode = (mode << 3) | u16::from(digit - b'0'),
            _ => return Err("has no octal mode"),
        }
        space += 1;
    }
    let name = space + 1;
    let length = data[name..last_id].find_byte(0).ok_or("has a name that does not end")?;
    if length == 0 {
        return Err("has an empty name");
    }
    let end = name + length;
    let mut id = [0; ID];
    id.copy_from_slice(&data[end + 1..end + 1 + ID]);
    let mode = u32::from(mode);
    let kind = match mode & TYPE {
        FOLDER => Kind::Tree,
        FILE | SYMLINK => Kind::Blob,
        _ => Kind::Gitlink,
    };
    Ok((Entry { mode, spelled: at..space, name: name..end, id: id.into(), kind }, end + 1 + ID))
}

/// The rules that look at one entry.
fn judge_alone(data: &[u8], entry: &Entry, start: usize, messages: &mut Vec<Message>) {
    let name = &data[entry.name.clone()];
    let mut add = |id, what: &str| once(messages, start, id, || format!("the entry {} {what}", shown(name)));
    // One pass, which the compiler makes a wide one: this is the hot path of a whole history.
    let (slash, backslash) = name
        .iter()
        .fold((false, false), |(slash, backslash), &byte| (slash | (byte == b'/'), backslash | (byte == b'\\')));
    if entry.id.is_null() {
        add("nullSha1", "links to the null id");
    }
    if data[entry.spelled.start] == b'0' {
        add("zeroPaddedFilemode", "has a mode that begins with 0");
    }
    if slash {
        add("fullPathname", "is a path, not a name");
    }
    if name.len() > LONGEST_NAME {
        add("largePathname", "has a name of more than 4096 bytes");
    }
    if !(backslash || may_begin_special(name)) {
        return;
    }
    match name {
        b"." => add("hasDot", "is the folder itself"),
        b".." => add("hasDotdot", "is the folder above"),
        _ => {}
    }
    if is_dotgit(name) {
        add("hasDotgit", "is git's own folder, on some file system");
    }
    let Some(special) = special(name) else { return };
    let modules = matches!(special, Special::Gitmodules | Special::Both);
    let attributes = matches!(special, Special::Gitattributes | Special::Both);
    match entry.kind {
        // The symbolic link .gitattributes is only INFO.
        Kind::Blob if entry.is_symlink() && modules => add("gitmodulesSymlink", "is a symbolic link"),
        Kind::Blob => {}
        Kind::Tree => {
            if modules {
                add("gitmodulesBlob", "is a folder");
            }
            if attributes {
                add("gitattributesBlob", "is a folder");
            }
        }
        Kind::Gitlink => {
            if modules {
                add("gitmodulesMissing", "is a commit of another repository");
            }
            if attributes {
                add("gitattributesMissing", "is a commit of another repository");
            }
        }
    }
}

/// The rules that look at two neighbours. `files` are names that a later folder may repeat, as `a` in `a`, `a.b`, `a/`.
fn judge_order(
    data: &[u8],
    before: &Entry,
    entry: &Entry,
    files: &mut Vec<Range<usize>>,
    start: usize,
    messages: &mut Vec<Message>,
) {
    let (one, two) = (&data[before.name.clone()], &data[entry.name.clone()]);
    let common = one.len().min(two.len());
    let (duplicate, sorted) = match one[..common].cmp(&two[..common]) {
        std::cmp::Ordering::Less => (false, true),
        std::cmp::Ordering::Greater => (false, false),
        std::cmp::Ordering::Equal if one.len() == two.len() => (true, true),
        std::cmp::Ordering::Equal => {
            // A folder sorts as if its name ended in a slash.
            let byte =
                |name: &[u8], kind| name.get(common).copied().unwrap_or(if kind == Kind::Tree { b'/' } else { 0 });
            let (end, other) = (byte(one, before.kind), byte(two, entry.kind));
            let below_slash = |byte| (1..b'/').contains(&byte);
            let mut duplicate = false;
            if end == 0 && below_slash(other) {
                files.push(before.name.clone());
            } else if other == b'/' && below_slash(end) {
                duplicate = repeats(data, two, files);
            }
            // Git does not ask for the order of an entry it takes for a duplicate.
            (duplicate, duplicate || end < other)
        }
    };
    if duplicate {
        once(messages, start, "duplicateEntries", || format!("the name {} is there twice", shown(two)));
    } else if !sorted {
        once(messages, start, "treeNotSorted", || format!("the entry {} comes after {}", shown(two), shown(one)));
    }
}

/// The folder's name is one of the remembered files; those that can no longer be repeated are forgotten.
fn repeats(data: &[u8], folder: &[u8], files: &mut Vec<Range<usize>>) -> bool {
    while let Some(file) = files.pop() {
        match folder.strip_prefix(&data[file.clone()]) {
            Some([]) => return true,
            Some([next, ..]) if *next < b'/' => {
                files.push(file);
                return false;
            }
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests;
