//! The workflows are code that runs with credentials: what they may do and whose code they run is pinned here.

use std::collections::BTreeMap;

use serde_json::{Value, json};

const CI: &str = include_str!("../.github/workflows/ci.yml");
const RELEASE: &str = include_str!("../.github/workflows/release.yml");
const BOTH: [(&str, &str); 2] = [("ci", CI), ("release", RELEASE)];

fn workflow(text: &str) -> Value {
    serde_saphyr::from_str(text).unwrap()
}

fn jobs(workflow: &Value) -> impl Iterator<Item = (&String, &Value)> {
    workflow["jobs"].as_object().unwrap().iter()
}

fn steps(workflow: &Value) -> impl Iterator<Item = &Value> {
    jobs(workflow).flat_map(|(_, job)| job["steps"].as_array().unwrap())
}

fn scripts(workflow: &Value) -> Vec<&str> {
    steps(workflow).filter_map(|step| step["run"].as_str()).flat_map(str::lines).collect()
}

fn uses(workflow: &Value) -> Vec<&str> {
    steps(workflow).filter_map(|step| step["uses"].as_str()).collect()
}

#[test]
fn every_workflow_is_one_of_these() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/.github/workflows");
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.collect();
    names.sort();
    assert_eq!(names, BOTH.map(|(name, _)| format!("{name}.yml")));
    for (name, text) in BOTH {
        assert_eq!(workflow(text)["name"], name);
    }
}

/// On every push, on a tag that names a version; never with the rights of the target of a pull request.
#[test]
fn they_run_when_they_should() {
    assert_eq!(workflow(CI)["on"], json!({ "push": null, "pull_request": null }));
    assert_eq!(workflow(RELEASE)["on"], json!({ "push": { "tags": ["v[0-9]+.[0-9]+.[0-9]+"] } }));
}

#[test]
fn no_job_has_a_right_that_it_does_not_need() {
    let read = json!({ "contents": "read" });
    let publish = json!({ "contents": "write", "id-token": "write", "attestations": "write" });
    let expected = BTreeMap::from([
        (("ci", "supply-chain"), read.clone()),
        (("ci", "test"), read.clone()),
        (("release", "build"), read),
        (("release", "publish"), publish),
    ]);
    let mut given = BTreeMap::new();
    let workflows = BOTH.map(|(name, text)| (name, workflow(text)));
    for (name, workflow) in &workflows {
        assert_eq!(workflow["permissions"], json!({}), "{name}");
        for (job, body) in jobs(workflow) {
            assert!(body["timeout-minutes"].is_u64(), "{name}: {job} could run for hours");
            given.insert((*name, job.as_str()), body["permissions"].clone());
        }
    }
    assert_eq!(given, expected);
}

/// What writes to the repository runs nothing of it: the job that publishes has no checkout.
#[test]
fn every_action_is_pinned_by_a_full_commit_id_and_says_its_version() {
    let checkout = "actions/checkout";
    let publish = ["actions/download-artifact", "actions/attest-build-provenance"];
    for (text, expected) in
        [(CI, vec![checkout, checkout]), (RELEASE, [&[checkout, "actions/upload-artifact"][..], &publish].concat())]
    {
        let workflow = workflow(text);
        let used: Vec<_> = uses(&workflow).into_iter().map(|uses| uses.split_once('@').unwrap()).collect();
        assert_eq!(used.iter().map(|(action, _)| *action).collect::<Vec<_>>(), expected);
        for (action, commit) in used {
            assert!(commit.len() == 40 && commit.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')), "{action}");
            for line in text.lines().filter(|line| line.contains(commit)) {
                let (_, version) = line.split_once(" # v").unwrap_or_else(|| panic!("no version beside {action}"));
                assert_eq!(version.split('.').map(str::parse::<u32>).filter(Result::is_ok).count(), 3, "{line}");
            }
        }
    }
}

#[test]
fn a_checkout_leaves_no_token_behind() {
    for (name, text) in BOTH {
        let workflow = workflow(text);
        let is_checkout =
            |step: &&Value| step["uses"].as_str().is_some_and(|uses| uses.starts_with("actions/checkout@"));
        let checkouts: Vec<_> = steps(&workflow).filter(is_checkout).collect();
        assert!(!checkouts.is_empty(), "{name}");
        for checkout in checkouts {
            assert_eq!(checkout["with"], json!({ "persist-credentials": false }), "{name}");
        }
    }
}

#[test]
fn no_script_is_put_together_from_an_event() {
    let (ci, release) = (workflow(CI), workflow(RELEASE));
    for expected in ["bash .ci/run", "cargo deny --locked check"] {
        assert!(scripts(&ci).contains(&expected), "{expected}");
    }
    let templated: Vec<_> =
        scripts(&ci).into_iter().chain(scripts(&release)).filter(|line| line.contains("${{")).collect();
    assert!(templated.is_empty(), "{templated:?}");
}

#[test]
fn the_toolchain_is_the_one_the_package_promises_to_build_with() {
    let manifest: toml::Table = toml::from_str(include_str!("../Cargo.toml")).unwrap();
    let promised = manifest["package"]["rust-version"].as_str().unwrap();
    for (text, times) in [(CI, 2), (RELEASE, 1)] {
        let workflow = workflow(text);
        let installed = scripts(&workflow).into_iter().filter(|line| line.starts_with("rustup default"));
        assert_eq!(installed.collect::<Vec<_>>(), vec![format!("rustup default {promised}"); times]);
    }
}

/// Static binaries of both machines, each run once where it was built, with a digest and a provenance.
#[test]
fn a_release_is_static_checked_and_attested() {
    let release = workflow(RELEASE);
    let built = release["jobs"]["build"]["strategy"]["matrix"]["include"].as_array().unwrap();
    let targets: Vec<_> = built.iter().map(|entry| entry["target"].as_str().unwrap()).collect();
    assert_eq!(targets, ["x86_64-unknown-linux-musl", "aarch64-unknown-linux-musl"]);
    let scripts = scripts(&release);
    for expected in [
        "cargo build --release --locked --target \"$TARGET\"",
        "if grep INTERP \"$RUNNER_TEMP/headers\"; then exit 1; fi",
        "\"./paired-sdk-gate-$TARGET\" demo",
        "sha256sum \"paired-sdk-gate-$TARGET\" >\"paired-sdk-gate-$TARGET.sha256\"",
        "cd dist && sha256sum --check ./*.sha256",
    ] {
        assert!(scripts.contains(&expected), "{expected}");
    }
    assert_eq!(release["jobs"]["publish"]["needs"], "build");
}
