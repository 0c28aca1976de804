//! Fresh vectors, advisories and the manifest under test, as the whole gate judges them, on the embedded SDK.

use paired_sdk_gate::check::{Finding, Status};
use paired_sdk_gate::contract::Contract;
use paired_sdk_gate::report::Verdict;

use crate::hostile::append;
use crate::support::gate::{Outcome, findings, identified, with_status};
use crate::support::subject::{Subject, VERSION, Verified};

/// Draws every kind of question, and shows two advisories.
const MANY: usize = 3_000;

/// The published manifest with some text replaced, each of which it must hold once.
fn manifest(changes: &[(&str, &str)]) -> String {
    changes.iter().fold(Contract::bridge_v1().manifest().to_owned(), |text, (from, to)| {
        assert_eq!(text.matches(from).count(), 1, "{from}");
        text.replace(from, to)
    })
}

#[test]
fn a_manifest_of_other_contents_is_refused_with_every_place_before_the_sdk_is_imported() {
    let subject = Subject::edited(|repo| append(repo, "raise SystemExit('imported')"));
    let changed = manifest(&[
        ("\"maximum\": 1491308", "\"maximum\": 1491308.0"),
        ("\"maximum\": 35791394", "\"maximum\": 35791395"),
        ("\"const\": true", "\"const\": 1"),
        ("Proxbox jobs", "Other words"),
    ]);
    let file = subject.dir.path().join("manifest.json");
    std::fs::write(&file, &changed).unwrap();
    let mut verify = identified("verify", subject.repo.root(), &subject.commit, VERSION, &subject.environment);
    let outcome = Outcome::of(verify.arg("--manifest").arg(&file).args(["--format", "json"]));
    assert_eq!(outcome.code, 1, "{}", outcome.stderr);
    let report = outcome.json();
    assert_eq!(with_status(&report, "failed"), ["contract.manifest"]);
    assert!(with_status(&report, "not-run").contains(&"module.origin"));
    let told: Vec<_> = findings(&report, "contract.manifest")
        .iter()
        .map(|found| ["subject", "expected", "actual"].map(|member| found[member].as_str().unwrap()))
        .collect();
    let at = "manifest /tools/1/inputSchema/properties/recurrence/properties";
    let expected = [
        [&format!("{at}/days/maximum"), "1491308", "1491308.0"],
        [&format!("{at}/hours/maximum"), "35791394", "35791395"],
        ["manifest /tools/1/outputSchema/properties/ok/const", "true", "1"],
    ];
    assert_eq!(told, expected);
    assert_eq!(report["contract"]["manifest_sha256"], paired_sdk_gate::digest::sha256(changed.as_bytes()));
}

#[test]
fn a_manifest_in_other_words_is_the_one_that_the_sdk_is_given() {
    // An SDK that knows the words it wants to hear.
    let picky =
        "if isinstance(document, dict) and 'Proxbox jobs' in repr(document): raise PluginManifestError('words')";
    let subject = Subject::edited(|repo| {
        append(
            repo,
            &format!("_was = _check_manifest\ndef _check_manifest(document):\n    {picky}\n    _was(document)"),
        );
    });
    let words = manifest(&[("Proxbox jobs", "Other words")]).leak();
    assert_eq!(
        subject.verify().refused_by(&["module.origin", "probe.transcript"])[0].actual,
        "PluginManifestError: words"
    );
    let verified = subject.verify_with(|request| request.manifest = Some(words));
    assert!(verified.ids(Status::Passed).contains(&"contract.manifest"));
    assert!(verified.ids(Status::Passed).contains(&"module.origin"), "{:#?}", verified.run.ledger);
}

/// The ids of the vectors that some findings are about.
fn vectors(findings: &[Finding]) -> Vec<&str> {
    findings.iter().map(|finding| finding.subject.split(' ').next().unwrap()).collect()
}

#[test]
fn known_differences_are_listed_and_refuse_only_if_they_are_denied() {
    let subject = Subject::new();
    let run = |deny| {
        subject.verify_with(|request| {
            request.generated = MANY;
            request.deny_advisories = deny;
        })
    };
    let listed = |verified: &Verified| -> Vec<_> {
        let seen = verified.run.evidence.behaviour.advisories.values();
        seen.map(|known| (known.advisory.id, known.vectors)).collect()
    };
    let known = [("descriptor-bounds", 1), ("rounded-number", 8)];
    let tolerated = run(false);
    assert_eq!((tolerated.verdict(), listed(&tolerated)), (Verdict::Passed, known.to_vec()));
    let denied = run(true);
    assert_eq!(listed(&denied), known);
    let integers = vectors(denied.refused_by(&["vectors.integer", "vectors.schema"]));
    assert_eq!(
        integers,
        [
            "generated/response/000002",
            "generated/response/000076",
            "generated/arguments/000544",
            "generated/response/000665",
            "generated/arguments/000863",
            "generated/arguments/000864",
            "generated/arguments/001503",
        ]
    );
    let others = denied.findings("vectors.schema");
    assert_eq!(vectors(others), ["generated/response/001230", "generated/manifest/000029"]);
    let verdicts: Vec<_> = others.iter().map(|finding| (&*finding.expected, &*finding.actual)).collect();
    assert_eq!(verdicts, [("rejected", "accepted"), ("accepted", "rejected")]);
}

