//! What the interpreter said of itself, before anything foreign was imported.

use std::path::Path;

use super::super::facts::InterpreterFacts;
use super::super::interview::Interview;
use super::super::{Evidence, Fault, Interpreter};
use crate::check::{Check, Finding, Ledger};
use crate::environment::{LockedEnvironment, OLDEST_PYTHON};

const REMAKE_IT: &str =
    "make the environment anew from a CPython of your distribution or of uv, then run the gate again";

pub(super) fn isolation(
    interview: &Interview,
    environment: &LockedEnvironment,
    evidence: &mut Evidence,
    ledger: &mut Ledger,
) {
    let Some(facts) = &interview.interpreter else {
        let actual = interview.fault.as_ref().map_or("nothing".into(), Fault::to_string);
        let hint = interview.fault.as_ref().map_or(REMAKE_IT, |fault| fault.hint(REMAKE_IT));
        let finding = Finding::new("bin/python", "an interpreter that starts", actual, hint);
        return ledger.undecided(Check::ProbeIsolated, finding);
    };
    let environment = environment.environment();
    let findings = wrong(facts, environment.python(), &environment.interpreter().to_string_lossy());
    ledger.record(Check::ProbeIsolated, findings);
    evidence.interpreter = Some(Interpreter {
        implementation: facts.implementation.clone(),
        version: facts.version.map(|part| part.to_string()).join("."),
        base_prefix: facts.base_prefix.clone(),
        standard_library_sha256: None,
    });
}

/// What is wrong with it, for an environment of that version of Python whose interpreter has that path.
fn wrong(facts: &InterpreterFacts, made_with: (u32, u32), started: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut expect = |subject: &str, right: bool, expected: String, actual: String| {
        if !right {
            findings.push(Finding::new(subject, expected, actual, REMAKE_IT));
        }
    };
    let [major, minor, _] = facts.version;
    let python = (major, minor);
    let (implementation, version) = (facts.implementation.as_str(), format!("{major}.{minor}"));
    expect(
        "sys.implementation",
        implementation == "cpython" && python >= OLDEST_PYTHON,
        format!("cpython {}.{} or later", OLDEST_PYTHON.0, OLDEST_PYTHON.1),
        format!("{implementation} {version}"),
    );
    let (major, minor) = made_with;
    let named = format!("{major}.{minor}, as pyvenv.cfg says");
    expect("sys.version_info", python == made_with, named, version);
    expect("sys.executable", facts.executable == started, started.into(), facts.executable.clone());
    let flags = "isolated, environment ignored, no user site";
    expect("sys.flags", facts.isolated, flags.into(), "other flags".into());
    expect("site", !facts.site, "never loaded".into(), "loaded".into());
    let base = Path::new(&facts.base_prefix);
    let ambient = facts.path.iter().find(|entry| {
        let foreign = !Path::new(entry).starts_with(base) || base.as_os_str().is_empty();
        foreign || entry.contains("site-packages") || entry.contains("dist-packages")
    });
    let own = format!("only the standard library below {}", facts.base_prefix);
    expect("sys.path", ambient.is_none(), own, ambient.cloned().unwrap_or_default());
    let foreign = ["sitecustomize", "usercustomize", "site"];
    let early = facts.loaded.iter().find(|name| foreign.contains(&name.as_str()));
    expect("sys.modules", early.is_none(), "nothing foreign at the start".into(), early.cloned().unwrap_or_default());
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    const STARTED: &str = "/venv/bin/python";

    fn right() -> InterpreterFacts {
        InterpreterFacts {
            implementation: "cpython".into(),
            version: [3, 12, 4],
            isolated: true,
            site: false,
            executable: STARTED.into(),
            base_prefix: "/usr".into(),
            path: vec!["/usr/lib/python312.zip".into(), "/usr/lib/python3.12".into()],
            loaded: vec!["builtins".into(), "sys".into()],
        }
    }

    /// Subject, expected and found of what is wrong after that change.
    fn after(change: impl FnOnce(&mut InterpreterFacts)) -> Vec<[String; 3]> {
        let mut facts = right();
        change(&mut facts);
        let told = |finding: Finding| {
            assert_eq!(finding.hint, REMAKE_IT);
            [finding.subject, finding.expected, finding.actual]
        };
        wrong(&facts, (3, 12), STARTED).into_iter().map(told).collect()
    }

    #[test]
    fn nothing_is_wrong_with_the_interpreter_that_was_asked_for() {
        assert_eq!(after(|_| {}), [[""; 3]; 0]);
    }

    #[test]
    fn each_fact_is_held_against_what_is_expected() {
        let implementation = |found| ["sys.implementation", "cpython 3.11 or later", found];
        assert_eq!(after(|facts| facts.implementation = "pypy".into()), [implementation("pypy 3.12")]);
        let version = |found| ["sys.version_info", "3.12, as pyvenv.cfg says", found];
        assert_eq!(after(|facts| facts.version = [3, 10, 9]), [implementation("cpython 3.10"), version("3.10")]);
        assert_eq!(after(|facts| facts.version = [3, 11, 4]), [version("3.11")]);
        assert_eq!(after(|facts| facts.version = [3, 12, 0]), [[""; 3]; 0]);
        let other = "/usr/bin/python".to_owned();
        assert_eq!(after(|facts| facts.executable = other), [["sys.executable", STARTED, "/usr/bin/python"]]);
        let flags = ["sys.flags", "isolated, environment ignored, no user site", "other flags"];
        assert_eq!(after(|facts| facts.isolated = false), [flags]);
        assert_eq!(after(|facts| facts.site = true), [["site", "never loaded", "loaded"]]);
    }

    #[test]
    fn no_folder_is_searched_but_the_standard_library() {
        for entry in ["", "/home/lib", "/usr/lib/python3.12/site-packages", "/usr/lib/python3/dist-packages", "lib"] {
            let found = after(|facts| facts.path.push(entry.into()));
            assert_eq!(found, [["sys.path", "only the standard library below /usr", entry]], "{entry:?}");
        }
        // Everything starts with nothing.
        let found = after(|facts| facts.base_prefix.clear());
        assert_eq!(found, [["sys.path", "only the standard library below ", "/usr/lib/python312.zip"]]);
    }

    #[test]
    fn no_module_that_others_could_have_put_there_is_loaded() {
        for name in ["sitecustomize", "usercustomize", "site"] {
            let found = after(|facts| facts.loaded.push(name.into()));
            assert_eq!(found, [["sys.modules", "nothing foreign at the start", name]]);
        }
    }
}
