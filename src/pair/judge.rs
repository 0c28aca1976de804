//! From recorded traffic and the outcomes of calls to the rows of the stage.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use super::scenario::Ends;
use super::servers::Traffic;
use super::{Broken, Ended, Evidence, Outcome, Played, Step};
use crate::behaviour::Fault;
use crate::check::{Check, Finding, Ledger, limited};
use crate::contract::json::{Json, Lookup};
use crate::contract::number::Number;
use crate::contract::{Oracle, Question};
use crate::producer::http::Request;
use crate::producer::server::Received;

pub(super) const REPORT_IT: &str = "keep the record blocked and report this to the SDK's maintainers";

/// So long at a stretch that the clients' shortest deadline may have passed for it.
pub(super) const STANDSTILL: Duration = Duration::from_millis(500);

/// Characters of a body that the process passes on.
const PASSED_ON: usize = 4096;

/// What was seen of the calls from outside.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) traffic: Vec<Traffic>,
    pub(super) strayed: Vec<Received>,
    /// Where they strayed to.
    pub(super) elsewhere: SocketAddr,
    /// How long nothing ran here at a stretch.
    pub(super) stood_still: Duration,
}

/// Deadlines passed that nobody could keep.
pub(super) fn standstill(check: Check, stood_still: Duration, ledger: &mut Ledger) {
    let actual = format!("nothing ran for {} ms at a stretch", stood_still.as_millis());
    let hint = "run the gate again while the machine is less busy";
    ledger.undecided(check, Finding::new("machine", "one on which processes run", actual, hint));
}

/// No outcomes: against the client, unless the fault is not its own.
pub(super) fn broken(broken: &Broken, stood_still: Duration, ledger: &mut Ledger) {
    if stood_still >= STANDSTILL {
        return standstill(Check::PairTranscript, stood_still, ledger);
    }
    let (expected, actual) = match broken {
        Broken::Import(why) => ("a client that can be imported", why.clone()),
        Broken::Count(count) => ("an outcome for every scenario", format!("{count} of them")),
        Broken::Fault(fault) => ("an outcome for every scenario", fault.to_string()),
    };
    if let Broken::Fault(fault @ (Fault::Stop(_) | Fault::Start(_) | Fault::Pipe(_))) = broken {
        let hint = fault.hint("run the gate again, with more time if it ran out: --limit-seconds");
        ledger.undecided(Check::PairTranscript, Finding::new("client", expected, actual, hint));
    } else {
        ledger.record(Check::PairTranscript, vec![Finding::new("client", expected, actual, REPORT_IT)]);
    }
}

pub(super) fn judge(
    seen: &Seen,
    outcomes: &[Outcome],
    deny_advisories: bool,
    evidence: &mut Evidence,
    ledger: &mut Ledger,
) {
    let Seen { traffic, strayed, elsewhere, stood_still } = seen;
    if strayed.is_empty() && traffic.iter().all(|traffic| traffic.heard.is_empty()) {
        // Where nothing can be sent, that nothing was sent says nothing.
        let expected = "requests on 127.0.0.1";
        let told = outcomes.iter().find_map(|outcome| outcome.told.as_deref()).unwrap_or("nothing was told");
        let hint = "bring the loopback interface up: `ip link set lo up`; if it is, the client asks nothing";
        let finding = Finding::new("servers", expected, format!("none at all; {told}"), hint);
        return ledger.undecided(Check::PairTranscript, finding);
    }
    let mut findings = Findings::default();
    for (traffic, outcome) in traffic.iter().zip(outcomes) {
        let heard = Heard::of(traffic, &mut findings);
        let sent = heard.lines();
        let (expected, observed) = (traffic.scenario.ends, observed(outcome));
        let known = traffic.scenario.advisory.filter(|_| is_second_submission(traffic, &heard));
        if let Some(advisory) = known {
            evidence.advisories.entry(advisory.id).or_insert((advisory, 0)).1 += 1;
        }
        if known.is_none() || deny_advisories {
            sequence(traffic, &heard, &mut findings);
        }
        if known.is_none() {
            credentials(traffic, &heard, &mut findings);
        }
        body(traffic, &heard, &mut findings);
        ending(traffic, outcome, expected, &observed, &mut findings);
        evidence.played.push(Played {
            id: traffic.scenario.id,
            requests: sent,
            expected: expected.to_string(),
            observed: match observed {
                Ok(ends) => ends.to_string(),
                Err(words) => words,
            },
        });
    }
    for received in strayed {
        let start = String::from_utf8_lossy(&received.bytes[..received.bytes.len().min(200)]).into_owned();
        findings.add(Check::PairElsewhere, "elsewhere", format!("nothing sent to {elsewhere}"), format!("{start:?}"));
    }
    if *stood_still >= STANDSTILL && !findings.0.is_empty() {
        return standstill(Check::PairTranscript, *stood_still, ledger);
    }
    for check in
        [Check::PairTranscript, Check::PairDiscovery, Check::PairDispatch, Check::PairNumbers, Check::PairElsewhere]
    {
        ledger.record(check, limited(findings.0.remove(&check).unwrap_or_default()));
    }
}

