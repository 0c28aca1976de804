//! Trees: order, names, modes, ids, damage.

use super::{Case, Role, blob, entry, folder, root};

/// Files and folders (with a slash), in the order given.
fn listing(names: &[&str]) -> Vec<u8> {
    let one = |name: &&str| match name.strip_suffix('/') {
        Some(name) => entry("40000", name.as_bytes(), folder()),
        None => entry("100644", name.as_bytes(), blob()),
    };
    names.iter().map(one).collect::<Vec<_>>().concat()
}

/// A mode with an id it fits.
fn with_mode(mode: &str, name: &str) -> Vec<u8> {
    let digits = &mode[mode.len().saturating_sub(10)..];
    let bits = u32::from_str_radix(digits, 8).unwrap() & 0o170_000;
    let id = match bits {
        0o040_000 => folder(),
        0o100_000 | 0o120_000 => blob(),
        _ => root(),
    };
    entry(mode, name.as_bytes(), id)
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |name: String, data: Vec<u8>, broken: &[&'static str]| {
        // The place in the tree keeps two cases with equal bytes from being one object.
        cases.push(Case::new(format!("tree: {name}"), Role::Tree, data, broken));
    };
    for (names, broken) in ORDERS {
        add(format!("order {}", names.join(" ")), listing(names), broken);
    }
    for (mode, broken) in MODES {
        add(format!("mode {mode}"), with_mode(mode, "m"), broken);
    }
    for (name, broken) in NAMES {
        add(format!("name {name:?}"), entry("100644", name.as_bytes(), blob()), broken);
    }
    for (name, broken) in BYTES {
        add(format!("name {}", name.escape_ascii()), entry("100644", name, blob()), broken);
    }
    for length in [4095, 4096, 4097, 10_000] {
        let broken: &[_] = if length > 4096 { &["largePathname"] } else { &[] };
        add(format!("name of {length} bytes"), listing(&[&"n".repeat(length)]), broken);
    }
    for (mode, name, broken) in SPECIAL {
        add(format!("{mode} {name}"), with_mode(mode, name), broken);
    }
    let null = gix::ObjectId::null(gix::hash::Kind::Sha1);
    for mode in ["100644", "40000", "120000", "160000"] {
        add(format!("null id as {mode}"), entry(mode, b"n", null), &["nullSha1"]);
    }
    for (what, data, broken) in damaged() {
        add(what.to_owned(), data, broken);
    }
    cases
}

type Row<T> = (T, &'static [&'static str]);

const DUPLICATE: &[&str] = &["duplicateEntries"];
const UNSORTED: &[&str] = &["treeNotSorted"];
const BOTH: &[&str] = &["duplicateEntries", "treeNotSorted"];
const DOTGIT: &[&str] = &["hasDotgit"];
const NONE: &[&str] = &[];

const ORDERS: &[Row<&[&str]>] = &[
    (&[], NONE),
    (&["a"], NONE),
    (&["a", "b", "c/"], NONE),
    (&["b", "a"], UNSORTED),
    (&["a/", "b", "a"], UNSORTED),
    (&["a", "a"], DUPLICATE),
    (&["a/", "a/"], DUPLICATE),
    (&["a", "a/"], DUPLICATE),
    (&["a/", "a"], DUPLICATE),
    (&["b", "a", "a"], BOTH),
    (&["a", "a.b", "a0"], NONE),
    (&["a.b", "a/", "a0"], NONE),
    (&["a-b", "a/"], NONE),
    (&["a/", "a-b"], UNSORTED),
    (&["a/", "a.b"], UNSORTED),
    (&["a0", "a/"], UNSORTED),
    (&["a", "a.b", "a/"], DUPLICATE),
    (&["a", "a-", "a.", "a/"], DUPLICATE),
    (&["a", "a.b", "a.b.c", "a.b/", "a/"], DUPLICATE),
    (&["a", "a.b", "a.b/", "a/"], DUPLICATE),
    (&["a", "a.b", "a0", "a/"], UNSORTED),
    (&["a", "a.b/", "a/"], DUPLICATE),
    (&["a", "a!", "a/", "a/"], DUPLICATE),
    (&["a", "aa", "ab/"], NONE),
    (&["B", "a"], NONE),
    (&["a", "B"], UNSORTED),
    (&["a", "\u{e9}"], NONE),
    (&["\u{e9}", "z"], UNSORTED),
    (&["ab", "a"], UNSORTED),
    (&["ab/", "a/"], UNSORTED),
    (&["a/", "ab/"], NONE),
    (&["a", "a.b", "a.c.d", "a.c/", "a/"], DUPLICATE),
    (&["a.b", "a", "a/"], BOTH),
    (&["a", "a.b", "a.c", "a.d/", "a/"], DUPLICATE),
    (&["x", "x-", "x-y", "y", "x/"], UNSORTED),
];

