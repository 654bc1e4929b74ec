//! Witnesses: independent checkers, one property each, that share no code with the endpoint.
//!
//! They see what goes into the fabric, what the endpoints place in memory and what they tell their hosts, and nothing
//! of the endpoints' state. A witness never stops a run: it writes down what was wrong.

mod delivery;

pub use delivery::{Delivery, Message};

/// Most faults that a witness describes; the rest is counted.
const DESCRIBED_MAX: usize = 20;

/// What a witness found wrong.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Findings {
    /// Descriptions of the first ones.
    pub described: Vec<String>,
    /// How many in all.
    pub count: u64,
}

impl Findings {
    /// Writes a fault down.
    pub fn add(&mut self, describe: impl FnOnce() -> String) {
        self.count += 1;
        if self.described.len() < DESCRIBED_MAX {
            self.described.push(describe());
        }
    }

    /// Whether nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}
