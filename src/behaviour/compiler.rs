//! Compiling on a core that would be idle, ahead of the import. No bytecode that lies about is ever run, so all code is compiled from
//! the sources that were verified; a process that imports nothing of them does that while others are busy.

use std::path::{Path, PathBuf};

use super::process::Process;
use crate::environment::Environment;
use crate::limits::Budget;

const SCRIPT: &str = include_str!("compiler.py");

/// A process that leaves code in its private folder. A matter of speed alone: without it every importer compiles for itself.
#[derive(Debug)]
pub struct Compiler(Option<Process>);

impl Compiler {
    /// Starts compiling the modules below these folders, and what they import from there.
    pub(super) fn start(
        environment: &Environment,
        folder: &Path,
        modules: &[&str],
        temporary: &Path,
        budget: &Budget,
    ) -> Self {
        let started = Process::start(environment, SCRIPT, temporary, budget, &[], |command, private| {
            command.arg(private.join("code")).arg(folder).args(modules);
            Ok(())
        });
        Compiler(started.ok())
    }

    /// Where the code is, each at the absolute path of its source below here.
    pub(crate) fn code(&self) -> Option<PathBuf> {
        self.0.as_ref().map(|process| process.private("code"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::process::Command;

    #[test]
    fn what_importing_imports_is_compiled_and_nothing_is_run() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let run = format!("open({:?}, 'w')\n", at("ran"));
        for (name, text) in [
            ("p/__init__.py", "from .a import thing, sub\nimport q.r as z\n"),
            (
                "p/a/__init__.py",
                "from ..b import x\ntry:\n    from . import c\nexcept ImportError:\n    import absent\n",
            ),
            ("p/a/sub.py", "import typing\nif typing.TYPE_CHECKING:\n    import p.heavy\nelse:\n    import p.light\n"),
            ("p/a/c.py", "def later():\n    import p.heavy\n"),
            ("p/b.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from p import heavy\nimport broken\n"),
            ("p/light.py", ""),
            ("p/heavy.py", ""),
            ("q/__init__.py", ""),
            ("q/r.py", ""),
            ("broken.py", "def\n"),
        ] {
            std::fs::create_dir_all(at(name).parent().unwrap()).unwrap();
            std::fs::write(at(name), format!("{run}{text}")).unwrap();
        }
        std::fs::write(at("main.py"), SCRIPT).unwrap();
        let arguments = [at("main.py"), at("code"), folder.path().to_owned(), "p".into()];
        let status = Command::new("python3").args(["-I", "-S", "-B"]).args(arguments).status().unwrap();
        assert!(status.success());
        let below = at("code").join(folder.path().strip_prefix("/").unwrap());
        let compiled: BTreeSet<_> = walkdir::WalkDir::new(&below)
            .into_iter()
            .map(Result::unwrap)
            .filter(|entry| entry.file_type().is_file())
            .map(|entry| entry.path().strip_prefix(&below).unwrap().display().to_string())
            .collect();
        let expected = ["p/__init__", "p/a/__init__", "p/a/c", "p/a/sub", "p/b", "p/light", "q/__init__", "q/r"];
        assert_eq!(compiled, expected.map(|name| format!("{name}.pyc")).into());
        assert!(!at("ran").exists());
    }
}
