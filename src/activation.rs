//! The activation record: the file whose `state` says whether agents may be given the operations, and the only file of
//! the producer that this crate ever writes.
//!
//! A [`Record`] is read strictly or not at all. A [`Target`] is a record's file, checked; it can become
//! `active` with an [`Approval`](crate::approval::Approval) only, and `blocked` always.

mod change;
mod record;
mod schema;
mod target;
#[cfg(test)]
mod tests;

pub use change::{Action, Change};
pub use record::{Record, RecordError, State};
pub use schema::json_schema;
pub use target::{RecordFileError, Target, WriteRefused, read};
