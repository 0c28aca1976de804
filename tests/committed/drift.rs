//! One drift at a time, each refused by its own id and at its own line.

use std::collections::BTreeSet;

use paired_sdk_gate::committed::{Kind, TABLE};

use super::{COMMIT, CONSTANTS, Producer, RECORD, SNAPSHOT, VERSION, WORKFLOW, told};

const CI: &str = ".github/workflows/ci.yml";
const OTHER: &str = "edad23ab186d5ad5475440690eccc29d49824b8b";

/// The one edit of a sound, active producer; the ids it is refused with, the first being the point of the case.
const EDITS: &[(&[&str], &str, &str, &str)] = &[
    // The record: one field, one digit.
    (&["record.invalid"], RECORD, "\"active\"", "\"open\""),
    (&["record.invalid"], RECORD, "\"expected_commit\": \"e", "\"expected_commit\": \"E"),
    (&["record.invalid"], RECORD, "\"schema_version\": 1,", "\"schema_version\": 1, \"schema_version\": 1,"),
    (&["constants.commit", "gate.commit", "checkout.ref", "workflow.absent"], RECORD, COMMIT, OTHER),
    (&["constants.version", "gate.version", "workflow.absent"], RECORD, "0.0.13", "0.0.12"),
    (&["constants.reason"], RECORD, "proven yet", "proven so far"),
    // The constants: one each, and every way of not being one.
    (&["constants.state"], CONSTANTS, "\"active\"", "\"blocked\""),
    (&["constants.state"], CONSTANTS, "\"active\"", "None"),
    (&["constants.version"], CONSTANTS, "\"0.0.13\"", "\"0.0.13 \""),
    (&["constants.version"], CONSTANTS, "\"0.0.13\"", "None"),
    (&["constants.commit"], CONSTANTS, COMMIT, OTHER),
    (&["constants.module-origin"], CONSTANTS, "netbox_sdk/plugin_bridge.py", "netbox_sdk/bridge.py"),
    (&["constants.schema-version"], CONSTANTS, "VERSION = 1", "VERSION = True"),
    (&["constants.required-contracts"], CONSTANTS, "    \"bounded-rfc3339-normalization\",\n", ""),
    (&["constants.reason"], CONSTANTS, "proven yet", "proven"),
    (&["constants.missing"], CONSTANTS, "MCP_BRIDGE_ACTIVATION_STATE = \"active\"\n", ""),
    (&["constants.not-literal"], CONSTANTS, "STATE = \"active\"", "STATE = \"act\" + \"ive\""),
    (&["constants.not-literal"], CONSTANTS, "STATE = \"active\"", "STATE = f\"active\""),
    (&["constants.rebound"], CONSTANTS, "\n\ndef record", "\nMCP_BRIDGE_ACTIVATION_STATE = \"blocked\"\n\ndef record"),
    (&["constants.rebound"], CONSTANTS, "    return {", "    global MCP_BRIDGE_ACTIVATION_STATE\n    return {"),
    (&["constants.rebound"], CONSTANTS, "    return {", "    MCP_BRIDGE_REQUIRED_CONTRACTS.clear()\n    return {"),
    (&["constants.rebound"], CONSTANTS, "STATE = \"active\"", "STATE = X = \"active\""),
    (&["constants.rebound"], CONSTANTS, "import Any", "import *"),
    (&["constants.not-python"], CONSTANTS, "    return {", "    return {{"),
    (&["constants.not-python"], CONSTANTS, "\"\"\"A bridge.\"\"\"", "# coding: utf-7"),
    // The snapshot.
    (&["snapshot.differs"], SNAPSHOT, "\"POST\"", "\"PUT\""),
    (&["snapshot.not-manifest"], SNAPSHOT, "{", "["),
    // The workflow as a document.
    (&["workflow.not-yaml"], CI, "on: push", "on: [push"),
    (&["workflow.not-yaml", "workflow.absent"], WORKFLOW, "jobs:", "jobs: ]"),
    (&["workflow.alias", "workflow.absent"], WORKFLOW, "run: uv sync", "run: &install uv sync"),
    (&["workflow.alias", "workflow.absent"], WORKFLOW, "permissions:\n", "permissions:\n  <<: {}\n"),
    (
        &["workflow.duplicate-key", "workflow.absent"],
        WORKFLOW,
        "          path: netbox-sdk\n",
        "          path: netbox-sdk\n          path: other\n",
    ),
    // When it runs.
    (&["workflow.trigger", "workflow.absent"], WORKFLOW, "  push:\n  pull_request:\n", "  workflow_dispatch:\n"),
    (&["workflow.trigger", "workflow.absent"], WORKFLOW, "  push:\n  pull_request:\n", "  workflow_call:\n"),
    (
        &["workflow.trigger", "workflow.absent"],
        WORKFLOW,
        "  push:\n  pull_request:\n",
        "  push: {branches: [release]}\n",
    ),
    (&["workflow.trigger", "workflow.absent"], WORKFLOW, "  push:\n  pull_request:\n", "  push: {paths: [docs/**]}\n"),
    (&["workflow.trigger", "workflow.absent"], WORKFLOW, "on:\n  push:\n  pull_request:\n", "on: schedule\n"),
    // The job.
    (&["job.condition", "workflow.absent"], WORKFLOW, "    runs-on:", "    if: false\n    runs-on:"),
    (
        &["job.condition", "workflow.absent"],
        WORKFLOW,
        "    runs-on:",
        "    if: github.event_name == 'push'\n    runs-on:",
    ),
    (
        &["job.failure-ignored", "workflow.absent"],
        WORKFLOW,
        "    runs-on:",
        "    continue-on-error: true\n    runs-on:",
    ),
    (
        &["job.matrix", "workflow.absent"],
        WORKFLOW,
        "    runs-on:",
        "    strategy: {matrix: {python: []}}\n    runs-on:",
    ),
    (
        &["job.reusable", "workflow.absent"],
        WORKFLOW,
        "jobs:\n",
        "jobs:\n  call:\n    uses: ./.github/workflows/paired-sdk-gate-call.yml\n",
    ),
    (&["job.needs", "workflow.absent"], WORKFLOW, "    runs-on:", "    needs: gone\n    runs-on:"),
    (
        &["job.needs", "workflow.absent"],
        WORKFLOW,
        "jobs:\n  pair:\n",
        "jobs:\n  early:\n    if: false\n    steps: []\n  pair:\n    needs: [early]\n",
    ),
    (&["job.container", "workflow.absent"], WORKFLOW, "    runs-on:", "    container: python:3.12\n    runs-on:"),
    // The steps.
    (
        &["step.condition", "workflow.absent"],
        WORKFLOW,
        "      - name: Prove it\n",
        "      - name: Prove it\n        if: ${{ false }}\n",
    ),
    (
        &["step.condition", "workflow.absent"],
        WORKFLOW,
        "        working-directory:",
        "        if: failure()\n        working-directory:",
    ),
    (
        &["step.failure-ignored", "workflow.absent"],
        WORKFLOW,
        "      - name: Prove it\n",
        "      - name: Prove it\n        continue-on-error: ${{ true }}\n",
    ),
    (
        &["step.failure-ignored", "workflow.absent"],
        WORKFLOW,
        "      - name: Prove it\n",
        "      - name: Prove it\n        continue-on-error: 'false'\n",
    ),
    (
        &["step.shell", "workflow.absent"],
        WORKFLOW,
        "      - name: Prove it\n",
        "      - name: Prove it\n        shell: bash {0}\n",
    ),
    (&["step.shell", "workflow.absent"], WORKFLOW, "jobs:\n", "defaults:\n  run: {shell: python}\njobs:\n"),
    (&["step.environment", "workflow.absent"], WORKFLOW, "jobs:\n", "env:\n  PATH: /elsewhere\njobs:\n"),
    (&["action.unpinned", "workflow.absent"], WORKFLOW, "@11f9893b081a58869d3b5fccaea48c9e9e46f990", "@v8"),
    (&["action.unpinned", "workflow.absent"], WORKFLOW, "@11f9893b081a58869d3b5fccaea48c9e9e46f990", "@11f9893"),
    // The command.
    (
        &["gate.failure-ignored", "workflow.absent"],
        WORKFLOW,
        "--report paired-sdk-report.json",
        "--report paired-sdk-report.json || true",
    ),
    (
        &["gate.failure-ignored", "workflow.absent"],
        WORKFLOW,
        "          paired-sdk-gate verify",
        "          set +e\n          paired-sdk-gate verify",
    ),
    (
        &["gate.unclear", "workflow.absent"],
        WORKFLOW,
        "--report paired-sdk-report.json",
        "--report paired-sdk-report.json | tee log",
    ),
    (
        &["gate.unclear", "workflow.absent"],
        WORKFLOW,
        "--report paired-sdk-report.json",
        "--report paired-sdk-report.json ; true",
    ),
    (
        &["gate.unclear", "workflow.absent"],
        WORKFLOW,
        "          paired-sdk-gate verify",
        "          echo paired-sdk-gate verify",
    ),
    (
        &["gate.unclear", "workflow.absent"],
        WORKFLOW,
        "          paired-sdk-gate verify",
        "          exit 0\n          paired-sdk-gate verify",
    ),
    (
        &["gate.unclear", "gate.unclear", "workflow.absent"],
        WORKFLOW,
        "          paired-sdk-gate verify",
        "          if false\n          then\n          paired-sdk-gate verify",
    ),
    (&["gate.unclear", "workflow.absent"], WORKFLOW, "jobs:\n", "env:\n  GATE: paired-sdk-gate verify\njobs:\n"),
    (&["gate.unclear"], CI, "ruff check .", "$(which paired-sdk-gate) verify"),
    (&["gate.command", "workflow.absent"], WORKFLOW, "paired-sdk-gate verify", "paired-sdk-gate activate"),
    (&["gate.unclear", "workflow.absent"], WORKFLOW, "paired-sdk-gate verify", "# paired-sdk-gate verify"),
    (
        &["gate.expression", "workflow.absent"],
        WORKFLOW,
        "--expected-version 0.0.13",
        "--expected-version ${{ inputs.version }}",
    ),
    (
        &["gate.expression", "workflow.absent"],
        WORKFLOW,
        "--expected-version 0.0.13",
        "--expected-version ${{ matrix.version }}",
    ),
    (
        &["gate.variable", "workflow.absent"],
        WORKFLOW,
        "--expected-version 0.0.13",
        "--expected-version \"$SDK_VERSION\"",
    ),
    (&["gate.commit", "workflow.absent"], WORKFLOW, "--expected-commit edad", "--expected-commit fdad"),
    (&["gate.commit", "workflow.absent"], WORKFLOW, "--expected-commit edad", "--expected-commit=main#"),
    (&["gate.version", "workflow.absent"], WORKFLOW, "--expected-version 0.0.13", "--expected-version '>=0.0.13'"),
    (&["gate.version", "workflow.absent"], WORKFLOW, "--expected-version 0.0.13", "--expected-version 0.0.1'2'"),
    (&["gate.module-origin", "workflow.absent"], WORKFLOW, "netbox_sdk/plugin_bridge.py", "netbox_sdk/other.py"),
    (&["gate.sdk-root", "workflow.absent"], WORKFLOW, "--sdk-root netbox-sdk", "--sdk-root other"),
    (&["gate.sdk-root", "workflow.absent"], WORKFLOW, "--sdk-root netbox-sdk", "--sdk-root ../netbox-sdk"),
    (&["gate.environment-root", "workflow.absent"], WORKFLOW, "netbox-sdk/.venv", "venv"),
    (&["gate.environment-root", "workflow.absent"], WORKFLOW, "\"$GITHUB_WORKSPACE/netbox-sdk/.venv\"", "/opt/venv"),
    (&["gate.flag", "workflow.absent"], WORKFLOW, "paired-sdk-gate verify", "paired-sdk-gate verify --allow-shallow"),
    (&["gate.flag", "workflow.absent"], WORKFLOW, "paired-sdk-gate verify", "paired-sdk-gate verify --help"),
    (&["gate.flag-missing", "workflow.absent"], WORKFLOW, "            --expected-version 0.0.13 \\\n", ""),
    (
        &["gate.flag-repeated", "workflow.absent"],
        WORKFLOW,
        "--expected-version 0.0.13",
        "--expected-version 0.0.12 --expected-version 0.0.13",
    ),
    // A block without continued lines is one command a line.
    (
        &[
            "gate.flag-missing",
            "gate.flag-missing",
            "gate.flag-missing",
            "gate.flag-missing",
            "gate.unclear",
            "workflow.absent",
        ],
        WORKFLOW,
        "--sdk-root netbox-sdk \\",
        "--sdk-root netbox-sdk",
    ),
    // The checkout.
    (&["checkout.missing", "workflow.absent"], WORKFLOW, "actions/checkout@", "example/clone@"),
    (&["checkout.ref", "workflow.absent"], WORKFLOW, "ref: edad23ab186d5ad5475440690eccc29d49824b8a", "ref: v0.0.13"),
    (
        &["checkout.ref", "workflow.absent"],
        WORKFLOW,
        "ref: edad23ab186d5ad5475440690eccc29d49824b8a",
        "ref: ${{ github.sha }}",
    ),
    (&["checkout.ref", "workflow.absent"], WORKFLOW, "          ref: edad23ab186d5ad5475440690eccc29d49824b8a\n", ""),
    (
        &["checkout.repository", "workflow.absent"],
        WORKFLOW,
        "repository: example/netbox-sdk",
        "repository: ${{ inputs.sdk }}",
    ),
    (&["checkout.repository", "workflow.absent"], WORKFLOW, "          repository: example/netbox-sdk\n", ""),
    (&["checkout.depth", "workflow.absent"], WORKFLOW, "          fetch-depth: 0\n", ""),
    (
        &["checkout.depth", "workflow.absent"],
        WORKFLOW,
        "fetch-depth: 0",
        "fetch-depth: 0\n          sparse-checkout: netbox_sdk",
    ),
    // The installation.
    (&["install.unlocked", "workflow.absent"], WORKFLOW, "uv sync --frozen", "uv sync"),
    (
        &["install.unlocked", "workflow.absent"],
        WORKFLOW,
        "uv sync --frozen --no-install-project",
        "uv pip install --python .venv/bin/python aiohttp",
    ),
    (
        &["install.missing", "workflow.absent"],
        WORKFLOW,
        "run: uv sync --frozen --no-install-project",
        "run: make install",
    ),
    (
        &["step.failure-ignored", "workflow.absent"],
        WORKFLOW,
        "        run: uv sync",
        "        continue-on-error: true\n        run: uv sync",
    ),
];

