//! The stage `pair` on the embedded SDK: its client passes, and each of these regressions of it is refused by named scenarios.

use std::process::{Child, Stdio};
use std::time::Duration;

use paired_sdk_gate::check::Status;
use paired_sdk_gate::limits::Limits;
use paired_sdk_gate::pair;
use paired_sdk_gate::report::Verdict;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::messages::Scene;
use crate::support::gate::{findings, identified, with_status};
use crate::support::left;
use crate::support::subject::{Subject, VERSION, Verified, make_environment};
use crate::tools;

pub const CLIENT: &str = "netbox_sdk/client.py";

pub const AGAIN: &str = "answer = _request(self, method, path, longest, payload)\n\
    return _request(self, method, path, longest, payload) if answer.status == 503 else answer";
const HANG: &str = "import time\nif method == 'POST':\n    time.sleep(3600)\n\
    return _request(self, method, path, longest, payload)";
pub const HALVED: &str = "if payload:\n    payload = {**payload, 'proxmox_endpoint_ids': [float(i) for i in payload.get('proxmox_endpoint_ids', [])]}\n\
    return _request(self, method, path, longest, payload)";
pub const LEAK: &str =
    "return _request(self, method, path + '?secret=' + str(self.config.token_secret), longest, payload)";
pub const ELSEWHERE: &str = "import os, socket, urllib.parse\n\
    proxy = urllib.parse.urlsplit(os.environ['http_proxy'])\n\
    socket.create_connection((proxy.hostname, proxy.port)).sendall(b'GET / HTTP/1.1\\r\\n\\r\\n')\n\
    return _request(self, method, path, longest, payload)";
pub const UNPINNED: &str = "def _require_link(client, link, path):\n    pass";
pub const MISSING: &str = "raise ImportError('no such client')";

/// What has the client make each of its requests like this.
pub fn wrapped(body: &str) -> String {
    format!(
        "_request = NetBoxApiClient._request\n\ndef _other(self, method, path, longest, payload):\n    {}\n\nNetBoxApiClient._request = _other",
        body.replace('\n', "\n    ")
    )
}

/// The embedded SDK with this after the text of its client, in that environment.
fn with_client(environment: &std::path::Path, appended: &str) -> Verified {
    let subject = Subject::within(environment, |repo| {
        let source = std::fs::read_to_string(repo.root().join(CLIENT)).unwrap();
        repo.write(CLIENT, format!("{source}\n\n{appended}\n"));
    });
    let limits = Limits { answer_seconds: 5, ..Limits::default() };
    Subject { limits, ..subject }.verify()
}

#[test]
fn the_embedded_client_does_what_every_scenario_asks_for() {
    let verified = Subject::new().verify();
    assert_eq!(verified.verdict(), Verdict::Passed, "{:#?}", verified.run.ledger);
    let evidence = &verified.run.evidence.pair;
    assert!(evidence.advisories.is_empty());
    let demands = pair::demands();
    assert_eq!(evidence.played.len(), demands.len());
    for (played, demand) in evidence.played.iter().zip(demands) {
        assert_eq!((played.id, &played.observed), (demand.id, &demand.expected));
        assert_eq!(played.requests, demand.requests, "{}", played.id);
        // "Submit once."
        assert_eq!(played.posts(), usize::from(demand.requests.len() == 4 && demand.requests[3].starts_with("POST ")));
    }
}

/// The specification's two tables, each row from recorded traffic: how far a call gets, and what its caller is told.
#[test]
fn the_tables_of_the_specification_row_by_row() {
    let verified = Subject::new().verify();
    let played = |id: &str| {
        let found = verified.run.evidence.pair.played.iter().find(|played| played.id == id);
        let played = found.unwrap_or_else(|| panic!("{id}"));
        (played.requests.len(), played.posts(), played.observed.as_str())
    };
    // Condition; list_sync_jobs; schedule_sync. A call that gets to its fourth request has had a 200 for the manifest.
    for (condition, list, submit) in [
        ("", (4, 0, "status 200, response accepted"), (4, 1, "status 201, response accepted")),
        ("without-permission-", (4, 0, "status 403"), (4, 1, "status 403")),
        ("anonymous-", (1, 0, "discovery rejected"), (1, 0, "discovery rejected")),
        ("open-anonymous-", (4, 0, "status 403"), (4, 1, "status 403")),
    ] {
        assert_eq!(played(&format!("access.{condition}list")), list, "{condition}");
        assert_eq!(played(&format!("access.{condition}submit")), submit, "{condition}");
    }
    // HTTP status; what a submission that meets it comes to.
    for status in ["200", "201"] {
        assert_eq!(played(&format!("dispatch.{status}")), (4, 1, &*format!("status {status}, response accepted")));
    }
    for status in ["400", "401", "403", "404", "500", "502", "503", "504"] {
        assert_eq!(played(&format!("dispatch.{status}")), (4, 1, &*format!("status {status}")));
    }
}

