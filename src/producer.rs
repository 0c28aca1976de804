//! The producer's half of the pair: bridge v1 as Proxbox serves it below NetBox's REST API, on loopback.
//!
//! [`Producer`] answers requests as `SPECIFICATION.txt` says (discovery, authorisation outcomes, errors): authentication comes first,
//! then permission, then the method, then validation. What the contract refuses enqueues no job. [`server`] puts it on a socket,
//! and can also deliver a [`Reply`] in ways no sound server would.

pub mod access;
mod envelope;
pub mod http;
pub mod jobs;
pub mod server;

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::contract::datetime::DateTime;
use crate::contract::manifest::SCHEMA_VERSION;
use crate::contract::{Contract, Oracle, Question};
use access::{Access, Credentials, Principal};
use http::{Reply, Request};
use jobs::{Jobs, Stored};

/// Where NetBox lists the roots of its plugins.
pub const PLUGINS: &str = "/api/plugins/";
/// The plugin's API root.
pub const ROOT: &str = "/api/plugins/proxbox/";
/// Where the manifest is served.
pub const MANIFEST: &str = "/api/plugins/proxbox/mcp/";
/// What both tools address.
pub const SCHEDULE: &str = "/api/plugins/proxbox/sync/schedule/";

const TOOL: &str = "schedule_sync";

/// Whether the bridge is exposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    /// The root does not name the manifest, which answers 503 with the activation record.
    Blocked,
    /// The root names the manifest.
    Active,
}

/// What an administrator would decide.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Whether the bridge is exposed.
    pub activation: Activation,
    /// NetBox's LOGIN_REQUIRED: an anonymous caller reads nothing.
    pub login_required: bool,
    /// The text of the manifest.
    pub manifest: String,
    /// The enabled Proxmox endpoints; every other one is unknown or disabled.
    pub endpoints: BTreeSet<u64>,
    /// Who may call.
    pub credentials: Credentials,
    /// The clock that says what lies in the future.
    pub now: fn() -> DateTime,
}

impl Settings {
    /// An active bridge of that contract with the endpoints 7 and 9, for callers who log in.
    pub fn new(contract: &Contract, credentials: Credentials) -> Self {
        Settings {
            activation: Activation::Active,
            login_required: true,
            manifest: contract.manifest().to_owned(),
            endpoints: [7, 9].into(),
            credentials,
            now: DateTime::now,
        }
    }
}

/// The views, and the jobs behind them.
#[derive(Debug)]
pub struct Producer {
    settings: Settings,
    jobs: Jobs,
}

#[derive(Clone, Copy, PartialEq)]
enum View {
    Plugins,
    Root,
    Manifest,
    Schedule,
}

impl View {
    fn at(path: &str) -> Option<View> {
        Some(match path {
            PLUGINS => View::Plugins,
            ROOT => View::Root,
            MANIFEST => View::Manifest,
            SCHEDULE => View::Schedule,
            _ => return None,
        })
    }

    fn allowed(self) -> &'static str {
        if self == View::Schedule { "GET, POST, HEAD" } else { "GET, HEAD" }
    }
}

impl Producer {
    /// A producer without jobs.
    pub fn new(settings: Settings) -> Self {
        Producer { settings, jobs: Jobs::default() }
    }

    /// The jobs that were enqueued.
    pub fn jobs(&self) -> &Jobs {
        &self.jobs
    }

    /// Answers one request.
    pub fn respond(&mut self, request: &Request) -> Reply {
        let reply = self.answer(request);
        if request.method == "HEAD" { reply.without_body() } else { reply }
    }

