//! The contract's data, and the demo SDK that has to honour it.

use std::collections::{BTreeMap, HashSet};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use paired_sdk_gate::contract::advisory::advisories;
use paired_sdk_gate::contract::json::Json;
use paired_sdk_gate::contract::manifest::contract_part;
use paired_sdk_gate::contract::{
    Contract, DEMO_SDK, DEMO_VERSION, DEMO_WRONG_ROUNDING, Question, Topic, Vector, Verdict, generate,
};
use sha2::{Digest, Sha256};

fn vectors() -> &'static [Vector] {
    Contract::bridge_v1().vectors().unwrap()
}

#[test]
fn the_manifest_is_the_published_one_but_for_its_prose() {
    // Computed from tests/fixtures/proxbox_bridge_v1.json of the producer's sdist 0.0.29.post6.
    let published = "2deeb1c5fb280620c3770a8d26530004c00d385de27dbd9b14e14a6746182f1c";
    let digest = |manifest: &str| -> String {
        Sha256::digest(contract_part(&Json::parse(manifest).unwrap()).to_string())
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    };
    let ours = Contract::bridge_v1().manifest();
    assert_eq!(digest(ours), published);
    assert_eq!(digest(&ours.replace("Proxbox jobs", "Other words")), published);
    for (from, to) in [
        ("\"minimum\": 0", "\"minimum\": 0.0"),
        ("\"const\": true", "\"const\": 1"),
        ("\"sdn\",", ""),
        ("9223372036854775807", "9223372036854775808"),
        ("\"schema_version\": \"1\"", "\"schema_version\": 1"),
    ] {
        assert!(ours.contains(from), "{from}");
        assert_ne!(digest(&ours.replace(from, to)), published, "{from}");
    }
}

#[test]
fn every_vector_has_a_plain_unique_id_and_is_asked_of_a_tool_of_the_manifest() {
    let mut ids = HashSet::new();
    for vector in vectors() {
        assert!(ids.insert(&vector.id), "{}", vector.id);
        let plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'/');
        assert!(vector.id.bytes().all(plain) && vector.id.split('/').all(|part| !part.is_empty()), "{}", vector.id);
        assert!(Json::parse(&vector.input).is_ok(), "{}", vector.id);
        let (area, tool) = match &vector.question {
            Question::Arguments { tool } => ("arguments", tool.as_str()),
            Question::Response { tool } if tool == "list_sync_jobs" => ("list", tool.as_str()),
            Question::Response { tool } => ("schedule", tool.as_str()),
            Question::Manifest => ("manifest", "list_sync_jobs"),
        };
        assert!(vector.id.starts_with(&format!("{area}/")), "{}", vector.id);
        assert!(["list_sync_jobs", "schedule_sync"].contains(&tool), "{}", vector.id);
    }
}

#[test]
fn no_question_is_asked_twice_with_different_verdicts() {
    let mut verdicts = BTreeMap::new();
    for vector in vectors() {
        let question = (format!("{:?}", vector.question), vector.input.as_str());
        let earlier = verdicts.insert(question, vector.expected);
        assert!(earlier.is_none_or(|verdict| verdict == vector.expected), "{}", vector.id);
    }
}

#[test]
fn every_contract_and_every_function_has_vectors_of_both_verdicts() {
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for vector in vectors() {
        *counts.entry((vector.topic.name(), vector.expected.name())).or_default() += 1;
        let area = vector.id.split('/').next().unwrap();
        *counts.entry((area, vector.expected.name())).or_default() += 1;
    }
    let counts: Vec<_> =
        counts.into_iter().map(|((group, verdict), count)| format!("{group} {verdict} {count}")).collect();
    let expected = [
        "arguments accept 156",
        "arguments reject 266",
        "bounded-rfc3339-normalization accept 130",
        "bounded-rfc3339-normalization reject 176",
        "bridge-v1-schema accept 99",
        "bridge-v1-schema reject 363",
        "list accept 132",
        "list reject 219",
        "lossless-json-integer-identity accept 114",
        "lossless-json-integer-identity reject 201",
        "manifest accept 32",
        "manifest reject 200",
        "schedule accept 23",
        "schedule reject 55",
    ];
    assert_eq!(counts, expected);
}

