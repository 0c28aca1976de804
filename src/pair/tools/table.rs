//! What an agent asks of the server, and what it has to be told.

use crate::check::Check;
use crate::pair::advisory::{Advisory, EMPTY_SUCCESS, NO_ANSWER, NOT_A_NUMBER, PADDED_MEMBER, UNKNOWN_ENVELOPE_MEMBER};
use crate::pair::scenario::{Caller, Ends, LIST, Scenario};
use crate::pair::table;
use crate::producer::http::Reply;

/// What the agent asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ask {
    /// A plugin's tool, through the generic one.
    Call { dry_run: bool },
    /// The tools of the plugin.
    List,
    /// The plugin's tool as if it were one of the server's own.
    Alone,
}

/// What the agent is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// An error.
    Error,
    /// An error that names the status of the answer.
    Refused(u16),
    /// The same, or a result that has it.
    Unread(u16),
    /// A result with the status and the body of the answer.
    Answer(u16),
    /// A result that shows what would be sent.
    Preview,
    /// A result that lists the tools of the manifest.
    Tools,
    /// An error, or a result that lists no tools.
    NoTools,
    /// Nothing.
    Nothing,
}

impl std::fmt::Display for Told {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Told::Error => f.write_str("error"),
            Told::Refused(status) => write!(f, "error that names {status}"),
            Told::Unread(status) => write!(f, "error that names {status}, or a result of that status"),
            Told::Answer(status) => write!(f, "result of status {status} with its body"),
            Told::Preview => f.write_str("preview"),
            Told::Tools => f.write_str("the manifest's tools"),
            Told::NoTools => f.write_str("error, or no tools"),
            Told::Nothing => f.write_str("nothing"),
        }
    }
}

/// Another way in which a call is known to go.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub(super) advisory: &'static Advisory,
    pub(super) scenario: &'static Scenario,
    pub(super) told: Told,
}

/// One call of the server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    /// What is served, and what the agent wants of it.
    pub(super) scenario: &'static Scenario,
    pub(super) ask: Ask,
    /// Further members of the envelope, as they stand in the message.
    pub(super) more: &'static str,
    /// Whether the operator allows mutations.
    pub(super) allowed: bool,
    pub(super) told: Told,
    /// Whether it may end before any of the scenario's requests.
    pub(super) early: bool,
    pub(super) known: Option<Known>,
}

const fn of(scenario: &'static Scenario, told: Told) -> Call {
    Call { scenario, ask: Ask::Call { dry_run: false }, more: "", allowed: true, told, early: false, known: None }
}

const fn dry(scenario: &'static Scenario, allowed: bool, told: Told) -> Call {
    Call { ask: Ask::Call { dry_run: true }, allowed, ..of(scenario, told) }
}

/// A call that has to be refused, and is known to go as `scenario` has it.
const fn known(refused: &'static Scenario, advisory: &'static Advisory, scenario: &'static Scenario) -> Call {
    let told = Told::Answer(201);
    Call { early: true, known: Some(Known { advisory, scenario, told }), ..of(refused, Told::Error) }
}

impl Call {
    /// What the client is asked for, asked of the server: the same has to be sent.
    fn of_client(scenario: &'static Scenario) -> Call {
        let told = match scenario.ends {
            Ends::Accepted(status) => Told::Answer(status),
            Ends::Status(status) if scenario.tool == LIST => Told::Unread(status),
            Ends::Status(status) => Told::Refused(status),
            _ => Told::Error,
        };
        let known = (scenario.ends == Ends::Status(204)).then_some(Known {
            advisory: &EMPTY_SUCCESS,
            scenario,
            told: Told::Answer(204),
        });
        Call { known, ..of(scenario, told) }
    }

