//! `producer serve`, asked by a plain HTTP client: every row of the specification's tables, and its lists of refusals.

mod ask;

use serde_json::{Value, json};

use crate::support::gate::{Outcome, gate};
use ask::{Answer, Caller, Serving};

const ROOT: &str = "/api/plugins/proxbox/";
const MANIFEST: &str = "/api/plugins/proxbox/mcp/";
const SCHEDULE: &str = "/api/plugins/proxbox/sync/schedule/";
const ACCEPTED: &str = r#"{"sync_stages":["sdn"]}"#;
const REFUSED: &str = r#"{"sync_stages":[]}"#;

/// "Expected authorization outcomes after consumer activation": condition, manifest, list_sync_jobs, schedule_sync. Of 401/403 the
/// producer answers 401, which "Authentication required or invalid" names.
#[test]
fn the_table_of_authorisation_outcomes() {
    for (login_required, caller, manifest, list, schedule, invalid) in [
        (true, Caller::MayAddJobs, 200, 200, 201, 400),
        (false, Caller::MayAddJobs, 200, 200, 201, 400),
        (true, Caller::MayNotAddJobs, 200, 403, 403, 403),
        (false, Caller::MayNotAddJobs, 200, 403, 403, 403),
        (true, Caller::Anonymous, 401, 401, 401, 401),
        (false, Caller::Anonymous, 200, 403, 403, 403),
        (true, Caller::Unknown, 401, 401, 401, 401),
        (false, Caller::Unknown, 401, 401, 401, 401),
    ] {
        let serving = Serving::start(if login_required { &[] } else { &["--no-login-required"] });
        let answers = serving.ask(
            caller,
            &[("GET", MANIFEST, ""), ("GET", SCHEDULE, ""), ("POST", SCHEDULE, ACCEPTED), ("POST", SCHEDULE, REFUSED)],
        );
        let statuses: Vec<_> = answers.iter().map(|answer| answer.status).collect();
        assert_eq!(statuses, [manifest, list, schedule, invalid], "{login_required} {caller:?}");
        assert_eq!(serving.end().jobs, usize::from(schedule == 201), "{caller:?}");
    }
}

/// "Errors and fail-closed behavior": every status the producer itself gives. Faults after dispatch are the pair's scenarios.
#[test]
fn the_table_of_statuses() {
    let serving = Serving::start(&[]);
    let past = r#"{"sync_stages":["sdn"],"schedule_at":"2001-01-01T00:00:00Z"}"#;
    let recurrence = r#"{"sync_stages":["sdn"],"recurrence":{"hours":1,"days":1}}"#;
    let unavailable = r#"{"sync_stages":["sdn"],"proxmox_endpoint_ids":[99]}"#;
    let mut answers = serving
        .ask(
            Caller::MayAddJobs,
            &[
                ("GET", MANIFEST, ""),
                ("GET", SCHEDULE, ""),
                ("POST", SCHEDULE, ACCEPTED),
                ("POST", SCHEDULE, REFUSED),
                ("POST", SCHEDULE, past),
                ("POST", SCHEDULE, recurrence),
                ("POST", SCHEDULE, unavailable),
                ("GET", "/api/plugins/proxbox/other/", ""),
                ("PUT", SCHEDULE, ACCEPTED),
                ("DELETE", MANIFEST, ""),
            ],
        )
        .into_iter();
    let mut next = |status: u16| -> Answer {
        let answer = answers.next().unwrap();
        assert_eq!(answer.status, status, "{answer:?}");
        answer
    };
    let published: Value = serde_json::from_str(include_str!("../fixtures/bridge_v1/manifest.json")).unwrap();
    assert_eq!(next(200).body, published);
    assert_eq!(next(200).body, json!({"count": 0, "scheduled_jobs": []}));
    let receipt = json!({"ok": true, "job_id": 1, "message": "Sync job queued for immediate execution."});
    assert_eq!(next(201).body, receipt);
    let errors = |answer: Answer| answer.body["errors"].clone();
    assert_eq!(errors(next(400)), json!({"sync_stages": ["expected at least 1 items, found 0"]}));
    assert_eq!(errors(next(400)), json!({"schedule_at": ["The scheduled time has to be in the future."]}));
    assert_eq!(errors(next(400)), json!({"recurrence": ["expected at most 1 members, found 2"]}));
    // The specification's own example, word for word.
    let example = json!({"errors": {"proxmox_endpoint_ids": ["Unknown or disabled endpoint ID(s): [99]"]}});
    assert_eq!(next(400).body, example);
    assert_eq!(next(404).body, json!({"detail": "Not found."}));
    assert_eq!(next(405).headers["allow"], "GET, POST, HEAD");
    assert_eq!(next(405).headers["allow"], "GET, HEAD");
    let unknown = &serving.ask(Caller::Unknown, &[("GET", SCHEDULE, "")])[0];
    assert_eq!((unknown.status, unknown.headers["www-authenticate"].as_str()), (401, Some("Bearer")));
    let ended = serving.end();
    assert_eq!((ended.jobs, ended.requests.len()), (1, 11));
}

