//! One door per byte format for the targets in `fuzz/`, where the crate itself has none. Exists only with the feature `fuzzing`.

pub use crate::graph::fuzzing::{alternates, delta, loose_header, loose_object, packed_refs, reference, shallow};
pub use crate::inventory::literal as declared_version;
pub use crate::wheel::parse_record as distribution_record;
