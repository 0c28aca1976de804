//! Every leaf of a report, tampered with by somebody who fills in a digest that fits: what an audit cannot see is listed here, with
//! the reason why.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::forged;
use paired_sdk_gate::contract::Contract;
use paired_sdk_gate::report::audit::faults;

/// Of a list longer than this the first, the middle and the last element stand for all: each is held to the same rule.
const LISTED: usize = 64;

/// The places below these pointers where a changed value went unseen; the place of an element is written `*`.
pub fn unseen(report: &str, contract: &Contract, below: &[&str]) -> BTreeSet<String> {
    let value: Value = serde_json::from_str(report).unwrap();
    let mut forgeries = Vec::new();
    tamper(&value, &mut String::new(), &mut String::new(), &mut forgeries);
    forgeries.retain(|(_, pointer, _)| below.iter().any(|start| pointer.starts_with(start)));
    assert!(!forgeries.is_empty());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let judge = |share: &[(String, String, Value)]| {
            let unseen = share.iter().filter(|(_, pointer, tampered)| {
                let text = forged(report, |report| *report.pointer_mut(pointer).unwrap() = tampered.clone());
                faults(text.as_bytes(), contract).is_empty()
            });
            unseen.map(|(place, ..)| place.clone()).collect::<BTreeSet<_>>()
        };
        let shares = forgeries.chunks(forgeries.len().div_ceil(cores));
        let running: Vec<_> = shares.map(|share| scope.spawn(move || judge(share))).collect();
        running.into_iter().flat_map(|share| share.join().unwrap()).collect()
    })
}

/// Each tampering as the place in words, its pointer and what stands there instead.
fn tamper(value: &Value, place: &mut String, pointer: &mut String, found: &mut Vec<(String, String, Value)>) {
    let mut below = |step: &str, shown: &str, item: &Value| {
        let lengths = (place.len(), pointer.len());
        place.push_str(shown);
        pointer.push_str(&format!("/{}", step.replace('~', "~0").replace('/', "~1")));
        tamper(item, place, pointer, found);
        place.truncate(lengths.0);
        pointer.truncate(lengths.1);
    };
    match value {
        Value::Array(items) => {
            let last = items.len().saturating_sub(1);
            let stands = |at: usize| items.len() <= LISTED || [0, last / 2, last].contains(&at);
            items
                .iter()
                .enumerate()
                .filter(|&(at, _)| stands(at))
                .for_each(|(at, item)| below(&at.to_string(), "/*", item));
            for (how, items) in rearranged(items) {
                found.push((format!("{place} {how}"), pointer.clone(), items.into()));
            }
        }
        Value::Object(members) => members.iter().for_each(|(name, item)| below(name, &format!("/{name}"), item)),
        // Whoever forges a report fills it in.
        _ if pointer == "/run/report_sha256" => {}
        leaf => found.extend(others(leaf).into_iter().map(|other| (place.clone(), pointer.clone(), other))),
    }
}

fn rearranged(items: &[Value]) -> BTreeMap<&'static str, Vec<Value>> {
    let mut ways = BTreeMap::new();
    if let Some((last, rest)) = items.split_last() {
        ways.insert("less one", rest.to_vec());
        ways.insert("one twice", [items, std::slice::from_ref(last)].concat());
    }
    if let [first, second, rest @ ..] = items
        && first != second
    {
        ways.insert("swapped", [&[second.clone(), first.clone()], rest].concat());
    }
    ways
}

/// Words that stand for each other without breaking the schema.
const WORDS: &[&[&str]] = &[
    &["passed", "failed", "error", "not-run"],
    &["passed", "copied", "refused", "unverifiable", "write-refused"],
    &["accept", "reject", "crash", "nothing"],
    &["verify", "activate", "snapshot"],
    &["activated", "unchanged", "would-activate", "none"],
    &["full", "partial", "none"],
    &["complete", "shallow"],
    &["not-given", "wheel", "sdist"],
    &["self-consistent", "anchored"],
    &["100644", "100755"],
    &["arguments", "response", "manifest"],
    &["graph", "inventory", "snapshot", "environment", "behaviour", "pair"],
    &["snapshot", "environment", "standard-library", "built-in", "in-memory", "probe", "elsewhere"],
    &["bridge-v1-schema", "lossless-json-integer-identity", "bounded-rfc3339-normalization"],
    &["proxbox-bridge-v1", "demo-bridge-v1"],
    &["SIGINT", "SIGTERM"],
];

