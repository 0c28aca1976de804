//! The exact SDK's MCP server against a producer on loopback: what an agent gets to see, and what is sent when it calls.
//!
//! The same scenarios as the client's, asked as tools of the server, and those that only a server can show. A few servers run at once,
//! each set up otherwise and with a producer of its own; a server's calls are made one after another, so that each request is known to
//! belong to one. What was sent is known from the bytes that came.

mod judge;
mod session;
mod table;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use super::servers::Turns;
use super::watch::Watch;
use super::{Evidence, NETRC, SHORT, SLOWER, proxies};
use crate::behaviour::{
    self, Client, Clients, Compiler, Fault, Launch, Launched, Sandbox, Surroundings, Terms, record_confinement,
};
use crate::check::{Check, Finding, Halt, Ledger, Stage};
use crate::environment::LockedEnvironment;
use crate::limits::Budget;
use crate::producer::access::{Credentials, Token};
use crate::producer::http::Reply;
use crate::producer::server::Server;
use session::{Message, Said, Session};
use table::{Allowed, Call, SETTINGS, Setting, Told};

/// Servers at a time.
const SERVERS: usize = SETTINGS.len();

/// Bytes that are kept of what the servers say on standard error.
const KEPT: usize = 32 << 20;

/// How long at least an answer is waited for that is known to stay out. A machine that is slow to answer gets [`SLOWER`] times what it
/// took.
const MUTE: Duration = Duration::from_secs(2);

/// The server did in every scenario what the specification asks for.
#[derive(Debug)]
pub struct ToolsReport {
    environment: Arc<LockedEnvironment>,
}

impl ToolsReport {
    /// The environment it ran in, and through it what was proven before.
    pub fn environment(&self) -> &Arc<LockedEnvironment> {
        &self.environment
    }
}

/// Every scenario: its id, and the check it counts for.
pub fn demands() -> Vec<(&'static str, Check)> {
    table::calls().iter().map(|(_, call)| (call.scenario.id, judge::check_of(call.scenario.check))).collect()
}

/// Plays all scenarios and judges what came of them.
///
/// # Errors
/// [`Halt`] unless every check of the stage passed; `evidence` holds what was seen either way.
pub fn verify(
    environment: Arc<LockedEnvironment>,
    terms: Terms<'_>,
    temporary: &Path,
    evidence: &mut Evidence,
    ledger: &mut Ledger,
) -> Result<ToolsReport, Halt> {
    require_dependency(&environment, terms, ledger)?;
    let round = play(&environment, terms, temporary).map_err(|fault| {
        let hint = "run again where a server can listen on 127.0.0.1; if it stays, keep the record blocked";
        let finding =
            Finding::new("server", "producers on loopback and processes", fault.to_string(), fault.hint(hint));
        ledger.give_up(Check::McpTranscript, finding)
    })?;
    record_confinement(Check::McpConfined, Some(&round.sandbox), terms.require_sandbox, ledger);
    evidence.sandbox = Some(round.sandbox.clone());
    judge::judge(&round, environment.snapshot(), terms, evidence, ledger);
    ledger.close(Stage::Tools)?;
    Ok(ToolsReport { environment })
}

/// Without what the server is built upon, nothing can be told of it.
fn require_dependency(environment: &LockedEnvironment, terms: Terms<'_>, ledger: &mut Ledger) -> Result<(), Halt> {
    let Some((name, extra)) = terms.contract.server.dependency else { return Ok(()) };
    if environment.distributions().iter().any(|found| found.name.eq_ignore_ascii_case(name)) {
        return Ok(());
    }
    let root = environment.identity().environment_root().display();
    let hint = format!(
        "in the SDK's checkout: `UV_PROJECT_ENVIRONMENT={root} uv sync --frozen --no-install-project --extra {extra}`, or install \
         what its extra `{extra}` requires"
    );
    let finding = Finding::new("environment root", format!("the distribution `{name}`"), "not installed", hint);
    Err(ledger.give_up(Check::McpOrigin, finding))
}

/// Everything that was seen of all servers.
struct Round {
    sandbox: Sandbox,
    lines: Vec<Line>,
    strayed: Vec<crate::producer::server::Received>,
    elsewhere: SocketAddr,
    /// What was said on standard error.
    heard: Vec<u8>,
    written: Written,
    secrets: Vec<String>,
    /// How long nothing ran here at a stretch.
    stood_still: Duration,
}

