//! What must not pass, on the embedded SDK: each case names the check that refuses it and keeps the others silent.

use std::os::unix::fs::PermissionsExt;

use paired_sdk_gate::check::{Status, TABLE};
use paired_sdk_gate::contract::DEMO_SDK;
use paired_sdk_gate::limits::Limits;
use paired_sdk_gate::report::Verdict;

use crate::support::subject::{Subject, make_environment, turn_into_link};

const BRIDGE: &str = "netbox_sdk/plugin_bridge.py";
const INIT: &str = "netbox_sdk/__init__.py";

/// `(subject, found)` of each finding.
fn told(findings: &[paired_sdk_gate::check::Finding]) -> Vec<(&str, &str)> {
    findings.iter().map(|finding| (finding.subject.as_str(), finding.actual.as_str())).collect()
}

#[test]
fn the_embedded_sdk_passes_every_check() {
    let verified = Subject::new().verify();
    assert_eq!(verified.ids(Status::Passed), TABLE.iter().map(|check| check.id()).collect::<Vec<_>>());
    assert_eq!(verified.verdict(), Verdict::Passed);
    assert!(verified.run.evidence.behaviour.observations.len() > 200);
}

#[test]
fn files_on_disk_that_differ_from_the_commit() {
    let subject = Subject::new();
    let root = subject.repo.root().to_owned();
    let original = std::fs::read(root.join(BRIDGE)).unwrap();

    // Dirty, as long as the index is told to look away too.
    subject.repo.git(&["update-index", "--assume-unchanged", BRIDGE]);
    subject.repo.write(BRIDGE, [&original[..], b"# more\n"].concat());
    let at = original.len();
    let actual = format!("other content, {} bytes, different from byte {at} on", at + 7);
    assert_eq!(told(subject.verify().refused_by(&["package.worktree"])), [(BRIDGE, actual.as_str())]);
    subject.repo.write(BRIDGE, &original);

    subject.repo.write(INIT, "__version__ = \"9.9.9\"\n");
    assert_eq!(subject.verify().refused_by(&["package.worktree"])[0].subject, INIT);
    subject.repo.git(&["checkout", "--", INIT]);

    // Untracked, ignored by git or not.
    let untracked = "a file the commit does not have, ignored by git or not";
    subject.repo.write("netbox_sdk/extra.py", "");
    subject.repo.write(".git/info/exclude", "hidden.py\n");
    subject.repo.write("netbox_sdk/deep/hidden.py", "");
    assert_eq!(
        told(subject.verify().refused_by(&["package.worktree"])),
        [("netbox_sdk/deep/hidden.py", untracked), ("netbox_sdk/extra.py", untracked)]
    );
    std::fs::remove_file(root.join("netbox_sdk/extra.py")).unwrap();
    std::fs::remove_dir_all(root.join("netbox_sdk/deep")).unwrap();

    // Bytecode folders are passed over, unless they are something else.
    subject.repo.write("netbox_sdk/__pycache__/plugin_bridge.cpython-311.pyc", "anything");
    assert_eq!(subject.verify().verdict(), Verdict::Passed);
    std::fs::remove_dir_all(root.join("netbox_sdk/__pycache__")).unwrap();
    subject.repo.write("netbox_sdk/__pycache__", "a file");
    assert_eq!(told(subject.verify().refused_by(&["package.worktree"])), [("netbox_sdk/__pycache__", untracked)]);
    std::fs::remove_file(root.join("netbox_sdk/__pycache__")).unwrap();
    std::os::unix::fs::symlink("/", root.join("netbox_sdk/__pycache__")).unwrap();
    assert_eq!(
        told(subject.verify().refused_by(&["package.worktree"])),
        [("netbox_sdk/__pycache__", "a symbolic link")]
    );
    std::fs::remove_file(root.join("netbox_sdk/__pycache__")).unwrap();

    turn_into_link(&root.join(BRIDGE), &subject.dir.path().join("aside.py"));
    assert_eq!(told(subject.verify().refused_by(&["package.worktree"])), [(BRIDGE, "a symbolic link")]);
    std::fs::remove_file(root.join(BRIDGE)).unwrap();
    assert_eq!(told(subject.verify().refused_by(&["package.worktree"])), [(BRIDGE, "no such file")]);
    subject.repo.write(BRIDGE, &original);

    std::fs::set_permissions(root.join(BRIDGE), std::fs::Permissions::from_mode(0o755)).unwrap();
    let verified = subject.verify();
    let findings = verified.refused_by(&["package.worktree"]);
    assert_eq!(told(findings), [(BRIDGE, "mode 100755")]);
    assert_eq!(findings[0].hint, format!("chmod u-x {BRIDGE}"));
    std::fs::set_permissions(root.join(BRIDGE), std::fs::Permissions::from_mode(0o644)).unwrap();

    turn_into_link(&root.join("netbox_sdk"), &subject.dir.path().join("aside"));
    assert_eq!(told(subject.verify().refused_by(&["package.worktree"])), [("netbox_sdk", "a symbolic link")]);
}

