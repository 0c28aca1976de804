//! Files, read without following links and replaced durably.

pub mod replace;
