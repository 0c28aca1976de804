//! Why the disk differs from the commit, and what cures it.

use unicode_normalization::UnicodeNormalization;

use crate::fs::FileContent;

/// Why the bytes differ, where the bytes tell.
pub(super) fn content(committed: &[u8], on_disk: &FileContent) -> String {
    let bytes = &on_disk.bytes;
    let without_cr = |bytes: &[u8]| bytes.iter().copied().filter(|&b| b != b'\r').collect::<Vec<_>>();
    let pointer = |bytes: &[u8]| bytes.starts_with(b"version https://git-lfs.github.com/spec/");
    if on_disk.exceeds {
        return format!("other content, more than {} bytes", bytes.len());
    }
    if without_cr(bytes) == without_cr(committed) {
        return "the same lines with other line endings (core.autocrlf or an eol attribute)".into();
    }
    if pointer(committed) && !pointer(bytes) {
        return format!("other content, {} bytes, where the commit has a Git LFS pointer", bytes.len());
    }
    if pointer(bytes) {
        return "a Git LFS pointer instead of the content".into();
    }
    if without_ident(bytes) == without_ident(committed) {
        return "the same content with an expanded $Id$ (an ident attribute)".into();
    }
    let first = bytes.iter().zip(committed).position(|(a, b)| a != b).unwrap_or(bytes.len().min(committed.len()));
    format!("other content, {} bytes, different from byte {first} on", bytes.len())
}

/// What only letter case or Unicode normalisation tells apart, in words.
pub(super) fn name(committed: &str, on_disk: &str) -> Option<&'static str> {
    if committed.nfc().eq(on_disk.nfc()) {
        return Some("in Unicode normalisation");
    }
    let folded = |name: &str| name.nfc().collect::<String>().to_lowercase();
    (folded(committed) == folded(on_disk)).then_some("in letter case")
}

/// Puts back exactly the committed bytes: no filter, attribute or index has a say.
pub(super) fn rewrite(path: &str) -> String {
    let (object, file) = (quoted(&format!("HEAD:{path}")), quoted(path));
    format!("git cat-file blob {object} >{file}")
}

/// Puts back a file or folder that is not there.
pub(super) fn restore(path: &str) -> String {
    format!("git restore --source=HEAD --staged --worktree -- {}", quoted(path))
}

/// Puts back a folder that a sparse checkout may have left out.
pub(super) fn restore_folder(path: &str) -> String {
    format!("git sparse-checkout disable && {}", restore(path))
}

/// Removes what is not committed.
pub(super) fn remove(path: &str) -> String {
    format!("look at it, then remove it: git --literal-pathspecs clean -ffdx -- {}", quoted(path))
}

/// A word for a shell.
fn quoted(word: &str) -> String {
    if word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_./:-".contains(&byte)) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// The bytes with every expanded `$Id: …$` put back to `$Id$`.
fn without_ident(bytes: &[u8]) -> Vec<u8> {
    let mut rest = bytes;
    let mut out = Vec::with_capacity(bytes.len());
    while let Some(at) = rest.windows(4).position(|window| window == b"$Id:") {
        let line = rest[at..].iter().position(|&b| b == b'\n').map_or(rest.len(), |end| at + end);
        match rest[at + 4..line].iter().position(|&b| b == b'$') {
            Some(end) => {
                out.extend_from_slice(&rest[..at]);
                out.extend_from_slice(b"$Id$");
                rest = &rest[at + 4 + end + 1..];
            }
            None => {
                out.extend_from_slice(&rest[..at + 4]);
                rest = &rest[at + 4..];
            }
        }
    }
    out.extend_from_slice(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(committed: &str, on_disk: &str) -> String {
        content(
            committed.as_bytes(),
            &FileContent { bytes: on_disk.as_bytes().to_vec(), executable: false, exceeds: false },
        )
    }

    #[test]
    fn the_cause_is_told_from_the_bytes() {
        assert_eq!(
            told("a\nb\n", "a\r\nb\r\n"),
            "the same lines with other line endings (core.autocrlf or an eol attribute)"
        );
        let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 3\n";
        assert_eq!(told("abc", pointer), "a Git LFS pointer instead of the content");
        assert_eq!(told(pointer, "abc"), "other content, 3 bytes, where the commit has a Git LFS pointer");
        assert_eq!(told("x $Id$ y", "x $Id: 0123 $ y"), "the same content with an expanded $Id$ (an ident attribute)");
        assert_eq!(told("x $Id$ y", "x $Id: 0123 y"), "other content, 13 bytes, different from byte 5 on");
        assert_eq!(told("abc", "abd"), "other content, 3 bytes, different from byte 2 on");
        assert_eq!(told("abc", "ab"), "other content, 2 bytes, different from byte 2 on");
    }

    #[test]
    fn names_that_only_look_alike() {
        assert_eq!(name("a/B.py", "a/b.PY"), Some("in letter case"));
        assert_eq!(name("caf\u{e9}.py", "cafe\u{301}.py"), Some("in Unicode normalisation"));
        assert_eq!(name("caf\u{e9}.py", "CAFE\u{301}.py"), Some("in letter case"));
        assert_eq!(name("cafe.py", "caf\u{e9}.py"), None);
    }

    #[test]
    fn commands_quote_what_a_shell_would_read() {
        assert_eq!(rewrite("a/b-c.py"), "git cat-file blob HEAD:a/b-c.py >a/b-c.py");
        let command = "look at it, then remove it: git --literal-pathspecs clean -ffdx -- 'a/it'\\''s *;$x'";
        assert_eq!(remove("a/it's *;$x"), command);
    }
}
