//! SDKs that try to answer without honouring the contract.
//!
//! `fixtures/hostile` has a folder for each, named after the check that refuses it: `append.py` is what is added to the bridge module
//! of the embedded SDK, files below `netbox_sdk` replace or add to the package, files below `stray` lie in site-packages. The head of
//! `append.py` says what it tries, which checks refuse it too (`also`), and the start of what the first one finds (`found`).
//! `not-proven` and `passed` in place of a check: it passes, because nobody can tell, or because the trick comes to nothing.

mod cases;

use paired_sdk_gate::contract::DEMO_WRONG_ROUNDING;
use paired_sdk_gate::report::Verdict;

use crate::support::git::Repo;
use crate::support::subject::Subject;

const BRIDGE: &str = "netbox_sdk/plugin_bridge.py";

pub fn append(repo: &Repo, code: &str) {
    let path = repo.root().join(BRIDGE);
    let source = std::fs::read_to_string(&path).unwrap();
    std::fs::write(path, format!("{source}\n\n{code}\n")).unwrap();
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