/// "While activation is blocked, the root deliberately omits mcp and direct GET /api/plugins/proxbox/mcp/ returns HTTP 503 with the
/// checked activation record."
#[test]
fn discovery_blocked_and_active() {
    let discover = [("GET", "/api/plugins/", ""), ("GET", ROOT, ""), ("GET", MANIFEST, "")];
    let active = Serving::start(&[]);
    let answers = active.ask(Caller::MayAddJobs, &discover);
    assert_eq!(answers[0].body, json!({"proxbox": active.url(ROOT)}));
    assert_eq!(answers[1].body["mcp"], json!({"schema_version": "1", "manifest": active.url(MANIFEST)}));
    assert_eq!(answers[2].status, 200);

    let blocked = Serving::start(&["--blocked"]);
    let answers = blocked.ask(Caller::MayAddJobs, &discover);
    assert_eq!((answers[1].status, answers[1].body.get("mcp")), (200, None));
    let Answer { status, body, .. } = &answers[2];
    assert_eq!((*status, body["activation"]["state"].as_str()), (503, Some("blocked")));
    let members: Vec<_> = body.as_object().unwrap().keys().collect();
    assert_eq!(members, ["activation", "detail"]);
    assert_eq!(body["activation"]["expected_commit"], Value::Null);
    // What is served is a record as the activation stage reads it.
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record.json");
    std::fs::write(&record, ordered(&body["activation"])).unwrap();
    let status = Outcome::of(gate().arg("status").arg("--record").arg(&record));
    assert_eq!((status.code, status.stderr.as_str()), (0, ""), "{status:?}");
}

/// The record's members in the order that its file has.
fn ordered(record: &Value) -> String {
    let names = "schema_version state expected_version expected_commit module_origin required_contracts reason";
    let members: Vec<_> = names.split(' ').map(|name| format!("  {name:?}: {}", record[name])).collect();
    assert_eq!(members.len(), record.as_object().unwrap().len());
    let text = format!("{{\n{}\n}}\n", members.join(",\n"));
    text.replace("[\"", "[\n    \"").replace("\",\"", "\",\n    \"").replace("\"]", "\"\n  ]")
}