const ZERO: &[&str] = &["zeroPaddedFilemode"];

/// Bad modes are only INFO; a 16-bit mode drops what is above.
const MODES: &[Row<&str>] = &[
    ("100644", NONE),
    ("100755", NONE),
    ("100664", NONE),
    ("100600", NONE),
    ("100777", NONE),
    ("120000", NONE),
    ("120777", NONE),
    ("40000", NONE),
    ("40755", NONE),
    ("160000", NONE),
    ("160644", NONE),
    ("60644", NONE),
    ("644", NONE),
    ("7", NONE),
    ("20000", NONE),
    ("140000", NONE),
    ("1100644", NONE),
    ("1040000", NONE),
    ("7100644", NONE),
    ("777777777777777777777100644", NONE),
    ("0100644", ZERO),
    ("00000000000000000100644", ZERO),
    ("040000", ZERO),
    ("0120000", ZERO),
    ("0160000", ZERO),
    ("0", ZERO),
    ("0000000", ZERO),
];

const PATH: &[&str] = &["fullPathname"];
const DOTGIT_PATH: &[&str] = &["fullPathname", "hasDotgit"];

const NAMES: &[Row<&str>] = &[
    (".", &["hasDot"]),
    ("..", &["hasDotdot"]),
    ("...", NONE),
    (". ", NONE),
    (" ", NONE),
    ("-", NONE),
    ("a\nb", NONE),
    ("a:b", NONE),
    ("a\\b", NONE),
    ("CON", NONE),
    ("/", PATH),
    ("a/b", PATH),
    ("/a", PATH),
    ("a/", PATH),
    ("../a", PATH),
    ("./a", PATH),
    (".git/a", DOTGIT_PATH),
    ("a/.git", PATH),
    (".git", DOTGIT),
    (".GIT", DOTGIT),
    (".gIt", DOTGIT),
    ("git", NONE),
    (".git ", DOTGIT),
    (".git.", DOTGIT),
    (".git . .", DOTGIT),
    (".git x", NONE),
    (".git:", DOTGIT),
    (".git:x", DOTGIT),
    (".git\\", DOTGIT),
    (".git\\x", DOTGIT),
    (".git .\\x", DOTGIT),
    (" .git", NONE),
    ("..git", NONE),
    (".gitx", NONE),
    (".git2", NONE),
    (".gi", NONE),
    (".gitignore", NONE),
    ("git~1", DOTGIT),
    ("GIT~1", DOTGIT),
    ("gIt~1 .", DOTGIT),
    ("git~1:x", DOTGIT),
    ("git~1\\x", DOTGIT),
    ("git~2", NONE),
    ("git~10", NONE),
    (".git~1", NONE),
    ("git~", NONE),
    ("a\\.git", DOTGIT),
    ("\\.git", DOTGIT),
    ("a\\b\\.GIT", DOTGIT),
    ("a\\git~1", DOTGIT),
    ("a\\.git\\b", DOTGIT),
    ("a\\.gitx", NONE),
    ("a\\x.git", NONE),
    ("a\\\\.git", DOTGIT),
    (".g\u{200c}it", DOTGIT),
    (".gi\u{200d}t", DOTGIT),
    (".git\u{200e}", DOTGIT),
    ("\u{200f}.git", DOTGIT),
    (".\u{202a}git", DOTGIT),
    (".g\u{202b}it", DOTGIT),
    (".g\u{202c}it", DOTGIT),
    (".g\u{202d}it", DOTGIT),
    (".g\u{202e}it", DOTGIT),
    (".g\u{206a}it", DOTGIT),
    (".g\u{206f}it", DOTGIT),
    ("\u{feff}\u{feff}.GIT", DOTGIT),
    (".g\u{200b}it", NONE),
    (".g\u{2010}it", NONE),
    (".g\u{2029}it", NONE),
    (".g\u{202f}it", NONE),
    (".g\u{2069}it", NONE),
    (".g\u{2070}it", NONE),
    (".g\u{131}t", NONE),
    (".G\u{130}T", NONE),
    ("\u{ff0e}git", NONE),
    (".git\u{e9}", NONE),
    (".git\u{200c}x", NONE),
    (".git\u{10ffff}", NONE),
    ("a\\.g\u{200c}it", NONE),
];

