//! The published releases of netbox-sdk, beside the Python reference gate.

mod activation;
mod attestation;
mod audited;
mod contract;
mod environment;
mod fresh;
mod gate;
mod influence;
mod live;
mod makers;
mod mutants;
mod pairing;
mod papers;
mod producer;
mod refusals;
mod release;
mod releases;
mod suite;
mod tools;
