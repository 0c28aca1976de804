//! What the target of a submission answers. Whatever it is, there is one submission.

use serde_json::json;

use super::discovery::{padded, redirect};
use crate::pair::advisory::SECOND_SUBMISSION;
use crate::pair::scenario::{Ends, Place, Scenario};
use crate::producer::SCHEDULE;
use crate::producer::http::{Delivery, Reply};

/// Bytes of a head's first line and a part of the second.
const INSIDE_THE_HEAD: usize = 30;

pub(super) const TABLE: &[Scenario] = &[
    // "Errors and fail-closed behavior", row by row.
    Scenario::submission("dispatch.200", Ends::Accepted(200), |sound, _| Reply { status: 200, ..sound }),
    Scenario::submission("dispatch.201", Ends::Accepted(201), |sound, _| sound),
    Scenario::submission("dispatch.202", Ends::Accepted(202), |sound, _| Reply { status: 202, ..sound }),
    Scenario::submission("dispatch.204", Ends::Status(204), |_, _| Reply::of_json(204, "")),
    Scenario::submission("dispatch.400", Ends::Status(400), |_, _| {
        Reply::json(400, &json!({"errors": {"proxmox_endpoint_ids": ["Unknown or disabled endpoint ID(s): [99]"]}}))
    }),
    Scenario::submission("dispatch.401", Ends::Status(401), |_, _| status(401)),
    Scenario::submission("dispatch.401-invalid-token", Ends::Status(401), |_, _| invalid_token(401))
        .known(&SECOND_SUBMISSION),
    Scenario::submission("dispatch.403", Ends::Status(403), |_, _| status(403)),
    Scenario::submission("dispatch.403-invalid-token", Ends::Status(403), |_, _| invalid_token(403))
        .known(&SECOND_SUBMISSION),
    Scenario::submission("dispatch.404", Ends::Status(404), |_, _| status(404)),
    Scenario::submission("dispatch.405", Ends::Status(405), |_, _| status(405).header("Allow", "GET")),
    Scenario::submission("dispatch.409", Ends::Status(409), |_, _| status(409)),
    Scenario::submission("dispatch.429", Ends::Status(429), |_, _| status(429).header("Retry-After", "0")),
    Scenario::submission("dispatch.500", Ends::Status(500), |_, _| status(500)),
    Scenario::submission("dispatch.502", Ends::Status(502), |_, _| status(502)),
    Scenario::submission("dispatch.503", Ends::Status(503), |_, _| status(503).header("Retry-After", "0")),
    Scenario::submission("dispatch.504", Ends::Status(504), |_, _| status(504)),
    // Redirects, the ones that keep a method and the ones that do not.
    Scenario::submission("dispatch.301", Ends::Status(301), |_, at| redirect(301, &elsewhere(at))),
    Scenario::submission("dispatch.302", Ends::Status(302), |_, at| redirect(302, &elsewhere(at))),
    Scenario::submission("dispatch.303", Ends::Status(303), |_, at| redirect(303, &at.request.absolute(SCHEDULE))),
    Scenario::submission("dispatch.307", Ends::Status(307), |_, at| redirect(307, &elsewhere(at))),
    Scenario::submission("dispatch.308", Ends::Status(308), |_, at| redirect(308, &at.request.absolute(SCHEDULE))),
    // No answer, or a part of one: the outcome is not known.
    Scenario::submission("dispatch.cut", Ends::Failed, |sound, _| sound.delivered(Delivery::Cut(0))),
    Scenario::submission("dispatch.cut-in-the-head", Ends::Failed, |sound, _| {
        sound.delivered(Delivery::Cut(INSIDE_THE_HEAD))
    }),
    Scenario::submission("dispatch.truncated", Ends::Failed, |sound, _| sound.delivered(Delivery::Truncated)),
    Scenario::submission("dispatch.reset", Ends::Failed, |sound, _| sound.delivered(Delivery::Reset)),
    Scenario::submission("dispatch.silent", Ends::Failed, |sound, _| sound.delivered(Delivery::Stalled(0))).waits(),
    Scenario::submission("dispatch.silent-in-the-head", Ends::Failed, |sound, _| {
        sound.delivered(Delivery::Stalled(INSIDE_THE_HEAD))
    })
    .waits(),
    Scenario::submission("dispatch.oversized", Ends::Failed, |sound, _| padded(sound)),
    Scenario::submission("dispatch.oversized-chunks", Ends::Failed, |sound, _| {
        padded(sound).delivered(Delivery::Chunked)
    }),
    Scenario::submission("dispatch.oversized-compressed", Ends::Failed, |sound, _| padded(sound).compressed()),
    // An answer that the declared schema refuses.
    Scenario::submission("dispatch.empty", Ends::ResponseRefused(201), |_, _| Reply::of_json(201, "")),
    Scenario::submission("dispatch.page", Ends::ResponseRefused(201), |_, _| Reply::of_json(201, "<!doctype html>")),
    Scenario::submission("dispatch.not-ok", Ends::ResponseRefused(201), |_, _| {
        Reply::of_json(201, r#"{"ok":false,"job_id":1,"message":""}"#)
    }),
    Scenario::submission("dispatch.no-job", Ends::ResponseRefused(201), |_, _| {
        Reply::of_json(201, r#"{"ok":true,"message":""}"#)
    }),
    Scenario::submission("dispatch.more", Ends::ResponseRefused(201), |_, _| {
        Reply::of_json(201, r#"{"ok":true,"job_id":1,"message":"","more":1}"#)
    }),
    Scenario::submission("dispatch.half-a-job", Ends::ResponseRefused(201), |_, _| {
        Reply::of_json(201, r#"{"ok":true,"job_id":7.5,"message":""}"#)
    }),
    Scenario::submission("dispatch.not-a-number", Ends::ResponseRefused(201), |_, _| {
        Reply::of_json(201, r#"{"ok":true,"job_id":NaN,"message":""}"#)
    }),
    Scenario::submission("dispatch.largest-job", Ends::Accepted(201), |_, _| {
        Reply::of_json(201, r#"{"ok":true,"job_id":9223372036854775807,"message":""}"#)
    }),
    Scenario::submission("dispatch.larger-job", Ends::ResponseRefused(201), |_, _| {
        Reply::of_json(201, r#"{"ok":true,"job_id":9223372036854775808,"message":""}"#)
    }),
    // Reading is held to the same.
    Scenario::submission("dispatch.list-wrong", Ends::ResponseRefused(200), |_, _| {
        Reply::of_json(200, r#"{"count":1,"scheduled_jobs":[{"id":1}]}"#)
    })
    .listing(),
    Scenario::submission("dispatch.list-500", Ends::Status(500), |_, _| status(500)).listing(),
    Scenario::submission("dispatch.list-redirected", Ends::Status(302), |_, at| redirect(302, &elsewhere(at)))
        .listing(),
];

fn status(status: u16) -> Reply {
    Reply::json(status, &json!({"detail": "Not now."}))
}

fn invalid_token(status: u16) -> Reply {
    Reply::json(status, &json!({"detail": "Invalid v2 token"}))
}

fn elsewhere(at: &Place<'_>) -> String {
    format!("http://{}{SCHEDULE}", at.elsewhere)
}
