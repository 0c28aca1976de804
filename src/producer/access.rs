//! Who calls, by the credential in the Authorization header.

use std::io;

use super::http::Request;
use crate::digest::hex;

/// Whose rights a request has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Principal {
    /// It came without a credential.
    Anonymous,
    /// A user who lacks `core.add_job`.
    MayNotAddJobs,
    /// A user who holds `core.add_job`.
    MayAddJobs,
}

/// An API token of NetBox, version 2. It is shown by [`Token::header`] alone.
#[derive(Clone)]
pub struct Token {
    /// The public half.
    pub key: String,
    /// The secret half.
    pub secret: String,
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "nbt_{}.…", self.key)
    }
}

impl Token {
    /// A fresh one of 48 and 160 random bits.
    ///
    /// # Errors
    /// The system has no random bits.
    pub fn fresh() -> io::Result<Token> {
        let mut bits = [0; 26];
        getrandom::fill(&mut bits).map_err(|error| io::Error::other(error.to_string()))?;
        Ok(Token { key: hex(&bits[..6]), secret: hex(&bits[6..]) })
    }

    /// The value of the Authorization header.
    pub fn header(&self) -> String {
        format!("Bearer nbt_{}.{}", self.key, self.secret)
    }
}

/// The tokens of two users.
#[derive(Clone, Debug)]
pub struct Credentials {
    /// Of the one who holds `core.add_job`.
    pub may_add_jobs: Token,
    /// Of the one who does not.
    pub may_not_add_jobs: Token,
}

/// What became of a credential.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Access {
    Known(Principal),
    /// Why not.
    Unknown(&'static str),
}

impl Credentials {
    /// Fresh ones.
    ///
    /// # Errors
    /// The system has no random bits.
    pub fn fresh() -> io::Result<Credentials> {
        Ok(Credentials { may_add_jobs: Token::fresh()?, may_not_add_jobs: Token::fresh()? })
    }

    /// Whose request it is, for a log. Nobody's if it shows a credential that is not known.
    pub fn principal(&self, request: &Request) -> Option<Principal> {
        match self.identify(request) {
            Access::Known(principal) => Some(principal),
            Access::Unknown(_) => None,
        }
    }

    pub(super) fn identify(&self, request: &Request) -> Access {
        let mut shown = request.headers_named("authorization");
        let known = [(&self.may_add_jobs, Principal::MayAddJobs), (&self.may_not_add_jobs, Principal::MayNotAddJobs)];
        match (shown.next(), shown.next()) {
            (None, _) => Access::Known(Principal::Anonymous),
            (Some(_), Some(_)) => Access::Unknown("More than one credential."),
            (Some(header), None) => match known.iter().find(|(token, _)| token.header().as_bytes() == header) {
                Some((_, principal)) => Access::Known(*principal),
                // NetBox's own words for one of the second version, which a client may take as a cue.
                None if header.starts_with(b"Bearer nbt_") => Access::Unknown("Invalid v2 token"),
                None => Access::Unknown("Invalid token"),
            },
        }
    }
}
