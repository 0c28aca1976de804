//! What a run concluded, for people, machines and auditors.

pub mod attestation;
pub mod audit;
pub mod tools;
pub mod v1;

use crate::check::Ledger;

/// The conclusion of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Every check passed; for `activate`, the record says so too.
    Passed,
    /// The package was verified and copied; nothing was said of its behaviour. Only `snapshot` concludes this.
    Copied,
    /// There is evidence against the subject.
    Refused,
    /// It could not be decided.
    Unverifiable,
    /// The proof stands, but the record could not or must not be written.
    WriteRefused,
}

impl Verdict {
    /// The exit code. Only 0 is a yes.
    pub fn exit_code(self) -> u8 {
        match self {
            Verdict::Passed | Verdict::Copied => 0,
            Verdict::Refused => 1,
            Verdict::Unverifiable => 3,
            Verdict::WriteRefused => 4,
        }
    }

    /// The verdict on a run that yielded no proof.
    pub fn without_proof(ledger: &Ledger) -> Verdict {
        if ledger.any_failed() { Verdict::Refused } else { Verdict::Unverifiable }
    }
}
