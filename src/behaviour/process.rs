//! A confined Python process with a private folder.

use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process_group};

use super::channel::Fault;
use super::sandbox::{self, Enforcement, Sandbox};
use crate::environment::Environment;
use crate::fs::{FileError, private_folder};
use crate::limits::Budget;

/// One process and whatever it starts, in a process group of its own that is killed when this is dropped.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    sandbox: Sandbox,
    private: tempfile::TempDir,
}

impl Process {
    /// Starts `bin/python -I -S -B` of the environment on a script, in a fresh folder in `temporary`, the only one it may write to,
    /// and with an empty environment. `complete` adds arguments and descriptors.
    ///
    /// # Errors
    /// It could not be started.
    pub(super) fn start(
        environment: &Environment,
        script: &str,
        temporary: &Path,
        budget: &Budget,
        complete: impl FnOnce(&mut Command, &Path) -> Result<(), Fault>,
    ) -> Result<Self, Fault> {
        let private = private_folder(temporary)?;
        let at = |name: &str| private.path().join(name);
        for name in ["home", "tmp"] {
            std::fs::create_dir(at(name)).map_err(FileError::new("create", &at(name)))?;
        }
        let main = at("main.py");
        std::fs::write(&main, script).map_err(FileError::new("write", &main))?;

        let mut command = Command::new(environment.interpreter());
        command.args(["-I", "-S", "-B"]).arg(&main).env_clear();
        command.env("HOME", at("home")).env("TMPDIR", at("tmp")).current_dir(at("tmp")).process_group(0);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        complete(&mut command, private.path())?;

        // A thread of its own, which the sandbox is put on and which ends once the process has inherited it.
        let confined =
            std::thread::scope(|scope| scope.spawn(|| (sandbox::confine(private.path()), command.spawn())).join());
        let (mut sandbox, child) =
            confined.map_err(|_| Fault::Pipe(io::Error::other("the thread that starts a process panicked")))?;
        let child = child.map_err(FileError::new("start", environment.interpreter()))?;
        if id(&child).is_some_and(|child| sandbox::limit(child, budget.limits().seconds).is_ok()) {
            sandbox.limits = Enforcement::Full;
        }
        Ok(Process { child, sandbox, private })
    }

    /// The pipes that `complete` asked for.
    pub(super) fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// What the kernel keeps it from doing.
    pub(super) fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }

    /// A path in its folder.
    pub(super) fn private(&self, name: &str) -> PathBuf {
        self.private.path().join(name)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Some(group) = id(&self.child) {
            // The group is the child's own (process_group(0)) and the child has not been waited for: its id is not reused yet.
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn id(child: &Child) -> Option<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw)
}
