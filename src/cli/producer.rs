//! `producer serve`: the producer to try an SDK or an agent against by hand.

use std::net::SocketAddr;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use clap::{Args, Subcommand};
use schemars::JsonSchema;
use serde::Serialize;

use super::human::printable;
use super::output::Output;
use super::signals::Signals;
use crate::contract::Contract;
use crate::producer::access::{Credentials, Principal};
use crate::producer::http::Request;
use crate::producer::server::Server;
use crate::producer::{Activation, Producer, ROOT, Settings};

/// How often the interrupt flag is looked at.
const GLANCE: Duration = Duration::from_millis(50);

/// Requests that the object at the end tells of.
const MOST_TOLD: usize = 10_000;

#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve bridge v1 on loopback until interrupted, and say what each request came to
    Serve(Serve),
}

#[derive(Debug, Args)]
struct Serve {
    /// Where to listen: a loopback address; port 0 is any free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0", value_parser = loopback)]
    listen: SocketAddr,
    /// Expose no manifest, as while no SDK is activated
    #[arg(long)]
    blocked: bool,
    /// Let anonymous callers read the manifest: LOGIN_REQUIRED=False
    #[arg(long)]
    no_login_required: bool,
    /// An enabled Proxmox endpoint; give it again for each
    #[arg(long = "endpoint", value_name = "ID", default_values_t = [7, 9])]
    endpoints: Vec<u64>,
}

fn loopback(text: &str) -> Result<SocketAddr, String> {
    let address: SocketAddr = text.parse().map_err(|_| "expected an address and a port, 127.0.0.1:8080".to_owned())?;
    if address.ip().is_loopback() { Ok(address) } else { Err("this server is for loopback alone".into()) }
}

/// What `producer serve` says when it ends.
#[derive(Serialize, JsonSchema)]
pub(super) struct Traffic {
    /// Always `paired-sdk-gate/traffic/v1`.
    schema: &'static str,
    /// The first ten thousand requests, in the order of their answers.
    requests: Vec<Told>,
    /// How many more there were.
    left_off: usize,
    /// How many jobs were enqueued.
    jobs: usize,
}

/// One request. Its headers are not told, for the credential stands there.
#[derive(Serialize, JsonSchema)]
struct Told {
    /// As it came.
    method: String,
    /// As it came.
    target: String,
    /// Whose it was; null if it showed a credential that is not known.
    principal: Option<Principal>,
    /// The body as it came, what is no UTF-8 replaced.
    body: String,
    /// The status of the answer.
    status: u16,
}

impl Told {
    fn line(&self) -> String {
        let principal = match self.principal {
            Some(Principal::Anonymous) => "anonymous",
            Some(Principal::MayNotAddJobs) => "without core.add_job",
            Some(Principal::MayAddJobs) => "with core.add_job",
            None => "unknown credential",
        };
        let body = if self.body.is_empty() { String::new() } else { format!(" {}", printable(&self.body)) };
        format!("{} {} {} ({principal}){body}\n", self.status, printable(&self.method), printable(&self.target))
    }
}

pub(super) fn run(arguments: &Arguments, signals: &Signals, output: &Output) -> anyhow::Result<u8> {
    let Command::Serve(serve) = &arguments.command;
    let credentials = Credentials::fresh()?;
    let settings = Settings {
        activation: if serve.blocked { Activation::Blocked } else { Activation::Active },
        login_required: !serve.no_login_required,
        endpoints: serve.endpoints.iter().copied().collect(),
        ..Settings::new(Contract::bridge_v1(), credentials.clone())
    };
    let producer = Arc::new(Mutex::new(Producer::new(settings)));
    let (tell, told) = mpsc::channel();
    let site = {
        let (producer, credentials) = (producer.clone(), credentials.clone());
        move |request: &Request| {
            let reply = producer.lock().unwrap_or_else(PoisonError::into_inner).respond(request);
            let _ = tell.send(Told {
                method: request.method.clone(),
                target: request.target.clone(),
                principal: credentials.principal(request),
                body: String::from_utf8_lossy(&request.body).into_owned(),
                status: reply.status,
            });
            reply
        }
    };
    // What came is told as it comes; nothing needs to be kept.
    let server = match Server::start(serve.listen, 0, Arc::new(site)) {
        Ok(server) => server,
        Err(error) => anyhow::bail!(super::Usage(format!("--listen {}: {error}", serve.listen))),
    };
    output.text(&format!(
        "listening on http://{}{ROOT}\n  with core.add_job     Authorization: {}\n  without core.add_job  Authorization: {}\n",
        server.address(),
        credentials.may_add_jobs.header(),
        credentials.may_not_add_jobs.header()
    ));
    let (mut requests, mut left_off) = (Vec::new(), 0);
    let mut take = |told: Told| {
        output.text(&told.line());
        if requests.len() < MOST_TOLD { requests.push(told) } else { left_off += 1 }
    };
    while signals.seen().is_none() {
        match told.recv_timeout(GLANCE) {
            Ok(told) => take(told),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    drop(server);
    told.try_iter().for_each(take);
    let jobs = producer.lock().unwrap_or_else(PoisonError::into_inner).jobs().rows().len();
    let traffic = Traffic { schema: "paired-sdk-gate/traffic/v1", requests, left_off, jobs };
    output.object(&(serde_json::to_string_pretty(&traffic)? + "\n"));
    let answered = traffic.requests.len() + left_off;
    output.text(&format!("ENDED: {answered} requests, {jobs} jobs enqueued\n"));
    Ok(0)
}