/// "Common 400 cases include": one line of the list each, and "enqueue no job".
#[test]
fn the_list_of_common_refusals() {
    let fields = |text: &str| format!(r#"{{"sync_stages":["sdn"],{text}}}"#);
    let long = format!(r#""job_name":"{}""#, "x".repeat(201));
    let cases = [
        (fields(r#""sync_types":["all"]"#), "sync_types"),
        (fields(r#""netbox_endpoint_ids":[1]"#), "netbox_endpoint_ids"),
        (fields(r#""proxmox_endpoint_ids":[]"#), "proxmox_endpoint_ids"),
        (fields(r#""proxmox_endpoint_ids":[7,7.0]"#), "proxmox_endpoint_ids"),
        (fields(r#""proxmox_endpoint_ids":[true]"#), "proxmox_endpoint_ids"),
        (fields(r#""proxmox_endpoint_ids":["7"]"#), "proxmox_endpoint_ids"),
        (fields(r#""proxmox_endpoint_ids":[7.5]"#), "proxmox_endpoint_ids"),
        (fields(r#""proxmox_endpoint_ids":[NaN]"#), "proxmox_endpoint_ids"),
        (fields(r#""proxmox_endpoint_ids":[9007199254740992.0]"#), "proxmox_endpoint_ids"),
        (fields(r#""proxmox_endpoint_ids":[0]"#), "proxmox_endpoint_ids"),
        (fields(r#""proxmox_endpoint_ids":[9223372036854775808]"#), "proxmox_endpoint_ids"),
        (r#"{"sync_stages":["sdn","sdn"]}"#.into(), "sync_stages"),
        (r#"{"sync_stages":[]}"#.into(), "sync_stages"),
        (r#"{"sync_stages":["all"]}"#.into(), "sync_stages"),
        ("{}".into(), "sync_stages"),
        (fields(r#""recurrence":{}"#), "recurrence"),
        (fields(r#""recurrence":{"hours":1,"days":1}"#), "recurrence"),
        (fields(r#""recurrence":{"hours":0}"#), "recurrence"),
        (fields(r#""recurrence":{"hours":1.5}"#), "recurrence"),
        (fields(r#""recurrence":{"minutes":2147483648}"#), "recurrence"),
        (fields(r#""schedule_at":"2099-01-15T03:00:00""#), "schedule_at"),
        (fields(r#""schedule_at":"9999-12-31T23:59:60Z""#), "schedule_at"),
        (fields(r#""schedule_at":"2026-08-12T12:34:60Z""#), "schedule_at"),
        (fields(r#""schedule_at":"2001-01-15T03:00:00Z""#), "schedule_at"),
        (fields(&long), "job_name"),
    ];
    let serving = Serving::start(&[]);
    let requests: Vec<_> = cases.iter().map(|(body, _)| ("POST", SCHEDULE, body.as_str())).collect();
    for (answer, (body, field)) in serving.ask(Caller::MayAddJobs, &requests).iter().zip(&cases) {
        assert_eq!(answer.status, 400, "{body}: {answer:?}");
        let fields: Vec<_> = answer.body["errors"].as_object().unwrap().keys().collect();
        assert_eq!(fields, [field], "{body}");
    }
    assert_eq!(serving.end().jobs, 0);
}

/// "Input fields" and the three examples: what is accepted, and what the list then shows.
#[test]
fn accepted_jobs_are_listed_as_they_were_stored() {
    let all = "virtual-machines storage vm-disks vm-backups vm-snapshots devices network-interfaces vm-interfaces ip-addresses \
               sdn backup-routines replications task-history";
    let all: Vec<_> = all.split_whitespace().rev().collect();
    let full = json!({"sync_stages": all, "job_name": " operator-requested-full-sync "}).to_string();
    let future = r#"{"sync_stages":["virtual-machines","storage"],"job_name":"maintenance-window-inventory","schedule_at":"2099-01-15T03:00:00Z","proxmox_endpoint_ids":[7,9]}"#;
    let recurring = r#"{"sync_stages":["devices","network-interfaces"],"job_name":"six-hour-inventory","recurrence":{"hours":6.0},"proxmox_endpoint_ids":[7]}"#;
    let largest = r#"{"sync_stages":["sdn"],"job_name":" ","proxmox_endpoint_ids":[9223372036854775807]}"#;
    let serving = Serving::start(&["--endpoint", "7", "--endpoint", "9", "--endpoint", "9223372036854775807"]);
    let posts = [&full, future, recurring, largest].map(|body| ("POST", SCHEDULE, body));
    assert!(serving.ask(Caller::MayAddJobs, &posts).iter().all(|answer| answer.status == 201));
    let list = &serving.ask(Caller::MayAddJobs, &[("GET", SCHEDULE, "")])[0].body;
    let row = |index: usize, name: &str| list["scheduled_jobs"][index][name].clone();
    assert_eq!(list["count"], 4);
    assert_eq!((row(0, "sync_types"), row(0, "name")), (json!(["all"]), json!("operator-requested-full-sync")));
    assert_eq!((row(1, "schedule"), row(1, "status")), (json!("2099-01-15T03:00:00Z"), json!("scheduled")));
    assert_eq!((row(2, "interval"), row(2, "status")), (json!(360), json!("pending")));
    // "When recurrence is supplied without schedule_at, the server sets the first run to its current local time."
    assert!(row(2, "schedule").is_string());
    assert_eq!((row(3, "name"), row(3, "schedule")), (json!("Proxbox sync"), Value::Null));
}

#[test]
fn it_listens_on_loopback_alone_and_keeps_tokens_to_its_first_lines() {
    let other = Outcome::of(gate().args(["producer", "serve", "--listen", "0.0.0.0:0"]));
    assert_eq!(other.code, 2);
    assert!(other.stderr.contains("'--listen <ADDRESS>': this server is for loopback alone"), "{}", other.stderr);

    let serving = Serving::start(&[]);
    serving.ask(Caller::MayAddJobs, &[("POST", SCHEDULE, ACCEPTED), ("GET", "/?a=%1b", "")]);
    let secret = serving.secret();
    let ended = serving.end();
    assert_eq!(
        ended.lines,
        [
            &format!("201 POST {SCHEDULE} (with core.add_job) {ACCEPTED}"),
            "404 GET /?a=%1b (with core.add_job)",
            "ENDED: 2 requests, 1 jobs enqueued",
        ]
    );
    assert!(!ended.stdout.contains(&secret));
    let schema: Value = serde_json::from_str(&Outcome::of(gate().args(["schema", "traffic"])).stdout).unwrap();
    let traffic: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert!(jsonschema::is_valid(&schema, &traffic));
    assert_eq!(traffic["requests"][0]["body"], ACCEPTED);
}

/// The README's command, started as it stands there.
#[test]
fn the_readmes_server_answers_and_ends_on_a_signal() {
    let command = crate::papers::commands().into_iter().find(|command| command.contains(" producer serve")).unwrap();
    let (_, arguments) = command.split_once(" producer serve").unwrap();
    let arguments: Vec<_> = arguments.split_whitespace().collect();
    let serving = Serving::start(&arguments);
    assert_eq!(serving.ask(Caller::MayAddJobs, &[("GET", ROOT, "")])[0].status, 200);
    assert_eq!(serving.end().requests.len(), 1);
}
