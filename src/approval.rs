//! The approval that only a complete proof yields.

use crate::check::{Halt, Ledger, Stage, TABLE};
use crate::identity::ExpectedIdentity;
use crate::pair::PairReport;

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
