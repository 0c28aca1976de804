//! Writes the seeds of all targets to `corpus/`: `cargo run --no-default-features --example seeds`, in this folder.
//!
//! Objects are the cases that the tests hold against git, one for each set of broken rules and the shortest of those.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Cursor, Write};
use std::path::Path;

use gix::objs::Kind;
use paired_sdk_gate::activation::Record;
use paired_sdk_gate::contract::{Contract, Oracle, Question, generate};
use paired_sdk_gate_fuzz::written;

#[allow(dead_code)]
#[path = "../../tests/strict"]
mod strict {
    pub mod cases;
}

use strict::cases::{self, Case, Role};

/// Longer ones teach nothing more.
const LONGEST: usize = 600;

/// Two files of an archive.
const MEMBERS: [(&str, &[u8]); 2] = [("a/b.py", b"1"), ("c", b"")];

const HEX: &str = "0123456789abcdef0123456789abcdef01234567";

fn main() -> std::io::Result<()> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let put = |target: &str, seeds: Vec<Vec<u8>>| {
        let folder = corpus.join(target);
        fs::create_dir_all(&folder)?;
        seeds.iter().enumerate().try_for_each(|(index, seed)| fs::write(folder.join(format!("seed-{index:02}")), seed))
    };
    let cases = cases::cases();
    let of =
        |role: fn(&Role) -> bool| -> Vec<Vec<u8>> { few(&cases, role).iter().map(|case| case.data.clone()).collect() };
    put("tree", of(|role| *role == Role::Tree))?;
    put("commit", of(|role| *role == Role::Commit))?;
    put("gitmodules", of(|role| *role == Role::Blob(".gitmodules")))?;
    put("gitattributes", texts(&["* text=auto\n", "*.py text eol=lf\n\0", &"a".repeat(2047), &"a".repeat(2048)]))?;
    put("walk", few(&cases, |_| true).into_iter().flat_map(repositories).collect())?;
    put("loose", loose())?;
    put("delta", DELTAS.iter().map(|seed| seed.to_vec()).collect())?;
    put("packed_refs", packed_refs())?;
    put("shallow", texts(&["", &format!("{HEX}\n"), &format!("{HEX}\r\n{}\n", HEX.to_uppercase()), "x\n"]))?;
    put("head", head())?;
    put("archive", archives())?;
    put("json", texts(JSON))?;
    put("contract", contract())?;
    put("activation_record", records())?;
    put("distribution_record", texts(RECORDS))?;
    put("declared_version", texts(SOURCES))
}

/// A byte that says whom to ask, then an input; small ones of every question and verdict, and the manifest's tools.
fn contract() -> Vec<Vec<u8>> {
    let mut seeds = BTreeMap::new();
    for vector in generate(1, 3000).into_iter().filter(|vector| vector.input.len() <= LONGEST * 2) {
        let (kind, tool) = match &vector.question {
            Question::Arguments { tool } => (0, tool.as_str()),
            Question::Response { tool } => (2, tool.as_str()),
            Question::Manifest => (4, ""),
        };
        let which = kind + u8::from(tool == "schedule_sync");
        let rules: Vec<_> = Oracle::bridge_v1()
            .judge(&vector.question, &vector.input)
            .reasons
            .iter()
            .map(|reason| reason.rule)
            .collect();
        // One for each rule that refuses alone.
        if rules.len() > 1 {
            continue;
        }
        seeds.entry((which, rules)).or_insert_with(|| [&[which], vector.input.as_bytes()].concat());
    }
    seeds.into_values().collect()
}

/// A byte that names the format, then an archive; the tar is not compressed.
fn archives() -> Vec<Vec<u8>> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let mut tar = tar::Builder::new(Vec::new());
    for (name, content) in MEMBERS {
        // Writing to a vector cannot fail.
        let _ = zip.start_file(name, zip::write::SimpleFileOptions::default());
        let _ = zip.write_all(content);
        let mut header = tar::Header::new_ustar();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        let _ = tar.append_data(&mut header, name, content);
    }
    let zip = zip.finish().map(Cursor::into_inner).unwrap_or_default();
    let tar = tar.into_inner().unwrap_or_default();
    [(0, zip), (1, tar)].map(|(format, bytes)| [vec![format], bytes].concat()).into()
}

