//! The workflow that proves an identity, written out: what `check` accepts.

use std::path::Path;

use crate::contract::Contract;
use crate::identity::{CommitId, ReleaseVersion};

/// Whose dialect of workflows it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forge {
    /// GitHub Actions.
    Github,
    /// Gitea Actions, which takes the SDK from GitHub.
    Gitea,
}

impl Forge {
    /// The forge whose workflows a folder holds; GitHub's if that is not told by its name.
    pub fn of(folder: &Path) -> Forge {
        if folder.starts_with(".gitea") { Forge::Gitea } else { Forge::Github }
    }

    /// The file that the workflow belongs in.
    pub fn file(self) -> &'static str {
        match self {
            Forge::Github => ".github/workflows/paired-sdk-gate.yml",
            Forge::Gitea => ".gitea/workflows/paired-sdk-gate.yml",
        }
    }
}

/// One identity and where it comes from.
#[derive(Clone, Debug)]
pub struct Pairing<'a> {
    /// The version.
    pub version: &'a ReleaseVersion,
    /// The commit.
    pub commit: CommitId,
    /// `OWNER/NAME` of the SDK's repository.
    pub repository: &'a str,
    /// `OWNER/NAME@COMMIT` of the action that provides the gate; without it the runner has to have it.
    pub action: Option<&'a str>,
}

impl Pairing<'_> {
    /// The SDK's repository, as its published metadata names it.
    pub const REPOSITORY: &'static str = "emersonfelipesp/netbox-sdk";

    /// The whole workflow.
    pub fn workflow(&self, forge: Forge, contract: &Contract) -> String {
        let Pairing { version, commit, repository, action } = self;
        let origin = contract.module_origin;
        let (server, upload) = match forge {
            Forge::Github => ("", "actions/upload-artifact@043fb46d1a93c77aae656e7c1c64a875d1fc6a0a # v7.0.1"),
            Forge::Gitea => (
                "\n          github-server-url: https://github.com",
                "actions/upload-artifact@c6a3b2bd78b3985e4b2f15397fec357f0fd808de # v3.2.2-node20",
            ),
        };
        let gate = match action {
            Some(action) => format!("      - name: Provide the gate\n        uses: {action}\n"),
            None => "      # The runner has paired-sdk-gate on its PATH.\n".into(),
        };
        format!(
            r#"# Proves on every change that exactly this commit of the SDK may be exposed through the semantic MCP bridge.
# Printed by `paired-sdk-gate ci`; `paired-sdk-gate check` holds it against the activation record.
name: Paired SDK gate

on:
  push:
  pull_request:

permissions:
  contents: read

jobs:
  pair:
    runs-on: ubuntu-latest
    timeout-minutes: 20
    steps:
      - name: Check out the SDK at that commit, with its whole history
        uses: actions/checkout@de0fac2e4500dabe0009e67214ff5f5447ce83dd # v6.0.2
        with:
          repository: {repository}
          ref: {commit}
          path: netbox-sdk
          fetch-depth: 0
          persist-credentials: false{server}
      - name: Provide uv
        uses: astral-sh/setup-uv@11f9893b081a58869d3b5fccaea48c9e9e46f990 # v8.3.2
      - name: Install exactly what the SDK's lock names
        working-directory: netbox-sdk
        run: uv sync --frozen --no-install-project
{gate}      - name: Prove it
        run: |
          paired-sdk-gate verify \
            --sdk-root netbox-sdk \
            --expected-commit {commit} \
            --expected-version {version} \
            --expected-environment-root "$GITHUB_WORKSPACE/netbox-sdk/.venv" \
            --expected-module-origin {origin} \
            --report paired-sdk-report.json
      - name: Keep the report
        if: always()
        uses: {upload}
        with:
          name: paired-sdk-report
          path: paired-sdk-report.json
"#
        )
    }
}