fn others(leaf: &Value) -> Vec<Value> {
    match leaf {
        Value::String(text) => {
            let groups = WORDS.iter().filter(|words| words.contains(&&**text));
            let words = groups.flat_map(|words| words.iter().filter(|word| **word != text).take(2));
            let mut others: Vec<Value> = words.map(|word| Value::from(*word)).collect();
            others.push(format!("{text}x").into());
            // One digit, hexadecimal or not, so that the form stays.
            if let Some(at) = text.rfind(|c: char| c.is_ascii_digit()) {
                let digit = if text.as_bytes()[at] == b'1' { "2" } else { "1" };
                others.push(format!("{}{digit}{}", &text[..at], &text[at + 1..]).into());
            }
            others
        }
        Value::Number(number) => {
            let number = number.as_u64().unwrap();
            let others = [number + 1, number / 2].into_iter();
            others.filter(|&other| other != number).map(Value::from).collect()
        }
        Value::Bool(truth) => vec![(!truth).into()],
        _ => {
            vec!["x".into(), "1".repeat(40).into(), "1".repeat(64).into(), "SIGTERM".into(), "/x.whl".into(), 1.into()]
        }
    }
}

/// Where nothing in a report says otherwise, whatever its verdict, and why.
pub const BEYOND_ANY: &[(&str, &[&str])] = &[
    (
        "names a repository that is not at hand; --record holds the commit against the record",
        &["/subject/commit", "/subject/tree"],
    ),
    (
        "counts or describes that repository; the package is a lower bound",
        &[
            "/source/commits",
            "/source/trees",
            "/source/blobs",
            "/source/bytes",
            "/source/ignored/commit_graph",
            "/source/ignored/foreign_owner",
            "/source/ignored/grafts",
            "/source/ignored/multi_pack_index",
            "/source/ignored/replace_refs",
        ],
    ),
    (
        "says once more what the file's SHA-256 says, which is held against the package's",
        &["/package/files/*/git_sha1", "/package/files/*/size"],
    ),
    (
        "identifies a machine's interpreter and kernel, which are not at hand",
        &[
            "/environment/interpreter_sha256",
            "/environment/python_version",
            "/environment/sandbox/landlock",
            "/environment/sandbox/limits",
            "/environment/sandbox/seccomp",
        ],
    ),
    ("digests a manifest whose prose is the producer's, which is not at hand", &["/contract/manifest_sha256"]),
    (
        "fixes fresh vectors, of which only those answered otherwise are listed: here none",
        &["/contract/generated", "/contract/seed"],
    ),
    (
        "is a bound that was in force; what stayed within it stays within others",
        &[
            "/limits/answer_seconds",
            "/limits/file_bytes",
            "/limits/import_seconds",
            "/limits/inflated_bytes",
            "/limits/objects",
            "/limits/package_bytes",
            "/limits/package_files",
            "/limits/probe_bytes",
            "/limits/seconds",
            "/limits/tree_bytes",
        ],
    ),
    ("is a path of the host", &["/run/base_prefix", "/run/environment_root", "/run/sdk_root"]),
    (
        "is a time by a clock of the host",
        &[
            "/run/duration_ms",
            "/run/finished_at",
            "/run/stages/behaviour",
            "/run/stages/environment",
            "/run/stages/graph",
            "/run/stages/inventory",
            "/run/stages/snapshot",
            "/run/started_at",
        ],
    ),
];

/// Where besides nothing in a report that passed says otherwise, and why.
pub const BEYOND_A_PASS: &[(&str, &[&str])] = &[
    (
        "identifies a machine's libraries and kernel, which are not at hand",
        &[
            "/environment/standard_library_sha256",
            "/module/loaded less one",
            "/module/loaded/*/kind",
            "/module/loaded/*/name",
            "/module/loaded/*/origin",
            "/pair/sandbox/landlock",
            "/pair/sandbox/limits",
            "/pair/sandbox/seccomp",
        ],
    ),
    ("is a time by a clock of the host", &["/run/stages/pair"]),
    (
        "digests a record that is not at hand; --record holds it against the latter",
        &["/record/after_sha256", "/record/before_sha256"],
    ),
    ("is a path of the host", &["/run/record"]),
];

/// Where besides nothing in a report that did not pass says otherwise, and why.
pub const BEYOND_A_NO: &[(&str, &[&str])] = &[
    (
        "says what was found in a subject that is not at hand",
        &[
            "/checks/*/findings less one",
            "/checks/*/findings one twice",
            "/checks/*/findings swapped",
            "/checks/*/findings/*/actual",
            "/checks/*/findings/*/expected",
            "/checks/*/findings/*/hint",
            "/checks/*/findings/*/subject",
        ],
    ),
    (
        "says why a record that is not at hand was left alone",
        &["/record/refused/actual", "/record/refused/expected", "/record/refused/hint", "/record/refused/subject"],
    ),
    ("is a check among several that came to nothing: still no yes", &["/checks/*/status"]),
    ("was asked for, and no module that agrees was seen", &["/subject/version"]),
    ("is a path of the host that nobody looked at", &["/run/release_artifact"]),
];

/// The places of such lists.
pub fn places(lists: &[&[(&str, &[&str])]]) -> BTreeSet<String> {
    lists.iter().copied().flatten().flat_map(|(_, places)| places.iter().map(|place| (*place).to_owned())).collect()
}
