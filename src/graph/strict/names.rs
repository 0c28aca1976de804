//! Names that reach git's own files: exactly, or because HFS+ or NTFS takes another spelling for the same file.
//!
//! Git applies both file systems' rules on every platform, and so do we. Names are tree entry names: no NUL, not empty.

/// Which content rule the blob behind a tree entry's name is held to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Special {
    /// [`super::gitmodules`].
    Gitmodules,
    /// [`super::gitattributes`].
    Gitattributes,
    /// Both rules: `.gitattributes:\.gitmodules` names a stream of the one and, after the backslash, the other.
    Both,
}

/// A file of git's, and the 8.3 name NTFS falls back to once `<first six characters>~1` to `~4` are taken.
struct File {
    /// Lower case, without the leading dot.
    name: &'static [u8],
    fallback: &'static [u8; 6],
}

const GITMODULES: File = File { name: b"gitmodules", fallback: b"gi7eba" };
const GITATTRIBUTES: File = File { name: b"gitattributes", fallback: b"gi7d29" };

/// Which special rule the name calls for, at any depth, HFS+ and NTFS aliases included.
pub fn special(name: &[u8]) -> Option<Special> {
    if !may_begin_special(name) && !name.contains(&b'\\') {
        return None;
    }
    let modules = hfs_is(name, GITMODULES.name) || ntfs_parts(name).any(|part| GITMODULES.ntfs_is(part));
    // Only the whole name is asked about attributes: git looks behind backslashes for `.git` and `.gitmodules` alone.
    let attributes = hfs_is(name, GITATTRIBUTES.name) || GITATTRIBUTES.ntfs_is(name);
    match (modules, attributes) {
        (true, true) => Some(Special::Both),
        (true, false) => Some(Special::Gitmodules),
        (false, true) => Some(Special::Gitattributes),
        (false, false) => None,
    }
}

/// The name is `.git` to HFS+ or NTFS.
pub(super) fn is_dotgit(name: &[u8]) -> bool {
    hfs_is(name, b"git") || ntfs_parts(name).any(ntfs_is_dotgit)
}

/// Cheap and generous: unless it holds a backslash, no other name is special, `.git`, `.` or `..`.
pub(super) fn may_begin_special(name: &[u8]) -> bool {
    match name.first() {
        // A dot, or the first byte of a code point that HFS+ ignores.
        Some(b'.' | 0xe2 | 0xef) => true,
        // A short name has its tilde among the first seven characters.
        Some(b'g' | b'G' | b'~') => name.iter().take(7).any(|&byte| byte == b'~'),
        _ => false,
    }
}

/// The name, and what follows each of its backslashes: to NTFS those separate folders.
fn ntfs_parts(name: &[u8]) -> impl Iterator<Item = &[u8]> {
    let after = name.iter().enumerate().filter(|&(_, &byte)| byte == b'\\').map(|(at, _)| &name[at + 1..]);
    std::iter::once(name).chain(after)
}

/// `.git` or `git~1`, then only dots and blanks up to the end, a separator or a stream name.
fn ntfs_is_dotgit(name: &[u8]) -> bool {
    let rest = match name.get(..4) {
        Some(start) if start.eq_ignore_ascii_case(b".git") => &name[4..],
        _ if name.get(..5).is_some_and(|start| start.eq_ignore_ascii_case(b"git~1")) => &name[5..],
        _ => return false,
    };
    matches!(rest.iter().find(|byte| !matches!(byte, b'.' | b' ')), None | Some(b'\\' | b'/' | b':'))
}

impl File {
    /// The name is this file to NTFS.
    fn ntfs_is(&self, name: &[u8]) -> bool {
        let ends = |rest: &[u8]| matches!(rest.iter().find(|byte| !matches!(byte, b'.' | b' ')), None | Some(b':'));
        if let Some((b'.', rest)) = name.split_first()
            && let Some((start, rest)) = rest.split_at_checked(self.name.len())
            && start.eq_ignore_ascii_case(self.name)
        {
            return ends(rest);
        }
        let Some((short, rest)) = name.split_at_checked(8) else { return false };
        let regular = short[..6].eq_ignore_ascii_case(&self.name[..6]) && short[6] == b'~';
        if regular && matches!(short[7], b'1'..=b'4') {
            return ends(rest);
        }
        self.is_fallback(short) && ends(rest)
    }

    /// Eight characters: a beginning of the fallback, possibly empty, a tilde, and a number without leading zero.
    fn is_fallback(&self, short: &[u8]) -> bool {
        let Some(tilde) = short.iter().position(|&byte| byte == b'~') else { return false };
        let (start, number) = (&short[..tilde], &short[tilde + 1..]);
        tilde <= self.fallback.len()
            && start.eq_ignore_ascii_case(&self.fallback[..tilde])
            && matches!(number, [b'1'..=b'9', digits @ ..] if digits.iter().all(u8::is_ascii_digit))
    }
}

/// The name is `.` and `needle` to HFS+, which ignores some code points and letter case.
fn hfs_is(name: &[u8], needle: &[u8]) -> bool {
    let mut rest = name;
    if hfs_next(&mut rest) != Some('.') {
        return false;
    }
    for &wanted in needle {
        match hfs_next(&mut rest) {
            Some(c) if c.to_ascii_lowercase() == char::from(wanted) => {}
            _ => return false,
        }
    }
    // Git cannot tell malformed UTF-8 from the end here, so `.git` followed by it counts.
    matches!(hfs_next(&mut rest), None | Some('/'))
}