#[test]
fn the_cases_the_specification_names_are_vectors() {
    let expected = |topic: Topic, fragment: &str| -> Vec<Verdict> {
        let about = |vector: &&Vector| vector.topic == topic && vector.input.contains(fragment);
        let verdicts: HashSet<_> = vectors().iter().filter(about).map(|vector| vector.expected).collect();
        verdicts.into_iter().collect()
    };
    for (topic, fragment, verdict) in [
        (Topic::DateTime, "\"2099-12-31T23:59:60Z\"", Verdict::Accept),
        (Topic::DateTime, "\"2100-01-01T00:59:60+01:00\"", Verdict::Accept),
        (Topic::DateTime, "\"2099-12-31T18:59:60-05:00\"", Verdict::Accept),
        (Topic::DateTime, "\"2026-08-12T12:34:60Z\"", Verdict::Reject),
        (Topic::DateTime, "\"9999-12-31T23:59:60Z\"", Verdict::Reject),
        (Topic::DateTime, "\"9999-12-31T23:59:59-23:59\"", Verdict::Reject),
        (Topic::DateTime, "\"9999-12-31T23:59:60+23:59\"", Verdict::Reject),
        (Topic::DateTime, "\"0001-01-01T00:00:00+23:59\"", Verdict::Reject),
        (Topic::DateTime, "\"2099-12-31T23:59:60+01:00\"", Verdict::Reject),
        (Topic::DateTime, "\"2099-12-30T23:59:60Z\"", Verdict::Reject),
        (Topic::Integer, "[9223372036854775807]", Verdict::Accept),
        (Topic::Integer, "[9223372036854775808]", Verdict::Reject),
        (Topic::Integer, "[9007199254740991.0]", Verdict::Accept),
        (Topic::Integer, "[9007199254740992.0]", Verdict::Reject),
        (Topic::Integer, "{\"minutes\":2147483647}", Verdict::Accept),
        (Topic::Integer, "{\"minutes\":2147483648}", Verdict::Reject),
        (Topic::Integer, "{\"hours\":35791394}", Verdict::Accept),
        (Topic::Integer, "{\"hours\":35791395}", Verdict::Reject),
        (Topic::Integer, "{\"hours\":6.0}", Verdict::Accept),
        (Topic::Integer, "{\"days\":1491308}", Verdict::Accept),
        (Topic::Integer, "{\"days\":1491309}", Verdict::Reject),
        (Topic::Integer, "{\"weeks\":213044}", Verdict::Accept),
        (Topic::Integer, "{\"weeks\":213045}", Verdict::Reject),
        (Topic::Schema, "\"sync_stages\":[\"all\"]", Verdict::Reject),
        (Topic::Schema, "\"interval_unit\"", Verdict::Reject),
        (Topic::Schema, "\"netbox_endpoint_ids\"", Verdict::Reject),
    ] {
        assert_eq!(expected(topic, fragment), [verdict], "{fragment}");
    }
}

/// Writes the demo SDK under `root`, `edit` applied to each file's text.
fn write_demo(root: &Path, edit: impl Fn(&str, &str) -> String) {
    for (path, text) in DEMO_SDK {
        let target = root.join(path);
        std::fs::create_dir_all(target.parent().unwrap()).unwrap();
        std::fs::write(target, edit(path, text)).unwrap();
    }
}

/// Asks the SDK under `root`; what it said, by the id given with the question.
pub fn ask(python: &Path, root: &Path, questions: &[(String, &str, &str, &str)]) -> BTreeMap<String, String> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/bridge_v1/manifest.json");
    let judge = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/contract_judge.py");
    let mut child = Command::new(python)
        .args(["-I", "-B"])
        .args([&judge, root, &manifest])
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines: String = questions
        .iter()
        .map(|(id, question, tool, input)| {
            serde_json::json!({"id": id, "question": question, "tool": tool, "input": input}).to_string() + "\n"
        })
        .collect();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(lines.as_bytes()).unwrap());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    writer.join().unwrap();
    let output = String::from_utf8(output.stdout).unwrap();
    output
        .lines()
        .map(|line| line.split_once('\t').unwrap())
        .map(|(id, said)| (id.to_owned(), said.to_owned()))
        .collect()
}

