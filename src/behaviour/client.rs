//! Processes that import the SDK and drive its client. They reach the ports they are given, and nothing else.

use std::path::Path;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::channel::Fault;
use super::facts::{Import, InterpreterFacts};
use super::probe::{DRIVER, Probe, Probes};
use super::sandbox::Sandbox;
use super::{Compiler, about, about_module};
use crate::contract::Contract;
use crate::environment::{Environment, LockedEnvironment};
use crate::fs::FileError;
use crate::limits::Budget;

const MAIN: &str = include_str!("client.py");

/// A process that forks into two clients, all killed when this is dropped.
#[derive(Debug)]
pub struct Clients {
    probes: Probes,
    sandbox: Sandbox,
    patience: Duration,
}

/// One of the forks.
#[derive(Debug)]
pub struct Client {
    probe: Probe,
    patience: Duration,
}

/// What the processes have about them besides the SDK.
#[derive(Debug)]
pub struct Surroundings<'a> {
    /// The only TCP ports they may connect to.
    pub ports: &'a [u16],
    /// Their environment, the folders of their own aside.
    pub variables: &'a [(&'a str, String)],
    /// Files of their home, by name.
    pub home: &'a [(&'a str, String)],
}

impl Clients {
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
        let mut probes = Probes::start(environment, MAIN, temporary, budget, around.ports, |command, private| {
            let put = |path: &Path, text: &str| std::fs::write(path, text).map_err(FileError::new("write", path));
            put(&private.join("driver.py"), DRIVER)?;
            for (name, text) in around.home {
                put(&private.join("home").join(name), text)?;
            }
            command.envs(around.variables.iter().map(|(name, value)| (name, value)));
            Ok(())
        })?;
        let patience = Duration::from_secs(budget.limits().import_seconds);
        let mut sandbox = probes.sandbox().clone();
        let _: InterpreterFacts = probes.control().ask(about("interpreter"), patience)?;
        if !probes.confine(patience)? {
            sandbox.miss_later_filter();
        }
        probes.preload(environment.site(), contract.preload, code, patience)?;
        Ok(Clients { probes, sandbox, patience })
    }

    /// Forks, once.
    ///
    /// # Errors
    /// Any [`Fault`].
    pub fn fork(&mut self) -> Result<[Client; 2], Fault> {
        let patience = self.patience;
        let mut clients = self.probes.fork(patience)?.map(|probe| Client { probe, patience });
        for client in &mut clients {
            if !client.probe.confine(patience)? {
                self.sandbox.miss_later_filter();
            }
        }
        Ok(clients)
    }

    /// What the kernel keeps them from doing.
    pub fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }
}

impl Client {
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
        Ok(match self.probe.channel.ask(question, self.patience)? {
            Import::Loaded(_) => Ok(()),
            Import::Failed { failed } => Err(failed),
        })
    }

    /// Asks about something else.
    ///
    /// # Errors
    /// Any [`Fault`].
    pub fn ask<A: DeserializeOwned>(&mut self, question: Map<String, Value>, patience: Duration) -> Result<A, Fault> {
        self.probe.channel.ask(question, patience)
    }
}