/// What the servers left in the one folder that they may write to.
#[derive(Default)]
struct Written {
    /// By path in it.
    files: Vec<(String, Vec<u8>)>,
    /// Why that is not all.
    unread: Option<String>,
}

/// What was seen of one server.
struct Line {
    transcript: Transcript,
    /// By call.
    traffic: Vec<super::servers::Traffic>,
}

/// A dialogue, as far as it went.
#[derive(Default)]
struct Transcript {
    /// Where the server was loaded from, or why it was not.
    origin: Option<Result<String, String>>,
    /// What it offered before all calls, and after.
    offered: Vec<Said>,
    calls: Vec<(Call, Option<Said>)>,
    /// Every message of it.
    heard: Vec<Message>,
    /// What broke it off, and during what.
    fault: Option<(&'static str, Fault)>,
}

fn play(environment: &Arc<LockedEnvironment>, terms: Terms<'_>, temporary: &Path) -> Result<Round, Fault> {
    let (locked, contract) = (environment.environment(), terms.contract);
    let budget = environment.snapshot().graph().budget();
    let own = behaviour::compile(environment, contract, &[contract.server.package], temporary);
    let compiler = behaviour::compile_ahead(locked, contract.server.preload, temporary, budget);
    let credentials = Credentials::fresh()?;
    let elsewhere = Server::start(super::servers::ANY_PORT, Turns::KEPT, Arc::new(|_| Reply::of_json(200, "{}")))?;
    let mut turns = (0..SERVERS).map(|_| Turns::start()).collect::<std::io::Result<Vec<_>>>()?;
    let ports: Vec<_> = turns.iter().map(Turns::address).chain([elsewhere.address()]).map(|it| it.port()).collect();
    let around = Surroundings {
        ports: &ports,
        variables: &proxies(elsewhere.address()),
        home: &[],
        preload: contract.server.preload,
        heard: KEPT,
    };
    let code = compiler.code();
    let mut clients = Clients::<SERVERS>::start(locked, code.as_deref(), &around, temporary, budget)?;
    let calls = table::calls();
    let watch = Watch::start();
    let play =
        Play { environment, terms, compiler: &own, credentials: &credentials, elsewhere: elsewhere.address(), budget };
    let transcripts = std::thread::scope(|scope| -> Result<Vec<_>, Fault> {
        let servers = clients.fork()?.into_iter().zip(&mut turns).enumerate();
        let threads: Vec<_> = servers
            .map(|(place, (client, turns))| {
                let calls: Vec<_> = calls.iter().filter(|(of, _)| *of == place).map(|(_, call)| *call).collect();
                scope.spawn(move || play.line(client, turns, SETTINGS[place], &calls))
            })
            .collect();
        // A panic leaves an empty transcript, which is refused like any other.
        Ok(threads.into_iter().map(|thread| thread.join().unwrap_or_default()).collect())
    })?;
    let (sandbox, heard) = (clients.sandbox().clone(), clients.heard());
    let written = written(&clients.folder());
    // They have to be gone before the record is read: what they send is then on it.
    drop(clients);
    let stood_still = watch.finish();
    let place = elsewhere.address();
    let lines = turns
        .into_iter()
        .zip(SETTINGS)
        .zip(transcripts)
        .map(|((turns, setting), transcript)| Line { transcript, traffic: turns.finish(token(&credentials, setting)) });
    Ok(Round {
        lines: lines.collect(),
        sandbox,
        heard,
        written,
        stood_still,
        strayed: elsewhere.finish().connections(),
        elsewhere: place,
        secrets: vec![credentials.may_add_jobs.secret, credentials.may_not_add_jobs.secret],
    })
}

/// Reads the files of a folder, [`KEPT`] bytes of them at most.
fn written(folder: &Path) -> Written {
    let mut written = Written::default();
    let mut room = KEPT as u64;
    for entry in walkdir::WalkDir::new(folder).sort_by_file_name() {
        let read = entry.map_err(|error| error.to_string()).and_then(|entry| {
            if !entry.file_type().is_file() {
                return Ok(None);
            }
            let content = crate::fs::read_file(entry.path(), room).map_err(|error| error.to_string())?;
            if content.exceeds {
                return Err(format!("more than {KEPT} bytes"));
            }
            let name = entry.path().strip_prefix(folder).unwrap_or(entry.path()).display().to_string();
            Ok(Some((name, content.bytes)))
        });
        match read {
            Ok(None) => {}
            Ok(Some(file)) => {
                // An empty one takes room, too.
                room = room.saturating_sub(file.1.len() as u64 + 1);
                written.files.push(file);
            }
            Err(why) => {
                written.unread = Some(why);
                break;
            }
        }
    }
    written
}

fn token(credentials: &Credentials, setting: Setting) -> Option<&Token> {
    super::servers::token(credentials, setting.caller)
}

/// Where the calls are made.
#[derive(Clone, Copy)]
struct Play<'a> {
    environment: &'a LockedEnvironment,
    terms: Terms<'a>,
    compiler: &'a Compiler,
    credentials: &'a Credentials,
    elsewhere: SocketAddr,
    budget: &'a Budget,
}

