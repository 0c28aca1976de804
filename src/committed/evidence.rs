//! Whether a command that runs the gate is evidence: it runs, its failure counts, and it is about the identity wanted.

use super::drift::{Drift, Kind};
use super::gate::{self, Given, Wrong, inside_workspace};
use super::install::{self, Lock};
use super::shell::{self, Command};
use super::yaml::{Node, shortened};

/// Branches whose pushes count as every push.
const DEFAULT_BRANCHES: &[&str] = &["main", "master", "**", "*"];
/// Conditions that hold whenever the steps before have not failed.
const NO_CONDITIONS: &[&str] = &["true", "success()", "always()", "!cancelled()"];
/// Variables that put something else in the place of what a command names.
const MEDDLING: &[&str] = &[
    "PATH",
    "BASH_ENV",
    "ENV",
    "PWD",
    "GITHUB_WORKSPACE",
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "UV_PROJECT_ENVIRONMENT",
    "UV_PROJECT",
    "UV_WORKING_DIR",
    "GIT_DIR",
];

/// The identity that a workflow has to prove.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    pub(super) commit: String,
    pub(super) version: String,
    pub(super) module_origin: String,
}

/// Gathers what keeps one command from being evidence.
pub(super) struct Judge<'a> {
    file: &'a str,
    root: &'a Node,
    wanted: &'a Wanted,
    pub(super) drifts: Vec<Drift>,
}

impl<'a> Judge<'a> {
    pub(super) fn new(file: &'a str, root: &'a Node, wanted: &'a Wanted) -> Self {
        Judge { file, root, wanted, drifts: Vec::new() }
    }

    pub(super) fn add(&mut self, kind: Kind, line: usize, expected: impl Into<String>, found: impl Into<String>) {
        self.drifts.push(Drift::new(kind, (self.file, Some(line)), expected, found));
    }

    /// Judges the gate among the commands of a step, with the job around it and the steps before it.
    pub(super) fn command(
        &mut self,
        line: usize,
        commands: &[Command],
        at: usize,
        reference: bool,
        job: &Node,
        step: usize,
    ) {
        let (given, mut wrong) = Given::read(&commands[at], reference);
        wrong.extend(given.differing(&self.wanted.commit, &self.wanted.version, &self.wanted.module_origin));
        for Wrong { kind, expected, found } in wrong {
            self.add(kind, line, expected, found);
        }
        for command in commands {
            if let Some(kind) = gate::in_the_way(command) {
                let found = shortened(&command.words.join(" "));
                self.add(kind, line, "nothing beside the gate but `set -e`, `mkdir` and `echo`", found);
            }
        }
        self.trigger();
        self.job(job);
        let steps = job.get("steps").map(Node::items).unwrap_or_default();
        let step_node = &steps[step];
        self.needed(step_node);
        self.shell(step_node, job);
        for holder in [self.root, job, step_node] {
            self.environment(holder);
        }
        for uses in steps.iter().filter_map(|step| step.get("uses")) {
            self.pinned(uses);
        }
        let Some(folder) = self.folder(step_node, job) else { return };
        let before = &steps[..step];
        self.checkout(line, &given, &folder, before);
        self.install(line, &given, &folder, before, job);
    }

    fn trigger(&mut self) {
        let Some(on) = self.root.get("on") else {
            return self.add(Kind::WorkflowTrigger, self.root.line, "on: push or pull_request", "no `on`");
        };
        let named = |name: Option<&str>| matches!(name, Some("push" | "pull_request"));
        let runs = named(on.text())
            || on.items().iter().any(|item| named(item.text()))
            || on.members().iter().any(|(event, filter)| named(event.text()) && unfiltered(filter));
        if !runs {
            let expected = "every push to the default branch or every pull request, without filter of paths";
            self.add(Kind::WorkflowTrigger, on.line, expected, on.shown());
        }
    }

    fn job(&mut self, job: &Node) {
        self.unconditional(job, Kind::JobCondition);
        self.failing(job, Kind::JobFailureIgnored);
        if let Some(strategy) = job.get("strategy") {
            self.add(Kind::JobMatrix, strategy.line, "a job without `strategy`", strategy.shown());
        }
        if let Some(uses) = job.get("uses") {
            self.add(Kind::JobReusable, uses.line, "a job with steps of its own", uses.shown());
        }
        if let Some(container) = job.get("container") {
            let image = container.text().or_else(|| container.get("image").and_then(Node::text)).unwrap_or_default();
            if !by_digest(image) {
                self.add(Kind::JobContainer, container.line, "an image by its digest, or none", shortened(image));
            }
        }
        self.needs(job, &mut Vec::new());
    }

