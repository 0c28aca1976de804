//! What the tests share.

pub mod artifact;
pub mod gate;
pub mod git;
pub mod half;
pub mod left;
pub mod mounts;
pub mod offline;
#[cfg(not(feature = "offline"))]
pub mod registry;
pub mod subject;
