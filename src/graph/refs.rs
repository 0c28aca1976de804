//! HEAD, loose refs, packed refs and the list of shallow commits: small exact readers on bytes, and their resolution.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use gix::ObjectId;
use gix::bstr::{BStr, BString, ByteSlice};

use super::files::{self, GitFileError};
use super::gitdir::GitDir;

/// The longest loose ref.
const REF_BYTES: u64 = 64 << 10;
/// The longest list of packed refs or shallow commits.
const LIST_BYTES: u64 = 256 << 20;
/// Symbolic refs followed, as git does.
const DEPTH: usize = 5;

/// What a loose ref says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Id(ObjectId),
    Symbolic(BString),
}

/// Where a name leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Resolved {
    Id(ObjectId),
    /// The last ref of the chain does not exist.
    Unborn(BString),
}

/// Parses a loose ref or HEAD: `ref: <name>`, or 40 hex digits in either case; blanks may follow, as for git.
pub(super) fn parse_ref(bytes: &[u8]) -> Result<Target, String> {
    let text = bytes.trim_end_with(is_blank);
    if let Some(name) = text.strip_prefix(b"ref:") {
        let name = name.trim_start_with(is_blank);
        check_name(name)?;
        return Ok(Target::Symbolic(name.into()));
    }
    match text.get(..40).and_then(id) {
        Some(id) if text.get(40).is_none_or(|&byte| is_blank(char::from(byte))) => Ok(Target::Id(id)),
        _ => Err("holds neither an object id nor the name of a ref".to_owned()),
    }
}

/// Blank for git: what `isspace` says, in the C locale without the vertical tab and form feed.
fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

/// 40 hex digits.
pub(super) fn id(hex: &[u8]) -> Option<ObjectId> {
    if hex.len() == 40 { ObjectId::from_hex(&hex.to_ascii_lowercase()).ok() } else { None }
}

/// A name below `refs/` that git allows; such a name never leaves the folder.
fn check_name(name: &[u8]) -> Result<(), String> {
    if name.starts_with(b"refs/") && gix::validate::reference::name(name.as_bstr()).is_ok() {
        Ok(())
    } else {
        Err(format!("names {:?}, which is no valid ref", name.as_bstr()))
    }
}

/// Looks `wanted` up in a packed-refs file, every line of which is checked.
pub(super) fn find_packed(bytes: &[u8], wanted: &BStr) -> Result<Option<ObjectId>, String> {
    let mut found = None;
    each_packed(bytes, |name, id| {
        if name == wanted {
            found = Some(id);
        }
    })?;
    Ok(found)
}

/// Calls `line` with every packed ref.
pub(super) fn each_packed(bytes: &[u8], mut each: impl FnMut(&BStr, ObjectId)) -> Result<(), String> {
    let mut peelable = false;
    for (index, line) in bytes.lines_with_terminator().enumerate() {
        let wrong = |what: &str| format!("line {}: {what}", index + 1);
        let line = line.strip_suffix(b"\n").ok_or_else(|| wrong("is cut off"))?;
        if index == 0 && line.starts_with(b"#") {
            continue;
        }
        if let Some(hex) = line.strip_prefix(b"^") {
            let peeled = id(hex).filter(|_| peelable);
            peeled.ok_or_else(|| wrong("is no peeled id of the ref above"))?;
            peelable = false;
            continue;
        }
        let (hex, rest) = line.split_at_checked(40).ok_or_else(|| wrong("is no ref"))?;
        let target = id(hex).ok_or_else(|| wrong("does not begin with an object id"))?;
        let name = rest.strip_prefix(b" ").ok_or_else(|| wrong("has no name"))?;
        // Git ignores refs with odd names here; one of those never is what was asked for.
        each(name.as_bstr(), target);
        peelable = true;
    }
    Ok(())
}

/// The commits of a shallow file: one id a line.
pub(super) fn parse_shallow(bytes: &[u8]) -> Result<HashSet<ObjectId>, String> {
    let parse = |(index, line): (usize, &[u8])| id(line).ok_or_else(|| format!("line {}: is no object id", index + 1));
    bytes.lines().enumerate().map(parse).collect()
}

impl GitDir {
    /// Resolves HEAD.
    pub(super) fn head(&self) -> Result<Resolved, GitFileError> {
        self.resolve(BStr::new("HEAD"))
    }

    /// Resolves a ref through loose and packed ones.
    pub(super) fn resolve(&self, name: &BStr) -> Result<Resolved, GitFileError> {
        let mut name = name.to_owned();
        for _ in 0..=DEPTH {
            match self.look_up(name.as_ref())? {
                None => return Ok(Resolved::Unborn(name)),
                Some(Target::Id(id)) => return Ok(Resolved::Id(id)),
                Some(Target::Symbolic(next)) => name = next,
            }
        }
        Err(GitFileError::malformed(&self.git.join("HEAD"), "leads through more than 5 symbolic refs"))
    }

    fn look_up(&self, name: &BStr) -> Result<Option<Target>, GitFileError> {
        // These belong to one working tree; all others are shared.
        let private = !name.starts_with(b"refs/")
            || [&b"refs/bisect/"[..], b"refs/worktree/", b"refs/rewritten/"].iter().any(|own| name.starts_with(own));
        let path = if private { &self.git } else { &self.common }.join(OsStr::from_bytes(name));
        if let Some(target) = loose(&path)? {
            return Ok(Some(target));
        }
        if !name.starts_with(b"refs/") {
            return Ok(None);
        }
        let packed = self.common.join("packed-refs");
        let Some(bytes) = files::read_if_present(&packed, LIST_BYTES)? else { return Ok(None) };
        let found = find_packed(&bytes, name).map_err(|reason| GitFileError::malformed(&packed, reason))?;
        Ok(found.map(Target::Id))
    }

