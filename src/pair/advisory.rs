//! Where every released client is known to differ from the letter of the specification.

/// A known difference of the client.
#[derive(Debug)]
pub struct Advisory {
    /// Its stable id.
    pub id: &'static str,
    /// What the released SDKs do.
    pub reason: &'static str,
    /// The sentence of the specification it is measured by.
    pub specification: &'static str,
    /// The reply that shows it.
    pub reply: &'static str,
}

/// Every known difference, by id.
pub static ADVISORIES: [&Advisory; 1] = [&SECOND_SUBMISSION];

/// Of an answer that refuses the credential, the client makes a second submission.
pub static SECOND_SUBMISSION: Advisory = Advisory {
    id: "second-submission",
    reason: "A 401 or 403 that says `Invalid v2 token` has the client submit once more, with the secret as a token of the first version.",
    specification: "Submit once. … never auto-retry.",
    reply: r#"401 {"detail":"Invalid v2 token"}"#,
};