#[derive(Default)]
pub(super) struct Findings(pub(super) BTreeMap<Check, Vec<Finding>>);

impl Findings {
    pub(super) fn add(&mut self, check: Check, subject: &str, expected: impl Into<String>, actual: impl Into<String>) {
        self.0.entry(check).or_default().push(Finding::new(subject, expected, actual, REPORT_IT));
    }
}

/// The requests that one server heard, each with the bytes of its connection.
pub(super) struct Heard<'a>(Vec<(Request, &'a [u8])>);

impl<'a> Heard<'a> {
    /// Whatever came beside them is a finding.
    pub(super) fn of(traffic: &'a Traffic, findings: &mut Findings) -> Self {
        let mut heard = Vec::new();
        for received in &traffic.heard {
            let (requests, rest) = received.requests(traffic.server);
            if !rest.is_empty() || requests.is_empty() {
                let actual = format!("{} requests and {} other bytes", requests.len(), rest.len());
                findings.add(traffic.scenario.check, traffic.scenario.id, "one request on a connection", actual);
            }
            heard.extend(requests.into_iter().map(|request| (request, received.bytes.as_slice())));
        }
        if traffic.flooded {
            let expected = "what a call sends";
            findings.add(traffic.scenario.check, traffic.scenario.id, expected, "more than is kept of it");
        }
        Heard(heard)
    }

    pub(super) fn lines(&self) -> Vec<String> {
        self.0.iter().map(|(request, _)| format!("{} {}", request.method, request.target)).collect()
    }
}

/// Each page of a call once and in order, as far as the call gets, and nothing else.
pub(super) fn sequence(traffic: &Traffic, heard: &Heard<'_>, findings: &mut Findings) {
    let expected = traffic.scenario.lines();
    let actual = heard.lines();
    let again = traffic.scenario.again && actual.split_last() == expected.last().map(|last| (last, &*expected));
    if actual != expected && !again {
        findings.add(traffic.scenario.check, traffic.scenario.id, told(&expected), told(&actual));
    }
}

fn told(lines: &[String]) -> String {
    if lines.is_empty() { "no request".to_owned() } else { lines.join(", ") }
}

/// The call as it has to be, and its submission once more with nothing but the secret for a credential.
pub(super) fn is_second_submission(traffic: &Traffic, heard: &Heard<'_>) -> bool {
    let mut expected = traffic.scenario.lines();
    expected.extend(expected.last().cloned());
    let [.., (first, _), (second, _)] = heard.0.as_slice() else { return false };
    let Some(token) = &traffic.token else { return false };
    heard.lines() == expected
        && first.body == second.body
        && is_credential(first, Some(&token.header()))
        && is_credential(second, Some(&format!("Token {}", token.secret)))
}

fn is_credential(request: &Request, expected: Option<&str>) -> bool {
    request.headers_named("authorization").collect::<Vec<_>>() == Vec::from_iter(expected.map(str::as_bytes))
}

/// The credential stands in its header, whole, and nowhere else.
pub(super) fn credentials(traffic: &Traffic, heard: &Heard<'_>, findings: &mut Findings) {
    let header = traffic.token.as_ref().map(|token| token.header());
    for (request, bytes) in &heard.0 {
        let shown = traffic.token.as_ref().map_or(0, |token| {
            bytes.windows(token.secret.len()).filter(|window| *window == token.secret.as_bytes()).count()
        });
        if !is_credential(request, header.as_deref()) || shown > 1 {
            let expected = match header {
                Some(_) => "the client's own credential, in the Authorization header alone",
                None => "no credential",
            };
            let count = request.headers_named("authorization").count();
            let actual = format!(
                "{count} Authorization headers, the secret {shown} times, in {} {}",
                request.method, request.target
            );
            findings.add(Check::PairElsewhere, traffic.scenario.id, expected, actual);
        }
        let accepts =
            request.headers_named("accept").any(|value| value.windows(16).any(|it| it == b"application/json"));
        if !accepts {
            findings.add(
                traffic.scenario.check,
                traffic.scenario.id,
                "a request that accepts JSON",
                request.target.clone(),
            );
        }
    }
}

