//! The exact SDK's client against a producer on loopback.
//!
//! Every scenario has a server of its own, so that each request is known to belong to it, and one more server must hear nothing. A
//! process drives the client through all of them at once and says how each call ended; what was sent is known from the bytes that came.

pub mod advisory;
mod judge;
mod scenario;
mod servers;
mod table;
pub mod tools;
mod watch;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::behaviour::{
    BehaviourReport, Client, Clients, Compiler, Fault, Sandbox, Surroundings, Terms, record_confinement,
};
use crate::check::{Check, Finding, Halt, Ledger, Stage};
use crate::contract::Contract;
use crate::environment::{Environment, LockedEnvironment};
use crate::limits::Budget;
use advisory::Advisory;
use scenario::Scenario;
use servers::Servers;
use watch::Watch;

/// After so long the client gives up a request by itself, where the server falls silent. What comes before that it has to get done in
/// this time, so a machine that is slow to import gets [`SLOWER`] times that.
const SHORT: Duration = Duration::from_secs(1);

/// How often the time of an import goes into the client's patience.
const SLOWER: u32 = 4;

/// The same where it answers, so that only a hanging client gets there.
const LONG: f64 = 60.0;

/// Calls under way at a time in one process, besides those that wait.
const AT_A_TIME: usize = 3;

/// Seconds that the calls which wait are ahead of the others.
const HEAD_START: f64 = 0.2;

/// Bytes of the longest response that a tool may have.
const LONGEST_RESPONSE: usize = 256 << 10;

/// One scenario, as it went.
#[derive(Clone, Debug)]
pub struct Played {
    /// Its id.
    pub id: &'static str,
    /// What was sent, each request as method and target.
    pub requests: Vec<String>,
    /// How the call had to end.
    pub expected: String,
    /// How it ended.
    pub observed: String,
}

impl Played {
    /// How many requests were submissions.
    pub fn posts(&self) -> usize {
        self.requests.iter().filter(|request| request.starts_with("POST ")).count()
    }
}

/// How a scenario has to go.
#[derive(Clone, Debug)]
pub struct Demand {
    /// Its id.
    pub id: &'static str,
    /// The check it counts for.
    pub check: Check,
    /// How the call has to end.
    pub expected: String,
    /// What is sent.
    pub requests: Vec<String>,
    /// Whether the last request may be there twice.
    pub again: bool,
    /// The known difference that puts it there twice.
    pub advisory: Option<&'static str>,
}

/// Every scenario, in order.
pub fn demands() -> Vec<Demand> {
    let demand = |scenario: &Scenario| Demand {
        id: scenario.id,
        check: scenario.check,
        expected: scenario.ends.to_string(),
        requests: scenario.lines(),
        again: scenario.again,
        advisory: scenario.advisory.map(|advisory| advisory.id),
    };
    table::scenarios().into_iter().map(demand).collect()
}

/// What the scenarios showed.
#[derive(Debug, Default)]
pub struct Evidence {
    /// What the kernel enforced on the client's process.
    pub sandbox: Option<Sandbox>,
    /// Every scenario, in the table's order.
    pub played: Vec<Played>,
    /// Known differences that were seen, with how many scenarios showed each.
    pub advisories: BTreeMap<&'static str, (&'static Advisory, usize)>,
}

/// The client did in every scenario what the specification asks for.
#[derive(Debug)]
pub struct PairReport {
    behaviour: BehaviourReport,
}

impl PairReport {
    /// What was proven before.
    pub fn behaviour(&self) -> &BehaviourReport {
        &self.behaviour
    }
}

/// The servers, and a process that has imported what the SDK builds upon, or what kept either from being there.
#[derive(Debug)]
pub struct Standby(Result<(Servers, Clients<2>), Fault>);

/// Starts both. The process knows nothing of the SDK. `temporary` is where its private folder is made; `compiler` may have compiled what it
/// imports.
pub fn prepare(
    environment: &Environment,
    contract: &Contract,
    compiler: Option<Arc<Compiler>>,
    temporary: &Path,
    budget: &Budget,
) -> Standby {
    let start = || {
        let servers = Servers::start(contract, &table::scenarios())?;
        let around = Surroundings {
            ports: &servers.ports(),
            variables: &proxies(servers.elsewhere()),
            home: &[(".netrc", NETRC.into())],
            preload: contract.preload,
            heard: 0,
        };
        let code = compiler.as_ref().and_then(|compiler| compiler.code());
        let clients = Clients::start(environment, code.as_deref(), &around, temporary, budget)?;
        Ok((servers, clients))
    };
    Standby(start())
}

