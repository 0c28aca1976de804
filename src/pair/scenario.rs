//! One call of a tool against one server: what is served, what is asked, and what has to come of it.

use std::net::SocketAddr;

use super::advisory::Advisory;
use crate::check::Check;
use crate::contract::manifest::LARGEST_ID;
use crate::producer::http::{Reply, Request};
use crate::producer::{MANIFEST, PLUGINS, ROOT, SCHEDULE};

/// The requests of a whole call, in order. The last one's method is the tool's.
pub(super) const CALL: [&str; 4] = [PLUGINS, ROOT, MANIFEST, SCHEDULE];

/// Whose credential the client has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Caller {
    MayAddJobs,
    MayNotAddJobs,
    Anonymous,
}

/// How a call ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ends {
    /// Discovery raises the bridge's error.
    NotDiscovered,
    /// Discovery succeeds and knows no such tool.
    NoTool,
    /// The arguments raise the bridge's error.
    ArgumentsRefused,
    /// The request of the tool's target raises.
    Failed,
    /// It returns, with that status; there is no success to validate.
    Status(u16),
    /// It returns, with that status, and the response raises the bridge's error.
    ResponseRefused(u16),
    /// It returns, with that status, and the response is accepted.
    Accepted(u16),
}

impl std::fmt::Display for Ends {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Ends::NotDiscovered => f.write_str("discovery rejected"),
            Ends::NoTool => f.write_str("no such tool"),
            Ends::ArgumentsRefused => f.write_str("arguments rejected"),
            Ends::Failed => f.write_str("request failed"),
            Ends::Status(status) => write!(f, "status {status}"),
            Ends::ResponseRefused(status) => write!(f, "status {status}, response rejected"),
            Ends::Accepted(status) => write!(f, "status {status}, response accepted"),
        }
    }
}

/// What a reply is made of besides the sound one.
pub(super) struct Place<'a> {
    pub(super) request: &'a Request,
    /// Another server, to which nothing may be sent.
    pub(super) elsewhere: SocketAddr,
}

/// What is served instead of a sound reply.
pub(super) type Change = fn(Reply, &Place<'_>) -> Reply;

/// One scenario, as data.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scenario {
    /// Its stable id.
    pub(super) id: &'static str,
    /// The check it counts for.
    pub(super) check: Check,
    pub(super) blocked: bool,
    pub(super) login_required: bool,
    pub(super) caller: Caller,
    pub(super) tool: &'static str,
    /// The text of the arguments.
    pub(super) arguments: &'static str,
    /// Of which page the reply is changed, and how.
    pub(super) served: Option<(&'static str, Change)>,
    /// Whether the server falls silent, so that the client has to give up by itself.
    pub(super) waits: bool,
    /// How many requests of [`CALL`] are sent: each once, in that order, and nothing else.
    pub(super) requests: usize,
    /// Whether the last of them, which reads and gets no answer at all, may be sent once more (RFC 9110, 9.2.2).
    pub(super) again: bool,
    pub(super) ends: Ends,
    /// A known difference that this scenario may show.
    pub(super) advisory: Option<&'static Advisory>,
}

pub(super) const LIST: &str = "list_sync_jobs";
pub(super) const SUBMIT: &str = "schedule_sync";

const SOUND: Scenario = Scenario {
    id: "",
    check: Check::PairDispatch,
    blocked: false,
    login_required: true,
    caller: Caller::MayAddJobs,
    tool: SUBMIT,
    arguments: r#"{"sync_stages":["sdn"],"proxmox_endpoint_ids":[7]}"#,
    served: None,
    waits: false,
    requests: CALL.len(),
    again: false,
    ends: Ends::Accepted(201),
    advisory: None,
};

impl Scenario {
    /// A discovery that must fail: of `page`, the last that is asked for, another reply is served.
    pub(super) const fn discovery(id: &'static str, page: usize, change: Change) -> Scenario {
        Scenario {
            id,
            check: Check::PairDiscovery,
            served: Some((CALL[page], change)),
            requests: page + 1,
            ends: Ends::NotDiscovered,
            ..SOUND
        }
    }

    /// A submission, and what its target answers.
    pub(super) const fn submission(id: &'static str, ends: Ends, change: Change) -> Scenario {
        Scenario { id, ends, served: Some((SCHEDULE, change)), ..SOUND }
    }

    /// A submission of these arguments to a sound server.
    pub(super) const fn of(id: &'static str, check: Check, arguments: &'static str, ends: Ends) -> Scenario {
        let requests = if matches!(ends, Ends::ArgumentsRefused) { 3 } else { 4 };
        Scenario { id, check, arguments, ends, requests, ..SOUND }
    }

    /// A call that sends so many requests, whatever ends it.
    pub(super) const fn asked(id: &'static str, check: Check, arguments: &'static str, requests: usize) -> Scenario {
        Scenario { id, check, arguments, requests, ..SOUND }
    }

    /// A call of another tool.
    pub(super) const fn calling(self, tool: &'static str) -> Scenario {
        Scenario { tool, ..self }
    }

    /// A listing by that caller.
    pub(super) const fn listing(self) -> Scenario {
        Scenario { tool: LIST, arguments: "{}", ..self }
    }

    pub(super) const fn by(self, caller: Caller, login_required: bool) -> Scenario {
        Scenario { caller, login_required, ..self }
    }

    pub(super) const fn waits(self) -> Scenario {
        Scenario { waits: true, ..self }
    }

    pub(super) const fn again(self) -> Scenario {
        Scenario { again: true, ..self }
    }

    pub(super) const fn blocked(self) -> Scenario {
        Scenario { blocked: true, ..self }
    }

    pub(super) const fn asking(self, requests: usize, ends: Ends) -> Scenario {
        Scenario { requests, ends, ..self }
    }

    pub(super) const fn known(self, advisory: &'static Advisory) -> Scenario {
        Scenario { advisory: Some(advisory), ..self }
    }

    /// The endpoints that its server has enabled: those that the scenarios name.
    pub(super) fn endpoints(&self) -> std::collections::BTreeSet<u64> {
        [7, 9, 11, 9_007_199_254_740_991, 9_007_199_254_740_992, 9_007_199_254_740_993, LARGEST_ID].into()
    }

    /// The requests that are sent, as method and target.
    pub(super) fn lines(&self) -> Vec<String> {
        let submits = |index: usize| index + 1 == CALL.len() && self.tool == SUBMIT;
        let pages = CALL.iter().enumerate().take(self.requests);
        pages.map(|(index, page)| format!("{} {page}", if submits(index) { "POST" } else { "GET" })).collect()
    }
}
