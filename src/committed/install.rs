//! The steps before the gate: the SDK's checkout and its locked environment.

use super::gate::inside_workspace;
use super::shell::{self, Command};
use super::yaml::Node;

/// A checkout, or what is wrong with it.
pub(super) struct Checkout<'a> {
    pub(super) step: &'a Node,
    /// Where it leaves the files.
    pub(super) path: Option<String>,
    with: Option<&'a Node>,
}

/// The step is the forge's checkout action.
pub(super) fn checkout(step: &Node) -> Option<Checkout<'_>> {
    let uses = step.get("uses")?.text()?;
    let (action, _) = uses.split_once('@')?;
    let known =
        action == "actions/checkout" || (action.starts_with("https://") && action.ends_with("/actions/checkout"));
    let with = step.get("with");
    let path = with.and_then(|with| with.get("path")).map_or(Some("."), Node::text);
    known.then(|| Checkout { step, path: path.and_then(|path| inside_workspace("", path)), with })
}

impl<'a> Checkout<'a> {
    /// An input, with its text.
    pub(super) fn input(&self, name: &str) -> Option<(&'a Node, &'a str)> {
        let node = self.with?.get(name)?;
        Some((node, node.text().unwrap_or_default()))
    }
}

/// How an installation came to its files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lock {
    /// Every file is named by a digest in a committed lock.
    Locked,
    /// It is resolved when it runs.
    Unlocked,
}

/// One installation: the step, the environment it fills, and how.
pub(super) struct Installation<'a> {
    pub(super) step: &'a Node,
    pub(super) line: usize,
    pub(super) environment: Option<String>,
    pub(super) lock: Lock,
}

/// What a step installs, in a folder of the workspace. A script beyond simple commands installs nothing that can be told.
pub(super) fn installations<'a>(step: &'a Node, folder: &str) -> Vec<Installation<'a>> {
    let Some(run) = step.get("run") else { return Vec::new() };
    let commands = shell::commands(run.text().unwrap_or_default()).unwrap_or_default();
    let found = commands.iter().filter_map(|command| installation(command, folder));
    found.map(|(environment, lock)| Installation { step, line: run.line, environment, lock }).collect()
}

fn installation(command: &Command, folder: &str) -> Option<(Option<String>, Lock)> {
    let words: Vec<_> = command.words.iter().map(String::as_str).collect();
    let has = |flag: &str| words.contains(&flag);
    let value = |flags: &[&str]| {
        let separate = words.windows(2).find(|pair| flags.contains(&pair[0])).map(|pair| pair[1]);
        separate.or_else(|| {
            words
                .iter()
                .find_map(|word| word.split_once('=').filter(|(flag, _)| flags.contains(flag)).map(|(_, value)| value))
        })
    };
    // The environment a tool inside it belongs to.
    let home = |tool: &str| inside_workspace(folder, tool.rsplit_once("/bin/").map(|(home, _)| home)?);
    let lock = |locked: bool| if locked { Lock::Locked } else { Lock::Unlocked };
    let (first, rest) = words.split_first()?;
    let name = first.rsplit('/').next().unwrap_or_default();
    let hashes = has("--require-hashes");
    match (name, rest) {
        ("uv", ["sync", ..]) => {
            let project = value(&["--directory", "--project"])
                .map_or(Some(folder.to_owned()), |path| inside_workspace(folder, path));
            let own = !has("--active") && !has("--upgrade") && !has("-U");
            let environment = project.and_then(|project| inside_workspace(&project, ".venv"));
            Some((environment, lock(own && (has("--frozen") || has("--locked")))))
        }
        ("uv", ["pip", "install" | "sync", ..]) => Some((value(&["--python", "-p"]).and_then(home), lock(hashes))),
        ("pip" | "pip3", ["install", ..]) => Some((home(first), lock(hashes))),
        ("pip" | "pip3", ["--python", python, "install", ..]) => Some((home(python), lock(hashes))),
        (python, ["-m", "pip", "install", ..]) if python.starts_with("python") => Some((home(first), lock(hashes))),
        (python, ["-m", "pip", "--python", inner, "install", ..]) if python.starts_with("python") => {
            Some((home(inner), lock(hashes)))
        }
        _ => None,
    }
}
