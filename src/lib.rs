//! Decides whether one exact commit of a Python SDK may be exposed to AI agents.
//!
//! The order is fixed and enforced by types: each stage's output is the only way into the next, has one constructor, and keeps
//! its fields private. What was not verified cannot be written down.
//!
//! ```text
//! ExpectedIdentity ─▶ VerifiedGraph ─▶ VerifiedInventory ─▶ Snapshot ─▶ LockedEnvironment ─▶ BehaviourReport ─▶ Approval
//!    identity           graph             inventory         snapshot      environment          behaviour         report
//! ```
//!
//! An `Approval` is what it takes to write an activation record that says `active`.

pub mod activation;
pub mod archive;
pub mod behaviour;
pub mod check;
pub mod cli;
pub mod committed;
pub mod contract;
pub mod digest;
pub mod environment;
pub mod fs;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
pub mod graph;
pub mod identity;
pub mod inventory;
pub mod limits;
pub mod parallel;
pub mod pipeline;
pub mod producer;
pub mod report;
pub mod snapshot;
pub mod wheel;
