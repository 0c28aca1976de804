//! A server for each scenario, and one elsewhere.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use super::scenario::{Caller, Place, Scenario};
use crate::contract::Contract;
use crate::producer::access::{Credentials, Token};
use crate::producer::http::{Reply, Request};
use crate::producer::server::{Received, Server, Site};
use crate::producer::{Activation, Producer, SCHEDULE, Settings};

/// Bytes that are kept of what one server hears: far more than any call sends.
const KEPT: usize = 256 << 10;

pub(super) const ANY_PORT: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// All of them, running.
#[derive(Debug)]
pub(super) struct Servers {
    credentials: Credentials,
    elsewhere: Server,
    served: Vec<Served>,
}

#[derive(Debug)]
struct Served {
    scenario: &'static Scenario,
    server: Server,
    /// The body of the last reply of the tool's target.
    answered: Arc<Mutex<Vec<u8>>>,
}

/// What one server heard and said.
#[derive(Clone, Debug)]
pub(super) struct Traffic {
    pub(super) scenario: &'static Scenario,
    pub(super) server: SocketAddr,
    pub(super) heard: Vec<Received>,
    /// Whether there was more than is kept.
    pub(super) flooded: bool,
    /// The credential that its client has.
    pub(super) token: Option<Token>,
    /// The body of the last reply of the tool's target.
    pub(super) answered: Vec<u8>,
}

impl Servers {
    /// Starts a server for each of these.
    ///
    /// # Errors
    /// The system's.
    pub(super) fn start(contract: &Contract, scenarios: &[&'static Scenario]) -> io::Result<Servers> {
        let credentials = Credentials::fresh()?;
        let elsewhere = Server::start(ANY_PORT, KEPT, Arc::new(|_| Reply::of_json(200, "{}")))?;
        let place = elsewhere.address();
        let start = |&scenario: &&'static Scenario| {
            let answered = Arc::<Mutex<Vec<u8>>>::default();
            let site = site(scenario, contract, credentials.clone(), place, answered.clone());
            Ok(Served { scenario, server: Server::start(ANY_PORT, KEPT, Arc::new(site))?, answered })
        };
        let served = scenarios.iter().map(start).collect::<io::Result<_>>()?;
        Ok(Servers { credentials, elsewhere, served })
    }

    /// Where nothing may be heard.
    pub(super) fn elsewhere(&self) -> SocketAddr {
        self.elsewhere.address()
    }

    /// The ports of all, the one elsewhere included: what is sent there has to be heard.
    pub(super) fn ports(&self) -> Vec<u16> {
        let servers = self.served.iter().map(|served| &served.server);
        servers.chain([&self.elsewhere]).map(|server| server.address().port()).collect()
    }

    /// The scenarios, each with its server.
    pub(super) fn scenarios(&self) -> impl Iterator<Item = (&'static Scenario, SocketAddr)> {
        self.served.iter().map(|served| (served.scenario, served.server.address()))
    }

    /// What a caller shows.
    pub(super) fn token(&self, caller: Caller) -> Option<&Token> {
        token(&self.credentials, caller)
    }

    /// Ends all; what each heard, and what was heard elsewhere.
    pub(super) fn finish(self) -> (Vec<Traffic>, Vec<Received>) {
        let tokens: Vec<_> = self.served.iter().map(|it| self.token(it.scenario.caller).cloned()).collect();
        let traffic = self.served.into_iter().zip(tokens).map(|(served, token)| {
            let Served { scenario, server, answered } = served;
            let address = server.address();
            let record = server.finish();
            let answered = std::mem::take(&mut *answered.lock().unwrap_or_else(PoisonError::into_inner));
            let (heard, flooded) = (record.connections(), record.is_full());
            Traffic { scenario, server: address, heard, flooded, token, answered }
        });
        (traffic.collect(), self.elsewhere.finish().connections())
    }
}

