//! Witnesses of single properties. They look at memory, completions and the ways between the ends, know what was asked
//! for, and share no code with an endpoint.

mod bounds;
mod conservation;
mod memory;
mod order;
mod plausible;
mod telemetry;

pub use bounds::within_bounds;
pub use conservation::{at_rest, balanced, slots_free};
pub use memory::Image;
pub use order::Order;
pub use plausible::plausible;
pub use telemetry::honest;

/// What is wrong, in words; nothing if all is right.
pub type Finding = Option<String>;