    fn needs(&mut self, job: &Node, seen: &mut Vec<String>) {
        let Some(needs) = job.get("needs") else { return };
        let names: Vec<_> = needs.text().into_iter().chain(needs.items().iter().filter_map(Node::text)).collect();
        for name in names {
            if seen.iter().any(|other| other == name) {
                continue;
            }
            seen.push(name.to_owned());
            let Some(other) = self.root.get("jobs").and_then(|jobs| jobs.get(name)) else {
                self.add(Kind::JobNeeds, needs.line, "jobs of this workflow", name);
                continue;
            };
            let condition = other.get("if").filter(|node| !is_no_condition(node));
            for (what, line) in [
                (condition.map(|node| ("a condition", node.line))),
                (other.get("strategy").map(|node| ("a matrix", node.line))),
            ]
            .into_iter()
            .flatten()
            {
                self.add(Kind::JobNeeds, line, format!("a job {name} that always runs"), format!("one with {what}"));
            }
            self.needs(other, seen);
        }
    }

    /// The step runs, and its failure counts.
    fn needed(&mut self, step: &Node) {
        self.unconditional(step, Kind::StepCondition);
        self.failing(step, Kind::StepFailureIgnored);
    }

    fn unconditional(&mut self, node: &Node, kind: Kind) {
        if let Some(condition) = node.get("if").filter(|node| !is_no_condition(node)) {
            self.add(kind, condition.line, "no condition", condition.shown());
        }
    }

    fn failing(&mut self, node: &Node, kind: Kind) {
        if let Some(ignored) = node.get("continue-on-error").filter(|node| !node.is_bool(false)) {
            self.add(kind, ignored.line, "no `continue-on-error`", ignored.shown());
        }
    }

