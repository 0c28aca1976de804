//! One integration binary. Every file of this folder is declared here.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::exit
)]
#![allow(missing_docs)]

mod activation;
mod ci;
mod cli;
mod contract;
mod graph;
mod hostile;
mod network;
mod readme;
#[cfg(not(feature = "offline"))]
mod real;
mod refusals;
mod strict;
mod support;
