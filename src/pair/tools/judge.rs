//! From recorded traffic and what an agent was told to the rows of the stage.

use std::collections::HashSet;
use std::path::Path;

use super::session::{Said, member};
use super::table::{Ask, Call, Told};
use super::{Line, Round, Terms};
use crate::behaviour::Fault;
use crate::check::{Check, Finding, Ledger, TOOLS, limited};
use crate::contract::Oracle;
use crate::contract::json::Json;
use crate::contract::number::Number;
use crate::pair::judge::{self as client, Findings, Heard, STANDSTILL, same};
use crate::pair::scenario::LIST;
use crate::pair::servers::Traffic;
use crate::pair::{Evidence, Played};
use crate::snapshot::Snapshot;

/// Characters of the secret that are as good as all of it: a log may break it across lines.
const TELLING: usize = 16;

/// The row of this stage for one of the client's.
pub(super) fn check_of(check: Check) -> Check {
    match check {
        Check::PairTranscript => Check::McpTranscript,
        Check::PairDiscovery => Check::McpDiscovery,
        Check::PairDispatch => Check::McpDispatch,
        Check::PairNumbers => Check::McpNumbers,
        Check::PairElsewhere => Check::McpCredentials,
        own => own,
    }
}

pub(super) fn judge(
    round: &Round,
    snapshot: &Snapshot,
    terms: Terms<'_>,
    evidence: &mut Evidence,
    ledger: &mut Ledger,
) {
    let undecided = round.lines.iter().find_map(|line| match &line.transcript.fault {
        Some((during, fault @ (Fault::Stop(_) | Fault::Start(_) | Fault::Pipe(_)))) => Some((during, fault)),
        _ => None,
    });
    if let Some((during, fault)) = undecided {
        let hint = fault.hint("run the gate again, with more time if it ran out: --limit-seconds");
        let finding = Finding::new(*during, "an answer to every message", fault.to_string(), hint);
        return ledger.undecided(Check::McpTranscript, finding);
    }
    let mut findings = Findings::default();
    for finding in snapshot.changes() {
        findings.0.entry(Check::McpOrigin).or_default().push(finding);
    }
    for line in &round.lines {
        origin(line, snapshot.root(), terms, &mut findings);
        offer(line, terms, &mut findings);
        calls(line, terms, evidence, &mut findings);
    }
    let order = super::demands();
    evidence.played.sort_by_key(|played| order.iter().position(|(id, _)| *id == played.id));
    secrecy(round, &mut findings);
    for received in &round.strayed {
        let start = String::from_utf8_lossy(&received.bytes[..received.bytes.len().min(200)]).into_owned();
        let expected = format!("nothing sent to {}", round.elsewhere);
        findings.add(Check::PairElsewhere, "elsewhere", expected, format!("{start:?}"));
    }
    if round.stood_still >= STANDSTILL && !findings.0.is_empty() {
        return client::standstill(Check::McpTranscript, round.stood_still, ledger);
    }
    for check in TOOLS.iter().copied().filter(|check| *check != Check::McpConfined) {
        // Each of the servers may show the same.
        let mut seen = HashSet::new();
        let found = findings.0.iter().filter(|(of, _)| check_of(**of) == check).flat_map(|(_, found)| found);
        let found = found.filter(|finding| seen.insert((&finding.subject, &finding.expected, &finding.actual)));
        ledger.record(check, limited(found.cloned().collect()));
    }
}

/// The server that was started is the commit's.
fn origin(line: &Line, root: &Path, terms: Terms<'_>, findings: &mut Findings) {
    let expected = root.join(terms.contract.server.package).join("__init__.py");
    let shown = format!("{}/__init__.py of the private copy", terms.contract.server.package);
    match &line.transcript.origin {
        Some(Ok(found)) if Path::new(found) == expected => {}
        Some(Ok(found)) => findings.add(Check::McpOrigin, "server", shown, found),
        Some(Err(why)) => findings.add(Check::McpOrigin, "server", shown, why),
        None if line.transcript.fault.is_none() => {
            findings.add(Check::McpTranscript, "start", "an answer to every message", "no dialogue");
        }
        None => {}
    }
    if let Some((during, fault)) = &line.transcript.fault {
        findings.add(Check::McpTranscript, during, "an answer to every message", fault.to_string());
    }
}