/// Puts every vector to the SDK under `root`; the ids it answered otherwise than the contract demands, with what it
/// said.
fn failures(root: &Path) -> Vec<String> {
    let contract = Contract::demo();
    let questions: Vec<_> = vectors()
        .iter()
        .map(|vector| {
            let (question, tool) = match &vector.question {
                Question::Arguments { tool } => ("arguments", tool.as_str()),
                Question::Response { tool } => ("response", tool.as_str()),
                Question::Manifest => ("manifest", ""),
            };
            (vector.id.clone(), question, tool, vector.input.as_str())
        })
        .collect();
    let answers = ask(Path::new("python3"), root, &questions);
    assert_eq!(answers.len(), vectors().len());
    let mut failures = Vec::new();
    for vector in vectors() {
        let demanded = match (vector.expected, &vector.question) {
            (Verdict::Accept, _) => "accept",
            (Verdict::Reject, Question::Manifest) => contract.manifest_rejection,
            (Verdict::Reject, _) => contract.payload_rejection,
        };
        let said = &answers[&vector.id];
        if said != demanded {
            failures.push(format!("{}: {said}", vector.id));
        }
    }
    failures
}

#[test]
fn the_demo_sdk_honours_every_vector() {
    let root = tempfile::tempdir().unwrap();
    write_demo(root.path(), |_, text| text.to_owned());
    assert_eq!(failures(root.path()), [""; 0]);
}

/// Where it differs, one of the readings of the released SDKs is its own too: it is asked what Python's parser left.
#[test]
fn the_demo_sdk_honours_fresh_vectors() {
    let root = tempfile::tempdir().unwrap();
    write_demo(root.path(), |_, text| text.to_owned());
    let vectors: Vec<_> = (0..2).flat_map(|seed| generate(seed, 2_000)).collect();
    let questions: Vec<_> = vectors
        .iter()
        .enumerate()
        .map(|(index, vector)| {
            let (question, tool) = match &vector.question {
                Question::Arguments { tool } => ("arguments", tool.as_str()),
                Question::Response { tool } => ("response", tool.as_str()),
                Question::Manifest => ("manifest", ""),
            };
            (index.to_string(), question, tool, vector.input.as_str())
        })
        .collect();
    let answers = ask(Path::new("python3"), root.path(), &questions);
    let differs = |(index, vector): (usize, &Vector)| {
        let said = &answers[&index.to_string()];
        let demanded = (said == "accept") == (vector.expected == Verdict::Accept);
        let explained = advisories(&vector.question, &vector.input);
        (!demanded && explained.is_empty()).then(|| format!("{said}: {}", vector.input))
    };
    let unexplained: Vec<_> = vectors.iter().enumerate().filter_map(differs).collect();
    assert_eq!(unexplained, [""; 0]);
}

#[test]
fn the_planted_rounding_mistake_fails_on_large_floats_and_nowhere_else() {
    let (from, to) = DEMO_WRONG_ROUNDING;
    let occurrences: usize = DEMO_SDK.iter().map(|(_, text)| text.matches(from).count()).sum();
    assert_eq!(occurrences, 1);
    let root = tempfile::tempdir().unwrap();
    write_demo(root.path(), |_, text| text.replace(from, to));
    let names = ["above-safe-exponent", "above-safe-float", "above-safe-odd-float", "ten-quadrillion-exponent"];
    let places = ["arguments/endpoint-ids", "list/id", "list/pk", "schedule/job-id"];
    let mut expected: Vec<_> =
        places.iter().flat_map(|place| names.iter().map(move |name| format!("{place}/{name}: accept"))).collect();
    expected.push("list/count/above-safe-float: accept".to_owned());
    let mut found = failures(root.path());
    expected.sort();
    found.sort();
    assert_eq!(found, expected);
}

