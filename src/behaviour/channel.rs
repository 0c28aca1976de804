//! A dialogue over a pair of pipes.
//!
//! A question is one line of JSON with a fresh nonce; the answer is one line that repeats it. Anything but exactly one answer in
//! time is a [`Fault`].

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::digest::hex;
use crate::fs::{FileError, NO_ROOM};
use crate::limits::{Budget, Stop};
use crate::tally::counted;

/// Bytes of the longest answer: the list of loaded modules of a large SDK is far below it.
const LONGEST_ANSWER: usize = 4 << 20;

/// How often a waiting gate looks at its interrupt flag.
const GLANCE: Duration = Duration::from_millis(50);

/// What is left to wait for an answer, in time during which this machine let the gate run: a machine that stands still, or is too busy
/// to wake the gate, keeps the SDK from answering just the same, and that is no fault of the SDK.
#[derive(Debug)]
struct Patience(Duration);

impl Patience {
    /// The most of it that passes between two glances.
    const STEP: Duration = Duration::from_millis(200);

    /// Takes what passed since the last glance. What is left, `None` when nothing is.
    fn spend(&mut self, passed: Duration) -> Option<Duration> {
        self.0 = self.0.saturating_sub(passed.min(Self::STEP));
        Some(self.0).filter(|left| !left.is_zero())
    }
}

/// A dialogue that broke off.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The process ended, or closed its end of the pipe, while an answer was due.
    #[error("the process ended before it answered{}", said(.0))]
    Ended(String),
    /// The answer did not come in time.
    #[error("no answer within {}", counted(.0.as_secs(), "second"))]
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

impl Fault {
    /// What to do about it: make room, where the disk is full, and else what is given.
    pub(crate) fn hint(&self, otherwise: &'static str) -> &'static str {
        match self {
            Fault::Start(error) if error.is_out_of_room() => NO_ROOM,
            _ => otherwise,
        }
    }
}

fn said(stderr: &str) -> String {
    match stderr.trim() {
        "" => String::new(),
        text => format!("; it said: {text}"),
    }
}

/// The start of what came on standard error, which is read whenever an answer is waited for, so that nobody blocks on it.
#[derive(Clone, Debug, Default)]
pub(super) struct Complaints(Arc<Mutex<Heard>>);

/// Bytes of that which are kept, unless more are wanted.
const KEPT: usize = 2000;

#[derive(Debug)]
struct Heard {
    source: Option<File>,
    text: Vec<u8>,
    kept: usize,
}

impl Default for Heard {
    fn default() -> Self {
        Heard { source: None, text: Vec::new(), kept: KEPT }
    }
}

impl Complaints {
    pub(super) fn listen(&self, source: OwnedFd) -> Result<(), Fault> {
        rustix::io::ioctl_fionbio(&source, true).map_err(io::Error::from)?;
        self.0.lock().unwrap_or_else(PoisonError::into_inner).source = Some(source.into());
        Ok(())
    }

    /// Takes what is there.
    fn drain(&self) {
        let mut heard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Heard { source, text, kept } = &mut *heard;
        let mut chunk = [0; 16384];
        while let Some(Ok(read @ 1..)) = source.as_mut().map(|source| source.read(&mut chunk)) {
            let room = kept.saturating_sub(text.len());
            text.extend_from_slice(&chunk[..read.min(room)]);
        }
    }