fn texts(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

/// For each set of rules the shortest case that breaks it.
fn few(cases: &[Case], role: fn(&Role) -> bool) -> Vec<&Case> {
    let mut chosen: BTreeMap<_, &Case> = BTreeMap::new();
    for case in cases.iter().filter(|case| role(&case.role) && !case.data.is_empty() && case.data.len() <= LONGEST) {
        let best = chosen.entry((format!("{:?}", case.role), &case.broken)).or_insert(case);
        if case.data.len() < best.data.len() {
            *best = case;
        }
    }
    chosen.into_values().collect()
}

/// A case with all that it links to; a sound one also with each kind of damage, and shallow.
fn repositories(case: &Case) -> Vec<Vec<u8>> {
    let plan = written(&[cases::foundation(), case.objects()].concat());
    let damage = if case.broken.is_empty() && case.role == Role::Tree { 0..=8 } else { 0..=0 };
    let damaged = |kind| [&[kind, 0, 20, u8::from(kind > 0)], &plan[4..]].concat();
    let shallow = [&[0x80, 0, 0, 0], &plan[4..]].concat();
    damage.map(damaged).chain(case.broken.is_empty().then_some(shallow)).collect()
}

fn loose() -> Vec<Vec<u8>> {
    let objects: Vec<_> = cases::foundation().into_iter().chain([(Kind::Tag, b"object ".to_vec())]).collect();
    let file = |(kind, content): &(Kind, Vec<u8>)| [format!("{kind} {}\0", content.len()).as_bytes(), content].concat();
    let modes = [1_u8, 5, 10, 11];
    let with = |mode| objects.iter().map(move |object| [vec![mode], file(object)].concat());
    modes
        .into_iter()
        .flat_map(with)
        .chain(texts(&["\0", "\u{1}blob 3\0x\n", "\u{1}blob 1\0x\n", "\u{1}blob 03\0x\n"]))
        .collect()
}

const DELTAS: &[&[u8]] = &[
    &[5, b'a', b'b', b'c', b'd', b'e', 5, 6, 0x91, 1, 3, 3, b'x', b'y', b'z'],
    &[1, b'a', 1, 0],
    &[5, b'a', b'b', b'c', b'd', b'e', 5, 4, 0x90, 3],
    &[5, b'a', b'b', b'c', b'd', b'e', 5, 1, 0],
    &[2, b'a', b'b', 2, 0x80, 0x80, 4, 0x80],
];

fn packed_refs() -> Vec<Vec<u8>> {
    let header = "# pack-refs with: peeled fully-peeled sorted \n";
    texts(&[
        &format!("{header}{HEX} refs/heads/a\n{HEX} refs/tags/t\n^{HEX}\n"),
        &format!("{HEX} refs/heads/a\n"),
        &format!("{HEX} refs/heads/a\n{HEX} refs/heads/a\r\n"),
        &format!("^{HEX}\n"),
        &format!("{HEX} a\n# x\n"),
    ])
}

fn head() -> Vec<Vec<u8>> {
    texts(&[
        "ref: refs/heads/main\n",
        "ref:\trefs/heads/a.lock \r\n",
        &format!("{HEX}\n"),
        &format!("{}\r\n", HEX.to_uppercase()),
        &format!("{HEX} x"),
        "ref: refs/heads/../../x",
        "# alternates\n../a b\n\"q\\t\\303\\244\"\n",
    ])
}

const JSON: &[&str] = &[
    r#"{"b":[7,7.0,70e-1,-0,1E+2,NaN,-Infinity],"a":{"x":null,"x":true},"ä\"\\\u0000":"😀"}"#,
    r#" [ "\ud83d\ude00\/\n" , false ] "#,
    r#"["\ud83d"]"#,
    "[1e400,18446744073709551616,01]",
    "[[[[[[[[{\"a\":[]}]]]]]]]]",
];

fn records() -> Vec<Vec<u8>> {
    let blocked = Record::blocked(Contract::bridge_v1(), "not proven \u{1}").to_bytes();
    let text = String::from_utf8_lossy(&blocked).into_owned();
    let active = text
        .replace("blocked", "active")
        .replace("\"expected_version\": null", "\"expected_version\": \"0.0.13\"")
        .replace("\"expected_commit\": null", &format!("\"expected_commit\": \"{HEX}\""));
    texts(&[&text, &active, &text.replace("\"state\"", "\"State\""), &format!("\u{feff}{text}"), "{}"])
}

const RECORDS: &[&str] = &[
    "a.py,sha256=x,1\n\"b,c.py\",,\nd-1.dist-info/RECORD,,\n",
    "\"a\"\"b\",sha256=,\r\n",
    "a.py,md5=x,1\n",
    "a.py,sha256=x\n",
];

const SOURCES: &[&str] = &[
    "__version__ = '1.2'\n",
    "# -*- coding: utf-8 -*-\n__version__: str = r'1.2'\nx = __version__ + other.__version__\n",
    "__all__ = ['__version__']\n__version__ = '\\x31'\nprint(f'{__version__}')\n",
    "__version__ = '1'\nif (__version__ := '2'): pass\n",
    "from v import __version__\n",
    "# coding: utf-7\n__version__ = '1'\n",
];