/// Names that are not UTF-8: what is malformed ends a name to git's HFS+ rule.
const BYTES: &[Row<&[u8]>] = &[
    (b"\xff", NONE),
    (b"a\xff", NONE),
    (b".git\xff", DOTGIT),
    (b".git\x80x", DOTGIT),
    (b".git\xc0\x80", DOTGIT),
    (b".git\xc1\xbf", DOTGIT),
    (b".git\xc2", DOTGIT),
    (b".git\xc2x", DOTGIT),
    (b".git\xc2\x80", NONE),
    (b".git\xe0\x80\x80", DOTGIT),
    (b".git\xe0\xa0\x80", NONE),
    (b".git\xed\xa0\x80", DOTGIT),
    (b".git\xed\x9f\xbf", NONE),
    (b".git\xef\xbf\xbd", NONE),
    (b".git\xef\xbf\xbe", DOTGIT),
    (b".git\xef\xbf\xbf", DOTGIT),
    (b".git\xf0\x80\x80\x80", DOTGIT),
    (b".git\xf0\x90\x80\x80", NONE),
    (b".git\xf0\x9f\xbf\xbe", NONE),
    (b".git\xf4\x8f\xbf\xbf", NONE),
    (b".git\xf4\x90\x80\x80", DOTGIT),
    (b".git\xf5\x80\x80\x80", DOTGIT),
    (b".git\xf8\x88\x80\x80\x80", DOTGIT),
    (b".git\xe2\x80", DOTGIT),
    (b".g\xe2\x80it", NONE),
    (b"\xff.git", NONE),
    (b".g\xffit", NONE),
    (b"a\\.git\xff", NONE),
];

const SYMLINK: &[&str] = &["gitmodulesSymlink"];

/// The content behind the other special names is judged in [`super::contents`]; these blobs are sound.
const SPECIAL: &[(&str, &str, &[&str])] = &[
    ("100644", ".gitmodules", NONE),
    ("100644", ".gitattributes", NONE),
    ("120000", ".gitmodules", SYMLINK),
    ("120777", ".gitmodules", SYMLINK),
    ("1120000", ".gitmodules", SYMLINK),
    ("120000", ".GITMODULES", SYMLINK),
    ("120000", ".gitmodules .", SYMLINK),
    ("120000", ".gitmodules:x", SYMLINK),
    ("120000", "gitmod~1", SYMLINK),
    ("120000", "GITMOD~4", SYMLINK),
    ("120000", "gitmod~5", NONE),
    ("120000", "gitmod~0", NONE),
    ("120000", "gitmod~12", NONE),
    ("120000", "gi7eba~1", SYMLINK),
    ("120000", "GI7EBA~9", SYMLINK),
    ("120000", "gi7eba~0", NONE),
    ("120000", "gi7eb~10", SYMLINK),
    ("120000", "gi7eb~01", NONE),
    ("120000", "gi7e~123", SYMLINK),
    ("120000", "gi7~1234", SYMLINK),
    ("120000", "gi~10000", SYMLINK),
    ("120000", "g~123456", SYMLINK),
    ("120000", "~1000000", SYMLINK),
    ("120000", "~0000000", NONE),
    ("120000", "~100000", NONE),
    ("120000", "~10000000", NONE),
    ("120000", "~1000000 . :x", SYMLINK),
    ("120000", "gi7d29~1", NONE),
    ("120000", "x~123456", NONE),
    ("120000", "a\\.gitmodules", SYMLINK),
    ("120000", "a\\gitmod~2", SYMLINK),
    ("120000", ".gitmodules\\a", NONE),
    ("120000", ".gitmod\u{200c}ules", SYMLINK),
    ("120000", ".gitmodules\u{feff}", SYMLINK),
    ("120000", ".gitmodules2", NONE),
    ("120000", ".gitattributes", NONE),
    ("120000", ".gitattributes:\\.gitmodules", SYMLINK),
    ("120000", ".gitignore", NONE),
    ("120000", ".mailmap", NONE),
];

