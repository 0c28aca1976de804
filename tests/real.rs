//! The published releases of netbox-sdk, beside the Python reference gate.

mod activation;
mod environment;
mod gate;
mod influence;
mod makers;
mod readme;
mod refusals;
mod releases;
