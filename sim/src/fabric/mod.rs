//! The network: for each plane and direction a link with a rate, a delay, a drop-tail queue and faults.
//!
//! A link only carries; what happens to a frame is decided in `fate.rs`, from one seed and from rules
//! that a test states.

mod fate;
mod link;

pub use fate::{Fate, Faults, Rule};
pub use link::{Kind, Link, LinkConfig, LinkCounts, PortCounts};
