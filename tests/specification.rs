//! From the specification to the contract: its JSON examples, the bounds of its tables and its sentences with numbers, as far
//! as they are about payloads and manifests. Each row quotes what it tests.

use paired_sdk_gate::contract::json::Json;
use paired_sdk_gate::contract::manifest::{Effect, LARGEST_ID, LARGEST_INTERVAL, Manifest, Method, STAGES, UNITS};
use paired_sdk_gate::contract::{Oracle, Question, Verdict};

fn arguments(tool: &str) -> Question {
    Question::Arguments { tool: tool.into() }
}

fn response(tool: &str) -> Question {
    Question::Response { tool: tool.into() }
}

/// The rules that refuse a text; none if it is accepted.
fn refused_by(question: &Question, text: &str) -> Vec<&'static str> {
    let mut rules: Vec<_> =
        Oracle::bridge_v1().judge(question, text).reasons.into_iter().map(|reason| reason.rule).collect();
    rules.sort_unstable();
    rules.dedup();
    rules
}

fn normalised(question: &Question, text: &str) -> String {
    Oracle::bridge_v1().normalised(question, text).map_or_else(String::new, |value| value.to_string())
}

/// A member of an example, as text.
fn member(example: &str, name: &str) -> String {
    let Json::Object(members) = Json::parse(example).unwrap() else { panic!("{example}") };
    members.into_iter().find(|(found, _)| found == name).unwrap().1.to_string()
}

/// A sentence or row of the specification, member and value that it is about, and what refuses that; nothing accepts it.
type Row = (&'static str, &'static str, &'static str, &'static [&'static str]);

/// Puts rows to `schedule_sync`: the member is added to the smallest arguments, or replaces what they have.
#[track_caller]
fn check(rows: &[Row]) {
    for (sentence, name, value, rules) in rows {
        let stages = if *name == "sync_stages" { "" } else { r#""sync_stages":["sdn"],"# };
        let text = format!(r#"{{{stages}"{name}":{value}}}"#);
        assert_eq!(refused_by(&arguments("schedule_sync"), &text), *rules, "{sentence}: {text}");
    }
}

#[test]
fn the_json_examples() {
    // "The input is a strict empty object." and the result below it.
    let call = r#"{"plugin": "proxbox", "tool": "list_sync_jobs", "arguments": {}, "dry_run": false}"#;
    assert_eq!(normalised(&arguments("list_sync_jobs"), &member(call, "arguments")), "{}");
    let result = r#"{"plugin": "proxbox", "tool": "list_sync_jobs", "effect": "read", "status": 200,
        "headers": {"Content-Type": "application/json"},
        "body": {"count": 1, "scheduled_jobs": [{"id": 42, "pk": 42, "name": "nightly-inventory", "sync_types": ["all"],
        "schedule": "2099-01-15T03:00:00Z", "interval": 1440, "status": "scheduled"}]}}"#;
    let body = member(result, "body");
    assert_eq!(normalised(&response("list_sync_jobs"), &body), body);

    for (call, stored) in [
        // "Immediate all-endpoint sync"
        (
            r#"{"arguments": {"sync_stages": ["virtual-machines", "storage", "vm-disks", "vm-backups", "vm-snapshots", "devices",
            "network-interfaces", "vm-interfaces", "ip-addresses", "sdn", "backup-routines", "replications", "task-history"],
            "job_name": "operator-requested-full-sync"}, "dry_run": false}"#,
            r#"{"sync_types":["all"],"job_name":"operator-requested-full-sync","schedule_at":null,"interval":null,"proxmox_endpoint_ids":null}"#,
        ),
        // "Future scoped sync"
        (
            r#"{"arguments": {"sync_stages": ["virtual-machines", "storage"], "job_name": "maintenance-window-inventory",
            "schedule_at": "2099-01-15T03:00:00Z", "proxmox_endpoint_ids": [7, 9]}, "dry_run": false}"#,
            r#"{"sync_types":["virtual-machines","storage"],"job_name":"maintenance-window-inventory","schedule_at":"2099-01-15T03:00:00Z","interval":null,"proxmox_endpoint_ids":[7,9]}"#,
        ),
        // "Recurring sync": "The interval is stored in minutes; this example becomes 360 minutes."
        (
            r#"{"arguments": {"sync_stages": ["devices", "network-interfaces"], "job_name": "six-hour-inventory",
            "recurrence": {"hours": 6}, "proxmox_endpoint_ids": [7]}, "dry_run": false}"#,
            r#"{"sync_types":["devices","network-interfaces"],"job_name":"six-hour-inventory","schedule_at":null,"interval":360,"proxmox_endpoint_ids":[7]}"#,
        ),
    ] {
        assert_eq!(normalised(&arguments("schedule_sync"), &member(call, "arguments")), stored);
    }

    // "Success response"
    let success = r#"{"status": 201, "body": {"ok": true, "job_id": 314, "message": "Sync job queued for immediate execution."}}"#;
    assert_eq!(refused_by(&response("schedule_sync"), &member(success, "body")), [""; 0]);
    // "The following is the target endpoint's direct HTTP body, not a successful plugin_call_tool result."
    let errors = r#"{"errors": {"proxmox_endpoint_ids": ["Unknown or disabled endpoint ID(s): [99]"]}}"#;
    assert_eq!(refused_by(&response("schedule_sync"), errors), ["additionalProperties", "required"]);
}

