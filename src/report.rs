//! What a run concluded, and the approval that only a complete proof yields.

pub mod attestation;
pub mod audit;
pub mod tools;
pub mod v1;

use crate::check::{Halt, Ledger, Stage, TABLE};
use crate::identity::ExpectedIdentity;
use crate::pair::PairReport;

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

/// Every check passed for this identity. The only thing [`crate::activation`] accepts; the pipeline alone can make one.
#[derive(Debug)]
#[must_use]
pub struct Approval {
    identity: ExpectedIdentity,
}

impl Approval {
    /// The identity that was proven.
    pub fn identity(&self) -> &ExpectedIdentity {
        &self.identity
    }

    /// Approves what the last stage's output stands for, if every row of the table passed.
    pub(crate) fn conclude(report: &PairReport, ledger: &mut Ledger) -> Result<Self, Halt> {
        for stage in Stage::ALL {
            ledger.close(stage)?;
        }
        debug_assert!(ledger.all_passed() && !TABLE.is_empty());
        Ok(Approval { identity: report.behaviour().environment().identity().clone() })
    }

    /// An approval out of thin air, for unit tests of what comes after.
    #[cfg(test)]
    pub(crate) fn for_tests(identity: ExpectedIdentity) -> Self {
        Approval { identity }
    }
}
