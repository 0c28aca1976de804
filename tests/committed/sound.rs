//! Spellings of sound evidence, all of them accepted.

use super::{COMMIT, CONSTANTS, Producer, RECORD, WORKFLOW, told};

const CHECKOUT: &str = "actions/checkout@de0fac2e4500dabe0009e67214ff5f5447ce83dd # v6.0.2";

const EDITS: &[(&str, &str, &str)] = &[
    (WORKFLOW, "on:\n  push:\n  pull_request:\n", "on: push\n"),
    (WORKFLOW, "on:\n  push:\n  pull_request:\n", "\"on\": [workflow_dispatch, pull_request]\n"),
    (WORKFLOW, "  push:\n  pull_request:\n", "  push: {branches: [main, develop]}\n  workflow_dispatch:\n"),
    (
        WORKFLOW,
        "    runs-on: ubuntu-latest",
        "    if: ${{ always() }}\n    continue-on-error: false\n    runs-on: [self-hosted, linux]",
    ),
    (WORKFLOW, "jobs:\n  pair:\n", "jobs:\n  lint:\n    steps: []\n  pair:\n    needs: lint\n"),
    (WORKFLOW, "      - name: Prove it\n", "      - name: Prove it\n        shell: bash\n        if: success()\n"),
    (
        WORKFLOW,
        "          paired-sdk-gate verify",
        "          set -euo pipefail\n          mkdir -p reports\n          ./bin/paired-sdk-gate verify",
    ),
    (WORKFLOW, "--expected-version 0.0.13", "'--expected-version=0.0.13'"),
    (WORKFLOW, "--expected-version 0.0.13", "--expected-version \"0.0\".13 --require-sandbox --format json"),
    (WORKFLOW, "\"$GITHUB_WORKSPACE/netbox-sdk/.venv\"", "${{ github.workspace }}/netbox-sdk/.venv"),
    (WORKFLOW, "\"$GITHUB_WORKSPACE/netbox-sdk/.venv\"", "\"${PWD}/./netbox-sdk//.venv\""),
    (WORKFLOW, "--sdk-root netbox-sdk", "--sdk-root \"$GITHUB_WORKSPACE/netbox-sdk/\""),
    (WORKFLOW, "path: netbox-sdk\n          fetch-depth: 0", "path: ./netbox-sdk\n          fetch-depth: '0'"),
    (
        WORKFLOW,
        "        working-directory: netbox-sdk\n        run: uv sync --frozen",
        "        run: uv sync --directory netbox-sdk --locked",
    ),
    (
        WORKFLOW,
        "run: uv sync --frozen --no-install-project",
        "run: |\n          python3 -m venv .venv\n          .venv/bin/pip install --require-hashes -r ../locked.txt",
    ),
    (
        WORKFLOW,
        "run: uv sync --frozen --no-install-project",
        "run: uv pip sync --require-hashes --python .venv/bin/python ../locked.txt",
    ),
    (WORKFLOW, "    runs-on: ubuntu-latest", "    runs-on: ubuntu-latest\n    env: {UV_NO_CACHE: '1'}"),
    (WORKFLOW, CHECKOUT, "https://github.com/actions/checkout@de0fac2e4500dabe0009e67214ff5f5447ce83dd"),
    (CONSTANTS, "(\n    \"Nothing was proven yet.\"\n)", "'Nothing was ' \"proven yet.\""),
    (CONSTANTS, "MCP_BRIDGE_EXPECTED_SDK_COMMIT: str | None =", "MCP_BRIDGE_EXPECTED_SDK_COMMIT ="),
    (RECORD, "\n  \"state\"", "   \"state\""),
];

#[test]
fn every_sound_spelling_is_accepted() {
    assert!(EDITS.len() >= 10);
    let mut refused = Vec::new();
    for &(file, from, to) in EDITS {
        let producer = Producer::active();
        producer.edit(file, from, to);
        let drifts = told(&producer.drifts());
        if !drifts.is_empty() {
            refused.push(format!("{from:?} → {to:?}\n  {}", drifts.join("\n  ")));
        }
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

#[test]
fn folded_scalars_and_flow_style_are_spellings_too() {
    let producer = Producer::active();
    let text = producer.read(WORKFLOW);
    let start = text.find("        run: |\n          paired-sdk-gate").unwrap();
    let end = text.find("      - name: Keep").unwrap();
    let folded = text[start..end].replace("run: |", "run: >-").replace(" \\\n            ", "\n          ");
    producer.write(WORKFLOW, format!("{}{folded}{}", &text[..start], &text[end..]));
    assert_eq!(told(&producer.drifts()), [""; 0]);

    let flow = format!(
        "{{on: push, jobs: {{a: {{runs-on: x, steps: [\
         {{uses: {}, with: {{repository: a/b, ref: {COMMIT}, path: s, fetch-depth: 0}}}}, \
         {{run: uv sync --frozen, working-directory: s}}, \
         {{run: 'paired-sdk-gate verify --sdk-root . --expected-commit {COMMIT} --expected-version 0.0.13 \
         --expected-environment-root $PWD/.venv --expected-module-origin netbox_sdk/plugin_bridge.py', working-directory: s}}]}}}}}}",
        CHECKOUT.split(' ').next().unwrap()
    );
    producer.write(WORKFLOW, flow);
    assert_eq!(told(&producer.drifts()), [""; 0]);
    // `$PWD` is the step's own folder there, and not the workspace.
    producer.edit(WORKFLOW, "$PWD/.venv", "$PWD/s/.venv");
    assert_eq!(producer.drifts()[0].id, "gate.environment-root");
}

#[test]
fn the_gate_in_python_may_stand_beside_but_is_no_evidence() {
    let producer = Producer::active();
    let both = producer
        .read(WORKFLOW)
        .replace("--report paired-sdk-report.json\n", "--report paired-sdk-report.json\n          echo then\n");
    let reference = "python -I tests/validate_paired_netbox_sdk_bridge.py";
    let alone = both
        .replace("paired-sdk-gate verify", reference)
        .replace(" \\\n            --report paired-sdk-report.json", "");
    producer.write(".github/workflows/reference.yml", &alone);
    assert_eq!(told(&producer.drifts()), [""; 0]);
    producer.write(WORKFLOW, &alone);
    assert_eq!(producer.drifts().iter().map(|drift| drift.id).collect::<Vec<_>>(), ["workflow.absent"]);
}
