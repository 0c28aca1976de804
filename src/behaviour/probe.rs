//! The processes that run the SDK: one that imports what the SDK builds upon, and two forks of it that import the SDK.
//!
//! What the processes exit with, or print anywhere but on their own pipes, means nothing.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use command_fds::{CommandFdExt, FdMapping};
use rustix::pipe::{PipeFlags, pipe_with};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::channel::{Channel, Complaints, Fault};
use super::sandbox::{self, Enforcement, Sandbox};
use crate::environment::LockedEnvironment;
use crate::fs::{FileError, private_folder};

const DRIVER: &str = include_str!("driver.py");

/// The descriptors on which the forks are asked and answer.
const DESCRIPTORS: [[i32; 2]; 2] = [[3, 4], [5, 6]];

/// The process and its forks, all in one process group, killed with it when this is dropped.
#[derive(Debug)]
pub(super) struct Probes {
    child: Child,
    sandbox: Sandbox,
    control: Channel,
    forks: Option<[Channel; 2]>,
    /// Their home and temporary folder.
    _private: tempfile::TempDir,
}

/// An answer without facts.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Done {}

impl Probes {
    /// Starts `bin/python -I -S -B` of the environment on the driver, in a process group of its own, with an empty environment.
    ///
    /// # Errors
    /// It could not be started.
    pub(super) fn start(environment: &LockedEnvironment, temporary: &Path) -> Result<Self, Fault> {
        let private = private_folder(temporary)?;
        let at = |name: &str| private.path().join(name);
        for name in ["home", "tmp"] {
            std::fs::create_dir(at(name)).map_err(FileError::new("create", &at(name)))?;
        }
        let script = at("main.py");
        std::fs::write(&script, DRIVER).map_err(FileError::new("write", &script))?;
        let budget = environment.snapshot().graph().budget();
        let complaints = Complaints::default();

        let mut command = Command::new(environment.interpreter());
        command.args(["-I", "-S", "-B"]).arg(&script).env_clear();
        command.env("HOME", at("home")).env("TMPDIR", at("tmp")).current_dir(at("tmp"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let mut mappings = Vec::new();
        let mut fork = |[asked, answering]: [i32; 2]| {
            let (theirs, questions) = pipe_with(PipeFlags::CLOEXEC).map_err(io::Error::from)?;
            let (answers, theirs_too) = pipe_with(PipeFlags::CLOEXEC).map_err(io::Error::from)?;
            mappings.push(FdMapping { parent_fd: theirs, child_fd: asked });
            mappings.push(FdMapping { parent_fd: theirs_too, child_fd: answering });
            Channel::new(questions, answers, budget, &complaints)
        };
        let forks = [fork(DESCRIPTORS[0])?, fork(DESCRIPTORS[1])?];
        command.fd_mappings(mappings).map_err(|error| Fault::Pipe(io::Error::other(error.to_string())))?;

        // A thread of its own, which the sandbox is put on and which ends once the process has inherited it.
        let confined =
            std::thread::scope(|scope| scope.spawn(|| (sandbox::confine(private.path()), command.spawn())).join());
        let (mut sandbox, child) =
            confined.map_err(|_| Fault::Pipe(io::Error::other("the thread that starts the probes panicked")))?;
        let mut child = child.map_err(FileError::new("start", environment.interpreter()))?;
        // Our copies of the forks' ends: as long as they are open no fork's end is seen.
        drop(command);
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(questions), Some(answers), Some(stderr)) = pipes else {
            return Err(Fault::Pipe(io::ErrorKind::BrokenPipe.into()));
        };
        complaints.listen(OwnedFd::from(stderr))?;
        let seconds = budget.limits().seconds;
        if process(&child).is_some_and(|process| sandbox::limit(process, seconds).is_ok()) {
            sandbox.limits = Enforcement::Full;
        }
        let control = Channel::new(OwnedFd::from(questions), OwnedFd::from(answers), budget, &complaints)?;
        Ok(Probes { child, sandbox, control, forks: Some(forks), _private: private })
    }

    /// What the kernel keeps them from doing.
    pub(super) fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }

    /// The process that will fork.
    pub(super) fn control(&mut self) -> &mut Channel {
        &mut self.control
    }

    /// Forks. The two channels are handed out once.
    ///
    /// # Errors
    /// Any [`Fault`].
    pub(super) fn fork(&mut self, patience: Duration) -> Result<[Channel; 2], Fault> {
        let about = [("about".to_owned(), Value::from("fork")), ("descriptors".to_owned(), json!(DESCRIPTORS))];
        let Done {} = self.control.ask(Map::from_iter(about), patience)?;
        self.forks.take().ok_or_else(|| Fault::Pipe(io::Error::other("forked twice")))
    }

    /// Imports the modules from these folders, once for both forks; what cannot be imported is passed over.
    ///
    /// # Errors
    /// Any [`Fault`].
    pub(super) fn preload(&mut self, path: &[Value], modules: &[&str], patience: Duration) -> Result<(), Fault> {
        let question = [
            ("about".to_owned(), Value::from("preload")),
            ("path".to_owned(), path.into()),
            ("modules".to_owned(), modules.into()),
        ];
        let Done {} = self.control.ask(Map::from_iter(question), patience)?;
        Ok(())
    }
}

impl Drop for Probes {
    fn drop(&mut self) {
        if let Some(group) = process(&self.child) {
            // The group is the child's own (process_group(0)) and the child has not been waited for: its id is not reused yet.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn process(child: &Child) -> Option<rustix::process::Pid> {
    i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw)
}
