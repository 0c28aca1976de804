//! The processes that run the SDK: one that imports what the SDK builds upon, and forks of it that import the SDK.
//!
//! What the processes exit with, or print anywhere but on their own pipes, means nothing.

use std::collections::BTreeSet;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use command_fds::{CommandFdExt, FdMapping};
use rustix::pipe::{PipeFlags, pipe_with};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::channel::{Channel, Complaints, Fault};
use super::process::{self, Process};
use super::sandbox::{Later, Sandbox};
use crate::environment::Environment;
use crate::limits::Budget;

/// What answers questions, and forks when asked to.
pub(super) const DRIVER: &str = include_str!("driver.py");

/// The descriptors on which each of the forks is asked and answers.
fn descriptors(forks: usize) -> impl Iterator<Item = [i32; 2]> {
    (3..).step_by(2).take(forks).map(|first| [first, first + 1])
}

/// The process and its forks, killed with it when this is dropped.
#[derive(Debug)]
pub(super) struct Probes<const FORKS: usize> {
    process: Process,
    control: Channel,
    complaints: Complaints,
    forks: Option<[Channel; FORKS]>,
}

/// One of the forks.
#[derive(Debug)]
pub(super) struct Probe {
    pub(super) channel: Channel,
    /// Those of the channel, as the fork knows them.
    pub(super) descriptors: [i32; 2],
    /// Its id, and that of the process it was forked from.
    pub(super) id: i32,
    pub(super) parent: i32,
}

impl Probe {
    /// Takes from it what it can do without. `false` if it cannot be taken here.
    ///
    /// # Errors
    /// Any [`Fault`].
    pub(super) fn confine(&mut self, patience: Duration) -> Result<bool, Fault> {
        confine(&mut self.channel, Later::Forked(self.id.unsigned_abs()), patience)
    }
}

/// An answer without facts.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Done {}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Confined {
    confined: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Forked {
    ids: Vec<i32>,
}

fn confine(channel: &mut Channel, later: Later, patience: Duration) -> Result<bool, Fault> {
    let Ok(filter) = later.filter() else { return Ok(false) };
    let question = [("about".to_owned(), Value::from("confine")), ("filter".to_owned(), filter.into())];
    let Confined { confined } = channel.ask(Map::from_iter(question), patience)?;
    Ok(confined)
}

impl<const FORKS: usize> Probes<FORKS> {
    /// Starts [`DRIVER`], or a script that runs it. It, and what it forks, may connect to these TCP `ports`; `complete` adds surroundings
    /// and files of its private folder.
    ///
    /// # Errors
    /// It could not be started.
    pub(super) fn start(
        environment: &Environment,
        script: &str,
        temporary: &Path,
        budget: &Budget,
        ports: &[u16],
        complete: impl FnOnce(&mut Command, &Path) -> Result<(), Fault>,
    ) -> Result<Self, Fault> {
        let complaints = Complaints::default();
        let mut mappings = Vec::new();
        let fork = |[asked, answering]: [i32; 2]| -> Result<Channel, Fault> {
            let (theirs, questions) = pipe_with(PipeFlags::CLOEXEC).map_err(io::Error::from)?;
            let (answers, theirs_too) = pipe_with(PipeFlags::CLOEXEC).map_err(io::Error::from)?;
            mappings.push(FdMapping { parent_fd: theirs, child_fd: asked });
            mappings.push(FdMapping { parent_fd: theirs_too, child_fd: answering });
            Channel::new(questions, answers, budget, &complaints)
        };
        let forks = descriptors(FORKS).map(fork).collect::<Result<Vec<_>, _>>()?;
        let mut process = Process::start(environment, script, temporary, budget, ports, |command, private| {
            command.arg(FORKS.to_string());
            complete(command, private)?;
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
        Ok(Probes { process, control, complaints, forks: forks.try_into().ok() })
    }

    /// What the kernel keeps them from doing.
    pub(super) fn sandbox(&self) -> &Sandbox {
        self.process.sandbox()
    }

    /// The one folder that they may write to.
    pub(super) fn folder(&self) -> PathBuf {
        self.process.private("")
    }

    /// What all of them say on standard error.
    pub(super) fn complaints(&self) -> &Complaints {
        &self.complaints
    }

    /// The process that will fork.
    pub(super) fn control(&mut self) -> &mut Channel {
        &mut self.control
    }

    /// Takes from the process that will fork what it can do without. `false` if it cannot be taken here.
    ///
    /// # Errors
    /// Any [`Fault`].
    pub(super) fn confine(&mut self, patience: Duration) -> Result<bool, Fault> {
        confine(&mut self.control, Later::Started, patience)
    }

    /// Forks. The probes are handed out once.
    ///
    /// # Errors
    /// Any [`Fault`].
    pub(super) fn fork(&mut self, patience: Duration) -> Result<[Probe; FORKS], Fault> {
        let pairs: Vec<_> = descriptors(FORKS).collect();
        let about = [("about".to_owned(), Value::from("fork")), ("descriptors".to_owned(), json!(pairs))];
        let Forked { ids } = self.control.ask(Map::from_iter(about), patience)?;
        let parent = self.process.child().id().cast_signed();
        // The process is believed no more than it has to be: these ids will be looked at, and one of them signalled by nobody.
        let forked = |id| process::processes().any(|process| process.id == id && process.parent == parent);
        let known: BTreeSet<_> = ids.iter().copied().filter(|&id| forked(id)).collect();
        if known.len() != FORKS || ids.len() != FORKS {
            return Err(Fault::NotTheAnswer("it names processes that are not its own".into()));
        }
        let channels = self.forks.take().ok_or_else(|| Fault::Pipe(io::Error::other("forked twice")))?;
        let mut places = pairs.into_iter().zip(ids);
        // There are as many places as channels.
        Ok(channels.map(|channel| {
            let (descriptors, id) = places.next().unwrap_or_default();
            Probe { channel, descriptors, id, parent }
        }))
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