fn damaged() -> Vec<(&'static str, Vec<u8>, &'static [&'static str])> {
    const BAD: &[&str] = &["badTree"];
    let sound = listing(&["a", "b"]);
    let one = listing(&["a"]);
    let then = |tail: &[u8]| [one.as_slice(), tail].concat();
    let id = blob();
    vec![
        ("one byte", b"1".to_vec(), BAD),
        ("a NUL", b"\0".to_vec(), BAD),
        ("22 bytes", one[..22].to_vec(), BAD),
        ("23 bytes without a mode", entry("", b"a", id), BAD),
        ("a mode without a blank", entry("1\t", b"a", id), BAD),
        ("a mode in decimal", entry("100844", b"a", id), BAD),
        ("a mode with a sign", entry("+100644", b"a", id), BAD),
        ("a mode in hexadecimal", entry("0x81a4", b"a", id), BAD),
        ("a mode with a letter", entry("10064a", b"a", id), BAD),
        ("a mode and a tab", [b"100644\ta\0".as_slice(), id.as_slice()].concat(), BAD),
        ("an empty name", entry("100644", b"", id), BAD),
        ("an empty name second", then(&entry("100644", b"", id)), BAD),
        ("an id cut short by one byte", sound[..sound.len() - 1].to_vec(), BAD),
        ("an id cut off", sound[..sound.len() - 20].to_vec(), BAD),
        ("a byte more", then(b"x"), BAD),
        ("a NUL more", then(b"\0"), BAD),
        ("a newline more", then(b"\n"), BAD),
        ("a second mode without a name", then(b"100644"), BAD),
        ("a second mode and blank", then(b"100644 "), BAD),
        ("damage behind a name out of order", [listing(&["b", "a"]), b"x".to_vec()].concat(), BAD),
        (
            "damage behind two names out of order",
            [listing(&["c", "b", "a"]), entry("8", b"z", id)].concat(),
            &["badTree", "treeNotSorted"],
        ),
        ("damage behind one name out of order", [listing(&["b", "a"]), entry("8", b"z", id)].concat(), BAD),
        ("damage behind a duplicate", [listing(&["a", "a"]), entry("8", b"z", id)].concat(), BAD),
        ("damage behind .git", [listing(&[".git"]), entry("8", b"z", id)].concat(), &["badTree", "hasDotgit"]),
        ("an id as text", [b"100644 a\0".as_slice(), id.to_string().as_bytes()].concat(), BAD),
        ("a tree as text", format!("100644 blob {id}\ta\n").into_bytes(), BAD),
        (
            "everything at once",
            [
                entry("0100644", b"b", id),
                entry("100644", b".", id),
                entry("100644", b"..", id),
                entry("100644", b".git", id),
                entry("100644", b"a/b", gix::ObjectId::null(gix::hash::Kind::Sha1)),
                entry("120000", b".gitmodules", id),
                entry("120000", b".gitmodules", id),
                listing(&[&"x".repeat(5000)]),
            ]
            .concat(),
            &[
                "zeroPaddedFilemode",
                "hasDot",
                "hasDotdot",
                "hasDotgit",
                "fullPathname",
                "nullSha1",
                "gitmodulesSymlink",
                "duplicateEntries",
                "treeNotSorted",
                "largePathname",
            ],
        ),
    ]
}
