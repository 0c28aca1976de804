//! The command in a script that runs the gate, and what it is given.

use super::drift::Kind;
use super::shell::{Beyond, Command, HERE, WORKSPACE};

const PROGRAM: &str = "paired-sdk-gate";
/// The producer's own gate, in Python, that takes the same five flags.
const REFERENCE: &str = "validate_paired_netbox_sdk_bridge.py";

/// Commands that say nothing of an SDK's behaviour, so that running them presents nothing.
const HARMLESS: &[&str] = &[
    "audit",
    "block",
    "check",
    "ci",
    "completions",
    "demo",
    "doctor",
    "explain",
    "man",
    "manifest",
    "schema",
    "snapshot",
    "status",
    "validate",
];

/// The five flags of an identity, and what their values are called if they are wrong.
const IDENTITY: [(&str, Kind); 5] = [
    ("--sdk-root", Kind::GateSdkRoot),
    ("--expected-commit", Kind::GateCommit),
    ("--expected-version", Kind::GateVersion),
    ("--expected-environment-root", Kind::GateEnvironmentRoot),
    ("--expected-module-origin", Kind::GateModuleOrigin),
];

/// Further flags that weaken nothing, and whether they take a value.
const FURTHER: &[(&str, bool)] = &[
    ("--require-sandbox", false),
    ("--deny-advisories", false),
    ("--quiet", false),
    ("-q", false),
    ("--verbose", false),
    ("-v", false),
    ("--seed", true),
    ("--generated", true),
    ("--format", true),
    ("--report", true),
    ("--color", true),
    ("--attestation", true),
    ("--release-artifact", true),
];

/// What a command has to do with the gate.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Nothing.
    None,
    /// It runs it; whether it is the one in Python.
    Gate { reference: bool },
    /// It runs another of the program's commands in its place.
    OtherCommand(String),
    /// It names it, and does not plainly run it.
    Unclear,
}

/// A text names the gate as something to run.
pub(super) fn is_named(text: &str) -> bool {
    let runs = |verb| text.split(|c: char| !(c.is_alphanumeric() || c == '-')).any(|word| word == verb);
    text.contains(REFERENCE)
        || text.contains("--expected-commit")
        || (text.contains(PROGRAM) && (runs("verify") || runs("activate")))
}

/// A workflow of that name runs the gate, by its name.
pub(super) fn is_called(workflow: &str) -> bool {
    workflow.contains(PROGRAM) || workflow.contains(REFERENCE)
}

/// What this command does.
pub(super) fn part(command: &Command) -> Part {
    let base = |word: &str| word.rsplit('/').next().unwrap_or_default().to_owned();
    let words: Vec<_> = command.words.iter().map(String::as_str).collect();
    if base(words[0]) == PROGRAM {
        return match words.get(1) {
            Some(&"verify") => Part::Gate { reference: false },
            Some(&verb) if HARMLESS.contains(&verb) || matches!(verb, "--version" | "--help") => Part::None,
            Some(&verb) if !verb.starts_with('-') => Part::OtherCommand(verb.to_owned()),
            _ => Part::Unclear,
        };
    }
    let python = base(words[0]).starts_with("python");
    if python && words.get(1) == Some(&"-I") && words.get(2).is_some_and(|script| base(script) == REFERENCE) {
        return Part::Gate { reference: true };
    }
    if is_named(&words.join(" ")) { Part::Unclear } else { Part::None }
}

/// The five values, as they stand.
#[derive(Debug, Default)]
pub(super) struct Given {
    values: [Option<String>; 5],
}

/// Something wrong with one flag.
pub(super) struct Wrong {
    pub(super) kind: Kind,
    pub(super) expected: String,
    pub(super) found: String,
}