    /// The message's parameters, as they stand in it.
    pub(super) fn parameters(&self, [list, call]: [&str; 2]) -> String {
        let Scenario { tool, arguments, .. } = self.scenario;
        match self.ask {
            Ask::Call { dry_run } => format!(
                r#"{{"name":"{call}","arguments":{{"plugin":"proxbox","tool":"{tool}","arguments":{arguments},"dry_run":{dry_run}{}}}}}"#,
                self.more
            ),
            Ask::List => format!(r#"{{"name":"{list}","arguments":{{"plugin":"proxbox"}}}}"#),
            Ask::Alone => format!(r#"{{"name":"{tool}","arguments":{arguments}}}"#),
        }
    }

    /// The known difference that this call may show.
    pub(super) fn advisory(&self) -> Option<&'static Advisory> {
        self.known.map(|known| known.advisory).or(self.scenario.advisory)
    }
}

/// How a server is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Setting {
    pub(super) caller: Caller,
    pub(super) allowed: Allowed,
    /// Whether its requests end soon where no answer comes.
    pub(super) hasty: bool,
}

/// Whether mutations are allowed, and by what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Allowed {
    No,
    ByVariable,
    ByArgument,
}

const USUAL: Setting = Setting { caller: Caller::MayAddJobs, allowed: Allowed::ByVariable, hasty: false };

/// Every set-up that some call needs. Those that are alike share the calls that could go to either: the usual ones, and the hasty
/// ones, where a call takes a second or more.
pub(super) const SETTINGS: [Setting; 7] = [
    USUAL,
    Setting { allowed: Allowed::ByArgument, ..USUAL },
    Setting { allowed: Allowed::No, ..USUAL },
    Setting { hasty: true, ..USUAL },
    Setting { hasty: true, ..USUAL },
    Setting { caller: Caller::MayNotAddJobs, ..USUAL },
    Setting { caller: Caller::Anonymous, ..USUAL },
];

/// Every call, each with the place of its set-up.
pub(super) fn calls() -> Vec<(usize, Call)> {
    let all = table::scenarios().into_iter().map(Call::of_client).chain(OWN.iter().copied());
    let place = |(index, call): (usize, Call)| {
        let fits = |setting: &Setting| {
            let same = (setting.caller, setting.hasty) == (call.scenario.caller, call.scenario.waits);
            same && (setting.allowed != Allowed::No) == call.allowed
        };
        let fitting: Vec<_> = (0..SETTINGS.len()).filter(|&place| fits(&SETTINGS[place])).collect();
        (fitting[index % fitting.len()], call)
    };
    all.enumerate().map(place).collect()
}

const ARGUMENTS: &str = r#"{"sync_stages":["sdn"],"proxmox_endpoint_ids":[7]}"#;

const fn surface(id: &'static str, requests: usize) -> Scenario {
    Scenario::asked(id, Check::McpSurface, ARGUMENTS, requests)
}

const fn gate(id: &'static str, requests: usize) -> Scenario {
    Scenario::asked(id, Check::McpGate, ARGUMENTS, requests)
}

const fn numbers(id: &'static str, arguments: &'static str, requests: usize) -> Scenario {
    Scenario::asked(id, Check::McpNumbers, arguments, requests)
}

/// A message with a number of more digits than Python makes an integer of by itself.
const ENDLESS: &str = {
    const DIGITS: usize = 5000;
    const HEAD: &[u8] = br#"{"sync_stages":["sdn"],"proxmox_endpoint_ids":["#;
    const TEXT: [u8; HEAD.len() + DIGITS + 2] = {
        let mut text = [b'9'; HEAD.len() + DIGITS + 2];
        text.split_at_mut(HEAD.len()).0.copy_from_slice(HEAD);
        text[HEAD.len() + DIGITS] = b']';
        text[HEAD.len() + DIGITS + 1] = b'}';
        text
    };
    match std::str::from_utf8(&TEXT) {
        Ok(text) => text,
        Err(_) => "",
    }
};

/// Such a message gets no answer, and sends nothing.
const UNANSWERED: Known =
    Known { advisory: &NO_ANSWER, scenario: &numbers("numbers.unanswered", "{}", 0), told: Told::Nothing };

const fn unanswered(refused: &'static Scenario) -> Call {
    Call { early: true, known: Some(UNANSWERED), ..of(refused, Told::Error) }
}

