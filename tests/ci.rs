//! The workflow is code that runs with credentials: what it may do and whose code it runs is pinned here.

use serde_json::{Value, json};

const WORKFLOW: &str = include_str!("../.github/workflows/ci.yml");

fn workflow() -> Value {
    serde_saphyr::from_str(WORKFLOW).unwrap()
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

#[test]
fn it_runs_on_every_push_and_never_with_the_rights_of_the_target_of_a_pull_request() {
    let workflow = workflow();
    let events: Vec<_> = workflow["on"].as_object().unwrap().keys().collect();
    assert_eq!(events, ["pull_request", "push"]);
}

#[test]
fn nothing_is_permitted_but_reading_the_source() {
    let workflow = workflow();
    assert_eq!(workflow["permissions"], json!({}));
    let permissions: Vec<_> = jobs(&workflow).map(|(name, job)| (name.as_str(), &job["permissions"])).collect();
    let read = json!({ "contents": "read" });
    assert_eq!(permissions, [("supply-chain", &read), ("test", &read)]);
    for (name, job) in jobs(&workflow) {
        assert!(job["timeout-minutes"].is_u64(), "{name} could run for hours");
    }
}

#[test]
fn every_action_is_pinned_by_a_full_commit_id_and_says_its_version() {
    let workflow = workflow();
    let used: Vec<_> = steps(&workflow).filter_map(|step| step["uses"].as_str()).collect();
    assert_eq!(used.len(), jobs(&workflow).count(), "one checkout a job, and no other action");
    for uses in used {
        let (action, commit) = uses.split_once('@').unwrap();
        assert_eq!(action, "actions/checkout");
        assert!(commit.len() == 40 && commit.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')), "{uses}");
        for line in WORKFLOW.lines().filter(|line| line.contains(uses)) {
            let (_, version) = line.split_once(" # v").unwrap_or_else(|| panic!("no version beside {uses}"));
            assert_eq!(version.split('.').map(str::parse::<u32>).filter(Result::is_ok).count(), 3, "{line}");
        }
    }
}

#[test]
fn a_checkout_leaves_no_token_behind() {
    let workflow = workflow();
    let checkouts: Vec<_> = steps(&workflow).filter(|step| step["uses"].is_string()).collect();
    assert!(!checkouts.is_empty());
    for checkout in checkouts {
        assert_eq!(checkout["with"], json!({ "persist-credentials": false }));
    }
}

#[test]
fn no_script_is_put_together_from_an_event() {
    let workflow = workflow();
    let scripts = scripts(&workflow);
    assert!(scripts.contains(&"bash .ci/run"), "{scripts:?}");
    assert!(scripts.contains(&"cargo deny --locked check"), "{scripts:?}");
    let templated: Vec<_> = scripts.iter().filter(|line| line.contains("${{")).collect();
    assert!(templated.is_empty(), "{templated:?}");
}

#[test]
fn the_toolchain_is_the_one_the_package_promises_to_build_with() {
    let manifest: toml::Table = toml::from_str(include_str!("../Cargo.toml")).unwrap();
    let promised = manifest["package"]["rust-version"].as_str().unwrap();
    let workflow = workflow();
    let installed: Vec<_> = scripts(&workflow).into_iter().filter(|line| line.starts_with("rustup default")).collect();
    assert_eq!(installed, [format!("rustup default {promised}"), format!("rustup default {promised}")]);
}
