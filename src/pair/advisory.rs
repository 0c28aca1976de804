//! Where every released client, and its MCP server, is known to differ from the letter of the specification.

/// A known difference of the client or the server.
#[derive(Debug)]
pub struct Advisory {
    /// Its stable id.
    pub id: &'static str,
    /// What the released SDKs do.
    pub reason: &'static str,
    /// The sentence of the specification it is measured by.
    pub specification: &'static str,
    /// The reply, or the agent's message, that shows it.
    pub reply: &'static str,
}

/// Every known difference of the client, by id.
pub static ADVISORIES: [&Advisory; 1] = [&SECOND_SUBMISSION];

/// Of an answer that refuses the credential, the client makes a second submission.
pub static SECOND_SUBMISSION: Advisory = Advisory {
    id: "second-submission",
    reason: "A 401 or 403 that says `Invalid v2 token` has the client submit once more, with the secret as a token of the first version.",
    specification: "Submit once. … never auto-retry.",
    reply: r#"401 {"detail":"Invalid v2 token"}"#,
};

/// Of an empty answer to a submission, the server makes a success.
pub static EMPTY_SUCCESS: Advisory = Advisory {
    id: "empty-success",
    reason: "A submission that is answered 204 or 205 is told as a success whose body is null.",
    specification: "An accepted request returns HTTP 201 inside the generic MCP result. job_id identifies the NetBox core Job.",
    reply: "204 to a POST",
};

/// What the server does not know of an envelope is passed over.
pub static UNKNOWN_ENVELOPE_MEMBER: Advisory = Advisory {
    id: "unknown-envelope-member",
    reason: "A member of plugin_call_tool's envelope that is not known is ignored: a misspelt dry_run submits.",
    specification: "Keep the SDK mutation gate disabled unless the operator or host policy accepts the blast radius.",
    reply: r#"{"plugin":"proxbox","tool":"schedule_sync","arguments":{"sync_stages":["sdn"]},"dryRun":true}"#,
};

/// A member's name is trimmed.
pub static PADDED_MEMBER: Advisory = Advisory {
    id: "padded-member",
    reason: "White space around the name of an argument is taken off, so that an unknown property becomes a known one.",
    specification: "an unknown property, because bridge v1 has additionalProperties: false",
    reply: r#"{" sync_stages":["sdn"]}"#,
};

/// What is no number becomes null.
pub static NOT_A_NUMBER: Advisory = Advisory {
    id: "not-a-number",
    reason: "NaN in a message becomes null, so that a time that is none means a job at once.",
    specification: "Omit or send null for immediate execution unless recurrence is requested.",
    reply: r#"{"sync_stages":["sdn"],"schedule_at":NaN}"#,
};

/// A message may stay without an answer.
pub static NO_ANSWER: Advisory = Advisory {
    id: "no-answer",
    reason: "A message with a lone surrogate, or with a number of thousands of digits, gets no answer at all.",
    specification: "Schema-validated result or structured error",
    reply: r#"{"sync_stages":["sdn"],"job_name":"\ud800"}"#,
};
