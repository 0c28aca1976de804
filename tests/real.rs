//! The published releases of netbox-sdk, beside the Python reference gate.

mod activation;
mod contract;
mod environment;
mod gate;
mod influence;
mod makers;
mod mutants;
mod producer;
mod readme;
mod refusals;
mod releases;
mod suite;
