//! Objects nobody thought of: random damage and random sentences, the same ones on every machine.

use gix::objs::Kind;

use super::cases::{self, Role};
use super::fsck::Store;

/// SplitMix64. Its own few lines, so that no release of a library changes the objects.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(bound).unwrap()).unwrap()
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    /// Changes, drops, doubles, inserts or swaps a byte; the new byte is often one that means something.
    fn damage(&mut self, data: &mut Vec<u8>) {
        const MEANT: &[u8] = b"\0\n\r\t \"#%+-./0:;<=>@[\\]g~\x7f\x80\xff";
        let byte = if self.below(2) == 0 { *self.pick(MEANT) } else { self.next().to_le_bytes()[0] };
        let at = self.below(data.len());
        let other = self.below(data.len());
        match self.below(6) {
            0 => drop(data.remove(at)),
            1 => data.insert(at, data[at]),
            2 => data.insert(at, byte),
            3 => data.swap(at, other),
            _ => data[at] = byte,
        }
    }

    fn sentence(&mut self, words: &[&str], longest: usize) -> Vec<u8> {
        let length = 1 + self.below(longest);
        (0..length).flat_map(|_| self.pick(words).bytes()).collect()
    }
}

#[track_caller]
fn agree(store: &Store, at_least: usize) {
    assert!(store.len() >= at_least, "{} objects", store.len());
    let (ours, gits) = (store.judged_by_us(), store.judged_by_git());
    let differ = |id: &&gix::ObjectId| ours.get(*id) != gits.get(*id);
    let wrong: Vec<_> = ours.keys().chain(gits.keys()).filter(differ).collect();
    let show = |id: &gix::ObjectId| format!("ours {:?}, git {:?}: {}", ours.get(id), gits.get(id), store.shown(id));
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong.iter().map(|id| show(id)).collect::<Vec<_>>().join("\n")
    );
    let broken = ours.len() * 100 / store.len();
    assert!((5..95).contains(&broken), "{broken} % broken: the objects are no test");
}

fn foundation() -> Store {
    let mut store = Store::default();
    for (kind, data) in cases::foundation() {
        store.add(kind, data);
    }
    store
}

#[test]
fn git_agrees_on_randomly_damaged_objects() {
    let mut random = Random(20_261_201);
    let mut store = foundation();
    let sound: Vec<_> =
        cases::cases().into_iter().filter(|case| case.broken.is_empty() && case.data.len() < 2000).collect();
    let of =
        |role: Role| sound.iter().filter(move |case| case.role == role && !case.data.is_empty()).collect::<Vec<_>>();
    let (trees, commits, modules) = (of(Role::Tree), of(Role::Commit), of(Role::Blob(".gitmodules")));
    for round in 0..2_400 {
        let case = match round % 3 {
            0 => *random.pick(&trees),
            1 => *random.pick(&commits),
            _ => *random.pick(&modules),
        };
        let mut case = case.clone();
        for _ in 0..=random.below(2) {
            random.damage(&mut case.data);
        }
        for (kind, data) in case.objects() {
            store.add(kind, data);
        }
    }
    agree(&store, 2_000);
}

#[test]
fn git_agrees_on_random_names() {
    const WORDS: &[&str] = &[
        ".",
        ".git",
        "git",
        "GIT",
        "modules",
        "attributes",
        "~1",
        "~4",
        "~",
        "gitmod",
        "gitatt",
        "gi7eba",
        "gi7d29",
        "gi7",
        "1",
        "23",
        "000",
        " ",
        ":",
        "\\",
        "/",
        "\u{200c}",
        "\u{feff}",
        "\u{206a}",
        "\u{e9}",
        "x",
        ".gitmodules",
        ".gitattributes",
    ];
    let mut random = Random(15);
    let mut store = foundation();
    for _ in 0..2_500 {
        let mut name = random.sentence(WORDS, 5);
        if random.below(8) == 0 {
            name.push(0x80 | random.next().to_le_bytes()[0]);
        }
        let mode = random.pick(&["100644", "120000", "40000", "160000"]);
        let id = if *mode == "40000" { cases::folder() } else { cases::blob() };
        store.add(Kind::Tree, cases::entry(mode, &name, id));
    }
    agree(&store, 1_500);
}

#[test]
fn git_agrees_on_random_configuration() {
    const HEADERS: &[&str] = &[
        "[submodule \"a\"]",
        "[submodule \"a\"]\n",
        "[submodule \t\"..\"]\n",
        "[Submodule.x]\r\n",
        "[submodule \"\"]",
        "[submodule \"a\\\"b\"]\r",
        "[submodule.a \"../b\"]\n",
        "[submodule.]",
        "[a \"b\"]\n",
        "[.]",
        "[submodule \"a\"]#\n",
    ];
    const KEYS: &[&str] = &[
        "path", "url", "update", "URL", " Path", "\tupdate", "p", "path ", "url\t", "x-1", "\n url", "#\npath",
        ";update",
    ];
    const VALUES: &[&str] = &[
        "-", "!", "../", ":", "x", " ", "\t", "\"", "\"", "\\\"", "\\n", "\\t", "\\\n", "#", ";", "\r", "%0a", "./",
        "=", "\\\\", "[", "]", "\u{e9}",
    ];
    const ENDS: &[&str] = &["\n", "\n", "\n", "\r\n", "", " \n", " # x\n", ";\n", "\r"];
    let mut random = Random(47);
    let mut store = foundation();
    for _ in 0..2_500 {
        let mut data = Vec::new();
        for _ in 0..=random.below(2) {
            data.extend(random.pick(HEADERS).bytes());
            for _ in 0..random.below(4) {
                data.extend(random.pick(KEYS).bytes());
                data.extend(random.pick(&["=", "=", "= ", "", " = \"", "=\\\n"]).bytes());
                data.extend(random.sentence(VALUES, 3));
                data.extend(random.pick(ENDS).bytes());
            }
        }
        if random.below(4) == 0 {
            random.damage(&mut data);
        }
        let blob = store.add(Kind::Blob, data);
        store.add(Kind::Tree, cases::entry("100644", b".gitmodules", blob));
    }
    agree(&store, 4_000);
}

#[test]
fn git_agrees_on_random_urls() {
    const WORDS: &[&str] = &[
        "http",
        "https",
        "ftp",
        "file",
        "git",
        "://",
        "::",
        ":",
        "/",
        "/",
        "/..",
        "/.",
        "..",
        ".",
        "../",
        "./",
        "..\\",
        "@",
        "?",
        "#",
        "%0a",
        "%2e",
        "%25",
        "%",
        "%00",
        "0",
        "80",
        "443",
        "65536",
        "host",
        "[",
        "]",
        "-",
        "*",
        " ",
        "\u{e9}",
        "\\n",
        "a",
        "https://host",
        "https://host/a",
    ];
    let mut random = Random(3986);
    let mut store = foundation();
    for _ in 0..2_500 {
        let start = *random.pick(&["", "./", "../", "https://", "https://host", "http::file://", "https://h/"]);
        let url = [start.as_bytes(), &random.sentence(WORDS, 7)].concat();
        let data = [b"[submodule \"a\"]\nurl=\"".as_slice(), &url, b"\"\n"].concat();
        let blob = store.add(Kind::Blob, data);
        store.add(Kind::Tree, cases::entry("100644", b".gitmodules", blob));
    }
    agree(&store, 4_000);
}