/// The next code point HFS+ does not ignore; none at the end and at malformed UTF-8.
fn hfs_next(rest: &mut &[u8]) -> Option<char> {
    loop {
        let length = match rest.first()? {
            0..0x80 => 1,
            0xc0..0xe0 => 2,
            0xe0..0xf0 => 3,
            _ => 4,
        };
        let (start, after) = rest.split_at_checked(length)?;
        let c = std::str::from_utf8(start).ok()?.chars().next()?;
        *rest = after;
        match c {
            '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}' => {}
            // To git these two are malformed.
            '\u{fffe}' | '\u{ffff}' => return None,
            c => return Some(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn dotgit_in_every_spelling() {
        for name in [
            ".git",
            ".GIT",
            ".gIt",
            "git~1",
            "GIT~1",
            ".git ",
            ".git.",
            ".git . .",
            "git~1.",
            ".git:x",
            ".git\\x",
            ".git/x",
            "a\\.git",
            "a\\b\\git~1",
            "\\.git ",
            ".g\u{200c}it",
            "\u{200d}.git",
            ".git\u{feff}",
            ".gi\u{206f}t",
            "\u{202e}.\u{202a}GIT",
        ] {
            assert!(is_dotgit(name.as_bytes()), "{name:?}");
        }
        for name in [
            b".git\xff".as_slice(),
            b".git\xc0\x80",
            b".git\xed\xa0\x80",
            b".git\xef\xbf\xbf",
            b".git\xe2\x80",
            b".git\xf5\x80\x80\x80",
        ] {
            assert!(is_dotgit(name), "{name:?}");
        }
        for name in [
            "git",
            ".gitx",
            ".git~1",
            "git~2",
            "git~11",
            ".gi",
            ".gitmodules",
            "a.git",
            "..git",
            " .git",
            "a/.git",
            ".git\u{e9}",
            ".g\u{131}t",
            ".git\u{200b}",
            "\u{2069}.git",
            "a\\b.git",
            "\u{ff0e}git",
        ] {
            assert!(!is_dotgit(name.as_bytes()), "{name:?}");
        }
    }

    #[test]
    fn special_files_in_every_spelling() {
        for name in [
            ".gitmodules",
            ".GitModules",
            ".gitmodules ",
            ".gitmodules.",
            ".gitmodules . :x",
            ".gitmodules:$DATA",
            "gitmod~1",
            "GITMOD~4",
            "gi7eba~1",
            "GI7EBA~9",
            "gi7eb~10",
            "gi7e~123",
            "gi~10000",
            "g~123456",
            "~1000000",
            "~9999999 .",
            "gitmod~1:x",
            "a\\.gitmodules",
            "\\gitmod~2",
            ".gitmod\u{200c}ules",
            "\u{feff}.gitmodules",
        ] {
            // Without a letter of its own the fallback stands for both files.
            let shared = ["~", "g~", "gi~", "gi7~"].iter().any(|start| name.starts_with(start));
            let expected = if shared { Special::Both } else { Special::Gitmodules };
            assert_eq!(special(name.as_bytes()), Some(expected), "{name:?}");
        }
        for name in [
            ".gitattributes",
            ".GITATTRIBUTES . ",
            "gitatt~1",
            "gi7d29~1",
            "gi7d2~99",
            ".gitattributes:x",
            ".git\u{206a}attributes",
        ] {
            assert_eq!(special(name.as_bytes()), Some(Special::Gitattributes), "{name:?}");
        }
        assert_eq!(special(b".gitattributes:\\.gitmodules"), Some(Special::Both));
        for name in [
            ".git",
            "gitmodules",
            ".gitmodules2",
            ".gitmodule",
            "gitmod~5",
            "gitmod~0",
            "gitmod~",
            "gitmod~12",
            "gi7eba~0",
            "gi7eba~",
            "gi7ebb~1",
            "gi7eba1",
            "gi7eb~01",
            "~0000000",
            "~100000",
            "~100000x",
            ".gitmodules\\x",
            "a\\.gitattributes",
            "x~123456",
            ".gitignore",
            ".mailmap",
            "gi7eba~1x",
            ".gitmodules x",
        ] {
            assert_eq!(special(name.as_bytes()), None, "{name:?}");
        }
        // A slash ends a name to HFS+.
        for name in [b".gitmodules\xff".as_slice(), b".gitmodules/x"] {
            assert_eq!(special(name), Some(Special::Gitmodules));
        }
        assert_eq!(special(b""), None);
    }

    proptest! {
        #[test]
        fn the_cheap_filter_hides_nothing(name in proptest::collection::vec(
            prop_oneof![Just(b'.'), Just(b'g'), Just(b'~'), Just(b'1'), Just(b' '), Just(b'\\'), Just(0xe2), any::<u8>()], 0..12,
        )) {
            if !may_begin_special(&name) && !name.contains(&b'\\') {
                let full = |file: &File| hfs_is(&name, file.name) || ntfs_parts(&name).any(|part| file.ntfs_is(part));
                prop_assert!(!full(&GITMODULES) && !full(&GITATTRIBUTES));
                prop_assert!(!hfs_is(&name, b"git") && !ntfs_parts(&name).any(ntfs_is_dotgit));
            }
        }

        #[test]
        fn blanks_dots_and_streams_change_nothing_to_ntfs(tail in "[ .]{0,5}(:[ -~]{0,5})?", base in "(\\.gitmodules|gitmod~[1-4]|gi7eba~[1-9])") {
            prop_assert_eq!(special(format!("{base}{tail}").as_bytes()), Some(Special::Gitmodules));
        }
    }
}