#[test]
fn each_check_finds_what_it_is_there_for() {
    let environment = tempfile::tempdir().unwrap();
    let environment = environment.path().join("venv");
    make_environment(&environment, &[]);
    for (code, check, subject, found) in [
        (
            wrapped(AGAIN),
            "pair.dispatch",
            "dispatch.503",
            "GET /api/plugins/, GET /api/plugins/proxbox/, GET /api/plugins/proxbox/mcp/, POST /api/plugins/proxbox/sync/schedule/, \
             POST /api/plugins/proxbox/sync/schedule/",
        ),
        (wrapped(HANG), "pair.transcript", "discovery.active", "none in time"),
        (
            wrapped(HALVED),
            "pair.numbers",
            "numbers.largest-id",
            r#"{"sync_stages": ["sdn"], "proxmox_endpoint_ids": [9.223372036854776e+18]}"#,
        ),
        (
            wrapped(LEAK),
            "pair.elsewhere",
            "discovery.active",
            "1 Authorization headers, the secret 2 times, in GET /api/plugins/?secret=",
        ),
        (wrapped(ELSEWHERE), "pair.elsewhere", "elsewhere", "\"GET / HTTP/1.1\\r\\n\\r\\n\""),
        (UNPINNED.into(), "pair.discovery", "discovery.other-port", "status 201, response accepted"),
        (MISSING.into(), "pair.transcript", "client", "ImportError: no such client"),
    ] {
        let verified = with_client(&environment, &code);
        assert_eq!(verified.verdict(), Verdict::Refused, "{check}");
        assert!(verified.ids(Status::Failed).contains(&check), "{check}: {:#?}", verified.run.ledger);
        assert!(verified.ids(Status::Failed).iter().all(|id| id.starts_with("pair.")), "{check}");
        let findings = verified.findings(check);
        let told = |finding: &&paired_sdk_gate::check::Finding| {
            finding.subject == subject && finding.actual.starts_with(found)
        };
        assert!(findings.iter().any(|finding| told(&finding)), "{subject}: {findings:#?}");
    }
}

/// The program on that scene, once it plays its scenarios.
fn playing(scene: &Scene, verb: &str) -> Child {
    let Subject { repo, commit, environment, .. } = &scene.subject;
    let mut gate = identified(verb, repo.root(), commit, VERSION, environment);
    gate.args(["--format", "json", "--quiet"]).args(&scene.arguments).env("TMPDIR", &scene.temporary);
    let mut gate = gate.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let watches = |thread: std::fs::DirEntry| {
        std::fs::read_to_string(thread.path().join("comm")).is_ok_and(|name| name == "watch\n")
    };
    while !std::fs::read_dir(format!("/proc/{}/task", gate.id())).unwrap().flatten().any(watches) {
        assert_eq!(gate.try_wait().unwrap(), None, "it plays no scenario");
        std::thread::yield_now();
    }
    gate
}

/// A machine that stood still says nothing about the client: not that it hangs, and not that it is right.
#[test]
fn a_call_that_ended_late_while_nothing_ran_decides_nothing() {
    let mut scene = Scene::new();
    scene.client(&wrapped(AGAIN));
    let gate = playing(&scene, "verify");
    let id = Pid::from_child(&gate);
    kill_process(id, Signal::STOP).unwrap();
    // No waiting for something: this is what is tested.
    std::thread::sleep(Duration::from_millis(1500));
    kill_process(id, Signal::CONT).unwrap();
    let output = gate.wait_with_output().unwrap();
    let report = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(with_status(&report, "error"), ["pair.transcript"]);
    let found = findings(&report, "pair.transcript")[0]["actual"].as_str().unwrap();
    assert!(found.starts_with("nothing ran for ") && found.ends_with(" ms at a stretch"), "{found}");
    assert_eq!(output.status.code(), Some(3));
}

/// However a run ends, and whichever level it is at.
#[test]
fn neither_a_port_nor_a_process_is_left() {
    let (client, server) = (Scene::new(), tools::scene());
    for (scene, verb, interrupted) in [(&client, "verify", false), (&client, "verify", true), (&server, "pair", true)] {
        let gate = playing(scene, verb);
        let ports = left::listening_of(gate.id());
        assert!(!ports.is_empty() && !left::survivors(&scene.temporary).is_empty(), "{verb}: what there is to be left");
        if interrupted {
            kill_process(Pid::from_child(&gate), Signal::INT).unwrap();
        }
        let output = gate.wait_with_output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let expected = if interrupted { (130, "unverifiable") } else { (0, "passed") };
        assert_eq!((output.status.code().unwrap(), report["verdict"].as_str().unwrap()), expected, "{verb}");
        assert!(ports.is_disjoint(&left::listening()), "{verb}");
        assert_eq!(left::survivors(&scene.temporary), [""; 0], "{verb}");
        assert_eq!(std::fs::read_dir(&scene.temporary).unwrap().count(), 0, "{verb}");
    }
}