impl Given {
    /// Reads the flags of a command that runs the gate.
    pub(super) fn read(command: &Command, reference: bool) -> (Given, Vec<Wrong>) {
        let mut given = Given::default();
        let mut wrong = Vec::new();
        let mut words = command.words.iter().skip(if reference { 3 } else { 2 });
        while let Some(word) = words.next() {
            let (flag, inline) = match word.split_once('=') {
                Some((flag, value)) if flag.starts_with("--") => (flag, Some(value.to_owned())),
                _ => (word.as_str(), None),
            };
            let mut value = || inline.clone().or_else(|| words.next().cloned()).unwrap_or_default();
            if let Some(at) = IDENTITY.iter().position(|(name, _)| *name == flag) {
                if given.values[at].replace(value()).is_some() {
                    let expected = format!("{flag} once");
                    wrong.push(Wrong { kind: Kind::GateFlagRepeated, expected, found: "it once more".into() });
                }
                continue;
            }
            let further = FURTHER.iter().find(|(name, _)| *name == flag && !reference);
            match further {
                Some((_, true)) => drop(value()),
                Some((_, false)) if inline.is_none() => {}
                None if flag.starts_with("--limit-") && !reference => drop(value()),
                _ => {
                    let expected = "the five flags of the identity, and none that weakens the proof".into();
                    wrong.push(Wrong { kind: Kind::GateFlag, expected, found: word.clone() });
                }
            }
        }
        for ((name, _), value) in IDENTITY.iter().zip(&given.values) {
            if value.as_deref().is_none_or(str::is_empty) {
                let expected = format!("{name} with its value");
                wrong.push(Wrong { kind: Kind::GateFlagMissing, expected, found: "none".into() });
            }
        }
        (given, wrong)
    }

    /// What was given for the SDK's root.
    pub(super) fn sdk_root(&self) -> Option<&str> {
        self.values[0].as_deref()
    }

    /// What was given for the environment's root.
    pub(super) fn environment_root(&self) -> Option<&str> {
        self.values[3].as_deref()
    }

    /// What differs from the commit, version and module wanted.
    pub(super) fn differing(&self, commit: &str, version: &str, module_origin: &str) -> Vec<Wrong> {
        let wanted = [None, Some(commit), Some(version), None, Some(module_origin)];
        let given = IDENTITY.iter().zip(wanted).zip(&self.values);
        let differ = given.filter_map(|(((name, kind), wanted), value)| {
            let (wanted, value) = (wanted?, value.as_deref().filter(|value| !value.is_empty())?);
            let wrong = Wrong { kind: *kind, expected: format!("{name} {wanted}"), found: value.to_owned() };
            (wanted != value).then_some(wrong)
        });
        differ.collect()
    }
}

/// Why the rest of a script leaves open whether the gate's exit code is the step's.
pub(super) fn in_the_way(command: &Command) -> Option<Kind> {
    let words: Vec<_> = command.words.iter().map(String::as_str).collect();
    match words[..] {
        ["set", ref options @ ..] => {
            let mut named = false;
            let harmless = options.iter().all(|&option| {
                if std::mem::take(&mut named) {
                    return option == "pipefail";
                }
                let letters = option.strip_prefix('-').unwrap_or("+");
                named = letters.ends_with('o');
                letters.trim_end_matches('o').chars().all(|letter| "eux".contains(letter))
            });
            if harmless && !named { None } else { Some(Kind::GateFailureIgnored) }
        }
        ["echo" | "mkdir", ..] => None,
        _ if matches!(part(command), Part::None) && !words[0].ends_with(PROGRAM) => Some(Kind::GateUnclear),
        _ => None,
    }
}

/// What going beyond simple commands is called in a script that names the gate.
pub(super) fn beyond(beyond: &Beyond) -> (Kind, String) {
    match beyond {
        Beyond::Expression(inner) => (Kind::GateExpression, format!("${{{{ {inner} }}}}")),
        Beyond::Variable(name) => (Kind::GateVariable, format!("${name}")),
        Beyond::Or => (Kind::GateFailureIgnored, "||".into()),
        Beyond::Syntax(c) => (Kind::GateUnclear, format!("{c:?}, which is more than a simple command")),
    }
}

/// A folder of the workspace, from its top: empty for the workspace itself. None for one that is not plainly inside.
pub(super) fn inside_workspace(folder: &str, path: &str) -> Option<String> {
    let joined = match path.strip_prefix(WORKSPACE) {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => rest.to_owned(),
        Some(_) => return None,
        None if path.starts_with(HERE) => match &path[HERE.len_utf8()..] {
            rest if rest.is_empty() || rest.starts_with('/') => format!("{folder}{rest}"),
            _ => return None,
        },
        None if path.starts_with('/') => return None,
        None => format!("{folder}/{path}"),
    };
    let parts: Vec<_> = joined.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    let plain = parts.iter().all(|part| *part != ".." && !part.contains(['$', '~', WORKSPACE, HERE]));
    plain.then(|| parts.join("/"))
}
