//! Decides whether one exact commit of a Python SDK may be exposed to AI agents.
//!
//! The order is fixed and enforced by types: each stage's output is the only way into the next, has one constructor, and keeps
//! its fields private. What was not verified cannot be written down.
//!
//! ```text
//! ExpectedIdentity ─▶ VerifiedGraph ─▶ VerifiedInventory ─▶ Snapshot ─▶ LockedEnvironment ─▶ BehaviourReport ─▶ PairReport ─▶ Approval
//!    identity           graph             inventory         snapshot      environment          behaviour          pair        approval
//! ```
//!
//! An `Approval` is what it takes to write an activation record that says `active`.
//!
//! # The house
//!
//! ```text
//! cli            the arguments, the terminal and the exit codes; nothing below prints
//! report         what was concluded, for people, machines and auditors       producer    the producer, on loopback
//! activation     the record: read strictly, replaced in one durable step     committed   what else the producer commits
//! pipeline       the one function that orders the stages
//! approval       what a complete proof yields, and nothing else
//!   pair         the SDK's client, driven against a producer on loopback
//!   behaviour    two isolated processes, asked and judged from outside
//!   environment  the virtual environment, file by file
//!   snapshot     the private copy, written from verified blobs
//!   inventory    the package in the commit and on disk, and its release artifact
//!   graph        every object reachable from the commit
//! check          the closed table of checks, and the ledger that the stages write
//! contract       what the SDK is held to: manifest, rules, vectors, oracle
//! identity       commit, version, module and environment that are expected
//! archive digest fs limits parallel tally wheel
//! ```
//!
//! A stage uses the stages below it and what is below all of them; none knows the terminal or the JSON. What fails is recorded as a
//! [finding](check::Finding) if the subject is wrong, and as undecided if that could not be told; both keep the stage from closing.
//! Everything known of one SDK is data in a [`Contract`](contract::Contract).

pub mod activation;
pub mod approval;
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
pub mod pair;
pub mod parallel;
pub mod pipeline;
pub mod producer;
pub mod report;
pub mod snapshot;
pub mod tally;
pub mod wheel;