    /// What the step says, or else the job's or the workflow's defaults for `run`.
    fn setting<'b>(&'b self, step: &'b Node, job: &'b Node, name: &str) -> Option<&'b Node> {
        let default = |holder: &'b Node| holder.get("defaults")?.get("run")?.get(name);
        step.get(name).or_else(|| default(job)).or_else(|| default(self.root))
    }

    fn shell(&mut self, step: &Node, job: &Node) {
        let shell = self.setting(step, job, "shell").map(|shell| (shell.line, shell.shown()));
        if let Some((line, shell)) = shell.filter(|(_, shell)| shell != "bash" && shell != "sh") {
            self.add(Kind::StepShell, line, "bash or sh, without further arguments", shell);
        }
    }

    /// The folder a step runs in.
    fn folder(&mut self, step: &Node, job: &Node) -> Option<String> {
        let Some(node) = self.setting(step, job, "working-directory") else { return Some(String::new()) };
        let spelled = node.text().unwrap_or_default().replace("${{ github.workspace }}", &shell::WORKSPACE.to_string());
        let (line, shown) = (node.line, node.shown());
        let folder = inside_workspace("", &spelled);
        if folder.is_none() {
            self.add(Kind::GateSdkRoot, line, "a folder of the workspace", shown);
        }
        folder
    }

    fn environment(&mut self, holder: &Node) {
        for (key, _) in holder.get("env").map(Node::members).unwrap_or_default() {
            if let Some(name) = key.text().filter(|name| MEDDLING.contains(name)) {
                self.add(Kind::StepEnvironment, key.line, format!("no variable {name}"), "one");
            }
        }
    }

    fn pinned(&mut self, uses: &Node) {
        let text = uses.text().unwrap_or_default();
        let pinned = match text.split_once('@') {
            _ if text.starts_with("./") => true,
            _ if text.starts_with("docker://") => by_digest(text),
            Some((_, id)) => id.len() == 40 && id.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')),
            None => false,
        };
        if !pinned {
            self.add(Kind::ActionUnpinned, uses.line, "an action at a full commit id", shortened(text));
        }
    }

    fn checkout(&mut self, line: usize, given: &Given, folder: &str, before: &[Node]) {
        let Some(root) = given.sdk_root() else { return };
        let Some(root) = inside_workspace(folder, root) else {
            return self.add(Kind::GateSdkRoot, line, "--sdk-root in the workspace", printable(root));
        };
        let checkouts: Vec<_> = before.iter().filter_map(install::checkout).collect();
        let Some(checkout) = checkouts.iter().rev().find(|checkout| checkout.path.as_ref() == Some(&root)) else {
            let elsewhere =
                checkouts.iter().find(|other| other.input("ref").is_some_and(|(_, id)| id == self.wanted.commit));
            return match elsewhere {
                Some(other) => {
                    let path = other.path.clone().unwrap_or_default();
                    self.add(
                        Kind::GateSdkRoot,
                        line,
                        format!("--sdk-root {path:?}, which is checked out"),
                        format!("{root:?}"),
                    );
                }
                None => {
                    let expected = format!("a step before it that checks out {} to {root:?}", self.wanted.commit);
                    self.add(Kind::CheckoutMissing, line, expected, "none");
                }
            };
        };
        let step = checkout.step;
        self.needed(step);
        match checkout.input("repository") {
            Some((node, name)) if !is_repository(name) => {
                self.add(Kind::CheckoutRepository, node.line, "repository: OWNER/NAME", node.shown());
            }
            Some(_) => {}
            None => self.add(Kind::CheckoutRepository, step.line, "repository: OWNER/NAME of the SDK", "none"),
        }
        match checkout.input("ref") {
            Some((_, id)) if id == self.wanted.commit => {}
            Some((node, _)) => {
                self.add(Kind::CheckoutRef, node.line, format!("ref: {}", self.wanted.commit), node.shown());
            }
            None => self.add(Kind::CheckoutRef, step.line, format!("ref: {}", self.wanted.commit), "none"),
        }
        match checkout.input("fetch-depth") {
            Some((_, "0")) => {}
            Some((node, _)) => self.add(Kind::CheckoutDepth, node.line, "fetch-depth: 0", node.shown()),
            None => self.add(Kind::CheckoutDepth, step.line, "fetch-depth: 0", "none, which means 1"),
        }
        for name in ["filter", "sparse-checkout"] {
            if let Some((node, _)) = checkout.input(name) {
                self.add(Kind::CheckoutDepth, node.line, format!("no `{name}`"), node.shown());
            }
        }
    }

    fn install(&mut self, line: usize, given: &Given, folder: &str, before: &[Node], job: &Node) {
        let Some(spelled) = given.environment_root() else { return };
        let absolute = spelled.starts_with([shell::WORKSPACE, shell::HERE]);
        let Some(root) = inside_workspace(folder, spelled).filter(|_| absolute) else {
            let expected = "--expected-environment-root below $GITHUB_WORKSPACE";
            return self.add(Kind::GateEnvironmentRoot, line, expected, printable(spelled));
        };
        let mut installations = Vec::new();
        for step in before.iter().filter(|step| step.get("run").is_some()) {
            if let Some(folder) = self.folder(step, job) {
                installations.extend(install::installations(step, &folder));
            }
        }
        let (here, elsewhere): (Vec<_>, Vec<_>) =
            installations.iter().partition(|found| found.environment.as_ref() == Some(&root));
        for found in &here {
            self.needed(found.step);
            self.shell(found.step, job);
            self.environment(found.step);
            if found.lock == Lock::Unlocked {
                let expected = "uv sync --frozen (or --locked), or pip install --require-hashes";
                self.add(Kind::InstallUnlocked, found.line, expected, "neither");
            }
        }
        match (here.is_empty(), elsewhere.iter().find_map(|found| found.environment.clone())) {
            (false, _) => {}
            (true, Some(other)) => {
                let expected = format!("--expected-environment-root $GITHUB_WORKSPACE/{other}, which is installed");
                self.add(Kind::GateEnvironmentRoot, line, expected, printable(spelled));
            }
            (true, None) => {
                let expected = format!("a step before it that installs into {root:?} from a lock");
                self.add(Kind::InstallMissing, line, expected, "none");
            }
        }
    }
}

fn printable(word: &str) -> String {
    word.replace(shell::WORKSPACE, "$GITHUB_WORKSPACE").replace(shell::HERE, "$PWD")
}

fn is_no_condition(node: &Node) -> bool {
    let text = node.text().unwrap_or_default().trim();
    let inner = text.strip_prefix("${{").and_then(|text| text.strip_suffix("}}")).unwrap_or(text);
    NO_CONDITIONS.contains(&inner.trim())
}

/// Nothing keeps the event from running the workflow, but that it may be limited to branches among which is the default.
fn unfiltered(filter: &Node) -> bool {
    let empty = filter.is_null();
    let branches = |node: &Node| {
        node.text()
            .into_iter()
            .chain(node.items().iter().filter_map(Node::text))
            .any(|name| DEFAULT_BRANCHES.contains(&name))
            && !node.items().iter().filter_map(Node::text).any(|name| name.starts_with('!'))
    };
    empty
        || (!filter.members().is_empty()
            && filter.members().iter().all(|(key, value)| key.text() == Some("branches") && branches(value)))
}

fn by_digest(image: &str) -> bool {
    image
        .split_once("@sha256:")
        .is_some_and(|(_, digest)| digest.len() == 64 && digest.bytes().all(|b| b.is_ascii_hexdigit()))
}

fn is_repository(name: &str) -> bool {
    let part = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    name.split_once('/').is_some_and(|(owner, name)| part(owner) && part(name))
}
