//! What is advertised, and what must become of it. In all but the first two no tool's target may be asked.

use serde_json::{Value, json};

use crate::pair::scenario::{Ends, Place, Scenario};
use crate::producer::http::{Delivery, Reply};
use crate::producer::{MANIFEST, PLUGINS, ROOT};

/// The pages of a discovery, by their place in [`CALL`](crate::pair::scenario::CALL).
const LISTED: usize = 0;
const ADVERTISED: usize = 1;
const DESCRIBED: usize = 2;

/// More than any descriptor may have: 256 KiB.
const OVERSIZED: usize = 300 << 10;

pub(super) const TABLE: &[Scenario] = &[
    Scenario::discovery("discovery.active", DESCRIBED, |sound, _| sound).asking(4, Ends::Accepted(201)),
    Scenario::discovery("discovery.blocked", ADVERTISED, |sound, _| sound).blocked().asking(2, Ends::NoTool),
    // What the list of plugins says of the root.
    Scenario::discovery("discovery.root-elsewhere", LISTED, |_, at| listed(&elsewhere(at, ROOT))),
    Scenario::discovery("discovery.root-beside", LISTED, |_, at| listed(&at.request.absolute("/api/plugins/"))),
    Scenario::discovery("discovery.no-such-plugin", LISTED, |_, _| Reply::json(200, &json!({}))),
    Scenario::discovery("discovery.list-redirected", LISTED, |_, at| redirect(302, &elsewhere(at, PLUGINS))),
    // What the root says of the manifest.
    Scenario::discovery("discovery.schema-version", ADVERTISED, |sound, _| {
        edited(sound, |root| root["mcp"]["schema_version"] = "2".into())
    }),
    Scenario::discovery("discovery.schema-version-number", ADVERTISED, |sound, _| {
        edited(sound, |root| root["mcp"]["schema_version"] = 1.into())
    }),
    Scenario::discovery("discovery.other-port", ADVERTISED, |_, at| advertised(&elsewhere(at, MANIFEST))),
    Scenario::discovery("discovery.network-path", ADVERTISED, |_, at| {
        advertised(&format!("//{}{MANIFEST}", at.elsewhere))
    }),
    Scenario::discovery("discovery.other-host", ADVERTISED, |_, at| {
        advertised(&format!("http://localhost:{}{MANIFEST}", at.request.server.port()))
    }),
    Scenario::discovery("discovery.other-scheme", ADVERTISED, |_, at| {
        advertised(&at.request.absolute(MANIFEST).replace("http:", "https:"))
    }),
    Scenario::discovery("discovery.user-information", ADVERTISED, |_, at| {
        advertised(&format!("http://user:word@{}{MANIFEST}", at.request.server))
    }),
    Scenario::discovery("discovery.query", ADVERTISED, |_, at| {
        advertised(&at.request.absolute(&with(MANIFEST, "?a=b")))
    }),
    Scenario::discovery("discovery.fragment", ADVERTISED, |_, at| {
        advertised(&at.request.absolute(&with(MANIFEST, "#a")))
    }),
    Scenario::discovery("discovery.sibling", ADVERTISED, |_, at| {
        advertised(&at.request.absolute("/api/plugins/other/mcp/"))
    }),
    Scenario::discovery("discovery.below", ADVERTISED, |_, at| {
        advertised(&at.request.absolute(&with(MANIFEST, "more/")))
    }),
    Scenario::discovery("discovery.relative", ADVERTISED, |_, _| advertised("mcp/")),
    Scenario::discovery("discovery.dots", ADVERTISED, |_, _| advertised("/api/plugins/other/../proxbox/mcp/")),
    Scenario::discovery("discovery.encoded-dots", ADVERTISED, |_, _| {
        advertised("/api/plugins/other/%2e%2e/proxbox/mcp/")
    }),
    Scenario::discovery("discovery.encoded-slash", ADVERTISED, |_, _| advertised("/api/plugins/proxbox%2Fmcp/")),
    Scenario::discovery("discovery.backslash", ADVERTISED, |_, _| advertised("/api/plugins/proxbox\\mcp/")),
    Scenario::discovery("discovery.root-redirected", ADVERTISED, |_, at| redirect(307, &at.request.absolute(MANIFEST))),
    Scenario::discovery("discovery.root-list", ADVERTISED, |_, _| Reply::json(200, &json!([]))),
    Scenario::discovery("discovery.root-404", ADVERTISED, |_, _| status(404)),
    Scenario::discovery("discovery.root-500", ADVERTISED, |_, _| status(500)),
    // What the manifest says.
    Scenario::discovery("discovery.other-plugin", DESCRIBED, |sound, _| {
        edited(sound, |manifest| manifest["plugin"] = "other".into())
    }),
    Scenario::discovery("discovery.manifest-version", DESCRIBED, |sound, _| {
        edited(sound, |manifest| manifest["schema_version"] = "2".into())
    }),
    Scenario::discovery("discovery.tool-above", DESCRIBED, |sound, _| path(sound, "../other/")),
    Scenario::discovery("discovery.tool-absolute", DESCRIBED, |sound, _| path(sound, "/api/dcim/devices/")),
    Scenario::discovery("discovery.tool-elsewhere", DESCRIBED, |sound, at| path(sound, &elsewhere(at, ROOT))),
    Scenario::discovery("discovery.tool-encoded", DESCRIBED, |sound, _| path(sound, "%2e%2e/other/")),
    Scenario::discovery("discovery.tool-query", DESCRIBED, |sound, _| path(sound, "sync/schedule/?a=b")),
    Scenario::discovery("discovery.effect", DESCRIBED, |sound, _| {
        edited(sound, |manifest| manifest["tools"][1]["effect"] = "read".into())
    }),
    Scenario::discovery("discovery.unknown-keyword", DESCRIBED, |sound, _| {
        edited(sound, |manifest| manifest["tools"][1]["inputSchema"]["patternProperties"] = json!({}))
    }),
    Scenario::discovery("discovery.manifest-redirected", DESCRIBED, |_, at| redirect(301, &elsewhere(at, MANIFEST))),
    Scenario::discovery("discovery.manifest-moved", DESCRIBED, |_, at| {
        redirect(308, &at.request.absolute("/api/plugins/proxbox/mcp/2/"))
    }),
    Scenario::discovery("discovery.manifest-401", DESCRIBED, |_, _| status(401)),
    Scenario::discovery("discovery.manifest-403", DESCRIBED, |_, _| status(403)),
    Scenario::discovery("discovery.manifest-429", DESCRIBED, |_, _| status(429).header("Retry-After", "0")),
    Scenario::discovery("discovery.manifest-503", DESCRIBED, |_, _| status(503).header("Retry-After", "0")),
    Scenario::discovery("discovery.not-a-number", DESCRIBED, |sound, _| {
        text(&sound, "\"minItems\": 1", "\"minItems\": NaN")
    }),
    Scenario::discovery("discovery.byte-order-mark", DESCRIBED, |sound, _| {
        Reply::of_json(200, [b"\xef\xbb\xbf", sound.body.as_slice()].concat())
    }),
    Scenario::discovery("discovery.page", DESCRIBED, |_, _| {
        Reply::of_json(200, "<!doctype html><title>Log in</title>").header("Content-Type", "text/html")
    }),
    Scenario::discovery("discovery.oversized", DESCRIBED, |sound, _| padded(sound)),
    Scenario::discovery("discovery.oversized-chunks", DESCRIBED, |sound, _| padded(sound).delivered(Delivery::Chunked)),
    Scenario::discovery("discovery.oversized-compressed", DESCRIBED, |sound, _| padded(sound).compressed()),
    Scenario::discovery("discovery.cut", DESCRIBED, |sound, _| sound.delivered(Delivery::Cut(0))).again(),
    Scenario::discovery("discovery.truncated", DESCRIBED, |sound, _| sound.delivered(Delivery::Truncated)),
    Scenario::discovery("discovery.reset", DESCRIBED, |sound, _| sound.delivered(Delivery::Reset)).again(),
    Scenario::discovery("discovery.silent", DESCRIBED, |sound, _| sound.delivered(Delivery::Stalled(0))).waits(),
    Scenario::discovery("discovery.slow", DESCRIBED, |sound, _| sound.delivered(Delivery::Stalled(2000))).waits(),
];

