//! What a run concluded, and the approval that only a complete proof yields.

use crate::identity::ExpectedIdentity;

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

    /// An approval out of thin air, for unit tests of what comes after.
    #[cfg(test)]
    pub(crate) fn for_tests(identity: ExpectedIdentity) -> Self {
        Approval { identity }
    }
}