impl Play<'_> {
    fn line(&self, client: Client, turns: &mut Turns, setting: Setting, calls: &[Call]) -> Transcript {
        let (mut transcript, mut session) = (Transcript::default(), Session::of(client));
        let ended = self.converse(&mut session, turns, setting, calls, &mut transcript);
        transcript.fault = ended.err().map(|fault| (session.during, fault));
        transcript.heard = session.heard;
        transcript
    }

    fn converse(
        &self,
        session: &mut Session,
        turns: &mut Turns,
        setting: Setting,
        calls: &[Call],
        transcript: &mut Transcript,
    ) -> Result<(), Fault> {
        let Terms { contract, manifest, .. } = self.terms;
        let limits = self.budget.limits();
        let patience = Duration::from_secs(limits.answer_seconds);
        let started = Instant::now();
        if let Err(why) = session.client.import(self.environment, contract, manifest, self.compiler)? {
            transcript.origin = Some(Err(why));
            return Ok(());
        }
        let short = (started.elapsed() * SLOWER).clamp(SHORT, SHORT.max(patience / 2));
        match session.client.launch(self.launch(setting, turns.address(), short))? {
            Launched::Running { origin } => transcript.origin = Some(Ok(origin)),
            Launched::Failed { failed } => {
                transcript.origin = Some(Err(failed));
                return Ok(());
            }
        }
        session.greet(Duration::from_secs(limits.import_seconds))?;
        transcript.offered.push(session.ask("tools/list", "{}", patience)?);
        // Where nothing comes the server has to wait itself, before it can answer.
        let patience = if setting.hasty { patience + short } else { patience };
        let mut longest = Duration::ZERO;
        for call in calls {
            session.during = call.scenario.id;
            turns.serve(call.scenario, contract, self.credentials, self.elsewhere);
            let mute = call.known.is_some_and(|known| known.told == Told::Nothing);
            let patience = if mute { (longest * SLOWER).max(MUTE).min(patience) } else { patience };
            let asked = Instant::now();
            let said = match session.ask("tools/call", &call.parameters(contract.server.generic), patience) {
                Err(Fault::Late(_)) if mute => None,
                said => Some(said?),
            };
            longest = longest.max(asked.elapsed());
            transcript.calls.push((*call, said));
            self.budget.tally().calls.add(1);
        }
        // It is alive, and has learnt nothing that it offers from now on.
        session.during = "end";
        transcript.offered.push(session.ask("tools/list", "{}", patience)?);
        Ok(())
    }

    fn launch(&self, setting: Setting, server: SocketAddr, short: Duration) -> Launch<'_> {
        let names = self.terms.contract.server;
        let [variable, argument] = names.mutations;
        let mut variables = Map::from_iter([(names.url.to_owned(), Value::from(format!("http://{server}")))]);
        if let Some(token) = token(self.credentials, setting) {
            let halves = [&token.key, &token.secret];
            variables.extend(names.token.into_iter().zip(halves).map(|(name, half)| (name.to_owned(), json!(half))));
        }
        if setting.allowed == Allowed::ByVariable {
            variables.insert(variable.into(), "1".into());
        }
        let mut home = Map::from_iter([(".netrc".to_owned(), Value::from(NETRC))]);
        if setting.hasty {
            let settings = json!({"profiles": {"default": {"timeout": short.as_secs_f64()}}});
            home.insert(names.settings.into(), settings.to_string().into());
        }
        let arguments = if setting.allowed == Allowed::ByArgument { vec![argument] } else { Vec::new() };
        Launch { run: names.run, arguments, variables, home }
    }
}