#[test]
fn a_mistake_in_any_rule_of_the_demo_sdk_is_seen() {
    for (from, to) in [
        ("return instant == datetime(instant.year, instant.month, 1)", "return instant.hour == 0"),
        ("LARGEST_EXACT = 2**53 - 1", "LARGEST_EXACT = 2**53"),
        ("LARGEST_EXACT = 2**53 - 1", "LARGEST_EXACT = 2**53 - 2"),
        ("\"minimum\": lambda value, bound: value >=", "\"minimum\": lambda value, bound: value >"),
        ("\"maximum\": lambda value, bound: value <=", "\"maximum\": lambda value, bound: value <"),
        (
            "\"minItems\": (list, lambda size, bound: size >=",
            "\"minItems\": (list, lambda size, bound: True or size >=",
        ),
        (
            "\"maxProperties\": (dict, lambda size, bound: size <=",
            "\"maxProperties\": (dict, lambda size, bound: True or size <=",
        ),
        ("if name not in value:", "if False:"),
        ("1 <= len(value) <= longest", "len(value) <= longest"),
        ("document[\"schema_version\"] == \"1\"", "str(document[\"schema_version\"]) == \"1\""),
        ("if second > 60 or", "if second > 61 or"),
        ("[Tt]", "[Tt ]"),
        ("([0-9]{4})", r"(\d{4})"),
        ("(?:[Zz]|", "(?:|[Zz]|"),
        ("offset_hour > 23", "offset_hour > 24"),
        ("-offset if sign == \"-\" else offset", "offset"),
        ("and not isinstance(value, bool)\n", "\n"),
        ("{_exact(item) for item in value}", "{repr(item) for item in value}"),
        ("schema.get(\"additionalProperties\") is False", "True"),
        ("keyword in _KEYWORDS, where", "True, where"),
        ("{\".\", \"..\"}.isdisjoint", "{\".\"}.isdisjoint"),
        (
            "\"maxLength\": (str, lambda size, bound: size <= bound)",
            "\"maxLength\": (str, lambda size, bound: size < bound)",
        ),
    ] {
        let root = tempfile::tempdir().unwrap();
        let mut replaced = 0;
        for (_, text) in DEMO_SDK {
            replaced += text.matches(from).count();
        }
        assert_eq!(replaced, 1, "{from}");
        write_demo(root.path(), |_, text| text.replace(from, to));
        assert_ne!(failures(root.path()), [""; 0], "{from}");
    }
}

#[test]
fn the_demo_sdk_reads_documents_exactly() {
    let root = tempfile::tempdir().unwrap();
    write_demo(root.path(), |_, text| text.to_owned());
    let rejected = Contract::demo().payload_rejection;
    let cases = [
        ("7.0", "accept"),
        ("70e-1", "accept"),
        ("9007199254740991.0", "accept"),
        ("9223372036854775807", "accept"),
        ("7.0000000000000000000000001", rejected),
        ("4503599627370497.5", rejected),
        ("9007199254740991.00000000000000000000000000000001", rejected),
        ("9007199254740992.0", rejected),
        ("1e999999999999", rejected),
        ("1e-999999999999", rejected),
        ("NaN", rejected),
        ("Infinity", rejected),
        ("7,\"job_id\":8", rejected),
    ];
    let inputs = cases.map(|(number, _)| format!(r#"{{"ok":true,"job_id":{number},"message":"m"}}"#));
    let questions: Vec<_> = cases
        .iter()
        .zip(&inputs)
        .map(|((id, _), input)| ((*id).to_owned(), "document", "schedule_sync", input.as_str()))
        .collect();
    let expected: BTreeMap<_, _> = cases.iter().map(|(id, said)| ((*id).to_owned(), (*said).to_owned())).collect();
    assert_eq!(ask(Path::new("python3"), root.path(), &questions), expected);
}

#[test]
fn the_demo_contract_is_bridge_v1_with_a_subject_of_its_own() {
    let (real, demo) = (Contract::bridge_v1(), Contract::demo());
    assert_eq!(demo.name, "demo-bridge-v1");
    assert_eq!(demo.dependencies, [""; 0]);
    assert_eq!(demo.module_name(), "netbox_sdk.plugin_bridge");
    assert_eq!(demo.manifest_sha256(), real.manifest_sha256());
    assert_eq!(demo.vectors_sha256(), real.vectors_sha256());
    assert!(DEMO_SDK.iter().any(|(path, _)| *path == demo.module_origin));
    let declared = format!("\n__version__ = \"{DEMO_VERSION}\"\n");
    assert!(DEMO_SDK.iter().any(|(path, text)| *path == "netbox_sdk/__init__.py" && text.ends_with(&declared)));
    let project = format!("\nversion = \"{DEMO_VERSION}\"\n");
    assert!(DEMO_SDK.iter().any(|(path, text)| *path == "pyproject.toml" && text.contains(&project)));
    let digest = |path: &str| -> String {
        let bytes = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/bridge_v1").join(path)).unwrap();
        Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
    };
    assert_eq!(real.manifest_sha256(), digest("manifest.json"));
    assert_eq!(real.vectors_sha256(), digest("vectors.toml"));
}
