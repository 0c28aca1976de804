//! What the tests share.

pub mod git;