    /// The commits whose parents were left out of a shallow clone.
    pub(super) fn shallow(&self) -> Result<HashSet<ObjectId>, GitFileError> {
        let path = self.common.join("shallow");
        let bytes = files::read_if_present(&path, LIST_BYTES)?.unwrap_or_default();
        parse_shallow(&bytes).map_err(|reason| GitFileError::malformed(&path, reason))
    }

    /// How many replacement refs there are, loose or packed. They are never followed.
    pub(super) fn replace_refs(&self) -> Result<u64, GitFileError> {
        const MOST: u64 = 1 << 20;
        let loose = files::list(&self.common.join("refs/replace"), MOST)?.len() as u64;
        let path = self.common.join("packed-refs");
        let mut packed = 0;
        let bytes = files::read_if_present(&path, LIST_BYTES)?.unwrap_or_default();
        each_packed(&bytes, |name, _| packed += u64::from(name.starts_with(b"refs/replace/")))
            .map_err(|reason| GitFileError::malformed(&path, reason))?;
        Ok(loose + packed)
    }
}

/// Reads a loose ref; None if there is none, or only a folder of that name.
fn loose(path: &Path) -> Result<Option<Target>, GitFileError> {
    let metadata = match std::fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) => {
            let error = GitFileError::io("stat", path, error);
            return if error.is_absent() { Ok(None) } else { Err(error) };
        }
    };
    if metadata.is_dir() {
        return Ok(None);
    }
    // Long ago HEAD was a symbolic link to its ref.
    if metadata.is_symlink() {
        let target = std::fs::read_link(path).map_err(|error| GitFileError::io("read", path, error))?;
        let target = target.as_os_str().as_bytes();
        if check_name(target).is_ok() {
            return Ok(Some(Target::Symbolic(target.into())));
        }
    }
    let Some(bytes) = files::read_if_present(path, REF_BYTES)? else { return Ok(None) };
    parse_ref(&bytes).map(Some).map_err(|reason| GitFileError::malformed(path, reason))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HEX: &str = "0123456789abcdef0123456789abcdef01234567";

    #[test]
    fn refs_as_git_reads_them() {
        let want = ObjectId::from_hex(HEX.as_bytes()).unwrap();
        for text in [HEX.to_owned(), format!("{HEX}\n"), format!("{HEX}\r\n"), HEX.to_uppercase(), format!("{HEX} x")] {
            assert_eq!(parse_ref(text.as_bytes()), Ok(Target::Id(want)), "{text:?}");
        }
        for text in ["ref: refs/heads/a", "ref:refs/heads/a\n", "ref: \trefs/heads/a \r\n"] {
            assert_eq!(parse_ref(text.as_bytes()), Ok(Target::Symbolic("refs/heads/a".into())), "{text:?}");
        }
        for text in ["", &HEX[1..], &format!("{HEX}0"), &format!(" {HEX}"), "Ref: refs/heads/a", "refs/heads/a"] {
            let message = "holds neither an object id nor the name of a ref";
            assert_eq!(parse_ref(text.as_bytes()), Err(message.to_owned()), "{text:?}");
        }
        for name in
            ["", "refs/heads/../../x", "refs/heads/a..b", "HEAD", "/etc/passwd", "refs/heads/a.lock", "refs/a\nb"]
        {
            let message = format!("names {name:?}, which is no valid ref");
            assert_eq!(parse_ref(format!("ref: {name}").as_bytes()), Err(message), "{name:?}");
        }
    }

    #[test]
    fn packed_refs() {
        let text =
            format!("# pack-refs with: peeled fully-peeled sorted \n{HEX} refs/heads/a\n{HEX} refs/tags/t\n^{HEX}\n");
        let want = ObjectId::from_hex(HEX.as_bytes()).unwrap();
        assert_eq!(find_packed(text.as_bytes(), "refs/tags/t".into()), Ok(Some(want)));
        assert_eq!(find_packed(text.as_bytes(), "refs/tags/u".into()), Ok(None));
        let wrong = [
            (format!("{HEX} refs/heads/a"), "line 1: is cut off"),
            (format!("^{HEX}\n"), "line 1: is no peeled id of the ref above"),
            (format!("{HEX} refs/heads/a\n^{HEX}\n^{HEX}\n"), "line 3: is no peeled id of the ref above"),
            (format!("{HEX} a\n# x\n"), "line 2: is no ref"),
            (format!("{HEX}\n"), "line 1: has no name"),
            (format!("{HEX} a\n{} b\n", "x".repeat(40)), "line 2: does not begin with an object id"),
        ];
        for (text, message) in wrong {
            assert_eq!(find_packed(text.as_bytes(), "refs/heads/a".into()), Err(message.to_owned()));
        }
    }

    #[test]
    fn shallow_lists() {
        assert_eq!(parse_shallow(b"").map(|ids| ids.len()), Ok(0));
        assert_eq!(parse_shallow(format!("{HEX}\n{HEX}\n").as_bytes()).map(|ids| ids.len()), Ok(1));
        assert_eq!(parse_shallow(format!("{HEX}\n\n").as_bytes()), Err("line 2: is no object id".to_owned()));
    }

    proptest! {
        #[test]
        fn a_symbolic_ref_never_leaves_refs(name in ".{0,40}") {
            if let Ok(Target::Symbolic(name)) = parse_ref(format!("ref: {name}").as_bytes()) {
                prop_assert!(name.starts_with(b"refs/") && !name.contains_str("/../") && !name.ends_with(b"/.."));
            }
        }

        #[test]
        fn any_bytes_have_an_answer(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse_ref(&bytes);
            let _ = parse_shallow(&bytes);
            let _ = find_packed(&bytes, "refs/heads/a".into());
        }
    }
}