fn with(path: &str, end: &str) -> String {
    format!("{path}{end}")
}

fn elsewhere(at: &Place<'_>, path: &str) -> String {
    format!("http://{}{path}", at.elsewhere)
}

fn listed(root: &str) -> Reply {
    Reply::json(200, &json!({ "proxbox": root }))
}

fn advertised(manifest: &str) -> Reply {
    Reply::json(200, &json!({"mcp": {"schema_version": "1", "manifest": manifest}}))
}

fn status(status: u16) -> Reply {
    Reply::json(status, &json!({"detail": "Not now."}))
}

pub(super) fn redirect(status: u16, to: &str) -> Reply {
    Reply::json(status, &json!({})).header("Location", to)
}

fn edited(sound: Reply, edit: impl FnOnce(&mut Value)) -> Reply {
    let mut value = serde_json::from_slice(&sound.body).unwrap_or_default();
    edit(&mut value);
    Reply::json(sound.status, &value)
}

fn path(sound: Reply, path: &str) -> Reply {
    edited(sound, |manifest| manifest["tools"][1]["path"] = path.into())
}

/// One text instead of another, once.
fn text(sound: &Reply, one: &str, other: &str) -> Reply {
    Reply::of_json(sound.status, String::from_utf8_lossy(&sound.body).replacen(one, other, 1))
}

/// The same JSON, and white space behind it until it is too long.
pub(super) fn padded(mut sound: Reply) -> Reply {
    sound.body.resize(sound.body.len() + OVERSIZED, b' ');
    sound
}
