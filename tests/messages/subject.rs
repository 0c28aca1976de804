//! A subject that passes under the published contract without anything fetched, and the scenes it is put into.

use std::process::Command;

use crate::support::gate::{Outcome, identified};
use crate::support::subject::{Subject, VERSION};

pub const BRIDGE: &str = "netbox_sdk/plugin_bridge.py";
pub const INIT: &str = "netbox_sdk/__init__.py";

/// What a scene changes, and how the program is started on it.
pub struct Scene {
    pub subject: Subject,
    pub arguments: Vec<String>,
    /// Comes before the program, as a shell's `ulimit` does.
    pub before: &'static str,
    pub temporary: std::path::PathBuf,
    /// As this machine's Python calls it, below the environment.
    site: String,
}

impl Scene {
    /// The embedded SDK with the classes and modules that the real one has from its dependencies.
    pub fn new() -> Self {
        let mut subject = Subject::new();
        subject.install("jsonschema", &[("jsonschema/__init__.py", "")]);
        let classes = "class ValidationError(ValueError):\n    pass\n";
        subject.install("pydantic", &[("pydantic/__init__.py", ""), ("pydantic_core/_pydantic_core.py", classes)]);
        let source = std::fs::read_to_string(subject.repo.root().join(BRIDGE)).unwrap();
        let own = "class PluginManifestError(ValueError):\n    \"\"\"A document is no bridge-v1 manifest.\"\"\"\n";
        let borrowed = "import jsonschema, pydantic\nfrom pydantic_core._pydantic_core import ValidationError as PluginManifestError\n";
        assert!(source.contains(own));
        // Where the real one has them. The client's module needs what stands before.
        let calls = "from netbox_sdk.client import discover_plugin_manifests, plugin_arguments_to_query, plugin_tool_request_path\n";
        subject.repo.write(BRIDGE, format!("{}\n\n{calls}", source.replace(own, borrowed)));
        subject.repo.write("netbox_sdk/config.py", "from netbox_sdk.client import Config\n");
        subject.commit = subject.repo.commit_all("The embedded SDK, as the real one is made");
        let temporary = subject.temporary();
        let site = subject.site().strip_prefix(&subject.environment).unwrap().to_str().unwrap().to_owned();
        let arguments = ["--seed", "7", "--generated", "0"].map(str::to_owned).to_vec();
        Scene { subject, arguments, before: "", temporary, site }
    }

    /// More arguments.
    pub fn with(&mut self, arguments: &[&str]) {
        self.arguments.extend(arguments.iter().map(|&argument| argument.to_owned()));
    }

    /// Commits a change of one file.
    pub fn commit(&mut self, path: &str, change: impl FnOnce(String) -> String) {
        let text = std::fs::read_to_string(self.subject.repo.root().join(path)).unwrap_or_default();
        self.subject.repo.write(path, change(text));
        self.subject.commit = self.subject.repo.commit_all("Change the SDK");
    }

    /// Commits what comes after the bridge module's own code.
    pub fn append(&mut self, code: &str) {
        self.commit(BRIDGE, |source| format!("{source}\n\n{code}\n"));
    }

    /// Commits what comes after the client's own code.
    pub fn client(&mut self, code: &str) {
        self.commit(crate::pair::CLIENT, |source| format!("{source}\n\n{code}\n"));
    }

    /// Commits what a hostile SDK adds.
    pub fn hostile(&mut self, case: &str) {
        let path =
            std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/hostile").join(case).join("append.py");
        self.append(&std::fs::read_to_string(path).unwrap());
    }

    /// What is said for people, without what passed or never ran, and the report beside it.
    pub fn play(&self, verb: &str) -> (String, String) {
        let Subject { repo, commit, environment, .. } = &self.subject;
        let gate = identified(verb, repo.root(), commit, VERSION, environment);
        let mut shell = Command::new("sh");
        shell
            .args(["-c", &format!("{} exec \"$0\" \"$@\"", self.before)])
            .arg(gate.get_program())
            .args(gate.get_args());
        shell
            .args(&self.arguments)
            .args(["--format", "json"])
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap());
        let outcome = Outcome::of(shell.env("TMPDIR", &self.temporary));
        let told = self.plain(&brief(&outcome.stderr));
        (format!("{told}[exit {}]\n", outcome.code), outcome.stdout)
    }

    /// Without what differs from run to run.
    fn plain(&self, text: &str) -> String {
        let text = text
            .replace(self.subject.dir.path().to_str().unwrap(), "/dir")
            .replace(&self.site, "lib/python/site-packages");
        // Ports are drawn by the kernel, and what comes after one stays.
        let mut servers = text.split("127.0.0.1:");
        let first = servers.next().unwrap_or_default().to_owned();
        let text = servers.fold(first, |text, rest| {
            format!("{text}127.0.0.1:PORT{}", rest.trim_start_matches(|c: char| c.is_ascii_digit()))
        });
        // So is the token of each run.
        const SECRET: usize = 40;
        let mut secrets = text.split("?secret=");
        let first = secrets.next().unwrap_or_default().to_owned();
        let text = secrets.fold(first, |text, rest| format!("{text}?secret=SECRET{}", &rest[SECRET..]));
        let drawn = |part: &&str| {
            part.len() >= 12 && part.is_char_boundary(12) && {
                let (name, rest) = part.split_at(12);
                let ends = !rest.starts_with(|c: char| c.is_ascii_alphanumeric());
                ends && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
                    && name.bytes().any(|byte| byte.is_ascii_uppercase())
            }
        };
        let parts =
            text.split('/').map(|part| if drawn(&part) { format!("drawn{}", &part[12..]) } else { part.to_owned() });
        parts.collect::<Vec<_>>().join("/")
    }
}

/// Without what passed or never ran, and of many findings of a check the first three.
fn brief(text: &str) -> String {
    const SHOWN: usize = 3;
    let (mut brief, mut findings) = (String::new(), 0);
    for line in text.lines().filter(|line| !line.starts_with("pass  ") && !line.starts_with("----  ")) {
        match line.bytes().take_while(|byte| *byte == b' ').count() {
            0 => findings = 0,
            6 => findings += 1,
            _ => {}
        }
        match findings {
            0..=SHOWN => brief += &format!("{line}\n"),
            more if more == SHOWN + 1 && line.starts_with("      ") && !line.starts_with("       ") => {
                brief += "      …\n"
            }
            _ => {}
        }
    }
    brief
}