/// An SDK that does something of its own where a fresh manifest asks what falls under an advisory.
fn where_an_advisory_is(deed: &str) -> Verified {
    let subject = Subject::edited(|repo| {
        let condition = "isinstance(document, dict) and document.get('plugin') == 'p q'";
        let changed = format!("    if {condition}:\n        {deed}\n    _was(document)");
        append(repo, &format!("_was = _check_manifest\ndef _check_manifest(document):\n{changed}"));
    });
    subject.verify_with(|request| request.generated = MANY)
}

#[test]
fn no_crash_is_a_known_difference() {
    for deed in ["import os; os._exit(0)", "import faulthandler; faulthandler._sigsegv()"] {
        let verified = where_an_advisory_is(deed);
        let [finding] = verified.refused_by(&["probe.transcript"]) else { panic!("{:#?}", verified.run.ledger) };
        let asked = "; asked last: generated/manifest/000029 {\"plugin\":\"p q\"";
        assert!(finding.subject.contains(asked), "{}", finding.subject);
        assert_eq!(finding.actual, "the process ended before it answered");
    }
    let verified = where_an_advisory_is("raise RuntimeError");
    let [finding] = verified.refused_by(&["vectors.schema"]) else { panic!("{:#?}", verified.run.ledger) };
    assert!(finding.subject.starts_with("generated/manifest/000029 {\"plugin\":\"p q\""), "{}", finding.subject);
    assert_eq!((&*finding.expected, &*finding.actual), ("accepted", "raised <class 'RuntimeError'>"));
}

#[test]
fn a_fresh_vector_is_reported_by_a_smallest_input_that_shows_the_same() {
    // Nothing is looked at where there are more than five ids; no published vector has so many. Where they are no list, it
    // crashes, which is another mistake.
    let lax = "len(arguments.get('proxmox_endpoint_ids') or []) > 5";
    let changed = format!("    if isinstance(arguments, dict) and {lax}:\n        return\n    _was(tool, arguments)");
    let subject = Subject::edited(|repo| {
        let name = "validate_plugin_tool_arguments";
        append(repo, &format!("_was = {name}\ndef {name}(tool, arguments):\n{changed}"));
    });
    let verified = subject.verify_with(|request| request.generated = MANY);
    verified.refused_by(&["vectors.integer", "vectors.schema"]);
    let first = |check| {
        let mut fresh = verified.findings(check).iter().filter(|finding| finding.subject.starts_with("generated/"));
        fresh.next().map(|finding| [&*finding.subject, &*finding.expected, &*finding.actual]).unwrap()
    };
    // Six ids are what it takes; nothing that was around them is left.
    let smallest = r#"generated/arguments/000119 {"proxmox_endpoint_ids":[2,3,4,5,6,7]}"#;
    assert_eq!(first("vectors.schema"), [smallest, "rejected", "accepted"]);
    let smallest = r#"generated/arguments/000049 {"proxmox_endpoint_ids":Infinity}"#;
    assert_eq!(first("vectors.integer"), [smallest, "rejected", "raised <class 'TypeError'>"]);
}

#[test]
fn a_seed_repeats_its_vectors_and_their_orders_and_another_one_does_not() {
    // Whatever it is asked a thousandth time, it ends: what that was, the gate tells for each probe.
    let code = "import os\n_calls = iter(range(999))\n_was = _validate\ndef _validate(*about):\n    \
                if next(_calls, None) is None:\n        os._exit(0)\n    _was(*about)";
    let orders = Subject::edited(|repo| append(repo, code));
    let plain = Subject::within(&orders.environment, |_| {});
    let run = |seed| {
        let asked = |subject: &Subject, deny| {
            let verified = subject.verify_with(|request| {
                (request.seed, request.generated, request.deny_advisories) = (seed, MANY, deny);
            });
            assert_eq!(verified.verdict(), Verdict::Refused);
            let [transcript, integers] =
                ["probe.transcript", "vectors.integer"].map(|id| verified.findings(id).to_vec());
            (transcript, integers)
        };
        (asked(&orders, false).0, asked(&plain, true).1)
    };
    let (orders_of_7, vectors_of_7) = run(7);
    assert_eq!(run(7), (orders_of_7.clone(), vectors_of_7.clone()));
    let (orders_of_8, vectors_of_8) = run(8);
    assert_eq!((orders_of_7.len(), orders_of_8.len()), (2, 2));
    for (seven, eight) in orders_of_7.iter().zip(&orders_of_8) {
        assert_ne!(seven.subject, eight.subject);
    }
    assert_ne!(orders_of_7[0].subject.split_once("asked last"), orders_of_7[1].subject.split_once("asked last"));
    assert!(!vectors_of_7.is_empty() && vectors_of_7 != vectors_of_8);
}