#[test]
fn a_committed_package_that_is_not_plain_source() {
    for (path, what) in [
        ("netbox_sdk/fast.cpython-311-x86_64-linux-gnu.so", "a native module"),
        ("netbox_sdk/lib.so.1", "a native library"),
        ("netbox_sdk/PLUGIN_BRIDGE.PYD", "a native module"),
        ("netbox_sdk/plugin_bridge.pyc", "bytecode"),
        ("netbox_sdk/__pycache__/plugin_bridge.cpython-311.pyc", "a bytecode folder"),
        ("netbox_sdk/start.pth", "a path configuration file"),
    ] {
        let verified = Subject::edited(|repo| repo.write(path, "x")).verify();
        let findings = verified.findings("package.source");
        assert_eq!(told(findings), [(path, what)]);
        assert_eq!(verified.verdict(), Verdict::Refused);
    }
    let linked = Subject::edited(|repo| {
        std::os::unix::fs::symlink("plugin_bridge.py", repo.root().join("netbox_sdk/alias.py")).unwrap();
    });
    assert_eq!(told(linked.verify().findings("package.tree")), [("netbox_sdk/alias.py", "mode 120000")]);
    let named = Subject::edited(|repo| repo.write("netbox_sdk/a b.py", ""));
    assert_eq!(told(named.verify().findings("package.tree")), [("netbox_sdk/a b.py", "component \"a b.py\"")]);
    let without = Subject::edited(|repo| std::fs::remove_file(repo.root().join(BRIDGE)).unwrap());
    assert_eq!(told(without.verify().refused_by(&["package.module"])), [(BRIDGE, "no such file")]);
}

#[test]
fn a_package_beyond_a_bound_is_undecided_and_told_which_flag_raises_it() {
    let mut subject = Subject::new();
    let package = DEMO_SDK.iter().filter(|(path, _)| path.starts_with("netbox_sdk/"));
    let (paths, sizes): (Vec<_>, Vec<_>) = package.map(|(path, text)| (*path, text.len() as u64)).unzip();
    let (files, largest, total) = (sizes.len() as u64, sizes.iter().max().copied().unwrap(), sizes.iter().sum());
    let of_all = paths[sizes.iter().position(|&size| size == largest).unwrap()];
    let exact = Limits { package_files: files, file_bytes: largest, package_bytes: total, ..Limits::default() };
    subject.limits = exact.clone();
    assert_eq!(subject.verify().verdict(), Verdict::Passed);
    let exact = || exact.clone();
    for (limits, named, expected, flag) in [
        (Limits { package_files: files - 1, ..exact() }, "netbox_sdk", "at most 2 files", "--limit-package-files"),
        (
            Limits { file_bytes: largest - 1, ..exact() },
            of_all,
            &*format!("at most {} bytes", largest - 1),
            "--limit-file-bytes",
        ),
        (
            Limits { package_bytes: total - 1, ..exact() },
            "netbox_sdk",
            &*format!("at most {} bytes in all", total - 1),
            "--limit-package-bytes",
        ),
    ] {
        subject.limits = limits;
        let verified = subject.verify();
        assert_eq!(verified.verdict(), Verdict::Unverifiable);
        let [finding] = verified.findings("package.tree") else { panic!("{:#?}", verified.run.ledger) };
        assert_eq!((&*finding.subject, &*finding.expected), (named, expected));
        assert_eq!(finding.hint, format!("raise the bound with {flag} if this size is intended"));
    }
}