    fn answer(&mut self, request: &Request) -> Reply {
        if !request.names_its_server() {
            return detail(400, "The Host header names another server.");
        }
        let Some(view) = View::at(request.path()) else { return detail(404, "Not found.") };
        let principal = match self.settings.credentials.identify(request) {
            Access::Known(principal) => principal,
            Access::Unknown(why) => return detail(401, why).header("WWW-Authenticate", "Bearer"),
        };
        if principal == Principal::Anonymous && self.settings.login_required {
            let why = "Authentication credentials were not provided.";
            return detail(401, why).header("WWW-Authenticate", "Bearer");
        }
        if view == View::Schedule && principal != Principal::MayAddJobs {
            return detail(403, "You do not have permission to perform this action.");
        }
        match (request.method.as_str(), view) {
            ("GET" | "HEAD", View::Plugins) => Reply::json(200, &json!({"proxbox": request.absolute(ROOT)})),
            ("GET" | "HEAD", View::Root) => self.root(request),
            ("GET" | "HEAD", View::Manifest) => self.manifest(),
            ("GET" | "HEAD", View::Schedule) => Reply::json(200, &self.jobs.list()),
            ("POST", View::Schedule) => self.schedule(request),
            (method, _) => detail(405, &format!("Method \"{method}\" not allowed.")).header("Allow", view.allowed()),
        }
    }

    fn root(&self, request: &Request) -> Reply {
        let mut root = json!({"sync/schedule": request.absolute(SCHEDULE)});
        if self.settings.activation == Activation::Active {
            root["mcp"] = json!({"schema_version": SCHEMA_VERSION, "manifest": request.absolute(MANIFEST)});
        }
        Reply::json(200, &root)
    }

    fn manifest(&self) -> Reply {
        match self.settings.activation {
            Activation::Active => Reply::of_json(200, self.settings.manifest.clone()),
            Activation::Blocked => Reply::json(
                503,
                &json!({
                    "detail": "No SDK is activated for the MCP bridge.",
                    "activation": blocked_record(),
                }),
            ),
        }
    }

    fn schedule(&mut self, request: &Request) -> Reply {
        if !request.is_json() {
            return detail(415, "Unsupported media type in request.");
        }
        let (oracle, question) = (Oracle::bridge_v1(), Question::Arguments { tool: TOOL.into() });
        let judgement = oracle.judge_bytes(&question, &request.body);
        let text = String::from_utf8_lossy(&request.body);
        // The text was accepted, so it has a normal form.
        let stored = oracle.normalised(&question, &text).and_then(|it| serde_json::to_value(it).ok());
        let Some(stored) = stored.and_then(|stored| serde_json::from_value::<Stored>(stored).ok()) else {
            return envelope::refusal(&judgement, &text);
        };
        let now = (self.settings.now)();
        let mut errors = serde_json::Map::new();
        let at = stored.schedule_at.as_deref().and_then(|at| DateTime::parse(at).ok());
        if at.is_some_and(|at| at <= now) {
            errors.insert("schedule_at".into(), json!(["The scheduled time has to be in the future."]));
        }
        let unavailable: Vec<_> = stored.proxmox_endpoint_ids.iter().flatten().collect();
        let unavailable: Vec<_> = unavailable.into_iter().filter(|id| !self.settings.endpoints.contains(id)).collect();
        if !unavailable.is_empty() {
            let message = format!("Unknown or disabled endpoint ID(s): {}", json!(unavailable)).replace(',', ", ");
            errors.insert("proxmox_endpoint_ids".into(), json!([message]));
        }
        if !errors.is_empty() {
            return Reply::json(400, &json!({ "errors": errors }));
        }
        Reply::json(201, &self.jobs.enqueue(stored, &now))
    }
}

fn detail(status: u16, text: &str) -> Reply {
    Reply::json(status, &json!({ "detail": text }))
}

/// What the record says while nothing is activated.
fn blocked_record() -> Value {
    let contract = Contract::bridge_v1();
    json!({
        "schema_version": 1,
        "state": "blocked",
        "expected_version": null,
        "expected_commit": null,
        "module_origin": contract.module_origin,
        "required_contracts": contract.required_contracts,
        "reason": "No released SDK has passed the paired gate.",
    })
}

#[cfg(test)]
mod tests;
