//! JSON-RPC 2.0 with a server that speaks MCP on its pipes, one message a line.

use std::time::{Duration, Instant};

use crate::behaviour::{Client, Fault};
use crate::contract::json::{Json, Lookup};

/// The version of the protocol that is asked for.
const PROTOCOL: &str = "2025-06-18";

/// Notices that may come before an answer.
const MOST_NOTICES: usize = 100;

/// Bytes that may come in all: many times what the answers have.
const MOST: usize = 32 << 20;

/// What the server answered.
#[derive(Clone, Debug)]
pub(super) enum Said {
    Result(Json),
    Error(String),
}

/// One message of the server's, as it came.
pub(super) struct Message {
    /// What it came in.
    pub(super) during: &'static str,
    pub(super) line: Vec<u8>,
}

/// One dialogue.
pub(super) struct Session {
    pub(super) client: Client,
    /// What is going on.
    pub(super) during: &'static str,
    /// All that came so far, notices too: they are a log.
    pub(super) heard: Vec<Message>,
    asked: u64,
    /// The message whose answer is not waited for any more.
    given_up: Option<u64>,
}

pub(super) fn member<'a>(value: &'a Json, name: &str) -> Option<&'a Json> {
    let Json::Object(members) = value else { return None };
    Lookup::new(members).get(name)
}

impl Session {
    pub(super) fn of(client: Client) -> Self {
        Session { client, during: "start", heard: Vec::new(), asked: 0, given_up: None }
    }

    /// Greets the server.
    ///
    /// # Errors
    /// Any [`Fault`].
    pub(super) fn greet(&mut self, patience: Duration) -> Result<(), Fault> {
        let who = r#"{"name":"client","version":"1"}"#;
        let parameters = format!(r#"{{"protocolVersion":"{PROTOCOL}","capabilities":{{}},"clientInfo":{who}}}"#);
        match self.ask("initialize", &parameters, patience)? {
            Said::Result(result) if member(&result, "protocolVersion").is_some() => Ok(()),
            other => Err(Fault::NotTheAnswer(format!("to initialize it says {other:?}"))),
        }
    }

    /// Sends a request and waits for its answer.
    ///
    /// # Errors
    /// Any [`Fault`]. The dialogue can go on after [`Fault::Late`] alone.
    pub(super) fn ask(&mut self, method: &str, parameters: &str, patience: Duration) -> Result<Said, Fault> {
        self.asked += 1;
        let id = self.asked;
        // What follows the greeting is told before anything else is asked.
        let greeted = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        let before = if id == 2 { format!("{greeted}\n") } else { String::new() };
        let request = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{parameters}}}"#);
        let mut lines = format!("{before}{request}\n").into_bytes();
        let deadline = Instant::now() + patience;
        for _ in 0..MOST_NOTICES {
            let left = deadline.saturating_duration_since(Instant::now());
            let line = match self.client.exchange(&lines, left) {
                Err(Fault::Late(_)) => {
                    self.given_up = Some(id);
                    return Err(Fault::Late(patience));
                }
                line => line?,
            };
            lines.clear();
            let said = self.read(id, &line);
            self.heard.push(Message { during: self.during, line });
            if self.heard.iter().map(|message| message.line.len()).sum::<usize>() > MOST {
                return Err(Fault::NotTheAnswer(format!("{MOST} bytes in all are more than any server has to say")));
            }
            if let Some(said) = said? {
                return Ok(said);
            }
        }
        Err(Fault::NotTheAnswer(format!("{MOST_NOTICES} notices and no answer")))
    }

    /// The answer to that request, if this is it; a notice is nothing.
    fn read(&self, id: u64, line: &[u8]) -> Result<Option<Said>, Fault> {
        let text = String::from_utf8_lossy(line);
        let excerpt: String = text.chars().take(200).collect();
        let odd = |why: &str| Fault::NotTheAnswer(format!("{excerpt:?} ({why})"));
        let message = Json::parse(&text).map_err(|error| odd(&error.to_string()))?;
        let (named, method) = (member(&message, "id"), member(&message, "method"));
        match (named, method) {
            (None, Some(_)) => return Ok(None),
            (Some(_), Some(_)) => return Err(odd("it asks something of its client")),
            _ => {}
        }
        let is = |id: u64| named == Some(&Json::Number(id.to_string()));
        if self.given_up.is_some_and(is) {
            return Ok(None);
        }
        if !is(id) {
            return Err(odd("it answers nothing that was asked"));
        }
        match (member(&message, "result"), member(&message, "error")) {
            (Some(result), None) => Ok(Some(Said::Result(result.clone()))),
            (None, Some(error)) => Ok(Some(Said::Error(error.to_string()))),
            _ => Err(odd("it is neither a result nor an error")),
        }
    }
}
