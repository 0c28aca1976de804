//! Small repositories out of any bytes, for the target `walk`: what they hold is known beforehand, so that the verdict is too.

mod disk;
mod oracle;
mod plan;

pub use disk::Checkout;
pub use oracle::{Graph, judge};
pub use plan::{Damage, Kind, Object, Plan, Storage, written};