/// What the server offers are the generic tools, before and after it has seen a plugin's.
fn offer(line: &Line, terms: Terms<'_>, findings: &mut Findings) {
    let generic = terms.contract.server.generic;
    for said in &line.transcript.offered {
        let tools = match said {
            Said::Result(result) if member(result, "nextCursor").is_none_or(|it| *it == Json::Null) => {
                member(result, "tools")
            }
            _ => None,
        };
        let Some(Json::Array(tools)) = tools else {
            findings.add(Check::McpSurface, "tools/list", "a list of tools", excerpt(said));
            continue;
        };
        let names: Vec<_> = tools.iter().filter_map(|tool| name(tool, "name")).collect();
        let own = |name: &&str| Oracle::bridge_v1().manifest().tools.iter().any(|tool| name.contains(&tool.name));
        if !generic.iter().all(|tool| names.contains(tool)) || names.iter().any(own) {
            let expected = format!("{} and {}, and no tool of a plugin", generic[0], generic[1]);
            findings.add(Check::McpSurface, "tools/list", expected, names.join(", "));
        }
    }
}

fn calls(line: &Line, terms: Terms<'_>, evidence: &mut Evidence, findings: &mut Findings) {
    for ((call, said), traffic) in line.transcript.calls.iter().zip(&line.traffic) {
        let known = call.advisory().filter(|_| is_known(call, said.as_ref(), traffic));
        let mut found = Findings::default();
        let as_demanded = examine(call, said.as_ref(), traffic, known.is_some(), &mut found);
        if let Some(advisory) = known {
            evidence.advisories.entry(advisory.id).or_insert((advisory, 0)).1 += 1;
        }
        if known.is_none() || terms.deny_advisories {
            for (check, found) in found.0 {
                findings.0.entry(check).or_default().extend(found);
            }
        }
        let mut ignored = Findings::default();
        evidence.played.push(Played {
            id: call.scenario.id,
            requests: Heard::of(traffic, &mut ignored).lines(),
            expected: call.told.to_string(),
            observed: match said {
                _ if as_demanded => call.told.to_string(),
                None => Told::Nothing.to_string(),
                Some(said) => excerpt(said),
            },
        });
    }
}

/// It went as it is known to go where it does not go as it has to.
fn is_known(call: &Call, said: Option<&Said>, traffic: &Traffic) -> bool {
    let mut odd = Findings::default();
    let Some(known) = call.known else {
        return client::is_second_submission(traffic, &Heard::of(traffic, &mut odd));
    };
    let otherwise = Call { scenario: known.scenario, told: known.told, known: None, early: false, ..*call };
    let traffic = Traffic { scenario: known.scenario, ..traffic.clone() };
    examine(&otherwise, said, &traffic, false, &mut odd);
    odd.0.is_empty()
}

/// Whether the agent was told what it has to be; whatever is wrong is a finding. `repeated` submissions are looked at elsewhere.
fn examine(call: &Call, said: Option<&Said>, traffic: &Traffic, repeated: bool, findings: &mut Findings) -> bool {
    let heard = Heard::of(traffic, findings);
    let lines = heard.lines();
    let early = call.early && call.scenario.lines().starts_with(&lines);
    let second = repeated && call.known.is_none();
    if !early {
        client::sequence(traffic, &heard, findings);
    }
    if !second {
        client::credentials(traffic, &heard, findings);
    }
    client::body(traffic, &heard, findings);
    let told = tells(call, traffic, said);
    if !told {
        let found = said.map_or_else(|| Told::Nothing.to_string(), excerpt);
        findings.add(call.scenario.check, call.scenario.id, call.told.to_string(), found);
    }
    told
}

fn tells(call: &Call, traffic: &Traffic, said: Option<&Said>) -> bool {
    let Some(said) = said else { return call.told == Told::Nothing };
    let error = error(said);
    let value = if error.is_none() { value(said) } else { None };
    let names = |status: u16| error.as_ref().is_some_and(|text| text.contains(&status.to_string()));
    let answers = |status| value.as_ref().is_some_and(|value| is_answer(call, traffic, value, status));
    match call.told {
        Told::Error => error.is_some(),
        Told::Refused(status) => names(status),
        Told::Unread(status) => names(status) || answers(status),
        Told::Answer(status) => answers(status),
        Told::Preview => value.is_some_and(|value| is_preview(call, &value)),
        Told::Tools => value.is_some_and(|value| lists_the_manifest(&value)),
        Told::NoTools => error.is_some() || value.is_some_and(|value| tools(&value).is_some_and(<[Json]>::is_empty)),
        Told::Nothing => false,
    }
}

/// The words of an error.
fn error(said: &Said) -> Option<String> {
    match said {
        Said::Error(text) => Some(text.clone()),
        Said::Result(result) => (member(result, "isError") == Some(&Json::Bool(true))).then(|| text(result)),
    }
}

/// The text of a result, as an agent reads it.
fn text(result: &Json) -> String {
    let Some(Json::Array(parts)) = member(result, "content") else { return String::new() };
    parts.iter().filter_map(|part| name(part, "text")).collect()
}

