//! The published releases of netbox-sdk, beside the Python reference gate.

mod activation;
mod attestation;
mod environment;
mod gate;
mod influence;
mod producer;
mod readme;
mod refusals;
mod releases;
