//! `validate` and `manifest`, as their callers see them.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use paired_sdk_gate::contract::Contract;
use serde_json::{Value, json};

use crate::support::gate::{Outcome, gate};

fn with_input(command: &mut Command, input: &[u8]) -> Outcome {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Outcome { code: output.status.code().unwrap(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

fn validate(arguments: &[&str], input: &str) -> Outcome {
    with_input(gate().arg("validate").args(arguments), input.as_bytes())
}

/// The object, which has to satisfy the schema that `schema` prints.
#[track_caller]
fn told(outcome: &Outcome, document: &str) -> Value {
    let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("fixtures/{document}-v1.schema.json"));
    let schema = serde_json::from_str(&std::fs::read_to_string(committed).unwrap()).unwrap();
    let object = outcome.json();
    let errors: Vec<_> =
        jsonschema::draft202012::new(&schema).unwrap().iter_errors(&object).map(|error| error.to_string()).collect();
    assert_eq!(errors, [""; 0]);
    object
}

#[test]
fn the_committed_schemas_are_the_printed_ones() {
    for document in
        ["validation", "manifest-check", "status", "check", "record", "attestation", "audit", "doctor", "pair"]
    {
        let path = format!("fixtures/{document}-v1.schema.json");
        let printed = Outcome::of(gate().args(["schema", document]));
        let committed = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(&path)).unwrap();
        assert!(printed.stdout == committed, "write it anew: cargo run -- schema {document} > {path}");
    }
}

#[test]
fn accepted_arguments_come_with_their_normal_form() {
    let text = r#"{"sync_stages":["sdn"],"recurrence":{"hours":6.0},"job_name":" six\u0007 ","schedule_at":"2100-01-01T00:59:60+01:00"}"#;
    let human = validate(&["arguments", "--tool", "schedule_sync", "-"], text);
    let stored = r#"{"sync_types":["sdn"],"job_name":"six\u0007","schedule_at":"2100-01-01T00:00:00Z","interval":360,"proxmox_endpoint_ids":null}"#;
    assert_eq!((human.code, human.stdout, human.stderr), (0, format!("ACCEPTED: {stored}\n"), String::new()));
    let json = validate(&["arguments", "--tool", "schedule_sync", "-", "--format", "json"], text);
    assert_eq!(json.code, 0);
    let expected = json!({
        "schema": "paired-sdk-gate/validation/v1",
        "payload": "arguments",
        "tool": "schedule_sync",
        "input_sha256": paired_sdk_gate::digest::sha256(text.as_bytes()),
        "accepted": true,
        "reasons": [],
        "left_off": 0,
        "normalised": serde_json::from_str::<Value>(stored).unwrap(),
    });
    assert_eq!(told(&json, "validation"), expected);
}

#[test]
fn a_refusal_names_every_place_in_every_format() {
    let text = r#"{"ok":1,"job_id":9007199254740992.0,"message":"\u001b[31m","more":null}"#;
    let arguments = ["response", "--tool", "schedule_sync", "-"];
    let reasons = [
        "/ok: expected true, found 1 (const)",
        "/job_id: expected integer or null, found 9007199254740992.0 (integer)",
        "/more: expected no such member, found null (additionalProperties)",
    ];
    let human = validate(&arguments, text);
    assert_eq!((human.code, human.stderr.as_str()), (1, ""));
    assert_eq!(human.stdout.lines().collect::<Vec<_>>(), [&reasons[..], &["REFUSED: 3 reasons"]].concat());
    let quiet = validate(&[&arguments[..], &["--quiet"]].concat(), text);
    assert_eq!((quiet.code, quiet.stdout.as_str()), (1, "REFUSED: 3 reasons\n"));
    let json = validate(&[&arguments[..], &["--format", "json"]].concat(), text);
    assert_eq!((json.code, &json.stderr), (1, &human.stdout));
    let object = told(&json, "validation");
    let pointers: Vec<_> = object["reasons"].as_array().unwrap().iter().map(|reason| &reason["pointer"]).collect();
    assert_eq!(pointers, ["/ok", "/job_id", "/more"]);
    assert_eq!((&object["accepted"], &object["normalised"]), (&json!(false), &Value::Null));

    let escapes = validate(&["response", "--tool", "list_sync_jobs", "-"], "{\"\u{9b}31m\":1}");
    assert!(!escapes.stdout.contains('\u{9b}') && escapes.stdout.contains("\\u{9b}31m"), "{}", escapes.stdout);
    let bytes = with_input(gate().args(["validate", "manifest", "-"]), b"\xff");
    assert_eq!(
        (bytes.code, bytes.stdout.as_str()),
        (1, "(the whole input): expected UTF-8, found another byte at 0 (json)\nREFUSED: 1 reason\n")
    );
}

#[test]
fn usage_is_2_and_what_cannot_be_read_is_3() {
    for (arguments, words) in [
        (&["arguments", "-"][..], "error: --tool is needed: list_sync_jobs or schedule_sync\n"),
        (&["response", "--tool", "x", "-"], "error: --tool: expected list_sync_jobs or schedule_sync, found \"x\"\n"),
        (&["manifest", "--tool", "schedule_sync", "-"], "error: --tool does not go with a manifest\n"),
    ] {
        let outcome = validate(arguments, "");
        assert_eq!((outcome.code, outcome.stdout.as_str(), outcome.stderr.as_str()), (2, "", words));
    }
    assert_eq!(validate(&["request", "-"], "").code, 2);
    for verb in [&["validate", "manifest"][..], &["manifest", "--check"]] {
        let next = "  next: name a file with one JSON document, or `-` for standard input\n";
        let missing = Outcome::of(gate().args(verb).arg("/nowhere"));
        assert_eq!((missing.code, missing.stdout.as_str()), (3, ""));
        assert!(missing.stderr.starts_with("error: cannot read /nowhere: "), "{}", missing.stderr);
        let long = with_input(gate().args(verb).arg("-"), &vec![b' '; (1 << 20) + 1]);
        assert_eq!((long.code, long.stderr.as_str()), (3, &*format!("error: - is longer than 1048576 bytes\n{next}")));
    }
}

#[test]
fn the_printed_manifest_is_the_embedded_one_and_equal_to_itself() {
    let printed = Outcome::of(gate().arg("manifest"));
    assert_eq!((printed.code, printed.stdout.as_str()), (0, Contract::bridge_v1().manifest()));
    let check = |text: &str, format: &str| {
        with_input(gate().args(["manifest", "--check", "-", "--format", format]), text.as_bytes())
    };
    let other_words = printed.stdout.replace("Proxbox jobs", "Other words");
    let equal = check(&other_words, "human");
    assert_eq!((equal.code, equal.stdout.as_str()), (0, "EQUAL to proxbox-bridge-v1 but for its prose\n"));

    let drifted = printed.stdout.replace("\"maximum\": 1491308", "\"maximum\": 1491308.0").replace("\"sdn\",", "");
    let different = check(&drifted, "human");
    let at = "/tools/1/inputSchema/properties";
    let expected = [
        format!("{at}/sync_stages/items/enum/9: expected \"sdn\", found \"backup-routines\""),
        format!("{at}/sync_stages/items/enum/10: expected \"backup-routines\", found \"replications\""),
        format!("{at}/sync_stages/items/enum/11: expected \"replications\", found \"task-history\""),
        format!("{at}/sync_stages/items/enum/12: expected \"task-history\", found nothing"),
        format!("{at}/recurrence/properties/days/maximum: expected 1491308, found 1491308.0"),
        "next: `paired-sdk-gate manifest` prints the contract's; take each place from there".to_owned(),
        "DIFFERENT: 5 differences".to_owned(),
    ];
    assert_eq!(
        (different.code, different.stdout.lines().collect::<Vec<_>>()),
        (1, expected.iter().map(String::as_str).collect())
    );
    let object = told(&check(&drifted, "json"), "manifest-check");
    assert_eq!((&object["equal"], object["differences"].as_array().unwrap().len()), (&json!(false), 5));

    let broken = check(&printed.stdout.replacen("sync/schedule/", "/", 1), "human");
    assert_eq!(broken.code, 1);
    assert_eq!(
        broken.stdout,
        "/tools/0/path: expected a relative path without empty, . and .. segments, found \"\" (path)\n\
         /tools/0/path: expected \"sync/schedule/\", found \"/\"\n\
         next: `paired-sdk-gate manifest` prints the contract's; take each place from there\n\
         DIFFERENT: 1 difference, and no manifest of bridge v1: 1 reason\n"
    );
    let none = check("[", "human");
    assert_eq!(
        (none.code, none.stdout.lines().last()),
        (1, Some("DIFFERENT: 0 differences, and no manifest of bridge v1: 1 reason"))
    );
}