#[test]
fn every_edit_of_a_sound_producer_is_refused_by_its_name() {
    let mut seen = BTreeSet::new();
    let mut wrong = Vec::new();
    for &(ids, file, from, to) in EDITS {
        let producer = Producer::active();
        producer.edit(file, from, to);
        let drifts = producer.drifts();
        let found: Vec<_> = drifts.iter().map(|drift| drift.id).collect();
        // These alone have no line to point at: something is not there, or is no JSON.
        let placed = |id: &str| !matches!(id, "constants.missing" | "snapshot.not-manifest" | "workflow.absent");
        let sound =
            drifts.iter().all(|drift| drift.line.is_some() == placed(drift.id) && drift.expected != drift.found);
        if found != ids || !sound {
            wrong.push(format!("{from:?} → {to:?}: wanted {ids:?}\n  {}", told(&drifts).join("\n  ")));
        }
        seen.extend(ids[..1].iter().copied());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(EDITS.len() >= 40 && seen.len() >= 40, "{} cases, {} ids", EDITS.len(), seen.len());
    let elsewhere = ["workflow.absent", "record.missing", "snapshot.missing", "workflow.presented", "file.unreadable"];
    let untried: Vec<_> =
        TABLE.iter().map(|kind| kind.id()).filter(|id| !seen.contains(id) && !elsewhere.contains(id)).collect();
    assert_eq!(untried, [""; 0], "a drift that no case shows");
}

#[test]
fn what_is_not_there_is_missed_by_name() {
    for (file, id) in [
        (RECORD, Kind::RecordMissing.id()),
        (CONSTANTS, Kind::ConstantsMissing.id()),
        (SNAPSHOT, Kind::SnapshotMissing.id()),
        (WORKFLOW, Kind::WorkflowAbsent.id()),
    ] {
        let producer = Producer::active();
        std::fs::remove_file(producer.path(file)).unwrap();
        assert_eq!(producer.drifts().iter().map(|drift| drift.id).collect::<Vec<_>>(), [id]);
    }
    // Where nothing can be read, nothing is known.
    let producer = Producer::active();
    std::fs::remove_file(producer.path(SNAPSHOT)).unwrap();
    std::os::unix::fs::symlink("netbox_sdk_bridge_activation.json", producer.path(SNAPSHOT)).unwrap();
    let drifts = producer.drifts();
    assert_eq!((drifts.len(), drifts[0].id, drifts[0].undecided()), (1, "file.unreadable", true));
}

#[test]
fn a_comment_that_looks_like_the_command_proves_nothing() {
    let producer = Producer::active();
    let commented = producer
        .read(WORKFLOW)
        .replace("          paired-sdk-gate verify", "          true\n          # paired-sdk-gate verify");
    producer.write(WORKFLOW, commented.replace("            --", "          # --"));
    assert_eq!(producer.drifts().iter().map(|drift| drift.id).collect::<Vec<_>>(), ["workflow.absent"]);
}

#[test]
fn a_blocked_producer_presents_nothing() {
    for (run, presented) in [
        ("paired-sdk-gate check --producer-root .", false),
        ("paired-sdk-gate status --record x", false),
        ("echo done # paired-sdk-gate verify", false),
        ("|\n          # paired-sdk-gate verify\n          true", false),
        ("paired-sdk-gate verify --sdk-root x", true),
        ("paired-sdk-gate activate --sdk-root x", true),
        ("\"paired\\x2dsdk\\u002dgate verify\"", true),
        ("'paired-sdk-''gate verify'", false),
        ("paired-sdk-\"gate\" verify", true),
        ("python -I tests/validate_paired_netbox_sdk_bridge.py", true),
        ("bash -c 'paired-sdk-gate verify' || true", true),
        (">-\n          paired-sdk-gate\n          verify --sdk-root x", true),
        ("some-wrapper --expected-commit x", true),
    ] {
        let producer = Producer::blocked();
        producer.edit(CI, "run: ruff check .", &format!("run: {run}"));
        let found: Vec<_> = producer.drifts().iter().map(|drift| drift.id).collect();
        let expected: &[&str] = if presented { &["workflow.presented"] } else { &[] };
        assert_eq!(found, expected, "{run}");
    }
    let producer = Producer::active();
    producer.write(RECORD, Producer::blocked().read(RECORD));
    producer.write(CONSTANTS, Producer::blocked().read(CONSTANTS));
    let drifts = producer.drifts();
    let line = producer.read(WORKFLOW).lines().position(|line| line.contains("paired-sdk-gate verify")).unwrap() + 1;
    assert_eq!((drifts.len(), drifts[0].id, drifts[0].line), (1, "workflow.presented", Some(line)));
}

#[test]
fn a_drift_is_told_with_its_line_and_both_sides() {
    let producer = Producer::active();
    producer.edit(CONSTANTS, COMMIT, OTHER);
    producer.edit(SNAPSHOT, "\"POST\"", "\"PUT\"");
    producer.edit(WORKFLOW, &format!("--expected-version {VERSION}"), "--expected-version 0.0.12");
    let line = |file: &str, text: &str| producer.read(file).lines().position(|line| line.contains(text)).unwrap() + 1;
    let gate = line(WORKFLOW, "paired-sdk-gate verify");
    assert_eq!(
        told(&producer.drifts()),
        [
            format!(
                "snapshot.differs {SNAPSHOT}:{} expected /tools/1/method \"POST\", found /tools/1/method \"PUT\"",
                line(SNAPSHOT, "\"PUT\"")
            ),
            format!(
                "constants.commit {CONSTANTS}:8 expected MCP_BRIDGE_EXPECTED_SDK_COMMIT = \"{COMMIT}\", as the record says, found \"{OTHER}\""
            ),
            format!("gate.version {WORKFLOW}:{gate} expected --expected-version {VERSION}, found 0.0.12"),
            format!(
                "workflow.absent .github/workflows expected a workflow that proves version {VERSION}, commit {COMMIT}, found none"
            ),
        ]
    );
}
