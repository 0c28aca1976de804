//! The published releases of netbox-sdk, beside the Python reference gate.

mod activation;
mod gate;
mod releases;
