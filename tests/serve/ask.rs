//! A running `producer serve`, and Python's `http.client` to ask it.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStderr, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::gate::gate;

#[derive(Clone, Copy, Debug)]
pub enum Caller {
    MayAddJobs,
    MayNotAddJobs,
    Anonymous,
    Unknown,
}

#[derive(Debug, Deserialize)]
pub struct Answer {
    pub status: u16,
    pub headers: BTreeMap<String, Value>,
    pub body: Value,
}

/// A server that was started and said where it listens and whom it knows.
pub struct Serving {
    child: Child,
    text: BufReader<ChildStderr>,
    host: String,
    tokens: [String; 2],
}

/// What it said when it had ended.
pub struct Ended {
    pub stdout: String,
    /// The text for people, from the first request on.
    pub lines: Vec<String>,
    pub requests: Vec<Value>,
    pub jobs: usize,
}

impl Serving {
    pub fn start(arguments: &[&str]) -> Self {
        let mut command = gate();
        command.args(["producer", "serve", "--format", "json"]).args(arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut text = BufReader::new(child.stderr.take().unwrap());
        let mut after = |mark: &str| {
            let mut line = String::new();
            text.read_line(&mut line).unwrap();
            line.trim().split_once(mark).unwrap_or_else(|| panic!("no {mark:?} in {line:?}")).1.to_owned()
        };
        let host = after("listening on http://").split('/').next().unwrap().to_owned();
        let tokens = [after("Authorization: "), after("Authorization: ")];
        Serving { child, text, host, tokens }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.host)
    }

    pub fn secret(&self) -> String {
        self.tokens[0].split_once('.').unwrap().1.to_owned()
    }

    /// Asks one after the other: method, path and body of each.
    pub fn ask(&self, caller: Caller, requests: &[(&str, &str, &str)]) -> Vec<Answer> {
        let token = match caller {
            Caller::MayAddJobs => Some(self.tokens[0].clone()),
            Caller::MayNotAddJobs => Some(self.tokens[1].clone()),
            Caller::Unknown => Some("Bearer nbt_unknown.secret".to_owned()),
            Caller::Anonymous => None,
        };
        let headers: BTreeMap<_, _> = token.map(|token| ("Authorization", token)).into_iter().collect();
        let mut python = Command::new("python3");
        python.args(["-I", concat!(env!("CARGO_MANIFEST_DIR"), "/tests/serve/ask.py")]);
        let mut python = python.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let asked = json!({"host": self.host, "headers": headers, "requests": requests});
        python.stdin.take().unwrap().write_all(asked.to_string().as_bytes()).unwrap();
        let output = python.wait_with_output().unwrap();
        assert!(output.status.success());
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Ends it as its user would.
    pub fn end(mut self) -> Ended {
        kill_process(Pid::from_child(&self.child), Signal::INT).unwrap();
        let (mut stdout, mut text) = (String::new(), String::new());
        self.child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
        self.text.read_to_string(&mut text).unwrap();
        assert_eq!(self.child.wait().unwrap().code(), Some(0), "{text}");
        let traffic: Value = serde_json::from_str(&stdout).unwrap();
        let requests = traffic["requests"].as_array().unwrap().clone();
        let jobs = usize::try_from(traffic["jobs"].as_u64().unwrap()).unwrap();
        Ended { stdout, lines: text.lines().map(str::to_owned).collect(), requests, jobs }
    }
}

/// A test that fails leaves no server behind.
impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