#[test]
fn another_version_than_the_expected_one() {
    let subject = Subject::new();
    let verified = subject.verify_as(&subject.commit, "1.0.1");
    let findings = verified.refused_by(&["version.source", "version.project"]);
    assert_eq!(told(findings), [(INIT, "__version__ = \"1.0.0\"")]);
    assert_eq!(findings[0].expected, "__version__ = \"1.0.1\", assigned once");

    let respelled = subject.verify_as(&subject.commit, "1.0");
    let hint = "the same release, spelled otherwise: use --expected-version 1.0.0";
    assert_eq!(respelled.refused_by(&["version.source", "version.project"])[0].hint, hint);

    subject.repo.git(&["tag", "v1.0.0"]);
    subject.repo.git(&["tag", "--annotate", "--message=x", "1.0.0"]);
    assert_eq!(subject.verify().verdict(), Verdict::Passed);
    subject.repo.git(&["commit", "--quiet", "--allow-empty", "--message=next"]);
    let elsewhere = subject.repo.git(&["rev-parse", "HEAD"]);
    subject.repo.git(&["tag", "--force", "--annotate", "--message=x", "v1.0.0"]);
    subject.repo.git(&["reset", "--quiet", "--hard", &subject.commit]);
    assert_eq!(
        told(subject.verify().refused_by(&["git.release-tag"])),
        [("refs/tags/v1.0.0", &*format!("peels to {elsewhere}"))]
    );

    // Declared one way in the source and another when loaded.
    let computed = Subject::edited(|repo| {
        repo.write(INIT, "__version__ = \"1.0.0\"\nglobals()[\"__version__\"] = \"1.0.0+x\"\n");
    });
    assert_eq!(told(computed.verify().refused_by(&["module.version"])), [("netbox_sdk.__version__", "\"1.0.0+x\"")]);
    let equal_to_all = Subject::edited(|repo| {
        let class = "class V(str):\n    def __eq__(self, other): return True\n";
        repo.write(INIT, format!("__version__ = \"1.0.0\"\n{class}globals()[\"__version__\"] = V(\"1.0.0\")\n"));
    });
    assert_eq!(
        told(equal_to_all.verify().refused_by(&["module.version"])),
        [("netbox_sdk.__version__", "\"'1.0.0'\", not a plain str")]
    );
}

#[test]
fn an_environment_that_does_not_lend_itself() {
    let mut subject = Subject::new();
    let good = subject.environment.clone();

    subject.environment = subject.dir.path().join("nowhere");
    let verified = subject.verify();
    assert_eq!(verified.ids(Status::Error), ["environment.root"]);
    assert_eq!(verified.verdict(), Verdict::Unverifiable);
    assert!(verified.findings("environment.root")[0].hint.contains("uv sync --frozen --no-install-project"));

    subject.environment = subject.dir.path().to_owned();
    let verified = subject.verify();
    assert_eq!(told(verified.refused_by(&["environment.root"])), [("environment root", "a folder without pyvenv.cfg")]);

    subject.environment = subject.dir.path().join("system");
    make_environment(&subject.environment, &["--system-site-packages"]);
    assert_eq!(
        told(subject.verify().refused_by(&["environment.root"])),
        [("pyvenv.cfg", "include-system-site-packages = true")]
    );

    subject.environment = good.clone();
    let config = good.join("pyvenv.cfg");
    let original = std::fs::read_to_string(&config).unwrap();
    std::fs::write(&config, original.replace("version = 3.", "version = 2.")).unwrap();
    let verified = subject.verify();
    assert_eq!(verified.ids(Status::Failed), ["environment.root", "environment.interpreter"]);
    std::fs::write(&config, &original).unwrap();

    // The interpreter of another environment behind this one's name. Its installation may be read, but not that environment.
    let other = subject.dir.path().join("other");
    make_environment(&other, &[]);
    let python = good.join("bin/python");
    let link = std::fs::read_link(&python).unwrap();
    std::fs::remove_file(&python).unwrap();
    std::fs::write(&python, format!("#!/bin/sh\nexec {}/bin/python \"$@\"\n", other.display())).unwrap();
    std::fs::set_permissions(&python, std::fs::Permissions::from_mode(0o755)).unwrap();
    let verified = subject.verify();
    let name = other.join("bin/python").display().to_string();
    let findings = verified.refused_by(&["probe.isolated"]);
    assert_eq!(told(findings), [("sys.executable", name.as_str())]);

    std::fs::write(&python, "#!/bin/sh\necho no interpreter at all >&2\n").unwrap();
    let verified = subject.verify();
    assert_eq!(verified.ids(Status::Error), ["probe.isolated"]);
    assert!(verified.findings("probe.isolated")[0].actual.ends_with("it said: no interpreter at all\n".trim_end()));

    std::fs::remove_file(&python).unwrap();
    let verified = subject.verify();
    assert_eq!(verified.ids(Status::Error), ["environment.interpreter"]);
    assert_eq!(verified.verdict(), Verdict::Unverifiable);
    std::os::unix::fs::symlink(link, &python).unwrap();
    assert_eq!(subject.verify().verdict(), Verdict::Passed);
}

