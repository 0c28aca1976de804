//! The strict walk of the commit, tree and blob graph.

pub mod strict;
