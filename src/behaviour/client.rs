//! Processes that import the SDK and drive its client, or become its MCP server. They reach the ports they are given, and nothing else.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::Compiler;
use super::channel::Fault;
use super::facts::{Import, InterpreterFacts};
use super::interview::{about, about_module};
use super::probe::{DRIVER, Probe, Probes};
use super::sandbox::Sandbox;
use crate::contract::Contract;
use crate::environment::{Environment, LockedEnvironment};
use crate::fs::FileError;
use crate::limits::Budget;

const MAIN: &str = include_str!("client.py");

/// A process that forks into clients, all killed when this is dropped.
#[derive(Debug)]
pub struct Clients<const FORKS: usize> {
    probes: Probes<FORKS>,
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
    /// What the process imports of the environment before it forks.
    pub preload: &'a [&'a str],
    /// Bytes that are kept of what they say on standard error.
    pub heard: usize,
}

/// How the SDK's server is started.
#[derive(Debug)]
pub struct Launch<'a> {
    /// `module:name` of what runs it.
    pub run: &'a str,
    /// What that is given in the place of a command line.
    pub arguments: Vec<&'a str>,
    /// Added to its surroundings.
    pub variables: Map<String, Value>,
    /// The files of its home, by their path in it.
    pub home: Map<String, Value>,
}

/// The server's module is loaded, or is not.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Launched {
    /// The server runs, and has the channel to itself.
    Running {
        /// The file of the module.
        origin: String,
    },
    /// Why it could not be imported.
    Failed {
        /// In words.
        failed: String,
    },
}

impl<const FORKS: usize> Clients<FORKS> {
    /// Starts the process and lets it import what the SDK builds upon. `code` is where some of that may lie compiled.
    ///
    /// # Errors
    /// Any [`Fault`].
    pub fn start(
        environment: &Environment,
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
        probes.complaints().keep(around.heard);
        probes.preload(environment.site(), around.preload, code, patience)?;
        Ok(Clients { probes, sandbox, patience })
    }

    /// Forks, once.
    ///
    /// # Errors
    /// Any [`Fault`].
    pub fn fork(&mut self) -> Result<[Client; FORKS], Fault> {
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

    /// The one folder that they may write to. It goes with them.
    pub fn folder(&self) -> PathBuf {
        self.probes.folder()
    }

    /// The start of what they said on standard error, as much as is kept of it.
    pub fn heard(&self) -> Vec<u8> {
        self.probes.complaints().bytes()
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

    /// Has it become the SDK's server. From then on [`Client::exchange`] is what there is.
    ///
    /// # Errors
    /// Any [`Fault`].
    pub fn launch(&mut self, launch: Launch<'_>) -> Result<Launched, Fault> {
        let Launch { run, arguments, variables, home } = launch;
        let mut question = about("server");
        question.insert("descriptors".into(), json!(self.probe.descriptors));
        question.insert("run".into(), run.into());
        question.insert("arguments".into(), arguments.into());
        question.insert("variables".into(), variables.into());
        question.insert("home".into(), home.into());
        self.ask(question, self.patience)
    }

    /// Sends these lines, which may be none, and waits for the next line that comes.
    ///
    /// # Errors
    /// Any [`Fault`]. The dialogue can go on after [`Fault::Late`] alone.
    pub fn exchange(&mut self, lines: &[u8], patience: Duration) -> Result<Vec<u8>, Fault> {
        self.probe.channel.exchange(lines, patience)
    }
}