#[test]
fn what_is_installed_does_not_speak_for_the_commit() {
    let subject = Subject::new();
    // A broken copy, an editable one, and code that would run if `site` did: all of it properly installed.
    let path = format!("{}\n", subject.dir.path().display());
    subject.install("netbox-sdk", &[("netbox_sdk/__init__.py", "raise SystemExit(3)\n")]);
    subject.install("editable", &[("editable.pth", &path), ("run.pth", "import os; os._exit(5)\n")]);
    subject.install("custom", &[("sitecustomize.py", "import os; os._exit(5)\n")]);
    let verified = subject.verify();
    assert_eq!(verified.verdict(), Verdict::Passed, "{:#?}", verified.run.ledger);
    let own = |name: &str| name == "netbox_sdk" || name.starts_with("netbox_sdk.");
    let loaded = &verified.run.evidence.behaviour.loaded;
    let own: Vec<_> = loaded.iter().filter(|module| own(&module.name)).collect();
    assert_eq!(own.len(), 2);
    assert!(own.iter().all(|module| module.kind == paired_sdk_gate::behaviour::ModuleKind::Snapshot));
    let names: Vec<_> = verified.run.evidence.distributions.iter().map(|found| (&*found.name, found.files)).collect();
    assert_eq!(names, [("custom", 2), ("editable", 3), ("netbox-sdk", 2)]);
}

#[test]
fn an_installed_file_is_the_one_its_record_lists_or_refused() {
    let subject = Subject::new();
    subject.install("one", &[("one/a.py", "1"), ("one/b.py", "2"), ("one/__pycache__/a.cpython-311.pyc", "")]);
    assert_eq!(subject.verify().verdict(), Verdict::Passed);
    let site = subject.site();
    let (lib, records) =
        (site.strip_prefix(&subject.environment).unwrap().display().to_string(), "environment.records");

    // Cached bytecode proves nothing and is never run, listed or not.
    std::fs::write(site.join("one/__pycache__/a.cpython-311.pyc"), "evil").unwrap();
    std::fs::write(site.join("one/__pycache__/b.cpython-311.pyc"), "evil").unwrap();
    assert_eq!(subject.verify().verdict(), Verdict::Passed);

    std::fs::write(site.join("one/a.py"), "3").unwrap();
    std::fs::remove_file(site.join("one/b.py")).unwrap();
    let verified = subject.verify();
    let findings = verified.refused_by(&[records]);
    assert_eq!(findings[0].subject, format!("{lib}/one/a.py"));
    assert_eq!(findings[0].expected, "sha256=a4ayc_80_OGda4BO_1o_V0etpOqiLx1JwB5S3beHW0s");
    assert_eq!(findings[0].actual, "sha256=TgdAhWK-24tgzgXB3s_jrRa3IjCWfeAfZAt-Rym0n84");
    assert_eq!(told(&findings[1..]), [(&*format!("{lib}/one/b.py"), "no such file")]);
    subject.install("one", &[("one/a.py", "1")]);

    for (path, content) in [
        ("stray.pth", "import os"),
        ("sitecustomize.py", ""),
        ("one/more.py", ""),
        ("m/__pycache__/m.pyc", ""),
        ("x.so", ""),
    ] {
        let file = site.join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, content).unwrap();
        let verified = subject.verify();
        let subject_of = format!("{lib}/{path}");
        assert_eq!(told(verified.refused_by(&["environment.owned"])), [(&*subject_of, "a file that no RECORD lists")]);
        std::fs::remove_file(file).unwrap();
    }
    std::os::unix::fs::symlink("one", site.join("two")).unwrap();
    assert_eq!(
        told(subject.verify().refused_by(&["environment.owned"])),
        [(&*format!("{lib}/two"), "a symbolic link")]
    );
    std::fs::remove_file(site.join("two")).unwrap();

    let record = site.join("one-1.0.dist-info/RECORD");
    let original = std::fs::read_to_string(&record).unwrap();
    for (rows, actual) in [
        (format!("{original}../../../../outside,,\n"), "../../../../outside"),
        (format!("{original}short,\n"), "CSV error: record 2 (line: 3, byte: "),
        (original.replace("sha256=a4ay", "md5=a4ay"), "row 1 has the digest"),
        (original.replace("sha256=a4ayc_80_OGda4BO_1o_V0etpOqiLx1JwB5S3beHW0s", ""), "a file listed without one"),
    ] {
        std::fs::write(&record, rows).unwrap();
        let verified = subject.verify();
        let finding = &verified.findings(records)[0];
        assert!(finding.actual.starts_with(actual), "{finding:?}");
    }
    std::fs::remove_file(&record).unwrap();
    assert_eq!(subject.verify().findings(records)[0].actual, "no RECORD");
}
