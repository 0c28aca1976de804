//! The processes that run the SDK: one that imports what the SDK builds upon, and two forks of it that import the SDK.
//!
//! What the processes exit with, or print anywhere but on their own pipes, means nothing.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use command_fds::{CommandFdExt, FdMapping};
use rustix::pipe::{PipeFlags, pipe_with};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::channel::{Channel, Complaints, Fault};
use super::process::Process;
use super::sandbox::Sandbox;
use crate::environment::Environment;
use crate::limits::Budget;

const DRIVER: &str = include_str!("driver.py");

/// The descriptors on which the forks are asked and answer.
const DESCRIPTORS: [[i32; 2]; 2] = [[3, 4], [5, 6]];

/// The process and its forks, killed with it when this is dropped.
#[derive(Debug)]
pub(super) struct Probes {
    process: Process,
    control: Channel,
    forks: Option<[Channel; 2]>,
}

/// An answer without facts.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Done {}

impl Probes {
    /// Starts the driver.
    ///
    /// # Errors
    /// It could not be started.
    pub(super) fn start(environment: &Environment, temporary: &Path, budget: &Budget) -> Result<Self, Fault> {
        let complaints = Complaints::default();
        let mut mappings = Vec::new();
        let mut fork = |[asked, answering]: [i32; 2]| {
            let (theirs, questions) = pipe_with(PipeFlags::CLOEXEC).map_err(io::Error::from)?;
            let (answers, theirs_too) = pipe_with(PipeFlags::CLOEXEC).map_err(io::Error::from)?;
            mappings.push(FdMapping { parent_fd: theirs, child_fd: asked });
            mappings.push(FdMapping { parent_fd: theirs_too, child_fd: answering });
            Channel::new(questions, answers, budget, &complaints)
        };
        let forks = [fork(DESCRIPTORS[0])?, fork(DESCRIPTORS[1])?];
        let mut process = Process::start(environment, DRIVER, temporary, budget, |command, _| {
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            command.fd_mappings(mappings).map_err(|error| Fault::Pipe(io::Error::other(error.to_string())))?;
            Ok(())
        })?;
        let child = process.child();
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(questions), Some(answers), Some(stderr)) = pipes else {
            return Err(Fault::Pipe(io::ErrorKind::BrokenPipe.into()));
        };
        complaints.listen(OwnedFd::from(stderr))?;
        let control = Channel::new(OwnedFd::from(questions), OwnedFd::from(answers), budget, &complaints)?;
        Ok(Probes { process, control, forks: Some(forks) })
    }

    /// What the kernel keeps them from doing.
    pub(super) fn sandbox(&self) -> &Sandbox {
        self.process.sandbox()
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

    /// Imports the modules from these folders, once for both forks; what cannot be imported is passed over. `code` is where some of
    /// it may lie compiled.
    ///
    /// # Errors
    /// Any [`Fault`].
    pub(super) fn preload(
        &mut self,
        folders: &[PathBuf],
        modules: &[&str],
        code: Option<&Path>,
        patience: Duration,
    ) -> Result<(), Fault> {
        let question = [
            ("about".to_owned(), Value::from("preload")),
            ("folders".to_owned(), folders.iter().map(|folder| Value::from(folder.to_string_lossy())).collect()),
            ("modules".to_owned(), modules.into()),
            ("code".to_owned(), code.map(Path::to_string_lossy).into()),
        ];
        let Done {} = self.control.ask(Map::from_iter(question), patience)?;
        Ok(())
    }
}
