//! SDKs that try to answer without honouring the contract. One change each, and the check that refuses it.

use paired_sdk_gate::check::Status;
use paired_sdk_gate::contract::DEMO_WRONG_ROUNDING;
use paired_sdk_gate::report::Verdict;

use crate::support::git::Repo;
use crate::support::subject::{Subject, Verified};

const BRIDGE: &str = "netbox_sdk/plugin_bridge.py";

/// The SDK with code of ours after its bridge module's.
fn appended(code: &str) -> Verified {
    Subject::edited(|repo| append(repo, code)).verify()
}

fn append(repo: &Repo, code: &str) {
    let path = repo.root().join(BRIDGE);
    let source = std::fs::read_to_string(&path).unwrap();
    std::fs::write(path, format!("{source}\n\n{code}\n")).unwrap();
}

#[test]
fn leaving_instead_of_answering() {
    for code in [
        "import os\nos._exit(0)",
        "raise SystemExit(0)",
        "def validate_plugin_tool_arguments(tool, arguments):\n    import os\n    os._exit(0)",
        "import threading, os\nthreading.Timer(0, os._exit, [0]).start()\nwhile True: pass",
        "import os\nos.execv('/bin/true', ['true'])",
        "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)",
    ] {
        let verified = appended(code);
        assert_eq!(verified.verdict(), Verdict::Refused, "{code}");
        assert!(verified.ids(Status::Failed).contains(&"probe.transcript"), "{code}");
    }
    let verified = appended("raise SystemExit(0)");
    assert_eq!(verified.findings("module.origin")[0].actual, "SystemExit: 0");
}

#[test]
fn a_verdict_of_the_wrong_kind() {
    // Every function rejects by a class so wide that a crash would count.
    let verified = appended("PluginBridgeError = Exception");
    assert_eq!(verified.findings("module.origin")[0].actual, "builtins:Exception");
    let verified = appended("PluginBridgeError = (ValueError, TypeError)");
    assert!(verified.findings("module.origin")[0].actual.ends_with("which is no ordinary exception"));
    // Crashes are no rejections.
    let wrap = |body: &str| {
        format!(
            "_original = validate_plugin_tool_arguments\ndef validate_plugin_tool_arguments(tool, arguments):\n{body}"
        )
    };
    let verified = appended(&wrap(
        "    try:\n        _original(tool, arguments)\n    except PluginBridgeError as error:\n        raise ValueError from error",
    ));
    let findings = verified.findings("vectors.integer");
    assert_eq!(findings[0].actual, "raised <class 'ValueError'>");
    // A returned value is no acceptance, and neither is a changed argument.
    let verified = appended(&wrap("    _original(tool, arguments)\n    return True"));
    assert_eq!(verified.findings("vectors.integer")[0].actual, "returned a value instead of accepting or rejecting");
    let verified = appended(&wrap("    _original(tool, arguments)\n    arguments.clear()"));
    assert_eq!(verified.findings("vectors.integer")[0].actual, "accepted, and changed its argument");
    // All or nothing.
    let verified = appended(&wrap("    return None"));
    verified.refused_by(&["vectors.integer", "vectors.date-time", "vectors.schema"]);
    let verified = appended(&wrap("    raise PluginBridgeError('no')"));
    verified.refused_by(&["vectors.integer", "vectors.date-time", "vectors.schema"]);
}

#[test]
fn a_wrong_rule() {
    let (from, to) = DEMO_WRONG_ROUNDING;
    let subject = Subject::edited(|repo| {
        let path = repo.root().join(BRIDGE);
        let source = std::fs::read_to_string(&path).unwrap();
        std::fs::write(path, source.replace(from, to)).unwrap();
    });
    let verified = subject.verify();
    let findings = verified.refused_by(&["vectors.integer"]);
    assert!(findings.iter().all(|finding| (&*finding.expected, &*finding.actual) == ("rejected", "accepted")));
}

#[test]
fn answers_that_nobody_asked_for() {
    // Written to every descriptor there is, before and between the questions.
    let flood = "import os\nfor fd in range(3, 64):\n    try:\n        os.write(fd, b'{\"did\":\"returned\"}\\n')\n    except OSError:\n        pass";
    let verified = appended(flood);
    assert_eq!(verified.ids(Status::Failed), ["probe.transcript"]);
    assert!(verified.findings("probe.transcript")[0].actual.starts_with("what came is not the answer: "));
}

#[test]
fn different_answers_to_the_same_question() {
    let counting = "\
_original = validate_plugin_tool_arguments
_calls = [0]
def validate_plugin_tool_arguments(tool, arguments):
    _calls[0] += 1
    if _calls[0] > 20:
        return None
    _original(tool, arguments)";
    let verified = appended(counting);
    assert!(verified.ids(Status::Failed).contains(&"probe.agreement"));
}

#[test]
fn bytecode_lying_about_never_runs() {
    let subject = Subject::edited(|repo| append(repo, "import one.a\nassert one.a.value == 'source'"));
    subject.install("one", &[("one/__init__.py", ""), ("one/a.py", "value = 'source'\n")]);
    // Bytecode that Python would take without looking at the source it claims to come from.
    let evil = subject.dir.path().join("evil.py");
    std::fs::write(&evil, "value = 'bytecode'\n").unwrap();
    let compile = "import importlib.util as u, py_compile as p, sys; \
                   p.compile(sys.argv[1], u.cache_from_source(sys.argv[2]), \
                   invalidation_mode=p.PycInvalidationMode.UNCHECKED_HASH)";
    let source = subject.site().join("one/a.py");
    let python = |arguments: &[&std::ffi::OsStr]| {
        let output = std::process::Command::new("python3").arg("-I").args(arguments).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    python(&["-c".as_ref(), compile.as_ref(), evil.as_ref(), source.as_ref()]);
    let ordinary = "import sys; sys.path.insert(0, sys.argv[1]); import one.a; print(one.a.value)";
    assert_eq!(python(&["-c".as_ref(), ordinary.as_ref(), subject.site().as_ref()]), "bytecode\n", "the trick works");
    let verified = subject.verify();
    assert_eq!(verified.verdict(), Verdict::Passed, "{:#?}", verified.run.ledger);
}

#[test]
fn code_and_files_from_elsewhere() {
    let subject = Subject::edited(|repo| append(repo, "import helper_from_elsewhere"));
    let elsewhere = subject.dir.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::fs::write(elsewhere.join("helper_from_elsewhere.py"), "").unwrap();
    // Not found at all: the path of the caller's making is not there.
    assert_eq!(
        subject.verify().findings("module.origin")[0].actual,
        "ModuleNotFoundError: No module named 'helper_from_elsewhere'"
    );
    let path = elsewhere.display();
    let verified = appended(&format!("import sys\nsys.path.append('{path}')\nimport helper_from_elsewhere"));
    let findings = verified.refused_by(&["module.loaded"]);
    assert_eq!(findings[0].subject, "helper_from_elsewhere");
    assert_eq!(findings[0].actual, format!("{path}/helper_from_elsewhere.py (Elsewhere)"));

    // The copy cannot be rewritten, not even by root.
    for code in ["open(__file__ + '.new', 'w')", "import os\nos.chmod(__file__, 0o644)\nopen(__file__, 'a')"] {
        let actual = appended(code).findings("module.origin")[0].actual.clone();
        assert!(actual.starts_with("PermissionError: "), "{actual}");
    }
}
