//! A process that imports the SDK and drives its client. It reaches the ports it is given, and nothing else.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::channel::{Channel, Complaints, Fault};
use super::facts::{Import, InterpreterFacts};
use super::probe::{confine, preload};
use super::process::Process;
use super::sandbox::{Later, Sandbox};
use super::{Compiler, about, about_module};
use crate::contract::Contract;
use crate::environment::{Environment, LockedEnvironment};
use crate::fs::FileError;
use crate::limits::Budget;

const MAIN: &str = include_str!("client.py");
const DRIVER: &str = include_str!("driver.py");

/// The process, killed when this is dropped.
#[derive(Debug)]
pub struct ClientProcess {
    channel: Channel,
    _process: Process,
    sandbox: Sandbox,
    patience: Duration,
}

/// What the process has about it besides the SDK.
#[derive(Debug)]
pub struct Surroundings<'a> {
    /// The only TCP ports it may connect to.
    pub ports: &'a [u16],
    /// Its environment, the folders of its own aside.
    pub variables: &'a [(&'a str, String)],
    /// Files of its home, by name.
    pub home: &'a [(&'a str, String)],
}

impl ClientProcess {
    /// Starts the process and lets it import what the SDK builds upon. `code` is where some of that may lie compiled.
    ///
    /// # Errors
    /// Any [`Fault`].
    pub fn start(
        environment: &Environment,
        contract: &Contract,
        code: Option<&Path>,
        around: &Surroundings<'_>,
        temporary: &Path,
        budget: &Budget,
    ) -> Result<Self, Fault> {
        let complaints = Complaints::default();
        let mut process = Process::start(environment, MAIN, temporary, budget, around.ports, |command, private| {
            let put = |path: &Path, text: &str| std::fs::write(path, text).map_err(FileError::new("write", path));
            put(&private.join("driver.py"), DRIVER)?;
            for (name, text) in around.home {
                put(&private.join("home").join(name), text)?;
            }
            command.envs(around.variables.iter().map(|(name, value)| (name, value)));
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            Ok(())
        })?;
        let child = process.child();
        let id = child.id();
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(questions), Some(answers), Some(stderr)) = pipes else {
            return Err(Fault::Pipe(io::ErrorKind::BrokenPipe.into()));
        };
        complaints.listen(OwnedFd::from(stderr))?;
        let mut channel = Channel::new(OwnedFd::from(questions), OwnedFd::from(answers), budget, &complaints)?;
        let patience = Duration::from_secs(budget.limits().import_seconds);
        let mut sandbox = process.sandbox().clone();
        let _: InterpreterFacts = channel.ask(about("interpreter"), patience)?;
        for later in [Later::Started, Later::Forked(id)] {
            if !confine(&mut channel, later, patience)? {
                sandbox.miss_later_filter();
            }
        }
        preload(&mut channel, environment.site(), contract.preload, code, patience)?;
        Ok(ClientProcess { channel, _process: process, sandbox, patience })
    }

    /// What the kernel keeps it from doing.
    pub fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }

    /// Imports the bridge. Inside, why that failed.
    ///
    /// # Errors
    /// Any [`Fault`].
    pub fn import(
        &mut self,
        environment: &LockedEnvironment,
        contract: &Contract,
        manifest: &str,
        compiler: &Compiler,
    ) -> Result<Result<(), String>, Fault> {
        let question = about_module(environment, contract, manifest, compiler);
        Ok(match self.channel.ask(question, self.patience)? {
            Import::Loaded(_) => Ok(()),
            Import::Failed { failed } => Err(failed),
        })
    }

    /// Asks about something else.
    ///
    /// # Errors
    /// Any [`Fault`].
    pub fn ask<A: DeserializeOwned>(&mut self, question: Map<String, Value>, patience: Duration) -> Result<A, Fault> {
        self.channel.ask(question, patience)
    }
}