const NETRC: &str = "machine 127.0.0.1 login nobody password nothing\n";

/// A client that went by its surroundings, these or [`NETRC`], would be seen elsewhere, or with a credential that is not its own.
fn proxies(elsewhere: SocketAddr) -> [(&'static str, String); 4] {
    let proxy = format!("http://{elsewhere}");
    [
        ("http_proxy", proxy.clone()),
        ("HTTP_PROXY", proxy.clone()),
        ("all_proxy", proxy),
        // Each thread would reserve 64 MiB of the memory that the process may map.
        ("MALLOC_ARENA_MAX", "1".into()),
    ]
}

/// What came of all scenarios, not judged yet.
#[derive(Debug)]
pub struct Recording {
    environment: Arc<LockedEnvironment>,
    /// Or what kept the servers or the process from being there.
    round: Result<Round, Fault>,
}

/// Both ends of the calls.
#[derive(Debug)]
struct Round {
    sandbox: Sandbox,
    seen: judge::Seen,
    outcomes: Result<Vec<Outcome>, Broken>,
}

/// Plays all scenarios. Most of that is waiting, so it goes beside other work.
pub fn play(
    environment: Arc<LockedEnvironment>,
    standby: Standby,
    compiler: &Compiler,
    contract: &Contract,
    manifest: &str,
) -> Recording {
    let round = standby.0.map(|(servers, mut clients)| {
        let watch = Watch::start();
        let play = Play { environment: &environment, compiler, contract, manifest, servers: &servers };
        let outcomes = play.all(&mut clients);
        let sandbox = clients.sandbox().clone();
        // They have to be gone before the record is read: what they send is then on it.
        drop(clients);
        let stood_still = watch.finish();
        let elsewhere = servers.elsewhere();
        let (traffic, strayed) = servers.finish();
        Round { sandbox, seen: judge::Seen { traffic, strayed, elsewhere, stood_still }, outcomes }
    });
    Recording { environment, round }
}

/// Judges what came of the scenarios.
///
/// # Errors
/// [`Halt`] unless every check of the stage passed; `evidence` holds what was seen either way.
pub fn verify(
    behaviour: BehaviourReport,
    recording: Recording,
    terms: Terms<'_>,
    evidence: &mut Evidence,
    ledger: &mut Ledger,
) -> Result<PairReport, Halt> {
    if !Arc::ptr_eq(&recording.environment, behaviour.environment()) {
        let actual = "calls made in another environment";
        let finding = Finding::new("client", "this environment's", actual, "report this as a bug");
        return Err(ledger.give_up(Check::PairTranscript, finding));
    }
    let hint = "run again where a server can listen on 127.0.0.1; if it stays, keep the record blocked";
    let Round { sandbox, seen, outcomes } = recording.round.map_err(|fault| {
        let finding = Finding::new("client", "servers on loopback and a process", fault.to_string(), fault.hint(hint));
        ledger.give_up(Check::PairTranscript, finding)
    })?;
    record_confinement(Check::PairConfined, Some(&sandbox), terms.require_sandbox, ledger);
    evidence.sandbox = Some(sandbox);
    match outcomes {
        Ok(outcomes) => judge::judge(&seen, &outcomes, terms.deny_advisories, evidence, ledger),
        Err(broken) => judge::broken(&broken, seen.stood_still, ledger),
    }
    ledger.close(Stage::Pair)?;
    Ok(PairReport { behaviour })
}

/// Why there are no outcomes.
#[derive(Debug)]
enum Broken {
    /// The package, or its client, could not be imported.
    Import(String),
    /// So many outcomes came of a process instead of one for each of its scenarios.
    Count(usize),
    /// The dialogue broke off.
    Fault(Fault),
}

impl From<Fault> for Broken {
    fn from(fault: Fault) -> Self {
        Broken::Fault(fault)
    }
}

/// How a call ended, as the process saw it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Outcome {
    ended: Ended,
    /// How far it got; none if it was not begun.
    step: Option<Step>,
    raised: Option<String>,
    told: Option<String>,
    status: Option<u16>,
    /// The start of the body, as the client gave it.
    text: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Ended {
    Returned,
    /// By the bridge's own error.
    Rejected,
    Raised,
    #[default]
    Hung,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Step {
    Discovery,
    Tool,
    Arguments,
    Dispatch,
    Response,
    Accepted,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Answer {
    Outcomes { outcomes: Vec<Outcome> },
    Failed { failed: String },
}

/// Where the scenarios are played.
struct Play<'a> {
    environment: &'a LockedEnvironment,
    compiler: &'a Compiler,
    contract: &'a Contract,
    manifest: &'a str,
    servers: &'a Servers,
}

impl Play<'_> {
    /// Every other scenario is played in one process, the rest in another beside it.
    fn all(&self, clients: &mut Clients<2>) -> Result<Vec<Outcome>, Broken> {
        let scenarios: Vec<_> = self.servers.scenarios().collect();
        let half = |which: usize| scenarios.iter().skip(which).step_by(2).copied().collect::<Vec<_>>();
        let [first, second] = clients.fork()?;
        let (first, second) = std::thread::scope(|scope| {
            let second = scope.spawn(|| self.half(second, &half(1)));
            (self.half(first, &half(0)), second.join().unwrap_or(Err(Broken::Count(0))))
        });
        let (mut first, mut second) = (first?.into_iter(), second?.into_iter());
        let each = |index: usize| if index.is_multiple_of(2) { first.next() } else { second.next() };
        Ok((0..scenarios.len()).filter_map(each).collect())
    }

    fn half(&self, mut client: Client, scenarios: &[(&'static Scenario, SocketAddr)]) -> Result<Vec<Outcome>, Broken> {
        let started = Instant::now();
        client.import(self.environment, self.contract, self.manifest, self.compiler)?.map_err(Broken::Import)?;
        let patience = self.environment.snapshot().graph().budget().limits().answer_seconds;
        let longest = SHORT.max(Duration::from_secs(patience) / 2);
        let short = (started.elapsed() * SLOWER).clamp(SHORT, longest);
        let question = self.question(scenarios, patience, short);
        // The process keeps to `patience` for each call itself, and then has to answer.
        let rounds = (scenarios.len() / AT_A_TIME + 2) as u64;
        match client.ask(question, Duration::from_secs(patience.saturating_mul(rounds)))? {
            Answer::Outcomes { outcomes } if outcomes.len() == scenarios.len() => Ok(outcomes),
            Answer::Outcomes { outcomes } => Err(Broken::Count(outcomes.len())),
            Answer::Failed { failed } => Err(Broken::Import(failed)),
        }
    }

    fn question(
        &self,
        scenarios: &[(&'static Scenario, SocketAddr)],
        patience: u64,
        short: Duration,
    ) -> Map<String, Value> {
        let Play { contract, servers, .. } = *self;
        let module = contract.module_name();
        let own = |name: &str| format!("{module}:{name}");
        let names = contract.client;
        let scenario = |&(scenario, server): &(&Scenario, SocketAddr)| {
            let token = servers.token(scenario.caller);
            json!({
                "server": format!("http://{server}"),
                "key": token.map(|token| &token.key),
                "secret": token.map(|token| &token.secret),
                "timeout": if scenario.waits { short.as_secs_f64() } else { LONG },
                "waits": scenario.waits,
                "plugin": "proxbox",
                "tool": scenario.tool,
                "arguments": scenario.arguments,
                "longest": LONGEST_RESPONSE,
            })
        };
        let question = json!({
            "about": "scenarios",
            "patience": patience,
            "at_a_time": AT_A_TIME,
            "head_start": HEAD_START,
            "parts": {
                "config": names.config,
                "client": names.client,
                "discover": names.discover,
                "request_path": names.request_path,
                "query": names.query,
                "check_arguments": own(contract.functions.arguments),
                "check_response": own(contract.functions.response),
                "read_response": own(contract.functions.document),
                "rejection": contract.payload_rejection,
            },
            "scenarios": scenarios.iter().map(scenario).collect::<Vec<_>>(),
        });
        if let Value::Object(question) = question { question } else { Map::new() }
    }
}