#[test]
fn the_tool_catalog() {
    // "list_sync_jobs	GET sync/schedule/	read	yes	no" and "schedule_sync	POST sync/schedule/	destructive	no	yes"
    let manifest = Manifest::bridge_v1();
    let told = manifest.tools.iter().map(|tool| {
        let hints = (tool.annotations.idempotent, tool.annotations.open_world);
        (tool.name.as_str(), tool.method, tool.path.as_str(), tool.effect, hints)
    });
    assert_eq!(
        told.collect::<Vec<_>>(),
        [
            ("list_sync_jobs", Method::Get, "sync/schedule/", Effect::Read, (true, false)),
            ("schedule_sync", Method::Post, "sync/schedule/", Effect::Destructive, (false, true)),
        ]
    );
    // "Require schema_version == "1"": a string, and no other.
    assert_eq!(member(&manifest.to_json().to_string(), "schema_version"), "\"1\"");
}

#[test]
fn sync_stages_are_a_set_of_thirteen() {
    // "Nonempty, unique list of the 13 concrete manifest-declared slugs."
    assert_eq!(STAGES.len(), 13);
    check(&[
        ("Nonempty, unique list of the 13 concrete manifest-declared slugs.", "sync_stages", "[]", &["minItems"]),
        ("duplicate sync stages, an empty sync_stages list", "sync_stages", r#"["sdn","sdn"]"#, &["uniqueItems"]),
        ("Bridge v1 does not advertise the legacy \"all\" sentinel.", "sync_stages", r#"["all"]"#, &["enum"]),
    ]);
    // "Every proper subset remains an explicit stage list."
    let twelve: Vec<_> = STAGES[1..].iter().map(|stage| format!("{stage:?}")).collect();
    let text = format!(r#"{{"sync_stages":[{}]}}"#, twelve.join(","));
    assert!(
        normalised(&arguments("schedule_sync"), &text).contains(&format!(r#""sync_types":[{}]"#, twelve.join(",")))
    );
    // "sync_stages	yes": it is required.
    assert_eq!(refused_by(&arguments("schedule_sync"), "{}"), ["required"]);
}

#[test]
fn a_job_name_has_at_most_200_characters() {
    let question = arguments("schedule_sync");
    let named = |name: &str| format!(r#"{{"sync_stages":["sdn"],"job_name":"{name}"}}"#);
    // "String of at most 200 characters."
    for character in ["x", "ä", "😀"] {
        assert_eq!(refused_by(&question, &named(&character.repeat(200))), [""; 0]);
        assert_eq!(refused_by(&question, &named(&character.repeat(201))), ["maxLength"]);
    }
    // "Whitespace at the edges is removed before enqueue; an empty value uses the default job name."
    assert!(normalised(&question, &named("\\t n \\n")).contains(r#""job_name":"n""#));
    assert!(normalised(&question, &named("  ")).contains(r#""job_name":null"#));
}

#[test]
fn schedule_at_is_a_strict_date_time() {
    let offset = "Strict RFC 3339 date-time with an explicit Z or numeric offset";
    let leap = "A :60 value is accepted only when the normalized UTC instant crosses a month boundary";
    let example = "while 2026-08-12T12:34:60Z, 9999-12-31T23:59:60Z, and 9999-12-31T23:59:59-23:59 reject";
    check(&[
        (offset, "schedule_at", r#""2099-01-15T03:00:00Z""#, &[]),
        (offset, "schedule_at", r#""2099-01-15T03:00:00""#, &["date-time"]),
        ("Omit or send null for immediate execution", "schedule_at", "null", &[]),
        (leap, "schedule_at", r#""2099-12-31T23:59:60Z""#, &[]),
        (leap, "schedule_at", r#""2099-12-30T23:59:60Z""#, &["date-time"]),
        (example, "schedule_at", r#""2026-08-12T12:34:60Z""#, &["date-time"]),
        (example, "schedule_at", r#""9999-12-31T23:59:60Z""#, &["date-time"]),
        (example, "schedule_at", r#""9999-12-31T23:59:59-23:59""#, &["date-time"]),
    ]);
    // "2100-01-01T00:59:60+01:00 is the same accepted instant as 2099-12-31T23:59:60Z"
    let at = |text: &str| {
        normalised(&arguments("schedule_sync"), &format!(r#"{{"sync_stages":["sdn"],"schedule_at":"{text}"}}"#))
    };
    assert_eq!(at("2100-01-01T00:59:60+01:00"), at("2099-12-31T23:59:60Z"));
    assert!(at("2099-12-31T23:59:60Z").contains("2100-01-01T00:00:00Z"));
}

#[test]
fn a_recurrence_is_exactly_one_bounded_unit() {
    // "The exact recurrence maxima are 2147483647 minutes, 35791394 hours, 1491308 days, or 213044 weeks." and "the next
    // integer for any unit is HTTP 400".
    for (unit, most) in [("minutes", 2_147_483_647_u64), ("hours", 35_791_394), ("days", 1_491_308), ("weeks", 213_044)]
    {
        let text = |count: u64| format!(r#"{{"sync_stages":["sdn"],"recurrence":{{"{unit}":{count}}}}}"#);
        assert_eq!(refused_by(&arguments("schedule_sync"), &text(most)), [""; 0], "{unit}");
        assert_eq!(refused_by(&arguments("schedule_sync"), &text(most + 1)), ["maximum"], "{unit}");
        // "Each maximum converts to no more than the NetBox Job PositiveIntegerField ceiling of 2147483647 minutes"
        let minutes = UNITS.iter().find(|known| known.name == unit).unwrap().minutes;
        assert!(most * minutes <= LARGEST_INTERVAL && (most + 1) * minutes > LARGEST_INTERVAL);
    }
    let one = "Object containing exactly one of minutes, hours, days, or weeks";
    let positive = "with a positive JSON Schema integer";
    let integral =
        "A finite mathematically integral JSON number such as 6.0 is an integer and is normalized to Python int";
    let others = "booleans, strings, nonintegral numbers, and non-finite numbers are rejected";
    check(&[
        (one, "recurrence", "{}", &["minProperties"]),
        (one, "recurrence", r#"{"hours":1,"days":1}"#, &["maxProperties"]),
        (one, "recurrence", r#"{"months":1}"#, &["additionalProperties"]),
        (positive, "recurrence", r#"{"hours":0}"#, &["minimum"]),
        (integral, "recurrence", r#"{"hours":6.0}"#, &[]),
        (others, "recurrence", r#"{"hours":true}"#, &["type"]),
        (others, "recurrence", r#"{"hours":"6"}"#, &["type"]),
        (others, "recurrence", r#"{"hours":6.5}"#, &["integer"]),
        (others, "recurrence", r#"{"hours":NaN}"#, &["integer", "json"]),
    ]);
}

#[test]
fn endpoint_ids_keep_their_identity() {
    assert_eq!(LARGEST_ID, 9_223_372_036_854_775_807);
    let bounds = "Nonempty, unique list of positive signed-64-bit NetBox PKs (1..9223372036854775807).";
    let literals = "Integer JSON literals retain the full range.";
    let safe =
        "Decimal/exponent forms such as 7.0 normalize only within the exact IEEE-754 safe range 1..9007199254740991";
    let larger = "larger float/Decimal values reject before ORM lookup";
    let others = "Booleans, strings, nonintegral/non-finite values, and signed-64 overflow also reject.";
    check(&[
        (bounds, "proxmox_endpoint_ids", "[1,9223372036854775807]", &[]),
        (bounds, "proxmox_endpoint_ids", "[0]", &["minimum"]),
        (bounds, "proxmox_endpoint_ids", "[7,7]", &["uniqueItems"]),
        (bounds, "proxmox_endpoint_ids", "[7,7.0]", &["uniqueItems"]),
        ("An explicit empty Proxmox endpoint list is also rejected", "proxmox_endpoint_ids", "[]", &["minItems"]),
        (literals, "proxmox_endpoint_ids", "[9007199254740992,9007199254740993]", &[]),
        (safe, "proxmox_endpoint_ids", "[9007199254740991.0,7e0]", &[]),
        (larger, "proxmox_endpoint_ids", "[9007199254740992.0]", &["integer"]),
        (others, "proxmox_endpoint_ids", "[true]", &["type"]),
        (others, "proxmox_endpoint_ids", "[\"7\"]", &["type"]),
        (others, "proxmox_endpoint_ids", "[7.5]", &["integer"]),
        (others, "proxmox_endpoint_ids", "[Infinity]", &["integer", "json"]),
        (others, "proxmox_endpoint_ids", "[9223372036854775808]", &["maximum"]),
    ]);
}

#[test]
fn legacy_fields_are_no_arguments() {
    let legacy = "sync_types, interval_value, interval_unit, and netbox_endpoint_ids are legacy REST fields, not bridge-v1 \
                  arguments; additionalProperties: false rejects them before dispatch.";
    check(&[
        (legacy, "sync_types", r#"["all"]"#, &["additionalProperties"]),
        (legacy, "interval_value", "6", &["additionalProperties"]),
        (legacy, "interval_unit", r#""hours""#, &["additionalProperties"]),
        (legacy, "netbox_endpoint_ids", "[1]", &["additionalProperties"]),
    ]);
}

#[test]
fn a_tools_path_stays_below_the_plugin() {
    // "The manifest declares relative paths such as sync/schedule/; a conforming SDK must resolve them below
    // /api/plugins/proxbox/ and reject path or origin escape."
    let mut manifest = Manifest::bridge_v1();
    for (path, verdict) in [
        ("sync/schedule/", Verdict::Accept),
        ("/sync/schedule/", Verdict::Reject),
        ("../other/", Verdict::Reject),
        ("https://example.com/", Verdict::Reject),
        ("//example.com/", Verdict::Reject),
        ("%2e%2e/other/", Verdict::Reject),
    ] {
        manifest.tools[0].path = path.into();
        let judgement = Oracle::bridge_v1().judge(&Question::Manifest, &manifest.to_json().to_string());
        assert_eq!(judgement.verdict(), verdict, "{path}");
    }
}