    /// Wants so many bytes kept.
    pub(super) fn keep(&self, bytes: usize) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).kept = bytes.max(KEPT);
    }

    /// The start of all that came, as much as is kept of it.
    pub(super) fn bytes(&self) -> Vec<u8> {
        self.drain();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).text.clone()
    }

    /// The start of it, short enough to be read.
    fn text(&self) -> String {
        let mut bytes = self.bytes();
        bytes.truncate(KEPT);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// One pair of pipes, and who is at the other end.
#[derive(Debug)]
pub(super) struct Channel {
    questions: File,
    answers: File,
    budget: Budget,
    complaints: Complaints,
    /// Read from the answers and not consumed.
    pending: Vec<u8>,
}

impl Channel {
    pub(super) fn new(
        questions: OwnedFd,
        answers: OwnedFd,
        budget: &Budget,
        complaints: &Complaints,
    ) -> Result<Self, Fault> {
        rustix::io::ioctl_fionbio(&questions, true).map_err(io::Error::from)?;
        rustix::io::ioctl_fionbio(&answers, true).map_err(io::Error::from)?;
        let (questions, answers) = (questions.into(), answers.into());
        let (budget, complaints) = (budget.clone(), complaints.clone());
        Ok(Channel { questions, answers, budget, complaints, pending: Vec::new() })
    }

    /// Asks one question and waits for its answer, at most `patience`.
    ///
    /// # Errors
    /// Any [`Fault`]; the dialogue is over then.
    pub(super) fn ask<A: DeserializeOwned>(
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

    /// The pipes that the other end may hold: what `fstat` says identifies them.
    pub(super) fn pipes(&self) -> Result<Vec<u64>, Fault> {
        let mut pipes = Vec::new();
        let heard = self.complaints.0.lock().unwrap_or_else(PoisonError::into_inner);
        for end in [Some(&self.questions), Some(&self.answers), heard.source.as_ref()].into_iter().flatten() {
            pipes.push(rustix::fs::fstat(end).map_err(io::Error::from)?.st_ino);
        }
        Ok(pipes)
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

    /// Sends what is given, if anything is, and waits for a line, at most `patience`.
    ///
    /// # Errors
    /// Any [`Fault`].
    pub(super) fn exchange(&mut self, mut question: &[u8], patience: Duration) -> Result<Vec<u8>, Fault> {
        let (mut left, mut glanced) = (Patience(patience), Instant::now());
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
            let passed = glanced.elapsed();
            glanced += passed;
            let Some(left) = left.spend(passed) else { return Err(Fault::Late(patience)) };
            self.wait(!question.is_empty(), left.min(GLANCE))?;
        }
    }

    /// Takes what is there. `false` at the end of the answers.
    fn receive(&mut self) -> Result<bool, Fault> {
        self.complaints.drain();
        let mut chunk = [0; 16384];
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
        if writing {
            watched.push(PollFd::new(&self.questions, PollFlags::OUT));
        }
        let patience = Timespec { tv_sec: 0, tv_nsec: i64::from(patience.subsec_nanos().max(1)) };
        match rustix::event::poll(&mut watched, Some(&patience)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(Fault::Pipe(error.into())),
        }
    }

    fn ended(&self) -> Fault {
        Fault::Ended(self.complaints.text())
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};

    /// What the gate makes of a peer that answers one question so.
    fn asked(reply: impl FnOnce(&str) -> String + Send + 'static) -> Result<Value, Fault> {
        let (theirs, questions) = rustix::pipe::pipe().unwrap();
        let (answers, mine) = rustix::pipe::pipe().unwrap();
        let budget = Budget::start(crate::limits::Limits::default(), Arc::default());
        let mut channel = Channel::new(questions, answers, &budget, &Complaints::default()).unwrap();
        let peer = std::thread::spawn(move || {
            let mut line = String::new();
            BufReader::new(File::from(theirs)).read_line(&mut line).unwrap();
            let question: Value = serde_json::from_str(&line).unwrap();
            File::from(mine).write_all(reply(question["nonce"].as_str().unwrap()).as_bytes()).unwrap();
        });
        let answer = channel.ask(Map::new(), Duration::from_secs(60));
        peer.join().unwrap();
        answer
    }

    #[test]
    fn a_machine_that_stands_still_takes_little_of_the_patience() {
        let second = Duration::from_secs(1);
        let mut patience = Patience(second);
        assert_eq!(patience.spend(GLANCE), Some(second - GLANCE));
        assert_eq!(patience.spend(600 * second), Some(second - 5 * GLANCE));
        let glances = (1..).find(|_| patience.spend(GLANCE).is_none());
        assert_eq!(glances, Some(15), "what is left is spent to its end");
    }

    #[test]
    fn only_the_answer_with_this_questions_nonce_counts() {
        let right = asked(|nonce| format!("{{\"nonce\":\"{nonce}\",\"did\":\"returned\"}}\n"));
        assert_eq!(right.unwrap(), serde_json::json!({"did": "returned"}));
        let wrong = "what came is not the answer: it does not carry this question's nonce";
        for reply in ["{\"nonce\":\"00\"}\n", "{\"nonce\":1}\n", "{}\n"] {
            assert_eq!(asked(move |_| reply.to_owned()).unwrap_err().to_string(), wrong);
        }
        assert!(matches!(asked(|_| "no answer\n".to_owned()), Err(Fault::NotTheAnswer(_))));
        assert!(matches!(asked(|_| String::new()), Err(Fault::Ended(_))));
    }
}