const NO_CONTENT_TO_SHOW: Scenario =
    Scenario::submission("dispatch.205", Ends::Status(205), |_, _| Reply::of_json(205, ""));

/// What there is at this level alone.
const OWN: &[Call] = &[
    Call { ask: Ask::List, ..of(&surface("surface.tools", 3), Told::Tools) },
    Call { ask: Ask::List, ..of(&surface("surface.blocked", 2).blocked(), Told::NoTools) },
    Call { ask: Ask::Alone, ..of(&surface("surface.list-alone", 0).listing(), Told::Error) },
    Call { ask: Ask::Alone, ..of(&surface("surface.submit-alone", 0), Told::Error) },
    of(&surface("surface.unknown-tool", 3).calling("delete_jobs"), Told::Error),
    // "Keep the SDK mutation gate disabled": reading needs no consent, and a preview sends nothing with or without it.
    Call { allowed: false, ..of(&gate("gate.closed-list", 4).listing(), Told::Answer(200)) },
    Call { allowed: false, ..of(&gate("gate.closed-submit", 3), Told::Error) },
    dry(&gate("gate.closed-dry-run", 3), false, Told::Preview),
    // Neither a submission nor a preview has opened it.
    Call { allowed: false, ..of(&gate("gate.still-closed-submit", 3), Told::Error) },
    dry(&gate("gate.open-dry-run", 3), true, Told::Preview),
    dry(&Scenario::asked("gate.open-dry-run-refused", Check::McpGate, r#"{"sync_stages":[]}"#, 3), true, Told::Error),
    Call {
        more: r#","dryRun":true"#,
        ..known(&gate("gate.unknown-member", 3), &UNKNOWN_ENVELOPE_MEMBER, &gate("gate.unknown-member", 4))
    },
    known(
        &numbers("numbers.padded-member", r#"{" sync_stages":["sdn"]}"#, 3),
        &PADDED_MEMBER,
        &numbers("numbers.padded-member", r#"{"sync_stages":["sdn"]}"#, 4),
    ),
    known(
        &numbers("numbers.not-a-number", r#"{"sync_stages":["sdn"],"schedule_at":NaN}"#, 3),
        &NOT_A_NUMBER,
        &numbers("numbers.not-a-number", r#"{"sync_stages":["sdn"],"schedule_at":null}"#, 4),
    ),
    unanswered(&numbers("numbers.lone-surrogate", r#"{"sync_stages":["sdn"],"job_name":"\ud800"}"#, 3)),
    unanswered(&numbers("numbers.endless", ENDLESS, 3)),
    Call {
        known: Some(Known { advisory: &EMPTY_SUCCESS, scenario: &NO_CONTENT_TO_SHOW, told: Told::Answer(205) }),
        ..of(&NO_CONTENT_TO_SHOW, Told::Refused(205))
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pair::scenario::SUBMIT;

    #[test]
    fn every_call_has_a_set_up_and_every_set_up_calls() {
        let calls = calls();
        for (place, call) in &calls {
            let Setting { caller, allowed, hasty } = SETTINGS[*place];
            let of_call = (call.scenario.caller, call.allowed, call.scenario.waits);
            assert_eq!((caller, allowed != Allowed::No, hasty), of_call, "{}", call.scenario.id);
        }
        for place in 0..SETTINGS.len() {
            assert!(calls.iter().any(|(found, _)| *found == place), "{place}");
        }
        let mut ids: Vec<_> = calls.iter().map(|(_, call)| call.scenario.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), calls.len());
    }

    #[test]
    fn what_may_be_submitted_is_what_the_operator_allows() {
        for (_, call) in calls() {
            let submits = call.scenario.lines().iter().any(|line| line.starts_with("POST"));
            let consents = call.allowed && call.ask == Ask::Call { dry_run: false };
            assert!(!submits || (consents && call.scenario.tool == SUBMIT), "{}", call.scenario.id);
        }
    }
}
