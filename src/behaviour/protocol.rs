//! One probe process and the private pipe to it.
//!
//! A question is one line of JSON with a fresh nonce; the answer is one line that repeats it. What the process exits with, or
//! prints anywhere else, means nothing. Anything but exactly one answer in time is a [`Fault`].

use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::sandbox::{self, Enforcement, Sandbox};
use crate::digest::hex;
use crate::environment::LockedEnvironment;
use crate::fs::{FileError, private_folder};
use crate::limits::{Budget, Stop};

const DRIVER: &str = include_str!("driver.py");

/// Bytes of the longest answer: the list of loaded modules of a large SDK is far below it.
const LONGEST_ANSWER: usize = 4 << 20;

/// How often a waiting gate looks at its interrupt flag.
const GLANCE: Duration = Duration::from_millis(50);

/// A dialogue that broke off.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The process ended, or closed its end of the pipe, while an answer was due.
    #[error("the process ended before it answered{}", said(.0))]
    Ended(String),
    /// The answer did not come in time.
    #[error("no answer within {} seconds", .0.as_secs_f64())]
    Late(Duration),
    /// Something was on the answer channel that is not the answer.
    #[error("what came is not the answer: {0}")]
    NotTheAnswer(String),
    /// The gate has to stop.
    #[error(transparent)]
    Stop(#[from] Stop),
    /// The process could not be started.
    #[error(transparent)]
    Start(#[from] FileError),
    /// The pipe broke on our side.
    #[error("cannot talk to the process: {0}")]
    Pipe(#[from] io::Error),
}

fn said(stderr: &str) -> String {
    match stderr.trim() {
        "" => String::new(),
        text => format!("; it said: {text}"),
    }
}

/// A running probe. Killed with its process group when dropped.
#[derive(Debug)]
pub struct Probe {
    child: Child,
    sandbox: Sandbox,
    questions: ChildStdin,
    answers: ChildStdout,
    /// Standard error, until its end.
    complaints: Option<ChildStderr>,
    budget: Budget,
    /// Read from the answer channel and not consumed.
    pending: Vec<u8>,
    /// The start of what came on standard error.
    complained: Vec<u8>,
    /// Its home and temporary folder.
    _private: tempfile::TempDir,
}

impl Probe {
    /// Starts `bin/python -I -S -B` of the environment on the driver, in a process group of its own, with an empty environment.
    ///
    /// # Errors
    /// [`Fault::Start`].
    pub fn start(environment: &LockedEnvironment, temporary: &Path) -> Result<Self, Fault> {
        let private = private_folder(temporary)?;
        let at = |name: &str| private.path().join(name);
        for name in ["home", "tmp"] {
            std::fs::create_dir(at(name)).map_err(FileError::new("create", &at(name)))?;
        }
        let script = at("main.py");
        std::fs::write(&script, DRIVER).map_err(FileError::new("write", &script))?;
        let mut command = Command::new(environment.interpreter());
        command
            .args(["-I", "-S", "-B"])
            .arg(&script)
            .env_clear()
            .env("HOME", at("home"))
            .env("TMPDIR", at("tmp"))
            .current_dir(at("tmp"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        // A thread of its own, which the sandbox is put on and which ends once the probe has inherited it.
        let confined =
            std::thread::scope(|scope| scope.spawn(|| (sandbox::confine(private.path()), command.spawn())).join());
        let (mut sandbox, child) =
            confined.map_err(|_| Fault::Pipe(io::Error::other("the thread that starts a probe panicked")))?;
        let mut child = child.map_err(FileError::new("start", environment.interpreter()))?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(questions), Some(answers), Some(complaints)) = pipes else {
            return Err(Fault::Pipe(io::ErrorKind::BrokenPipe.into()));
        };
        rustix::io::ioctl_fionbio(&questions, true).map_err(io::Error::from)?;
        rustix::io::ioctl_fionbio(&answers, true).map_err(io::Error::from)?;
        rustix::io::ioctl_fionbio(&complaints, true).map_err(io::Error::from)?;
        let budget = environment.snapshot().graph().budget().clone();
        let seconds = budget.limits().seconds;
        if process(&child).is_some_and(|process| sandbox::limit(process, seconds).is_ok()) {
            sandbox.limits = Enforcement::Full;
        }
        let (pending, complained, complaints) = (Vec::new(), Vec::new(), Some(complaints));
        Ok(Probe { child, sandbox, questions, answers, complaints, budget, pending, complained, _private: private })
    }

    /// What the kernel keeps it from doing.
    pub fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }

    /// Asks one question and waits for its answer, at most `patience`.
    ///
    /// # Errors
    /// Any [`Fault`]; the dialogue is over then.
    pub fn ask<A: DeserializeOwned>(
        &mut self,
        mut question: Map<String, Value>,
        patience: Duration,
    ) -> Result<A, Fault> {
        self.require_silence()?;
        let nonce = fresh_nonce()?;
        question.insert("nonce".into(), nonce.clone().into());
        let mut line = Value::Object(question).to_string().into_bytes();
        line.push(b'\n');
        let answer = self.exchange(&line, patience)?;
        let mut answer: Map<String, Value> = serde_json::from_slice(&answer)
            .map_err(|error| Fault::NotTheAnswer(excerpt(&answer, &error.to_string())))?;
        match answer.remove("nonce") {
            Some(Value::String(found)) if found == nonce => {}
            _ => return Err(Fault::NotTheAnswer("it does not carry this question's nonce".into())),
        }
        serde_json::from_value(Value::Object(answer)).map_err(|error| Fault::NotTheAnswer(error.to_string()))
    }

    /// Nothing may have come since the last answer.
    fn require_silence(&mut self) -> Result<(), Fault> {
        self.receive()?;
        if self.pending.is_empty() {
            Ok(())
        } else {
            Err(Fault::NotTheAnswer(excerpt(&self.pending, "it came before a question was asked")))
        }
    }

    fn exchange(&mut self, mut question: &[u8], patience: Duration) -> Result<Vec<u8>, Fault> {
        let deadline = Instant::now() + patience;
        loop {
            if !question.is_empty() {
                match self.questions.write(question) {
                    Ok(written) => question = &question[written..],
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Err(self.ended()),
                    Err(error) => return Err(error.into()),
                }
            }
            let open = self.receive()?;
            if let Some(end) = self.pending.iter().position(|&b| b == b'\n') {
                let mut answer: Vec<u8> = self.pending.drain(..=end).collect();
                answer.pop();
                if !question.is_empty() {
                    return Err(Fault::NotTheAnswer("it came before the whole question was read".into()));
                }
                return Ok(answer);
            }
            if self.pending.len() > LONGEST_ANSWER {
                return Err(Fault::NotTheAnswer(format!("it is longer than {LONGEST_ANSWER} bytes")));
            }
            if !open {
                return Err(self.ended());
            }
            self.budget.check()?;
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Fault::Late(patience));
            }
            self.wait(!question.is_empty(), left.min(GLANCE))?;
        }
    }

    /// Takes what is there. `false` at the end of the answer channel.
    fn receive(&mut self) -> Result<bool, Fault> {
        let mut chunk = [0; 16384];
        // Standard error is kept from filling up; only its start is remembered.
        while let Some(complaints) = &mut self.complaints {
            match complaints.read(&mut chunk) {
                Ok(0) => self.complaints = None,
                Ok(read) => {
                    let room = 2000usize.saturating_sub(self.complained.len());
                    self.complained.extend_from_slice(&chunk[..read.min(room)]);
                }
                Err(_) => break,
            }
        }
        while self.pending.len() <= LONGEST_ANSWER {
            match self.answers.read(&mut chunk) {
                Ok(0) => return Ok(false),
                Ok(read) => self.pending.extend_from_slice(&chunk[..read]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(true)
    }

    fn wait(&self, writing: bool, patience: Duration) -> Result<(), Fault> {
        let mut watched = vec![PollFd::new(&self.answers, PollFlags::IN)];
        watched.extend(self.complaints.as_ref().map(|complaints| PollFd::new(complaints, PollFlags::IN)));
        if writing {
            watched.push(PollFd::new(&self.questions, PollFlags::OUT));
        }
        let patience = Timespec { tv_sec: 0, tv_nsec: i64::from(patience.subsec_nanos().max(1)) };
        match rustix::event::poll(&mut watched, Some(&patience)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(Fault::Pipe(error.into())),
        }
    }

    fn ended(&mut self) -> Fault {
        // What it said last may still be in the pipe.
        let _ = self.receive();
        Fault::Ended(String::from_utf8_lossy(&self.complained).into_owned())
    }
}

impl Drop for Probe {
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

/// 128 random bits.
fn fresh_nonce() -> Result<String, Fault> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| Fault::Pipe(io::Error::other(error.to_string())))?;
    Ok(hex(&bytes))
}

fn excerpt(bytes: &[u8], why: &str) -> String {
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(80)]).into_owned();
    format!("{start:?} ({why})")
}
