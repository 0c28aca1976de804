//! SDKs that try to answer without honouring the contract.
//!
//! `fixtures/hostile` has a folder for each, named after the check that refuses it: `append.py` is what is added to the bridge module
//! of the embedded SDK, files below `netbox_sdk` replace or add to the package, files below `stray` lie in site-packages. The head of
//! `append.py` says what it tries, which checks refuse it too (`also`), and the start of what the first one finds (`found`).
//! `not-proven` and `passed` in place of a check: it passes, because nobody can tell, or because the trick comes to nothing.

mod cases;

use paired_sdk_gate::check::{Finding, Stage, Status};
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

/// Somebody else's hand, as the SDK's own cannot reach it.
#[test]
fn a_private_copy_that_was_changed_under_way_is_told() {
    let subject = Subject::edited(|_| {});
    let added = |stage| {
        if stage == Stage::Behaviour {
            let bridge = walkdir::WalkDir::new(subject.temporary()).into_iter().map(Result::unwrap);
            let bridge = bridge.map(walkdir::DirEntry::into_path).find(|path| path.ends_with(BRIDGE)).unwrap();
            std::fs::write(bridge.with_file_name("later.py"), "").unwrap();
        }
    };
    let verified = subject.verify_while(&added);
    let findings = verified.refused_by(&["snapshot.intact"]);
    assert_eq!(findings.len(), 1, "{findings:#?}");
    let Finding { subject, expected, actual, .. } = &findings[0];
    assert_eq!((&**subject, &**expected, &**actual), ("netbox_sdk/later.py", "no such file", "a file that appeared"));
}

/// The probes are told apart by their order: the one that is asked about this first has answered little by then.
#[test]
fn what_one_probe_left_is_told_although_the_other_one_ended() {
    let code = "import os, threading\n\
                _was = validate_plugin_tool_arguments\n\
                _mark = os.environ['HOME'] + '/first'\n\
                try:\n    os.mkdir(_mark)\n    _first = True\nexcept OSError:\n    _first = False\n\
                if _first:\n    threading.Thread(target=threading.Event().wait, daemon=True).start()\n\
                def validate_plugin_tool_arguments(tool, arguments):\n\
                \x20   if not _first:\n        os._exit(0)\n\
                \x20   return _was(tool, arguments)";
    let verified = Subject::edited(|repo| append(repo, code)).verify();
    assert_eq!(verified.verdict(), Verdict::Refused, "{:#?}", verified.run.ledger);
    assert_eq!(verified.ids(Status::Failed), ["probe.transcript", "probe.residue"]);
    let residue = verified.findings("probe.residue");
    assert_eq!((residue.len(), &*residue[0].actual), (1, "2 threads"), "{residue:#?}");
    let ended = verified.findings("probe.transcript");
    assert_eq!((ended.len(), &*ended[0].actual), (1, "the process ended before it answered"), "{ended:#?}");
    let open = verified.ids(Status::NotRun);
    assert!(
        ["vectors.integer", "vectors.date-time", "vectors.schema", "probe.agreement"]
            .iter()
            .all(|id| open.contains(id))
    );
}