/// A submission is JSON and says exactly what was asked, number by number; whatever reads has no body.
pub(super) fn body(traffic: &Traffic, heard: &Heard<'_>, findings: &mut Findings) {
    let scenario = traffic.scenario;
    for (request, _) in &heard.0 {
        if request.method != "POST" {
            if !request.body.is_empty() {
                findings.add(scenario.check, scenario.id, "no body", format!("{} bytes of one", request.body.len()));
            }
            continue;
        }
        let text = String::from_utf8_lossy(&request.body).into_owned();
        let json = request.headers_named("content-type").any(|kind| kind.starts_with(b"application/json"));
        if !json || !says(&text, scenario.arguments) || !comes_to(scenario.tool, &text, scenario.arguments) {
            findings.add(Check::PairNumbers, scenario.id, scenario.arguments, text);
        }
    }
}

fn says(sent: &str, asked: &str) -> bool {
    matches!((Json::parse(sent), Json::parse(asked)), (Ok(sent), Ok(asked)) if same(&sent, &asked))
}

/// Whether the contract makes the same of both.
fn comes_to(tool: &str, sent: &str, asked: &str) -> bool {
    let question = Question::Arguments { tool: tool.into() };
    let normalised = |text| Oracle::bridge_v1().normalised(&question, text);
    normalised(sent) == normalised(asked)
}

/// The same values; the order of members, and how a number is written, left out.
pub(super) fn same(one: &Json, other: &Json) -> bool {
    match (one, other) {
        (Json::Number(one), Json::Number(other)) => {
            let (one, other) = (Number::parse(one), Number::parse(other));
            one.is_some() && one == other
        }
        (Json::Array(one), Json::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Json::Object(one), Json::Object(other)) => {
            let members = Lookup::new(other);
            one.len() == other.len()
                && one.iter().all(|(name, value)| members.get(name).is_some_and(|other| same(value, other)))
        }
        (one, other) => one == other,
    }
}

fn ending(
    traffic: &Traffic,
    outcome: &Outcome,
    expected: Ends,
    observed: &Result<Ends, String>,
    findings: &mut Findings,
) {
    let scenario = traffic.scenario;
    if outcome.ended == Ended::Hung {
        findings.add(Check::PairTranscript, scenario.id, "a call that ends", "none in time");
        return;
    }
    match observed {
        Ok(ends) if *ends == expected => {}
        Ok(ends) => findings.add(scenario.check, scenario.id, expected.to_string(), ends.to_string()),
        Err(words) => findings.add(scenario.check, scenario.id, expected.to_string(), words.clone()),
    }
    if let (Some(text), Ok(answered)) = (&outcome.text, std::str::from_utf8(&traffic.answered)) {
        let answered: String = answered.chars().take(PASSED_ON).collect();
        if *text != answered {
            findings.add(scenario.check, scenario.id, format!("the body {answered:?}"), format!("{text:?}"));
        }
    }
}

/// What a call came to; in words if it is nothing that a scenario ends with.
fn observed(outcome: &Outcome) -> Result<Ends, String> {
    let status = outcome.status.unwrap_or_default();
    match (outcome.ended, outcome.step) {
        (Ended::Rejected, Some(Step::Discovery)) => Ok(Ends::NotDiscovered),
        (Ended::Rejected, Some(Step::Tool)) => Ok(Ends::NoTool),
        (Ended::Rejected, Some(Step::Arguments)) => Ok(Ends::ArgumentsRefused),
        (Ended::Rejected | Ended::Raised, Some(Step::Dispatch)) => Ok(Ends::Failed),
        (Ended::Rejected, Some(Step::Response)) => Ok(Ends::ResponseRefused(status)),
        (Ended::Returned, Some(Step::Response)) => Ok(Ends::Status(status)),
        (Ended::Returned, Some(Step::Accepted)) => Ok(Ends::Accepted(status)),
        (Ended::Hung, _) => Err("hung".into()),
        (_, step) => {
            let (raised, told) =
                (outcome.raised.as_deref().unwrap_or("nothing"), outcome.told.as_deref().unwrap_or(""));
            Err(format!("{raised} raised at {}: {told}", step.map_or("the start".to_owned(), |it| format!("{it:?}"))))
        }
    }
}