/// The value of a result: its text, which says the same as its structure where it has one.
fn value(said: &Said) -> Option<Json> {
    let Said::Result(result) = said else { return None };
    let value = Json::parse(&text(result)).ok()?;
    match member(result, "structuredContent") {
        None | Some(Json::Null) => Some(value),
        Some(structured) => same(structured, &value).then_some(value),
    }
}

fn name<'a>(value: &'a Json, member_name: &str) -> Option<&'a str> {
    match member(value, member_name) {
        Some(Json::String(text)) => Some(text),
        _ => None,
    }
}

fn tools(value: &Json) -> Option<&[Json]> {
    match member(value, "tools") {
        Some(Json::Array(tools)) => Some(tools),
        _ => None,
    }
}

/// Whose tool was called, and what came of it.
fn is_answer(call: &Call, traffic: &Traffic, value: &Json, status: u16) -> bool {
    let body = match traffic.answered.as_slice() {
        [] => Ok(Json::Null),
        answered => Json::parse(&String::from_utf8_lossy(answered)),
    };
    let effect = if call.scenario.tool == LIST { "read" } else { "destructive" };
    let found = match member(value, "status") {
        Some(Json::Number(token)) => Number::parse(token),
        _ => None,
    };
    let told = [("plugin", "proxbox"), ("tool", call.scenario.tool), ("effect", effect)];
    told.iter().all(|(member, text)| name(value, member) == Some(text))
        && found.is_some()
        && found == Number::parse(&status.to_string())
        && body.is_ok_and(|body| member(value, "body").is_some_and(|told| same(told, &body)))
}

/// What would be sent, in the place of what was.
fn is_preview(call: &Call, value: &Json) -> bool {
    let asked = Json::parse(call.scenario.arguments);
    call.ask == Ask::Call { dry_run: true }
        && member(value, "dry_run") == Some(&Json::Bool(true))
        && member(value, "status").is_none()
        && name(value, "tool") == Some(call.scenario.tool)
        && asked.is_ok_and(|asked| member(value, "body").is_some_and(|body| same(body, &asked)))
}

/// Each tool of the manifest once, and as it stands there.
fn lists_the_manifest(value: &Json) -> bool {
    let manifest = Json::parse(crate::contract::Contract::bridge_v1().manifest());
    let described = manifest.as_ref().ok().and_then(tools).unwrap_or_default();
    let listed = tools(value).unwrap_or_default();
    let as_listed = |tool: &Json| {
        let of_name = |other: &&Json| {
            ["name", "method", "path", "effect"].iter().all(|fact| name(other, fact) == name(tool, fact))
        };
        let schema = |tool| ["inputSchema", "outputSchema"].map(|schema| member(tool, schema));
        listed.iter().filter(of_name).any(|other| {
            schema(tool).into_iter().zip(schema(other)).all(|pair| matches!(pair, (Some(a), Some(b)) if same(a, b)))
        })
    };
    !described.is_empty() && described.len() == listed.len() && described.iter().all(as_listed)
}

/// No part of a secret that tells it stands in what an agent, a log or a file gets.
fn secrecy(round: &Round, findings: &mut Findings) {
    let parts: Vec<_> = round.secrets.iter().flat_map(|secret| secret.as_bytes().windows(TELLING)).collect();
    let shows = |bytes: &[u8]| bytes.windows(TELLING).any(|window| parts.contains(&window));
    let mut tell = |subject: &str, what: &str| {
        findings.add(Check::McpCredentials, subject, format!("{what} without the secret"), "a part of it");
    };
    for message in round.lines.iter().flat_map(|line| &line.transcript.heard) {
        // As it came, and as it reads: a letter can be escaped.
        let read = || Json::parse(&String::from_utf8_lossy(&message.line)).map(|message| message.to_string());
        if shows(&message.line) || read().is_ok_and(|text| shows(text.as_bytes())) {
            tell(message.during, "messages");
        }
    }
    if shows(&round.heard) {
        tell("standard error", "a log");
    }
    for (name, _) in round.written.files.iter().filter(|(_, bytes)| shows(bytes)) {
        tell(name, "a file");
    }
    if round.heard.len() >= super::KEPT {
        let expected = format!("less than {} bytes", super::KEPT);
        findings.add(Check::McpCredentials, "standard error", expected, "more, which was not looked through");
    }
    if let Some(why) = &round.written.unread {
        findings.add(Check::McpCredentials, "private folder", "files that can be looked through", why);
    }
}

fn whole(said: &Said) -> String {
    match said {
        Said::Result(result) => result.to_string(),
        Said::Error(text) => text.clone(),
    }
}

/// The start of it, for people.
fn excerpt(said: &Said) -> String {
    let words = match (error(said), value(said)) {
        (Some(text), _) => format!("error: {text}"),
        (None, Some(value)) => format!("result: {value}"),
        (None, None) => format!("result: {}", whole(said)),
    };
    words.chars().take(300).collect()
}