/// What a caller shows.
pub(super) fn token(credentials: &Credentials, caller: Caller) -> Option<&Token> {
    match caller {
        Caller::MayAddJobs => Some(&credentials.may_add_jobs),
        Caller::MayNotAddJobs => Some(&credentials.may_not_add_jobs),
        Caller::Anonymous => None,
    }
}

/// One server, which serves one scenario after another.
pub(super) struct Turns {
    server: Server,
    site: Arc<Mutex<Site>>,
    turns: Vec<Turn>,
}

struct Turn {
    scenario: &'static Scenario,
    /// How many connections there were before.
    from: usize,
    answered: Arc<Mutex<Vec<u8>>>,
}

impl Turns {
    /// Bytes that are kept of what the server hears.
    pub(super) const KEPT: usize = 8 << 20;

    /// Starts the server.
    ///
    /// # Errors
    /// The system's.
    pub(super) fn start() -> io::Result<Turns> {
        let nothing: Site = Arc::new(|_| Reply::of_json(404, "{}"));
        let site = Arc::new(Mutex::new(nothing));
        let current = site.clone();
        let answer = move |request: &Request| {
            let site = current.lock().unwrap_or_else(PoisonError::into_inner).clone();
            site(request)
        };
        Ok(Turns { server: Server::start(ANY_PORT, Self::KEPT, Arc::new(answer))?, site, turns: Vec::new() })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.server.address()
    }

    /// What comes from here on belongs to that scenario.
    pub(super) fn serve(
        &mut self,
        scenario: &'static Scenario,
        contract: &Contract,
        credentials: &Credentials,
        elsewhere: SocketAddr,
    ) {
        let answered = Arc::<Mutex<Vec<u8>>>::default();
        let next = site(scenario, contract, credentials.clone(), elsewhere, answered.clone());
        *self.site.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(next);
        // What comes before any call was asked for by nobody, and is held against the first.
        let from = if self.turns.is_empty() { 0 } else { self.server.connections() };
        self.turns.push(Turn { scenario, from, answered });
    }

    /// Ends it; what it heard in each turn, whose client has that credential.
    pub(super) fn finish(self, token: Option<&Token>) -> Vec<Traffic> {
        let Turns { server, turns, .. } = self;
        let address = server.address();
        let record = server.finish();
        let (heard, flooded) = (record.connections(), record.is_full());
        let ends: Vec<_> = turns.iter().skip(1).map(|turn| turn.from).chain([heard.len()]).collect();
        let traffic = turns.into_iter().zip(ends).map(|(Turn { scenario, from, answered }, end)| {
            let answered = std::mem::take(&mut *answered.lock().unwrap_or_else(PoisonError::into_inner));
            let heard = heard.get(from..end).unwrap_or_default().to_vec();
            Traffic { scenario, server: address, heard, flooded, token: token.cloned(), answered }
        });
        traffic.collect()
    }
}

/// What a scenario's server answers: as a sound producer does, but for the reply that the scenario changes.
fn site(
    scenario: &'static Scenario,
    contract: &Contract,
    credentials: Credentials,
    elsewhere: SocketAddr,
    answered: Arc<Mutex<Vec<u8>>>,
) -> impl Fn(&Request) -> Reply + Send + Sync + use<> {
    let settings = Settings {
        activation: if scenario.blocked { Activation::Blocked } else { Activation::Active },
        login_required: scenario.login_required,
        endpoints: scenario.endpoints(),
        ..Settings::new(contract, credentials)
    };
    let producer = Mutex::new(Producer::new(settings));
    move |request| {
        let sound = producer.lock().unwrap_or_else(PoisonError::into_inner).respond(request);
        let reply = match scenario.served {
            Some((page, change)) if page == request.path() => change(sound, &Place { request, elsewhere }),
            _ => sound,
        };
        if request.path() == SCHEDULE {
            *answered.lock().unwrap_or_else(PoisonError::into_inner) = reply.body.clone();
        }
        reply
    }
}
